"""Versions of the product in an issue: the one it is reported for, and ones that worked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ciops.triage.issue_text import Reading
from ciops.triage.reading_rules import SPOKEN

Version = tuple[int, ...]

UNSURE: Final = "?"
"""Before a version of which only its context tells that it worked."""
_NUMBERS: Final = re.compile(r"(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?")
_MENTION: Final = re.compile(
    r"(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)\b"
    r"(?! ?(?:[KMGT]i?B|s|ms|x|%|hours?|h|min|it/s|k|M|e-?\d)\b)"
)
_LED_BY: Final = re.compile(
    r"(?:^|[(,;:.!?] ?|\b(?:on|in|with|since|from|to|after|under|using|and|but|while) )v?$",
    re.IGNORECASE,
)
_LEAD: Final = 8
_MOST: Final = 200


@dataclass(frozen=True, slots=True)
class Versions:
    """The newest version that a report gives as its own; where none, all that it speaks of."""

    reported: Version | None
    mentioned: frozenset[Version]

    def is_earlier(self, worked: str) -> bool:
        """Whether one of the versions that worked comes before the one that fails.

        Where nothing can be compared it counts as earlier, if it is certain that it worked.
        """
        return any(self._precedes(text) for text in worked.split())

    def _precedes(self, worked: str) -> bool:
        version = parse_version(worked)
        if version is None:
            return True
        if self.reported is not None:
            width = min(len(version), len(self.reported))
            return version[:width] < self.reported[:width]
        if any(other > version for other in self.mentioned):
            return True
        return not (worked.startswith(UNSURE) or any(x < version for x in self.mentioned))


def parse_version(text: str) -> Version | None:
    """`2.6.0+cu124` as (2, 6, 0); a missing third number is left out."""
    match = _NUMBERS.search(text)
    return tuple(int(part) for part in match.groups() if part is not None) if match else None


def versions_of(reading: Reading, shapes: Sequence[re.Pattern[str]]) -> Versions:
    """The versions of a report. The newest that it gives as its own is the one that fails."""
    lines = [line for line in reading.lines if line.turn == 0]
    given = [
        version
        for line in lines
        for shape in shapes
        for match in shape.finditer(line.text)
        if (version := parse_version(match[1])) is not None
    ]
    if given:
        return Versions(max(given), frozenset())
    spoken = (line.text for line in reading.lines if line.zone in SPOKEN)
    mentioned = (version for text in spoken for version in _mentioned(text))
    return Versions(None, frozenset(islice(mentioned, _MOST)))


def _mentioned(text: str) -> Iterator[Version]:
    """`on 2.6`, `2.6 fails`: numbers that stand where a version does."""
    for match in _MENTION.finditer(text):
        version = parse_version(match[1])
        if version and _LED_BY.search(text[max(0, match.start() - _LEAD) : match.start()]):
            yield version
