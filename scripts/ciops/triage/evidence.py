"""Evidence: one line that speaks for or against something; and which evidence yields to other.

An echo of another process's failure is no root where a real one stands; a part that is only named
yields to its alternative that was used; a later finding outweighs what was guessed before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ciops.triage.issue_text import Line, Speaker
from ciops.triage.matching import Hit
from ciops.triage.policy import Policy, Role, Scoring
from ciops.triage.reading_rules import MACHINE, ZONES, Zone

_USED: Final = ("root", "api")
GROUPS: Final[dict[str, str]] = {
    **dict.fromkeys(ZONES, "spoken"),
    "title": "title",
    **dict.fromkeys(MACHINE, "machine"),
    **dict.fromkeys(("code", "shell"), "ran"),
}


@dataclass(slots=True)
class Evidence:
    """One line that speaks for or against a topic. `conclusion` marks a finding, not a guess.

    Not frozen, which would take twice the time of thousands; nobody changes one.
    """

    topic: str
    signal: str
    role: Role
    points: float
    zone: Zone
    where: str
    line: int
    last: int
    text: str
    turn: int
    speaker: Speaker
    conclusion: bool = False

    @property
    def group(self) -> str:
        """Kinds of places that count apart: the title, what is said, what ran, what it printed."""
        return GROUPS[self.zone]


def evidence_of(
    line: Line, topic: str, signal: str, role: Role, points: float, conclusion: bool = False
) -> Evidence:
    """What a line is evidence for."""
    return Evidence(
        topic, signal, role, points, line.zone, line.where, line.number, line.last, line.text,
        line.turn, line.speaker, conclusion,
    )  # fmt: skip


def points_of(line: Line, role: Role, scoring: Scoring) -> float:
    """What a role is worth where a line stands, from who says it."""
    points = scoring.roles[role] * scoring.zones[line.zone] * scoring.speakers[line.speaker]
    return round(points, 2)


def echoes_aside(found: Sequence[Evidence], hits: Sequence[Hit]) -> list[Evidence]:
    """Secondary failures are only on the path where a real root stands beside them."""
    echoes = {hit.signal.id for hit in hits if hit.signal.secondary}
    roots = any(
        item.role == "root" and item.signal not in echoes and item.topic.startswith("component:")
        for item in found
    )
    if not (echoes and roots):
        return list(found)
    return [
        replace(item, role="path", points=0.0)
        if item.signal in echoes and item.points > 0
        else item
        for item in found
    ]


def misnamed_aside(found: Sequence[Evidence], policy: Policy) -> list[Evidence]:
    """Of parts that stand in for each other, one that is only named yields to one that was used."""
    used = {x.topic for x in found if x.zone == "code" and x.points > 0 and x.role in _USED}
    acted = {x.topic for x in found if x.group in ("ran", "machine") and x.points > 0}
    yielding = {
        f"component:{name}"
        for group in policy.alternatives
        if used & {f"component:{name}" for name in group}
        for name in group
    } - acted
    return [_lessened(x, policy.scoring) if x.topic in yielding else x for x in found]


def _lessened(item: Evidence, scoring: Scoring) -> Evidence:
    if item.points <= 0 or item.conclusion:
        return item
    return replace(item, points=round(item.points * scoring.superseded, 2))


def superseded(found: Sequence[Evidence], scoring: Scoring) -> list[Evidence]:
    """A later conclusion outweighs what was said and guessed of other parts before it."""
    conclusions = [item for item in found if item.conclusion and item.points > 0]
    if not conclusions:
        return list(found)
    last = max(item.turn for item in conclusions)
    concluded = {item.topic for item in conclusions if item.turn == last}
    return [
        replace(item, points=round(item.points * scoring.superseded, 2))
        if _yields_to(item, concluded, last)
        else item
        for item in found
    ]


def _yields_to(item: Evidence, concluded: set[str], last: int) -> bool:
    if not item.topic.startswith("component:") or item.topic in concluded or item.points <= 0:
        return False
    return item.turn < last or (item.turn == last and not item.conclusion)
