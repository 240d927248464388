"""Whether work was still being done when a job was ended from outside.

A time limit that strikes while work goes on is another failure than one that ends a hang. Work
shows in lines of a known kind (the configuration's `progress`), or in a counter that grows from one
line to the next of its kind. Where the trace tells the time, a long silence before the end says
that nothing moved any more: after lines that came at a steady pace, or after other words than
those of work.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final

from ciops.failures.framing import Visible

_REACH: Final = 12
_REACH_BEFORE_SILENCE: Final = 1
_FEWEST: Final = 3
_RUNNER: Final = "00"
_SILENCE: Final = 600
"""Seconds without a line that are long, whatever the pace was."""
_USUAL_GAPS: Final = 5
_LAST: Final = 6
_PACE: Final = 1.0
"""Seconds between lines from which on they show a pace; quicker ones are a burst."""
_NUMBERS: Final = re.compile(r"\d+(?:\.\d+)?")
# Lines whose numbers grow though nothing moves.
_IDLE: Final = re.compile(
    r"(?i)heart-?beat|\b(?:still|waiting|waited|idle|elapsed|uptime|alive|hung|stuck|stalled)\b"
    r"|\bno (?:progress|output|response)\b"
)
_OF_RUNNER: Final = re.compile(r"^WARNING: \w+ could not run to completion because the timeout")


def made_progress(lines: Sequence[Visible], end: Visible, known: re.Pattern[str] | None) -> bool:
    """Whether the `lines` above the `end` of a job show work up to it."""
    said = [line for line in lines if line.text and not _is_of_runner(line)]
    if not said:
        return False
    reach = _REACH
    if _is_silent(said, end):
        if _pace(said) >= _PACE:
            return False
        reach = _REACH_BEFORE_SILENCE
    if known is not None and any(known.search(line.text) for line in said[-reach:]):
        return True
    return not _IDLE.search(said[-1].text) and _counts_up(said)


def _is_of_runner(line: Visible) -> bool:
    return line.stream == _RUNNER or bool(_OF_RUNNER.match(line.text))


def _is_silent(said: Sequence[Visible], end: Visible) -> bool:
    """Whether the last line stands far longer before the end than lines used to take."""
    last = said[-1].time
    if not last or not end.time:
        return False
    return _seconds(end.time) - _seconds(last) > max(_SILENCE, _USUAL_GAPS * _pace(said))


def _pace(said: Sequence[Visible]) -> float:
    """The usual seconds between two of the last lines."""
    times = [_seconds(line.time) for line in said[-_LAST:] if line.time]
    gaps = sorted(later - earlier for earlier, later in pairwise(times))
    return gaps[len(gaps) // 2] if gaps else 0.0


def _seconds(time: str) -> float:
    """Seconds of a day and time of UTC; 0 for what is none, such as minute 71."""
    try:
        return datetime.fromisoformat(f"{time}+00:00").timestamp()
    except ValueError:
        return 0.0


def _counts_up(said: Sequence[Visible]) -> bool:
    """Whether the last line is of a kind of which some number grew each time."""
    kind = _NUMBERS.sub("#", said[-1].text)
    alike = [line.text for line in said if _NUMBERS.sub("#", line.text) == kind]
    if len(alike) < _FEWEST:
        return False
    columns = zip(*(map(float, _NUMBERS.findall(text)) for text in alike), strict=False)
    return any(all(a < b for a, b in pairwise(column)) for column in columns)
