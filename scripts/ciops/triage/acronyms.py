"""Acronyms that an issue spells out as something else than the policy's part of that name.

`DDP (denoising diffusion probabilistic …)` is no DistributedDataParallel: what the writer says that
the letters stand for counts, wherever in the issue the letters are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ciops.triage.issue_text import Reading
from ciops.triage.policy import Policy
from ciops.triage.reading_rules import SPOKEN

_WORDS: Final = r"[A-Za-z]\w{0,24}(?:[ -]{1,2}[A-Za-z]\w{0,24}){1,6}"
_TOLD: Final = re.compile(
    rf"\b(?P<acronym>[A-Z]{{2,6}})\b ?(?:\(|=|[`\"' ]{{0,3}}(?:here )?(?:is short for|stands for"
    rf"|means|here is|here:|as in) )[`\"' ]{{0,3}}(?:the |for )?(?P<words>{_WORDS})"
)
_AFTER: Final = re.compile(rf"(?P<words>{_WORDS}) \((?P<acronym>[A-Z]{{2,6}})s?\)")
_LINKS: Final = frozenset({"of", "and", "the", "for", "in", "a", "to", "with"})
_STEM: Final = 6


def foreign_acronyms(reading: Reading, policy: Policy) -> frozenset[str]:
    """The acronyms of parts that this issue uses for something else, in lower case."""
    own = _own_acronyms(policy)
    return frozenset(
        acronym.lower()
        for line in reading.lines
        if line.zone in SPOKEN
        for acronym, words in _told(line.text)
        if acronym in own and not _is_known(words, policy)
    )


def _told(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Acronyms that a line spells out, with the words that they stand for."""
    for pattern in (_TOLD, _AFTER):
        for match in pattern.finditer(text):
            words = [w for w in re.split(r"[ -]+", match["words"].lower()) if w not in _LINKS]
            size = len(match["acronym"])
            spelled = tuple(words[:size] if pattern is _TOLD else words[-size:])
            if "".join(word[0] for word in spelled) == match["acronym"].lower():
                yield match["acronym"], spelled


@lru_cache(maxsize=8)
def _own_acronyms(policy: Policy) -> frozenset[str]:
    names = (name for part in policy.components.values() for name in part.names)
    return frozenset(name for name in names if name.isupper() and 2 <= len(name) <= 6)


@lru_cache(maxsize=8)
def _known_stems(policy: Policy) -> frozenset[tuple[str, ...]]:
    names = (name for part in policy.components.values() for name in part.names)
    return frozenset(_stems(tuple(re.split(r"[ -]+", name.lower()))) for name in names)


def _is_known(words: tuple[str, ...], policy: Policy) -> bool:
    return _stems(words) in _known_stems(policy)


def _stems(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word[:_STEM] for word in words)
