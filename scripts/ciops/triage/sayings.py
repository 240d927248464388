"""Sayings: what a sentence says, whatever its words are, as concepts in a row.

`value .. differs` is a word of the concept `value` and, at most five words later in the same
sentence, one of `differs`. A slot may offer several concepts (`keeps|holds`); a blank between two
slots leaves room for two words of its clause, `+` for none, `~` for the rest of the clause, `..`
for five words of the sentence, `...` for the rest of it. What a concept is in words, the policy's
lexicon says. Linear: the words of a line are walked once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache, reduce
from itertools import islice
from operator import or_
from typing import Final, NamedTuple

from ciops.triage.concept_hints import EVERYTHING
from ciops.triage.lexicon import Lexicon, Token, sentences_of
from ciops.triage.patterns import words_of

_ROOM: Final = {"+": 0, "": 2, "~": -16, "..": 5, "...": 16}
"""How many words may lie between; of the same clause where it is negative or at most two."""
_MOST_FOUND: Final = 6


class Saying(NamedTuple):
    """`owner` is the number of its signal; `room` is how many words may lie before each slot.

    `without` are concepts that must not be in the clauses that it goes through.
    """

    owner: int
    slots: tuple[int, ...]
    room: tuple[int, ...]
    without: int
    zones: frozenset[str]


class Found(NamedTuple):
    """A signal's saying in a line, at text[start:end]."""

    owner: int
    start: int
    end: int


_Said = tuple[int, int, tuple[tuple[int, int], ...]]
"""The number of a saying, its owner, and where it is in a sentence."""


class SayingIndex:
    """The sayings of a policy, found by the concepts that each needs."""

    __slots__ = ("_by_bit", "_by_zone", "_counted", "_sayings", "lexicon")

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._sayings: list[Saying] = []
        self._by_bit: dict[int, list[int]] = {}
        self._counted: dict[int, tuple[int, int]] = {}
        self._by_zone: dict[str, dict[int, list[int]]] = {}

    def add(
        self, owner: int, sayings: Iterable[str], without: Iterable[str], zones: frozenset[str]
    ) -> None:
        """Register a signal's sayings; KeyError names a concept that is not defined."""
        self._by_zone.clear()
        unwanted = self.lexicon.bits(without)
        for text in sayings:
            slots, room = _slots(text, self.lexicon)
            for bit in _bits_of(slots[-1]):
                self._by_bit.setdefault(bit, []).append(len(self._sayings))
            slot = max(slots, key=slots.count)
            if slots.count(slot) > 1:
                self._counted[len(self._sayings)] = (slot, slots.count(slot))
            self._sayings.append(Saying(owner, slots, room, unwanted, zones))

    def find(
        self,
        folded: str,
        zone: str,
        spent: Set[int] = frozenset(),
        words: Sequence[str] | None = None,
    ) -> list[Found]:
        """Where the sayings are in a line in lower case; those of `spent` owners are left out.

        `words` are its `words_of`, where they are known.
        """
        by_bit = self._in_zone(zone)
        if not by_bit:
            return []
        bounds = sentences_of(folded)
        told = words_of(folded) if words is None else words
        if len(bounds) > 1 and not self._may_say(folded, told, by_bit):
            return []
        said: dict[int, list[Found]] = {}
        for start, end in bounds:
            for number, owner, places in _said(self, folded[start:end], zone):
                if owner not in spent:
                    found = [Found(owner, start + first, start + last) for first, last in places]
                    said[number] = said.get(number, []) + found
        return [x for number in sorted(said) for x in said[number][:_MOST_FOUND]]

    def said_in(self, sentence: str, zone: str) -> Iterator[_Said]:
        """The sayings in one sentence in lower case, each with its number and its places."""
        by_bit = self._in_zone(zone)
        if not self._may_say(sentence, words_of(sentence), by_bit):
            return
        tokens = self.lexicon.read(sentence)
        for number in self._candidates(tokens, by_bit):
            saying = self._sayings[number]
            if places := tuple(islice(_places(saying, tokens), _MOST_FOUND)):
                yield number, saying.owner, places

    def _may_say(self, folded: str, words: Sequence[str], by_bit: dict[int, list[int]]) -> bool:
        """Whether the words of a line have what some saying needs, wherever they are."""
        may_have = self.lexicon.hints.may_have(folded, words)
        if may_have == EVERYTHING:
            return True
        sayings = self._sayings
        for bit, numbers in by_bit.items():
            if not may_have & bit:
                continue
            for number in numbers:
                for slot in sayings[number].slots:
                    if not may_have & slot:
                        break
                else:
                    if self._are_enough(number, words):
                        return True
        return False

    def _are_enough(self, number: int, words: Sequence[str]) -> bool:
        """Whether a line has as many words for a slot as there are such slots in a saying."""
        slot, count = self._counted.get(number, (0, 0))
        hints = self.lexicon.hints
        if not count or not hints.is_of_single_words(slot):
            return True
        return hints.count(slot, words) >= count

    def _in_zone(self, zone: str) -> dict[int, list[int]]:
        """By each concept, the sayings that end in it and count in a zone."""
        known = self._by_zone.get(zone)
        if known is None:
            pairs = (
                (bit, [number for number in numbers if zone in self._sayings[number].zones])
                for bit, numbers in self._by_bit.items()
            )
            known = self._by_zone[zone] = {bit: numbers for bit, numbers in pairs if numbers}
        return known

    def _candidates(self, tokens: Sequence[Token], by_bit: dict[int, list[int]]) -> set[int]:
        """The sayings for each of whose slots some sentence of a text has a word."""
        sayings = self._sayings
        found: set[int] = set()
        for sentence in _by_sentence(tokens):
            for bit in _bits_of(sentence):
                for number in by_bit.get(bit, ()):
                    for slot in sayings[number].slots:
                        if not sentence & slot:
                            break
                    else:
                        found.add(number)
        return found


def concepts_of(text: str) -> list[str]:
    """The concepts that a saying names."""
    return [name for slot in text.split() if slot not in _ROOM for name in slot.split("|")]


def _slots(text: str, lexicon: Lexicon) -> tuple[tuple[int, ...], tuple[int, ...]]:
    slots, room, gap = [], [], ""
    for part in text.split():
        if part in _ROOM:
            gap = part
            continue
        slots.append(lexicon.bits(part.split("|")))
        room.append(_ROOM[gap])
        gap = ""
    return tuple(slots), tuple(room)


def _bits_of(mask: int) -> Iterator[int]:
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit


def _by_sentence(tokens: Sequence[Token]) -> Iterable[int]:
    """The concepts of each sentence of a text."""
    found: dict[int, int] = {}
    for token in tokens:
        found[token.sentence] = found.get(token.sentence, 0) | token.concepts
    return found.values()


@lru_cache(maxsize=2048)
def _said(index: SayingIndex, sentence: str, zone: str) -> tuple[_Said, ...]:
    """Kept for a while: people quote and repeat each other, and counterfactuals read again."""
    return tuple(index.said_in(sentence, zone))


def _places(saying: Saying, tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Where the slots are filled in order, with the nearest words before the last."""
    slots, room = saying.slots, saying.room
    last = len(slots) - 1
    reached: list[tuple[Token, Token] | None] = [None] * (last + 1)
    clauses = _by_clause(tokens) if saying.without else {}
    wanted = reduce(or_, slots)
    for token in tokens:
        concepts = token.concepts
        if not concepts & wanted:
            continue
        for at in range(last, -1, -1):
            if not concepts & slots[at]:
                continue
            first = token if at == 0 else _first(reached[at - 1], token, room[at])
            if first is not None:
                reached[at] = (first, token)
        done = reached[last]
        if done is None:
            continue
        reached[last] = None
        if not _is_spoilt(saying.without, clauses, *done):
            yield done[0].start, done[1].end


def _first(before: tuple[Token, Token] | None, token: Token, room: int) -> Token | None:
    """The first word of a saying that goes on with a word, or None where it is too far away."""
    if before is None or before[1].sentence != token.sentence:
        return None
    if room <= _ROOM[""] and before[1].clause != token.clause:
        return None
    apart = token.first - before[1].last - 1
    return before[0] if 0 <= apart <= abs(room) else None


def _by_clause(tokens: Sequence[Token]) -> dict[int, int]:
    """The concepts of each clause of a text."""
    found: dict[int, int] = {}
    for token in tokens:
        found[token.clause] = found.get(token.clause, 0) | token.concepts
    return found


def _is_spoilt(without: int, clauses: dict[int, int], first: Token, last: Token) -> bool:
    """Whether the clauses that a saying goes through have what it must be without."""
    through = range(first.clause, last.clause + 1)
    return without != 0 and any(clauses.get(clause, 0) & without for clause in through)
