"""Undo what a runner adds to the output of a job.

GitLab's runner writes plain traces, or since 17 timestamped ones: every line begins with
`2026-05-04T10:11:12.123456Z 01O `: a number for the stream (00 is the runner, 01 the script),
`O` or `E` for stdout or stderr, and `+` where the line continues one of that stream that was
flushed before it ended (https://docs.gitlab.com/ci/jobs/job_logs/). Sections are marked by
`section_start:TIME:NAME\\r\\x1b[0K` (https://docs.gitlab.com/ci/jobs/job_logs/#custom-collapsible-sections),
which runners cut over lines differently. GitHub's begins lines with a timestamp alone.

Terminal control is undone too: colours, cursor movement, titles, `\\r` overwrites, `\\b`.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

LONGEST_LINE: Final = 4096
"""Characters of one visible line that are looked at as a whole."""
_LONGEST_JOIN: Final = 16_384
_MOST_HELD: Final = 4

_STAMP: Final = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{1,9}Z "
    r"(?P<stream>[0-9a-fA-F]{2})(?P<pipe>[OE])(?P<plus>[ +])"
)
_STAMPED: Final = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.]{8,20}Z [0-9a-fA-F]{2}[OE][ +]")
_CONTINUES: Final = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.]{8,20}Z [0-9a-fA-F]{2}[OE]\+")
_SECTION: Final = re.compile(
    r"section_(?P<edge>start|end):\d+:(?P<name>[\w.-]+)(?:\[[^\]\r\n]*\])?(?:\r(?:\x1b\[0?K)?|$)"
)
# How GitHub prints the script of a step before it runs: it says what could be, not what was.
_SCRIPT: Final = re.compile(r"(?:\S{20,32}Z )?\x1b\[36;1m[^\x1b]*\x1b\[0m\r?$")
# CSI, strings (OSC; APC, in which Buildkite's agent stamps each line) that ST or BEL ends,
# two-character escapes; and a CSI that the start of a chunk has cut off is left.
_ESCAPES: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_]"
    r"|[()#][0-9A-Za-z])"
)
# A colour code that lost its escape byte on the way, as GitHub and some log stores do.
_BARE_CODES: Final = re.compile(
    r"(?<!\w)\[(?:\d{1,3}(?:;\d{1,3}){0,4}[mK](?!\w*\])|[mK](?![\w.:/ -]*\]))"
)
_CONTROL: Final = re.compile(
    r"[\x00-\x07\x0b\x0c\x0e-\x1f\x7f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
)
_BACKSPACED: Final = re.compile(r"[^\x08]?\x08")


@dataclass(frozen=True, slots=True)
class Section:
    """The edge of a section of a GitLab trace."""

    number: int
    name: str
    starts: bool


@dataclass(frozen=True, slots=True)
class Visible:
    """One line as a person sees it, numbered by the raw line on which it begins.

    `stream` is `00` for the runner's own words in a timestamped trace, `01` for the script's,
    `time` when it was printed (`2026-05-04T10:11:12`); both are empty where the trace does not say.
    """

    number: int
    text: str
    stream: str = ""
    time: str = ""


@dataclass(slots=True)
class _Held:
    """A timestamped line that a `+` line of its stream may still continue."""

    stream: str
    pieces: list[tuple[int, str]]
    size: int = 0
    time: str = ""
    complete: bool = False


_PLUS: Final = re.compile(rb"Z ([0-9a-fA-F]{2}[OE])\+")
_SEAM: Final = 24
_MOST_BETWEEN: Final = 5


def seams(before: bytes, data: bytes) -> Iterator[tuple[int, bytes]]:
    """The text around each place where a line was flushed and goes on, with the line's index.

    Words may be cut in two there. `before` is what stood before the lines of `data`.
    """
    index, at = 0, 0
    for plus in _PLUS.finditer(data):
        begin = data.rfind(b"\n", 0, plus.start()) + 1
        if plus.start() - begin > 30:
            continue  # in the middle of a line
        index += data.count(b"\n", at, begin)
        at = begin
        above = data[max(0, begin - 4096) : begin] or before + b"\n"
        lines = above.split(b"\n")[-_MOST_BETWEEN - 1 : -1]
        cut = next((x for x in reversed(lines) if plus[1] in x[:36]), b"")
        end = data.find(b"\n", plus.end())
        goes_on = data[plus.end() : plus.end() + _SEAM if end < 0 else min(end, plus.end() + _SEAM)]
        yield index, cut.rstrip(b"\r")[-_SEAM:] + goes_on


def is_stamped(raw: bytes) -> bool:
    """Whether a raw line, or the first of some, was stamped by GitLab's runner."""
    return _STAMPED.match(raw) is not None


def continues(raw: bytes) -> bool:
    """Whether a raw line goes on with an earlier one of its stream."""
    return _CONTINUES.match(raw) is not None


class Unframer:
    """Turns raw lines into visible ones and section edges, in the order in which they began.

    Lines of a timestamped trace are held for a few lines, since output of another stream may
    stand before their continuation: call `flush` when no further line will be pushed for now.
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: deque[_Held] = deque()

    @property
    def holds(self) -> bool:
        """Whether lines are held back."""
        return bool(self._held)

    def push(self, number: int, raw: bytes) -> Iterator[Visible | Section]:
        """What becomes visible by one raw line (without its newline)."""
        text = raw.decode("utf-8", "replace")
        stamp = _STAMP.match(text)
        if stamp is None:
            yield from self.flush()
            if not _SCRIPT.match(text):
                yield from _visible([(number, text)], _UNKNOWN)
            return
        self._hold(stamp, number, text[stamp.end() :])
        while self._held and (self._held[0].complete or len(self._held) > _MOST_HELD):
            yield from _shown(self._held.popleft())

    def _hold(self, stamp: re.Match[str], number: int, text: str) -> None:
        stream = stamp["stream"] + stamp["pipe"]
        last = next((held for held in reversed(self._held) if held.stream == stream), None)
        if last is not None and stamp["plus"] == "+" and last.size < _LONGEST_JOIN:
            last.pieces.append((number, text))
            last.size += len(text)
            return
        if last is not None:
            last.complete = True
        self._held.append(_Held(stream, [(number, text)], len(text), stamp["time"]))

    def flush(self) -> Iterator[Visible | Section]:
        """The lines that were held back."""
        while self._held:
            yield from _shown(self._held.popleft())


def _shown(held: _Held) -> Iterator[Visible | Section]:
    return _visible(held.pieces, (held.stream[:2], held.time))


_Origin = tuple[str, str]
"""The stream and the time of a line, as `Visible` has them."""
_UNKNOWN: Final[_Origin] = ("", "")


def _visible(pieces: list[tuple[int, str]], origin: _Origin) -> Iterator[Visible | Section]:
    """The visible lines of one logical line that arrived in pieces."""
    text = "".join(piece for _, piece in pieces)
    starts = _starts(pieces)
    at = 0
    if "section_" in text:
        for match in _SECTION.finditer(text):
            yield from _overwritten(text, at, match.start(), starts, origin)
            yield Section(
                _number_at(starts, match.start()), match["name"], match["edge"] == "start"
            )
            at = match.end()
    yield from _overwritten(text, at, len(text), starts, origin)


def _starts(pieces: list[tuple[int, str]]) -> list[tuple[int, int]]:
    """Where each piece starts in the joined text, with the number of its raw line."""
    starts, at = [], 0
    for number, piece in pieces:
        starts.append((at, number))
        at += len(piece)
    return starts


def _number_at(starts: list[tuple[int, int]], position: int) -> int:
    number = starts[0][1]
    for at, line in starts:
        if at > position:
            break
        number = line
    return number


def _overwritten(
    text: str, begin: int, end: int, starts: list[tuple[int, int]], origin: _Origin
) -> Iterator[Visible]:
    """The states that a line went through: each `\\r` begins a new one."""
    at = begin
    while True:
        cut = text.find("\r", at, end)
        stop = end if cut < 0 else cut
        if stop > at or (at == begin == 0 and stop == end):
            number = _number_at(starts, at)
            for part in _windows(text[at:stop]):
                yield Visible(number, clean(part), *origin)
        if cut < 0:
            return
        at = cut + 1


_SPOTS: Final = (
    *("Traceback (most recent call last)", "Error: ", "Exception: ", "FATAL", "fatal: "),
    *("fatal error", "panic: ", "Segmentation fault"),
)
_MOST_SPOTS: Final = 8
_LONGEST_NAME: Final = 200


def _windows(text: str) -> Iterator[str]:
    """An over-long line as its beginning, the places that look like an error, and its end."""
    if len(text) <= LONGEST_LINE:
        yield text
        return
    yield text[:1024]
    done, tail = 1024, len(text) - 2048
    for start in _spots(text, done, len(text)):
        if start >= tail:
            yield text[max(done, tail) : start]
            done = start
            break
        if start >= done:
            done = start + 1024
            yield text[start:done]
    yield text[max(done, tail) :]


def _spots(text: str, begin: int, end: int) -> list[int]:
    """Where words begin in a line that look like an error, the first few."""
    found = []
    for spot in _SPOTS:
        at = text.find(spot, begin, end)
        for _ in range(_MOST_SPOTS):
            if at < 0:
                break
            found.append(
                max(text.rfind(" ", at - _LONGEST_NAME, at) + 1, at - _LONGEST_NAME, begin)
            )
            at = text.find(spot, at + 1024, end)
    return sorted(found)[:_MOST_SPOTS]


def clean(text: str) -> str:
    """Text without terminal control, bidirectional marks and trailing blanks; tabs stay."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "[" in text:
        text = _BARE_CODES.sub("", text)
    if "\x08" in text:
        text = _BACKSPACED.sub("", text)
    if not text.isprintable():
        text = _CONTROL.sub("", text)
    return text.rstrip()
