"""What would change a decision: the smallest edit of the issue that flips a facet, tried out.

Candidates are the lines that a facet stands on, taken away one by one and then together, and one
added line for each thing the facet could be instead, taken from the policy's own examples. Each is
tried on the evidence, which is quick; one that flips a facet there is applied to the text and
decided again, and only one that flips the facet so is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from ciops.triage.decide import Decision, weigh_facts
from ciops.triage.edits import MAINTAINER, Edit, apply_edit, describe, edited_evidence
from ciops.triage.evidence import Evidence
from ciops.triage.facets import Facets, facets_of
from ciops.triage.facts import IssueFacts
from ciops.triage.issue_text import Reading
from ciops.triage.policy import Component, Policy

FACETS: Final = (
    "distributed", "sub_oncall", "modules", "high_priority", "type", "has_reproduction",
    "confidence",
)  # fmt: skip
_MOST_REMOVED: Final = 4
_MOST_TRIED: Final = 8
_MOST_APPLIED: Final = 2
_REPRODUCED: Final = "reproduction:present"
_SHORT: Final = 120
_WRITABLE: Final = ("traceback", "log", "cpp", "code", "shell", "prose", "title")


@dataclass(frozen=True, slots=True)
class Change:
    """A facet, what it is and would be, and the edits that make it so."""

    facet: str
    before: Any
    after: Any
    edits: tuple[Edit, ...]

    @property
    def words(self) -> str:
        return "; ".join(describe(edit) for edit in self.edits)


def would_change(facts: IssueFacts, decision: Decision, policy: Policy) -> list[Change]:
    """For each facet the smallest edit found that flips it; none where nothing small does."""
    trials = _Trials(facts, decision, policy)
    found = (_smallest(facet, trials) for facet in FACETS)
    return [change for change in found if change is not None]


@dataclass(frozen=True, slots=True)
class _Trials:
    """An issue under trial. Each edit is tried once, whichever facets it is tried for."""

    facts: IssueFacts
    decision: Decision
    policy: Policy
    weighed: dict[tuple[Edit, ...], Facets] = field(default_factory=dict)
    applied: dict[tuple[Edit, ...], Facets] = field(default_factory=dict)

    def on_evidence(self, edits: tuple[Edit, ...]) -> Facets:
        """The facets that the evidence would add up to; near the truth, and quick."""
        if edits not in self.weighed:
            changed = edited_evidence(self.decision.judgement.weighed, edits, self.policy)
            self.weighed[edits] = facets_of(changed, self.policy)
        return self.weighed[edits]

    def on_text(self, edits: tuple[Edit, ...]) -> Facets:
        """The facets of the edited issue, read and decided again."""
        if edits not in self.applied:
            facts = self.facts
            for edit in edits:
                facts = apply_edit(facts, edit)
            self.applied[edits] = facets_of(weigh_facts(facts, self.policy), self.policy)
        return self.applied[edits]


def change_json(change: Change) -> dict[str, Any]:
    """The change as the decision's JSON tells it."""
    return {
        "facet": change.facet,
        "from": change.before,
        "to": change.after,
        "change": change.words,
    }


def facet_value(facets: Facets, facet: str) -> object:
    """A facet in JSON's terms."""
    value = getattr(facets, facet)
    return list(value) if isinstance(value, tuple) else value


def _smallest(facet: str, trials: _Trials) -> Change | None:
    before = facet_value(trials.decision.facets, facet)
    applied = 0
    for number, edits in enumerate(_candidates(facet, trials)):
        if number == _MOST_TRIED or applied == _MOST_APPLIED:
            return None
        if facet_value(trials.on_evidence(edits), facet) == before:
            continue
        applied += 1
        after = facet_value(trials.on_text(edits), facet)
        if after != before:
            return Change(facet, before, after, edits)
    return None


def _candidates(facet: str, trials: _Trials) -> Iterator[tuple[Edit, ...]]:
    """Edits to try, the smallest first: one line less, one line more, then two and more."""
    lines = _lines_of(facet, trials.decision)
    added = list(_additions(facet, trials.decision, trials.policy))
    yield from ((edit,) for edit in lines[:2])
    yield from ((edit,) for edit in added)
    for count in range(2, min(len(lines), _MOST_REMOVED) + 1):
        yield tuple(lines[:count])
    yield from ((*lines[:1], edit) for edit in added[:1] if lines)


def _lines_of(facet: str, decision: Decision) -> list[Edit]:
    """The lines that a facet stands on, as removals, the strongest first, each once."""
    cited = [x.evidence for x in decision.evidence if x.facet == _cited_as(facet)]
    edits: dict[tuple[str, int], Edit] = {}
    for item in sorted(cited, key=lambda x: -x.points):
        if item.points > 0 and not item.signal.startswith("exception"):
            edit = _removal(item, decision.judgement.weighed.reading)
            edits.setdefault((edit.where, edit.first), edit)
    return list(edits.values())


def _cited_as(facet: str) -> str:
    return "modules" if facet == "confidence" else facet


def _removal(item: Evidence, reading: Reading) -> Edit:
    """The line of a piece of evidence; of a script all of it, as half a script is one still."""
    if item.topic == _REPRODUCED and item.zone == "code":
        own = [x for x in reading.lines if x.where == item.where]
        block = next(x.block for x in own if x.number == item.line)
        numbers = [x.number for x in own if x.block == block]
        return Edit(item.where, min(numbers), max(numbers), text=item.text)
    return Edit(item.where, item.line, max(item.line, item.last), text=item.text)


def _additions(facet: str, decision: Decision, policy: Policy) -> Iterator[Edit]:
    """One line for each thing that the facet could be instead."""
    if facet == "has_reproduction":
        yield from _examples("in_scope", policy, ("code",))
    elif facet == "sub_oncall":
        for route in policy.routes:
            if route.id != decision.facets.sub_oncall:
                yield from _about(_first_named(route.id, decision, policy), policy)
    elif facet in ("modules", "confidence"):
        yield from _about(_first_named(decision.facets.sub_oncall, decision, policy), policy)
    else:
        for topic in _topics(facet, decision.facets, policy):
            yield from _examples(topic, policy)


def _topics(facet: str, facets: Facets, policy: Policy) -> list[str]:
    """Whose evidence would make a facet something else."""
    if facet == "type":
        return ["kind:feature" if facets.type is None else "kind:bug"]
    if facet == "distributed":
        return [f"apart:{x.id}" for x in policy.apart] if facets.distributed else ["in_scope"]
    return [] if facets.high_priority else [f"priority:{x.id}" for x in policy.priorities[:3]]


def _first_named(route: str | None, decision: Decision, policy: Policy) -> Component | None:
    """A part of a route that the decision does not name yet; one with evidence before others."""
    named = set(decision.facets.modules)
    parts = [part.name for part in decision.judgement.routing.parts]
    able = [c for c in policy.components.values() if c.route == route and c.names]
    able = [c for c in able if c.label not in named]
    known = [c for c in able if (c.label or c.id) in parts]
    return next(iter(known or able), None)


def _about(component: Component | None, policy: Policy) -> Iterator[Edit]:
    """A maintainer who says that it is a part, or an error of that part."""
    if component is not None:
        yield Edit(MAINTAINER, text=f"The root cause is in {component.names[0]}.")
        yield from _examples(f"component:{component.id}", policy)


def _examples(topic: str, policy: Policy, zones: Sequence[str] = _WRITABLE) -> Iterator[Edit]:
    """The shortest example of the strongest signal of a topic, in a zone where it counts."""
    example = _example(topic, policy, tuple(zones))
    if example is not None:
        yield example


@lru_cache(maxsize=256)
def _example(topic: str, policy: Policy, zones: tuple[str, ...]) -> Edit | None:
    signals = [
        s for s in policy.signals if s.topic == topic and s.matches and s.role in ("root", "api")
    ]
    for signal in sorted(signals, key=lambda s: (s.role != "root", min(map(len, s.matches)))):
        zone = next((zone for zone in zones if zone in signal.zones), None)
        example = signal.matches[0].strip()
        if zone is not None and len(example) <= _SHORT:
            return Edit("title" if zone == "title" else "body", zone=zone, text=example)
    return None
