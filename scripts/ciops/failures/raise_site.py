"""Where an error was raised, when no traceback of its own says so.

A traceback of its own counts first, if it leads through code that somebody owns. Native code names
its file in the message. An error of a device is reported late, by the traceback
of whichever call met it next: the call that started the work stands in it.
https://docs.pytorch.org/docs/stable/notes/cuda.html#asynchronous-execution
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
# https://docs.pytest.org/en/stable/how-to/output.html
_TEST_FILE: Final = re.compile(r"(?P<path>[\w./-]{1,300}\.py):(?P<line>\d{1,6}): \w+$")
_TEST_HEAD: Final = re.compile(r"_{3,} (?:\w+\.)*(?P<test>\w+)(?:\[.{0,200}\])? _{3,}$")
_DEVICE_KINDS: Final = frozenset(("assertion", "gpu"))
_LATE: Final = re.compile(r"\b(?:CUDA|HIP) error\b|device-side assert")


def raise_site(event: Event, events: Sequence[Event], roots: Sequence[Root]) -> tuple[Frame, ...]:
    """The frames that lead to an event, the innermost last; none when nothing tells."""
    named = _named(event)
    sites = (
        event.frames,
        (named,) if named else (),
        _of_test(event),
        _reported_late(event, events),
    )
    ours = (site for site in sites if innermost_owned(site, roots))
    return next(ours, event.frames)


def _named(event: Event) -> Frame | None:
    """The file that the words of an event name."""
    match = _NAMED.search("\n".join((event.text, *event.more))[:_LOOKED_AT])
    return Frame(match["path"], int(match["line"]), "") if match else None


def _reported_late(event: Event, events: Sequence[Event]) -> tuple[Frame, ...]:
    """The frames of the first traceback of the same process that reports an error of the device."""
    if event.kind not in _DEVICE_KINDS:
        return ()
    for other in events:
        near = 0 < other.start - event.last <= _REACH and other.source == event.source
        if near and other.frames and _LATE.search(other.text):
            return other.frames
    return ()


def _of_test(event: Event) -> tuple[Frame, ...]:
    """The file that pytest names below an assertion, and the test above it."""
    if not event.text.startswith("E "):
        return ()
    below, above = (map(_bare, lines) for lines in (event.after, event.before))
    place = next((match for text in below if (match := _TEST_FILE.match(text))), None)
    if place is None:
        return ()
    heads = [head["test"] for text in above if (head := _TEST_HEAD.match(text))]
    return (Frame(place["path"], int(place["line"]), heads[-1] if heads else ""),)


def _bare(line: Visible) -> str:
    return peel(line.text).text.strip()
