"""Versions of the product in an issue: which ones worked, which fail, which one is reported.

Each sentence is read as clauses; a version takes the outcome that its clause tells, or that of the
clause beside it (`2.4, 2.5 and 2.6 are fine, 2.7 hangs`). What words tell an outcome, the policy's
language says under the concepts named here; a policy without them compares no versions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from itertools import groupby
from operator import attrgetter, or_
from typing import Final, NamedTuple

from ciops.triage.issue_text import Line, Reading
from ciops.triage.lexicon import NEGATOR, NUMBER, Token, sentences_of
from ciops.triage.patterns import fold, words_of
from ciops.triage.reading_rules import SPOKEN
from ciops.triage.version_numbers import (
    ANY_VERSION,
    NEWEST,
    OLDER,
    Version,
    is_dated,
    may_name_a_version,
    opens_a_clause,
    plain_dates,
    precedes,
    version_in,
)
from ciops.triage.version_trials import Basis, Trial
from ciops.triage.version_words import VersionWords

_ASKED: Final = re.compile(r"[^.!?\n]{0,120}[?？]")
_QUALIFIED: Final = 2
_FAR: Final = -99
_BEFORE: Final = ("introduces", "since", "back", "than", "within", "product", NUMBER)
_MOST: Final = 60
_MOST_KEPT: Final = 512


class _Said(NamedTuple):
    """A line in lower case, and where a sentence of it starts."""

    text: str
    start: int


@dataclass(slots=True)
class _Clause:
    tokens: list[Token]
    versions: list[tuple[Version, Token]] = field(default_factory=list)
    said: int = 0
    outcome: bool | None = None


def trials_of(reading: Reading, words: VersionWords) -> list[Trial]:
    """Every version that somebody speaks of, with what is said of it."""
    found: list[Trial] = []
    for line in reading.lines:
        if line.zone in SPOKEN:
            sentences = _sentences(line, words)
            for clauses in sentences:
                found.extend(_trials_in(clauses, line, words))
                found.extend(_compared(clauses, line, words))
            found.extend(_measured(sentences, line, words))
            if len(found) >= _MOST:
                break
    return found[:_MOST]


def _measured(
    sentences: Sequence[list[_Clause]], line: Line, words: VersionWords
) -> Iterator[Trial]:
    """`2.6: 4 s. 2.7: 35 s.`: sentences that each measure a version."""
    measures = (any(words.has(x.said, "unit") for x in clauses) for clauses in sentences)
    if len(sentences) > 1 and all(measures):
        yield from _compared([x for clauses in sentences for x in clauses], line, words)


def _compared(clauses: Sequence[_Clause], line: Line, words: VersionWords) -> Iterator[Trial]:
    """Of versions that are measured, or set against each other, the later is complained of."""
    told = [version for clause in clauses for version, _ in clause.versions]
    said = reduce(or_, (clause.said for clause in clauses), 0)
    settled = any(_is_settled(clause, max(told)) for clause in clauses if clause.versions)
    if len(set(told)) < 2 or settled or not words.has(said, "unit", "than"):
        return
    if words.has(said, "than") or not words.has(said, "alike"):
        yield from (Trial(version, version != max(told), True, line) for version in told)


def _is_settled(clause: _Clause, newest: Version) -> bool:
    """Whether it is said that a version works, or that one before the newest fails."""
    earlier = all(version != newest for version, _ in clause.versions)
    return clause.outcome is True or (clause.outcome is False and earlier)


def _sentences(line: Line, words: VersionWords) -> Sequence[list[_Clause]]:
    """The clauses of each sentence that names a version."""
    text = plain_dates(fold(line.text))
    return _told(text, line.zone == "title", words) if _may_tell(text, words) else ()


@lru_cache(maxsize=_MOST_KEPT)
def _told(text: str, is_title: bool, words: VersionWords) -> Sequence[list[_Clause]]:
    """Kept for a while, as counterfactuals read the same lines again."""
    found = []
    for start, end in sentences_of(text):
        if end - start < len(text) and not _may_tell(text[start:end], words):
            continue
        tokens = words.lexicon.read(text[start:end])
        for _, part in groupby(tokens, key=attrgetter("sentence")):
            sentence = list(part)
            if not is_title and _ASKED.match(text, start + sentence[-1].end):
                continue
            clauses = _clauses(sentence)
            _fill(clauses, _Said(text, start), words)
            if any(clause.versions for clause in clauses):
                _settle(clauses, words)
                found.append(clauses)
    return found


def _may_tell(text: str, words: VersionWords) -> bool:
    """Whether a line, or a sentence, has a number that may be a version, or a word for one."""
    if may_name_a_version(text, words.shape):
        return True
    told = words.lexicon.hints.may_have(text, words_of(text))
    if words.has(told, "older", "newest"):
        return True
    return words.has(told, "product") and may_name_a_version(text, ANY_VERSION)


def _clauses(sentence: Sequence[Token]) -> list[_Clause]:
    return [_Clause(list(part)) for _, part in groupby(sentence, key=attrgetter("clause"))]


def _fill(clauses: Sequence[_Clause], said: _Said, words: VersionWords) -> None:
    """Put into each clause of a sentence the versions of the product that it names.

    A version is another product's if that is named just before it, or if such a one came first.
    """
    foreign, others, before = _FAR, False, None
    for clause in clauses:
        for token in clause.tokens:
            clause.said |= token.concepts
            if words.has(token.concepts, "other_product"):
                foreign = token.last
            elif words.has(token.concepts, "product"):
                foreign, others = _FAR, False
            version = _version_at(token, before, said, words)
            before = token
            if version is None:
                continue
            if token.first - foreign <= _QUALIFIED:
                others = not any(x.versions for x in clauses)
            elif not others:
                clause.versions.append((version, token))
        if any(is_dated(version) for version, _ in clause.versions):
            clause.versions = [pair for pair in clause.versions if pair[0] != NEWEST]


def _version_at(
    token: Token, before: Token | None, said: _Said, words: VersionWords
) -> Version | None:
    if words.has(token.concepts, NUMBER):
        start, end = said.start + token.start, said.start + token.end
        shape = ANY_VERSION if _is_the_products(token, before, words) else words.shape
        version = version_in(said.text, start, end, shape)
        return version if _is_introduced(token, before, said, words) else None
    if words.has(token.concepts, "older"):
        return OLDER
    return NEWEST if words.has(token.concepts, "newest") else None


def _is_the_products(token: Token, before: Token | None, words: VersionWords) -> bool:
    """Whether a number stands right after the product's own name."""
    if before is None or token.first - before.last != 1:
        return False
    return words.has(before.concepts, "product")


def _is_introduced(token: Token, before: Token | None, said: _Said, words: VersionWords) -> bool:
    """Whether a number stands as a version does: after `in`, `torch`, `since`, or by itself."""
    if opens_a_clause(said.text, said.start + token.start):
        return True
    near = before is not None and token.first - before.last == 1
    return near and before is not None and words.has(before.concepts, *_BEFORE)


def _settle(clauses: Sequence[_Clause], words: VersionWords) -> None:
    """Give each clause its outcome: its own, the next one's, or that of the one before."""
    own = [_own_outcome(clause, words) for clause in clauses]
    for at, clause in enumerate(clauses):
        clause.outcome = own[at]
        if clause.outcome is None and clause.versions:
            before = clauses[at - 1].outcome if at else None
            after = _next_told(clauses, own, at, words)
            clause.outcome = _from_beside(clause, before, after, words)
            if after is False and _is_alike(clauses[at + 1], words):
                clause.said |= words.bits["too"]
        if at and clauses[at - 1].outcome and words.has(clause.said, "since"):
            clause.said |= words.bits["arrived"]
        if at:
            _set_against(clauses[at - 1], clause, words)
    if len({version for clause in clauses for version, _ in clause.versions}) == 1:
        _settle_the_only_one(clauses, False in own, words)


def _settle_the_only_one(clauses: Sequence[_Clause], failed: bool, words: VersionWords) -> None:
    """`With 2.9 it ran for a day and then hung`: one version that worked until it failed."""
    then = any(words.has(clause.said, "then") for clause in clauses)
    for clause in clauses:
        once = clause.outcome and words.has(clause.said, "past") and not then
        if failed and clause.versions and not once:
            clause.outcome = False


def _next_told(
    clauses: Sequence[_Clause], own: Sequence[bool | None], at: int, words: VersionWords
) -> bool | None:
    """The outcome that follows a list of versions, where no version has it for itself."""
    listed = _is_bare(clauses[at], words)
    for later in range(at + 1, len(clauses)):
        clause = clauses[later]
        if own[later] is not None:
            return own[later] if not clause.versions or (listed and _opens(clause)) else None
        listed = listed and _is_bare(clause, words)
    return None


def _opens(clause: _Clause) -> bool:
    """Whether a version is the first that a clause names, as in a list."""
    return clause.versions[0][1].first - clause.tokens[0].first <= 1


def _is_bare(clause: _Clause, words: VersionWords) -> bool:
    """Whether a clause says nothing but versions, in or not in them."""
    named = {token for _, token in clause.versions}
    return all(
        token in named or words.has(token.concepts, "within", "introduces", "alike", NEGATOR)
        for token in clause.tokens
    )


def _from_beside(
    clause: _Clause, before: bool | None, after: bool | None, words: VersionWords
) -> bool | None:
    if after is not None:
        return after
    if before is not None and words.has(clause.said, NEGATOR):
        return not before
    if words.has(clause.said, "only"):
        return False
    if words.has(clause.said, "back"):
        return True
    return before if _is_bare(clause, words) else None


def _set_against(first: _Clause, second: _Clause, words: VersionWords) -> None:
    """`X happens on 2.9, not on 2.8`, `works on 2.8, on 2.9 I get X`: the other one is told."""
    if not (first.versions and second.versions):
        return
    if first.outcome is None and second.outcome is None:
        if _is_bare(second, words) and words.has(second.said, NEGATOR):
            first.outcome, second.outcome = False, True
        return
    later = precedes(first.versions[0][0], second.versions[0][0])
    if first.outcome and second.outcome is None and later:
        second.outcome = False


def _own_outcome(clause: _Clause, words: VersionWords) -> bool | None:
    """What a clause says; where it says both, what stands nearest to its version."""
    told = [
        (abs(token.first - clause.versions[-1][1].first) if clause.versions else 0, token)
        for token in clause.tokens
        if words.has(token.concepts, "works", "fails", "alike")
    ]
    if not told:
        return None
    _, nearest = min(told, key=lambda item: item[0])
    return words.has(nearest.concepts, "works")


def _trials_in(clauses: Sequence[_Clause], line: Line, words: VersionWords) -> Iterator[Trial]:
    said = reduce(or_, (clause.said for clause in clauses), 0)
    certain = words.has(said, "past", "older", "back") and not words.has(said, "mended")
    for clause in clauses:
        for version, token in clause.versions:
            if version == NEWEST and words.has(clause.said, "other_product"):
                continue
            if _began(clause, token, words):
                yield Trial(version, False, True, line, "follows")
                yield Trial(OLDER, True, True, line, "follows")
            elif clause.outcome and _is_since(clause, token, words):
                continue
            elif clause.outcome is None:
                yield Trial(version, _was_once(clause, token, words), True, line)
            else:
                basis: Basis = "alike" if _is_alike(clause, words) else "told"
                yield Trial(version, clause.outcome, certain, line, basis)


def _is_alike(clause: _Clause, words: VersionWords) -> bool:
    """`2.4 has it too`, `the same error`; the same command alone says nothing."""
    failing = words.has(clause.said, "alike") and words.has(clause.said, "fails")
    return failing or words.has(clause.said, "too")


def _began(clause: _Clause, version: Token, words: VersionWords) -> bool:
    """Whether something is so since a version: `since 2.7`, `2.7 and later`, `2.7 broke it`."""
    if clause.outcome or words.has(clause.said, "arrived", "alike"):
        return False
    if words.has(clause.said, "only") and not words.has(clause.said, "tried"):
        return True
    if _is_since(clause, version, words):
        return True
    return any(
        words.has(token.concepts, "onwards", "broke") and -3 <= version.first - token.last < 0
        for token in clause.tokens
    )


def _is_since(clause: _Clause, version: Token, words: VersionWords) -> bool:
    return any(
        words.has(token.concepts, "since") and 0 < version.first - token.last <= 5
        for token in clause.tokens
    ) or any(
        words.has(token.concepts, "onwards") and token.first - version.last == 1
        for token in clause.tokens
    )


def _was_once(clause: _Clause, version: Token, words: VersionWords) -> bool | None:
    """`In 2.3 it took a second`, `we rolled back to 2.3`: told as how it was."""
    if words.has(clause.said, "back"):
        return True
    before = (x for x in clause.tokens if 0 < version.first - x.last <= 2)
    told = words.has(clause.said, "past", "older")
    return True if told and any(words.has(x.concepts, "within") for x in before) else None
