"""Cut a stream of bytes into blocks of whole lines, whatever their length.

Lines end at `\\n` only. A line longer than `LONGEST` is handed on in pieces, so a trace without a
newline is read in bounded memory and nothing in it is skipped. A block does not end where a
runner's line goes on below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ciops.failures.framing import continues, is_stamped

LONGEST: Final = 128 * 1024
"""Bytes of one line that are held before a piece of it is handed on."""
_ENOUGH: Final = 64 * 1024
_MOST_KEPT: Final = 16 * 1024
_MOST_BETWEEN: Final = 5


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole lines without the last newline, or a piece of one line that goes on."""

    data: bytes
    goes_on: bool = False


class LineCutter:
    """Turns chunks of any size into blocks; keeps some kilobytes and one unfinished line."""

    __slots__ = ("_enough", "_parts", "_size")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._enough = _ENOUGH

    def cut(self, chunk: bytes) -> Iterator[Block]:
        """The blocks that `chunk` completes."""
        self._parts.append(chunk)
        self._size += len(chunk)
        if self._size < self._enough:
            return
        data = b"".join(self._parts)
        at = _end_of_block(data) + 1
        if at:
            yield Block(data[: at - 1])
        while len(data) - at > LONGEST:
            end = _end_of_piece(data, at)
            yield Block(data[at:end], goes_on=True)
            at = end
        self._parts = [data[at:]]
        self._size = len(data) - at
        self._enough = self._size + _ENOUGH

    def rest(self) -> Block | None:
        """What is left at the end of the stream."""
        data = b"".join(self._parts)
        self._parts, self._size = [], 0
        return Block(data.removesuffix(b"\n")) if data else None


def _end_of_block(data: bytes) -> int:
    """The last newline that no line goes on across, as far as is known; -1 without one."""
    last = data.rfind(b"\n")
    if last < 0 or not is_stamped(data):
        return last
    end, quiet = last, 0
    while len(data) - end < _MOST_KEPT and quiet < _MOST_BETWEEN:
        above = data.rfind(b"\n", 0, end)
        if above < 0:
            return last
        quiet = 0 if continues(data[above + 1 : end]) else quiet + 1
        end = above
    return end if quiet == _MOST_BETWEEN else last


def _end_of_piece(data: bytes, at: int) -> int:
    """Where to end a piece of an over-long line: at an overwrite, else between two words."""
    end = data.rfind(b"\r", at, at + LONGEST) + 1
    return end or data.rfind(b" ", at + LONGEST // 2, at + LONGEST) + 1 or at + LONGEST
