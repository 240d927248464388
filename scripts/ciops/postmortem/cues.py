"""Which patterns can match a text at all, by letters that each of their matches must hold.

A *cue* of a pattern is pieces of text of which one is in whatever it matches. An index finds by
their most telling cue, and keeps by all their others, the few patterns that a sentence has to be
tried with, so that a sentence costs what it says and not what the rules hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final

from ciops.plumbing.pattern_reading import Need, telling

# Of a piece as much is looked for as tells most texts apart.
_PROBE: Final = 4

Cues = tuple[tuple[str, ...], ...]
"""Of each cue one piece is in whatever a pattern matches; the most telling cue comes first."""


@dataclass(frozen=True, slots=True)
class Index:
    """The cues of patterns by number, and their numbers by the first letters of their best cue.

    `always` are the numbers of those that have no cue.
    """

    cues: tuple[Cues, ...]
    by_piece: Mapping[int, Mapping[str, Sequence[int]]]
    always: tuple[int, ...]

    def candidates(self, text: str) -> list[int]:
        """The patterns that can match a text, in their order."""
        lowered = text.lower()
        found = set(self.always)
        for length, numbers in self.by_piece.items():
            for piece in _common(lowered, length, numbers.keys()):
                found.update(numbers[piece])
        return [number for number in sorted(found) if _holds(lowered, self.cues[number])]


def _common(lowered: str, length: int, pieces: Set[str]) -> Iterable[str]:
    """Pieces of one length that a text holds."""
    # To look for a few is quicker than to cut the text.
    if len(pieces) < len(lowered):
        return [piece for piece in pieces if piece in lowered]
    return pieces & {lowered[at : at + length] for at in range(len(lowered) - length + 1)}


def _holds(lowered: str, cues: Cues) -> bool:
    """Whether a text holds a piece of each cue."""
    for cue in cues:
        for piece in cue:
            if piece in lowered:
                break
        else:
            return False
    return True


def index_of(needs: Iterable[Sequence[Need]]) -> Index:
    """An index of patterns by all that each of them needs; its number is its place."""
    cues = tuple([_cues(each) for each in needs])
    by_piece: dict[int, dict[str, list[int]]] = {length: {} for length in range(1, _PROBE + 1)}
    for number, known in enumerate(cues):
        for piece in {piece[:_PROBE] for piece in known[0]} if known else ():
            by_piece[len(piece)].setdefault(piece, []).append(number)
    return Index(cues, by_piece, tuple([number for number, known in enumerate(cues) if not known]))


def _cues(needs: Sequence[Need]) -> Cues:
    known = [need for need in needs if need.pieces]
    if len(known) > 1:
        known.sort(key=telling, reverse=True)
    return tuple([need.pieces for need in known])
