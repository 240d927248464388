"""Sayings: what a sentence says, whatever its words are, as concepts in a row.

`value .. differs` is a word of the concept `value` and, at most five words later in the same
sentence, one of `differs`. A slot may offer several concepts (`keeps|holds`); a blank between two
slots leaves room for two words of its clause, `+` for none, `~` for the rest of the clause, `..`
for five words of the sentence, `...` for the rest of it. What a concept is in words, the policy's
lexicon says. Linear: the words of a line are walked once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
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

    `wanted` are the concepts of all slots; `without` are concepts that must not be in the clauses
    that it goes through. `repeated` is a slot that it has `times`, more than once, or 0: a line
    must have as many words for it.
    """

    number: int
    owner: int
    slots: tuple[int, ...]
    room: tuple[int, ...]
    wanted: int
    without: int
    zones: frozenset[str]
    repeated: int
    times: int


class Found(NamedTuple):
    """A signal's saying in a line, at text[start:end]."""

    owner: int
    start: int
    end: int


_Said = tuple[Saying, tuple[tuple[int, int], ...]]
"""A saying, and where it is in a sentence."""
_InZone = tuple[int, Mapping[int, Sequence[Saying]]]
"""The concepts that the sayings of a zone end in, and those that end in each."""


class SayingIndex:
    """The sayings of a policy, found by the concepts that each needs."""

    __slots__ = ("_by_zone", "_sayings", "lexicon")

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._sayings: list[Saying] = []
        self._by_zone: dict[str, _InZone] = {}

    def add(
        self, owner: int, sayings: Iterable[str], without: Iterable[str], zones: frozenset[str]
    ) -> None:
        """Register a signal's sayings; KeyError names a concept that is not defined."""
        self._by_zone.clear()
        unwanted = self.lexicon.bits(without)
        for text in sayings:
            slots, room = _slots(text, self.lexicon)
            slot = max(slots, key=slots.count)
            repeated = slot if slots.count(slot) > 1 else 0
            self._sayings.append(
                Saying(
                    len(self._sayings), owner, slots, room, reduce(or_, slots), unwanted, zones,
                    repeated, slots.count(slot),
                )
            )  # fmt: skip

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
        if not self._in_zone(zone)[0]:
            return []
        if not self._may_say(folded, words_of(folded) if words is None else words, zone):
            return []
        bounds = sentences_of(folded)
        said: dict[int, list[Found]] = {}
        for start, end in bounds:
            if len(bounds) == 1:
                told = self._said(folded, zone)
            else:
                told = _said_in(self, folded[start:end], zone)
            for saying, places in told:
                if saying.owner not in spent:
                    found = [Found(saying.owner, start + x, start + y) for x, y in places]
                    said[saying.number] = said.get(saying.number, []) + found
        return [x for number in sorted(said) for x in said[number][:_MOST_FOUND]]

    def _may_say(self, folded: str, words: Sequence[str], zone: str) -> bool:
        """Whether the words of a text have what some saying needs, wherever they are."""
        hints = self.lexicon.hints
        may_have = hints.may_have(folded, words)
        if may_have == EVERYTHING:
            return True
        for saying in self._able(may_have, zone):
            slot = saying.repeated
            if not slot or hints.are_told(saying.times, slot, words):
                return True
        return False

    def _able(self, concepts: int, zone: str) -> Iterator[Saying]:
        """The sayings of a zone that have a concept for each slot; some of them twice."""
        ends, by_end = self._in_zone(zone)
        told = concepts & ends
        while told:
            end = told & -told
            told ^= end
            for saying in by_end[end]:
                for slot in saying.slots:
                    if not concepts & slot:
                        break
                else:
                    yield saying

    def _in_zone(self, zone: str) -> _InZone:
        """The sayings that count in a zone, by each concept that they end in."""
        known = self._by_zone.get(zone)
        if known is None:
            by_end: dict[int, list[Saying]] = {}
            single = self.lexicon.hints.is_of_single_words
            for saying in self._sayings:
                if zone in saying.zones:
                    if not single(saying.repeated):  # then words alone do not tell how many
                        saying = saying._replace(repeated=0)
                    for bit in _bits_of(saying.slots[-1]):
                        by_end.setdefault(bit, []).append(saying)
            known = self._by_zone[zone] = (reduce(or_, by_end, 0), by_end)
        return known

    def _said(self, sentence: str, zone: str) -> tuple[_Said, ...]:
        """The sayings in a sentence in lower case, each once, and where."""
        tokens = self.lexicon.read(sentence)
        able = {x.number: x for told in _by_sentence(tokens) for x in self._able(told, zone)}
        found = [
            (saying, tuple(islice(_places(saying, tokens), _MOST_FOUND)))
            for saying in able.values()
        ]
        return tuple(said for said in found if said[1])


@lru_cache(maxsize=2048)
def _said_in(index: SayingIndex, sentence: str, zone: str) -> tuple[_Said, ...]:
    """One of several sentences; kept for a while, as people quote and repeat each other."""
    may_say = index._may_say(sentence, words_of(sentence), zone)
    return index._said(sentence, zone) if may_say else ()


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


def _places(saying: Saying, tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Where the slots are filled in order, with the nearest words before the last."""
    slots, room = saying.slots, saying.room
    last = len(slots) - 1
    reached: list[tuple[Token, Token] | None] = [None] * (last + 1)
    clauses = _by_clause(tokens) if saying.without else {}
    wanted = saying.wanted
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
