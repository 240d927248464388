"""Where an error was raised, when no traceback of its own says so.

A traceback of its own counts first, if it leads through code that somebody owns. Native code,
compilers and test runners name a file in the message or right below it. An error of a device is
reported late, by the traceback of whichever call met it next: the call that started the work stands
in it (https://docs.pytorch.org/docs/stable/notes/cuda.html#asynchronous-execution). The test that
failed stands for the function where no function is named; pytest shows the source of the function.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from ciops.failures.events import Event
from ciops.failures.frames import Frame, Root, innermost_owned
from ciops.failures.framing import Visible
from ciops.failures.prefixes import peel

_REACH: Final = 60
_LOOKED_AT: Final = 4000
_NAMED: Final = re.compile(
    r"(?<![\w/.])(?P<path>/(?:[\w.+-]+/){1,40}[\w.+-]+\.(?:cpp|cc|cu|cuh|h|hpp|inl|c|rs|go))"
    r":(?P<line>\d{1,6})\b"
)
_DEVICE_KINDS: Final = frozenset(("assertion", "gpu"))
_LATE: Final = re.compile(r"\b(?:CUDA|HIP) error\b|device-side assert")
# `mesh.cpp:12: Failure`, `store_test.go:41: got 3`; `--> src/lib.rs:10:17` below words of rustc;
# `tests/test_a.py:31: AssertionError` below those of pytest.
_FIRST: Final = re.compile(r"(?P<path>[\w./+-]{1,300}\.[A-Za-z]{1,5}):(?P<line>\d{1,6})\b")
_BELOW: Final = re.compile(
    r"(?:-+> (?P<arrow>[\w./+-]{1,300}):(?P<row>\d{1,6})"
    r"|(?P<path>[\w./-]{1,300}\.py):(?P<line>\d{1,6}): \w+$)"
)
_PLACED_KINDS: Final = frozenset(("test", "compile", "lint"))
# How runners head a failing test, and how they name it afterwards.
_TEST_ABOVE: Final = re.compile(
    r"_{3,} (?:\w+\.)*(?P<pytest>\w+)(?:\[.{0,200}\])? _{3,}$|=== RUN +(?P<go>\S{1,200})$"
    r"|\[ RUN +\] (?P<gtest>\S{1,200})"
)
# What parts the entries of a traceback of pytest, and the source that an entry shows.
_ENTRY: Final = re.compile(r"(?:_ ){3,}_?$|_{3,} \S.* _{3,}$")
_DEFINED: Final = re.compile(r"(?:> +)?(?:async )?def (?P<name>\w+)\(")
_TEST_BELOW: Final = re.compile(
    r"--- FAIL: (?P<go>\S{1,200})|\[ +FAILED +\] (?P<gtest>[A-Z]\S{0,200}) \("
)


def raise_site(event: Event, events: Sequence[Event], roots: Sequence[Root]) -> tuple[Frame, ...]:
    """The frames that lead to an event, the innermost last; none when nothing tells."""
    sites = [
        event.frames,
        *((frame,) for frame in (_named(event), _placed(event)) if frame),
        _reported_late(event, events),
    ]
    ours = next((site for site in sites if innermost_owned(site, roots)), ())
    return _in_test(ours or next(filter(None, sites), ()), event)


def _named(event: Event) -> Frame | None:
    """The file of native code that the words of an event name."""
    match = _NAMED.search("\n".join((event.text, *event.more))[:_LOOKED_AT])
    return Frame(match["path"], int(match["line"]), "") if match else None


def _placed(event: Event) -> Frame | None:
    """The file that a compiler or a test runner names before or below its words."""
    if event.kind not in _PLACED_KINDS:
        return None
    first = _FIRST.match(event.text)
    if first is not None:
        return Frame(first["path"], int(first["line"]), "")
    below = _first(_BELOW, event.after)
    if below is None:
        return None
    return Frame(below["arrow"] or below["path"], int(below["row"] or below["line"]), "")


def _reported_late(event: Event, events: Sequence[Event]) -> tuple[Frame, ...]:
    """The frames of the first traceback of the same process that reports an error of the device."""
    if event.kind not in _DEVICE_KINDS:
        return ()
    for other in events:
        near = 0 < other.start - event.last <= _REACH and other.source == event.source
        if near and other.frames and _LATE.search(other.text):
            return other.frames
    return ()


def _in_test(frames: tuple[Frame, ...], event: Event) -> tuple[Frame, ...]:
    """The frames with the name of the failing test, where the innermost one has no function."""
    if event.kind != "test" or not frames or frames[-1].function:
        return frames
    shown = _shown_function(event)
    match = _first(_TEST_BELOW, event.after) or _first(_TEST_ABOVE, reversed(event.before))
    if not shown and match is None:
        return frames
    function = shown or (match[match.lastgroup or 0] if match else "")
    return (*frames[:-1], replace(frames[-1], function=function))


def _shown_function(event: Event) -> str:
    """The function whose source pytest shows above the error: the first of the last entry."""
    found = ""
    for line in reversed(event.before):
        text = peel(line.text).text.strip()
        if _ENTRY.match(text):
            return found
        match = _DEFINED.match(text)
        found = match["name"] if match else found
    return ""


def _first(pattern: re.Pattern[str], lines: Iterable[Visible]) -> re.Match[str] | None:
    """The first of some lines that begins so, under its prefixes."""
    bare = (peel(line.text).text.strip() for line in lines)
    return next((match for text in bare if (match := pattern.match(text))), None)
