"""What a run never does, whatever an issue says and whatever was decided about it.

Each "never" is a property over generated issues. `test_each_rule_is_seen_to_matter` plants the
fault that a rule is there for, and takes the rule away: the property has to fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ciops.errors import RefusedError
from ciops.triage import apply, never, rationale, run_issue, run_named
from ciops.triage.decide import Decision, decide
from ciops.triage.facts import IssueFacts
from ciops.triage.plan import Plan
from ciops.triage.policy import Mode, Policy, Profile
from triage import generated_worlds
from triage.generated_worlds import (
    ORDERS,
    OTHER,
    PROPERTIES,
    After,
    World,
    run,
    worlds,
)
from triage.memory_queue import MemoryQueue
from triage.small_world import QUEUE, small_policy

QUICK = settings(
    max_examples=100,
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@given(world=worlds())
@QUICK
def test_whatever_an_issue_says(world: World) -> None:
    after = run(world)
    assert not after.refused, "a plan keeps the rules without being held to them"
    for prop in PROPERTIES.values():
        prop(after)


@given(world=worlds(), order=st.sampled_from(ORDERS))
@QUICK
def test_orders_in_an_issue_change_nothing(world: World, order: str) -> None:
    told = replace(world, issue=replace(world.issue, body=f"{world.issue.body}\n\n{order}"))
    assert run(told).added == run(world).added


# --- whatever was decided -------------------------------------------------------------------

ANY_LABEL = ("urgent", "color: red", "QUEUE: STORAGE", *sorted(
    small_policy().allowed_labels(small_policy().profiles["shared"])
))  # fmt: skip


def hostile(**plan: Any) -> run_issue.Deciding:
    """A decider that wants something of its own, whatever the issue is."""

    def decide_so(facts: IssueFacts, policy: Policy, profile: Profile, mode: Mode) -> Decision:
        made = decide(facts, policy, profile, mode)
        return replace(made, skip=None, plan=replace(made.plan, **plan))

    return decide_so


wishes = st.fixed_dictionaries(
    {
        "add_labels": st.lists(st.sampled_from(ANY_LABEL), max_size=4, unique=True).map(tuple),
        "comment": st.sampled_from((None, None, "not_distributed", "welcome")),
        "comment_suppressed": st.booleans(),
    }
)
GUARDED = [
    "adds_only_what_the_policy_names",
    "never_raises_priority",
    "never_a_second_route",
    "classified_only_without_doubt",
    "never_again_what_a_person_removed",
    "leaves_alone_what_is_not_to_be_touched",
    "touches_no_other_issue",
    "creates_no_label",
    "keeps_every_label",
]


@given(world=worlds(), wish=wishes)
@QUICK
def test_whatever_was_decided(world: World, wish: dict[str, Any]) -> None:
    after = run(world, hostile(**wish))
    for name in GUARDED:
        PROPERTIES[name](after)


def holds(
    prop: Callable[[After], None], decider: Callable[[World], run_issue.Deciding], most: int = 3000
) -> None:
    """A property over generated worlds; AssertionError at the first where it fails."""

    @given(world=worlds())
    @settings(QUICK, max_examples=most, phases=(Phase.generate,))  # none smaller is looked for
    def tried(world: World) -> None:
        prop(run(world, decider(world)))

    tried()


RULES_AND_WISHES = {
    "foreign label": ("adds_only_what_the_policy_names", {"add_labels": ("color: red",)}),
    "forbidden label": ("never_raises_priority", {"add_labels": ("urgent",)}),
    "second route": ("never_a_second_route", {"add_labels": ("team: disk", "team: net")}),
    "classified in doubt": (
        "classified_only_without_doubt",
        {"add_labels": ("needs a look", "sorted")},
    ),
    "removed by a person": (
        "never_again_what_a_person_removed",
        {"add_labels": ("area: cache", "team: app", "needs a look")},
    ),
    "left alone": ("leaves_alone_what_is_not_to_be_touched", {"add_labels": ("area: cache",)}),
}


@pytest.mark.parametrize("rule", RULES_AND_WISHES)
def test_each_rule_is_seen_to_matter(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, wish = RULES_AND_WISHES[rule]
    holds(PROPERTIES[name], lambda _: hostile(**wish), most=300)
    monkeypatch.delitem(never.RULES, rule)
    if rule == "forbidden label":  # it is none of the policy's either: two locks on one door
        monkeypatch.delitem(never.RULES, "foreign label")
    with pytest.raises(AssertionError):
        holds(PROPERTIES[name], lambda _: hostile(**wish))


def test_every_rule_has_its_planted_fault() -> None:
    assert {*RULES_AND_WISHES, "needless comment"} == never.RULES.keys()


BREACHES = [
    ("a foreign label", {"add_labels": ("color: red",)}, {}, "is none that the policy adds"),
    ("a forbidden label", {"add_labels": ("URGENT",)}, {}, "is none that the policy adds"),
    ("two routes", {"add_labels": ("team: disk", "team: net")}, {}, "would be a second route"),
    (
        "another route",
        {"add_labels": ("team: disk",)},
        {"labels": (QUEUE, "Team: Net")},
        "would be a second route",
    ),
    ("doubt", {"add_labels": ("needs steps", "sorted")}, {}, "would stand beside needs steps"),
    (
        "standing doubt",
        {"add_labels": ("sorted",)},
        {"labels": (QUEUE, "needs a look")},
        "would stand beside needs a look",
    ),
    ("closed", {"add_labels": ("sorted",)}, {"state": "closed"}, "closed, locked or a pull"),
    ("locked", {"add_labels": ("sorted",)}, {"locked": True}, "closed, locked or a pull"),
    ("a pull", {"add_labels": ("sorted",)}, {"is_pull_request": True}, "closed, locked or a pull"),
    ("elsewhere", {"add_labels": ("sorted",)}, {"labels": ()}, "it is not in the queue"),
    ("a closed one", {"comment": "not_distributed"}, {"state": "closed"}, "closed, locked"),
]
FINE = [
    ("labels", {"add_labels": ("team: app", "area: cache", "sorted")}, {}),
    ("the same route", {"add_labels": ("area: cache",)}, {"labels": (QUEUE, "team: net")}),
    ("nothing at a closed one", {}, {"state": "closed"}),
    (
        "a comment that is suppressed",
        {"comment": "not_distributed", "comment_suppressed": True},
        {"state": "closed"},
    ),
]


def breach(plan: dict[str, Any], fields: dict[str, Any]) -> never.Case:
    facts = replace(IssueFacts("7", 7, "CacheError", "", (QUEUE,)), **fields)
    profile = small_policy().profiles["shared"]
    return never.Case(Plan(**plan), facts, small_policy(), profile)


@pytest.mark.parametrize(
    ("plan", "fields", "words"), [row[1:] for row in BREACHES], ids=[row[0] for row in BREACHES]
)
def test_breaches(plan: dict[str, Any], fields: dict[str, Any], words: str) -> None:
    with pytest.raises(RefusedError, match=f"issue 7: .*{words}.*nothing was written"):
        never.refuse_breach(breach(plan, fields))


@pytest.mark.parametrize(
    ("plan", "fields"), [row[1:] for row in FINE], ids=[row[0] for row in FINE]
)
def test_no_breaches(plan: dict[str, Any], fields: dict[str, Any]) -> None:
    never.refuse_breach(breach(plan, fields))


def test_a_comment_that_is_none_of_the_two_is_refused() -> None:
    policy = small_policy()
    facts = IssueFacts("7", 7, "CacheError", "", (QUEUE,))
    made = decide(facts, policy, policy.profiles["own"])
    plan = replace(made.plan, comment="welcome")
    with pytest.raises(RefusedError, match="comment welcome is not for the bot to make"):
        never.refuse_breach(never.Case(plan, facts, policy, policy.profiles["own"]))


# --- faults planted in the writing ----------------------------------------------------------

Plant = Callable[[pytest.MonkeyPatch], None]


def replaces_labels(patch: pytest.MonkeyPatch) -> None:
    real = MemoryQueue.add_labels

    def put(self: MemoryQueue, number: int, additions: Any) -> Any:
        there = self.issues_by_number[number]
        self.issues_by_number[number] = replace(there, labels=())
        return real(self, number, additions)

    patch.setattr(MemoryQueue, "add_labels", put)


def writes_to_a_neighbour(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(run_issue, "Writes", lambda number, *rest: apply.Writes(OTHER, *rest))


def looks_for_no_missing_label(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(run_named, "refuse_missing", lambda wanted, there: None)
    real = generated_worlds.queue_of
    patch.setattr(
        generated_worlds, "queue_of", lambda world: replace(real(world), repository={QUEUE})
    )


def quotes_as_text(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rationale, "code_span", str)


def labels_first(patch: pytest.MonkeyPatch) -> None:
    def backwards(writes: apply.Writes, pen: apply.Pen) -> apply.Written:
        written = apply._label(writes, pen, apply.Written()) if writes.labels else apply.Written()
        if writes.comment:
            apply._comment(writes, pen)
        return written

    patch.setattr(run_issue, "apply", backwards)


def comments_unasked(patch: pytest.MonkeyPatch) -> None:
    real = apply.apply
    patch.setattr(
        run_issue,
        "apply",
        lambda writes, pen: real(replace(writes, comment=writes.comment or "hello"), pen),
    )


def forgets_what_it_said(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(run_issue, "_unrepeated", lambda decision, facts, desk: _unsuppressed(decision))


def _unsuppressed(decision: Decision) -> Decision:
    return replace(decision, plan=replace(decision.plan, comment_suppressed=False))


PLANTED: list[tuple[Plant, str]] = [
    (replaces_labels, "keeps_every_label"),
    (writes_to_a_neighbour, "touches_no_other_issue"),
    (looks_for_no_missing_label, "creates_no_label"),
    (quotes_as_text, "pings_nobody"),
    (labels_first, "comments_before_it_labels"),
    (comments_unasked, "comments_only_for_its_two_reasons"),
    (forgets_what_it_said, "says_nothing_twice"),
]


@pytest.mark.parametrize(("plant", "name"), PLANTED, ids=lambda x: getattr(x, "__name__", ""))
def test_a_planted_fault_is_seen(plant: Plant, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        holds(PROPERTIES[name], lambda _: decide)


def test_every_property_was_seen_to_fail() -> None:
    seen = {name for _, name in PLANTED} | {name for name, _ in RULES_AND_WISHES.values()}
    assert seen == PROPERTIES.keys()
