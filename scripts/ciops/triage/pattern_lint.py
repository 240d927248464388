"""Refuse patterns that could run away on hostile text, or that match everything.

Python's `re` backtracks: where a match fails, it tries every other way in which the repeats and
alternatives before could have taken the same text. So the ways are counted here, from the text of
the pattern alone, and beyond a bound the pattern is refused. The count is from above: no line,
which is at most 1,000 characters long, makes a pattern that is taken grow without end.

A repeat that ends at a character it cannot hold itself has but one way to get there, and a repeat
of a group multiplies the ways of the group by themselves. Of repeats that may share a text
MAX_PRODUCT are too many; of ways to one place MAX_ALIKE, of ways to any place MAX_WAYS.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from operator import or_
from typing import Final

from ciops.plumbing.pattern_trial import LINE, MAX_BOUND, bounds, is_plain, without_items

MAX_PRODUCT: Final = 110_000
MAX_ALIKE: Final = 3_000_000
MAX_WAYS: Final = 250_000_000
_SEEN: Final = 6  # characters at the start of an alternative that tell it from the others

_PIECE: Final = re.compile(
    r"(?P<run>[\w /:'\",`=<>-]{2,}(?![*+?{]))"
    r"|(?P<item>\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\()|*+?{\[])"
    r"|(?P<open>\((?:\?(?::|-?[is]+:|P<\w+>|<?[=!])|(?!\?)))"
    r"|(?P<close>\))"
    r"|(?P<alt>\|)"
    r"|(?P<repeat>[*+?]\??|\{\d*,?\d*\}\??)",
    re.DOTALL,
)
_ALPHABET: Final = (*map(chr, range(128)), "é")  # sets are bits of a number; é is all the rest
_WORD: Final = sum(1 << i for i in range(128) if chr(i).isalnum() or chr(i) == "_")
_PLACES: Final = frozenset({"^", "$", r"\b", r"\B", r"\A", r"\Z"})  # they take no text


@dataclass(slots=True)
class _Way:
    """One alternative while it is walked.

    `product` multiplies the repeats that may still share text (of the characters `shared`), `far`
    does so without mere options, and `widest` is the largest. They end at one of `lengths` places,
    each in one of `between` ways. `settled` are the ways to reach the last place that closed such
    repeats. `starts` are the sets that its first characters are of; `told` ends them.
    """

    settled: int = 1
    product: int = 1
    lengths: int = 1
    far: int = 1
    between: int = 1
    widest: int = 1
    shared: int = 0
    starts: list[int] = field(default_factory=list)
    told: bool = False
    alphabet: int = 0

    @property
    def open(self) -> int:
        return min(self.product, self.lengths * self.between)

    @property
    def ways(self) -> int:
        return self.settled * self.open

    def repeat(self, spread: int, characters: int) -> None:
        """A repeat that takes one of `spread` lengths."""
        if self.shared & characters:
            self.between *= min(spread, self.widest)
        self.product *= spread
        self.lengths += spread - 1
        self.far *= spread if spread > 2 else 1
        self.widest = max(self.widest, spread)
        self.shared |= characters

    def close(self) -> None:
        """A place that the open repeats reach in a fixed length: only their shares vary."""
        self.settled *= self.between
        self.product = self.lengths = self.far = self.between = self.widest = 1
        self.shared = 0

    def take(self, *sets: int) -> None:
        """Characters that are there, one of each set."""
        if self.product > 1 and not all(self.shared & one for one in sets):
            self.close()

    def start(self, *sets: int) -> None:
        if not self.told and (room := _SEEN - len(self.starts)):
            self.starts += sets[:room]


@dataclass(slots=True)
class _Group:
    """A bracket while it is walked: its alternatives so far, and the one at hand."""

    looks: bool = False
    done: list[_Way] = field(default_factory=list)
    way: _Way = field(default_factory=_Way)

    def next_way(self) -> None:
        self.done.append(self.way)
        self.way = _Way()

    def closed(self) -> _Way:
        """The whole bracket as one way."""
        ways = [*self.done, self.way]
        if len(ways) == 1:
            return self.way
        widest = max(way.widest for way in ways)
        return _Way(
            settled=_most_alike(ways),
            product=widest,
            lengths=widest,
            far=max(way.far for way in ways),
            widest=widest,
            shared=_either(way.shared for way in ways),
            alphabet=_either(way.alphabet for way in ways),
        )


def _either(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)


def _most_alike(ways: Sequence[_Way]) -> int:
    """The ways of alternatives that may match the same text, less the widest repeat of each."""
    by_start: dict[int, list[_Way]] = {}
    for way in ways:
        by_start.setdefault(way.starts[0] if way.starts else -1, []).append(way)
    most = 1
    for start, some in by_start.items():
        alike = [way for other, part in by_start.items() if start & other for way in part]
        if len(alike) > 1 or alike[0].ways > 1:
            most = max(most, *(_alike(way, alike) for way in some))
    return most


def _alike(way: _Way, ways: Sequence[_Way]) -> int:
    return sum(
        other.settled * -(-other.open // other.widest)
        for other in ways
        if not any(not one & two for one, two in zip(way.starts, other.starts, strict=False))
    )


@lru_cache(maxsize=512)
def _characters(item: str) -> int:
    """The characters that one item of a pattern matches, in either case."""
    try:
        one = re.compile(item, re.DOTALL | re.ASCII | re.IGNORECASE)
    except re.error as error:
        raise ValueError(f"holds {item}, which cannot be read: {error}") from None
    found = sum(1 << at for at, char in enumerate(_ALPHABET) if one.fullmatch(char))
    return found or 1 << 128


def _run(text: str) -> tuple[int, ...]:
    return tuple(map(_letter, text))


@lru_cache(maxsize=512)
def _letter(char: str) -> int:
    """The same of one that stands for itself."""
    return 1 << ord(char.lower()) | 1 << ord(char.upper()) if char.isascii() else 1 << 128


_SYNTAX: Final = re.compile(r"\(\?[a-zA-Z-]+:|\(\?P<\w+>|\{\d*,?\d*\}")
_PLAINLY: Final = re.compile(r"(?:^|[^<?a-zA-Z])[a-zA-Z]{3}")
_LETTER: Final = re.compile(r"[^\W_]")
_BLAND: Final = ("", "a", "It is as it was.", "x = f(1)", "- 2 of 30")
_TO_THE_END: Final = re.compile(r"(?:(?<!\\)\(\.[*+]\??\)|(?<!\\)\.[*+]\??)+$")


def first_fault(pattern: str) -> str | None:
    """What is wrong with a pattern, as the end of a sentence, or None. Quick for plain ones."""
    bare = without_items(pattern)
    if bare.count("(") != bare.count(")"):
        return "has an unmatched bracket"
    plainly = _PLAINLY.search(bare) or _LETTER.search(_SYNTAX.sub("", bare))
    if not plainly and _is_in_any_line(pattern):
        return "matches nearly everything"
    if is_plain(pattern, bare):
        return None
    try:
        # What takes the rest of the line, whatever it is, never tries another way.
        return _fault_of(_pieces(_TO_THE_END.sub("", pattern)))
    except ValueError as error:
        return str(error)


def _is_in_any_line(pattern: str) -> bool:
    """Whether a pattern matches a line that says nothing."""
    try:
        found = re.compile(pattern, re.ASCII | re.IGNORECASE)
    except (re.error, OverflowError, RecursionError):  # `unreadable` says why
        return False
    return any(found.search(line) for line in _BLAND)


def unreadable(pattern: str) -> str | None:
    """What Python's `re` says against a pattern, as the end of a sentence, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)  # `[[:space:]]`: not what it says elsewhere
        try:
            re.compile(pattern, re.ASCII | re.IGNORECASE)
        except (re.error, FutureWarning, OverflowError, RecursionError) as error:
            return f"cannot be read: {str(error)[:1].lower()}{str(error)[1:]}"
    return None


def joinable(pattern: str) -> str:
    """A pattern whose leading `(?i)` is for itself alone, so that it may stand among others."""
    return f"(?i:{pattern[4:]})" if pattern.startswith("(?i)") else pattern


def mending(fault: str) -> str:
    """What to do about a fault."""
    if "everything" in fault:
        return "Name a word of what it is to find"
    if "repeat" in fault and "cannot be read" not in fault:
        return r"Bound its repeats: .{0,80} for .*, \w{1,40} for \w+, (?:…){1,9} for (…)+"
    return "Mend the pattern"


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
    before: _Way | str | None = None
    for at, piece in enumerate(pieces):
        kind = piece.lastgroup
        if kind == "repeat":
            fault = _repeat(piece["repeat"], before, stack[-1].way)
            before = None
        elif kind == "close" and len(stack) == 1:
            fault = "has an unmatched bracket"
        else:
            repeated = at + 1 < len(pieces) and pieces[at + 1].lastgroup == "repeat"
            before, fault = _enter(piece, stack, repeated), None
        if fault or (kind in ("repeat", "close") and _is_beyond(stack)):
            return fault or "has too many repeats that may share characters"
    return None if len(stack) == 1 else "has an unmatched bracket"


def _is_beyond(stack: Sequence[_Group]) -> bool:
    """Whether the innermost place may be reached too often, or one place in too many ways."""
    if stack[-1].way.far > MAX_PRODUCT:
        return True
    ways = alike = 1
    for group in stack:
        ways *= group.way.ways
        alike *= group.way.settled * group.way.between
    return ways > MAX_WAYS or alike > MAX_ALIKE


def _enter(piece: re.Match[str], stack: list[_Group], repeated: bool) -> _Way | str | None:
    """Take one piece; gives back what a repeat after it would repeat."""
    group = stack[-1]
    if piece.lastgroup == "open":
        group.way.told = True
        stack.append(_Group(looks=piece["open"].endswith(("=", "!"))))
        return None
    if piece.lastgroup == "alt":
        group.next_way()
        return None
    if piece.lastgroup == "close":
        closed = stack.pop().closed()
        if group.looks or repeated:
            return _Way() if group.looks else closed
        _join(stack[-1].way, closed)
        return closed
    _take(piece, group.way, repeated)
    return piece["item"]


def _take(piece: re.Match[str], way: _Way, repeated: bool) -> None:
    """Literals, a set, or a place between characters."""
    item = piece["item"]
    if item in _PLACES:
        if item == r"\b" and not (way.shared & _WORD and way.shared & ~_WORD):
            way.close()  # the repeats reach the end of the word, or its start
        return
    sets = (_characters(item),) if item else _run(piece["run"])
    way.alphabet |= sets[0] if item else _either(sets)
    if not repeated:
        way.take(*sets)
        way.start(*sets)


def _join(outer: _Way, group: _Way) -> None:
    """A group that is there once: its ways are those of the alternative that it stands in."""
    outer.settled *= group.settled
    if outer.shared & group.shared:
        outer.between *= min(outer.widest, group.widest)
    outer.between *= group.between
    outer.product *= group.product
    outer.lengths += group.lengths - 1
    outer.far *= group.far
    outer.widest = max(outer.widest, group.widest)
    outer.shared |= group.shared
    outer.alphabet |= group.alphabet


def _repeat(repeat: str, before: _Way | str | None, way: _Way) -> str | None:
    """Count a repeat of an item or group; gives back what is wrong with it."""
    low, high = bounds(repeat)
    if before is None:
        return "repeats what cannot be repeated"
    if high is not None and high > MAX_BOUND:
        return f"repeats up to {high} times, more than {MAX_BOUND}"
    spread = (high if high is not None else LINE) - low + 1
    if isinstance(before, str):
        if before in _PLACES:
            return None
        if low:
            way.start(_characters(before))
        way.told = True
        if spread > 1:
            way.repeat(spread, _characters(before))
        else:
            way.take(_characters(before))
        return None
    if high is None:
        return "repeats a group without a bound"
    if before.ways ** min(high, 40) > MAX_PRODUCT:
        return "has a repeat inside a repeat"
    way.settled *= before.ways**high
    way.repeat(spread, before.alphabet)
    way.alphabet |= before.alphabet
    return None
