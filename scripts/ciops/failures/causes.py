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
from ciops.failures.events import FAILED, Event
from ciops.failures.frames import innermost_owned
from ciops.failures.framing import Visible
from ciops.failures.knowledge import Knowledge
from ciops.failures.masking import masked
from ciops.failures.progress import made_progress
from ciops.failures.raise_site import raise_site
from ciops.failures.scan_result import NumberedLine, ScanResult
from ciops.failures.signature import model_names, place, signature
from ciops.failures.trace_facts import Facts

PROGRESS: Final = "progress"
"""The observation that work was being done right before a job was ended."""
STUCK: Final = "stuck"
"""The observation that something waits in vain."""
OUTPUT_CUT: Final = "output-cut"
"""The observation that the runner stopped writing the trace at its limit."""

# How GitLab's runner begins what it says itself.
_OWN_WORDS: Final = ("ERROR: ", "FATAL: ", "WARNING: ", "prepare environment")
_KERNEL: Final = "kernel"
_ARTIFACTS: Final = "artifacts"
_BURST: Final = 40
_ADJACENT: Final = 3
# Kinds of errors that scripts shrug off.
_SHRUGGED: Final = frozenset(("shell", "git", "network", "deployment", "stated"))
_WENT_ON: Final = 4
_APART: Final = 8
_OPENING: Final = 7
_WORD: Final = 5
_SAME: Final = 24
_STATE: Final = 3
_LOOKED_AT: Final = 400
_MOST_WRAPPERS: Final = 20
_TAIL_SHOWN: Final = 20
_LONGEST_SHOWN: Final = 1000
# Roles of events that say that something failed, which may be told in detail above them.
_OVERALL: Final = frozenset((roles.STATED, roles.ANNOUNCEMENT, roles.WRAPPER))
_DETAIL: Final = re.compile(r"(?i)(?:expected|actual|received|got)\b")
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
    events = [event for event in facts.events if not event.epilogue or _ends_job(event, facts)]
    ends = weights.Ends.of(events)
    weighed = [
        (weight - ends.discount(event), event)
        for event in events
        if (weight := weights.weight(event, facts)) and weights.is_shown(event, facts)
    ]
    if not weighed:
        return last_output.hint(facts, knowledge)
    event = _specific(_chosen(_unshrugged(_first_hand(weighed))), facts.events, knowledge)
    if _is_shrugged_off(event) or (event.passed_over and _is_guessed(event, facts)):
        found = last_output.hint(facts, knowledge)
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
    return found.role == roles.STATED and found.number - event.last > _APART


def _ends_job(event: Event, facts: Facts) -> bool:
    """Whether the runner itself says it, after the script and its tidying up.

    What it hands over counts only when the script had succeeded.
    """
    if event.kind == _ARTIFACTS:
        return 0 < facts.passed < event.number
    own = event.kind == "runner" and event.text.startswith(_OWN_WORDS)
    return own or event.role in (roles.KILL, roles.CANCEL)


def _place(event: Event) -> int:
    """Where it happened: other processes may speak before a traceback has come to its end."""
    return event.number if event.bare else event.start or event.number


def _chosen(weighed: Sequence[tuple[int, Event]]) -> Event:
    best = max(weight for weight, _ in weighed)
    equals = [event for weight, event in weighed if weight == best]
    if best in (weights.STATED, weights.GUESSED):
        return _last_burst(equals)
    first = min(equals, key=_place)
    if best < weights.NOISE:
        return first
    likely = [event for weight, event in weighed if weight >= weights.NOISE]
    first = _start_of_burst(first, likely)
    return first if first.sure else _said_before(first, weighed)


def _first_hand(weighed: Sequence[tuple[int, Event]]) -> Sequence[tuple[int, Event]]:
    """What was not only shown after the fact, where that says enough; and what is certain."""
    heard = [one for one in weighed if not one[1].shown or one[0] >= weights.CERTAIN]
    return heard if any(weight >= weights.STATED for weight, _ in heard) else weighed


def _unshrugged(weighed: Sequence[tuple[int, Event]]) -> Sequence[tuple[int, Event]]:
    """Without single lines that a job went on after, where another tool's stand further below."""
    said = [event for weight, event in weighed if weight >= weights.STATED]
    last = max(said, key=_place, default=None)
    if last is None:
        return weighed
    return [
        (weight, one)
        for weight, one in weighed
        if not _is_shrugged_off(one) or last.number - one.last <= _APART or _is_alike(one, last)
    ]


def _is_alike(one: Event, other: Event) -> bool:
    """Whether two errors are said in the same way, as one tool says all of its own."""
    return one.text[:_OPENING] == other.text[:_OPENING]


def _is_shrugged_off(event: Event) -> bool:
    return event.bare and event.kind in _SHRUGGED and event.alive >= _WENT_ON


def _shown(event: Event, weighed: Sequence[tuple[int, Event]]) -> Event:
    """What a log that was shown after the fact says, where somebody had only waited in vain."""
    shown = [(weight, one) for weight, one in weighed if one.shown and one.number > event.number]
    told = [one for one in shown if one[0] >= weights.STATED]
    if told:
        return _chosen(told)
    # The script went on after it had shown them; the state of something, in a word, is no reason.
    said = (one for _, one in shown if one.passed_over and len(one.text.split()) > _STATE)
    reason = next(said, None)
    return replace(reason, passed_over=False) if reason else event


def _said_before(first: Event, weighed: Sequence[tuple[int, Event]]) -> Event:
    """Where the same was stated before in so many words, above an error that is none at times."""
    for weight, event in weighed:
        gap = first.start - event.last
        if weight != weights.STATED or not 0 < gap <= _BURST:
            continue
        if gap <= _ADJACENT and _goes_on(event, first, weighed):
            return event
        if _says_the_same(event.text, first.text):
            return event
    return first


def _goes_on(one: Event, other: Event, weighed: Sequence[tuple[int, Event]]) -> bool:
    """Whether an event goes on with what one right above it says: the same tool, or details."""
    if one.text[:_WORD] == other.text[:_WORD]:
        return True
    between = any(one.number < event.number < other.start for _, event in weighed)
    return not between and _DETAIL.match(other.text) is not None


def _says_the_same(one: str, other: str) -> bool:
    """Whether two lines share a long run of characters."""
    starts = range(0, min(len(one), _LOOKED_AT) - _SAME, _SAME // 4)
    return any(one[at : at + _SAME] in other for at in starts)


def _start_of_burst(first: Event, events: Sequence[Event]) -> Event:
    """The first of likely causes that lead up to a certain one without a gap."""
    for event in sorted(events, key=_place, reverse=True):
        if event.mentioned or _place(event) >= _place(first) or first.kind == _KERNEL != event.kind:
            continue
        if first.start - event.last <= _BURST:
            first = event
    return first


def _last_burst(events: Sequence[Event]) -> Event:
    """The first of the statements that stand together at the end."""
    ordered = sorted(events, key=_place)
    first = ordered[-1]
    for event in reversed(ordered[:-1]):
        if first.number - event.last > _BURST:
            break
        first = event
    return first


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
        return _HINTED
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
