"""Which words a pattern needs: of each regular expression, words that every match must hold.

An *anchor* is a word under which a pattern is found in an index. A *need* is a list of literals of
which one must be in a line as well: that a line lacks them is known long before the pattern is
tried. What is optional or unknown promises nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import Final, NamedTuple

from ciops.plumbing.pattern_reading import NOTHING, Need, best, needs, parsed

WORD: Final = re.compile(r"[a-z0-9]+")
LITERAL_RUN: Final = re.compile(r"[^\x00-\x7f]+")
_NO_WORDS: Final[frozenset[str]] = frozenset()
_SHORTEST: Final = 3
"""Starts of words and pieces of them shorter than this are in nearly every line."""


class Anchor(NamedTuple):
    """A word that a line must hold: a whole one, the start of one, or a substring.

    A "literal" is no word, only a piece that must be there. `run` is the literal around it.
    """

    text: str
    kind: str  # "word", "prefix", "substring" or "literal"
    run: str = ""


_DIGITS: Final = Need(0, tuple(Anchor(digit, "literal") for digit in "0123456789"))


class Needed(NamedTuple):
    """What every match of a pattern holds: one of `anchors`, and one of each of the offers."""

    anchors: tuple[Anchor, ...]
    offers: tuple[Need, ...]

    @property
    def literals(self) -> tuple[tuple[str, ...], ...]:
        """Lists of literals of which one must be in a line, beyond what the anchor tells."""
        return tuple(
            tuple(x.run or x.text for x in anchors)
            for _, anchors in self.offers
            if anchors is not self.anchors or any(x.run not in ("", x.text) for x in anchors)
        )


def needed_words(source: str, common: frozenset[str] = _NO_WORDS) -> Needed:
    """What a pattern needs. `common` words are in so many patterns that others are chosen."""
    try:
        offers = needs(parsed(source), partial(_offer, common), _DIGITS)
    except re.error:
        offers = []
    most = best(offers)
    return Needed(most.pieces if most.weight else (), tuple(offers))


@lru_cache(maxsize=8192)
def _offer(common: frozenset[str], text: str, starts_word: bool, ends_word: bool) -> Need:
    """The word of a text that tells most, or all of it where no word is sure."""
    if text.isalnum() and text.isascii():  # most are one word
        if not starts_word or (len(text) < _SHORTEST and not ends_word):
            return _piece(text)
        return Need(_tells(text, common), (Anchor(text, "word" if ends_word else "prefix", text),))
    if not text.isascii() and (foreign := LITERAL_RUN.findall(text)):
        return _anchored(max(foreign, key=len), "substring", text, common)
    best, kind = "", ""
    for match in WORD.finditer(text):
        if match.start() == 0 and not starts_word:
            continue
        whole = match.end() < len(text) or ends_word
        if not whole and len(match[0]) < _SHORTEST:
            continue
        if not best or _tells(match[0], common) > _tells(best, common):
            best, kind = match[0], "word" if whole else "prefix"
    return _anchored(best, kind, text, common) if best else _piece(text)


def _tells(word: str, common: frozenset[str]) -> int:
    """How telling a word is: long, and not in every other pattern."""
    return 1 if word in common else len(word)


def _anchored(text: str, kind: str, run: str, common: frozenset[str]) -> Need:
    weight = _tells(text, common) * (3 if kind == "substring" else 1)
    return Need(weight, (Anchor(text, kind, run),))


def _piece(text: str) -> Need:
    long = len(text.strip()) >= _SHORTEST
    return Need(0, (Anchor(text, "literal"),)) if long or text.isdigit() else NOTHING
