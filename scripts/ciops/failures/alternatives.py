"""A pattern as its alternatives, each with the literals that a text must hold for it to match.

A rule of forty alternatives is tried on every line that holds one of its words. Which of them can
match at all is known from the literals that they ask for, in a fraction of the time that a search
for all forty takes; only those are tried. `^(?!b).*(?:c|d)` counts as `^(?!b).*c` and `^(?!b).*d`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from ciops.plumbing.pattern_reading import (
    NOTHING,
    Branch,
    Branches,
    Group,
    Need,
    Run,
    Words,
    best,
    inside,
    needs,
    of_any,
    parsed,
    telling,
    written,
)

Clause = tuple[str, ...]
"""Lower-case literals of which one must be there."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way for a pattern to match: its own pattern, and clauses that a text must all fulfil.

    The first clause is the one that the fewest texts fulfil. What is optional, or must only not be
    there, promises nothing: there may be no clause. One `at_start` need not be sought elsewhere.
    """

    source: str
    clauses: tuple[Clause, ...] = ()
    at_start: bool = False


_SHORTEST: Final = 2
_TELLING: Final = 4
_MOST_CLAUSES: Final = 3
_WORTH_PARTING: Final = 4
_SHORT: Final = 48
"""A text of fewer characters is searched for everything as soon as for literals."""
_PATIENCE: Final = 40
_FLAGS: Final = re.compile(r"\(\?[aisu]+\)")
_REFERENCE: Final = re.compile(r"\\[1-9]")
"""A group by its number, which is another one where alternatives are left out."""

_Try = Callable[[str], re.Match[str] | None]


def alternatives(source: str) -> tuple[Alternative, ...]:
    """The alternatives of a pattern: it is found in a text where one of them is.

    One that is written in a way that is not understood is its own only alternative.
    """
    flags = _FLAGS.match(source)
    head = flags[0] if flags else ""
    try:
        branches = parsed(source[len(head) :])
    except re.error:
        return (Alternative(source),)
    if _REFERENCE.search(source):
        return (Alternative(source),)
    parts = [part for branch in branches for part in _parted(branch)]
    return tuple(_alternative(head, *part) for part in _telling(parts))


def _alternative(head: str, branches: Branches, found: list[Need]) -> Alternative:
    found.sort(key=telling, reverse=True)
    at_start = all(map(_is_at_start, branches))
    clauses = tuple([need.pieces for need in found[:_MOST_CLAUSES]])
    return Alternative(head + written(branches), clauses, at_start)


def _is_at_start(branch: Branch) -> bool:
    return len(branch) > 0 and isinstance(branch[0], Run) and branch[0].source.startswith("^")


def _telling(told: Iterable[tuple[Branch, list[Need]]]) -> Iterator[tuple[Branches, list[Need]]]:
    """Those that ask for a telling literal, and all others as one, with what they need."""
    rest = []
    for branch, found in told:
        if best(found).weight >= _TELLING:
            yield (branch,), found
        else:
            rest.append((branch, found))
    if rest:
        yield tuple([branch for branch, _ in rest]), of_any([found for _, found in rest])


def _told(branch: Branch) -> tuple[Branch, list[Need]]:
    return branch, needs((branch,), _weigh)


def _weigh(text: str, _begins: bool, _ends: bool) -> Need:
    return Need(len(text), (text,)) if len(text) >= _SHORTEST else NOTHING


def _parted(branch: Branch) -> Iterator[tuple[Branch, list[Need]]]:
    """One alternative for each way through its bracket of most alternatives, if it has one."""
    widest = max(_brackets(branch), key=_ways, default=None)
    if widest is None or _ways(widest) < _WORTH_PARTING:
        yield _told(branch)
        return
    _, around = _told(_with(branch, widest, Group("(?:", ((),), "")))
    for ways, found in _telling(map(_told, inside(widest))):
        yield _with(branch, widest, Group(widest.opening, ways, "")), [*around, *found]


def _brackets(branch: Branch) -> Iterator[Words | Group]:
    """Those that every match goes through once."""
    for part in branch:
        if isinstance(part, Run) or part.repeat or part.opening[-1] == "!":
            continue
        yield part
        if isinstance(part, Group) and len(part.branches) == 1:
            yield from _brackets(part.branches[0])


def _ways(part: Words | Group) -> int:
    return len(part.words) if isinstance(part, Words) else len(part.branches)


def _with(branch: Branch, old: Words | Group, new: Group) -> Branch:
    """The same with another bracket in the place of one."""
    return tuple(
        new if part is old
        else part._replace(branches=tuple([_with(each, old, new) for each in part.branches]))
        if isinstance(part, Group)
        else part
        for part in branch
    )  # fmt: skip


class Finder:
    """Finds a pattern in texts as its `search` does, trying those alternatives that can match.

    A pattern is taken apart once it has been searched for `patience` times, and an alternative is
    compiled when it is first tried: most traces call for few.
    """

    __slots__ = ("_always", "_by_text", "_left", "_parts", "_source", "_tries", "_whole")

    def __init__(self, source: str, patience: int = _PATIENCE) -> None:
        self._source = source
        self._left = patience
        self._whole: re.Pattern[str] | None = None
        self._parts: tuple[Alternative, ...] = ()
        self._tries: list[_Try | None] = []
        self._always: list[int] = []
        self._by_text: dict[str, list[int]] = {}

    def whole(self) -> re.Pattern[str]:
        """The pattern itself."""
        self._whole = self._whole or re.compile(self._source)
        return self._whole

    def find(self, text: str, lower: str) -> re.Match[str] | None:
        """The first match in a text; `lower` is the same in lower case."""
        if len(text) < _SHORT or self._is_patient():
            return self.whole().search(text)
        found = {*self._always}
        for literal in [literal for literal in self._by_text if literal in lower]:
            found.update(self._by_text[literal])
        for at in found:
            if self._matches(at, text, lower):
                return self.whole().search(text)
        return None

    def _is_patient(self) -> bool:
        """Whether the pattern is not worth taking apart yet."""
        if self._left > 0:
            self._left -= 1
            return True
        if not self._parts:
            self._take_apart()
        return False

    def _take_apart(self) -> None:
        self._parts = alternatives(self._source)
        self._tries = [None] * len(self._parts)
        for at, part in enumerate(self._parts):
            if not part.clauses:
                self._always.append(at)
            for text in part.clauses[0] if part.clauses else ():
                self._by_text.setdefault(text, []).append(at)

    def _matches(self, at: int, text: str, lower: str) -> bool:
        for clause in self._parts[at].clauses[1:]:
            for literal in clause:
                if literal in lower:
                    break
            else:
                return False
        if len(self._parts) == 1:
            return True
        tries = self._tries[at]
        if tries is None:
            pattern = re.compile(self._parts[at].source)
            tries = pattern.match if self._parts[at].at_start else pattern.search
            self._tries[at] = tries
        return tries(text) is not None
