"""From evidence to scores: what each part has for and against it, and what may be told apart.

A score is a sum: for each signal and kind of place its best line counts once. A part has
*standing* with root evidence, with two independent pieces of api evidence, or where the title is
about it; path never suffices.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from ciops.triage.evidence import GROUPS, Evidence
from ciops.triage.policy import Family, Override, Policy

_STANDING: Final = ("root", "api")
_TITLED: Final = 2.0
_SIGNAL: Final = "signal:"
_ANY_PART: Final = "component:*"
_NAME: Final = "_name"
"""What the signal of a part's names ends with."""


@dataclass(slots=True)
class Score:
    """What a topic has: its points, and its evidence, the strongest first.

    `apis` are independent pieces of api evidence: different signals, or different kinds of place.
    `titled`: the title is about it, and not only about something that happens with it; `hinted`:
    the title hints at it in ordinary words. `named`: somebody calls it by its name, besides using
    it.
    """

    topic: str
    points: float
    evidence: tuple[Evidence, ...]
    has_root: bool = False
    apis: int = 0
    titled: bool = False
    hinted: bool = False
    named: bool = False

    @property
    def stands(self) -> bool:
        if self.has_root or self.titled:
            return True
        hints = self.apis + self.hinted
        return hints >= 2 or (hints == 1 and self.apis == 1 and self.named)


NOTHING: Final = Score("", 0.0, ())


def score_topics(found: Iterable[Evidence]) -> dict[str, Score]:
    """The score of every topic that has evidence."""
    by_topic: dict[str, list[Evidence]] = {}
    for item in found:
        by_topic.setdefault(item.topic, []).append(item)
    return {topic: score_of(topic, items) for topic, items in by_topic.items()}


def score_of(topic: str, items: Sequence[Evidence]) -> Score:
    """Add up the best line of each signal in each kind of place, apart for each camp."""
    best: dict[tuple[str, str, bool, bool], float] = {}
    used: set[tuple[str, str]] = set()
    names: set[str] = set()
    has_root = titled = hinted = False
    for item in items:
        points, group, role = item.points, GROUPS[item.zone], item.role
        in_title = group == "title"
        signal = role if in_title else item.signal  # a title says it once
        key = (signal, group, item.speaker == "maintainer", points < 0)
        held = best.get(key)
        if held is None or abs(points) > abs(held):
            best[key] = points
        if points <= 0:
            continue
        if role == "api":
            used.add((item.signal, group))
        has_root = has_root or role == "root"
        if in_title:
            titled = titled or (role in _STANDING and points >= _TITLED)
            hinted = hinted or role == "weak"
        if item.signal.endswith(_NAME):
            names.add(item.signal)
    return Score(
        topic,
        round(sum(best.values()), 2),
        tuple(sorted(items, key=_strength)) if len(items) > 1 else tuple(items),
        has_root,
        len(used),
        titled,
        hinted,
        named=not names <= {signal for signal, _ in used},
    )


def _strength(item: Evidence) -> float:
    return -abs(item.points)


@dataclass(frozen=True, slots=True)
class Tally:
    """What all evidence adds up to: a score for each topic, and the signals that speak for one."""

    scores: dict[str, Score]
    signals: frozenset[str]


def tally(found: Iterable[Evidence]) -> Tally:
    """Add up all evidence."""
    items = tuple(found)
    return Tally(score_topics(items), _speaking(items))


def retallied(total: Tally, found: Sequence[Evidence], touched: Collection[str]) -> Tally:
    """The sums again after the evidence of some topics has changed."""
    changed = score_topics(item for item in found if item.topic in touched)
    kept = {topic: score for topic, score in total.scores.items() if topic not in touched}
    return Tally(kept | changed, _speaking(found))


def _speaking(found: Iterable[Evidence]) -> frozenset[str]:
    return frozenset(item.signal for item in found if item.points > 0)


def family_stands(family: Family, prefix: str, tally: Tally) -> bool:
    """Whether a family is on: its points, its needs, and none of what excludes it."""
    if family_points(family, prefix, tally.scores) < family.threshold:
        return False
    return all(_any_holds(need, tally) for need in family.needs) and not any(
        _any_holds(other, tally) for other in family.unless
    )


def family_points(family: Family, prefix: str, scores: dict[str, Score]) -> float:
    """The points of a family and of the topics that count as its own."""
    points = scores.get(f"{prefix}:{family.id}", NOTHING).points
    for topic in family.counts:
        points += scores.get(topic, NOTHING).points
    return points


def holds(condition: str, tally: Tally) -> bool:
    """Whether a condition of the policy holds.

    "group:hang" (points of at least 1), "component:x" (standing), "component:x.root",
    "component:x.api" (any root or api evidence), "component:x.titled" (the title is about it),
    "component:x.in_title" (the title names it), "signal:id" (any positive evidence of it).
    "component:*" is that any part has evidence at all, "component:*.in_title" that the title
    names one.
    """
    return _any_holds(condition, tally)


def _is_so(score: Score, topic: str, asked: str) -> bool:
    if asked == "root":
        return score.has_root
    if asked == "titled":
        return score.titled
    if asked == "api":
        return any(x.role in _STANDING and x.points > 0 for x in score.evidence)
    if asked == "in_title":
        return _is_in_title(score)
    if topic.startswith("component:"):
        return score.stands and score.points > 0
    return score.points >= 1


def _any_part(scores: dict[str, Score], in_title: bool) -> bool:
    parts = (score for name, score in scores.items() if name.startswith("component:"))
    return any(x.points > 0 and (not in_title or _is_in_title(x)) for x in parts)


def _is_in_title(score: Score) -> bool:
    """Whether the title names a part, be it only as what something happens with."""
    return score.points > 0 and any(
        x.zone == "title" and x.role in _STANDING and x.points > 0 for x in score.evidence
    )


def apply_overrides(
    found: Sequence[Evidence], total: Tally, policy: Policy
) -> tuple[list[Evidence], Tally, tuple[Override, ...]]:
    """The evidence after the policy's edges, what it adds up to, and which edges took effect."""
    evidence = list(found)
    applied = []
    for override in policy.overrides:
        if not _fires(override, total):
            continue
        touched = _touched(override, evidence)
        anew = [_in_context(x, override) if x.topic in touched else x for x in evidence]
        anew.extend(_added(override, anew, policy))
        if anew != evidence:
            total = retallied(total, anew, touched)
        if anew != evidence or override.route:
            applied.append(override)
        evidence = anew
    return evidence, total, tuple(applied)


def _touched(override: Override, evidence: Sequence[Evidence]) -> set[str]:
    """The topics whose evidence an override changes."""
    named = {topic_of(name) for name in (*override.context, *override.adds)}
    aside = override.sets_aside
    return named | {item.topic for item in evidence if item.signal in aside} if aside else named


def _fires(override: Override, total: Tally) -> bool:
    for when in override.when:
        if not _any_holds(when, total):
            return False
    return not any(_any_holds(unless, total) for unless in override.unless)


def _any_holds(conditions: str, total: Tally) -> bool:
    """Conditions joined by " or "."""
    scores = total.scores
    for topic, asked in _either(conditions):
        score = scores.get(topic)
        if score is not None:
            if _is_so(score, topic, asked):
                return True
        elif topic == _SIGNAL:  # most others are of what an issue does not speak of
            if asked in total.signals:
                return True
        elif topic == _ANY_PART and _any_part(scores, asked == "in_title"):
            return True
    return False


@lru_cache(maxsize=1024)
def _either(conditions: str) -> tuple[tuple[str, str], ...]:
    """The topic of each condition, and what is asked of it; of a signal its id."""
    parts = [part.strip() for part in conditions.split(" or ")]
    return tuple(
        (_SIGNAL, x.removeprefix(_SIGNAL)) if x.startswith(_SIGNAL) else _asked(x) for x in parts
    )


def _asked(condition: str) -> tuple[str, str]:
    topic, _, asked = condition.partition(".")
    return topic, asked


def _in_context(item: Evidence, override: Override) -> Evidence:
    if item.signal in override.sets_aside and item.points > 0:
        return replace(item, role="path", points=0.0)
    if item.role not in ("api", "weak") or item.points <= 0:
        return item
    if item.topic.removeprefix("component:") not in override.context:
        return item
    return replace(item, role="path", points=0.0)


def _added(override: Override, evidence: Sequence[Evidence], policy: Policy) -> Iterable[Evidence]:
    """Root evidence that an override gives, told by the line that made it fire."""
    source = _cause(override, evidence)
    if source is None:
        return ()
    points = policy.scoring.roles["root"]
    return [
        replace(source, topic=topic_of(name), signal=override.id, role="root", points=points)
        for name in override.adds
    ]


def topic_of(name: str) -> str:
    """What an override adds evidence to: a part by its id, or any topic by its full name."""
    return name if ":" in name else f"component:{name}"


def _cause(override: Override, evidence: Sequence[Evidence]) -> Evidence | None:
    for condition in override.when:
        for topic, asked in _either(condition):
            if topic == _SIGNAL:
                found = [x for x in evidence if x.signal == asked and x.points > 0]
            else:
                found = [x for x in evidence if x.topic == topic and x.points > 0]
            if found:
                return max(found, key=lambda item: item.points)
    return None
