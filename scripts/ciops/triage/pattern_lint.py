"""Refuse patterns that could run away on hostile text, or that match everything.

Python's `re` backtracks. A line is at most 1,000 characters, so a pattern may hold one unbounded
repeat; a repeat inside a repeat, or two that may share characters, is refused, and so is a bound
above 200. The check is a scan of the pattern's own text: quick enough for every load.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

MAX_BOUND: Final = 200
MAX_PRODUCT: Final = 40_000
MAX_GROUP_REPEATS: Final = 5
_SEGMENT: Final = 1000

_PIECE: Final = re.compile(
    r"(?P<run>[\w /:'\",`=<>-]{2,}(?![*+?{]))"
    r"|(?P<item>\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\()|*+?{\[])"
    r"|(?P<open>\((?:\?(?::|[a-zA-Z-]+:|P<\w+>|<?[=!]))?)"
    r"|(?P<close>\))"
    r"|(?P<alt>\|)"
    r"|(?P<repeat>[*+?]\??|\{\d*,?\d*\}\??)",
    re.DOTALL,
)


@dataclass(slots=True)
class _Group:
    """A group while it is walked.

    `branch` counts the ways that the repeats still open may share a text; a literal that none of
    them (`shared` is the set of their characters) can match closes them. `widest` is the worst.
    """

    branch: int = 1
    widest: int = 1
    shared: frozenset[int] = frozenset()
    varies: bool = False

    def next_branch(self) -> None:
        self.widest = max(self.widest, self.branch)
        self.branch = 1
        self.shared = frozenset()

    def literal(self, item: str) -> None:
        if self.branch > 1 and not self.shared & _characters(item):
            self.next_branch()

    def run(self, text: str) -> None:
        if self.branch > 1 and not self.shared.issuperset(map(ord, text)):
            self.next_branch()

    @property
    def ways(self) -> int:
        return max(self.widest, self.branch)


@lru_cache(maxsize=512)
def _characters(item: str) -> frozenset[int]:
    """The ASCII characters that one item of a pattern matches."""
    one = re.compile(item, re.DOTALL)
    return frozenset(code for code in range(128) if one.fullmatch(chr(code)))


_BARE: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]")
_SYNTAX: Final = re.compile(r"\(\?[a-zA-Z-]+:|\(\?P<\w+>|\{\d*,?\d*\}")
_REPEATS: Final = re.compile(r"[*+]|\{\d*,\d*\}")
_WIDE: Final = re.compile(r"\)[*+{]|\{\d*,(?:\d{3,})?\}|\\[1-9]")


def first_fault(pattern: str) -> str | None:
    """What is wrong with a pattern, as the end of a sentence, or None."""
    bare = _BARE.sub("", pattern)
    if bare.count("(") != bare.count(")"):
        return "has an unmatched bracket"
    if not any(char.isalnum() for char in _SYNTAX.sub("", bare)):
        return "has no literal word, so it matches nearly everything"
    if len(_REPEATS.findall(pattern)) < 2 and not _WIDE.search(pattern):
        return None  # one repeat of one item cannot run away
    return _walked_fault(pattern)


def _walked_fault(pattern: str) -> str | None:
    try:
        pieces = _pieces(pattern)
    except ValueError as error:
        return str(error)
    return _fault_of(pieces)


def _pieces(pattern: str) -> list[re.Match[str]]:
    pieces = []
    at = 0
    while at < len(pattern):
        match = _PIECE.match(pattern, at)
        if match is None:
            raise ValueError(f"cannot be read at character {at + 1}")
        pieces.append(match)
        at = match.end()
    return pieces


def _fault_of(pieces: Sequence[re.Match[str]]) -> str | None:
    """Walk the pieces once with a stack of groups, multiplying the ways a match may go."""
    stack = [_Group()]
    before: _Group | str | None = None
    for at, piece in enumerate(pieces):
        fault = None
        if piece.lastgroup == "repeat":
            fault = _repeat(piece["repeat"], before, stack[-1])
            before = None
        elif piece.lastgroup == "close" and len(stack) == 1:
            fault = "has an unmatched bracket"
        else:
            optional = at + 1 < len(pieces) and pieces[at + 1].lastgroup == "repeat"
            before = _enter(piece, stack, optional)
        if fault or stack[-1].branch > MAX_PRODUCT:
            return fault or "has too many repeats that may share characters"
    return None if len(stack) == 1 else "has an unmatched bracket"


def _enter(piece: re.Match[str], stack: list[_Group], repeated: bool) -> _Group | str | None:
    """Take one piece; gives back what a repeat after it would repeat."""
    if piece.lastgroup == "open":
        stack.append(_Group())
    elif piece.lastgroup == "alt":
        stack[-1].next_branch()
    elif piece.lastgroup == "close":
        closed = stack.pop()
        outer = stack[-1]
        outer.branch *= closed.branch
        outer.widest = max(outer.widest, closed.ways)
        outer.shared |= closed.shared
        outer.varies = outer.varies or closed.varies
        return closed
    elif piece["run"]:
        stack[-1].run(piece["run"])
    elif not repeated and piece["item"] not in ("^", "$"):
        stack[-1].literal(piece["item"])
    return piece["item"]


def _repeat(repeat: str, before: _Group | str | None, outer: _Group) -> str | None:
    """Count a repeat of an item or group; gives back what is wrong with it."""
    low, high = _bounds(repeat)
    if high is not None and high > MAX_BOUND:
        return f"repeats up to {high} times, more than {MAX_BOUND}"
    if isinstance(before, _Group):
        if high is None:
            return "repeats a group without a bound"
        if before.varies and high > MAX_GROUP_REPEATS:
            return "has a repeat inside a repeat"
    spread = (high if high is not None else _SEGMENT) - low + 1
    if spread > 2:
        outer.branch *= spread
        outer.varies = True
        outer.shared |= _characters(before) if isinstance(before, str) else frozenset(range(128))
    return None


def _bounds(repeat: str) -> tuple[int, int | None]:
    if repeat[0] == "*":
        return 0, None
    if repeat[0] == "+":
        return 1, None
    if repeat[0] == "?":
        return 0, 1
    low, comma, high = repeat.strip("?")[1:-1].partition(",")
    least = int(low or 0)
    if not comma:
        return least, least
    return least, int(high) if high else None
