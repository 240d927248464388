"""Lists of numbers that are shown side by side for two settings, and are not the same.

`a: [1, 2, 3]` beside `b: [1, 3, 2]` says that values differ where no word does. Both have the same
shape, and what labels them differs in more than a number: `rank 0: …, rank 1: …` is no comparison.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Final

from ciops.triage.issue_text import Line, Reading

_SHOWN_IN: Final = frozenset({"prose", "steps", "log"})
_LIST: Final = re.compile(r"\[[-\d\[][-\d.,e\[\] ]{3,200}\]")
_NUMBER: Final = re.compile(r"-?\d[\d.e-]*")
_WORDS: Final = re.compile(r"[^\W\d]+")
_LEAST: Final = 3
_LABEL: Final = 60
_NEAR: Final = 4
"""Lines that may lie between two lists: what the second one is stands there."""


@dataclass(frozen=True, slots=True)
class _Shown:
    label: tuple[str, ...]
    shape: str
    numbers: tuple[str, ...]
    line: Line


def lists_that_differ(reading: Reading, not_after: Set[str]) -> Line | None:
    """The line of the second of two lists that differ; `not_after`: words before other lists."""
    last: _Shown | None = None
    above = ""
    for line in reading.lines:
        if line.zone not in _SHOWN_IN:
            continue
        if "[" in line.text and "]" in line.text:
            for shown in _shown(line, above, not_after):
                if last is not None and _differ(last, shown):
                    return line
                last = shown
        above = line.text
    return None


def _shown(line: Line, above: str, not_after: Set[str]) -> Iterator[_Shown]:
    """The lists of a line; what one is stands before it, or at the end of the line above it."""
    past = 0
    for match in _LIST.finditer(line.text[:2000]):
        before = line.text[past : match.start()]
        if past == 0 and not before.strip():
            before = above
        label = tuple(_WORDS.findall(before[-_LABEL:].lower()))
        past = match.end()
        numbers = tuple(_NUMBER.findall(match[0]))
        if label and len(numbers) >= _LEAST and not_after.isdisjoint(label[-2:]):
            shape = _NUMBER.sub("n", match[0]).replace(" ", "")
            yield _Shown(label, shape, numbers, line)


def _differ(one: _Shown, other: _Shown) -> bool:
    near = other.line.where == one.line.where and other.line.number - one.line.last <= _NEAR
    return (
        near
        and one.shape == other.shape
        and one.numbers != other.numbers
        and one.label != other.label
    )
