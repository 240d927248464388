"""Versions of the product in an issue: the one it is reported for, and ones that worked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ciops.triage.issue_text import Reading

Version = tuple[int, ...]

_NUMBERS: Final = re.compile(r"(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?")


def parse_version(text: str) -> Version | None:
    """`2.6.0+cu124` as (2, 6, 0); a missing third number is left out."""
    match = _NUMBERS.search(text)
    return tuple(int(part) for part in match.groups() if part is not None) if match else None


def reported_version(reading: Reading, shapes: Sequence[re.Pattern[str]]) -> Version | None:
    """The newest version that the report names: in a regression that is the one that fails."""
    named = [
        version
        for line in reading.lines
        if line.turn == 0
        for shape in shapes
        for match in shape.finditer(line.text)
        if (version := parse_version(match[1])) is not None
    ]
    return max(named, default=None)


def is_older(worked: str, reported: Version | None) -> bool:
    """Whether one of the versions that worked is older than the reported one.

    True where nothing can be compared: a version that worked then counts as an earlier one.
    """
    return any(_precedes(text, reported) for text in worked.split())


def _precedes(worked: str, reported: Version | None) -> bool:
    version = parse_version(worked)
    if version is None or reported is None:
        return True
    width = min(len(version), len(reported))
    return version[:width] < reported[:width]
