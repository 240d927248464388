"""What is never written to an issue, whatever was decided.

A second lock on the door: plans keep to these rules by themselves, and each write is held
against them once more. A rule says what would be wrong, or nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ciops.errors import RefusedError
from ciops.triage.facts import IssueFacts
from ciops.triage.plan import Plan, standing_of
from ciops.triage.policy import COMMENTS, Policy, Profile


@dataclass(frozen=True, slots=True)
class Case:
    """A plan, the issue it is for, and the rules it was made by."""

    plan: Plan
    facts: IssueFacts
    policy: Policy
    profile: Profile

    @property
    def comment(self) -> str | None:
        """The comment that is to be posted."""
        return None if self.plan.comment_suppressed else self.plan.comment

    def holds(self, label: str) -> bool:
        """Whether the issue carries the label already."""
        return _among(label, self.facts.labels)

    def adds(self, label: str) -> bool:
        return _among(label, self.plan.add_labels)


Rule = Callable[[Case], str | None]


def _foreign_label(case: Case) -> str | None:
    allowed = case.policy.allowed_labels(case.profile)
    return _first("label {} is none that the policy adds", case, lambda name: name not in allowed)


def _forbidden_label(case: Case) -> str | None:
    forbidden = case.policy.labels.forbidden
    return _first("label {} is for people to add", case, lambda name: _among(name, forbidden))


def _second_route(case: Case) -> str | None:
    routes = [route.label for route in case.policy.routes]
    added = [label for label in routes if case.adds(label)]
    if added and len({*added, *filter(case.holds, routes)}) > 1:
        return f"label {added[0]} would be a second route"
    return None


def _classified_in_doubt(case: Case) -> str | None:
    """Not beside a request to people; where a person took such a request away, it is answered."""
    classified, labels = case.profile.classified, case.policy.labels
    if classified is None or not case.adds(classified):
        return None
    for asked in (labels.review, labels.reproduction):
        if case.adds(asked) or case.holds(asked):
            return f"label {classified} would stand beside {asked}"
    return None


def _removed_by_person(case: Case) -> str | None:
    standing = standing_of(case.facts, case.policy)
    return _first("a person removed label {}", case, standing.removed_by_person)


def _needless_comment(case: Case) -> str | None:
    if case.comment is not None and case.comment not in COMMENTS:
        return f"comment {case.comment} is not for the bot to make"
    return None


def _left_alone(case: Case) -> str | None:
    facts = case.facts
    if facts.state != "open" or facts.locked or facts.is_pull_request:
        return "it is closed, locked or a pull request"
    queue = case.policy.labels.queue
    return None if case.holds(queue) else f"it is not in the queue {queue}"


RULES: Final[dict[str, Rule]] = {
    "foreign label": _foreign_label,
    "forbidden label": _forbidden_label,
    "second route": _second_route,
    "classified in doubt": _classified_in_doubt,
    "removed by a person": _removed_by_person,
    "needless comment": _needless_comment,
    "left alone": _left_alone,
}


def refuse_breach(case: Case) -> None:
    """RefusedError when a plan would do what is never done."""
    if not case.plan.add_labels and case.comment is None:
        return
    for problem in _breaches(case):
        where = f"issue {case.facts.number}: {problem}; nothing was written to it"
        raise RefusedError(where, "Correct the labels of the policy, or report this as a bug")


def _breaches(case: Case) -> Iterator[str]:
    for rule in RULES.values():
        problem = rule(case)
        if problem is not None:
            yield problem


def _first(problem: str, case: Case, wrong: Callable[[str], bool]) -> str | None:
    return next((problem.format(label) for label in case.plan.add_labels if wrong(label)), None)


def _among(label: str, labels: Sequence[str] | frozenset[str]) -> bool:
    return any(label.casefold() == other.casefold() for other in labels)
