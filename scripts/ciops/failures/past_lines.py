"""The raw lines that were seen last, for what stood above an event and for the tail of a trace."""

from __future__ import annotations

from collections import deque
from typing import Final

from ciops.failures.framing import Unframer, Visible

_RECENT_BLOCKS: Final = 4
_KEPT_BYTES: Final = 32_768
_LONGEST_SEEN: Final = 2000

Numbered = list[tuple[int, bytes]]


class PastLines:
    """Keeps the last blocks of a trace, and the lines of the one that is being read."""

    __slots__ = ("_blocks", "_first", "_lines")

    def __init__(self) -> None:
        self._blocks: deque[tuple[int, bytes]] = deque(maxlen=_RECENT_BLOCKS)
        self._first = 1
        self._lines: list[bytes] = []

    def begin(self, first: int, lines: list[bytes]) -> None:
        """Lines that are being read, the first with its number."""
        self._first, self._lines = first, lines

    def end(self, first: int, block: bytes, count: int) -> None:
        """A block of some lines that has been read or passed over."""
        self._blocks.append((first, block))
        self._first, self._lines = first + count, []

    def last_bytes(self, wanted: int) -> bytes:
        """The end of the last block."""
        return self._blocks[-1][1][-wanted:] if self._blocks else b""

    def up_to(self, number: int, wanted: int) -> list[Visible]:
        """Some lines up to and with one that is being read."""
        end = min(number - self._first + 1, len(self._lines))
        begin = max(0, end - wanted)
        raw = [(self._first + index, self._lines[index]) for index in range(begin, end)]
        return seen(self.before(self._first, wanted - len(raw)) + raw)

    def before(self, number: int, wanted: int) -> Numbered:
        """Some raw lines of the last blocks that stand before one."""
        found: Numbered = []
        for first, data in reversed(self._blocks):
            if len(found) >= wanted:
                break
            lines = data[-_KEPT_BYTES:].split(b"\n")
            end = first + data.count(b"\n") + 1
            numbered = [(end - len(lines) + i, line) for i, line in enumerate(lines)]
            found = [pair for pair in numbered if pair[0] < number] + found
        return found[-wanted:] if wanted > 0 else []


def seen(raw: Numbered) -> list[Visible]:
    """What a person sees of some raw lines."""
    unframer = Unframer()
    visible = [v for number, line in raw for v in unframer.push(number, line[:_LONGEST_SEEN])]
    visible.extend(unframer.flush())
    return [v for v in visible if isinstance(v, Visible)]
