"""Agreement of decisions with what people say or did: route, modules, every facet, the plan.

Expectations come from a case's `facets`: authored, or what the labels of people tell; a facet that
is not there is not scored. Pure: the figures are counted from pairs of expectation and decision.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ciops.errors import UsageError
from ciops.plumbing.yaml_file import nearest, shown
from ciops.triage.decide import Decision
from ciops.triage.facets import Facets, Kind
from ciops.triage.facts import IssueFacts
from ciops.triage.plan import Plan, make_plan, skip_reason, standing_of
from ciops.triage.policy import Policy, Profile

SCALARS: Final = (
    "distributed", "sub_oncall", "confidence", "type", "performance", "has_reproduction",
    "repro_expected",
)  # fmt: skip
_AUTHORED: Final = {"has_reproduction": "has_repro"}
_FACETS: Final = frozenset(
    (*SCALARS, *_AUTHORED.values(), "modules", "modules_acceptable_extra", "high_priority")
)
_EXAMPLE: Final = '{"distributed": true, "sub_oncall": "ROUTE"}'


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of one issue; a facet that is not in `values` is not scored.

    `extra` are modules that may be there; `process` is (skip, comment, suppressed) where known.
    """

    id: str
    values: Mapping[str, Any]
    modules: frozenset[str] | None = None
    extra: frozenset[str] = frozenset()
    high_priority: str | None = None
    scores_priority: bool = False
    process: tuple[str | None, str | None, bool] | None = None


@dataclass(slots=True)
class Count:
    """True and false positives, false negatives."""

    tp: int = 0
    fp: int = 0
    fn: int = 0

    @property
    def precision(self) -> float:
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 1.0

    @property
    def recall(self) -> float:
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 1.0

    @property
    def f1(self) -> float:
        total = 2 * self.tp + self.fp + self.fn
        return 2 * self.tp / total if total else 1.0


@dataclass(slots=True)
class Share:
    """How many of how many."""

    right: int = 0
    of: int = 0

    def add(self, right: bool) -> None:
        self.right += right
        self.of += 1

    @property
    def value(self) -> float:
        return self.right / self.of if self.of else 1.0


@dataclass(slots=True)
class Figures:
    """All that is measured; `wrong` names each issue with what was got and what was expected."""

    issues: int = 0
    facets: dict[str, Share] = field(default_factory=dict)
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)
    modules: dict[str, Count] = field(default_factory=dict)
    high_priority: Count = field(default_factory=Count)
    not_distributed: Count = field(default_factory=Count)
    plan: Share = field(default_factory=Share)
    process: Share = field(default_factory=Share)
    wrong: dict[str, list[str]] = field(default_factory=dict)

    @property
    def micro(self) -> Count:
        """All modules together."""
        total = Count()
        for count in self.modules.values():
            total.tp, total.fp, total.fn = (
                total.tp + count.tp,
                total.fp + count.fp,
                total.fn + count.fn,
            )
        return total


def expected_of(data: Mapping[str, Any], facts: IssueFacts) -> Expected:
    """The expectation of an authored case; contested facets are left out."""
    facets = data.get("facets")
    if not isinstance(facets, Mapping):
        step = f'Write what people decided into it, as in "facets": {_EXAMPLE}'
        raise UsageError(f"case {facts.id} has no facets to compare with", step)
    _refuse_mistyped(facets, facts.id)
    contested = set(data.get("contested") or ())
    named = {name: _AUTHORED.get(name, name) for name in SCALARS}
    written = {n: a if a in facets else n for n, a in named.items()}
    values = {n: facets[a] for n, a in written.items() if a in facets and not contested & {n, a}}
    absent = {"modules"} - facets.keys()
    process = data.get("process")
    return Expected(
        id=facts.id,
        values=values,
        modules=None if "modules" in {*contested, *absent} else frozenset(facets["modules"]),
        extra=frozenset(facets.get("modules_acceptable_extra") or ()),
        high_priority=facets.get("high_priority"),
        scores_priority="high_priority" in facets and "high_priority" not in contested,
        process=_process(process) if isinstance(process, Mapping) else None,
    )


def _refuse_mistyped(facets: Mapping[str, Any], case: str) -> None:
    """UsageError where a facet is nearly the name of one: it would go unmeasured."""
    for name in facets.keys() - _FACETS:
        close = nearest(name, _FACETS)
        if close:
            problem = f"case {case}: facets: unknown facet {shown(name)}"
            raise UsageError(problem, f'Did you mean "{close}"?')


def _process(process: Mapping[str, Any]) -> tuple[str | None, str | None, bool]:
    return (process.get("skip"), process.get("comment"), bool(process.get("comment_suppressed")))


def measure(
    pairs: Iterable[tuple[Expected, IssueFacts, Decision]], policy: Policy, profile: Profile
) -> Figures:
    """Count agreement."""
    figures = Figures()
    for expected, facts, decision in pairs:
        figures.issues += 1
        wrong = [
            *_scalars(figures, expected, decision.facets),
            *_modules(figures, expected, decision.facets),
            *_priority(figures, expected, decision.facets),
            *_plan(figures, expected, facts, decision, policy, profile),
        ]
        if wrong:
            figures.wrong[expected.id] = wrong
    return figures


def _scalars(figures: Figures, expected: Expected, facets: Facets) -> Iterator[str]:
    for name, want in expected.values.items():
        got = getattr(facets, name)
        figures.facets.setdefault(name, Share()).add(got == want)
        if name == "sub_oncall":
            figures.confusion[str(want or "none"), str(got or "none")] += 1
        if name == "distributed":
            _count(figures.not_distributed, got=not got, want=not want)
        if got != want:
            yield f"{name}: {got}, expected {want}"


def _count(count: Count, *, got: bool, want: bool) -> None:
    count.tp += got and want
    count.fp += got and not want
    count.fn += want and not got


def _modules(figures: Figures, expected: Expected, facets: Facets) -> Iterator[str]:
    if expected.modules is None:
        return
    got = set(facets.modules)
    for label in sorted(got | expected.modules):
        count = figures.modules.setdefault(label, Count())
        allowed = label in expected.modules or label not in expected.extra
        if allowed:
            _count(count, got=label in got, want=label in expected.modules)
    missing, surplus = expected.modules - got, got - expected.modules - expected.extra
    if missing or surplus:
        yield f"modules: {sorted(got)}, expected {sorted(expected.modules)}"


def _priority(figures: Figures, expected: Expected, facets: Facets) -> Iterator[str]:
    if not expected.scores_priority:
        return
    want = expected.high_priority
    _count(figures.high_priority, got=bool(facets.high_priority), want=want is not None)
    figures.facets.setdefault("high_priority", Share()).add(
        want in facets.high_priority if want else not facets.high_priority
    )
    if bool(facets.high_priority) != (want is not None):
        yield f"high_priority: {list(facets.high_priority)}, expected {want}"


def _plan(
    figures: Figures,
    expected: Expected,
    facts: IssueFacts,
    decision: Decision,
    policy: Policy,
    profile: Profile,
) -> Iterator[str]:
    """The plan against the one that follows from the expected facets, and the process block."""
    if not expected.scores_priority:
        return
    want = _expected_plan(expected, facts, decision.facets, policy, profile)
    same = _same_plan(decision.plan, want)
    figures.plan.add(same)
    if not same:
        yield f"plan: {_plan_words(decision.plan)}, expected {_plan_words(want)}"
    if expected.process is not None:
        got = (decision.skip, decision.plan.comment, decision.plan.comment_suppressed)
        figures.process.add(got == expected.process)
        if got != expected.process:
            yield f"process: {got}, expected {expected.process}"


def _expected_plan(
    expected: Expected, facts: IssueFacts, got: Facets, policy: Policy, profile: Profile
) -> Plan:
    skip = (
        expected.process[0]
        if expected.process
        else skip_reason(standing_of(facts, policy), profile, "sweep")
    )
    if skip is not None:
        return Plan()
    return make_plan(facts, _expected_facets(expected, got), policy, profile)


def _expected_facets(expected: Expected, got: Facets) -> Facets:
    """The expected facets; where one is not told or contested, what was got."""
    values = {name: expected.values.get(name, getattr(got, name)) for name in SCALARS}
    modules = got.modules
    if expected.modules is not None:
        allowed = [m for m in got.modules if m in expected.modules or m in expected.extra]
        modules = (*allowed, *sorted(expected.modules - set(allowed)))
    kind: Kind = values["type"] or ("bug" if values["repro_expected"] else "question")
    return Facets(
        distributed=values["distributed"],
        sub_oncall=values["sub_oncall"],
        modules=modules,
        confidence=values["confidence"],
        kind=kind,
        performance=values["performance"],
        high_priority=(expected.high_priority,) if expected.high_priority else (),
        has_reproduction=values["has_reproduction"],
        repro_expected=values["repro_expected"],
    )


def _same_plan(got: Plan, want: Plan) -> bool:
    return (
        sorted(got.add_labels) == sorted(want.add_labels)
        and got.comment == want.comment
        and got.comment_suppressed == want.comment_suppressed
    )


def _plan_words(plan: Plan) -> str:
    labels = ", ".join(plan.add_labels) or "nothing"
    return f"{labels}{f' + comment {plan.comment}' if plan.comment else ''}"


@dataclass(frozen=True, slots=True)
class Difference:
    """One issue that two policies decide differently, and the evidence that only one has."""

    id: str
    facet: str
    before: Any
    after: Any
    gained: tuple[str, ...]
    lost: tuple[str, ...]


def compare(before: Decision, after: Decision) -> Iterator[Difference]:
    """What another policy changes in the decision of one issue."""
    for facet in (*SCALARS, "modules", "high_priority"):
        old, new = getattr(before.facets, facet), getattr(after.facets, facet)
        if old != new:
            lost, gained = _evidence_of(before), _evidence_of(after)
            yield Difference(
                before.id,
                facet,
                old,
                new,
                tuple(sorted(gained - lost)),
                tuple(sorted(lost - gained)),
            )


def _evidence_of(decision: Decision) -> set[str]:
    """The evidence of a decision, told shortly."""
    return {
        f"{x.evidence.signal} ({x.evidence.role}, {x.evidence.where}:{x.evidence.line})"
        for x in decision.evidence
    }
