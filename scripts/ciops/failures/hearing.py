"""Hear the visible lines of a trace: each by the speaker of its process, events put in place."""

from __future__ import annotations

from typing import Final

from ciops.failures import line_rules as roles
from ciops.failures.config_dump import DumpReader
from ciops.failures.event_log import EventLog
from ciops.failures.event_making import Line
from ciops.failures.events import LINES_AFTER, LINES_BEFORE, Event
from ciops.failures.framing import Section, Visible
from ciops.failures.knowledge import Knowledge
from ciops.failures.past_lines import PastLines
from ciops.failures.prefixes import peel
from ciops.failures.speakers import Speaker
from ciops.failures.trace_facts import Facts

_BUSY_LINES: Final = 12
_WATCH_LINES: Final = 200
_ALIVE: Final = 80
_ALIVE_SAID: Final = 20
_WATCHED: Final = frozenset((roles.CAUSE, roles.STATED, roles.ANNOUNCEMENT, roles.WRAPPER))
_MOST_SPEAKERS: Final = 512
# GitLab's stages after the script (https://docs.gitlab.com/runner/executors/#job-stages).
_BEFORE_SCRIPT: Final = ("get_sources", "restore_cache", "download_artifacts", "step_script")
_FAILS_STEP: Final = "##[error]"
_STAMP: Final = 40
_STEPS_DONE: Final = "steps"
"""The kind of an epilogue before which the runner says of every step that fails that it did."""
_EPILOGUE: Final = ("after_script", "archive_cache", "upload_artifacts", "cleanup_file_variables")


class Hearing:
    """What has been heard of a trace so far."""

    def __init__(self, knowledge: Knowledge, past: PastLines) -> None:
        self._knowledge = knowledge
        self._past = past
        self._log = EventLog()
        self._speakers: dict[str, Speaker] = {}
        self._dump = DumpReader(knowledge.hints)
        self._observed: set[str] = set()
        self._collecting: list[Event] = []
        self._watched: list[Event] = []
        self._busy_until = 0
        self._epilogue = False
        self._script_end = 0

    def is_busy(self, number: int) -> bool:
        """Whether a line is to be heard because of what went before."""
        if number <= self._busy_until:
            return True
        if self._watched:
            self._watched = [e for e in self._watched if not _is_settled(e, number)]
        return bool(self._watched)

    def stay_busy(self, number: int) -> None:
        """Hear all lines up to one."""
        self._busy_until = max(self._busy_until, number)

    def facts(self, lines: int, size: int, tail: list[Visible]) -> Facts:
        """What is known at the end."""
        self._dump.finish()
        self._log.finish()
        return Facts(
            events=self._log.events,
            lines=lines,
            size=size,
            script_end=self._script_end,
            observed=frozenset(self._observed),
            tail=tail,
            model=self._dump.model,
            hints=self._dump.hints(),
            commit=self._dump.commit,
            failing=frozenset(self._log.failing),
        )

    def take(self, seen: Visible | Section) -> None:
        """Hear one line, or cross the edge of a section."""
        if isinstance(seen, Section):
            self._section(seen)
            return
        if self._collecting:
            for event in self._collecting:
                event.after.append(seen)
            self._collecting = [e for e in self._collecting if len(e.after) < LINES_AFTER]
        if _FAILS_STEP in seen.text[:_STAMP]:
            self._log.failed = self._log.ended = seen.number
        peeled = peel(seen.text)
        self._hear(Line(seen.number, peeled.text, peeled.source, peeled.level))

    def _section(self, section: Section) -> None:
        self._log.showing, self._log.strict = 0, True
        if section.starts and section.name in _BEFORE_SCRIPT:
            self._log.next_command(section.number)
        if section.starts:
            self._epilogue = self._log.closed = section.name.startswith(_EPILOGUE)
        if self._epilogue and not self._script_end:
            self._script_end = section.number

    def _tidy_up(self, said: Event) -> None:
        """A runner that has no sections begins to tidy up; perhaps only after all went well."""
        if said.kind == _STEPS_DONE:
            self._log.next_command(said.number, strict=True)
        self._epilogue = self._log.closed = True

    def _hear(self, line: Line) -> None:
        speaker = self._speaker(line.source)
        event = speaker.hear(line, self._knowledge.classifier)
        busy = line.number + _BUSY_LINES if event or speaker.is_busy else 0
        if event is not None:
            self._note(event)
        if self._dump.read(line.text):
            busy = max(busy, line.number + 1)
        for said in self._knowledge.observer.all(line.text):
            self._observed.add(said.rule.id)
        self.stay_busy(busy)

    def _speaker(self, source: str) -> Speaker:
        speaker = self._speakers.get(source)
        if speaker is None:
            if len(self._speakers) >= _MOST_SPEAKERS:
                self._speakers.clear()
            speaker = self._speakers[source] = Speaker(source, self._log)
        return speaker

    def _note(self, event: Event) -> None:
        """Set an event into the trace, and watch whether its process lives on."""
        if event.role == roles.EPILOGUE:
            self._tidy_up(event)
        event.epilogue = self._epilogue
        event.before = self._past.up_to(event.number, LINES_BEFORE)
        self._collecting.append(event)
        if event.role in _WATCHED:
            self._watched.append(event)


def _is_settled(event: Event, number: int) -> bool:
    """Whether more lines would not tell more about an event."""
    enough = _ALIVE if event.role == roles.CAUSE else _ALIVE_SAID
    return event.recovered or event.alive >= enough or number - event.number > _WATCH_LINES
