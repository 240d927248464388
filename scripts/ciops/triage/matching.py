"""Where a policy's signals are in an issue.

One pass over the lines: the words of a line pick the few terms and patterns that may be in it,
each is searched there once. Copies of a line (one per rank) are searched once and count at most
twice. What was found in a line is kept for a while, as counterfactuals read the same lines again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from ciops.triage.anchor_index import AnchorIndex
from ciops.triage.issue_text import Line, Reading
from ciops.triage.patterns import fold, words_of
from ciops.triage.policy import Policy, Signal
from ciops.triage.reading_rules import SPOKEN, Zone
from ciops.triage.sayings import SayingIndex

_DIGITS: Final = re.compile(r"\d+")
_MOST_COPIES: Final = 2
_MOST_HITS: Final = 40
_MOST_MENTIONS: Final = 5


@dataclass(slots=True)
class Hit:
    """A signal in a line, at text[start:end]."""

    signal: Signal
    line: Line
    start: int
    end: int


_Span = tuple[int, int, int]
"""The number of a signal, and where it is in a line."""


def find_hits(reading: Reading, policy: Policy) -> list[Hit]:
    """Every signal of the policy in the lines where its zones allow it, in reading order."""
    copies: dict[tuple[str, str, int], int] = {}
    counts: Counter[int] = Counter()
    spent: frozenset[int] = frozenset()
    found: list[Hit] = []
    for line in reading.lines:
        if line.zone == "env":
            continue
        key = (_DIGITS.sub("0", line.text), line.zone, line.turn)
        copies[key] = copies.get(key, 0) + 1
        if copies[key] > _MOST_COPIES:
            continue
        spans = _spans(line.text, line.zone, policy.index, policy.sayings, spent)
        for owner, start, end in spans:
            signal = policy.signals[owner]
            if _may_say(signal, line):
                found.append(Hit(signal, line, start, end))
            counts[owner] += 1
            if counts[owner] >= _MOST_HITS:
                spent |= {owner}
    return found


def _may_say(signal: Signal, line: Line) -> bool:
    """Whether a signal counts from who says it, at that time."""
    if signal.later and not line.later:
        return False
    if signal.by == "party":
        return line.speaker in ("reporter", "maintainer")
    return signal.by in ("anybody", line.speaker)


@lru_cache(maxsize=4096)
def _spans(
    text: str, zone: Zone, index: AnchorIndex, sayings: SayingIndex, spent: frozenset[int]
) -> tuple[_Span, ...]:
    """Where each signal is in a line; the `spent` ones have been found often enough.

    In what somebody says every mention counts, as a sentence may clear what another blamed;
    elsewhere the first is enough.
    """
    spoken = zone in SPOKEN
    by_owner: dict[int, list[_Span]] = {}
    folded = fold(text)
    words = words_of(folded)
    for matcher in index.candidates(folded, words, zone):
        owner = matcher.owner
        if owner in spent:
            continue
        regex = matcher.regex or matcher.compile()
        subject = folded if matcher.folded else text
        first = regex.search(subject)
        if first is None:
            continue
        spans = by_owner.setdefault(owner, [])
        spans.append((owner, *first.span()))
        if spoken:
            later = islice(regex.finditer(subject, first.end()), _MOST_MENTIONS)
            spans += [(owner, *match.span()) for match in later]
    for said in sayings.find(folded, zone, spent, words):
        by_owner.setdefault(said.owner, []).append(said)
    found: list[_Span] = []
    for spans in by_owner.values():
        found += spans if len(spans) == 1 else _apart(spans, spoken)
    return tuple(found)


def _apart(spans: list[_Span], spoken: bool) -> Iterator[_Span]:
    """The spans in order, without those that overlap an earlier one."""
    last = -1
    for span in sorted(spans, key=lambda span: (span[1], -span[2])):
        _, start, end = span
        if start >= last:
            yield span
            last = max(end, start + 1)
            if not spoken:
                return
