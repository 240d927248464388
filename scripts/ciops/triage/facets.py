"""What an expert would say of an issue: the facets, each with the evidence it stands on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ciops.triage.evidence import Evidence
from ciops.triage.gathering import gather
from ciops.triage.inferred import infer, proves_scope
from ciops.triage.issue_text import Reading
from ciops.triage.policy import Family, Policy
from ciops.triage.reproduction import (
    SHOWN,
    TOLD,
    signs_of_reproduction,
    signs_that_count,
    told_reproduction,
)
from ciops.triage.routing import Confidence, Routing, route_issue
from ciops.triage.weighing import (
    NOTHING,
    Score,
    Tally,
    apply_overrides,
    family_points,
    family_stands,
    score_topics,
    tally,
)

Kind = Literal["bug", "feature", "enhancement", "question", "docs"]
_ASKED: Final[tuple[Kind, ...]] = ("feature", "enhancement")
_ACTED: Final = ("ran", "machine")
_KINDS: Final[tuple[Kind, ...]] = ("bug", "feature", "enhancement", "question", "docs")
_OF_KINDS: Final = ("kind:", "group:contradiction")
_RAISED: Final = 1.5
_NAMED: Final = re.compile(r"\b[A-Z]\w{2,40}(?:Error|Exception)\b")
_MISSING: Final = re.compile(
    r"\bNotImplementedError\b|\bnot (?:yet |currently )?(?:supported|implemented)\b"
    r"|\b(?:does|do)(?:n't| not) (?:support|implement)\b",
    re.IGNORECASE,
)
_ASKED_AT: Final = 2.0
_ASKED_ALONE: Final = 1.5
_ASKED_HOW: Final = 3.0
_ASKED_OUTRIGHT: Final = 4.5
_STANDS: Final = 3
_COSTLY: Final = 5
_SETTLED: Final = ("group:as_meant", "group:withdrawn", "group:wish_left")
"""All is as it is meant to be; or the failure was one's own, and a wish is left."""
_BUILT: Final = "reproduction:out_of_scope"


@dataclass(frozen=True, slots=True)
class Facets:
    """The facets of an issue, from its text alone."""

    distributed: bool
    sub_oncall: str | None
    modules: tuple[str, ...]
    confidence: Confidence
    kind: Kind
    performance: bool
    high_priority: tuple[str, ...]
    has_reproduction: bool
    repro_expected: bool

    @property
    def type(self) -> str | None:
        """The type label's key, or None for bugs, questions and documentation."""
        return self.kind if self.kind in _ASKED else None


@dataclass(frozen=True, slots=True)
class FacetEvidence:
    """One piece of evidence under the facet it decided."""

    facet: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Weighed:
    """All that speaks in an issue: evidence, its sums, signs of a reproduction, what it raised."""

    reading: Reading
    evidence: tuple[Evidence, ...]
    total: Tally
    signs: tuple[Evidence, ...]
    raised: bool


@dataclass(frozen=True, slots=True)
class Judgement:
    """Facets, what they stand on, the routing behind them, and all that was weighed."""

    facets: Facets
    evidence: tuple[FacetEvidence, ...]
    routing: Routing
    weighed: Weighed


def weigh(reading: Reading, policy: Policy) -> Weighed:
    """All evidence of an issue, before the policy's edges."""
    gathered = gather(reading, policy)
    gathered.extend(infer(reading, gathered, policy))
    signs = signs_of_reproduction(reading, policy)
    return Weighed(reading, tuple(gathered), tally(gathered), tuple(signs), _raised(reading))


def conclude(weighed: Weighed, policy: Policy) -> Judgement:
    """The facets that evidence adds up to, and what of it a reader should see."""
    verdict = _verdict(weighed, policy)
    return Judgement(verdict.facets, tuple(_cited(verdict, policy)), verdict.routing, weighed)


def facets_of(weighed: Weighed, policy: Policy) -> Facets:
    """The facets alone that evidence adds up to."""
    return _verdict(weighed, policy).facets


@dataclass(frozen=True, slots=True)
class _Verdict:
    """The facets, and what they were concluded from."""

    facets: Facets
    scores: dict[str, Score]
    routing: Routing
    apart: str | None
    reproduction: Sequence[Evidence]


def _verdict(weighed: Weighed, policy: Policy) -> _Verdict:
    found, total, applied = apply_overrides(weighed.evidence, weighed.total, policy)
    scores = total.scores
    routing = route_issue(scores, applied, policy)
    launchers = [f"component:{part}" for part in policy.reproduction.launchers]
    launched = any(x.stands and x.points > 0 for x in map(scores.get, launchers) if x)
    signs = signs_that_count(weighed.signs, launched)
    reproduction = [*signs, *told_reproduction(found)]
    apart = _apart(total, found, policy)
    asked = score_topics(x for x in found if x.turn == 0 and x.topic.startswith(_OF_KINDS))
    kind = _kind(weighed.raised, asked, bool(reproduction))
    failing = _priorities(total, policy)
    if kind == "question" and failing and reproduction:  # politely asked, and shown to be wrong
        kind = "bug"
    if apart is not None:
        reproduction.extend(x for x in found if x.topic == _BUILT and x.points > 0)
    if kind != "bug":
        reproduction = [sign for sign in reproduction if sign.signal not in TOLD]
    if kind == "feature" and not _fails(weighed.reading):  # what is not there yet shows nothing
        reproduction = [sign for sign in reproduction if sign.signal == SHOWN]
    if _is_only_a_wish(kind, scores):
        kind = "enhancement"
    distributed = apart is None
    priorities = failing if distributed and kind == "bug" else ()
    unsure = weighed.total.scores.get("group:noise_talk", NOTHING).points >= 2
    confidence = _confidence(routing, apart, scores, unsure, policy)
    exempt = scores.get("reproduction:exempt", NOTHING).points >= 1
    facets = Facets(
        distributed=distributed,
        sub_oncall=routing.route if distributed else None,
        modules=routing.modules if distributed else (),
        confidence=confidence,
        kind=kind,
        performance=kind == "enhancement" and asked.get("kind:performance", NOTHING).points >= 1,
        high_priority=priorities,
        has_reproduction=bool(reproduction),
        repro_expected=kind == "bug" and not exempt,
    )
    return _Verdict(facets, scores, routing, apart, reproduction)


def _apart(total: Tally, found: Sequence[Evidence], policy: Policy) -> str | None:
    """The family that puts an issue out of scope, or None where it is in scope.

    What was run or printed in the scope keeps an issue there, unless somebody found out that it
    happens without. A family that is only spoken of must outweigh what is said of the scope.
    """
    scores = total.scores
    families = [family for family in policy.apart if family_stands(family, "apart", total)]
    if not families:
        return None
    best = max(families, key=lambda family: family_points(family, "apart", scores))
    score = scores.get(f"apart:{best.id}", NOTHING)
    concluded = scores.get("group:concluded_apart", NOTHING)
    told = any(x.speaker == "maintainer" and x.points > 0 for x in concluded.evidence)
    if told or (concluded.points >= 2 and not _fails_inside(found)):
        return best.id
    if _in_scope(found, policy):
        return None
    shown = any(x.role == "root" and x.group in _ACTED for x in score.evidence)
    stands = best.outweighs == "never" or (shown and best.outweighs == "unless_shown")
    points = _counted(families, scores, policy)
    return best.id if stands or points > _spoken_scope(_unexplained(found, policy)) else None


def _counted(standing: Sequence[Family], scores: dict[str, Score], policy: Policy) -> float:
    """The points of the families that stand; of all, where one process is said to show it."""
    families = policy.apart if any(x.plain_script for x in standing) else standing
    return sum(max(0.0, scores.get(f"apart:{x.id}", NOTHING).points) for x in families)


def _fails_inside(found: Sequence[Evidence]) -> bool:
    """Whether what was printed names a part of the scope as the place of the failure."""
    return any(
        item.role == "root" and item.group == "machine" and item.topic.startswith("component:")
        for item in found
    )


def _unexplained(found: Sequence[Evidence], policy: Policy) -> Iterator[Evidence]:
    """Evidence without what was printed, where a family explains all of that."""
    traced = any(_explains_trace(item, policy) for item in found)
    return (item for item in found if not (traced and item.group == "machine"))


def _spoken_scope(found: Iterable[Evidence]) -> float:
    """What the words of an issue say for the scope: its parts that are named, its vocabulary."""
    scores = score_topics(x for x in found if x.topic.startswith(("component:", "in_scope")))
    named = (s.points for topic, s in scores.items() if topic.startswith("component:"))
    return sum(p for p in named if p > 0) + max(0.0, scores.get("in_scope", NOTHING).points)


def _in_scope(found: Sequence[Evidence], policy: Policy) -> bool:
    """Whether something was run, or printed, that only the product's scope can explain.

    A line that an out-of-scope family explains (a missing symbol) says nothing of the scope.
    """
    apart = {(x.where, x.line) for x in found if x.topic.startswith("apart:") and x.role == "root"}
    traced = any(_explains_trace(item, policy) for item in found)
    return any(
        (item.group in _ACTED or item.topic == "in_scope")
        and proves_scope(item, policy)
        and (item.where, item.line) not in apart
        and not (traced and item.group == "machine")
        for item in found
    )


def _explains_trace(item: Evidence, policy: Policy) -> bool:
    family = item.topic.removeprefix("apart:")
    shown = item.role == "root" and item.group == "machine"
    return shown and any(x.id == family and x.explains_trace for x in policy.apart)


def _kind(raised: bool, scores: dict[str, Score], reproduced: bool) -> Kind:
    """What an issue is. The form that was filled in weighs; a title that asks outright, more."""
    points = {name: scores.get(f"kind:{name}", NOTHING).points for name in _KINDS}
    bug = points["bug"] + (_RAISED if raised else 0.0)
    contradicted = scores.get("group:contradiction", NOTHING).points >= 2
    asked = max(points["feature"], points["enhancement"])
    docs = points["docs"] if points["docs"] >= 3 else 0.0
    if docs > max(bug, asked) and not (contradicted and reproduced):
        return "docs"
    wanted = asked >= (_ASKED_AT if bug > 0 else _ASKED_ALONE)
    if wanted and asked > bug and not (contradicted and reproduced):
        costs = scores.get("kind:performance", NOTHING).points >= _COSTLY
        better = points["enhancement"] >= (1.0 if costs else 2.0)
        return "enhancement" if better else "feature"
    if docs > max(bug, 0.0) and not (contradicted and reproduced):
        return "docs"
    sure = _ASKED_OUTRIGHT if reproduced else _ASKED_HOW
    if points["question"] >= sure and points["question"] > bug:
        return "question"
    return "bug"


def _is_only_a_wish(kind: Kind, scores: dict[str, Score]) -> bool:
    """Whether all is as it is meant to be, and what is left is to say it better or do it faster."""
    said = {topic for topic in _SETTLED if scores.get(topic, NOTHING).points >= 1}
    if _SETTLED[0] not in said and said != set(_SETTLED[1:]):
        return False
    wished = scores.get("group:message_wish", NOTHING).points >= 1
    return kind == "feature" or (kind == "bug" and wished)


def _fails(reading: Reading) -> bool:
    """Whether an exception is shown or named."""
    return bool(reading.tracebacks) or any(_NAMED.search(line.text) for line in reading.lines)


def _raised(reading: Reading) -> bool:
    """Whether something was raised, other than that a thing does not exist yet."""
    raised = (source.traceback for source in reading.tracebacks if source.traceback.exception)
    return any(not _MISSING.search(f"{x.exception}: {x.message}") for x in raised)


def _priorities(total: Tally, policy: Policy) -> tuple[str, ...]:
    return tuple(
        family.id for family in policy.priorities if family_stands(family, "priority", total)
    )


def _rivalled(apart: Score, routing: Routing) -> bool:
    """Whether root evidence for a part of the scope is on a line that the family does not explain.

    Names of the scope's own tests in a report about a machine, for example.
    """
    explained = {(item.where, item.line) for item in apart.evidence if item.role == "root"}
    return any(
        item.role == "root" and item.points > 0 and (item.where, item.line) not in explained
        for part in routing.parts
        for item in part.evidence
    )


def _confidence(
    routing: Routing, apart: str | None, scores: dict[str, Score], unsure: bool, policy: Policy
) -> Confidence:
    if apart is not None:
        standing = [scores.get(f"apart:{x.id}", NOTHING) for x in policy.apart if x.id != apart]
        score = scores.get(f"apart:{apart}", NOTHING)
        shown = score.has_root or any(x.has_root and x.points >= _STANDS for x in standing)
        return "high" if shown and not _rivalled(score, routing) else "medium"
    classified = policy.route(routing.route).classified
    confidence = routing.module_confidence if classified else routing.route_confidence
    return "medium" if unsure and confidence == "high" else confidence


def _cited(verdict: _Verdict, policy: Policy) -> Iterator[FacetEvidence]:
    """The evidence that a reader should see: the strongest few of each facet."""
    facets, scores, routing = verdict.facets, verdict.scores, verdict.routing
    if verdict.apart is not None:
        yield from _best("distributed", scores.get(f"apart:{verdict.apart}", NOTHING).evidence, 3)
    else:
        yield from _best("distributed", scores.get("in_scope", NOTHING).evidence, 2)
        for part in routing.parts:
            if part.route == facets.sub_oncall and part.points > 0:
                yield from _best("sub_oncall", part.evidence, 3)
                break
        for part in routing.parts:
            yield from _best("modules", part.evidence, 4 if part.label in facets.modules else 2)
    for family in policy.priorities:
        if family.id in facets.high_priority:
            topics = (f"priority:{family.id}", *family.counts)
            told = [x for topic in topics for x in scores.get(topic, NOTHING).evidence]
            yield from _best("high_priority", told, 2)
    yield from _best("type", scores.get(f"kind:{facets.kind}", NOTHING).evidence, 2)
    if facets.performance:
        yield from _best("performance", scores["kind:performance"].evidence, 1)
    yield from _best("has_reproduction", verdict.reproduction, 2)


def _best(facet: str, evidence: Sequence[Evidence], most: int) -> Iterator[FacetEvidence]:
    for item in sorted(evidence, key=lambda item: -abs(item.points))[:most]:
        yield FacetEvidence(facet, item)
