"""Which patterns can match a text at all, by letters that each of their matches must hold.

Hundreds of patterns stand against every sentence and hardly any can match it. Each gives a *cue*:
pieces of text of which one is in whatever it matches. An index of the cues picks the few patterns
that a sentence has to be tried with, so that a sentence costs what it says and not what the rules
hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

# Pieces of text; empty where no piece is sure to be in every match.
Cue = frozenset[str]
NOTHING: Final[Cue] = frozenset()
_LONGEST: Final = 6
# A private character stands for a person or code: rarer than any word.
_PRIVATE: Final = re.compile("[\ue000-\uf8ff]")
_TOKEN: Final = re.compile(
    r"(?P<macro>\{[a-z][a-z_]*\})|(?P<repeat>[*+?]\??|\{\d*,?\d*\}\??)"
    r"|(?P<look>\(\?<?[=!])|(?P<open>\((?:\?[a-z-]*:)?)|(?P<close>\))|(?P<alt>\|)"
    r"|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\]|\\(?:x[0-9a-f]{2}|[A-Za-z0-9])|[.^$])"
    r"|\\(?P<escaped>.)|(?P<run>[^\\()\[\]{}|?*+.^$]+)|(?P<char>.)",
    re.DOTALL,
)


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


def index_of(cues: Iterable[Cue]) -> Index:
    """An index of cues; a pattern's number is its place."""
    by_piece: dict[int, dict[str, tuple[int, ...]]] = {}
    always: list[int] = []
    for number, cue in enumerate(cues):
        if not cue:
            always.append(number)
        for piece in {piece[:_LONGEST] for piece in cue}:
            numbers = by_piece.setdefault(len(piece), {})
            numbers[piece] = (*numbers.get(piece, ()), number)
    return Index(by_piece, tuple(always))


def cue_of(pattern: str, macros: Mapping[str, Cue]) -> Cue:
    """The cue of a pattern in which `{name}` stands for a macro of a known cue."""
    return _alternatives(list(_TOKEN.finditer(pattern)), 0, macros)[0]


def _alternatives(
    tokens: Sequence[re.Match[str]], at: int, macros: Mapping[str, Cue]
) -> tuple[Cue, int]:
    """The cue of `a|b|c` from `at` on, and the place of the bracket that closes it."""
    found: list[Cue] = []
    while True:
        cue, at = _sequence(tokens, at, macros)
        found.append(cue)
        if at >= len(tokens) or tokens[at].lastgroup == "close":
            break
        at += 1
    return (frozenset().union(*found) if all(found) else NOTHING), at


def _sequence(
    tokens: Sequence[re.Match[str]], at: int, macros: Mapping[str, Cue]
) -> tuple[Cue, int]:
    """The most telling cue of what stands in a row from `at` on, and where it ends."""
    best, run = NOTHING, ""
    while at < len(tokens) and tokens[at].lastgroup not in ("alt", "close"):
        kind, text = tokens[at].lastgroup, tokens[at].group()
        offered, at = NOTHING, at + 1
        if kind in ("open", "look"):
            offered, close = _alternatives(tokens, at, macros)
            at = close + 1
        elif kind == "macro":
            offered = macros[text[1:-1]]
        optional = _optional(tokens, at)
        if kind in ("run", "char", "escaped"):
            run += text[-1] if kind == "escaped" else text
            if not _repeated(tokens, at):
                continue
            run = run[:-1] if optional else run
        best = _better(best, frozenset((run.lower(),)) if run else NOTHING)
        run = ""
        if not optional and kind != "look":
            best = _better(best, offered)
    return _better(best, frozenset((run.lower(),)) if run else NOTHING), at


def _repeated(tokens: Sequence[re.Match[str]], at: int) -> bool:
    return at < len(tokens) and tokens[at].lastgroup == "repeat"


def _optional(tokens: Sequence[re.Match[str]], at: int) -> bool:
    """Whether what stands before `at` may be absent."""
    return _repeated(tokens, at) and tokens[at].group().startswith(("?", "*", "{0", "{,"))


def _better(one: Cue, other: Cue) -> Cue:
    return max(one, other, key=_weight)


def _weight(cue: Cue) -> tuple[int, int]:
    """How telling a cue is: by its least telling piece, then by how few they are."""
    if not cue:
        return (0, 0)
    tell = (_LONGEST + 1 if _PRIVATE.search(piece) else min(len(piece), _LONGEST) for piece in cue)
    return min(tell), -len(cue)
