"""Where a policy's signals are in an issue.

One pass over the lines: the words of a line pick the few signals that may be in it, each is
searched there once. Copies of a line (one per rank) are searched once and count at most twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ciops.triage.issue_text import Line, Reading
from ciops.triage.policy import Policy, Signal

_DIGITS = re.compile(r"\d+")
_MOST_COPIES = 2
_MOST_HITS = 40


@dataclass(frozen=True, slots=True)
class Hit:
    """A signal in a line, at text[start:end]."""

    signal: Signal
    line: Line
    start: int
    end: int


def find_hits(reading: Reading, policy: Policy) -> list[Hit]:
    """Every signal of the policy in the lines where its zones allow it, in reading order."""
    copies: dict[tuple[str, str, int], int] = {}
    counts: dict[str, int] = {}
    found: list[Hit] = []
    for line in reading.lines:
        if line.zone == "env":
            continue
        key = (_DIGITS.sub("0", line.text), line.zone, line.turn)
        copies[key] = copies.get(key, 0) + 1
        if copies[key] > _MOST_COPIES:
            continue
        for hit in _hits_in(line, policy):
            counts[hit.signal.id] = counts.get(hit.signal.id, 0) + 1
            if counts[hit.signal.id] <= _MOST_HITS:
                found.append(hit)
    return found


def _hits_in(line: Line, policy: Policy) -> Iterator[Hit]:
    for number in sorted(policy.index.candidates(line.text)):
        signal = policy.signals[number]
        if line.zone not in signal.zones:
            continue
        if match := signal.search(line.text):
            yield Hit(signal, line, match.start(), match.end())
            yield from _more(signal, line, match)


def _more(signal: Signal, line: Line, first: re.Match[str]) -> Iterator[Hit]:
    """Further mentions in the same spoken line: a sentence may clear what another blamed."""
    if line.zone not in ("title", "prose", "steps"):
        return
    at = first.end()
    for _ in range(4):
        match = signal.search_from(line.text, at)
        if match is None or match.end() <= at:
            return
        yield Hit(signal, line, match.start(), match.end())
        at = match.end()
