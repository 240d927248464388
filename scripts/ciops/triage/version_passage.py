"""From one version to the next: `2.6 -> 2.7`, `from 2.6 to 2.7`, `between 2.6 and 2.7`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from ciops.triage.lexicon import Token
from ciops.triage.version_numbers import Version, precedes

_MARKS: Final = r"[\s`'\"*]{0,3}"
_ONWARD: Final = re.compile(
    rf"{_MARKS}(?:-{{1,2}}>|={{1,2}}>|→|to|(?P<and>and)){_MARKS}(?:v|(?:py)?torch[ =]{{1,3}})?"
)
_BETWEEN: Final = re.compile(rf"\bbetween {_MARKS}(?:v|(?:py)?torch[ =]{{1,3}})?$")
_FAR: Final = 24


def passages(
    named: Sequence[tuple[Version, Token]], sentence: str
) -> Iterator[tuple[Version, Version]]:
    """Pairs of versions of which a sentence says that one took the place of the other."""
    for (version, token), (later, its) in pairwise(named):
        if its.start - token.end > _FAR or not precedes(version, later):
            continue
        match = _ONWARD.fullmatch(sentence, token.end, its.start)
        if match is None:
            continue
        if match["and"] is None or _BETWEEN.search(sentence, 0, token.start):
            yield version, later
