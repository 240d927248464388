"""Tracebacks as structures: blocks of a chain, frames, the exception, the rank that raised it.

Built from the zoned lines of one document. A Python traceback lists the outermost call first;
stacks of a process that is still running (py-spy, faulthandler) list the innermost first and
carry no exception.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ciops.triage import line_shapes
from ciops.triage.zones import ZonedLine

_RAISED: Final = re.compile(
    r"Exception raised from (?P<name>[\w:~<>, ]{1,200}?) at (?P<path>[\w./+-]{1,300}):\d"
)
_MESSAGE_LINES: Final = 12
_OTHER_ERROR: Final = re.compile(
    r"^(?P<name>(?:[A-Za-z_]\w{0,60}\.){1,8}\w{1,60}): (?P<message>.*)"
)


@dataclass(frozen=True, slots=True)
class Frame:
    """One call: where, in what function; `number` is the line of the document."""

    path: str
    name: str
    number: int
    source: str = ""


@dataclass(frozen=True, slots=True)
class Traceback:
    """One block of a traceback.

    `frames` run from the outermost call to the innermost. `running` marks the stack of a live
    process. `links` counts the blocks of its chain that come after it: the root is where it is 0.
    """

    frames: tuple[Frame, ...]
    exception: str = ""
    message: str = ""
    number: int = 0
    prefix: str = ""
    running: bool = False
    links: int = 0

    @property
    def signature(self) -> tuple[str, str, str]:
        """What makes two copies of a traceback, from two ranks, the same one."""
        last = self.frames[-1] if self.frames else Frame("", "", 0)
        return (last.path, last.name, self.exception)


@dataclass(slots=True)
class _Open:
    prefix: str
    frames: list[Frame] = field(default_factory=list)
    exception: str = ""
    message: list[str] = field(default_factory=list)
    number: int = 0
    chained: bool = False
    innermost_first: bool = False


def find_tracebacks(lines: Sequence[ZonedLine]) -> list[Traceback]:
    """The tracebacks of one document, in order, each rank's lines kept apart."""
    found: list[Traceback] = []
    for block in _by_block(lines):
        ranks: dict[str, list[ZonedLine]] = {}
        for line in block:
            ranks.setdefault(line.prefix, []).append(line)
        for prefix, own in ranks.items():
            found.extend(_linked(list(_python_blocks(own, prefix))))
        found.extend(_native_blocks(block))
    return found


def _by_block(lines: Sequence[ZonedLine]) -> Iterator[list[ZonedLine]]:
    block: list[ZonedLine] = []
    for line in lines:
        if block and line.block != block[0].block:
            yield block
            block = []
        if line.zone in ("traceback", "cpp"):
            block.append(line)
    if block:
        yield block


def _python_blocks(lines: Sequence[ZonedLine], prefix: str) -> Iterator[tuple[Traceback, bool]]:
    """The blocks of one rank, each with whether the chain goes on with the next."""
    current = _Open(prefix)
    for line in lines:
        if line.zone != "traceback":
            continue
        shape = line_shapes.shape_of(line.text)
        if shape == "chain":
            current.chained = True
            continue
        starts = shape == "header" or (shape == "frame" and current.exception)
        if starts and (current.frames or current.exception):
            yield _closed(current)
            current = _Open(prefix)
        _feed(current, line, shape)
    if current.frames or current.exception:
        yield _closed(current)


def _feed(current: _Open, line: ZonedLine, shape: str) -> None:
    current.number = current.number or line.number
    if match := line_shapes.FRAME.match(line.text):
        name = (match["name"] or "").strip()
        current.frames.append(Frame(match["path"], name, line.number))
        return
    if match := line_shapes.STACK_FRAME.match(line.text):
        current.frames.insert(0, Frame(match["path"], match["name"], line.number))
        return
    if shape in ("header", "stack"):
        current.innermost_first = "most recent call first" in line.text
        return
    if current.exception:
        if len(current.message) < _MESSAGE_LINES:
            current.message.append(line.text.strip())
        return
    error = line_shapes.ERROR.match(line.text)
    if error is None and current.frames and line.text[:1] not in " \t":
        error = _OTHER_ERROR.match(line.text)
    if error:
        current.exception = error["name"]
        current.message.append(error["message"] or "")
        current.number = line.number
    elif current.frames and line.text[:1] in " \t|E" and not current.frames[-1].source:
        last = current.frames[-1]
        current.frames[-1] = Frame(last.path, last.name, last.number, line.text.strip())


def _closed(current: _Open) -> tuple[Traceback, bool]:
    message = " ".join(current.message).strip()
    if current.innermost_first:
        current.frames.reverse()
    running = bool(current.frames) and not current.exception
    traceback = Traceback(
        tuple(current.frames),
        current.exception,
        message,
        current.number,
        current.prefix,
        running and _is_live(current.frames),
    )
    return traceback, current.chained


def _is_live(frames: Sequence[Frame]) -> bool:
    """Stacks of py-spy have no source lines; a traceback that lost its last line has."""
    return not any(frame.source for frame in frames)


def _linked(blocks: Sequence[tuple[Traceback, bool]]) -> list[Traceback]:
    """The blocks of one rank with the number of later blocks of their chain."""
    linked: list[Traceback] = []
    after = 0
    for block, chained in reversed(blocks):
        after = after + 1 if chained else 0
        linked.append(replace(block, links=after))
    return linked[::-1]


def _native_blocks(lines: Sequence[ZonedLine]) -> Iterator[Traceback]:
    """C++ errors that say where they were raised."""
    for line in lines:
        if match := _RAISED.search(line.text):
            frame = Frame(match["path"], match["name"].strip(), line.number)
            yield Traceback((frame,), "c10::Error", "", line.number, line.prefix)
