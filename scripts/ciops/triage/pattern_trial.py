"""Try a pattern on lines that are made to be hard for it: its own words, over and over."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Final

from ciops.triage.pattern_lint import is_plain

TOO_LONG: Final = 0.25  # seconds of work for one line
LINE: Final = 1000
_WORDS: Final = re.compile(r"[A-Za-z_]{2,20}|\d[\w.]{0,6}")
_PIECES: Final = ("a", "a ", "0", " ", "a-", "ab ", "1.2 ", "=", "(")
_MOST_WORDS: Final = 12


def seconds_for(pattern: str, clock: Callable[[], float] = time.process_time) -> float:
    """The longest that one line of 1,000 characters takes; 0 for what cannot take long."""
    if is_plain(pattern):
        return 0.0
    compiled = re.compile(pattern, re.ASCII | re.IGNORECASE)
    worst = 0.0
    for line in _hard_lines(pattern):
        start = clock()
        compiled.search(line)
        worst = max(worst, clock() - start)
        if worst > TOO_LONG:
            return worst
    return worst


def _hard_lines(pattern: str) -> Iterator[str]:
    words = list(dict.fromkeys(_WORDS.findall(pattern)))[:_MOST_WORDS]
    for piece in (*_PIECES, *(f"{word} " for word in words), f"{' '.join(words)} "):
        yield (piece * LINE)[: LINE - 1] + "\x7f"
    for first in words[: _MOST_WORDS // 2]:
        yield (f"{first} " + "a " * LINE)[:LINE]
        yield (first + "a" * LINE)[:LINE]
