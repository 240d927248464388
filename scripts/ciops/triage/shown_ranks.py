"""Values of several ranks that are shown beside each other, equal at first or in most, then not.

A table whose columns are ranks, with a row where all are the same and a later one where they are
not; or `rank 0: 9af1, rank 1: 9af1, rank 2: 53bd`. It says that copies of one thing came apart
where no word does. Only what nobody measures counts: hashes, and numbers of many digits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from typing import Final

from ciops.triage.issue_text import Line, Reading

_SHOWN_IN: Final = frozenset({"title", "prose", "steps", "log"})
_RANK: Final = r"(?:ranks?|r|gpu|cuda|card|worker|process|proc|replica)[ _:#-]{0,2}\d{1,4}"
_COLUMN: Final = re.compile(rf"\W{{0,4}}{_RANK}\W{{0,4}}", re.IGNORECASE)
_VALUE: Final = (
    r"(?=[0-9a-f]{0,11}[a-f])(?=[a-f]{0,11}\d)[0-9a-f]{4,64}"
    r"|-?\d{1,4}\.\d{3,18}(?:e[-+]?\d{1,3})?"
)
_CELL: Final = re.compile(rf"\W{{0,4}}({_VALUE})\W{{0,4}}", re.IGNORECASE)
_PAIR: Final = re.compile(rf"\b{_RANK}\W{{1,4}}({_VALUE})(?![\w.]| ?(?:[kmg]i?b|m?s|sec|min)\b)")
_WORDS: Final = re.compile(r"[^\W\d]+")
_LEAST: Final = 2
_LEAST_BESIDE: Final = 3
_DIGITS: Final = re.compile(r"(?:\D*+\d){6}")
"""What so many pairs have at least, and few lines."""


def ranks_that_differ(reading: Reading, not_of: Set[str]) -> Line | None:
    """The line where values of ranks come apart; `not_of`: words of what may well differ."""
    columns: list[int] = []
    equal = False
    for line in reading.lines:
        if line.zone not in _SHOWN_IN:
            continue
        if "|" not in line.text:
            columns = []
            if _one_is_apart(line.text, not_of):
                return line
            continue
        cells = line.text.strip().strip("|").split("|")
        if headed := _columns(cells):
            columns, equal = ([] if _speaks_of(cells[0], not_of) else headed), False
        elif columns and (told := _told(cells, columns)):
            same = len(set(told)) == 1
            if equal and not same and not _speaks_of(cells[0], not_of):
                return line
            equal = equal or same
    return None


def _columns(cells: Sequence[str]) -> list[int]:
    """Which cells of a row are the names of ranks."""
    found = [at for at, cell in enumerate(cells) if _COLUMN.fullmatch(cell)]
    return found if len(found) >= _LEAST else []


def _told(cells: Sequence[str], columns: Sequence[int]) -> list[str]:
    """The values of a row, one for each rank; none where a cell holds something else."""
    found = [_CELL.fullmatch(cells[at]) for at in columns if at < len(cells)]
    values = [match[1].lower() for match in found if match]
    return values if len(values) == len(columns) else []


def _one_is_apart(text: str, not_of: Set[str]) -> bool:
    """Whether most ranks of a line have the same value, and some have not."""
    if _DIGITS.match(text) is None:
        return False
    values = _PAIR.findall(text[:2000].lower())
    most = max(Counter(values).values(), default=0)
    apart = len(values) >= _LEAST_BESIDE and len(values) / 2 < most < len(values)
    return apart and not _speaks_of(text, not_of)


def _speaks_of(text: str, words: Set[str]) -> bool:
    return not words.isdisjoint(_WORDS.findall(text.lower()))
