"""The events of a trace in file order, bounded, and what becomes of them while it goes on.

An event that happens again (the same words but for numbers: another rank, another attempt) is
one event at its first line. An error that was overcome is over: when it comes back, it is a
new event; one that was merely retried is the same.
"""

from __future__ import annotations

import re
from typing import Final

from ciops.failures import line_rules as roles
from ciops.failures.events import ENDS_ITSELF, FAILED, VERDICTS, Event
from ciops.failures.exit_traps import ExitTrap
from ciops.failures.units import Units

MOST_EVENTS: Final = 400
_KEPT_FIRST: Final = 200
_RECOVERY_REACH: Final = 15
# Roles that say that it is over: what is printed afterwards is no sign of life.
_CONCLUDING: Final = frozenset((roles.KILL, roles.CANCEL))
# Kinds of wrappers after which the same job often goes on.
_GOES_ON: Final = frozenset(("command", "make", "link", "summary"))
# Kinds of errors that a line may only mention: what was survived once is survived.
_MENTIONED: Final = frozenset(("exception", "gpu", "resource", "network"))
_LIVELY: Final = 12
_STEP: Final = "##[group]Run "
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
# Kinds that no word of recovery undoes: a failing test is not unmade by going on.
_STANDING: Final = frozenset(("test", "compile", "link", "lint", "giving-up"))
_RECOVERABLE: Final = frozenset((roles.CAUSE, roles.STATED, roles.ANNOUNCEMENT, roles.WRAPPER))


def _is_slight(event: Event) -> bool:
    """Whether a script may go on after an event without anybody's minding it."""
    return event.bare and not event.sure and event.kind not in _STANDING


class EventLog:
    """The events of a trace; holds at most `MOST_EVENTS`."""

    __slots__ = (
        "_commands",
        "_open",
        "_passed_over",
        "_traps",
        "closed",
        "concluded",
        "ended",
        "events",
        "failed",
        "failing",
        "showing",
        "strict",
        "units",
    )

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.units = Units()
        self.failing: set[str] = set()
        self.concluded = 0
        self.ended = 0
        self.strict = False
        self.closed = False
        self.showing = 0
        self.failed = 0
        self._commands: dict[str | None, int] = {}
        self._open: dict[str, Event] = {}
        self._passed_over: list[Event] = []
        self._traps: dict[str, ExitTrap] = {}

    def add(self, event: Event) -> Event:
        """Note an event; returns the one it repeats, or itself when it is new."""
        event.last = event.end = max(event.end, event.number)
        event.unit = event.unit or self.units.name
        if self.units.telling and event.role in _RECOVERABLE:
            event.recovered = True
            return event
        if event.role in _CONCLUDING or (
            event.role == roles.WRAPPER and event.kind not in _GOES_ON
        ):
            self.concluded = event.number
        if event.role in FAILED:
            self.failed = event.number
            if event.role != roles.WRAPPER or event.kind in VERDICTS:
                self.ended = event.number
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

    def pass_unit(self, number: int, name: str = "", strictly: bool = True) -> None:
        """A unit ended well, or is let off: what it printed was meant to be.

        Not `strictly` where tools say so of what holds tests that failed.
        """
        for event in self.units.passed(number, name, self.events):
            stands = not strictly and event.sure and event.kind in _STANDING
            if event.role in _RECOVERABLE and not stands:
                self._close(event, retry=False)

    def pass_last(self, number: int) -> None:
        """A test is named that has just ended well: what looks like an error was its output."""
        for event in self.units.unnamed(number, self.events):
            if event.role in _RECOVERABLE and _is_slight(event):
                self._close(event, retry=False)

    def begin_command(self, number: int, text: str, source: str) -> None:
        """A shell, whose output is that of `source`, repeats a command before it runs."""
        self.showing = 0
        if ENDS_ITSELF.match(text):
            self._own_up(number)
        elif _COMMENTS.match(text):
            return
        elif text.startswith("+ "):
            self._trace(number, text, source)
        elif text.startswith(("$ ", "#")):
            strict = self.strict if text.startswith("$ ") else text.startswith(_STEP)
            self.next_command(number, strict=strict)

    def _trace(self, number: int, text: str, source: str) -> None:
        trap = self._traps.setdefault(source, ExitTrap())
        if not trap.hear(number, text):
            self.next_command(number, source)

    def finish(self) -> None:
        """A script has ended: what its shell ran by a trap came after that."""
        for source, trap in self._traps.items():
            for event in self.events if trap.since else ():
                if event.number > trap.since and event.source == source:
                    event.epilogue = event.epilogue or event.role in _RECOVERABLE
        self._traps = {}

    def _own_up(self, number: int) -> None:
        """A script ends itself as failed: what it seemed to have passed over last, it noticed."""
        if not self._passed_over or self._passed_over[0] is not self.events[-1]:
            return
        for event in self._passed_over:
            if not event.shown and number - event.last <= _NOTICED_WITHIN:
                event.passed_over = False

    def next_command(self, number: int, tracer: str | None = None, strict: bool = False) -> None:
        """A command of the script begins: the one before, if nobody said that it failed, did not.

        The shell of `tracer` repeats what it runs in the way of a diff, and goes on after errors
        when it likes: only single lines that this process reported after another of its commands,
        and that are no error at times, are over.
        """
        if tracer is None:
            self.finish()
            self.units.step(number)
        before, self._commands[tracer] = self._commands.get(tracer, 0), number
        if self.closed or (tracer is not None and not before):
            return
        # A runner that stops at the first command that fails went on: none has, whoever says so.
        end = self.ended if strict else self.failed
        passed = []
        for event in reversed(self.events):
            if event.number <= max(before, end):
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
