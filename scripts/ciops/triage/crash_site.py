"""Where a process crashed: the package that the innermost frame of the dumped stack lies in.

Stacks as faulthandler dumps them (https://docs.python.org/3/library/faulthandler.html), frames of
gdb, and those that the signal handler of MPI prints. A stack in which a frame of the product is
shown says nothing against it: a call from there may be what went wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from ciops.triage.issue_text import Line, Reading

_MACHINE: Final = ("traceback", "cpp", "log")
_THREAD: Final = re.compile(r"\s{0,8}(?P<current>Current )?[Tt]hread (?:0x[0-9a-f]{1,16}|\d{1,9})")
_FRAME: Final = re.compile(
    r"\s{0,8}(?:File \"(?P<python>[^\"\n]{1,300})\", line \d"
    r"|#\d{1,3} .{0,200}? from (?P<gdb>/\S{1,300})"
    r"|\[[^\]\n]{1,60}\] \[ ?\d{1,3}\] (?P<signal>/[^\s(]{1,300}))"
)
_PACKAGE: Final = re.compile(r"/(?:site|dist)-packages/(?P<name>[\w.-]{1,60})/")
_SYSTEM: Final = re.compile(r"/lib(?:64)?/(?!.{0,80}-packages/)")


def crashed_elsewhere(reading: Reading, own: Sequence[re.Pattern[str]]) -> Line | None:
    """The frame of another package that a process crashed in, or None.

    `own` are patterns of the product's paths. Of several threads only the current one tells.
    """
    stacks = _stacks(line for line in reading.lines if line.zone in _MACHINE)
    current = [frames for is_current, frames in stacks if is_current]
    told = current[:1] or [frames for _, frames in stacks if frames]
    return _innermost_of_others(told[0], own) if len(told) == 1 else None


def _stacks(lines: Iterable[Line]) -> list[tuple[bool, list[tuple[str, Line]]]]:
    """Each thread's frames, the innermost first, and whether it is the current thread."""
    stacks: list[tuple[bool, list[tuple[str, Line]]]] = []
    for line in lines:
        if thread := _THREAD.match(line.text):
            stacks.append((thread["current"] is not None, []))
        elif frame := _FRAME.match(line.text):
            path = frame["python"] or frame["gdb"] or frame["signal"]
            if not stacks and not frame["python"]:
                stacks.append((True, []))
            if stacks:
                stacks[-1][1].append((path, line))
    return stacks


def _innermost_of_others(
    frames: Sequence[tuple[str, Line]], own: Sequence[re.Pattern[str]]
) -> Line | None:
    if any(pattern.search(path) for path, _ in frames for pattern in own):
        return None
    for path, line in frames:
        if _PACKAGE.search(path):
            return line
        if not _SYSTEM.search(path):
            break
    return None
