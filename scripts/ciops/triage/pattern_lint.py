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

from ciops.plumbing.pattern_reading import Branches, Group, Run, Words, inside, items, parsed
from ciops.plumbing.pattern_trial import LINE, MAX_BOUND, bounds, is_plain, without_items

MAX_PRODUCT: Final = 110_000
MAX_ALIKE: Final = 3_000_000
MAX_WAYS: Final = 250_000_000
_SEEN: Final = 6  # characters at the start of an alternative that tell it from the others

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


@lru_cache(maxsize=512)
def _letter(char: str) -> int:
    """The same of a letter that stands for itself."""
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
        _walk(parsed(_TO_THE_END.sub("", pattern)), [_Group()])
    except (re.error, ValueError) as error:
        return str(error)
    return None


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


def _walk(branches: Branches, stack: list[_Group]) -> None:
    """Multiply the ways a match may go, alternative by alternative; ValueError for a fault."""
    for at, branch in enumerate(branches):
        if at:
            stack[-1].next_way()
        for part in branch:
            if isinstance(part, Run):
                _take_run(part.source, stack)
            else:
                _take_group(part, stack)


def _take_run(source: str, stack: Sequence[_Group]) -> None:
    way = stack[-1].way
    for letters, item, repeat in items(source):
        if repeat:
            _repeat_item(repeat, item, way)
            _refuse_beyond(stack)
        elif item in _PLACES:
            if item == r"\b" and not (way.shared & _WORD and way.shared & ~_WORD):
                way.close()  # the repeats reach the end of the word, or its start
        else:
            sets = tuple(map(_letter, letters)) or (_characters(item),)
            way.alphabet |= _either(sets)
            way.take(*sets)
            way.start(*sets)


def _take_group(part: Words | Group, stack: list[_Group]) -> None:
    outer = stack[-1].way
    outer.told = True
    stack.append(_Group())
    _walk(inside(part), stack)
    group = stack.pop().closed()
    looks = part.opening[-1] in "=!"
    if part.repeat:
        _repeat_group(part.repeat, _Way() if looks else group, outer)
    elif not looks:
        _join(outer, group)
    _refuse_beyond(stack)


def _refuse_beyond(stack: Sequence[_Group]) -> None:
    if _is_beyond(stack):
        raise ValueError("has too many repeats that may share characters")


def _is_beyond(stack: Sequence[_Group]) -> bool:
    """Whether the innermost place may be reached too often, or one place in too many ways."""
    if stack[-1].way.far > MAX_PRODUCT:
        return True
    ways = alike = 1
    for group in stack:
        ways *= group.way.ways
        alike *= group.way.settled * group.way.between
    return ways > MAX_WAYS or alike > MAX_ALIKE


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


def _spread(repeat: str) -> tuple[int, int | None, int]:
    """The least and the most times of a repeat, and how many there are to choose from."""
    low, high = bounds(repeat)
    if high is not None and high > MAX_BOUND:
        raise ValueError(f"repeats up to {high} times, more than {MAX_BOUND}")
    return low, high, (LINE if high is None else high) - low + 1


def _repeat_item(repeat: str, item: str, way: _Way) -> None:
    low, _, spread = _spread(repeat)
    if item in _PLACES:
        return
    characters = _characters(item)
    way.alphabet |= characters
    if low:
        way.start(characters)
    way.told = True
    if spread > 1:
        way.repeat(spread, characters)
    else:
        way.take(characters)


def _repeat_group(repeat: str, group: _Way, way: _Way) -> None:
    _, high, spread = _spread(repeat)
    if high is None:
        raise ValueError("repeats a group without a bound")
    if group.ways ** min(high, 40) > MAX_PRODUCT:
        raise ValueError("has a repeat inside a repeat")
    way.settled *= group.ways**high
    way.repeat(spread, group.alphabet)
    way.alphabet |= group.alphabet
