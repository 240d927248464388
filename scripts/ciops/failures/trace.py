"""Read the trace of a job: bytes in, the first causal error and its evidence out.

    reader = TraceReader(knowledge)
    for chunk in chunks:
        reader.feed(chunk)
    result = reader.finish()

The trace is read once, in bounded memory, and never held: a sieve finds the lines that deserve a
look; around them every line is unframed, peeled and heard by the speaker of its process. What
happened is judged at the end (`ciops.failures.causes`).
"""

from __future__ import annotations

from collections import deque
from typing import Final

from ciops.failures import causes
from ciops.failures import line_rules as roles
from ciops.failures.config_dump import DumpReader
from ciops.failures.events import LINES_AFTER, LINES_BEFORE, Event, EventLog
from ciops.failures.framing import Section, Unframer, Visible, continues, seams
from ciops.failures.knowledge import Knowledge
from ciops.failures.lines import Block, LineCutter
from ciops.failures.prefixes import ERROR, Peeled, peel
from ciops.failures.scan_result import ScanResult
from ciops.failures.sieve import Sieve
from ciops.failures.speakers import Line, Speaker
from ciops.failures.trace_facts import Facts
from ciops.failures.tracebacks import means_something

_TAIL_LINES: Final = 80
_TAIL_BYTES: Final = 32_768
_RECENT_BLOCKS: Final = 4
_BUSY_LINES: Final = 12
_WATCH_LINES: Final = 200
_ALIVE: Final = 80
_MOST_SPEAKERS: Final = 512
_MOST_CONTINUED: Final = 20
_LINES_ABOVE: Final = 12
_LINES_ABOVE_GRAVE: Final = 60
_LONGEST_LEARNT: Final = 2000
# GitLab's stages after the script (https://docs.gitlab.com/runner/executors/#job-stages).
_EPILOGUE: Final = ("after_script", "archive_cache", "upload_artifacts", "cleanup_file_variables")


class TraceReader:
    """Reads one trace; feed it chunks of any size, then ask for the result once.

    A `sieve` that stands beside those of other traces spares learning the same dull lines again.
    """

    def __init__(self, knowledge: Knowledge, sieve: Sieve | None = None) -> None:
        self._knowledge = knowledge
        self._cutter = LineCutter()
        self._sieve = Sieve(knowledge.words) if sieve is None else sieve
        self._unframer = Unframer()
        self._log = EventLog()
        self._speakers: dict[str, Speaker] = {}
        self._dump = DumpReader(knowledge.hints)
        self._observed: set[str] = set()
        self._collecting: list[Event] = []
        self._watched: list[Event] = []
        self._busy_until = 0
        self._number = 1
        self._read_until = 1
        self._block: tuple[int, list[bytes]] = (1, [])
        self._recent: deque[tuple[int, bytes]] = deque(maxlen=_RECENT_BLOCKS)
        self._epilogue = False
        self._passed = 0
        self._script_end = 0
        self._size = 0

    def feed(self, chunk: bytes) -> None:
        """Take in the next bytes of the trace."""
        self._size += len(chunk)
        for block in self._cutter.cut(chunk):
            self._read(block)

    def finish(self) -> ScanResult:
        """The result; the reader is done afterwards."""
        block = self._cutter.rest()
        if block:
            self._read(block)
        self._read_tail()
        self._flush()
        self._dump.finish()
        return causes.judge(self._facts(self._number - 1), self._knowledge)

    def _read_tail(self) -> None:
        """Read the last lines that nothing made us read."""
        tail = self._lines_before(self._number, _TAIL_LINES)
        tail = [pair for pair in tail if pair[0] >= self._read_until]
        if tail:
            self._block = (tail[0][0], [raw for _, raw in tail])
            self._read_on(0, len(tail))

    def _facts(self, last: int) -> Facts:
        return Facts(
            events=self._log.events,
            lines=last,
            size=self._size,
            script_end=self._script_end,
            passed=self._passed,
            observed=frozenset(self._observed),
            tail=self._seen(self._lines_before(self._number, _TAIL_LINES)),
            model=self._dump.model,
            hints=self._dump.hints(),
            commit=self._dump.commit,
        )

    def _read(self, block: Block) -> None:
        first, data = self._number, block.data
        count, indexes = self._sieve.interesting(data)
        indexes = self._with_seams(data, indexes)
        self._number += count - block.goes_on
        if indexes or self._is_busy(first):
            self._block = (first, data.split(b"\n"))
            self._read_lines(indexes)
        self._recent.append((first, data))

    def _with_seams(self, data: bytes, indexes: list[int]) -> list[int]:
        """Add the lines that hold a word together with those that they continue."""
        if b"O+" not in data and b"E+" not in data:
            return indexes
        before = self._recent[-1][1][-_LONGEST_LEARNT:] if self._recent else b""
        found = {i for i, text in seams(before, data) if self._sieve.holds_word(text)}
        return sorted(found.union(indexes)) if found else indexes

    def _read_lines(self, indexes: list[int]) -> None:
        first, lines = self._block
        at = self._read_on(0) if self._is_busy(first) else 0
        for index in indexes:
            if index >= at and not self._is_dull(lines[index]):
                at = self._read_on(self._begin(index, at), index)
        self._read_until = max(self._read_until, first + at)

    def _begin(self, index: int, at: int) -> int:
        """Where to begin for the line at `index`: above it when its like is new, for context.

        Never in the middle of a logical line.
        """
        lines = self._block[1]
        if self._sieve.meets(lines[index]):
            grave = any(self._is_grave(seen) for seen in self._seen([(1, lines[index])]))
            index = max(at, index - (_LINES_ABOVE_GRAVE if grave else _LINES_ABOVE))
        lowest = max(at, index - _MOST_CONTINUED)
        while index > lowest and continues(lines[index]):
            index -= 1
        return index

    def _read_on(self, at: int, wanted: int = 0) -> int:
        """Read lines one by one from `at` until `wanted` is read and nothing is under way.

        Returns the index of the line where it stopped.
        """
        first, lines = self._block
        wanted = max(at, wanted)
        while at < len(lines):
            if at > wanted and not self._is_busy(first + at) and not continues(lines[at]):
                self._flush()
                if not self._is_busy(first + at):
                    return at
            for seen in self._unframer.push(first + at, lines[at]):
                self._take(seen)
            at += 1
        if self._unframer.holds:
            self._busy_until = max(self._busy_until, first + at)
        return at

    def _is_busy(self, number: int) -> bool:
        """Whether the line is to be read because of what went before."""
        if number <= self._busy_until:
            return True
        if self._watched:
            self._watched = [e for e in self._watched if not _is_settled(e, number)]
        return bool(self._watched)

    def _is_dull(self, raw: bytes) -> bool:
        """Whether neither this line nor one that differs in numbers only means anything."""
        if self._sieve.knows(raw):
            return True
        if len(raw) > _LONGEST_LEARNT or continues(raw) or b"section_" in raw:
            return False
        if any(self._means(visible) for visible in self._seen([(1, raw)])):
            return False
        self._sieve.is_dull(raw)
        return True

    def _means(self, visible: Visible) -> bool:
        """Whether a line means something, or would with other numbers."""
        peeled = peel(visible.text)
        text = peeled.text.strip()
        return (
            not self._knowledge.classifier.is_nothing(text, peeled.level)
            or (peeled.level == ERROR and self._knowledge.classifier.say(text, ERROR) is None)
            or means_something(text)
            or next(self._knowledge.observer.all(text), None) is not None
            or self._dump.starts(text)
        )

    def _is_grave(self, visible: Visible) -> bool:
        """Whether a line says what failed, or that something above it did."""
        peeled = peel(visible.text)
        said = self._knowledge.classifier.say(peeled.text.strip(), peeled.level)
        return said is not None and said.rule.role in (roles.WRAPPER, roles.CAUSE)

    def _flush(self) -> None:
        for seen in self._unframer.flush():
            self._take(seen)

    def _take(self, seen: Visible | Section) -> None:
        if isinstance(seen, Section):
            self._section(seen)
            return
        for event in self._collecting:
            event.after.append(seen)
        if self._collecting:
            self._collecting = [e for e in self._collecting if len(e.after) < LINES_AFTER]
        self._hear(seen, peel(seen.text))

    def _section(self, section: Section) -> None:
        if section.starts:
            self._epilogue = self._log.closed = section.name.startswith(_EPILOGUE)
        if self._epilogue and not self._script_end:
            self._script_end = section.number

    def _hear(self, seen: Visible, peeled: Peeled) -> None:
        source = peeled.source
        speaker = self._speakers.get(source)
        if speaker is None:
            if len(self._speakers) >= _MOST_SPEAKERS:
                self._speakers.clear()
            speaker = self._speakers[source] = Speaker(source, self._log)
        line = Line(seen.number, peeled.text, source, peeled.level)
        event = speaker.hear(line, self._knowledge.classifier)
        busy = seen.number + _BUSY_LINES if event or speaker.is_busy else 0
        if event is not None:
            self._note(event)
        if self._dump.read(peeled.text):
            busy = max(busy, seen.number + 1)
        for said in self._knowledge.observer.all(peeled.text):
            self._observed.add(said.rule.id)
        self._busy_until = max(self._busy_until, busy)

    def _note(self, event: Event) -> None:
        """Set an event into the trace, and watch whether its process lives on."""
        event.epilogue = self._epilogue
        if event.role == roles.PASSED:
            self._passed = event.number
        event.before = self._seen(self._raw_before(event.number))
        self._collecting.append(event)
        if event.role == roles.CAUSE:
            self._watched.append(event)

    def _raw_before(self, number: int) -> list[tuple[int, bytes]]:
        """The raw lines up to and with a line of the block that is being read."""
        first, lines = self._block
        end = min(number - first + 1, len(lines))
        begin = max(0, end - LINES_BEFORE)
        raw = [(first + index, lines[index]) for index in range(begin, end)]
        return self._lines_before(first, LINES_BEFORE - len(raw)) + raw

    def _lines_before(self, number: int, wanted: int) -> list[tuple[int, bytes]]:
        """Up to `wanted` raw lines of the last blocks that stand before a line."""
        found: list[tuple[int, bytes]] = []
        for first, data in reversed(self._recent):
            if len(found) >= wanted:
                break
            lines = data[-_TAIL_BYTES:].split(b"\n")
            end = first + data.count(b"\n") + 1
            numbered = [(end - len(lines) + i, line) for i, line in enumerate(lines)]
            found = [pair for pair in numbered if pair[0] < number] + found
        return found[-wanted:] if wanted > 0 else []

    def _seen(self, raw: list[tuple[int, bytes]]) -> list[Visible]:
        unframer = Unframer()
        seen = [v for number, line in raw for v in unframer.push(number, line[:2000])]
        seen.extend(unframer.flush())
        return [v for v in seen if isinstance(v, Visible)]


def _is_settled(event: Event, number: int) -> bool:
    """Whether more lines would not tell more about an event."""
    return event.recovered or event.alive >= _ALIVE or number - event.number > _WATCH_LINES
