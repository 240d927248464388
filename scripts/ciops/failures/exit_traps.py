"""What a shell script runs when it ends, by its own EXIT trap: it tidies up after its end.

A shell that repeats its commands shows the trap where it is set, and what it runs in the end. The
script had ended when the trap's commands are its last ones; whatever they say is no cause.
"""

from __future__ import annotations

import re
from typing import Final

_SET: Final = re.compile(
    r"\+{1,3} trap (?:-- )?(?P<quote>['\"]?)(?P<body>.+)(?P=quote)(?: \w+)* (?:EXIT|0)\b"
)
_COMMANDS: Final = re.compile(r";|&&|\|\||\n")
# What the shell puts in before it shows a command: quotes fall, names become what they stand for.
_PUT_IN: Final = re.compile(r"[\"'\\]+|\$\{[^}]*\}|\$\([^)]*\)|\$\w+|\$.")
_NAME: Final = re.compile(r"\w+")
_MOST_COMMANDS: Final = 20


class ExitTrap:
    """The trap of a script, and since which line it may have been sprung (0: it has not)."""

    __slots__ = ("_function", "_known", "since")

    def __init__(self) -> None:
        self.since = 0
        self._function = ""
        self._known: tuple[re.Pattern[str], ...] = ()

    def hear(self, number: int, text: str) -> bool:
        """A command that the shell repeats; whether it may be the trap's."""
        if trap := _SET.match(text):
            body = trap["body"].strip()
            self._function = body if _NAME.fullmatch(body) else ""
            self._known = () if self._function else _patterns(body)
            self.since = 0
            return False
        said = text.lstrip("+ ")
        if self._function:
            self.since = number if said == self._function else self.since
        elif not any(known.fullmatch(said) for known in self._known):
            self.since = 0
        else:
            self.since = self.since or number
        return self.since > 0


def _patterns(body: str) -> tuple[re.Pattern[str], ...]:
    commands = [one.strip() for one in _COMMANDS.split(body)][:_MOST_COMMANDS]
    return tuple(re.compile(_shown(one)) for one in commands if one)


def _shown(command: str) -> str:
    """How a command of a trap looks where the shell repeats it."""
    parts = [re.escape(part) for part in _PUT_IN.split(command)]
    return r"[\"']?.{0,400}".join(parts) if len(parts) > 1 else parts[0]
