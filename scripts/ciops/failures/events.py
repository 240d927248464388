"""What happened in a trace, as a bounded list of events in file order.

An event that happens again (the same words but for numbers: another rank, another attempt) is
one event at its first line. An error that was overcome is over: when it comes back, it is a
new event; one that was merely retried is the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from ciops.failures import line_rules as roles
from ciops.failures.frames import Frame
from ciops.failures.framing import Visible

MOST_EVENTS: Final = 400
_KEPT_FIRST: Final = 200
LINES_BEFORE: Final = 24
LINES_AFTER: Final = 10
_RECOVERY_REACH: Final = 15
_NUMBERS: Final = re.compile(r"\d+|0x[0-9a-fA-F]+|[0-9a-f]{12,}")


@dataclass(slots=True)
class Event:
    """One thing that happened.

    `number` is the line that names it, `start` the line on which its block (a traceback) began,
    `end` its last line. `alive` counts ordinary lines that the same process printed soon after,
    `outlived` how often it lived on before it said so again. A `bare` event is one line without a
    traceback; one is `mentioned` where the line only tells of it ("tactic 3 failed: RuntimeError:
    …"), `shown` where a log is printed after the fact, `passed_over` where the script went on to
    its next command, and not `sure` where its rule is not.
    """

    number: int
    text: str
    role: str
    rule: str = ""
    kind: str = ""
    source: str = ""
    exception: str = ""
    carried: str = ""
    start: int = 0
    end: int = 0
    frames: tuple[Frame, ...] = ()
    chain: Event | None = None
    bare: bool = False
    sure: bool = True
    mentioned: bool = False
    epilogue: bool = False
    shown: bool = False
    passed_over: bool = False
    recovered: bool = False
    retried: bool = False
    repeats: int = 0
    last: int = 0
    alive: int = 0
    outlived: int = 0
    more: list[str] = field(default_factory=list)
    before: list[Visible] = field(default_factory=list)
    after: list[Visible] = field(default_factory=list)

    @property
    def key(self) -> str:
        """What stays the same when it happens again."""
        return f"{self.role}|{self.exception}|{_NUMBERS.sub('#', self.text)[:300]}"


FINDINGS: Final = frozenset(("test", "compile", "link", "lint", "configure"))
"""Kinds of what tools find in code."""
# Kinds that no word of recovery undoes: a failing test is not unmade by going on.
_STANDING: Final = frozenset(("test", "compile", "link", "lint", "giving-up"))
FAILED: Final = frozenset((roles.WRAPPER, roles.KILL, roles.CANCEL))
"""Roles that say that the job, or something in it, failed."""
# Roles that say that it is over: what is printed afterwards is no sign of life.
_CONCLUDING: Final = frozenset((roles.KILL, roles.CANCEL))
# Kinds of wrappers after which the same job often goes on.
_GOES_ON: Final = frozenset(("command", "make", "link", "summary"))
# Kinds of errors that a line may only mention: what was survived once is survived.
_MENTIONED: Final = frozenset(("exception", "gpu", "resource", "network"))
_LIVELY: Final = 12
ENDS_ITSELF: Final = re.compile(r"\+ (?:exit|return) [1-9]\d{0,2}$|\+ false$")
"""How a shell repeats the command by which a script ends itself as failed."""
_COMMENTS: Final = re.compile(r"\+ (?:echo|printf) ")
_NOTICED_WITHIN: Final = 15
# Kinds of recoveries.
_RETRY: Final = "retry"
_DOWNLOAD: Final = "download"
_OF_DOWNLOADS: Final = re.compile(
    r"(?i)\b(?:https?|ftp)://|^[45]\d\d[: ]|\b(?:http|status|code|error)\W{1,3}[45]\d\d\b"
    r"|\b(?:download|fetch|retriev|mirror|curl|wget)"
)
# Lines of a log that is shown after the fact.
_SHOWN: Final = 80
# An error that was outlived so often is background noise.
_BACKGROUND: Final = 10
_RECOVERABLE: Final = frozenset((roles.CAUSE, roles.STATED, roles.ANNOUNCEMENT, roles.WRAPPER))


def _is_slight(event: Event) -> bool:
    """Whether a script may go on after an event without anybody's minding it."""
    return event.bare and not event.sure and event.kind not in _STANDING


class EventLog:
    """The events of a trace; holds at most `MOST_EVENTS`."""

    __slots__ = (
        "_begun",
        "_commands",
        "_failed",
        "_open",
        "_passed_over",
        "closed",
        "concluded",
        "events",
        "showing",
    )

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.concluded = 0
        self.closed = False
        self.showing = 0
        self._failed = 0
        self._commands: dict[str | None, int] = {}
        self._open: dict[str, Event] = {}
        self._begun: tuple[int, str] = (0, "")
        self._passed_over: list[Event] = []

    def add(self, event: Event) -> Event:
        """Note an event; returns the one it repeats, or itself when it is new."""
        event.last = event.end = max(event.end, event.number)
        if event.role in _CONCLUDING or (
            event.role == roles.WRAPPER and event.kind not in _GOES_ON
        ):
            self.concluded = event.number
        if event.role in FAILED:
            self._failed = event.number
        key = event.key
        known = self._open.get(key)
        if known is not None and known.epilogue == event.epilogue:
            known.repeats += 1
            known.last = event.number
            known.outlived += known.alive >= _LIVELY
            told = known.bare and known.kind in _MENTIONED
            known.alive = known.alive if told or known.outlived >= _BACKGROUND else 0
            known.recovered = known.retried = known.passed_over = False
            return known
        event.shown = self.showing > 0 and event.number - self.showing <= _SHOWN
        self._open[key] = event
        self.events.append(event)
        if len(self.events) > MOST_EVENTS:
            del self.events[_KEPT_FIRST : _KEPT_FIRST + 100]
            self._open = {kept.key: kept for kept in self.events}
        return event

    def begin_test(self, number: int, name: str) -> None:
        """A test begins: what is printed from here on is its output."""
        self._begun = (number, name)

    def pass_test(self, name: str) -> None:
        """A test, or the last one's parent, ended well: what it printed was meant to be."""
        begun, last = self._begun
        if not last.startswith(name):
            return
        for event in reversed(self.events):
            if event.number <= begun:
                return
            if event.role in _RECOVERABLE and not (event.sure and event.kind in _STANDING):
                self._close(event, retry=False)

    def begin_command(self, number: int, text: str, source: str) -> None:
        """A shell, whose output is that of `source`, repeats a command before it runs."""
        self.showing = 0
        if ENDS_ITSELF.match(text):
            self._own_up(number)
        elif _COMMENTS.match(text):
            return
        elif text.startswith("+ "):
            self.next_command(number, source)
        elif text.startswith(("$ ", "#")):
            self.next_command(number)

    def _own_up(self, number: int) -> None:
        """A script ends itself as failed: what it seemed to have passed over last, it noticed."""
        if not self._passed_over or self._passed_over[0] is not self.events[-1]:
            return
        for event in self._passed_over:
            if not event.shown and number - event.last <= _NOTICED_WITHIN:
                event.passed_over = False

    def next_command(self, number: int, tracer: str | None = None) -> None:
        """A command of the script begins: the one before, if nobody said that it failed, did not.

        The shell of `tracer` repeats what it runs in the way of a diff, and goes on after errors
        when it likes: only single lines that this process reported after another of its commands,
        and that are no error at times, are over.
        """
        before, self._commands[tracer] = self._commands.get(tracer, 0), number
        if self.closed or (tracer is not None and not before):
            return
        passed = []
        for event in reversed(self.events):
            if event.number <= max(before, self._failed):
                break
            if tracer is None or (event.source == tracer and _is_slight(event)):
                event.passed_over = True
                passed.append(event)
        self._passed_over = passed or self._passed_over

    def recover(self, number: int, source: str, kind: str) -> None:
        """What this process reported on the lines just above was overcome, or is tried again.

        By a download only what was said of one. Not when the job has ended in between, nor by what
        the runner does after the script.
        """
        if self.closed:
            return
        for event in reversed(self.events):
            if event.source != source or event.role not in _RECOVERABLE:
                continue
            if number - event.last > _RECOVERY_REACH or event.kind in _STANDING:
                return
            if event.last < self.concluded:
                return
            if kind != _DOWNLOAD or _OF_DOWNLOADS.search(event.text):
                self._close(event, kind == _RETRY)

    def _close(self, event: Event, retry: bool) -> None:
        link: Event | None = event
        while link is not None:
            link.recovered, link.retried = True, retry
            if not retry:
                self._open.pop(link.key, None)
            link = link.chain
