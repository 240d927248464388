"""Which terms and patterns of a policy a line needs, found by the words in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import Final, NamedTuple

from ciops.triage.needed_words import Anchor, Needed, needed_words
from ciops.triage.patterns import (
    compiled,
    folded_source,
    needed_by_term,
    term_pattern,
    words_of,
)

_WORN: Final = 4
"""A word in so many terms is in many lines as well."""
_MOST_WORDS: Final = 5000
_CHOICES: Final = 3
_FEW: Final = 12
"""Of so many words the pieces around them are looked for before the pattern is tried."""


class Matcher:
    """One term or pattern of a signal: `owner` is its number, `zones` where it counts.

    `needed` is what must be in the line. Where `folded`, the expression is for a text in lower
    case: that is faster than one that minds no case.
    """

    __slots__ = (
        "_term", "case_sensitive", "folded", "needed", "owner", "regex", "written", "zones",
    )  # fmt: skip

    def __init__(
        self,
        owner: int,
        written: str,
        case_sensitive: bool,
        zones: frozenset[str],
        needed: Needed,
        is_term: bool = False,
    ) -> None:
        self.owner = owner
        self.written = written
        self._term = is_term
        self.case_sensitive = case_sensitive
        self.zones = zones
        self.needed = needed
        self.folded = False
        self.regex: re.Pattern[str] | None = None

    def compile(self) -> re.Pattern[str]:
        """Compile it, when it is first needed: an issue needs a tenth of a policy."""
        whole = term_pattern(self.written) if self._term else self.written
        source = None if self.case_sensitive else folded_source(whole)
        self.folded = source is not None
        self.regex = compiled(source or whole, self.case_sensitive or self.folded)
        return self.regex


class _Entry(NamedTuple):
    """What is registered of one signal."""

    owner: int
    terms: tuple[str, ...]
    patterns: tuple[str, ...]
    case_sensitive: bool
    zones: frozenset[str]


class AnchorIndex:
    """Which terms and patterns a line needs, by the words in it.

    What each of them needs is worked out when the first line is looked up: many a start of the
    program judges no issue.
    """

    __slots__ = ("_entries", "_table")

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._table: _Table | None = None

    def add(
        self,
        owner: int,
        terms: Iterable[str],
        patterns: Iterable[str],
        case_sensitive: bool,
        zones: frozenset[str],
    ) -> None:
        """Register a signal's terms under their longest words, its patterns under their anchors.

        A pattern that no word is sure to be in is tried on every line of its zones.
        """
        self._entries.append(_Entry(owner, tuple(terms), tuple(patterns), case_sensitive, zones))
        self._table = None

    def candidates(self, text: str, words: Iterable[str], zone: str) -> list[Matcher]:
        """The matchers that may match a line of a zone, in the order of the policy.

        `text` is the line in lower case, `words` are its `words_of`.
        """
        if self._table is None:
            self._table = _Table(list(_matchers(self._entries)))
        return self._table.candidates(text, words, zone)


def _matchers(entries: Sequence[_Entry]) -> Iterator[Matcher]:
    """Every term and pattern, with what it needs."""
    words = (word for entry in entries for term in entry.terms for word in words_of(term))
    common = Counter(words)
    worn = frozenset(word for word, count in common.items() if count >= _WORN)
    for owner, terms, patterns, case_sensitive, zones in entries:
        for term in terms:
            needed = needed_by_term(term, common)
            yield Matcher(owner, term, case_sensitive, zones, needed, is_term=True)
        for pattern in patterns:
            needed = needed_words(pattern, worn)
            yield Matcher(owner, pattern, case_sensitive, zones, needed)


class _Table:
    """Matchers as bits of a number, so that a line's words are looked up and joined at once.

    A matcher needs one of each of up to `_CHOICES` lists of words: it has a bit in each of as many
    parts of the number, and may match where all of them are set. `_given` are the bits of lists
    that it does not have. What is no word of its own is looked for in the line after that.
    """

    __slots__ = (
        "_bits", "_by_word", "_given", "_inner", "_lengths", "_literals", "_matchers",
        "_prefixes", "_substrings", "_words", "_zones",
    )  # fmt: skip

    def __init__(self, matchers: list[Matcher]) -> None:
        self._matchers = matchers
        self._bits = [1 << number for number in range(len(matchers))]
        self._literals: list[tuple[tuple[str, ...], ...] | None] = [None] * len(matchers)
        self._words: dict[str, list[int]] = {}
        self._prefixes: dict[str, list[int]] = {}
        self._inner: dict[str, list[int]] = {}
        self._substrings: dict[str, list[int]] = {}
        self._given = 0
        self._by_word: dict[str, int] = {}
        self._zones: dict[str, int] = {}
        for number, matcher in enumerate(matchers):
            self._add(number, matcher.needed)
        self._lengths = sorted({len(start) for start in self._prefixes})

    def _add(self, number: int, needed: Needed) -> None:
        choices = _choices(needed)
        width = len(self._matchers)
        for part in range(_CHOICES):
            place = part * width + number
            if part < len(choices) and choices[part]:
                self._add_anchors(choices[part], place)
            elif part or not self._add_pieces(number, place):
                self._given |= 1 << place

    def _add_anchors(self, anchors: Iterable[Anchor], place: int) -> None:
        for text, kind, *_ in anchors:
            known = self._words if kind == "word" else self._prefixes
            known = self._substrings if kind == "substring" else known
            known.setdefault(text, []).append(place)

    def _add_pieces(self, number: int, place: int) -> bool:
        """Register what no word tells surely by pieces of words, where there are any."""
        literals = list(self._needs(number))
        for choice in literals:
            parts = _pieces(choice)
            if not parts:
                continue
            pieces = {max(words, key=len) for words in parts}
            for piece in pieces:
                self._inner.setdefault(piece, []).append(place)
            if pieces.issuperset(choice):
                literals.remove(choice)
                self._literals[number] = tuple(literals)
            return True
        return False

    def _needs(self, number: int) -> tuple[tuple[str, ...], ...]:
        """Lists of literals of which one must be in a line, beyond what its words tell.

        Worked out where a line asks for it: an issue asks for a tenth of them.
        """
        needed = self._matchers[number].needed
        choices = _choices(needed)
        literals = [
            tuple(x.run or x.text for x in anchors)
            for _, anchors in needed.offers
            if not any(anchors is x for x in choices)
            or (len(anchors) <= _FEW and any(x.run not in ("", x.text) for x in anchors))
        ]
        literals.sort(key=len)  # one word fails soonest
        known = self._literals[number] = tuple(literals)
        return known

    def candidates(self, text: str, words: Iterable[str], zone: str) -> list[Matcher]:
        """The matchers of a zone that may match a line, in the order of the policy."""
        try:
            found = reduce(or_, map(self._by_word.__getitem__, words), self._given)
        except KeyError:  # a word that no line before had
            found = reduce(or_, map(self._called_by, words), self._given)
        if not text.isascii():
            for run, places in self._substrings.items():
                if run in text:
                    found |= _bits(places)
        width = len(self._matchers)
        able = found & self._of_zone(zone)
        for part in range(1, _CHOICES):
            able &= found >> part * width
        return self._complete(able, text)

    def _complete(self, able: int, text: str) -> list[Matcher]:
        """Those of the matchers all of whose literals are in a line, in the order of the policy."""
        found = []
        while able:
            number = able.bit_length() - 1
            able ^= self._bits[number]
            needs = self._literals[number]
            for literals in self._needs(number) if needs is None else needs:
                for literal in literals:
                    if literal in text:
                        break
                else:
                    break
            else:
                found.append(self._matchers[number])
        found.reverse()
        return found

    def _of_zone(self, zone: str) -> int:
        bits = self._zones.get(zone)
        if bits is None:
            told = (
                bit for bit, x in zip(self._bits, self._matchers, strict=True) if zone in x.zones
            )
            bits = self._zones[zone] = reduce(or_, told, 0)
        return bits

    def _called_by(self, word: str) -> int:
        """The matchers that a word calls for; kept, as an issue says the same words again."""
        bits = self._by_word.get(word)
        if bits is not None:
            return bits
        places = [*self._words.get(word, ())]
        for length in self._lengths:
            if length > len(word):
                break
            places += self._prefixes.get(word[:length], ())
        for piece, more in self._inner.items():
            if piece in word:
                places += more
        bits = _bits(places)
        if len(self._by_word) < _MOST_WORDS:
            self._by_word[word] = bits
        return bits


def _bits(places: Iterable[int]) -> int:
    """A number with a bit at each place; made of those alone that some line has a word for."""
    return reduce(or_, [1 << place for place in places], 0)


def _pieces(choice: Sequence[str]) -> list[list[str]]:
    """The words in each of some literals; nothing where one of them has none."""
    parts = [words_of(literal) for literal in choice]
    return parts if all(parts) else []


def is_tried_on_every_line(pattern: str) -> bool:
    """Whether neither a word nor a piece of one is in all that a pattern matches."""
    needed = needed_words(pattern)
    literals = ([x.run or x.text for x in anchors] for _, anchors in needed.offers)
    return not needed.anchors and not any(map(_pieces, literals))


def _choices(needed: Needed) -> list[Sequence[Anchor]]:
    """The lists of words that a matcher is looked up by; only the first may hold other pieces."""
    offers = needed.offers
    if len(offers) < 2:
        return [needed.anchors]
    more = [
        anchors
        for _, anchors in offers
        if anchors is not needed.anchors and all(x.kind in ("word", "prefix") for x in anchors)
    ]
    return [needed.anchors, *more[: _CHOICES - 1]]
