"""Numbers that are versions of a product, dates of its builds, and which of two is the earlier."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ciops.triage.issue_text import Reading

Version = tuple[int, ...]

OLDER: Final[Version] = (0,)
"""Some version before the others."""
NEWEST: Final[Version] = (9999,)
_DIGIT: Final = re.compile(r"\d")
_NUMBERS: Final = re.compile(r"(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?")
ANY_VERSION: Final = re.compile(r"\d{1,2}\.\d{1,2}(?:\.\d{1,2})?")
"""What right after the product's own name is one of its versions, however old."""
_GLUED: Final = re.compile(r"(?<=[a-z]{2})(?=\d\.\d)")
_NUMBER: Final = re.compile(r"\d\.\d|20[12]\d[01]\d")
"""What each of them holds."""
_DATE: Final = re.compile(r"(20[12]\d)([01]\d)([0-3]\d)")
_DATED: Final = re.compile(
    r"(?:(?:\d{1,2}\.\d{1,2}(?:\.\d{1,2})?\.(?=dev))?dev|nightly[-_])?"
    r"(?<!\d)(20[12]\d)(-?)([01]\d)\2([0-3]\d)\b"
)
_DAY: Final = re.compile(r"\b(\d{1,2})/(\d{1,2})\b|\b(0[1-9]|1[0-2])([0-3]\d)\b")
_MONTHS: Final = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_NTH: Final = r"(\d{1,2})(?:st|nd|rd|th)?\b"
_NAMED_DAY: Final = re.compile(rf"\b({'|'.join(_MONTHS)})[a-z]{{0,6}}\.? {_NTH}")
_DAY_OF: Final = re.compile(rf"\b(?:nightly|build|wheel) (?:of|from) (?:the )?{_NTH}(?!\.\d)")
_SOME_YEAR: Final = 2010
_YEARS: Final = range(_SOME_YEAR, 2030)
_BUILDS: Final = ("nightl", "dev20", "build", "wheel")
_OPENED: Final = re.compile(r"(?:^|[(\[{,;:|/→>+\u3000-\uffff]|==|[.!?] )[\s\"'`*v(]{0,4}$")
_NO_VERSION: Final = re.compile(r"\s?[%×x]|[a-wyz]{1,3}/|e[-+]?\d")


def parse_version(text: str) -> Version | None:
    """`2.6.0+cu124` as (2, 6, 0), `20250131` as (2025, 1, 31); a missing third number stays out."""
    match = _NUMBERS.search(text) or _DATE.fullmatch(text)
    return tuple(int(part) for part in match.groups() if part is not None) if match else None


def version_in(text: str, start: int, end: int, shape: re.Pattern[str]) -> Version | None:
    """The version that a number at text[start:end] is, by the product's shape or as a build."""
    number = text[start:end]
    if _DATE.fullmatch(number):
        return parse_version(number)
    if shape.fullmatch(number) is None or _NO_VERSION.match(text, end):
        return None
    return parse_version(number)


def may_name_a_version(text: str, shape: re.Pattern[str]) -> bool:
    """Whether there is any number in a line that looks like a version or the date of a build."""
    if _DIGIT.search(text) is None:
        return False
    return shape.search(text) is not None or _DATE.search(text) is not None


def opens_a_clause(text: str, start: int) -> bool:
    """Whether what stands at text[start:] is the first of a clause, a cell or a list."""
    return _OPENED.search(text, max(0, start - 8), start) is not None


def is_dated(version: Version) -> bool:
    """Whether a version is the date of a build."""
    return version[0] in _YEARS


def precedes(version: Version, other: Version) -> bool:
    """Whether a version is earlier, as far as both are told."""
    width = min(len(version), len(other))
    return version[:width] < other[:width]


def reported_version(reading: Reading, shapes: Sequence[re.Pattern[str]]) -> Version | None:
    """The newest version that a report gives as its own."""
    given = (
        parse_version(match[1])
        for line in reading.lines
        if line.turn == 0 and _NUMBER.search(line.text)
        for shape in shapes
        for match in shape.finditer(line.text)
    )
    return max((version for version in given if version is not None), default=None)


def plain_dates(text: str) -> str:
    """A line with the dates of builds as numbers; days without a year are all of one.

    A version is set apart from a name that it is glued to (`torch1.6`).
    """
    if _DIGIT.search(text) is None:
        return text
    text = _GLUED.sub(" ", text)
    for word in _BUILDS:  # half the time of `any`, and every line is asked
        if word in text:
            break
    else:
        return text
    text = _DATED.sub(r"\1\3\4", text)
    text = _DAY.sub(_day, text)
    text = _NAMED_DAY.sub(_named_day, text)
    return _DAY_OF.sub(_day_of, text)


def _day(day: re.Match[str]) -> str:
    month, number = day[1] or day[3], day[2] or day[4]
    return f"{_SOME_YEAR}{month:0>2}{number:0>2}"


def _day_of(day: re.Match[str]) -> str:
    """`The nightly of the 14th`: of some month."""
    return f"nightly of {_SOME_YEAR}01{day[1]:0>2}"


def _named_day(day: re.Match[str]) -> str:
    return f"{_SOME_YEAR}{_MONTHS.index(day[1]) + 1:02}{day[2]:0>2}"
