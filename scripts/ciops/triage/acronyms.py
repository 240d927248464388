"""Acronyms that an issue spells out as something else than the policy's part of that name.

`DDP (denoising diffusion probabilistic …)` is no DistributedDataParallel: what the writer says that
the letters stand for counts, wherever in the issue the letters are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from ciops.triage.issue_text import Reading
from ciops.triage.policy import Policy
from ciops.triage.reading_rules import SPOKEN

_GIVEN: Final = (
    r"(?: ?\(| ?=|[`\"' ]{0,3}(?: here)? (?:is short for|stands for|means|as in))"
    + r"[`\"' ]{0,3}(?:the |for )?"
)
_SIGNS: Final = ("(", "=", "is short for", "stands for", "means", "as in")
"""Of these `_GIVEN` needs one."""
_WORD: Final = re.compile(r"[A-Za-z]\w{0,24}")
_LINKS: Final = frozenset({"of", "and", "the", "for", "in", "a", "to", "with"})
_REACH: Final = 120
_STEM: Final = 6


def foreign_acronyms(reading: Reading, policy: Policy) -> frozenset[str]:
    """The acronyms of parts that this issue uses for something else, in lower case."""
    shapes = _shapes(policy)
    return frozenset(
        acronym.lower()
        for line in reading.lines
        if line.zone in SPOKEN
        for acronym, words in _told(line.text, shapes)
        if not _is_known(words, policy)
    )


def _told(text: str, shapes: _Shapes) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Acronyms that a line spells out, with the words that they stand for."""
    if not any(sign in text for sign in _SIGNS):
        return
    for match in shapes.before.finditer(text):
        words = _words(text[match.end() : match.end() + _REACH])[: len(match[1])]
        yield from _spelled(match[1], words)
    for match in shapes.after.finditer(text):
        words = _words(text[max(0, match.start() - _REACH) : match.start()])[-len(match[1]) :]
        yield from _spelled(match[1], words)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in _WORD.findall(text.lower()) if word not in _LINKS)


def _spelled(acronym: str, words: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    if "".join(word[0] for word in words) == acronym.lower():
        yield acronym, words


class _Shapes(NamedTuple):
    """Where an acronym of the policy stands before, and where after, what it stands for."""

    before: re.Pattern[str]
    after: re.Pattern[str]


@lru_cache(maxsize=8)
def _shapes(policy: Policy) -> _Shapes:
    own = "|".join(sorted(_own_acronyms(policy))) or "(?!)"
    return _Shapes(re.compile(rf"\b({own})\b{_GIVEN}"), re.compile(rf" \(({own})s?\)"))


def _own_acronyms(policy: Policy) -> frozenset[str]:
    names = (name for part in policy.components.values() for name in part.names)
    return frozenset(
        name for name in names if name.isalpha() and name.isupper() and 2 <= len(name) <= 6
    )


@lru_cache(maxsize=8)
def _known_stems(policy: Policy) -> frozenset[tuple[str, ...]]:
    names = (name for part in policy.components.values() for name in part.names)
    return frozenset(_stems(tuple(re.split(r"[ -]+", name.lower()))) for name in names)


def _is_known(words: tuple[str, ...], policy: Policy) -> bool:
    return _stems(words) in _known_stems(policy)


def _stems(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word[:_STEM] for word in words)
