"""Follow what each process of a job says: tracebacks, errors, recoveries, in its own order.

A speaker keeps the state of one process (a rank, a named worker, or everything that has no
prefix), so interleaved output of others does not cut its tracebacks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ciops.failures import line_rules as roles
from ciops.failures import stack_lines, tracebacks, unit_lines
from ciops.failures.event_log import EventLog
from ciops.failures.event_making import Line, indentation, raised_event, said_event
from ciops.failures.events import FINDINGS, Event
from ciops.failures.frames import Frame
from ciops.failures.line_rules import Classifier, Said
from ciops.failures.prefixes import WARNING

_NOISE_REACH: Final = 4
_CHAIN_REACH: Final = 400
_ALIVE_AFTER: Final = 4
_SAME_OPENING: Final = 9
_MOST_WATCHED: Final = 6
_STACK_REACH: Final = 40
_MOST_FRAMES: Final = 40
_MOST_WORDS: Final = 6
_BELOW: Final = 2
# The kind of what a tool states of a place in the source.
_FOUND: Final = "compile"
ECHO: Final = "shell-echo"
"""The rule that knows a command that the shell repeats."""
_STEP: Final = "step-begins"
_TRAP: Final = "exit-trap"
_SHOWS: Final = "shows-logs"
_ANY_WORDS: Final = re.compile(r"\S")
_WARNS: Final = re.compile(r"(?i)\[?warn(?:ing)?\b")


_OF_OTHERS: Final = frozenset(("runner", "launcher", "exit"))


def _concludes(said: Said | None) -> bool:
    """Whether words are the verdict of whoever ran the process: no error goes on with them."""
    if said is None:
        return False
    rule = said.rule
    ends = (roles.KILL, roles.CANCEL, roles.EPILOGUE)
    return rule.role in ends or (rule.role == roles.WRAPPER and rule.kind in _OF_OTHERS)


@dataclass(slots=True)
class _Below:
    """Words of an error that are awaited on one of the next lines."""

    event: Event
    pattern: re.Pattern[str]
    left: int


class Speaker:
    """The state of one process."""

    __slots__ = (
        "_below",
        "_block",
        "_chained",
        "_last",
        "_log",
        "_noise",
        "_spelt_out",
        "_watched",
        "source",
    )

    def __init__(self, source: str, log: EventLog) -> None:
        self.source = source
        self._log = log
        self._block: tracebacks.Following | None = None
        self._last: Event | None = None
        self._chained: Event | None = None
        self._noise: tuple[int, str] = (0, "")
        self._below: _Below | None = None
        self._watched: list[Event] = []
        self._spelt_out: Event | None = None

    @property
    def is_busy(self) -> bool:
        """Whether the next lines of this process belong to something that has begun."""
        return self._block is not None or self._below is not None

    def hear(self, line: Line, classifier: Classifier) -> Event | None:
        """Take in one line; the event it made, if it made one."""
        if self._block is not None:
            followed = self._follow(self._block, line, classifier)
            if followed is not False:
                return followed if isinstance(followed, Event) else None
        if "raceback (most recent call last)" in line.text and self._open(line):
            return None
        if tracebacks.CHAINED.match(line.text):
            if self._last is not None and line.number - self._last.end < _CHAIN_REACH:
                self._chained = self._last
            return None
        text = line.text.strip()
        if not text or self._is_frame(line) or self._is_below(line, text, classifier):
            return None
        event = self._classify(line, text, classifier)
        self._spell_out(event, text)
        return event

    def _spell_out(self, event: Event | None, text: str) -> None:
        """Keep the lines of this process that go on with the words of its last error."""
        if event is not None:
            self._spelt_out = event
        elif self._spelt_out is not None:
            if len(self._spelt_out.more) < _MOST_WORDS:
                self._spelt_out.more.append(text[:300])
            else:
                self._spelt_out = None

    def _follow(
        self, block: tracebacks.Following, line: Line, classifier: Classifier
    ) -> Event | bool:
        followed = tracebacks.follow(block, line.text, line.number)
        if isinstance(followed, tracebacks.Raised):
            self._block = None
            self._spelt_out = self._raise(followed, line, classifier)
            return self._spelt_out or True
        if tracebacks.is_lost(block):
            self._block = None
        return followed

    def _open(self, line: Line) -> bool:
        block = tracebacks.opens(line.text, line.number)
        if block is None:
            return False
        self._block = block
        self._spelt_out = None
        return True

    def _raise(self, raised: tracebacks.Raised, line: Line, classifier: Classifier) -> Event | None:
        chained, self._chained = self._chained, None
        said = classifier.say(raised.text, line.level)
        event = raised_event(raised, said, self.source)
        event.chain = chained
        at, role = self._noise
        if raised.start - at <= _NOISE_REACH and role:
            event.role, event.kind = role, "ignored"
        self._last = event
        if raised.open:
            self._below = _Below(event, _ANY_WORDS, 3)
        return self._note(event, said)

    def _note(self, event: Event, said: Said | None = None) -> Event | None:
        if event.role in roles.DULL_ROLES:
            return None
        known = self._log.add(event)
        self._watched = [*(e for e in self._watched if e is not known), known][-_MOST_WATCHED:]
        if known is not event:
            return None
        below = said.rule.compiled_below() if said else None
        if said and below:
            self._below = _Below(event, below, said.rule.within)
        return event

    def _is_below(self, line: Line, text: str, classifier: Classifier) -> bool:
        """Whether the line carries the words that a line above announced."""
        below = self._below
        if below is None:
            return False
        below.left -= 1
        if below.pattern is _ANY_WORDS and _concludes(classifier.say(text, line.level)):
            self._below = None
            return False
        match = below.pattern.search(text)
        if match is None:
            if below.left <= 0:
                self._below = None
            return False
        self._below = None
        event = below.event
        event.number = event.end = event.last = line.number
        event.text = text
        if event.role == roles.ANNOUNCEMENT:
            event.role = roles.CAUSE
        event.carried = match.groupdict().get("cause") or event.carried
        named = match.groupdict().get("exception")
        if named:
            event.exception = tracebacks.bare_name(named)
        return True

    def _is_frame(self, line: Line) -> bool:
        """Whether the line belongs to a stack printed under the last event."""
        event = self._watched[-1] if self._watched else None
        if event is None or line.number - event.end > _STACK_REACH:
            return False
        frame = stack_lines.stack_frame(line.text)
        if frame is not None or stack_lines.is_address(line.text):
            self._add_frame(event, frame)
            event.end = line.number
            return True
        pointed = stack_lines.pointed_at(line.text) if line.number <= event.end + _BELOW else None
        if pointed is not None and event.role == roles.STATED:
            event.role, event.kind, event.frames = roles.CAUSE, _FOUND, (pointed,)
            event.end = line.number
            return True
        place = stack_lines.place(line.text)
        if place is not None and not event.frames:
            self._add_frame(event, place)
            event.end = line.number
        return False

    def _add_frame(self, event: Event, frame: Frame | None) -> None:
        """Stacks under an event go from the innermost frame outwards."""
        if frame and event.source == self.source and len(event.frames) < _MOST_FRAMES:
            event.frames = (frame, *event.frames)

    def _classify(self, line: Line, text: str, classifier: Classifier) -> Event | None:
        said = classifier.say(text, line.level)
        if said is None:
            return self._unknown(line, text)
        role = said.rule.role
        if role == roles.RECOVERY:
            unit_lines.recover(said, line.number, self.source, self._log)
            return None
        if role == roles.NOISE:
            self._announce(said, line, text)
            return None
        if role in roles.DULL_ROLES:
            self._note_dull(said, line, text)
            return None
        if role == roles.PASSED:
            self._log.units.telling = False
        if role in (roles.STATED, roles.PASSED) or _only_warns(said, line):
            self._live(line)
        if _only_warns(said, line) or self._continues(said, line):
            return None
        event = said_event(said, line, text, self.source)
        unit_lines.name_unit(event, said, self._log)
        return self._note(event, said)

    def _announce(self, said: Said, line: Line, text: str) -> None:
        """Words on what comes below: a section of a summary, a trap, a traceback of no account."""
        kind = said.rule.kind
        if kind == _TRAP:
            self._log.begin_command(line.number, text, self.source)
        elif not unit_lines.tells(kind, self._log):
            self._noise = (line.number, roles.FALLOUT if kind == "fallout" else roles.BENIGN)

    def _note_dull(self, said: Said, line: Line, text: str) -> None:
        """An ordinary line, perhaps one that a command, a test or a shown log begins with."""
        if said.rule.kind == _SHOWS:
            self._log.showing = line.number
            return
        if said.rule.id in (ECHO, _STEP):
            self._log.begin_command(line.number, text, self.source)
            return
        self._live(line)
        unit_lines.hear(said, line.number, text, self._log)

    def _continues(self, said: Said, line: Line) -> bool:
        """Whether the line goes on with the event of the line above."""
        event = self._watched[-1] if self._watched else None
        if event is None or event.rule != said.rule.id or line.number > event.end + 1:
            return False
        event.end = event.last = line.number
        return said.rule.kind in ("test", "stated")

    def _unknown(self, line: Line, text: str) -> Event | None:
        bare = tracebacks.bare_exception(text)
        if bare:
            name, message = bare
            event = Event(line.number, text, roles.CAUSE, "exception", "exception", self.source)
            event.exception, event.bare = tracebacks.bare_name(name), True
            event.sure = False
            event.start = line.number
            if not message:
                self._below = _Below(event, _ANY_WORDS, 2)
            self._last = event
            return self._note(event)
        if line.level == "E":
            self._live(line)
            event = Event(line.number, text, roles.STATED, "logged", "stated", self.source)
            return self._note(event)
        self._live(line)
        return None

    def _live(self, line: Line) -> None:
        """An ordinary line: the process lived on after what it reported."""
        opening, indent = line.text.strip()[:_SAME_OPENING], indentation(line.text)
        for event in self._watched:
            event.spelt = event.spelt and indent > event.indent
            if event.spelt:
                continue  # it goes on with its own words
            if line.number - event.end >= _ALIVE_AFTER:
                if event.text.startswith(opening):
                    continue  # the same tool still talks about it
                event.alive += event.number > self._log.concluded


def _only_warns(said: Said, line: Line) -> bool:
    """Whether a finding of a tool, or words that something failed, are logged as a warning."""
    rule = said.rule
    if _WARNS.match(line.text):
        return rule.kind == "lint" and not rule.sure
    mild = rule.kind in FINDINGS or rule.role == roles.STATED
    return line.level == WARNING and not rule.level and mild
