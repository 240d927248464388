"""Which patterns can match a text at all, by letters that each of their matches must hold.

Each pattern gives a *cue*: pieces of text of which one is in whatever it matches. An index of the
cues picks the few patterns that a sentence has to be tried with, so that a sentence costs what it
says and not what the rules hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ciops.plumbing.pattern_reading import Need

# Of a piece as much is looked for as tells most texts apart.
_PROBE: Final = 4


@dataclass(frozen=True, slots=True)
class Index:
    """Numbers of patterns by the pieces of their cues, and those that have no cue."""

    by_piece: Mapping[int, Mapping[str, tuple[int, ...]]]
    always: tuple[int, ...]

    def candidates(self, text: str) -> list[int]:
        """The patterns that can match a text, in their order."""
        lowered = text.lower()
        found = set(self.always)
        for length, numbers in self.by_piece.items():
            pieces = {lowered[at : at + length] for at in range(len(lowered) - length + 1)}
            for piece in pieces & numbers.keys():
                found.update(numbers[piece])
        return sorted(found)


def index_of(cues: Iterable[Need]) -> Index:
    """An index of cues; a pattern's number is its place."""
    by_piece: dict[int, dict[str, tuple[int, ...]]] = {}
    always: list[int] = []
    for number, cue in enumerate(cues):
        if not cue.pieces:
            always.append(number)
        for piece in {piece[:_PROBE] for piece in cue.pieces}:
            numbers = by_piece.setdefault(len(piece), {})
            numbers[piece] = (*numbers.get(piece, ()), number)
    return Index(by_piece, tuple(always))
