"""Frames that stacks print below an error, in the forms of several languages."""

from __future__ import annotations

import re
from typing import Final

from ciops.failures.frames import Frame

# pytest's `path.py:12: in test_x` stands above the error too: it is one place, not a stack.
_PLACE: Final = re.compile(
    r"^(?P<path>[\w./\\-]+\.\w{1,4}):(?P<line>\d+): (?:in (?P<name>\S+)|\w+$|)"
)
_STACKS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # faulthandler and watchdogs of Python
        r'^\s*File "(?P<path>[^"]+)", line (?P<line>\d+) in (?P<name>.+)$',
        # the JVM
        r"^\s+at (?P<name>[\w.$<>]+)\((?P<path>[\w.]+):(?P<line>\d+)\)",
        # Node, browsers
        r"^\s+at (?:(?:async |new )?(?P<name>[\w.$<>\[\] ]+) \()?"
        r"(?P<path>[^():\s]+):(?P<line>\d+)(?::\d+)?\)?$",
        # Ruby
        r"^\s+(?:\d+: )?from (?P<path>[^:\s]+):(?P<line>\d+)(?::in [`'](?P<name>.+)')?$",
        # Rust
        r"^\s+at (?P<path>\.?/[^:\s]+):(?P<line>\d+)(?P<name>)",
        # Go
        r"^\t(?P<path>\S+\.go):(?P<line>\d+)(?P<name>)",
        # sanitizers, gdb
        r"^\s*#\d+ (?:0x[0-9a-f]+ )?in (?P<name>\S+) (?P<path>/[^:\s]+):(?P<line>\d+)",
    )
)
# How a compiler points at the source that it has just found fault with.
_POINTER: Final = re.compile(
    r"^\s*(?:-->|╭─\[|┌─) ?(?P<path>[^\s:]+\.\w+):(?P<line>\d+)(?::\d+)?\]?$"
)
_ADDRESS: Final = re.compile(r"^\s*(?:#?\d{1,3}:?\s+)?(?:0x[0-9a-fA-F]{6,16}\b|\S+\(\+?0x)")


def stack_frame(line: str) -> Frame | None:
    """The frame of a line of a stack; the line keeps its indentation."""
    for pattern in _STACKS:
        match = pattern.match(line)
        if match:
            return Frame(match["path"], int(match["line"]), match["name"] or "")
    return None


def place(line: str) -> Frame | None:
    """The place that a line names in front of its words."""
    match = _PLACE.match(line)
    return Frame(match["path"], int(match["line"]), match["name"] or "") if match else None


def pointed_at(line: str) -> Frame | None:
    """The place that a line below the words of a finding points at."""
    match = _POINTER.match(line)
    return Frame(match["path"], int(match["line"]), "") if match else None


def is_address(line: str) -> bool:
    """Whether a line is a frame of a native stack without a source: an address, a symbol."""
    return bool(_ADDRESS.match(line))
