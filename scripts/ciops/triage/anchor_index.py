"""Which terms and patterns of a policy a line needs, found by the words in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from ciops.triage.patterns import (
    Anchor,
    compiled,
    pattern_anchors,
    term_anchors,
    term_pattern,
    words_of,
)

_NONE: Final[Mapping[str, int]] = {}


class Matcher:
    """One term or pattern of a signal: `owner` is its number, `zones` where it counts."""

    __slots__ = ("_regex", "case_sensitive", "owner", "source", "zones")

    def __init__(
        self, owner: int, source: str, case_sensitive: bool, zones: frozenset[str]
    ) -> None:
        self.owner = owner
        self.source = source
        self.case_sensitive = case_sensitive
        self.zones = zones
        self._regex: re.Pattern[str] | None = None

    @property
    def regex(self) -> re.Pattern[str]:
        """Compiled when first needed: an issue needs a tenth of a policy."""
        if self._regex is None:
            self._regex = compiled(self.source, self.case_sensitive)
        return self._regex


class AnchorIndex:
    """Which terms and patterns a line needs, by the words in it."""

    __slots__ = ("_common", "_lengths", "_matchers", "always", "prefixes", "substrings", "words")

    def __init__(self, common: Mapping[str, int] = _NONE) -> None:
        self._common = common
        self._matchers: list[Matcher] = []
        self.words: dict[str, list[int]] = {}
        self.prefixes: dict[str, list[int]] = {}
        self._lengths: list[int] = []
        self.substrings: list[tuple[str, int]] = []
        self.always: list[int] = []

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
            matcher = Matcher(owner, term_pattern(term), case_sensitive, zones)
            self._add(matcher, term_anchors(term, self._common))
        for pattern in patterns:
            matcher = Matcher(owner, pattern, case_sensitive, zones)
            self._add(matcher, pattern_anchors(pattern))

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
        return [matchers[number] for number in sorted(set(found)) if zone in matchers[number].zones]
