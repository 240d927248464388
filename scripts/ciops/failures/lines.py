"""Cut a stream of bytes into blocks of whole lines, whatever their length.

Lines end at `\\n` only. A line longer than `LONGEST` is handed on in pieces, so a trace without a
newline is read in bounded memory and nothing in it is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 128 * 1024
"""Bytes of one line that are held before a piece of it is handed on."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole lines without the last newline, or a piece of one line that goes on."""

    data: bytes
    goes_on: bool = False


class LineCutter:
    """Turns chunks of any size into blocks; keeps at most one unfinished line."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""

    def cut(self, chunk: bytes) -> Iterator[Block]:
        """The blocks that `chunk` completes."""
        end = chunk.rfind(b"\n")
        if end < 0:
            self._rest += chunk
        else:
            data = self._rest + chunk[:end] if self._rest else chunk[:end]
            self._rest = chunk[end + 1 :]
            yield Block(data)
        if len(self._rest) > LONGEST:
            yield from self._pieces()

    def _pieces(self) -> Iterator[Block]:
        while len(self._rest) > LONGEST:
            at = self._rest.rfind(b"\r", 0, LONGEST) + 1
            at = at or self._rest.rfind(b" ", LONGEST // 2, LONGEST) + 1 or LONGEST
            yield Block(self._rest[:at], goes_on=True)
            self._rest = self._rest[at:]

    def rest(self) -> Block | None:
        """The last line, when the stream ended without a newline."""
        if not self._rest:
            return None
        block = Block(self._rest)
        self._rest = b""
        return block
