"""Which concepts a line may have, at a glance: too many at times, too few never.

Few lines say what a policy listens for. The words of a line, taken one by one and wherever they
are, tell which ones may; those alone are read word by word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from operator import itemgetter, or_
from typing import Final, NamedTuple

from ciops.triage.needed_words import WORD

EVERYTHING: Final = -1
"""What a line may have that cannot be told at a glance."""
_LONGEST_LINK: Final = 400
_MOST_KNOWN: Final = 20_000
_NUMBERED: Final = re.compile(r"v?(\d+)")
_NEGATED: Final = 1
"""The bit of a negator, which is the first of all concepts."""
_Row = tuple[tuple[str, ...], int]
_Places = dict[str, list[int]]


class WordTables(NamedTuple):
    """The concepts of words, of stems (without their `*`), and of rows by their first word."""

    words: Mapping[str, int]
    stems: Mapping[str, int]
    rows: Mapping[str, Mapping[tuple[str, ...], int]]


class ConceptHints:
    """The concepts that words may have, by themselves or with others."""

    __slots__ = (
        "_all", "_concepts", "_figures", "_known", "_pieces", "_row_bits", "_rows", "_shift",
        "_turning", "_turns",
    )  # fmt: skip

    def __init__(
        self,
        concepts: Callable[[str], int],
        tables: WordTables,
        turns: Sequence[tuple[int, int]],
        figures: int,
    ) -> None:
        """`concepts` are those of one word, `turns` their opposites, `figures` those of numbers."""
        rows = list(_plain_rows(tables))
        self._row_bits = [bits for _, bits in rows]
        self._rows = reduce(or_, self._row_bits, 0)
        every = (
            *tables.words.values(),
            *tables.stems.values(),
            *(b for pair in turns for b in pair),
        )
        self._shift = reduce(or_, every, self._rows | figures | _NEGATED).bit_length()
        self._all = (1 << self._shift) - 1
        self._pieces = _by_piece(rows, self._shift)
        self._concepts = concepts
        self._figures = figures
        self._turns = turns
        self._turning = reduce(or_, (concept for concept, _ in turns), 0)
        self._known: dict[str, int] = {}

    def may_have(self, folded: str, words: Iterable[str]) -> int:
        """The concepts that a text in lower case has at most; `words` are its `words_of`.

        What only few lines can say need not be looked for in all: this is quick, `read` is exact.
        """
        if not folded.isascii() or (len(folded) > _LONGEST_LINK and "://" in folded):
            return EVERYTHING
        try:
            told = reduce(or_, map(self._known.__getitem__, words), 0)
        except KeyError:  # a word that no line before had
            told = reduce(or_, map(self._hint, words), 0)
        found = told & self._all
        if told > self._all:
            found |= self._rows_in(told)
        if found & _NEGATED:
            for concept, opposite in self._turns:
                if found & concept:
                    found |= opposite
        return found

    def are_told(self, times: int, concept: int, words: Iterable[str]) -> bool:
        """Whether as many words of a text may have a concept that single words have alone."""
        told = (1 for hint in map(self._hint, words) if hint & concept)
        return sum(islice(told, times)) == times

    def is_of_single_words(self, concepts: int) -> bool:
        """Whether words have some concepts by themselves: not in a row, nor by a negator."""
        return not concepts & (self._turning | self._rows)

    def _rows_in(self, told: int) -> int:
        """The concepts of rows of words of which a text has both words that tell them."""
        count = len(self._row_bits)
        both = (told >> self._shift) & (told >> self._shift + count) & ((1 << count) - 1)
        found = 0
        while both:
            row = both & -both
            both ^= row
            found |= self._row_bits[row.bit_length() - 1]
        return found

    def _hint(self, word: str) -> int:
        """The concepts that a word may have, and above them the rows of words that it tells."""
        found = self._known.get(word)
        if found is not None:
            return found
        found = self._told_by(word)
        if number := _NUMBERED.match(word):  # `8gpus` is a number and a word
            rest = self._told_by(word[number.end() :])
            found |= self._figures | self._told_by(number[1]) | rest
        if len(self._known) < _MOST_KNOWN:
            self._known[word] = found
        return found

    def _told_by(self, word: str) -> int:
        whole, starts = self._pieces
        places = [*whole.get(word, ())]
        for start, more in starts.items():
            if word.startswith(start):
                places += more
        return reduce(or_, [1 << place for place in places], self._concepts(word))


def _plain_rows(tables: WordTables) -> Iterator[_Row]:
    """What `words_of` takes for several words in a row, `isn't` as well; of plain text alone."""
    several = (row for by_parts in tables.rows.values() for row in by_parts.items())
    single = (((word,), bits) for word, bits in tables.words.items() if not word.isalnum())
    begun = (((f"{stem}*",), bits) for stem, bits in tables.stems.items() if not stem.isalnum())
    for parts, bits in (*several, *single, *begun):
        if all(map(str.isascii, parts)):
            yield parts, bits


def _by_piece(rows: Sequence[_Row], shift: int) -> tuple[_Places, _Places]:
    """By words that are in them, or start one, the bits of the rows that they tell.

    Each row has a bit above `shift` for its longest word, and one for its second longest.
    """
    whole: _Places = {}
    starts: _Places = {}
    for number, (parts, _) in enumerate(rows):
        pieces = []
        for part in parts:
            words = WORD.findall(part)
            begun = words.pop() if words and part[-1] == "*" else None
            pieces += [(len(word), word, whole) for word in words]
            pieces += [(0, begun, starts)] if begun else []
        pieces.sort(key=itemgetter(0), reverse=True)
        first = pieces[0] if pieces else (0, "", starts)
        second = pieces[1] if len(pieces) > 1 else first
        for place, (_, word, named) in enumerate((first, second)):
            named.setdefault(word, []).append(shift + number + place * len(rows))
    return whole, starts
