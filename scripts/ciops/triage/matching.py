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
from typing import Final, NamedTuple

from ciops.triage.anchor_index import AnchorIndex, Matcher
from ciops.triage.issue_text import Line, Reading
from ciops.triage.patterns import fold
from ciops.triage.policy import Policy, Signal
from ciops.triage.reading_rules import SPOKEN, Zone
from ciops.triage.versions import UNSURE

_DIGITS: Final = re.compile(r"\d+")
_MOST_COPIES: Final = 2
_MOST_HITS: Final = 40
_MOST_MENTIONS: Final = 5
_CAPTURED: Final = "worked"


@dataclass(frozen=True, slots=True)
class Hit:
    """A signal in a line, at text[start:end]. `captured` is what its groups took:
    versions that worked (`worked…`), or of which the words only suggest it (`perhaps…`).
    """

    signal: Signal
    line: Line
    start: int
    end: int
    captured: str | None = None


class _Span(NamedTuple):
    owner: int
    start: int
    end: int
    captured: str | None


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
        spans = _spans(line.text, line.zone, policy.index, spent)
        found.extend(_hit(span, line, policy) for span in spans)
        counts.update(span.owner for span in spans)
        full = {span.owner for span in spans if counts[span.owner] >= _MOST_HITS}
        if not full <= spent:
            spent |= full
    return found


def _hit(span: _Span, line: Line, policy: Policy) -> Hit:
    return Hit(policy.signals[span.owner], line, span.start, span.end, span.captured)


@lru_cache(maxsize=4096)
def _spans(text: str, zone: Zone, index: AnchorIndex, spent: frozenset[int]) -> tuple[_Span, ...]:
    """Where each signal is in a line; the `spent` ones have been found often enough.

    In what somebody says every mention counts, as a sentence may clear what another blamed;
    elsewhere the first is enough.
    """
    spoken = zone in SPOKEN
    by_owner: dict[int, list[_Span]] = {}
    folded = fold(text)
    for matcher in index.candidates(folded, zone):
        if matcher.owner in spent:
            continue
        regex = matcher.regex or matcher.compile()
        subject = folded if matcher.folded else text
        first = regex.search(subject)
        if first is not None:
            spans = by_owner.setdefault(matcher.owner, [])
            spans.append(_span(matcher, first))
            if spoken:
                later = islice(regex.finditer(subject, first.end()), _MOST_MENTIONS)
                spans.extend(_span(matcher, match) for match in later)
    found: list[_Span] = []
    for spans in by_owner.values():
        found += spans if len(spans) == 1 else _apart(spans, spoken)
    return tuple(found)


def _span(matcher: Matcher, match: re.Match[str]) -> _Span:
    return _Span(matcher.owner, match.start(), match.end(), _captured(match))


def _captured(match: re.Match[str]) -> str | None:
    if not match.re.groupindex:
        return None
    taken = ((name, text) for name, text in match.groupdict().items() if text)
    words = (text if name.startswith(_CAPTURED) else UNSURE + text for name, text in taken)
    return " ".join(words) or None


def _apart(spans: list[_Span], spoken: bool) -> Iterator[_Span]:
    """The spans in order, without those that overlap an earlier one and capture nothing new."""
    end = -1
    taken: set[str] = set()
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if span.start >= end or (span.captured is not None and span.captured not in taken):
            taken.add(span.captured or "")
            yield span
            end = max(span.end, span.start + 1)
            if not spoken:
                return
