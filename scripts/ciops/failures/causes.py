"""Judge what happened in a trace: which event is the first causal error, and how sure is that.

Events compete by weight (`ciops.failures.weights`), equals by their place in the file. Statements
in general words are causes where they stand together right before the end. Without any event,
a line right above the runner's verdict may hint at the cause, which is weak evidence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ciops.failures import last_output, weights
from ciops.failures import line_rules as roles
from ciops.failures import scan_result as results
from ciops.failures.choosing import APART, Weighed, chosen, first_try, is_shrugged_off, telling
from ciops.failures.events import FAILED, Event
from ciops.failures.frames import innermost_owned
from ciops.failures.framing import Visible
from ciops.failures.knowledge import Knowledge
from ciops.failures.masking import masked
from ciops.failures.progress import made_progress
from ciops.failures.raise_site import raise_site
from ciops.failures.scan_result import NumberedLine, ScanResult
from ciops.failures.signature import model_names, place, signature
from ciops.failures.standing import left_standing
from ciops.failures.trace_facts import Facts

PROGRESS: Final = "progress"
"""The observation that work was being done right before a job was ended."""
STUCK: Final = "stuck"
"""The observation that something waits in vain."""
OUTPUT_CUT: Final = "output-cut"
"""The observation that the runner stopped writing the trace at its limit."""

_STATE: Final = 3
_MOST_WRAPPERS: Final = 20
_TAIL_SHOWN: Final = 20
_LONGEST_SHOWN: Final = 1000
# Roles of events that say that something failed, which may be told in detail above them.
_OVERALL: Final = frozenset((roles.STATED, roles.ANNOUNCEMENT, roles.WRAPPER))
# Who waits for others does not know why they failed.
_WAITED: Final = re.compile(
    r"(?i)\btimed? ?out\b.{0,20}\bwait|\bwait\w*\b.{0,60}\btimed? ?out\b"
    r"|\b(?:is|are|became) unhealthy\b|BackoffLimitExceeded|DeadlineExceeded"
    r"|\bprogress deadline\b|\bhealth ?checks? failed\b"
    r"|\b(?:not|never) (?:be(?:come|came) )?(?:ready|healthy|available)\b|\bfailed (?:pre|post)-"
    r"|\bexited \(\d+\)|\bcontext deadline exceeded\b|\bfailed to (?:start|come up)\b"
)
_HEADLINE: Final = re.compile(r":$|\b\d+ validation errors? for\b")
_GUESS: Final = "the only error stands far above the end, and the job went on after it"
_OUTLIVED: Final = "the job went on after it, and nothing says that it failed"
_HINTED: Final = "only a line above the statement of failure hints at the cause"
_UNRULED: Final = (
    "no rule knows the tool: of what it printed last, this looks most like its failure"
)
_EMPTY: Final = "the trace is empty"
_CUT: Final = "the runner cut the trace at its limit before a cause was printed"
_ONLY_WRAPPERS: Final = "the trace shows only wrappers of a failure"
_NO_FAILURE: Final = "the trace shows no failure"


def judge(facts: Facts, knowledge: Knowledge) -> ScanResult:
    """The result of reading a trace; no secret leaves here."""
    event = _first_cause(facts, knowledge)
    bare = ScanResult(
        wrappers=_wrappers(facts),
        model=facts.model,
        runtime_hints=facts.hints,
        commit=facts.commit,
        observed=facts.observed,
        lines=facts.lines,
        size=facts.size,
    )
    if event is None:
        return _safe(_without_cause(bare, facts))
    found = _safe(_with_cause(bare, event, facts, knowledge))
    said = masked(_identifying(event))
    where, models = place(found.frame, found.frames), model_names(found.model)
    return replace(found, signature=signature(found.exception, said, where, models))


def _safe(found: ScanResult) -> ScanResult:
    """The result without secrets, and of long lines what is shown of them."""
    return masked(found, shown=_beginning)


def _beginning(text: str) -> str:
    return text[:_LONGEST_SHOWN]


def _first_cause(facts: Facts, knowledge: Knowledge) -> Event | None:
    """The event that weighs most, the earliest of equals."""
    weighed = next(filter(None, (_weighed(some, facts) for some in left_standing(facts))), None)
    if weighed is None:
        captured = last_output.captured(facts, knowledge)
        return captured or last_output.hint(facts, knowledge)
    event = first_try(chosen(weighed), facts.events)
    event = telling(_specific(event, facts.events, knowledge))
    if is_shrugged_off(event) or (event.passed_over and _is_guessed(event, facts)):
        found = last_output.hint(facts, knowledge) or last_output.at_the_end(facts, knowledge)
        if found and _is_rather(found, event):
            return found
    if _WAITED.search(" ".join((event.text, *event.more[:2]))):
        event = _shown(event, weighed)
    if event.role not in _OVERALL:
        return event
    found = last_output.finding_above(event, facts, knowledge)
    if found is None and event.kind == weights.SUMMARY:
        found = last_output.hint(facts, knowledge)
    return found or event


def _is_rather(found: Event, event: Event) -> bool:
    """Whether what was printed last is rather the cause than what the job went on after."""
    if event.passed_over:
        return found.number > event.number
    return found.role == roles.STATED and found.number - event.last > APART


def _weighed(events: Sequence[Event], facts: Facts) -> list[tuple[int, Event]]:
    ends = weights.Ends.of(events)
    return [
        (weight - ends.discount(event), event)
        for event in events
        if (weight := weights.weight(event, facts)) and weights.is_shown(event, facts)
    ]


def _shown(event: Event, weighed: Weighed) -> Event:
    """What a log that was shown after the fact says, where somebody had only waited in vain."""
    shown = [(weight, one) for weight, one in weighed if one.shown and one.number > event.number]
    told = [one for one in shown if one[0] >= weights.STATED]
    if told:
        return chosen(told)
    # The script went on after it had shown them; the state of something, in a word, is no reason.
    said = (one for _, one in shown if one.passed_over and len(one.text.split()) > _STATE)
    reason = next(said, None)
    return replace(reason, passed_over=False) if reason else event


def _specific(event: Event, events: Sequence[Event], knowledge: Knowledge) -> Event:
    """The link of the chain that says the same more specifically, if there is one."""
    for other in events:
        if other.chain is event and knowledge.is_specific_form(event.text, other.text):
            return other
    return event


def _without_cause(bare: ScanResult, facts: Facts) -> ScanResult:
    evidence, reason = _why_nothing(facts)
    excerpt = _numbered(facts.tail[-_TAIL_SHOWN:])
    return replace(bare, evidence=evidence, reason=reason, signature=reason, excerpt=excerpt)


def _why_nothing(facts: Facts) -> tuple[str, str]:
    if facts.size == 0:
        return results.WEAK, _EMPTY
    if OUTPUT_CUT in facts.observed and not facts.passed:
        return results.WEAK, _CUT
    if any(
        event.role in FAILED and event.last > facts.passed and not facts.is_undone(event)
        for event in facts.events
        if not event.recovered
    ):
        return results.WEAK, _ONLY_WRAPPERS
    return results.NONE, _NO_FAILURE


def _with_cause(bare: ScanResult, event: Event, facts: Facts, knowledge: Knowledge) -> ScanResult:
    frames = raise_site(event, facts.events, knowledge.roots)
    doubt = _doubt(event, facts)
    return replace(
        bare,
        line=event.number,
        text=event.text,
        exception=event.exception or None,
        frame=innermost_owned(frames, knowledge.roots),
        evidence=results.WEAK if doubt else results.STRONG,
        reason=doubt,
        kind=event.kind,
        rule=event.rule,
        role=event.role,
        frames=tuple(frames),
        message=tuple(event.more),
        excerpt=_numbered([*event.before, *event.after]),
        observed=facts.observed | _observed_above(event, knowledge),
    )


def _identifying(event: Event) -> str:
    """What tells this failure from others: some exceptions say it on their next lines."""
    if event.role == roles.WRAPPER:
        return event.carried or event.text
    if _HEADLINE.search(event.text):
        return " ".join((event.text, *event.more[:2]))
    return event.text


def _doubt(event: Event, facts: Facts) -> str:
    """Why an event is no strong evidence, in words; empty when it is."""
    if event.role == roles.HINT:
        return _UNRULED if event.rule == last_output.WORDS else _HINTED
    if event.kind == weights.SUMMARY:
        return _ONLY_WRAPPERS
    if _is_guessed(event, facts):
        return _GUESS
    if weights.is_outlived(event, facts):
        return _OUTLIVED
    return ""


def _is_guessed(event: Event, facts: Facts) -> bool:
    if event.role != roles.STATED and not event.passed_over:
        return False
    return weights.weight(event, facts) <= weights.GUESSED


def _observed_above(event: Event, knowledge: Knowledge) -> frozenset[str]:
    """Whether a job that was ended from outside made progress right up to it."""
    if event.role not in (roles.KILL, roles.CANCEL) or not event.before:
        return frozenset()
    above, end = event.before[:-1], event.before[-1]
    last = [said.rule.id for line in above for said in knowledge.observer.all(line.text)]
    moved = STUCK not in last and made_progress(above, end, knowledge.progress)
    return frozenset((PROGRESS,)) if moved else frozenset()


def _wrappers(facts: Facts) -> tuple[NumberedLine, ...]:
    wrappers = [event for event in facts.events if event.role == roles.WRAPPER]
    return tuple(NumberedLine(event.number, event.text) for event in wrappers[:_MOST_WRAPPERS])


def _numbered(lines: Sequence[Visible]) -> tuple[NumberedLine, ...]:
    return tuple(NumberedLine(line.number, line.text) for line in lines)
