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

from typing import Final

from ciops.failures import causes
from ciops.failures.framing import Unframer, continues, is_stamped, seams
from ciops.failures.glance import LINES_ABOVE, Glance
from ciops.failures.hearing import Hearing
from ciops.failures.knowledge import Knowledge
from ciops.failures.lines import Block, LineCutter
from ciops.failures.past_lines import PastLines, seen
from ciops.failures.scan_result import ScanResult
from ciops.failures.sieve import Sieve

_TAIL_LINES: Final = 80
_MOST_CONTINUED: Final = 20
_LINES_ABOVE_GRAVE: Final = 60
_SEAM_BYTES: Final = 4096


class TraceReader:
    """Reads one trace; feed it chunks of any size, then ask for the result once.

    A `sieve` that stands beside those of other traces spares learning the same dull lines again.
    """

    def __init__(self, knowledge: Knowledge, sieve: Sieve | None = None) -> None:
        self._knowledge = knowledge
        self._sieve = Sieve(knowledge.words) if sieve is None else sieve
        self._cutter = LineCutter()
        self._unframer = Unframer()
        self._past = PastLines()
        self._glance = Glance(knowledge, self._sieve)
        self._hearing = Hearing(knowledge, self._past)
        self._number = 1
        self._read_until = 1
        self._passed_over = 0
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
        tail = self._past.before(self._number, _TAIL_LINES)
        begin = self._read_until
        if tail and self._passed_over >= tail[0][0]:
            begin = self._passed_over
        self._read_tail([pair for pair in tail if pair[0] >= begin])
        facts = self._hearing.facts(self._number - 1, self._size, seen(tail))
        return causes.judge(facts, self._knowledge)

    def _read_tail(self, unread: list[tuple[int, bytes]]) -> None:
        """Read the last lines that nothing made us read."""
        if unread:
            first, lines = unread[0][0], [raw for _, raw in unread]
            self._past.begin(first, lines)
            self._read_on(first, lines, 0, len(lines))
        self._flush()

    def _read(self, block: Block) -> None:
        first, data = self._number, block.data
        count, indexes = self._sieve.interesting(data)
        indexes = self._with_seams(data, indexes)
        self._number += count - block.goes_on
        if indexes or self._hearing.is_busy(first):
            lines = data.split(b"\n")
            self._past.begin(first, lines)
            self._read_lines(first, lines, indexes)
        self._past.end(first, data, count)

    def _with_seams(self, data: bytes, indexes: list[int]) -> list[int]:
        """Add the lines that hold a word together with those that they continue."""
        if not is_stamped(data):
            return indexes
        before = self._past.last_bytes(_SEAM_BYTES)
        found = {i for i, text in seams(before, data) if self._sieve.holds_word(text)}
        return sorted(found.union(indexes)) if found else indexes

    def _read_lines(self, first: int, lines: list[bytes], indexes: list[int]) -> None:
        at = self._read_on(first, lines, 0) if self._hearing.is_busy(first) else 0
        for index in indexes:
            if index < at or self._glance.is_dull(lines[index]):
                continue
            often = self._glance.told_often(lines, index)
            if often:
                self._passed_over = first + index
                at = index + often
            else:
                at = self._read_on(first, lines, self._begin(lines, index, at), index)
        self._read_until = max(self._read_until, first + at)

    def _begin(self, lines: list[bytes], index: int, at: int) -> int:
        """Where to begin for the line at `index`: above it when its like is new, for context.

        Never in the middle of a logical line.
        """
        if self._sieve.meets(lines[index]):
            grave = self._glance.is_grave(lines[index])
            index = max(at, index - (_LINES_ABOVE_GRAVE if grave else LINES_ABOVE))
        lowest = max(at, index - _MOST_CONTINUED)
        while index > lowest and continues(lines[index]):
            index -= 1
        return index

    def _read_on(self, first: int, lines: list[bytes], at: int, wanted: int = 0) -> int:
        """Read lines one by one from `at` until `wanted` is read and nothing is under way.

        Returns the index of the line where it stopped.
        """
        wanted = max(at, wanted)
        while at < len(lines):
            if at > wanted and not self._hearing.is_busy(first + at) and not continues(lines[at]):
                self._flush()
                if not self._hearing.is_busy(first + at):
                    return at
            for visible in self._unframer.push(first + at, self._glance.thinned(lines[at])):
                self._hearing.take(visible)
            at += 1
        if self._unframer.holds:
            self._hearing.stay_busy(first + at)
        return at

    def _flush(self) -> None:
        for visible in self._unframer.flush():
            self._hearing.take(visible)
