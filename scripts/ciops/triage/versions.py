"""Versions of the product in an issue: which ones worked, which fail, which one is reported.

Each sentence is read as clauses; a version takes the outcome that its clause tells, or that of the
clause beside it (`2.4, 2.5 and 2.6 are fine, 2.7 hangs`). What words tell an outcome, the policy's
language says under the concepts named here; a policy without them compares no versions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Final

from ciops.triage.issue_text import Line, Reading
from ciops.triage.lexicon import Token, sentences_of
from ciops.triage.patterns import fold, words_of
from ciops.triage.reading_rules import SPOKEN
from ciops.triage.version_clauses import (
    Clause,
    Said,
    all_said,
    clauses_of,
    fill,
    is_alike,
    pass_on,
    settle,
)
from ciops.triage.version_numbers import (
    ANY_VERSION,
    NEWEST,
    OLDER,
    Version,
    may_name_a_version,
    plain_dates,
)
from ciops.triage.version_trials import Basis, Trial
from ciops.triage.version_words import VersionWords

_ASKED: Final = re.compile(r"[^.!?\n]{0,120}[?？]")
_MOST: Final = 60
_MOST_KEPT: Final = 512


def trials_of(reading: Reading, words: VersionWords) -> list[Trial]:
    """Every version that somebody speaks of, with what is said of it."""
    found: list[Trial] = []
    for line in reading.lines:
        if line.zone in SPOKEN:
            sentences = _told(line.text, line.zone == "title", words)
            if not sentences:
                continue
            for clauses in sentences:
                found.extend(_trials_in(clauses, line, words))
                found.extend(_compared(clauses, line, words))
            found.extend(_measured(sentences, line, words))
            if len(found) >= _MOST:
                break
    return found[:_MOST]


def _measured(
    sentences: Sequence[list[Clause]], line: Line, words: VersionWords
) -> Iterator[Trial]:
    """`2.6: 4 s. 2.7: 35 s.`: sentences that each measure a version."""
    measures = (any(words.has(x.said, "unit") for x in clauses) for clauses in sentences)
    if len(sentences) > 1 and all(measures):
        yield from _compared([x for clauses in sentences for x in clauses], line, words)


def _compared(clauses: Sequence[Clause], line: Line, words: VersionWords) -> Iterator[Trial]:
    """Of versions that are measured, or set against each other, the later is complained of."""
    told = [version for clause in clauses for version, _ in clause.versions]
    said = all_said(clauses)
    settled = any(_is_settled(clause, max(told)) for clause in clauses if clause.versions)
    if len(set(told)) < 2 or settled or not words.has(said, "unit", "than"):
        return
    if words.has(said, "than") or not words.has(said, "alike"):
        yield from (Trial(version, version != max(told), True, line) for version in told)


def _is_settled(clause: Clause, newest: Version) -> bool:
    """Whether it is said that a version works, or that one before the newest fails."""
    earlier = all(version != newest for version, _ in clause.versions)
    return clause.outcome is True or (clause.outcome is False and earlier)


@lru_cache(maxsize=_MOST_KEPT)
def _told(line: str, is_title: bool, words: VersionWords) -> Sequence[list[Clause]]:
    """The clauses of each sentence of a line that names a version.

    Kept for a while, as counterfactuals read the same lines again.
    """
    text = plain_dates(fold(line))
    if not _may_tell(text, words):
        return ()
    found = []
    for start, end in sentences_of(text):
        if end - start < len(text) and not _may_tell(text[start:end], words):
            continue
        tokens = words.lexicon.read(text[start:end])
        for _, part in groupby(tokens, key=attrgetter("sentence")):
            sentence = list(part)
            if not is_title and _ASKED.match(text, start + sentence[-1].end):
                continue
            clauses = clauses_of(sentence)
            fill(clauses, Said(text, start), words)
            if any(clause.versions for clause in clauses):
                settle(clauses, words)
                pass_on(clauses, text[start:end], words)
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


def _trials_in(clauses: Sequence[Clause], line: Line, words: VersionWords) -> Iterator[Trial]:
    said = all_said(clauses)
    certain = words.has(said, "past", "older", "back") and not words.has(said, "mended")
    for clause in clauses:
        for before, after in clause.passed:
            yield Trial(before, True, True, line, "follows")
            yield Trial(after, False, True, line, "follows")
        passed = {version for pair in clause.passed for version in pair}
        for version, token in clause.versions:
            if version in passed:
                continue
            if version == NEWEST and words.has(clause.said, "other_product"):
                continue
            if _began(clause, token, words):
                yield Trial(version, False, True, line, "follows")
                yield Trial(OLDER, True, True, line, "follows")
            elif clause.outcome is None:
                yield Trial(version, _was_once(clause, token, words), True, line)
            elif _is_mended(clause, words):
                yield Trial(version, True, False, line, "mended")
            elif not (clause.outcome and _is_since(clause, token, words)):
                basis: Basis = "alike" if is_alike(clause, words) else "told"
                yield Trial(version, clause.outcome, certain, line, basis)


def _is_mended(clause: Clause, words: VersionWords) -> bool:
    """`Fixed on main`, `2.9.1 solved it`; that going back to one helps mends nothing."""
    told = clause.outcome and words.has(clause.said, "mended")
    return bool(told) and not words.has(clause.said, "back", "older")


def _began(clause: Clause, version: Token, words: VersionWords) -> bool:
    """Whether something is so since a version: `since 2.7`, `2.7 and later`, `2.7 broke it`."""
    if clause.outcome or words.has(clause.said, "arrived", "alike"):
        return False
    if words.has(clause.said, "only") and not words.has(clause.said, "tried"):
        return True
    if _is_since(clause, version, words):
        return True
    if words.has(clause.said, "rose") and len(clause.versions) == 1:
        return True
    return any(
        words.has(token.concepts, "onwards", "broke") and -3 <= version.first - token.last < 0
        for token in clause.tokens
    )


def _is_since(clause: Clause, version: Token, words: VersionWords) -> bool:
    return any(
        words.has(token.concepts, "since") and 0 < version.first - token.last <= 5
        for token in clause.tokens
    ) or any(
        words.has(token.concepts, "onwards") and token.first - version.last == 1
        for token in clause.tokens
    )


def _was_once(clause: Clause, version: Token, words: VersionWords) -> bool | None:
    """`In 2.3 it took a second`, `we rolled back to 2.3`: told as how it was."""
    if words.has(clause.said, "back"):
        return True
    before = (x for x in clause.tokens if 0 < version.first - x.last <= 2)
    told = words.has(clause.said, "past", "older")
    return True if told and any(words.has(x.concepts, "within") for x in before) else None
