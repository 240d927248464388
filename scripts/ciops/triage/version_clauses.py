"""The clauses of a sentence that names versions, and which outcome each of them tells.

A version takes the outcome that its clause tells, or that of the clause beside it
(`2.4, 2.5 and 2.6 are fine, 2.7 hangs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import groupby
from operator import attrgetter, or_
from typing import Final, NamedTuple

from ciops.triage.lexicon import NEGATOR, NUMBER, Token
from ciops.triage.version_numbers import (
    ANY_VERSION,
    NEWEST,
    OLDER,
    Version,
    is_dated,
    opens_a_clause,
    precedes,
    version_in,
)
from ciops.triage.version_passage import passages
from ciops.triage.version_words import VersionWords

_QUALIFIED: Final = 2
_FAR: Final = -99
_BEFORE: Final = ("introduces", "since", "back", "than", "within", "product", NUMBER)


class Said(NamedTuple):
    """A line in lower case, and where a sentence of it starts."""

    text: str
    start: int


@dataclass(slots=True)
class Clause:
    """The words of a clause, the versions it names, its concepts, and how it went with them.

    `passed` are pairs of versions of the sentence of which the second took the place of the first.
    """

    tokens: list[Token]
    versions: list[tuple[Version, Token]] = field(default_factory=list)
    said: int = 0
    outcome: bool | None = None
    passed: Sequence[tuple[Version, Version]] = ()


def clauses_of(sentence: Sequence[Token]) -> list[Clause]:
    return [Clause(list(part)) for _, part in groupby(sentence, key=attrgetter("clause"))]


def fill(clauses: Sequence[Clause], said: Said, words: VersionWords) -> None:
    """Put into each clause of a sentence the versions of the product that it names.

    A version is another product's if that is named just before it, or if such a one came first; so
    is a date behind it (`Y 2.26, out since 2025-03-12`).
    """
    foreign, others, theirs, before = _FAR, False, False, None
    for clause in clauses:
        for token in clause.tokens:
            clause.said |= token.concepts
            if words.has(token.concepts, "other_product"):
                foreign = token.last
            elif words.has(token.concepts, "product"):
                foreign, others, theirs = _FAR, False, False
            elif words.has(token.concepts, "newest"):
                theirs = False
            theirs = theirs or (words.has(token.concepts, NUMBER) and token.first - foreign == 1)
            version = _version_at(token, before, said, words)
            before = token
            if version is None or (theirs and is_dated(version)):
                continue
            if token.first - foreign <= _QUALIFIED:
                others = not any(x.versions for x in clauses)
            elif not others:
                clause.versions.append((version, token))
        if any(is_dated(version) for version, _ in clause.versions):
            clause.versions = [pair for pair in clause.versions if pair[0] != NEWEST]


def _version_at(
    token: Token, before: Token | None, said: Said, words: VersionWords
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


def _is_introduced(token: Token, before: Token | None, said: Said, words: VersionWords) -> bool:
    """Whether a number stands as a version does: after `in`, `torch`, `since`, or by itself."""
    if opens_a_clause(said.text, said.start + token.start):
        return True
    near = before is not None and token.first - before.last == 1
    return near and before is not None and words.has(before.concepts, *_BEFORE)


def settle(clauses: Sequence[Clause], words: VersionWords) -> None:
    """Give each clause its outcome: its own, the next one's, or that of the one before."""
    own = [_own_outcome(clause, words) for clause in clauses]
    for at, clause in enumerate(clauses):
        clause.outcome = own[at]
        if clause.outcome is None and clause.versions:
            before = clauses[at - 1] if at else None
            after = _next_told(clauses, own, at, words)
            clause.outcome = _from_beside(clause, before, after, words)
            if at + 1 < len(clauses):
                _hear_next(clause, clauses[at + 1], after, words)
        since = own[at] is not False and words.has(clause.said, "since")
        if at and since and (clauses[at - 1].outcome or words.has(clauses[at - 1].said, "arrived")):
            clause.said |= words.bits["arrived"]
        if at:
            _set_against(clauses[at - 1], clause, words)
    if len({version for clause in clauses for version, _ in clause.versions}) == 1:
        _settle_the_only_one(clauses, own, words)


def _hear_next(clause: Clause, later: Clause, after: bool | None, words: VersionWords) -> None:
    """`Before the upgrade it returned one, now it raises`; `in 2.5 | that printed 4`."""
    if after is False and is_alike(later, words):
        clause.said |= words.bits["too"]
    if after is False and words.has(later.said, "now") and words.has(clause.said, "past"):
        clause.outcome = True
    if not later.versions and _is_bare(clause, words):
        clause.said |= later.said & words.bits["past"]


def _settle_the_only_one(
    clauses: Sequence[Clause], own: Sequence[bool | None], words: VersionWords
) -> None:
    """`With 2.9 it ran for a day and then hung`: one version that worked until it failed.

    What failed before (`confirmed, with 2.9 all is fine`) says nothing of one that works.
    """
    then = any(words.has(clause.said, "then") for clause in clauses)
    for at, clause in enumerate(clauses):
        failed = False in own[at if own[at] else 0 :]
        once = clause.outcome and words.has(clause.said, "past") and not then
        if failed and clause.versions and not once:
            clause.outcome = False


def _next_told(
    clauses: Sequence[Clause], own: Sequence[bool | None], at: int, words: VersionWords
) -> bool | None:
    """The outcome that follows a list of versions, where no version has it for itself."""
    listed = _is_bare(clauses[at], words)
    for later in range(at + 1, len(clauses)):
        clause = clauses[later]
        if own[later] is not None:
            return own[later] if not clause.versions or (listed and _opens(clause)) else None
        listed = listed and _is_bare(clause, words)
    return None


def _opens(clause: Clause) -> bool:
    """Whether a version is the first that a clause names, as in a list."""
    return clause.versions[0][1].first - clause.tokens[0].first <= 1


def _is_bare(clause: Clause, words: VersionWords) -> bool:
    """Whether a clause says nothing but versions, in or not in them."""
    named = {token for _, token in clause.versions}
    return all(
        token in named or words.has(token.concepts, "within", "introduces", "alike", NEGATOR)
        for token in clause.tokens
    )


def _from_beside(
    clause: Clause, first: Clause | None, after: bool | None, words: VersionWords
) -> bool | None:
    if after is not None:
        return after
    before = first.outcome if first else None
    if first and before is not None:
        denied = words.has(clause.said, NEGATOR)
        affirmed = words.has(clause.said, "affirms") and words.has(first.said, NEGATOR)
        if denied or affirmed:  # `2.8 works, 2.9 does not`, `2.8 does not fail, 2.9 does`
            return not before
    if words.has(clause.said, "only"):
        return False
    if words.has(clause.said, "back"):
        return True
    return before if _is_bare(clause, words) else None


def _set_against(first: Clause, second: Clause, words: VersionWords) -> None:
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


def _own_outcome(clause: Clause, words: VersionWords) -> bool | None:
    """What a clause says; where it says both, what stands nearest to its version."""
    told = [x for x in clause.tokens if words.has(x.concepts, "works", "fails", "alike")]
    if not told:
        return None
    told = [x for x in told if not words.has(x.concepts, NEGATOR)] or told  # `no longer has it`
    told = [x for x in told if words.has(x.concepts, "works", "fails")] or told  # `the same works`
    at = clause.versions[-1][1].first if clause.versions else 0
    nearest = min(told, key=lambda token: abs(token.first - at) if clause.versions else 0)
    return words.has(nearest.concepts, "works")


def all_said(clauses: Sequence[Clause]) -> int:
    """The concepts of several clauses, as bits."""
    return reduce(or_, (clause.said for clause in clauses), 0)


def pass_on(clauses: Sequence[Clause], sentence: str, words: VersionWords) -> None:
    """`It broke from 2.6 to 2.7`: what is complained of came with the later one."""
    named = [pair for clause in clauses for pair in clause.versions]
    said = all_said(clauses)
    if len(named) < 2 or words.has(said, "works", "alike", "mended"):
        return
    if words.has(said, "fails", "broke", "past"):
        clauses[-1].passed = tuple(passages(named, sentence))


def is_alike(clause: Clause, words: VersionWords) -> bool:
    """`2.4 has it too`, `the same error`; the same command alone says nothing."""
    failing = words.has(clause.said, "alike") and words.has(clause.said, "fails")
    return failing or words.has(clause.said, "too")
