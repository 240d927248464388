"""Zones of an issue's text, and what a policy says about reading one."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from ciops.triage.needed_words import needed_words

Zone = Literal[
    "title",
    "prose",
    "steps",
    "code",
    "shell",
    "traceback",
    "cpp",
    "log",
    "env",
    "quoted",
    "template",
]
ZONES: Final[tuple[Zone, ...]] = (
    "title", "prose", "steps", "code", "shell", "traceback", "cpp", "log", "env", "quoted",
    "template",
)  # fmt: skip
SPOKEN: Final = frozenset({"title", "prose", "steps"})
MACHINE: Final = frozenset({"traceback", "cpp", "log"})


@dataclass(frozen=True, slots=True, eq=False)
class ReadingRules:
    """What a policy says about reading: sections, prefixes and lines that must never score."""

    drop_sections: frozenset[str] = frozenset()
    form_headings: frozenset[str] = frozenset()
    template_lines: frozenset[str] = frozenset()
    prefixes: re.Pattern[str] | None = None
    dropped: tuple[re.Pattern[str], ...] = ()
    dump_start: re.Pattern[str] | None = None
    footer_start: re.Pattern[str] | None = None
    footer_keeps: re.Pattern[str] | None = None

    def for_document(self, text: str) -> ReadingRules:
        """The rules that may apply to some line of a document: most have no dump and no footer."""
        lowered = text.lower()
        return replace(
            self,
            dropped=tuple(x for x in self.dropped if _if_possible(x, lowered)),
            dump_start=_if_possible(self.dump_start, lowered),
            footer_start=_if_possible(self.footer_start, lowered),
        )

    def drops(self, text: str) -> bool:
        """Whether a line is one that must not be read at all."""
        for pattern in self.dropped:  # noqa: SIM110 - a third of the time, and every line is asked
            if pattern.search(text):
                return True
        return False

    def in_footer(self, text: str, shape: str, already: bool) -> bool:
        """Whether a line belongs to a launcher's footer; `already` if the one before does."""
        if already:
            return shape not in ("header", "shell")
        return self.footer_start is not None and self.footer_start.search(text) is not None

    def keeps(self, text: str) -> bool:
        """Whether a line of a footer is told apart from the rest: it names the signal."""
        return self.footer_keeps is not None and self.footer_keeps.search(text) is not None


def _if_possible(pattern: re.Pattern[str] | None, lowered: str) -> re.Pattern[str] | None:
    """A pattern, unless a text in lower case lacks what every match of it holds."""
    if pattern is None:
        return None
    needed = _literals(pattern)
    return pattern if all(any(x in lowered for x in choice) for choice in needed) else None


@lru_cache(maxsize=32)
def _literals(pattern: re.Pattern[str]) -> tuple[tuple[str, ...], ...]:
    return needed_words(pattern.pattern).literals
