"""Try a pattern on lines that are made to be hard for it: its own words, over and over.

Python's `re` backtracks: on some lines the time of a search may grow with a power of their length,
or without end. Whoever may write a policy or rules could so stall all who use them. A search for a
pattern may take TOO_LONG seconds of work on a line of LINE characters, whatever stands in it; the
trial is cut off there.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Final

from ciops.plumbing.interruption import can_cut_off, cut_off
from ciops.plumbing.pattern_reading import SET

TOO_LONG: Final = 0.25
"""Seconds of work that a search on one hard line may take."""
LINE: Final = 1000
"""Characters of a hard line."""
MAX_BOUND: Final = 200
MAX_PLAIN: Final = 10_000
_CHOICES: Final = 10  # of two each: few enough
_GROWING: Final = (*range(8, 64, 4), *range(64, 210, 12), 400, LINE)
_WORDS: Final = re.compile(r"(?<![\\A-Za-z_])[A-Za-z_]{1,20}|\d[\w.]{0,6}")
_PIECES: Final = (
    *("a", "a ", "0", " ", "a-", "ab ", "1.2 ", "=", "(", "/a", "a.", "error ", "failed: "),
)
_MOST_WORDS: Final = 12

_BARE: Final = re.compile(rf"\\.|{SET}")
_REPEAT: Final = re.compile(r"[*+]|\{\d*,?\d*\}")
_INVOLVED: Final = re.compile(r"\)[*+{]|\\[1-9]|\(\?[^:iP<=!-]|[*+?}][*+]")


class _TooLongError(Exception):
    """A search was cut off."""


def stalls_on(pattern: re.Pattern[str]) -> str:
    """What a line repeats on which a search takes too long; "" where none was found."""
    if is_plain(pattern.pattern):
        return ""
    hard = (piece for piece, line in _hard_lines(pattern.pattern) if _is_slow(pattern, line))
    return next(hard, "")


def is_plain(pattern: str, bare: str | None = None) -> bool:
    """Whether its repeats are so few that it cannot run away, however they share texts.

    `bare` is the pattern `without_items`, from whoever has it.
    """
    bare = without_items(pattern) if bare is None else bare
    if _INVOLVED.search(pattern) or bare.count("?") - bare.count("(?") > _CHOICES:
        return False
    product = 1
    for repeat in _REPEAT.findall(bare):
        low, high = bounds(repeat)
        if high is not None and high > MAX_BOUND:
            return False
        product *= (high or LINE) - low + 1
    return product <= MAX_PLAIN and bare.count("(") <= _CHOICES


def without_items(pattern: str) -> str:
    """A pattern without escaped characters and sets: what is left has a meaning of its own."""
    return _BARE.sub("", pattern)


def bounds(repeat: str) -> tuple[int, int | None]:
    """The least and the most times that a repeat (`*`, `+`, `?`, `{m,n}`) takes; None: no end."""
    if repeat[0] == "*":
        return 0, None
    if repeat[0] == "+":
        return 1, None
    if repeat[0] == "?":
        return 0, 1
    low, comma, high = repeat.rstrip("?+")[1:-1].partition(",")
    least = int(low or 0)
    if not comma:
        return least, least
    return least, int(high) if high else None


def _hard_lines(pattern: str) -> Iterator[tuple[str, str]]:
    """Lines, each with what it repeats."""
    words = list(dict.fromkeys(_WORDS.findall(pattern)))[:_MOST_WORDS]
    for piece in (*_PIECES, *words, *(f"{word} " for word in words), f"{' '.join(words)} "):
        yield piece, piece * LINE
    for first in words[: _MOST_WORDS // 2]:
        yield f"{first} a ", f"{first} " + "a " * LINE
        yield f"{first}a", first + "a" * LINE


def _is_slow(pattern: re.Pattern[str], line: str) -> bool:
    """Whether a search takes too long; where none can be cut off, lines grow until one does."""
    lengths = (LINE,) if can_cut_off() else _GROWING
    return any(_takes_too_long(pattern, f"{line[: length - 1]}\x7f") for length in lengths)


def _takes_too_long(pattern: re.Pattern[str], line: str) -> bool:
    start = time.process_time()
    try:
        with cut_off(TOO_LONG, _TooLongError()):
            pattern.search(line)
    except _TooLongError:
        return True
    return time.process_time() - start > TOO_LONG
