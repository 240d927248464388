"""Policy files: what is refused, where it says so, and that both shipped ones hold."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest

from ciops.errors import CiopsError
from ciops.plumbing.yaml_file import parse
from ciops.triage.decide import decide, profile_of
from ciops.triage.policy import COMMENTS, STANDARD
from ciops.triage.policy_check import _all_signals, check_policy
from ciops.triage.policy_file import load_policy, policy_of
from triage.issue_making import POLICY_FILE, SECOND_FILE, fence, issue, policy

TEXT = SECOND_FILE.read_text(encoding="utf-8")
CONSTITUENT = r"'\bUnknownConstituent\b'"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: tide-tables", "nam: tide-tables", 'unknown key "nam". Did you mean "name"?'),
        ("version: '1'", "version: 1", "p.yml:6: version: expected text, found 1"),
        ("queue: 'team: backend'", "queue: 7", "labels.queue: expected text"),
        ("review: needs a human", "review: Urgent", "'Urgent' is forbidden"),
        ("default: true, classified", "classified", "exactly one default route"),
        ("  - {id: api,", "  - {id: data,", "route id 'data' is used twice"),
        ("reach: everywhere", "reach: all", "Known are: classified, everywhere"),
        ("default_profile: default", "default_profile: dflt", 'Did you mean "default"?'),
        ("minimum: 2", "minimum: two", "scoring.minimum: expected a number"),
        ("share: 0.6", "share: .nan", "expected a finite number"),
        ("route: data\n    names", "route: dta\n    names", 'Did you mean "data"?'),
        ("role: root\n", "role: rot\n", 'signals[0].role: unknown value "rot"'),
        ("zones: [code, shell]", "zones: [code, shel]", 'Did you mean "shell"?'),
        ("id: calendar_call", "id: harmonics_error", "is used twice"),
        ("  not_distributed:\n    marker", "  other_team:\n    marker", 'unknown key "other_team"'),
        ("  needs_distributed_reproduction:", "  needs_repro:", "unknown key"),
        (CONSTITUENT, r"'(\bUnknown'", "unmatched bracket"),
        (CONSTITUENT, r"'(\w+)+x'", "repeats a group without a bound"),
        (CONSTITUENT, r"'\w*'", "pattern"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_key(old, new, said):
    assert old in TEXT
    with pytest.raises(CiopsError, match=r"p\.yml:\d+: ") as caught:
        policy_of(parse(TEXT.replace(old, new, 1), "p.yml"))
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "{}\n"])
def test_an_empty_policy_is_said_to_be_empty(text):
    with pytest.raises(CiopsError, match=r"p\.yml.*is empty\. Begin with a copy of examples/own"):
        policy_of(parse(text, "p.yml"))


@pytest.mark.parametrize("name", COMMENTS)
def test_a_policy_without_a_comment_that_a_plan_may_leave_is_refused(name):
    document = parse(TEXT, "p.yml")
    del document.data["comments"][name]
    with pytest.raises(CiopsError, match=rf"p\.yml:\d+: comments: lacks '{name}'"):
        policy_of(document)


@pytest.mark.parametrize(
    ("said", "changed"),
    [
        pytest.param("", {}, id="nothing"),
        pytest.param("scoring: {minimum: 3}", {"minimum": 3}, id="a number"),
        pytest.param(
            "scoring: {zones: {title: 2}}",
            {"zones": {**STANDARD.zones, "title": 2}},
            id="one of many",
        ),
    ],
)
def test_what_is_not_said_of_points_is_as_usual(said, changed, tmp_path):
    text = re.sub(r"^scoring:\n(?:  .*\n)+", f"{said}\n", TEXT, flags=re.MULTILINE)
    path = tmp_path / "p.yml"
    path.write_text(text, encoding="utf-8")
    assert load_policy(path).scoring == replace(STANDARD, **changed)


@pytest.mark.parametrize("file", [POLICY_FILE, SECOND_FILE], ids=lambda file: file.stem)
def test_a_shipped_policy_holds(file):
    _, problems, _ = check_policy(file)
    assert problems == []


@pytest.mark.parametrize("file", [POLICY_FILE, SECOND_FILE], ids=lambda file: file.stem)
def test_every_rule_of_words_has_examples(file):
    bare = [
        signal.id
        for signal in _all_signals(load_policy(file))
        if signal.kind in ("words", "toggle") and not (signal.matches and signal.near_misses)
    ]
    assert bare == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("matches: ['tides.errors.UnknownConstituent: M2'", "matches: ['tides: M2'", "not matched"),
        ("near_misses: ['unknown station']", "near_misses: ['UnknownConstituent']", "is matched"),
    ],
)
def test_check_runs_the_examples(tmp_path, old, new, problem):
    file = tmp_path / "policy.yml"
    assert old in TEXT
    file.write_text(TEXT.replace(old, new, 1), encoding="utf-8")
    _, problems, _ = check_policy(file)
    assert len(problems) == 1
    assert problem in problems[0]
    assert "policy.yml:" in problems[0]


def test_all_that_is_known_of_the_product_is_in_the_policy():
    """Another project's issue is judged by another project's words."""
    tides = load_policy(SECOND_FILE)
    body = fence("tides.errors.UnknownConstituent: M2") + "\n\n`curl /calendar.ics` gives it."
    facts = issue("500 for station data", body, labels=["team: backend"])
    made = decide(facts, tides, profile_of(tides))
    assert made.facets.sub_oncall == "data"
    assert "backend: data" in made.plan.add_labels
    assert decide(facts, policy(), profile_of(policy())).skip == "not_in_queue"


def test_a_policy_is_loaded_in_no_time():
    took = []
    for _ in range(3):  # others' garbage may be collected meanwhile
        start = time.process_time()
        load_policy(POLICY_FILE)
        took.append(time.process_time() - start)
    assert min(took) < 0.3  # 0.06 s on a quiet machine
