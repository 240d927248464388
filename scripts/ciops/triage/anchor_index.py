"""Which terms and patterns of a policy a line needs, found by the words in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from ciops.triage.patterns import (
    Anchor,
    compiled,
    folded_source,
    needed_anchors,
    term_anchors,
    term_pattern,
    words_of,
)

_NONE: Final[Mapping[str, int]] = {}
_SHORT: Final = 8
"""Terms up to this length are found as fast by their pattern as by their letters."""


class Matcher:
    """One term or pattern of a signal: `owner` is its number, `zones` where it counts.

    `needs` are lists of words of which one must be in the line. Where `folded`, the expression is
    for a text in lower case: that is faster than one that minds no case.
    """

    __slots__ = ("case_sensitive", "folded", "needs", "owner", "regex", "source", "zones")

    def __init__(
        self,
        owner: int,
        source: str,
        case_sensitive: bool,
        zones: frozenset[str],
        needs: tuple[tuple[str, ...], ...] = (),
    ) -> None:
        self.owner = owner
        self.source = source
        self.case_sensitive = case_sensitive
        self.zones = zones
        self.needs = needs
        self.folded = False
        self.regex: re.Pattern[str] | None = None

    def may_be_in(self, lowered: str) -> bool:
        """Whether a line, in lower case, has the words that it needs besides its anchor."""
        for words in self.needs:
            for word in words:
                if word in lowered:
                    break
            else:
                return False
        return True

    def compile(self) -> re.Pattern[str]:
        """Compile it, when it is first needed: an issue needs a tenth of a policy."""
        source = None if self.case_sensitive else folded_source(self.source)
        self.folded = source is not None
        self.regex = compiled(source or self.source, self.case_sensitive or self.folded)
        return self.regex


class AnchorIndex:
    """Which terms and patterns a line needs, by the words in it."""

    __slots__ = (
        "_common", "_in_zone", "_lengths", "_matchers", "always", "prefixes", "substrings", "words"
    )  # fmt: skip

    def __init__(self, common: Mapping[str, int] = _NONE) -> None:
        self._common = common
        self._matchers: list[Matcher] = []
        self.words: dict[str, list[int]] = {}
        self.prefixes: dict[str, list[int]] = {}
        self._lengths: list[int] = []
        self.substrings: list[tuple[str, int]] = []
        self.always: list[int] = []
        self._in_zone: dict[str, frozenset[int]] = {}

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
        for term in terms:
            anchors = term_anchors(term, self._common)
            literal = term.lower().replace("*", " ").split()
            needs: tuple[tuple[str, ...], ...] = ()
            if len(term) > _SHORT:
                needs = ((max(literal, key=len),),)
            self._add(Matcher(owner, term_pattern(term), case_sensitive, zones, needs), anchors)
        for pattern in patterns:
            anchors, needs = needed_anchors(pattern)
            self._add(Matcher(owner, pattern, case_sensitive, zones, needs), anchors)

    def _add(self, matcher: Matcher, anchors: Iterable[Anchor]) -> None:
        number = len(self._matchers)
        self._matchers.append(matcher)
        anchors = tuple(anchors)
        if not anchors:
            self.always.append(number)
        for anchor in anchors:
            if anchor.kind == "word":
                self.words.setdefault(anchor.text, []).append(number)
            elif anchor.kind == "prefix":
                self.prefixes.setdefault(anchor.text, []).append(number)
                self._lengths = sorted({*self._lengths, len(anchor.text)})
            else:
                self.substrings.append((anchor.text, number))

    def candidates(self, text: str, zone: str) -> list[Matcher]:
        """The matchers that may match a line of a zone, in the order of the policy."""
        lowered = text.lower()
        found = list(self.always)
        words, prefixes, lengths = self.words, self.prefixes, self._lengths
        for word in words_of(lowered):
            if word in words:
                found += words[word]
            for length in lengths:
                if length > len(word):
                    break
                if (start := word[:length]) in prefixes:
                    found += prefixes[start]
        if not lowered.isascii():
            found += [number for run, number in self.substrings if run in lowered]
        matchers = self._matchers
        numbers = sorted(self._numbers(zone).intersection(found))
        chosen = (matchers[number] for number in numbers)
        return [x for x in chosen if not x.needs or x.may_be_in(lowered)]

    def _numbers(self, zone: str) -> frozenset[int]:
        """The numbers of the matchers that count in a zone."""
        if zone not in self._in_zone:
            self._in_zone[zone] = frozenset(
                number for number, matcher in enumerate(self._matchers) if zone in matcher.zones
            )
        return self._in_zone[zone]
