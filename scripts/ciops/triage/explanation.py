"""A decision as a person reads it: what, why by which lines, and what would change it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ciops.plumbing.rendering import code_span, escape_markdown
from ciops.triage.decide import Decision
from ciops.triage.evidence import Evidence
from ciops.triage.facts import IssueFacts
from ciops.triage.policy import Policy
from ciops.triage.routing import Part
from ciops.triage.would_change import Change

_TEXT: Final = 110
_PARTS: Final = 5
_LINES: Final = 4


def explanation(
    facts: IssueFacts,
    decision: Decision,
    policy: Policy,
    changes: Sequence[Change] = (),
) -> str:
    """The page of one issue as Markdown."""
    return "\n".join(_page(facts, decision, policy, changes)) + "\n"


def _page(
    facts: IssueFacts,
    decision: Decision,
    policy: Policy,
    changes: Sequence[Change],
) -> Iterator[str]:
    yield f"## {escape_markdown(decision.id)}: {escape_markdown(facts.title)}"
    yield ""
    yield _verdict(decision)
    yield _plan(decision)
    yield ""
    yield from _why(decision)
    yield from _parts(decision, policy)
    yield from _changes(changes)


def _verdict(decision: Decision) -> str:
    facets = decision.facets
    if not facets.distributed:
        return f"Not in the queue's scope ({facets.confidence} confidence)."
    said = [f"Route {code_span(facets.sub_oncall or 'none')} ({facets.confidence} confidence)"]
    said.append("modules " + (_spans(facets.modules) or "none"))
    said.append(f"a {facets.kind}" + (" about performance" if facets.performance else ""))
    if facets.high_priority:
        said.append("high priority for people to confirm: " + _spans(facets.high_priority))
    said.append("reproduction given" if facets.has_reproduction else "no reproduction")
    return "; ".join(said) + "."


def _plan(decision: Decision) -> str:
    plan = decision.plan
    if decision.skip is not None:
        return f"Left alone: {code_span(decision.skip)}."
    comment = f"; comment {code_span(plan.comment)}" if plan.comment else ""
    if plan.comment_suppressed:
        comment += ", which stands already in other words"
    notes = "".join(f" {note}" for note in plan.notes)
    return f"Adds {_spans(plan.add_labels) or 'nothing'}{comment}. Step {plan.step}.{notes}"


def _spans(names: Iterable[str]) -> str:
    return ", ".join(map(code_span, names))


def _why(decision: Decision) -> Iterator[str]:
    yield "| Facet | Role | Points | Where | Line |"
    yield "|---|---|---|---|---|"
    points: dict[tuple[str, ...], list[float]] = {}
    for item in decision.evidence:
        found = item.evidence
        place = f"{found.where}:{found.line} ({found.zone})"
        row = (code_span(item.facet), found.role, place, code_span(_short(found.text)))
        points.setdefault(row, []).append(found.points)
    for (facet, role, place, text), told in points.items():
        yield f"| {facet} | {role} | {_sum(told)} | {place} | {text} |"
    yield ""


def _sum(points: Sequence[float]) -> str:
    """What the signals on one line give, one by one."""
    return " + ".join(f"{one:g}" for one in points if one) or "0"


def _short(text: str) -> str:
    text = " ".join(text.split()).replace("|", "¦")
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"


def _parts(decision: Decision, policy: Policy) -> Iterator[str]:
    """The sums, so that the choice can be followed by hand."""
    routing = decision.judgement.routing
    if not routing.parts:
        return
    minimum, share = policy.scoring.minimum, policy.scoring.share
    yield f"Points by part (a label needs {minimum:g}, standing, and {share:.0%} of the best):"
    yield ""
    for part in routing.parts[:_PARTS]:
        yield f"- {code_span(part.name)} {part.points:g}{_standing(part)}: {_sums(part)}"
    for override in routing.overrides:
        yield f"- rule {code_span(override.id)}: {escape_markdown(override.note)}"
    yield ""


def _standing(part: Part) -> str:
    return " with root evidence" if part.has_root else " with standing" if part.stands else ""


def _sums(part: Part) -> str:
    told: dict[str, Evidence] = {}
    for item in part.evidence:
        told.setdefault(f"{item.signal} in {item.group}", item)
    lines = [f"{code_span(name)} {item.points:+g}" for name, item in told.items() if item.points]
    return ", ".join(lines[:_LINES]) or "only on the path"


def _changes(changes: Sequence[Change]) -> Iterator[str]:
    if changes:
        yield "What would change it:"
        yield ""
    for change in changes:
        told = f"{change.facet} from {_plain(change.before)} to {_plain(change.after)}"
        yield f"- {code_span(told)}: {code_span(change.words)}"


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value).lower()
