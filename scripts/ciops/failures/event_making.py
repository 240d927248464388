"""Make events of what was heard: of a line that a rule knows, of a traceback."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ciops.failures import line_rules as roles
from ciops.failures import tracebacks
from ciops.failures.events import Event
from ciops.failures.frames import Frame
from ciops.failures.line_rules import Said

# What a rule may say of an exception at the end of a traceback; anything else is said of others.
_ROLES_OF_RAISED: Final = frozenset(
    (roles.CAUSE, roles.WRAPPER, roles.FALLOUT, roles.KILL, roles.CANCEL)
)
# A story that ends in an exception: "tactic 3 is not usable: RuntimeError: CUDA error".
_MENTIONED: Final = re.compile(r"[^:\s]+\s[^:]*:?\s.*?\b(?:[\w.]+\.)?[A-Z]\w+(?:Error|Exception)\b")


@dataclass(frozen=True, slots=True)
class Line:
    """A visible line under its prefixes. `text` keeps its indentation."""

    number: int
    text: str
    source: str
    level: str


def indentation(text: str) -> int:
    """How far to the right a text begins."""
    return len(text) - len(text.lstrip())


def raised_event(raised: tracebacks.Raised, said: Said | None, source: str) -> Event:
    """The event of a traceback that has come to its end."""
    role = said.rule.role if said else roles.CAUSE
    if role not in _ROLES_OF_RAISED:
        role = roles.CAUSE
    event = Event(raised.number, raised.text, role, "exception", "exception", source)
    if said:
        event.rule, event.carried = said.rule.id, said.group("cause")
        event.kind = said.rule.kind or event.kind
    event.exception = tracebacks.bare_name(raised.exception)
    event.start, event.frames = raised.start, raised.frames
    return event


def said_event(said: Said, line: Line, text: str, source: str) -> Event:
    """The event of a line that a rule knows."""
    rule = said.rule
    event = Event(line.number, text, rule.role, rule.id, rule.kind, source)
    event.start, event.indent = line.number, indentation(line.text)
    event.carried = said.group("cause")
    named = said.group("exception")
    if named:
        event.exception = tracebacks.bare_name(named)
    event.bare, event.sure = True, rule.sure
    event.mentioned = bool(_MENTIONED.match(text))
    if path := said.group("file"):
        number = said.group("line")
        event.frames = (
            Frame(path, int(number) if number.isdigit() else 0, said.group("function")),
        )
    return event
