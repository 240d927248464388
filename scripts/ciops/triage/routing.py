"""Which parts an issue is about, which route owns it, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from ciops.triage.evidence import Evidence
from ciops.triage.policy import Override, Policy
from ciops.triage.weighing import Score

Confidence = Literal["high", "medium", "low"]
_NEAR: Final = 0.85
_CONTESTED: Final = 0.8


@dataclass(frozen=True, slots=True)
class Part:
    """A label (or a component without one) with what its components have together."""

    name: str
    label: str | None
    route: str
    points: float
    stands: bool
    has_root: bool
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Routing:
    """The text's verdict: route, module labels, confidence of either, and why."""

    route: str
    modules: tuple[str, ...]
    route_confidence: Confidence
    module_confidence: Confidence
    parts: tuple[Part, ...]
    overrides: tuple[Override, ...]


def route_issue(scores: dict[str, Score], applied: Sequence[Override], policy: Policy) -> Routing:
    """Decide the route and the modules from the scores of the components."""
    parts = _parts(scores, policy)
    modules = _modules(parts, policy)
    route = _route(parts, applied, policy)
    routed = [part for part in parts if part.route == route]
    return Routing(
        route,
        tuple(part.label for part in modules if part.label),
        _confidence(routed, parts, policy),
        _confidence(modules, parts, policy),
        tuple(parts),
        tuple(applied),
    )


def _parts(scores: dict[str, Score], policy: Policy) -> list[Part]:
    """All parts with points, the best first; components of one label add up."""
    grouped: dict[tuple[str, str], list[Score]] = {}
    for topic, key in _named(policy):
        score = scores.get(topic)
        if score is not None and score.evidence:
            grouped.setdefault(key, []).append(score)
    parts = [_part(name, route, found, policy) for (name, route), found in grouped.items()]
    return sorted(parts, key=lambda part: -part.points)


@lru_cache(maxsize=8)
def _named(policy: Policy) -> tuple[tuple[str, tuple[str, str]], ...]:
    """The topic of each component, with the name and the route of the part that it is of."""
    return tuple(
        (f"component:{x.id}", (x.label or x.id, x.route)) for x in policy.components.values()
    )


def _part(name: str, route: str, scores: Sequence[Score], policy: Policy) -> Part:
    standing = [score for score in scores if score.points > 0]
    evidence = scores[0].evidence
    if len(scores) > 1:
        told = (x for score in scores for x in score.evidence)
        evidence = tuple(sorted(told, key=lambda x: -abs(x.points)))
    return Part(
        name,
        name if name in policy.module_labels else None,
        route,
        round(sum(score.points for score in standing), 2),
        any(score.stands for score in standing) or sum(score.apis for score in standing) >= 2,
        any(score.has_root for score in standing),
        evidence,
    )


def _modules(parts: Sequence[Part], policy: Policy) -> list[Part]:
    """The parts worth a label: enough points, standing, and not far behind the best."""
    scoring = policy.scoring
    able = [part for part in parts if part.stands and part.points >= scoring.minimum]
    if not able:
        return []
    best = able[0]
    chosen = [part for part in able if _close(part, best, policy)]
    return [part for part in chosen if part.label][: scoring.most_modules]


def _close(part: Part, best: Part, policy: Policy) -> bool:
    if part is best:
        return True
    paired = frozenset((part.name, best.name)) in policy.pairs
    if paired and _is_titled_and_used(part):
        return True
    share = policy.scoring.pair_share if paired else policy.scoring.share
    return part.points >= share * best.points


def _is_titled_and_used(part: Part) -> bool:
    """Whether the title names a part that the code uses as well: `X with Y fails`, for Y."""
    speaking = [x for x in part.evidence if x.role in ("root", "api") and x.points > 0]
    return {"title", "ran"} <= {x.group for x in speaking}


def _route(parts: Sequence[Part], applied: Sequence[Override], policy: Policy) -> str:
    for override in applied:
        if override.route:
            return override.route
    best = {route.id: 0.0 for route in policy.routes}
    for part in parts:
        if part.points > best[part.route]:
            best[part.route] = part.points
    top = max(best.values())
    if top <= 0:
        return policy.default_route.id
    return next(route.id for route in policy.routes if best[route.id] >= _NEAR * top)


def _confidence(parts: Sequence[Part], rivals: Sequence[Part], policy: Policy) -> Confidence:
    """High where the best part is beyond doubt, medium where it is named, else low."""
    able = [part for part in parts if part.points > 0]
    if not able:
        return "low"
    best = able[0]
    if best.points < policy.scoring.minimum or not (best.stands or _is_named(best)):
        return "low"
    contested = any(
        rival.points > _CONTESTED * best.points and rival.stands
        for rival in rivals
        if rival.route != best.route and frozenset((rival.name, best.name)) not in policy.pairs
    )
    plain = best.points >= policy.scoring.high or _is_titled(best)
    return "high" if plain and best.stands and not contested and _is_reported(best) else "medium"


def _is_named(part: Part) -> bool:
    return any(x.role in ("root", "api") and x.points > 0 for x in part.evidence)


def _is_titled(part: Part) -> bool:
    return any(
        x.zone == "title" and x.role in ("root", "api") and x.points >= 2 for x in part.evidence
    )


def _is_reported(part: Part) -> bool:
    """Whether the report itself speaks for the part, and not only what others concluded."""
    return any(x.turn == 0 and x.role in ("root", "api") and x.points > 0 for x in part.evidence)
