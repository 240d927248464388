"""Figures of agreement: counted by hand here, and the floors of what has been reached."""

from __future__ import annotations

import json

import pytest

from ciops.errors import UsageError
from ciops.plumbing.yaml_file import parse
from ciops.triage.backtest import Count, Share, compare, expected_of, measure
from ciops.triage.backtest_report import figures_json, figures_markdown
from ciops.triage.decide import decide, profile_of
from ciops.triage.facts import from_rest
from ciops.triage.policy_file import policy_of
from triage.issue_making import CASES, POLICY_FILE, QUEUE, decided, policy, written_cases

ERROR = "```\nRuntimeError: Expected to have finished reduction in the prior iteration\n```"


def case(name: str, title: str, **expected):
    facets = {
        "distributed": True,
        "sub_oncall": "parallelisms",
        "modules": ["module: ddp"],
        "modules_acceptable_extra": [],
        "confidence": "high",
        "type": None,
        "performance": False,
        "high_priority": None,
        "has_repro": False,
        "repro_expected": True,
    }
    issue = {"number": 1, "title": title, "body": ERROR, "labels": [{"name": QUEUE}]}
    return {"id": name, "issue": issue, "facets": {**facets, **expected}}


def figures_of(*cases):
    pairs = []
    for data in cases:
        facts = from_rest(data)
        pairs.append((expected_of(data, facts), facts, decided(facts)))
    return measure(pairs, policy(), profile_of(policy()))


def test_agreement_is_counted():
    found = figures_of(
        case("right", "DDP loses a bucket"),
        case("wrong module", "DDP loses a bucket", modules=["module: fsdp"]),
        case(
            "allowed extra",
            "DDP loses a bucket",
            modules=[],
            modules_acceptable_extra=["module: ddp"],
        ),
        case("wrong route", "DDP loses a bucket", sub_oncall="infra", high_priority="crash"),
    )
    assert found.issues == 4
    assert (found.facets["sub_oncall"].right, found.facets["sub_oncall"].of) == (3, 4)
    assert found.confusion == {("parallelisms", "parallelisms"): 3, ("infra", "parallelisms"): 1}
    assert (found.micro.tp, found.micro.fp, found.micro.fn) == (2, 1, 1)
    assert (found.high_priority.tp, found.high_priority.fn) == (0, 1)
    assert set(found.wrong) == {"wrong module", "wrong route"}


def test_contested_and_missing_facets_are_not_scored():
    data = case("x", "DDP loses a bucket", sub_oncall="infra")
    data["contested"] = ["sub_oncall"]
    del data["facets"]["modules"]
    found = figures_of(data)
    assert "sub_oncall" not in found.facets
    assert found.modules == {}


def test_a_plan_is_held_against_the_one_that_follows_from_the_facets():
    assert figures_of(case("x", "DDP loses a bucket")).plan == Share(1, 1)
    assert figures_of(case("x", "DDP loses a bucket", has_repro=True)).plan == Share(0, 1)


def test_a_process_block_is_scored():
    data = case("x", "DDP loses a bucket")
    data["process"] = {
        "skip": None,
        "comment": "needs_distributed_reproduction",
        "comment_suppressed": False,
    }
    assert figures_of(data).process == Share(1, 1)
    data["process"]["skip"] = "closed"
    assert figures_of(data).process == Share(0, 1)


def test_a_case_without_facets_cannot_be_measured():
    facts = from_rest({"issue": {"number": 1}})
    with pytest.raises(UsageError, match="has no facets"):
        expected_of({}, facts)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("sub_oncal", "sub_oncall"), ("has_reprod", "has_repro"), ("module", "modules")],
)
def test_a_facet_that_is_mistyped_is_refused(name, nearest):
    facts = from_rest({"issue": {"number": 1}})
    with pytest.raises(UsageError, match=f'unknown facet "{name}". Did you mean "{nearest}"'):
        expected_of({"facets": {name: True}}, facts)


def test_a_facet_of_somebody_elses_is_left_alone():
    facts = from_rest({"issue": {"number": 1}})
    assert expected_of({"facets": {"weather": "wet", "type": "bug"}}, facts).values == {
        "type": "bug"
    }


@pytest.mark.parametrize("name", ["has_repro", "has_reproduction"])
def test_steps_are_expected_under_either_name(name):
    facts = from_rest({"issue": {"number": 1}})
    assert expected_of({"facets": {name: True}}, facts).values == {"has_reproduction": True}


def test_shares_of_nothing_are_whole():
    assert (Count().precision, Count().recall, Count().f1, Share().value) == (1.0, 1.0, 1.0, 1.0)
    assert round(Count(3, 1, 2).f1, 3) == 0.667


def test_two_policies_are_compared_by_evidence():
    text = POLICY_FILE.read_text(encoding="utf-8")
    other = policy_of(
        parse(text.replace("Expected to have finished reduction", "Never printed"), "other")
    )
    facts = from_rest(case("x", "It broke"))
    changed = list(compare(decided(facts), decide(facts, other, profile_of(other))))
    assert {item.facet for item in changed} >= {"modules", "confidence"}
    assert any("ddp_errors" in line for item in changed for line in item.lost)


def cells(page, name):
    """The cells behind a name in the first row that begins with it."""
    row = next(line for line in page.splitlines() if line.startswith(f"| {name} "))
    return [cell.strip() for cell in row.split("|")[2:-1]]


def test_the_report_is_markdown_and_json():
    found = figures_of(
        case("a", "DDP loses a bucket"), case("b|c", "DDP loses a bucket", sub_oncall="infra")
    )
    page = figures_markdown(found, "p@1")
    assert cells(page, "`sub_oncall`") == ["1", "2", "50.0%"]
    assert cells(page, "`infra`") == ["0", "1"]
    assert "- `b|c`: `sub_oncall: parallelisms, expected infra`" in page
    assert "high priority" not in page, "nothing is expected or found of it"
    assert json.loads(json.dumps(figures_json(found)))["modules_micro"]["tp"] == 2


# ------------------------------------------------------- what has been reached does not get lost
def authored():
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(CASES.glob("*.json"))]


FLOORS = {
    "authored": {
        "sub_oncall": 1.0,
        "distributed": 1.0,
        "type": 1.0,
        "has_reproduction": 0.98,
        "repro_expected": 1.0,
        "plan": 0.98,
        "f1": 0.98,
    },
    "written": {
        "sub_oncall": 0.975,
        "distributed": 0.99,
        "type": 0.97,
        "has_reproduction": 0.97,
        "repro_expected": 0.97,
        "plan": 0.945,
        "f1": 0.97,
    },
}


@pytest.mark.parametrize(("name", "cases"), [("authored", authored), ("written", written_cases)])
def test_figures_do_not_fall(name, cases):
    """What has been reached; a rule for one kind of issue may not cost another."""
    found = figures_of(*cases())
    floor = FLOORS[name]
    reached = {facet: share.value for facet, share in found.facets.items()}
    reached |= {"plan": found.plan.value, "f1": found.micro.f1}
    assert {facet: reached[facet] for facet in floor if reached[facet] < floor[facet]} == {}
    assert found.high_priority.recall >= 0.95
    assert found.high_priority.precision >= 0.98


def test_every_process_case_is_right():
    found = figures_of(*authored())
    assert found.process.right == found.process.of == 21
