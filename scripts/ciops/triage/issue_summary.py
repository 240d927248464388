"""One issue for the job summary: the decision, why, what would change it, and what was done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ciops.plumbing.rendering import Templates, code_span, escape_markdown, link
from ciops.triage.decide import Decision
from ciops.triage.edits import MAINTAINER, Edit
from ciops.triage.evidence import Evidence
from ciops.triage.facts import IssueFacts
from ciops.triage.live_facts import comment_url
from ciops.triage.plan import standing_of
from ciops.triage.policy import Policy
from ciops.triage.rationale import place_in, place_of, shortened
from ciops.triage.run_issue import Desk, Look, Result
from ciops.triage.would_change import Change

REASONS: Final = 4
CHANGES: Final = 2
FACETS: Final = (
    "distributed",
    "sub_oncall",
    "modules",
    "high_priority",
    "type",
    "performance",
    "has_reproduction",
)
_STEPS: Final = {
    "0: classified by people": "classified_by_people",
    "0: two routes": "two_routes",
    "1: not distributed": "not_distributed",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """A line of the issue, the facets it is the strongest evidence for, and where it stands."""

    facets: str
    quote: str
    place: str
    url: str


def issue_section(result: Result, desk: Desk, changes: Sequence[Change] = ()) -> str:
    """The Markdown of one issue, about ten lines."""
    look, words = result.look, desk.words
    if look is None:
        return f"- #{result.number}: {escape_markdown(result.error)}\n\n"
    return words.render(
        "issue.md",
        number=result.number,
        title=look.facts.title,
        url=look.facts.url,
        headline=headline(look, desk),
        reasons=list(_reasons(look, desk)),
        changes=[change_line(change, words) for change in _telling(changes, look)[:CHANGES]],
        outcome=list(outcome_lines(result, desk)),
    )


def headline(look: Look, desk: Desk) -> str:
    """The decision in a sentence."""
    words, decision = desk.words, look.decision
    if look.skip is not None:
        reason = skip_reason_words(look.skip, words, desk.policy.labels.queue)
        return words.message("headline.skipped", reason=reason)
    if decision is None:
        return ""
    return route_headline(decision, desk.policy, words)


def route_headline(decision: Decision, policy: Policy, words: Templates) -> str:
    """Where an issue goes, or why nowhere."""
    key = _STEPS.get(decision.plan.step) or _route_key(decision, policy)
    return words.message(
        f"headline.{key}",
        queue=code_span(policy.labels.queue),
        route=code_span(_route_label(decision, policy)),
        guess=code_span(decision.facets.sub_oncall),
        confidence=words.message(f"confidence.{decision.facets.confidence}"),
    )


def skip_reason_words(skip: str, words: Templates, queue: str) -> str:
    """Why an issue is left alone."""
    return words.message(f"skip.{skip}", queue=code_span(queue))


def _route_key(decision: Decision, policy: Policy) -> str:
    if decision.existing_route is not None:
        return "kept"
    guess, fallback = decision.facets.sub_oncall, policy.default_route.id
    if guess is not None and decision.facets.confidence != "low":
        return "routed"
    return "default" if guess in (None, fallback) else "default_despite"


def _route_label(decision: Decision, policy: Policy) -> str:
    if decision.existing_route is not None:
        return policy.route(decision.existing_route).label
    routes = [route.label for route in policy.routes if route.label in decision.plan.add_labels]
    if routes or decision.facets.sub_oncall is None:
        return (routes or [policy.default_route.label])[0]
    return policy.route(decision.facets.sub_oncall).label


def _reasons(look: Look, desk: Desk) -> Iterator[Reason]:
    """One line for facets that stand on the same one."""
    grouped: dict[tuple[str, int], tuple[Evidence, list[str]]] = {}
    for facet in _facets(look):
        found = None if look.decision is None else _strongest(facet, look.decision)
        if found is not None:
            named = grouped.setdefault((found.where, found.line), (found, []))[1]
            named.append(desk.words.message(f"facet.{facet}"))
    for found, facets in list(grouped.values())[:REASONS]:
        yield Reason(
            desk.words.message("list.between").join(facets),
            shortened(found.text),
            place_of(found, desk.words),
            evidence_url(found, look.facts, desk.forge),
        )


def _facets(look: Look) -> Iterator[str]:
    """Those that matter: modules where they are labelled, a type that is more than a bug, scope
    where it is what decides."""
    decision = look.decision
    if decision is None:
        return
    if not decision.facets.distributed:
        yield "distributed"
        return
    labelled = set(decision.facets.modules) & set(decision.plan.add_labels)
    hidden = {"distributed"} if labelled else {"distributed", "modules"}
    hidden |= set() if decision.facets.type else {"type"}
    yield from (facet for facet in FACETS if facet not in hidden)


def _strongest(facet: str, decision: Decision) -> Evidence | None:
    found = (item.evidence for item in decision.evidence if item.facet == facet)
    return next((evidence for evidence in found if evidence.points > 0), None)


def evidence_url(evidence: Evidence, facts: IssueFacts, forge: str) -> str:
    """The issue, or the comment that a piece of evidence stands in."""
    index = evidence.turn - 1
    if not 0 <= index < len(facts.comments):
        return facts.url
    return comment_url(facts, facts.comments[index].id, forge)


def _telling(changes: Sequence[Change], look: Look) -> list[Change]:
    """Those first that show which line decided, and those of where an issue goes.

    That a maintainer's word would decide otherwise is said where nothing in the report would.
    """
    order = ("sub_oncall", "modules", "has_reproduction", "high_priority", "distributed", "type")
    told = {*_facets(look), "distributed"}
    ranks = {facet: rank for rank, facet in enumerate(order) if facet in told}
    ranked = [change for change in changes if change.facet in ranks]
    in_report = [change for change in ranked if not _by_maintainer(change)]
    return sorted(
        in_report or ranked,
        key=lambda change: (not all(edit.removes for edit in change.edits), ranks[change.facet]),
    )


def _by_maintainer(change: Change) -> bool:
    return any(edit.where == MAINTAINER for edit in change.edits)


def change_line(change: Change, words: Templates) -> str:
    """One counterfactual: which facet becomes what, by which edit."""
    return words.message(
        "line.change",
        facet=words.message(f"facet.{change.facet}"),
        before=_value(change.before, words),
        after=_value(change.after, words),
        edits=words.message("list.between").join(_edit(edit, words) for edit in change.edits),
    )


def _edit(edit: Edit, words: Templates) -> str:
    quote = code_span(shortened(edit.text))
    if edit.where == MAINTAINER:
        return words.message("edit.maintainer", quote=quote)
    if edit.removes:
        place = place_in(edit.where, edit.first, words, edit.last)
        return words.message("edit.without", quote=quote, place=place)
    return words.message("edit.with", quote=quote, place=words.message(f"edit.{edit.where}"))


def _value(value: object, words: Templates) -> str:
    if isinstance(value, bool):
        return words.message("value.yes" if value else "value.no")
    listed = value if isinstance(value, list) else [] if value is None else [value]
    return spans(map(str, listed)) or words.message("value.none")


def outcome_lines(result: Result, desk: Desk, *, plain: bool = False) -> Iterator[str]:
    """What was or would be done, and what people should know."""
    if result.look is None:
        return
    if result.error:
        error = result.error if plain else escape_markdown(result.error)
        yield desk.words.message("line.failed", error=error)
    if result.look.skip is None:
        yield from _label_lines(result, desk.words)
        yield from _comment_lines(result, desk.words, plain)
    yield from _notes(result.look, desk)
    if result.look.similar:
        shown = (_linked(f"#{x.number} {x.title}", x.url, plain) for x in result.look.similar)
        yield desk.words.message("line.similar", links=", ".join(shown))


def _linked(text: str, url: str, plain: bool) -> str:
    """A link for a page, or for a log."""
    return f"{' '.join(text.split())} {url}" if plain else link(text, url)


def _label_lines(result: Result, words: Templates) -> Iterator[str]:
    told: dict[str, Sequence[str]] = {}
    if result.outcome == "written":
        told = {
            "written": result.written.labels,
            "suggested": result.written.suggested,
            "not_suggested": result.written.not_suggested,
        }
    elif result.look is not None:
        planned = [part.name for part in result.look.writes.labels]
        told = {"held_back" if result.outcome in ("held_back", "failed") else "planned": planned}
    lines = [
        words.message(f"line.{kind}", labels=spans(labels))
        for kind, labels in told.items()
        if labels
    ]
    yield from lines or [words.message("line.nothing")]


def _comment_lines(result: Result, words: Templates, plain: bool) -> Iterator[str]:
    look = result.look
    decision = look.decision if look is not None else None
    if look is None or decision is None or decision.plan.comment is None:
        return
    template = code_span(decision.plan.comment)
    if not look.writes.comment:
        yield words.message("line.comment_suppressed")
    elif result.outcome == "written":
        posted = _linked(words.message("line.posted"), result.written.comment_url, plain)
        yield words.message("line.comment_written", template=template, link=posted)
        if result.written.doubled:
            yield words.message("line.comment_doubled")
    else:
        kind = "held_back" if result.outcome in ("held_back", "failed") else "planned"
        yield words.message(f"line.comment_{kind}", template=template)


def _notes(look: Look, desk: Desk) -> Iterator[str]:
    decision, labels, words = look.decision, desk.policy.labels, desk.words
    if decision is None:
        return
    standing = standing_of(look.facts, desk.policy)
    arrived = decision.facets.has_reproduction and standing.has(labels.reproduction)
    if look.skip == "awaiting_human" and arrived:
        label = code_span(labels.reproduction)
        yield words.message("note.reproduction_arrived", label=label)
    review = labels.review in decision.plan.add_labels or standing.has(labels.review)
    if look.skip is None and review and decision.facets.high_priority:
        families = spans(decision.facets.high_priority)
        yield words.message(
            "note.high_priority", families=families, review=code_span(labels.review)
        )
    for note in decision.plan.notes:
        yield words.message(f"note.{note.key}", label=code_span(note.label))


def spans(labels: Iterable[str]) -> str:
    return ", ".join(map(code_span, labels))
