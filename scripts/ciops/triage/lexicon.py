"""The words of a sentence as concepts: `gradients` is a value, `isn't the same` differs.

A policy lists words under concepts. A word is literal, a `stem*`, or several words in a row; words
of other scripts are found inside running text. A negator turns a concept into its opposite (`not
equal` differs, `no error` is silence); a word that only qualifies the next (`output size`) is not
what it would be alone. Linear: each word of a line is looked up once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_
from types import MappingProxyType
from typing import Final

from ciops.triage.concept_hints import ConceptHints, WordTables

NEGATOR: Final = "not"
NUMBER: Final = "number"
SEVERAL: Final = "several"
"""A number above one; a policy may add words (`two`, `both`)."""
BUILT_IN: Final = (NEGATOR, NUMBER, SEVERAL)
_SENTENCE_END: Final = re.compile(r"[.!?](?=[\s\"')*_`]|$)")
_LINK: Final = r"https?://\S{1,400}"
_FIGURE: Final = r"(?<![a-z0-9_])v?(-?\d(?:[\d.,]*\d)?)"
_PARTS: Final = (
    r"((?!https?://|(?<![a-z0-9_])v-?\d)"
    r"[a-zà-ÿœ_][a-zà-ÿœ0-9_]*+(?:(?:['’]|\.(?=[a-z_]))[a-zà-ÿœ0-9_]++)*+)",
    _LINK,
    _FIGURE,
    rf"({_SENTENCE_END.pattern}|[。！？])",
    r"([,;:()|，、：；（）]|(?<=\s)[-–—]{1,2}\s)",
)
_WORD_AT, _NUMBER_AT, _SENTENCE_AT, _CLAUSE_AT = range(1, 5)
_NEGATED_WITHIN: Final = 4
_IN_SENTENCE: Final = 3
_MOST_KNOWN: Final = 20_000
_ONE: Final = frozenset(("0", "1", "-1", "1.0", "0.0"))


@dataclass(slots=True, eq=False)
class Token:
    """Words with concepts: where they are, the first and the last of them, sentence and clause.

    Not frozen, which would take twice the time of thousands; nobody changes one that was read.
    """

    start: int
    end: int
    first: int
    last: int
    sentence: int
    clause: int
    concepts: int


_Word = tuple[str, int, int, int, int, int]
"""Text, start, end, sentence, clause and concepts of a word; plain, as there are so many."""
_Row = tuple[tuple[str, ...], int]
_Rows = tuple[dict[str, list[_Row]], tuple[str, ...], list[_Row]]


class Lexicon:
    """Which concepts a word has, as a set of bits."""

    __slots__ = (
        "_bits", "_foreign", "_heads", "_hints", "_joins", "_known", "_labelled", "_labels",
        "_lengths", "_phrases", "_qualifying", "_rows", "_stems", "_turning", "_turns", "_word",
        "_words",
    )  # fmt: skip

    def __init__(
        self,
        concepts: Mapping[str, Iterable[str]],
        opposites: Mapping[str, str],
        heads: Mapping[str, str],
        joins: Iterable[str] = (),
        labels: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`heads`: a word of the first concept right before one of the second only qualifies it.

        `labels`: a word of the first right after one of the second only says which (`rank 3`).

        `joins` are words that begin a clause of their own, which no negator before them reaches.
        """
        names = dict.fromkeys((*BUILT_IN, *concepts))
        self._bits = {name: 1 << at for at, name in enumerate(names)}
        self._words: dict[str, int] = {}
        self._stems: dict[str, int] = {}
        self._rows: dict[str, dict[tuple[str, ...], int]] = {}
        self._foreign: dict[str, int] = {}
        for name, words in concepts.items():
            bit = self._bits[name]
            for given in words:
                word = given.lower()
                if word.isascii() and word.isalnum():  # most are a word and no more
                    self._words[word] = self._words.get(word, 0) | bit
                else:
                    self._add(word.replace("’", "'"), bit)
        self._phrases = {first: _by_second(rows) for first, rows in self._rows.items()}
        self._lengths = sorted({len(stem) for stem in self._stems})
        self._known: dict[str, int] = {}
        self._hints: ConceptHints | None = None
        self._joins = frozenset(joins)
        pairs = [(self._bits[a], self._bits[b]) for a, b in opposites.items()]
        self._turns = (*pairs, *((b, a) for a, b in pairs))
        self._turning = reduce(or_, (a for a, _ in self._turns), 0)
        self._heads = tuple((self._bits[a], self._bits[b]) for a, b in heads.items())
        self._qualifying = reduce(or_, (a for a, _ in self._heads), 0)
        self._labels = tuple((self._bits[a], self._bits[b]) for a, b in labels.items())
        self._labelled = reduce(or_, (a for a, _ in self._labels), 0)
        self._word = _word_pattern(self._foreign)

    def bits(self, names: Iterable[str]) -> int:
        """The bits of some concepts together; KeyError for one that is not defined."""
        return reduce(or_, (self._bits[name] for name in names), 0)

    def bit(self, name: str) -> int:
        """The bit of a concept that a policy may leave out: 0 then."""
        return self._bits.get(name, 0)

    @property
    def hints(self) -> ConceptHints:
        """What a line may say, at a glance; made when the first line is looked at."""
        if self._hints is None:
            tables = WordTables(self._words, self._stems, self._rows)
            figures = self._bits[NUMBER] | self._bits[SEVERAL]
            self._hints = ConceptHints(self._concepts, tables, self._turns, figures)
        return self._hints

    def read(self, folded: str) -> tuple[Token, ...]:
        """The words of a line in lower case that have concepts, in order."""
        return _read(self, folded)

    def _walk(self, folded: str) -> tuple[Token, ...]:
        tokens = self._tokens(self._split(folded.replace("’", "'")))
        tokens = self._headed(tokens) if self._heads or self._labels else tokens
        negators = [token for token in tokens if token.concepts & 1]
        return tuple(self._negated(tokens, negators) if negators else tokens)

    def _add(self, word: str, bit: int) -> None:
        parts = tuple(word.replace("-", " ").split())
        if _WORD_CHARS.match(word) is None:
            self._foreign[word] = self._foreign.get(word, 0) | bit
        elif len(parts) > 1:
            rows = self._rows.setdefault(parts[0], {})
            rows[parts] = rows.get(parts, 0) | bit
        elif word.endswith("*"):
            self._stems[word[:-1]] = self._stems.get(word[:-1], 0) | bit
        else:
            self._words[word] = self._words.get(word, 0) | bit

    def _concepts(self, word: str) -> int:
        known = self._known.get(word)
        if known is not None:
            return known
        found = self._words.get(word, 0)
        for length in self._lengths:
            if length > len(word):
                break
            found |= self._stems.get(word[:length], 0)
        if not found and "." in word:  # `p.grad` is a grad
            found = self._concepts(word.rpartition(".")[2])
        if len(self._known) < _MOST_KNOWN:
            self._known[word] = found
        return found

    def _split(self, folded: str) -> list[_Word]:
        """Every word, with the number of its sentence and of its clause."""
        sentence = clause = 0
        known, joins = self._known, self._joins
        one, more = self._bits[NUMBER], self._bits[NUMBER] | self._bits[SEVERAL]
        words: list[_Word] = []
        pattern = _ASCII_WORD if folded.isascii() else self._word
        for match in pattern.finditer(folded):
            kind = match.lastindex
            if kind == _WORD_AT:
                text = match[1]
                concepts = known.get(text)
                if concepts is None:
                    concepts = self._concepts(text)
                if text in joins:
                    clause += 1
                start, end = match.span(1)
                words.append((text, start, end, sentence, clause, concepts))
            elif kind == _NUMBER_AT:
                concepts = one if match[2] in _ONE else more
                words.append((match[2], *match.span(2), sentence, clause, concepts))
            elif kind == _CLAUSE_AT:
                clause += 1
            elif kind == _SENTENCE_AT:
                sentence += 1
                clause += 1
            elif kind is not None:
                concepts = self._foreign[match[0]]
                words.append(("", *match.span(), sentence, clause, concepts))
        return words

    def _tokens(self, words: Sequence[_Word]) -> list[Token]:
        """The words with concepts; several that have one together are one token."""
        found: list[Token] = []
        past = 0
        phrases = self._phrases
        for at, word in enumerate(words):
            if at < past:
                continue
            text, start, end, sentence, clause, concepts = word
            last = at
            rows = phrases.get(text)
            if rows is not None and _may_go_on(rows, words, at):
                last, concepts = self._phrase(words, at)
                past = last + 1
                end = words[last][2]
            if concepts:
                found.append(Token(start, end, at, last, sentence, clause, concepts))
        return found

    def _phrase(self, words: Sequence[_Word], at: int) -> tuple[int, int]:
        """The last word of the longest phrase that starts at a word, and its concepts."""
        text, *_, concepts = words[at]
        second = words[at + 1][0]
        literal, starts, stems = self._phrases[text]
        rows = literal.get(second, ())
        if second.startswith(starts):
            told = (x for x in stems if second.startswith(x[0][1][:-1]))
            rows = sorted((*rows, *told), key=lambda row: -len(row[0]))
        for parts, bit in rows:
            if _is_row(words[at : at + len(parts)], parts):
                return at + len(parts) - 1, bit
        return at, concepts

    def _headed(self, tokens: list[Token]) -> list[Token]:
        """Without the concepts of words that only qualify the next one, or say which it is."""
        for at in range(len(tokens) - 1):
            token, after = tokens[at], tokens[at + 1]
            labelled = after.concepts & self._labelled
            if not (labelled or token.concepts & self._qualifying):
                continue
            if after.first - token.last > 1 or after.clause != token.clause:
                continue
            for concept, named in self._labels if labelled else ():
                if token.concepts & named:
                    after.concepts &= ~concept
            for concept, head in self._heads:
                if token.concepts & concept and after.concepts & head:
                    token.concepts &= ~concept
        return tokens

    def _negated(self, tokens: list[Token], negators: list[Token]) -> list[Token]:
        """With the opposites of what a negator stands before; its words are theirs then."""
        last = len(negators) - 1
        at = -1
        for place, token in enumerate(tokens):
            while at < last and negators[at + 1].first < token.first:
                at += 1
            if at < 0 or not token.concepts & self._turning:
                continue
            negator = negators[at]
            near = token.first - negator.last <= _NEGATED_WITHIN
            if near and negator.clause == token.clause:
                tokens[place] = Token(
                    negator.start, token.end, token.first, token.last, token.sentence,
                    token.clause, self._turned(token.concepts),
                )  # fmt: skip
        return tokens

    def _turned(self, concepts: int) -> int:
        turned = concepts & ~self._turning
        for concept, opposite in self._turns:
            if concepts & concept:
                turned |= opposite
        return turned


_WORD_CHARS: Final = re.compile(r"[a-zà-ÿœ0-9_' -]+\*?$")


@lru_cache(maxsize=2048)
def _read(lexicon: Lexicon, folded: str) -> tuple[Token, ...]:
    """A line read; kept for a while, as versions and sayings are both looked for in it."""
    return lexicon._walk(folded)


def sentences_of(folded: str) -> list[tuple[int, int]]:
    """Where the sentences of a line start and end, as `read` parts them; all of it is one

    where that takes reading its words: links and names with dots may hold the end of a sentence.
    """
    if not folded.isascii() or "://" in folded or "._" in folded:
        return [(0, len(folded))]
    ends = [match.end() for match in _SENTENCE_END.finditer(folded)]
    if not ends or ends[-1] < len(folded):
        ends.append(len(folded))
    return list(zip([0, *ends], ends, strict=False))


def _by_second(rows: Mapping[tuple[str, ...], int]) -> _Rows:
    """Phrases of one first word, the longest first: by their second word, and those of a stem.

    Between the two are the stems themselves: few words start with one.
    """
    literal: dict[str, list[_Row]] = {}
    stems = []
    for parts, bit in sorted(rows.items(), key=lambda row: -len(row[0])):
        if parts[1].endswith("*"):
            stems.append((parts, bit))
        else:
            literal.setdefault(parts[1], []).append((parts, bit))
    return literal, tuple({parts[1][:-1] for parts, _ in stems}), stems


def _may_go_on(rows: _Rows, words: Sequence[_Word], at: int) -> bool:
    """Whether the word after the first of some phrases is the second of one."""
    if at + 1 == len(words):
        return False
    second = words[at + 1][0]
    return second in rows[0] or second.startswith(rows[1])


def _is_row(words: Sequence[_Word], parts: Sequence[str]) -> bool:
    """Whether words of one sentence are a phrase."""
    if len(words) < len(parts) or words[-1][_IN_SENTENCE] != words[0][_IN_SENTENCE]:
        return False
    return all(map(_fits, words, parts))


def _fits(word: _Word, part: str) -> bool:
    if part[-1] == "*":
        return word[0].startswith(part[:-1])
    return word[0] == part


def _word_pattern(foreign: Iterable[str]) -> re.Pattern[str]:
    runs = sorted(map(re.escape, foreign), key=len, reverse=True)
    last = ["(" + "|".join(runs) + ")"] if runs else []
    return re.compile("|".join((*_PARTS, *last)))


_ASCII_WORD: Final = re.compile(
    rf"[^a-z0-9_.!?,;:()|-]*+(?:{_PARTS[0]} ?|{'|'.join(_PARTS[1:])}|.|$)", re.DOTALL
)
"""For plain text: what is no word is stepped over at once, which takes half the time."""
