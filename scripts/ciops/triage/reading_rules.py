"""Zones of an issue's text, and what a policy says about reading one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

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
    dropped: re.Pattern[str] | None = None
    dump_start: re.Pattern[str] | None = None
    footer_start: re.Pattern[str] | None = None
    footer_keeps: re.Pattern[str] | None = None

    def drops(self, text: str) -> bool:
        """Whether a line is one that must not be read at all."""
        return self.dropped is not None and self.dropped.search(text) is not None

    def in_footer(self, text: str, shape: str, already: bool) -> bool:
        """Whether a line belongs to a launcher's footer; `already` if the one before does."""
        if already:
            return shape not in ("header", "shell")
        return self.footer_start is not None and self.footer_start.search(text) is not None

    def keeps(self, text: str) -> bool:
        """Whether a line of a footer is told apart from the rest: it names the signal."""
        return self.footer_keeps is not None and self.footer_keeps.search(text) is not None
