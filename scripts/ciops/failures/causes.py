"""Judge what happened in a trace: which event is the first causal error, and how sure is that.

Events compete by weight, equals by their place in the file. What an error lived through, what
a retry recovered, links of a chain after its first, wrappers and fallout weigh little or
nothing; why a job was ended weighs as much as an error before it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ciops.failures import line_rules as roles
from ciops.failures import scan_result as results
from ciops.failures.config_dump import HintValue
from ciops.failures.events import Event
from ciops.failures.frames import innermost_owned
from ciops.failures.framing import Visible
from ciops.failures.knowledge import Knowledge
from ciops.failures.prefixes import peel
from ciops.failures.redaction import mask_secrets
from ciops.failures.scan_result import NumberedLine, ScanResult
from ciops.failures.signature import model_names, place, signature

_CERTAIN: Final = 100
_ENDED: Final = 100
_LIKELY: Final = 92
_NOISE: Final = 85
_CARRIED: Final = 80
_SURVIVED: Final = 70
_FAILED_TEST: Final = 75
_STATED: Final = 60
_ANNOUNCED: Final = 50
_CANCELLED: Final = 40
_ALONE: Final = 30
_OUTLIVED: Final = 20
_GUESSED: Final = 10
_AFTERWARDS: Final = 50
_CRASHED_AFTERWARDS: Final = 65
_SHOWN: Final = 45

_ALIVE: Final = 20
_ALIVE_BARE: Final = 12
_ALIVE_TOLD: Final = 80
_TOLD_WITHIN: Final = 30
_STATED_REACH: Final = 60
_ALIVE_IN_TESTS: Final = 5
_NEAR_END: Final = 150
_BURST: Final = 40
PROGRESS: Final = "progress"
_PROGRESS_REACH: Final = 12
_SMELL_REACH: Final = 6
_MOST_WRAPPERS: Final = 20
_HEADLINE: Final = re.compile(r":$|\b\d+ validation errors? for\b")
# Kinds of errors that a program reports and goes on: they stand however much is printed after.
_LASTING: Final = frozenset(("test", "test-summary", "compile", "link", "lint", "crash", "configure"))


# Kinds after which tools tidy up at length before they end.
_SLOW: Final = frozenset(("package", "packaging", "git", "runner", "hang", "kernel"))
# Kinds that scripts shrug off: an error of another kind is more likely the cause.
_NOISY: Final = frozenset(("shell",))


_GUESS: Final = "the only error stands far above the statement of failure, and the job went on after it"
_HINT: Final = "only a line above the statement of failure hints at the cause"


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything a reader found out about a trace."""

    events: Sequence[Event]
    lines: int
    size: int
    script_end: int
    passed: int
    observed: frozenset[str]
    tail: Sequence[Visible]
    model: str | None
    hints: Mapping[str, HintValue]
    commit: str | None

    def ends_with_verdict(self, event: Event) -> bool:
        """Whether somebody says after an event that the job failed or passed."""
        return self.passed > event.number or any(
            e.last > event.number and e.role in _FAILED for e in self.events
        )

    def is_followed_by_verdict(self, event: Event) -> bool:
        """Whether a verdict stands not far below an event."""
        return any(e.role in _FAILED and 0 < e.last - event.last <= _STATED_REACH for e in self.events)

    def is_told_of(self, event: Event) -> bool:
        """Whether a command is said to have failed right after an event."""
        return any(
            e.role == roles.WRAPPER and 0 < e.last - event.last <= _TOLD_WITHIN for e in self.events
        )

    def tests_fail_after(self, event: Event) -> bool:
        """Whether a test that fails is reported later: what is printed before may be its output."""
        return any(
            e.role == roles.CAUSE and e.kind == "test" and e.sure and e.number > event.number
            for e in self.events
        )


def judge(facts: Facts, knowledge: Knowledge) -> ScanResult:
    """The result of reading a trace."""
    event = _first_cause(facts, knowledge)
    if event is None:
        return _without_cause(facts)
    return _with_cause(event, facts, knowledge)


def _first_cause(facts: Facts, knowledge: Knowledge) -> Event | None:
    """The event that weighs most, the earliest of equals."""
    events = [event for event in facts.events if not event.epilogue or _is_of_runner(event)]
    ends = _Ends.of(events)
    weighed = [
        (weight - ends.discount(event), event)
        for event in events
        if (weight := _weight(event, facts)) and _is_shown(event, facts)
    ]
    if weighed:
        return _specific(_chosen(weighed), facts.events, knowledge)
    return _shown_before_the_end(facts, knowledge)


def _is_of_runner(event: Event) -> bool:
    """Whether the runner itself says it, after the script and its tidying up."""
    return event.kind == "runner" or event.role in (roles.KILL, roles.CANCEL)


@dataclass(frozen=True, slots=True)
class _Ends:
    """The runner's last verdict, after which it tidies up, and the first word of a cancellation."""

    verdict: int
    cancelled: int

    @classmethod
    def of(cls, events: Sequence[Event]) -> _Ends:
        verdicts = [e.last for e in events if e.role == roles.WRAPPER and e.kind == "runner"]
        cancels = [e.number for e in events if e.role == roles.CANCEL]
        return cls(max(verdicts, default=0), min(cancels, default=0))

    def discount(self, event: Event) -> int:
        """How much less an event weighs for coming afterwards: it is a consequence."""
        if 0 < self.verdict < event.number:
            return _AFTERWARDS
        if 0 < self.cancelled < event.number and event.role == roles.CAUSE:
            return _CRASHED_AFTERWARDS
        return 0


def _chosen(weighed: Sequence[tuple[int, Event]]) -> Event:
    best = max(weight for weight, _ in weighed)
    equals = [event for weight, event in weighed if weight == best]
    if best in (_STATED, _GUESSED):
        return _last_burst(equals)
    first = min(equals, key=_place)
    if best < _NOISE:
        return first
    return _start_of_burst(first, [event for weight, event in weighed if weight >= _NOISE])


def _start_of_burst(first: Event, events: Sequence[Event]) -> Event:
    """The first of likely causes that lead up to a certain one without a gap."""
    for event in sorted(events, key=_place, reverse=True):
        if event.number < first.number and first.start - event.last <= _BURST:
            first = event
    return first


def _place(event: Event) -> int:
    return event.number


def _weight(event: Event, facts: Facts) -> int:
    if event.recovered or _is_link(event):
        return 0
    if event.role == roles.CAUSE:
        return _weight_of_cause(event, facts)
    if event.role == roles.KILL:
        return _ENDED
    if event.role == roles.WRAPPER and event.carried:
        return _CARRIED if not _is_told(event.carried, facts.events) else 0
    by_role = {
        roles.STATED: _outlived(event, facts) if _survived(event, facts) else _STATED,
        roles.ANNOUNCEMENT: _FAILED_TEST if event.kind == "test" else _ANNOUNCED,
        roles.CANCEL: _CANCELLED,
        roles.FALLOUT: _ALONE if event.kind == "exception" else 0,
    }
    return by_role.get(event.role, 0)


def _weight_of_cause(event: Event, facts: Facts) -> int:
    if _survived(event, facts):
        return _outlived(event, facts) if event.bare else _SURVIVED
    if event.kind == "exception" and event.alive >= _ALIVE_IN_TESTS and facts.tests_fail_after(event):
        return _SURVIVED
    if event.kind in _NOISY:
        return _NOISE
    return _CERTAIN if event.sure else _LIKELY


def _outlived(event: Event, facts: Facts) -> int:
    """The weight of a single line that its process went on after.

    It counts only in a piece of a log that was cut before any verdict; a statement also above a
    verdict, though far above it is no more than a guess.
    """
    if not facts.ends_with_verdict(event):
        return _OUTLIVED if facts.lines - event.last <= _NEAR_END else 0
    if event.role != roles.STATED:
        return 0
    return _OUTLIVED if facts.is_followed_by_verdict(event) else _GUESSED


def _is_link(event: Event) -> bool:
    """Whether an earlier exception of the chain is the cause."""
    link = event.chain
    while link is not None:
        if link.role == roles.CAUSE:
            return True
        link = link.chain
    return False


def _survived(event: Event, facts: Facts) -> bool:
    """Whether its process went on as if nothing had happened."""
    if event.kind in _LASTING:
        return False
    bare = event.role == roles.CAUSE and event.bare and event.kind not in _SLOW
    alive = _ALIVE_BARE if bare else _ALIVE
    return event.alive >= (_ALIVE_TOLD if facts.is_told_of(event) else alive)


def _is_told(carried: str, events: Sequence[Event]) -> bool:
    """Whether some event says what a wrapper carries."""
    start = carried.strip()[:60]
    return any(
        start in event.text
        for event in events
        if event.role in (roles.CAUSE, roles.KILL) and not event.recovered
    )


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


def _is_shown(event: Event, facts: Facts) -> bool:
    """Whether the trace shows that the job failed, or at least ends with this event."""
    if facts.passed > event.number:
        return False
    if event.role in (roles.KILL, roles.CANCEL, roles.WRAPPER):
        return True
    if facts.ends_with_verdict(event):
        return True
    return facts.lines - event.last <= _NEAR_END


_FAILED: Final = frozenset((roles.WRAPPER, roles.KILL, roles.CANCEL))


def _shown_before_the_end(facts: Facts, knowledge: Knowledge) -> Event | None:
    """Without any event: a line right above a statement of failure that smells of it."""
    failed = [e for e in facts.events if e.role == roles.WRAPPER and e.kind == "runner"]
    for event in failed:
        for seen in reversed(event.before[:-1][-_SMELL_REACH:]):
            if 0 < facts.script_end <= seen.number:
                continue
            said = knowledge.hinter.say(peel(seen.text).text.strip())
            if said and said.rule.role == roles.HINT:
                text = peel(seen.text).text.strip()
                return Event(seen.number, text, roles.HINT, said.rule.id, before=event.before)
    return None


def _without_cause(facts: Facts) -> ScanResult:
    wrappers = _wrappers(facts)
    failed = any(event.role in _FAILED and event.last > facts.passed for event in facts.events)
    if facts.size == 0:
        evidence, reason = results.WEAK, "the trace is empty"
    elif failed:
        evidence, reason = results.WEAK, "the trace shows only wrappers of a failure"
    else:
        evidence, reason = results.NONE, "the trace shows no failure"
    return ScanResult(
        evidence=evidence,
        signature=reason,
        wrappers=wrappers,
        excerpt=_excerpt(facts.tail[-20:]),
        model=facts.model,
        runtime_hints=facts.hints,
        commit=facts.commit,
        observed=facts.observed,
        lines=facts.lines,
        size=facts.size,
        reason=reason,
    )


def _with_cause(event: Event, facts: Facts, knowledge: Knowledge) -> ScanResult:
    text = mask_secrets(event.text)
    frame = innermost_owned(event.frames, knowledge.roots)
    exception = event.exception or None
    doubt = _doubt(event, facts)
    where = place(frame, event.frames)
    said = mask_secrets(_identifying(event))
    return ScanResult(
        line=event.number,
        text=text,
        exception=exception,
        frame=frame,
        evidence=results.WEAK if doubt else results.STRONG,
        reason=doubt,
        signature=signature(exception, said, where, model_names(facts.model)),
        kind=event.kind,
        rule=event.rule,
        role=event.role,
        frames=event.frames,
        message=tuple(mask_secrets(line) for line in event.more),
        wrappers=_wrappers(facts),
        excerpt=_excerpt([*event.before, *event.after]),
        model=facts.model,
        runtime_hints=facts.hints,
        commit=facts.commit,
        observed=facts.observed | _observed_above(event, knowledge),
        lines=facts.lines,
        size=facts.size,
    )


def _identifying(event: Event) -> str:
    """The words that tell this failure from others: some exceptions say them on their next lines."""
    if event.role == roles.WRAPPER:
        return event.carried
    if _HEADLINE.search(event.text):
        return " ".join((event.text, *event.more[:2]))
    return event.text


def _doubt(event: Event, facts: Facts) -> str:
    """Why an event is no strong evidence, in words; empty when it is."""
    if event.role == roles.HINT:
        return _HINT
    if event.role == roles.STATED and _weight(event, facts) <= _GUESSED:
        return _GUESS
    return ""


def _observed_above(event: Event, knowledge: Knowledge) -> frozenset[str]:
    """Whether a job that was ended from outside made progress right up to it."""
    if event.role not in (roles.KILL, roles.CANCEL) or knowledge.progress is None:
        return frozenset()
    above = event.before[-_PROGRESS_REACH - 1 : -1]
    seen = any(knowledge.progress.search(line.text) for line in above)
    return frozenset((PROGRESS,)) if seen else frozenset()


def _wrappers(facts: Facts) -> tuple[NumberedLine, ...]:
    wrappers = [event for event in facts.events if event.role == roles.WRAPPER]
    return tuple(
        NumberedLine(event.number, mask_secrets(event.text)[:1000])
        for event in wrappers[:_MOST_WRAPPERS]
    )


def _excerpt(lines: Sequence[Visible]) -> tuple[NumberedLine, ...]:
    """Lines with their secrets masked, also secrets that span lines."""
    masked = mask_secrets("\n".join(line.text[:1000] for line in lines)).split("\n")
    return tuple(NumberedLine(line.number, text) for line, text in zip(lines, masked, strict=False))
