"""From a forge's facts to those of a decision, and from evidence to the reason for a label."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciops.forges.base import Comment, Issue, LabelAddition, LabelEvent, Person
from ciops.triage.case_file import to_case
from ciops.triage.decide import decide
from ciops.triage.facts import IssueFacts, from_rest
from ciops.triage.live_facts import comment_url, facts_of, with_comments, with_timeline
from ciops.triage.rationale import additions_of, place_in, shortened
from ciops.triage.words import words_in
from triage.small_world import ELSEWHERE, FASTER, NO_STEPS, QUEUE, UNCLEAR, URGENT, small_policy

ALICE = Person("alice", id=7)
READ_AT = "2025-02-01T00:00:00Z"
ISSUE = Issue(
    number=7,
    title="It fails",
    body="with words",
    labels=(QUEUE, "color: red"),
    author=ALICE,
    association="",
    state="open",
    locked=False,
    is_pull_request=False,
    comments=1,
    thumbs_up=2,
    created_at="2025-01-01T00:00:00Z",
    updated_at=READ_AT,
    url="https://x/o/r/issues/7",
)


def event(action: str, label: str, at: str) -> LabelEvent:
    return LabelEvent("added" if action == "+" else "removed", label, ALICE, at)


@pytest.mark.parametrize(
    ("events", "labels"),
    [
        pytest.param([("+", "b", "2025-01-31T23:59:59Z")], (QUEUE, "color: red"), id="before"),
        pytest.param([("+", "b", READ_AT)], (QUEUE, "color: red", "b"), id="in that second"),
        pytest.param([("+", "b", "2025-02-01T00:00:01Z")], (QUEUE, "color: red", "b"), id="after"),
        pytest.param([("-", "COLOR: RED", READ_AT)], (QUEUE,), id="removed, in any case"),
        pytest.param(
            [
                ("-", "color: red", "2025-02-03T00:00:00Z"),
                ("+", "color: red", "2025-02-02T00:00:00Z"),
            ],
            (QUEUE,),
            id="in the order of time, not of the list",
        ),
        pytest.param([("-", "b", READ_AT)], (QUEUE, "color: red"), id="not there anyway"),
        pytest.param([("+", QUEUE, READ_AT)], ("color: red", QUEUE), id="there already"),
    ],
)
def test_labels_as_the_timeline_tells_them(
    events: list[tuple[str, str, str]], labels: tuple[str, ...]
) -> None:
    facts = with_timeline(facts_of(ISSUE), [event(*each) for each in events], READ_AT)
    assert facts.labels == labels


def test_an_empty_timeline_is_one_that_is_known() -> None:
    assert facts_of(ISSUE).timeline is None
    assert with_timeline(facts_of(ISSUE), [], READ_AT).timeline == ()


@pytest.mark.parametrize(
    ("forge", "url", "comment", "expected"),
    [
        ("github", "https://x/7", 5, "https://x/7#issuecomment-5"),
        ("gitlab", "https://x/7", 5, "https://x/7#note_5"),
        ("github", "https://x/7", 0, "https://x/7"),
        ("github", "", 5, ""),
    ],
)
def test_address_of_a_comment(forge: str, url: str, comment: int, expected: str) -> None:
    assert comment_url(replace(facts_of(ISSUE), url=url), comment, forge) == expected


def test_who_is_asked_about() -> None:
    asked: list[str] = []

    def association_of(person: Person) -> str:
        asked.append(person.login)
        return "MEMBER"

    told = Comment(1, "a", ALICE, "NONE", "", "")
    untold = Comment(2, "b", Person("bob", id=8), "", "", "")
    facts = with_comments(facts_of(ISSUE), [told, untold], association_of)
    assert [part.association for part in facts.comments] == ["NONE", "MEMBER"]
    assert asked == ["bob"]


def test_facts_survive_a_case_file() -> None:
    said = Comment(1, "a", ALICE, "MEMBER", "2025-01-05T00:00:00Z", "")
    facts = with_comments(facts_of(ISSUE), [said], lambda _: "NONE")
    facts = with_timeline(facts, [event("+", "b", READ_AT)], READ_AT)
    assert from_rest(to_case(facts)) == facts
    pull = replace(facts, is_pull_request=True, locked=True, state="closed")
    assert from_rest(to_case(pull)) == pull


# --- reasons --------------------------------------------------------------------------------


def additions(text: dict[str, str], suggest: str = "none") -> dict[str, LabelAddition]:
    policy = small_policy()
    facts = IssueFacts("7", 7, text["title"], text["body"], (QUEUE,))
    decision = decide(facts, policy, policy.profiles["shared"])
    made = additions_of(decision, policy, words_in("en"), suggest)  # type: ignore[arg-type]
    return {addition.name: addition for addition in made}


TWO = {"title": "CacheError", "body": "and IndexCorrupt\nrun these steps"}


@pytest.mark.parametrize(
    ("text", "label", "rationale"),
    [
        pytest.param(TWO, "area: cache", "`CacheError` (title)", id="a module"),
        pytest.param(
            TWO, "area: index", "`and IndexCorrupt` (body, line 1)", id="the other module"
        ),
        pytest.param(TWO, "sorted", "Issue triage has looked at it.", id="a marker"),
        pytest.param(
            ELSEWHERE, "needs a look", "`It fails on my toaster` (title)", id="out of scope"
        ),
        pytest.param(
            URGENT, "needs a look", "`CacheError lost every file` (title)", id="urgent"
        ),
        pytest.param(UNCLEAR, "needs a look", "A person should look at this.", id="unclear"),
        pytest.param(FASTER, "kind: better", "`make it faster please` (title)", id="a type"),
        pytest.param(FASTER, "area: speed", "`make it faster please` (title)", id="performance"),
        pytest.param(
            NO_STEPS, "needs steps", "No reproduction was found in the report or its comments.",
            id="no reproduction",
        ),
        pytest.param(
            UNCLEAR, "team: app", "The evidence is weak: this is the default route.", id="default"
        ),
    ],
)  # fmt: skip
def test_the_reason_for_a_label(text: dict[str, str], label: str, rationale: str) -> None:
    assert additions(text)[label].rationale == rationale


def test_a_default_route_cites_no_evidence_for_another() -> None:
    """On weak evidence the plan falls back to the default, whatever the text's best guess."""
    policy = small_policy()
    facts = IssueFacts("7", 7, "SocketError", "", (QUEUE,))
    made = decide(facts, policy, policy.profiles["shared"])
    assert made.facets.sub_oncall == "net"
    fallen_back = replace(made, plan=replace(made.plan, add_labels=("team: app",)))
    (addition,) = additions_of(fallen_back, policy, words_in("en"), "none")
    assert "SocketError" not in addition.rationale


@pytest.mark.parametrize(
    ("text", "label", "confidence"),
    [
        (UNCLEAR, "team: app", "low"),
        (UNCLEAR, "needs a look", "high"),
        (UNCLEAR, "triaged-by-bot", "high"),
        (NO_STEPS, "needs steps", "high"),
    ],
)
def test_confidence_is_that_of_what_the_text_decides(
    text: dict[str, str], label: str, confidence: str
) -> None:
    assert additions(text)[label].confidence == confidence


@pytest.mark.parametrize(
    ("suggest", "pending"),
    [("none", set()), ("low", {"team: app"}), ("all", None)],
)
def test_what_is_suggested(suggest: str, pending: set[str] | None) -> None:
    made = additions(UNCLEAR, suggest)
    expected = set(made) if pending is None else pending
    assert {name for name, addition in made.items() if addition.suggest} == expected


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("short", 10, "short"),
        ("a  b\n c", 10, "a b c"),
        ("cut between words", 10, "cut …"),
        ("oneverylongword", 5, "oneve …"),
        ("exactly te", 10, "exactly te"),
    ],
)
def test_quotes_are_cut_between_words(text: str, length: int, expected: str) -> None:
    assert shortened(text, length) == expected


@pytest.mark.parametrize(
    ("where", "last", "expected"),
    [
        pytest.param("body", 0, "body, line 3", id="a line"),
        pytest.param("body", 3, "body, line 3", id="to itself"),
        pytest.param("body", 7, "body, lines 3–7", id="a script"),
        pytest.param("comment 2", 7, "comment 2, lines 3–7", id="of a comment"),
        pytest.param("title", 7, "title", id="the title has one line"),
    ],
)
def test_the_lines_that_an_edit_takes_away(where: str, last: int, expected: str) -> None:
    assert place_in(where, 3, words_in("en"), last) == expected
