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
from ciops.failures.framing import Section, Unframer, Visible, continues
from ciops.failures.knowledge import Knowledge
from ciops.failures.lines import Block, LineCutter
from ciops.failures.prefixes import ERROR, Peeled, peel
from ciops.failures.scan_result import ScanResult
from ciops.failures.sieve import Sieve
from ciops.failures.speakers import Line, Speaker
from ciops.failures.tracebacks import means_something

_TAIL_LINES: Final = 80
_TAIL_BYTES: Final = 65_536
_BUSY_LINES: Final = 12
_WATCH_LINES: Final = 200
_MOST_SPEAKERS: Final = 512
_MOST_CONTINUED: Final = 20
_LONGEST_LEARNT: Final = 2000
_ALL_ZERO: Final = bytes.maketrans(b"123456789", b"000000000")
_ALL_SEVEN: Final = bytes.maketrans(b"012345689", b"777777777")
# GitLab's stages after the script (https://docs.gitlab.com/runner/executors/#job-stages).
_EPILOGUE: Final = ("after_script", "archive_cache", "upload_artifacts", "cleanup_file_variables")


class TraceReader:
    """Reads one trace; feed it chunks of any size, then ask for the result once."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._cutter = LineCutter()
        self._sieve = Sieve(knowledge.words)
        self._unframer = Unframer()
        self._log = EventLog()
        self._speakers: dict[str, Speaker] = {}
        self._dump = DumpReader(knowledge.hints)
        self._observed: set[str] = set()
        self._collecting: list[Event] = []
        self._busy_until = 0
        self._tail: deque[tuple[int, bytes]] = deque(maxlen=_TAIL_LINES)
        self._block: tuple[int, list[bytes]] = (1, [])
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
        last = self._cutter.number if block else self._cutter.number - 1
        if block:
            self._read(block)
        self._flush()
        self._dump.finish()
        return causes.judge(self._facts(last), self._knowledge)

    def _facts(self, last: int) -> causes.Facts:
        return causes.Facts(
            events=self._log.events,
            lines=last,
            size=self._size,
            script_end=self._script_end,
            passed=self._passed,
            observed=frozenset(self._observed),
            tail=self._seen(list(self._tail)),
            model=self._dump.model,
            hints=self._dump.hints(),
            commit=self._dump.commit,
        )

    def _read(self, block: Block) -> None:
        indexes = self._sieve.interesting(block.data)
        if not indexes and self._busy_until < block.first:
            self._remember(block)
            return
        lines = block.data.split(b"\n")
        self._block = (block.first, lines)
        at = 0
        if self._busy_until >= block.first:
            at = self._read_on(0)
        for index in indexes:
            if index >= at:
                at = self._read_on(self._begin(index, at))
        self._remember(block)

    def _begin(self, index: int, at: int) -> int:
        """Where the logical line begins that the line at `index` may continue."""
        lines = self._block[1]
        lowest = max(at, index - _MOST_CONTINUED)
        while index > lowest and continues(lines[index]):
            index -= 1
        return index

    def _read_on(self, at: int) -> int:
        """Read lines one by one from `at` until nothing is under way; returns where it stopped."""
        first, lines = self._block
        start = at
        while at < len(lines):
            if at > start and first + at > self._busy_until and not continues(lines[at]):
                self._flush()
                if first + at > self._busy_until:
                    self._learn(start, at)
                    return at
            for seen in self._unframer.push(first + at, lines[at]):
                self._take(seen)
            at += 1
        if self._unframer.holds:
            self._busy_until = max(self._busy_until, first + at)
        return at

    def _learn(self, start: int, at: int) -> None:
        """When a single line was read in vain, lines like it need not be read again."""
        raw = self._block[1][start]
        if at == start + 1 and len(raw) < _LONGEST_LEARNT and self._means_nothing(raw):
            self._sieve.is_dull(raw)

    def _means_nothing(self, raw: bytes) -> bool:
        """Whether the line means nothing, and would not with other digits either."""
        return not any(
            self._means(visible)
            for variant in (raw, raw.translate(_ALL_ZERO), raw.translate(_ALL_SEVEN))
            for visible in self._seen([(1, variant)])
        )

    def _means(self, visible: Visible) -> bool:
        peeled = peel(visible.text)
        text = peeled.text.strip()
        said = self._knowledge.classifier.say(text, peeled.level)
        if said is not None:
            return said.rule.role != roles.BENIGN
        return (
            peeled.level == ERROR
            or means_something(text)
            or next(self._knowledge.observer.all(text), None) is not None
            or self._dump.starts(text)
        )

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
            self._epilogue = section.name.startswith(_EPILOGUE)
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
            busy = max(busy, self._note(event))
        if self._dump.read(peeled.text):
            busy = max(busy, seen.number + 1)
        for said in self._knowledge.observer.all(peeled.text):
            self._observed.add(said.rule.id)
        self._busy_until = max(self._busy_until, busy)

    def _note(self, event: Event) -> int:
        """Set an event into the trace; returns until which line it is to be watched."""
        event.epilogue = self._epilogue
        if event.role == roles.PASSED:
            self._passed = event.number
        event.before = self._seen(self._raw_before(event.number))
        self._collecting.append(event)
        return event.number + (_WATCH_LINES if event.role == roles.CAUSE else _BUSY_LINES)

    def _raw_before(self, number: int) -> list[tuple[int, bytes]]:
        """The raw lines up to and with a line."""
        first, lines = self._block
        index = number - first + 1
        begin = max(0, index - LINES_BEFORE)
        raw = [(first + i, lines[i]) for i in range(begin, min(index, len(lines)))]
        missing = LINES_BEFORE - len(raw)
        if missing > 0 and begin == 0:
            raw = [pair for pair in self._tail if pair[0] < first][-missing:] + raw
        return raw

    def _seen(self, raw: list[tuple[int, bytes]]) -> list[Visible]:
        unframer = Unframer()
        seen = [v for number, line in raw for v in unframer.push(number, line[:2000])]
        seen.extend(unframer.flush())
        return [v for v in seen if isinstance(v, Visible)]

    def _remember(self, block: Block) -> None:
        """Keep the last lines of a block for the context of what follows."""
        data = block.data[-_TAIL_BYTES:]
        lines = data.split(b"\n")[-_TAIL_LINES:]
        last = block.first + block.data.count(b"\n")
        for offset, line in enumerate(lines):
            self._tail.append((last - len(lines) + 1 + offset, line))
