"""Follow Python tracebacks, one per process, through the lines of others.

A traceback is its header, frames, and an exception line at the indentation of the header. Lines of
other programs may stand between its lines where streams interleave; they are passed by. Chains
("During handling of the above exception …") link a traceback to the one before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from ciops.failures.frames import Frame

_HEADER: Final = re.compile(r"(?:Exception Group )?Traceback \(most recent call last\):?")
_FRAME: Final = re.compile(
    r'\s*File "(?P<path>[^"]{1,1000})", line (?P<line>\d+)(?:,? in (?P<name>.{1,300}))?'
)
_EXCEPTION: Final = re.compile(
    r"(?P<name>(?:[A-Za-z_]\w*\.){0,12}[A-Za-z_]\w{1,100})(?:\[[\w.]{1,80}\])?"
    r"(?:\([\w.]{1,80}\))?(?::(?:\s+(?P<message>.*)|(?P<open>\s*))|(?P<bare>))$"
)
_USUAL_NAME: Final = re.compile(
    r"(?:Error|Exception|Exit|Interrupt|Warning|Failure|Failed|Timeout|Fault|Iteration|Group|Empty"
    r"|Abort(?:ed)?|Cancelled|Canceled|Refused|Reset|Violation|Exhausted|NotFound|Denied|Invalid"
    r"|Unsupported|Skipped|Again|Traceback|Died|Killed|Mismatch|Missing|Unavailable|Required)$"
)
_NO_EXCEPTION: Final = frozenset(
    [
        "INFO",
        "DEBUG",
        "WARNING",
        "WARN",
        "ERROR",
        "CRITICAL",
        "FATAL",
        "TRACE",
        "NOTICE",
        "NOTE",
        "Note",
        "HINT",
        "Hint",
        "File",
        "Traceback",
        "Warning",
        "Info",
        "Error",
        "Usage",
        "Downloading",
        "Epoch",
        "Loading",
        "Fetching",
        "Step",
    ]
)
CHAINED: Final = re.compile(
    r"^\s*(?:The above exception was the direct cause of the following exception"
    r"|During handling of the above exception, another exception occurred)"
)
_MOST_FOREIGN: Final = 80
_MOST_FRAMES: Final = 60


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception at the end of a traceback.

    `start` numbers the header, `number` the exception line; `open` says that the message begins on
    the next line.
    """

    start: int
    number: int
    text: str
    exception: str
    message: str
    frames: tuple[Frame, ...]
    open: bool = False


@dataclass(slots=True)
class Following:
    """A traceback that has begun and not ended, of one process."""

    start: int
    indent: int
    frames: list[Frame] = field(default_factory=list)
    foreign: int = 0
    interrupted: bool = False


def opens(text: str, number: int) -> Following | None:
    """The traceback that this line begins, also in the middle of other output."""
    match = _HEADER.search(text)
    if match is None:
        return None
    before = text[: match.start()]
    return Following(number, len(before) if not before.strip() else 0)


def follow(block: Following, text: str, number: int) -> Raised | bool:
    """One line of the process: True if it belongs, False if foreign, or the exception.

    A block is over when it raised, or when `is_lost`.
    """
    own = text[block.indent :] if not text[: block.indent].strip() else text
    frame = _FRAME.match(own) if own.startswith((" ", "\t")) else None
    if frame:
        block.interrupted = False
        if len(block.frames) < _MOST_FRAMES:
            block.frames.append(_frame(frame))
        else:
            block.frames[-1] = _frame(frame)
        return True
    if own.startswith((" ", "\t")) or not own:
        block.interrupted = False
        return True
    raised = _raised(block, own, number)
    if raised is not None:
        return raised
    block.foreign += 1
    block.interrupted = True
    return False


def is_lost(block: Following) -> bool:
    """Whether so much else has been printed that the end of the traceback will not come."""
    return block.foreign > _MOST_FOREIGN


def _frame(match: re.Match[str]) -> Frame:
    return Frame(match["path"], int(match["line"]), match["name"] or "")


def _raised(block: Following, text: str, number: int) -> Raised | None:
    match = _EXCEPTION.match(text)
    if match is None or not _is_exception(match["name"], block):
        return None
    opened = match["open"] is not None
    return Raised(
        block.start,
        number,
        text,
        match["name"],
        match["message"] or "",
        tuple(block.frames),
        opened,
    )


def _is_exception(name: str, block: Following) -> bool:
    last = name.rpartition(".")[2]
    if name in _NO_EXCEPTION:
        return False
    if _USUAL_NAME.search(last):
        return True
    if not block.frames or block.interrupted:
        return False
    return "." in name or last[0].isupper()


def bare_exception(text: str) -> tuple[str, str] | None:
    """The name and message of a line that is an exception without its traceback."""
    match = _EXCEPTION.match(text)
    if match is None or match["bare"] is not None or not _BARE_NAME.search(match["name"]):
        return None
    return match["name"], match["message"] or ""


def means_something(text: str) -> bool:
    """Whether a line could begin, link or end a traceback."""
    return "raceback (most" in text or bool(CHAINED.match(text)) or bare_exception(text) is not None


_BARE_NAME: Final = re.compile(r"(?:^|\.)[A-Z]\w{2,}(?:Error|Exception|Exit|Interrupt)$")


def bare_name(exception: str) -> str:
    """The class of an exception without its module: `GatedRepoError`."""
    return re.split(r"[.:]", exception.strip())[-1]
