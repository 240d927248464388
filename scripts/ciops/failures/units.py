"""Units of a run (a test, an environment, a probe): whose output an event is, how each ended.

A unit begins where it is named; what is said until the next begins is its own. One that is said to
have ended well, on its last try too, has printed nothing that was not meant to be. Whole sections
of a summary tell of what passed only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ciops.failures.events import Event

_MOST_BEGUN: Final = 50
_NAMED_WITHIN: Final = 100
# What comes last in a name, whichever way a tool writes those around it.
_PARTS: Final = re.compile(r"::|/(?=\w)|\.(?=\w)(?!py\b)| › ")


class Units:
    """The units that have begun last."""

    __slots__ = ("_begun", "_since", "name", "telling")

    def __init__(self) -> None:
        self.name = ""
        self.telling = False
        """Whether a section is under way that tells of what passed."""
        self._begun: list[tuple[int, str]] = []
        self._since = 0

    def begin(self, number: int, name: str) -> None:
        """A unit begins, or goes on; one that begins again at once is tried again."""
        if name not in (known for _, known in self._begun[-1:]):
            self._begun = [*self._begun[-_MOST_BEGUN:], (number, name)]
        self.name = name

    def step(self, number: int) -> None:
        """A command begins: no unit is under way."""
        self.name, self.telling, self._since, self._begun = "", False, number, []

    def end(self, number: int, name: str, events: Sequence[Event]) -> None:
        """A unit is named where it ends: what was said since the last one ended is its own."""
        for event in _since(events, self._since):
            event.unit = event.unit or name
        self._begun = [*self._begun[-_MOST_BEGUN:], (self._since, name)]
        self._since = number

    def unnamed(self, number: int, events: Sequence[Event]) -> list[Event]:
        """What was said since the last unit was named, of one that is named where it ends."""
        since, self._since = max(self._since, number - _NAMED_WITHIN), number
        said = []
        for event in _since(events, since):
            if event.kind == "test":
                break
            said.append(event)
        return said

    def passed(self, number: int, name: str, events: Sequence[Event]) -> list[Event]:
        """What a unit said that ended well; without a name, the one that is under way."""
        name = name or self.name
        self.name = ""
        if not name:
            return []
        begun = next((at for at, known in reversed(self._begun) if known == name), 0)
        since = begun or number - _NAMED_WITHIN
        return [one for one in _since(events, since) if is_of(one.unit, name)]


def _since(events: Sequence[Event], number: int) -> Iterator[Event]:
    for event in reversed(events):
        if event.number <= number:
            return
        yield event


def is_of(unit: str, name: str) -> bool:
    """Whether a unit is the one of a name, or a part of it."""
    return unit == name or unit.startswith(name + "/")


def is_among(unit: str, names: frozenset[str]) -> bool:
    """Whether a unit is one of some that are perhaps named in another way."""
    return any(_last(unit) == _last(name) for name in names)


def _last(name: str) -> str:
    return _PARTS.split(name.strip())[-1]
