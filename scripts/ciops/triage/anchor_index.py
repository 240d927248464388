"""Which terms and patterns of a policy a line needs, found by the words in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ciops.triage.needed_words import Needed, needed_words
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


class Matcher:
    """One term or pattern of a signal: `owner` is its number, `zones` where it counts.

    `needed` is what must be in the line. Where `folded`, the expression is for a text in lower
    case: that is faster than one that minds no case.
    """

    __slots__ = ("case_sensitive", "folded", "needed", "owner", "regex", "source", "zones")

    def __init__(
        self,
        owner: int,
        source: str,
        case_sensitive: bool,
        zones: frozenset[str],
        needed: Needed,
    ) -> None:
        self.owner = owner
        self.source = source
        self.case_sensitive = case_sensitive
        self.zones = zones
        self.needed = needed
        self.folded = False
        self.regex: re.Pattern[str] | None = None

    def compile(self) -> re.Pattern[str]:
        """Compile it, when it is first needed: an issue needs a tenth of a policy."""
        source = None if self.case_sensitive else folded_source(self.source)
        self.folded = source is not None
        self.regex = compiled(source or self.source, self.case_sensitive or self.folded)
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

    __slots__ = (
        "_known", "_lengths", "_matchers", "_needs", "_pending", "always", "prefixes",
        "substrings", "words",
    )  # fmt: skip

    def __init__(self) -> None:
        self._pending: list[_Entry] = []
        self._matchers: list[Matcher] = []
        self._needs: dict[int, tuple[tuple[str, ...], ...]] = {}
        self.words: dict[str, list[int]] = {}
        self.prefixes: dict[str, list[int]] = {}
        self._lengths: list[int] = []
        self.substrings: list[tuple[str, int]] = []
        self.always: list[int] = []
        self._known: dict[str, dict[str, tuple[int, ...]]] = {}

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
        self._pending.append(_Entry(owner, tuple(terms), tuple(patterns), case_sensitive, zones))

    def _build(self) -> None:
        """Work out what all that was registered needs."""
        entries, self._pending = self._pending, []
        self._known.clear()
        words = (word for entry in entries for term in entry.terms for word in words_of(term))
        common = Counter(words)
        worn = frozenset(word for word, count in common.items() if count >= _WORN)
        for owner, terms, patterns, case_sensitive, zones in entries:
            for term in terms:
                needed = needed_by_term(term, common)
                self._add(Matcher(owner, term_pattern(term), case_sensitive, zones, needed))
            for pattern in patterns:
                needed = needed_words(pattern, worn)
                self._add(Matcher(owner, pattern, case_sensitive, zones, needed))

    def _add(self, matcher: Matcher) -> None:
        number = len(self._matchers)
        self._matchers.append(matcher)
        anchors = matcher.needed.anchors
        if not anchors:
            self.always.append(number)
        for anchor in anchors:
            if anchor.kind == "word":
                self.words.setdefault(anchor.text, []).append(number)
            elif anchor.kind == "prefix":
                self.prefixes.setdefault(anchor.text, []).append(number)
                if len(anchor.text) not in self._lengths:
                    self._lengths = sorted((*self._lengths, len(anchor.text)))
            else:
                self.substrings.append((anchor.text, number))

    def candidates(self, text: str, zone: str) -> list[Matcher]:
        """The matchers that may match a line of a zone, in the order of the policy."""
        if self._pending:
            self._build()
        lowered = text.lower()
        known = self._known.get(zone)
        if known is None:
            known = self._known[zone] = {"": self._counting(self.always, zone)}
        found = set(known[""])
        for word in words_of(lowered):
            numbers = known.get(word)
            found.update(self._learn(word, zone) if numbers is None else numbers)
        if not lowered.isascii():
            runs = [number for run, number in self.substrings if run in lowered]
            found.update(self._counting(runs, zone))
        return [self._matchers[number] for number in sorted(self._complete(found, lowered))]

    def _complete(self, numbers: Iterable[int], lowered: str) -> Iterator[int]:
        """Those of the matchers all of whose words are in a line, not their anchors alone."""
        needs = self._needs
        for number in numbers:
            literals = needs.get(number)
            if literals is None:
                lists = self._matchers[number].needed.literals
                literals = needs[number] = tuple(sorted(lists, key=len))  # one word fails soonest
            for words in literals:
                for word in words:
                    if word in lowered:
                        break
                else:
                    break
            else:
                yield number

    def _learn(self, word: str, zone: str) -> tuple[int, ...]:
        """Keep which matchers a word calls for: an issue says the same words again and again."""
        found = list(self.words.get(word, ()))
        for length in self._lengths:
            if length > len(word):
                break
            found += self.prefixes.get(word[:length], ())
        known = self._known[zone]
        if len(known) < _MOST_WORDS:
            known[word] = self._counting(found, zone)
            return known[word]
        return self._counting(found, zone)

    def _counting(self, numbers: Iterable[int], zone: str) -> tuple[int, ...]:
        """Those of the matchers that count in a zone."""
        matchers = self._matchers
        return tuple(number for number in numbers if zone in matchers[number].zones)
