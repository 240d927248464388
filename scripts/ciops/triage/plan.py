"""The plan: which labels and which comment follow from the facets, by the policy's table.

Everything is computed before anything is done. A plan never removes, closes, assigns, adds a
second route or a label that a person took away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from ciops.triage.comment_rules import standing_comment
from ciops.triage.facets import Facets
from ciops.triage.facts import LABELED, UNLABELED, IssueFacts, LabelChange
from ciops.triage.policy import (
    NEEDS_REPRODUCTION,
    NOT_DISTRIBUTED,
    Mode,
    Policy,
    Profile,
    Route,
)

Skip = Literal[
    "pull_request", "closed", "locked", "not_in_queue", "already_processed", "awaiting_human",
    "human_removed_label",
]  # fmt: skip


NOTES: Final = {
    "classified_stands": "`{}` was there before and stays, although people are asked to look.",
    "removed_by_person": "`{}` is not added: a person removed it.",
}


@dataclass(frozen=True, slots=True)
class Note:
    """Something that people should know of a plan: a key of NOTES, and the label it is about."""

    key: str
    label: str

    def __str__(self) -> str:
        return NOTES[self.key].format(self.label)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be added, in the order it goes out: comment first, then all labels in one call.

    `step` names the row of the table that ended the plan; `notes` are for people.
    """

    add_labels: tuple[str, ...] = ()
    comment: str | None = None
    comment_suppressed: bool = False
    step: str = ""
    notes: tuple[Note, ...] = ()


@dataclass(slots=True)
class _Draft:
    """A plan while it is drawn up, in the order in which labels go out."""

    route: list[str] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    attention: list[str] = field(default_factory=list)
    processed: bool = False
    classified: bool = False
    comment: str | None = None
    step: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """What labels and timeline say of an issue: present labels, and who put or removed them."""

    facts: IssueFacts
    policy: Policy
    present: frozenset[str]

    def has(self, label: str) -> bool:
        return label.casefold() in self.present

    @property
    def routes(self) -> list[Route]:
        return [route for route in self.policy.routes if self.has(route.label)]

    def last_change(self, label: str, event: str) -> LabelChange | None:
        """The last time a label was put or removed, where a timeline is known."""
        name = label.casefold()
        for change in reversed(self.facts.timeline or ()):
            if change.event == event and change.label.casefold() == name:
                return change
        return None

    def by_bot(self, change: LabelChange | None) -> bool:
        """Whether the bot itself made a change; a person or another bot did not."""
        return change is not None and change.actor.login.casefold() in self.policy.bot_logins

    def put_by_person(self, label: str) -> bool:
        """Whether a person put a label that is there; without a timeline that is assumed."""
        change = self.last_change(label, LABELED)
        return change is None or not (self.by_bot(change) or self._by_other_bot(change))

    def _by_other_bot(self, change: LabelChange) -> bool:
        login = change.actor.login.casefold()
        return change.actor.is_bot or login in self.policy.parent_bot_logins

    def removed_by_person(self, label: str) -> bool:
        """Whether a person took a label away and it has not come back."""
        if self.has(label):
            return False
        removed = self.last_change(label, UNLABELED)
        return removed is not None and not (self.by_bot(removed) or self._by_other_bot(removed))


def standing_of(facts: IssueFacts, policy: Policy) -> Standing:
    """Labels are compared without regard to capitals."""
    return Standing(facts, policy, frozenset(label.casefold() for label in facts.labels))


def skip_reason(standing: Standing, profile: Profile, mode: Mode) -> Skip | None:
    """Why an issue is left alone, or None."""
    facts = standing.facts
    if facts.is_pull_request:
        return "pull_request"
    if facts.state != "open":
        return "closed"
    if facts.locked:
        return "locked"
    if not standing.has(standing.policy.labels.queue):
        return "not_in_queue"
    if _removed_by_person(standing):
        return "human_removed_label"
    if mode == "sweep" and _is_processed(standing, profile):
        return "already_processed"
    if _awaits_human(standing):
        return "awaiting_human"
    return None


def _is_processed(standing: Standing, profile: Profile) -> bool:
    """An own marker always tells; a shared one only beside what this bot alone would add."""
    own = {p.processed for p in standing.policy.profiles.values() if not p.shared}
    if any(standing.has(label) for label in own):
        return True
    if not (profile.shared and standing.has(profile.processed)):
        return False
    labels = standing.policy.labels
    return bool(standing.routes) or standing.has(labels.review) or standing.has(labels.reproduction)


def _awaits_human(standing: Standing) -> bool:
    labels = standing.policy.labels
    for label in (labels.review, labels.reproduction):
        if not standing.has(label):
            continue
        put = standing.last_change(label, LABELED)
        if standing.by_bot(put) or (
            put is None and standing.facts.timeline is None and standing.routes
        ):
            return True
    return False


def _removed_by_person(standing: Standing) -> bool:
    policy = standing.policy
    for label in (*(route.label for route in policy.routes), policy.labels.review):
        if standing.removed_by_person(label) and standing.by_bot(
            standing.last_change(label, LABELED)
        ):
            return True
    return False


def make_plan(facts: IssueFacts, facets: Facets, policy: Policy, profile: Profile) -> Plan:
    """The plan for an issue that is not skipped."""
    standing = standing_of(facts, policy)
    draft = _drawn(standing, facets)
    return _finished(draft, standing, profile)


def _drawn(standing: Standing, facets: Facets) -> _Draft:
    routes = standing.routes
    if len(routes) > 1:
        return _Draft(
            attention=[standing.policy.labels.review], processed=True, step="0: two routes"
        )
    if routes and _classified_by_people(standing, routes[0]):
        return _Draft(processed=True, classified=True, step="0: classified by people")
    if not facets.distributed:
        return _Draft(
            attention=[standing.policy.labels.review],
            processed=True,
            comment=NOT_DISTRIBUTED,
            step="1: not distributed",
        )
    return _routed(standing, facets, routes[0] if routes else None)


def _classified_by_people(standing: Standing, route: Route) -> bool:
    has_module = any(standing.has(label) for label in standing.policy.module_labels)
    return has_module and standing.put_by_person(route.label)


def _routed(standing: Standing, facets: Facets, existing: Route | None) -> _Draft:
    policy = standing.policy
    urgent = bool(facets.high_priority)
    draft = _Draft(attention=[policy.labels.review] if urgent else [], processed=not urgent)
    route = existing or _chosen_route(facets, policy)
    if existing is None:
        draft.route.append(route.label)
    if not route.classified:
        draft.step = "2: " + ("route kept" if existing else "routed")
        draft.classified = existing is None and not urgent and facets.confidence != "low"
        if not policy.reaches_everywhere:
            return draft
    else:
        _classify(draft, facets, policy, urgent)
    _typed_and_reproduced(draft, facets, policy)
    return draft


def _chosen_route(facets: Facets, policy: Policy) -> Route:
    """The text's verdict; on low evidence the default."""
    if facets.sub_oncall is None or facets.confidence == "low":
        return policy.default_route
    return policy.route(facets.sub_oncall)


def _classify(draft: _Draft, facets: Facets, policy: Policy, urgent: bool) -> None:
    draft.step = "3: modules"
    if facets.confidence == "low" or not facets.modules:
        draft.step = "3: unclear"
        draft.attention = [policy.labels.review]
        return
    draft.modules.extend(facets.modules)
    draft.classified = not urgent


def _typed_and_reproduced(draft: _Draft, facets: Facets, policy: Policy) -> None:
    if facets.type:
        draft.types.append(policy.labels.types[facets.type])
    if facets.performance and policy.labels.performance:
        draft.types.append(policy.labels.performance)
    if facets.repro_expected and not facets.has_reproduction:
        draft.step += ", 6: no reproduction"
        draft.attention.append(policy.labels.reproduction)
        draft.comment = NEEDS_REPRODUCTION
        draft.classified = False


def _finished(draft: _Draft, standing: Standing, profile: Profile) -> Plan:
    """The draft as a plan: markers last, nothing twice, nothing that a person took away."""
    policy = standing.policy
    labels = policy.labels
    attention = standing.has(labels.review) or standing.has(labels.reproduction) or draft.attention
    markers = [profile.processed] if draft.processed else []
    if draft.classified and profile.classified and not attention:
        markers.append(profile.classified)
    wanted = [*draft.route, *draft.modules, *draft.types, *draft.attention, *markers]
    add = _allowed(wanted, standing, profile)
    plan = Plan(tuple(add), draft.comment, step=draft.step)
    if draft.comment:
        said = standing_comment(standing.facts, draft.comment, policy, profile)
        plan = replace(plan, comment_suppressed=said is not None)
    return replace(plan, notes=tuple(_notes(draft, standing, profile)))


def _allowed(wanted: Sequence[str], standing: Standing, profile: Profile) -> list[str]:
    allowed = standing.policy.allowed_labels(profile)
    return [
        label
        for label in dict.fromkeys(wanted)
        if label in allowed and not standing.has(label) and not standing.removed_by_person(label)
    ]


def _notes(draft: _Draft, standing: Standing, profile: Profile) -> Iterator[Note]:
    classified = profile.classified
    if classified and standing.has(classified) and draft.attention:
        yield Note("classified_stands", classified)
    for label in (*draft.route, *draft.modules, *draft.types, *draft.attention):
        if standing.removed_by_person(label):
            yield Note("removed_by_person", label)
