"""Choose among the events that may be the cause: of equals the first, and what leads up to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ciops.failures import line_rules as roles
from ciops.failures import weights
from ciops.failures.events import Event
from ciops.failures.prefixes import peel

Weighed = Sequence[tuple[int, Event]]
"""Events, each with its weight."""

APART: Final = 8
"""Lines between an event and another that are not about the same."""
_KERNEL: Final = "kernel"
_GAVE_UP: Final = "giving-up"
_TRIED: Final = frozenset((roles.STATED, roles.CAUSE))
_BURST: Final = 40
_ADJACENT: Final = 3
# Kinds of errors that scripts shrug off.
_SHRUGGED: Final = frozenset(("shell", "git", "network", "deployment", "stated"))
_WENT_ON: Final = 4
# A command of a script after which another one is run where it fails; not one that ends the script.
_EITHER: Final = re.compile(
    r"\$ (?P<first>[^\s|;&]+)[^|;&]* \|\| (?P<other>(?!.*\b(?:exit|return|false|die|echo)\b).+)"
)
_OPENING: Final = 7
_WORD: Final = 5
_SAME: Final = 24
_LOOKED_AT: Final = 400
_TEST: Final = "test"
_MESSAGE: Final = re.compile(r"[\w./-]+\.\w+:\d+: \S")
_TELLS: Final = re.compile(
    r"(?i)!=|\b(?:want(?:ed|s)?|got|expect\w*|unexpected\w*|should|must|not?|cannot|can't|could|mismatch"
    r"|differ\w*|wrong|invalid|missing|fail\w*|err(?:or)?s?|panic\w*|time(?:d )?out|nil|\w+n't)\b"
)
# What is measured may be named after errors: a budget of them, their rate, how many there are.
_MEASURE: Final = re.compile(
    r"(?i)\b(?:err(?:or)?s?|fail\w*|panics?|time-?outs?)(?: \w+)?\s?[:=] ?[\d.]+%?$"
)
_DETAIL: Final = re.compile(r"(?i)(?:expected|actual|received|got)\b")


def place(event: Event) -> int:
    """Where it happened: other processes may speak before a traceback has come to its end."""
    return event.number if event.bare else event.start or event.number


def chosen(weighed: Weighed) -> Event:
    """The event that weighs most, the first of those that lead up to it."""
    weighed = _unshrugged(_first_hand(weighed))
    best = max(weight for weight, _ in weighed)
    equals = [event for weight, event in weighed if weight == best]
    if best in (weights.STATED, weights.GUESSED):
        return _last_burst(equals)
    first = min(equals, key=place)
    if best < weights.NOISE:
        return first
    likely = [event for weight, event in weighed if weight >= weights.NOISE]
    first = _start_of_burst(first, likely)
    return first if first.sure else _said_before(first, weighed)


def _first_hand(weighed: Weighed) -> Weighed:
    """What was not only shown after the fact, where that says enough; and what is certain."""
    heard = [one for one in weighed if not one[1].shown or one[0] >= weights.CERTAIN]
    return heard if any(weight >= weights.STATED for weight, _ in heard) else weighed


def _unshrugged(weighed: Weighed) -> Weighed:
    """Without single lines that a job went on after, where another tool's stand further below."""
    said = [event for weight, event in weighed if weight >= weights.STATED]
    last = max(said, key=place, default=None)
    if last is None:
        return weighed
    return [
        (weight, one)
        for weight, one in weighed
        if one is last or not (_is_replaced(one) or _is_passed(one, last))
    ]


def _is_passed(one: Event, last: Event) -> bool:
    """Whether a job went on after a single line, until something else failed further below."""
    return is_shrugged_off(one) and last.number - one.last > APART and not _is_alike(one, last)


def _is_replaced(event: Event) -> bool:
    """Whether a command said it in whose stead the script ran another: `one || other`."""
    if not event.bare or event.kind not in _SHRUGGED:
        return False
    commands = (line.text for line in reversed(event.before) if line.text.startswith("$ "))
    either = _EITHER.match(next(commands, ""))
    if either is None:
        return False
    name = either["first"].rpartition("/")[2]
    return name in event.text and name != either["other"].split()[0].rpartition("/")[2]


def _is_alike(one: Event, other: Event) -> bool:
    """Whether two errors are said in the same way, as one tool says all of its own."""
    return one.text[:_OPENING] == other.text[:_OPENING]


def is_shrugged_off(event: Event) -> bool:
    """Whether an event is a single line of a kind that scripts go on after."""
    return event.bare and event.kind in _SHRUGGED and event.alive >= _WENT_ON


def _said_before(first: Event, weighed: Weighed) -> Event:
    """Where the same was stated before in so many words, above an error that is none at times."""
    for weight, event in weighed:
        gap = first.start - event.last
        if weight != weights.STATED or not 0 < gap <= _BURST:
            continue
        if gap <= _ADJACENT and _goes_on(event, first, weighed):
            return event
        if _says_the_same(event.text, first.text):
            return event
    return first


def _goes_on(one: Event, other: Event, weighed: Weighed) -> bool:
    """Whether an event goes on with what one right above it says: the same tool, or details."""
    if one.text[:_WORD] == other.text[:_WORD]:
        return True
    between = any(one.number < event.number < other.start for _, event in weighed)
    return not between and _DETAIL.match(other.text) is not None


def _says_the_same(one: str, other: str) -> bool:
    """Whether two lines share a long run of characters."""
    starts = range(0, min(len(one), _LOOKED_AT) - _SAME, _SAME // 4)
    return any(one[at : at + _SAME] in other for at in starts)


def _start_of_burst(first: Event, events: Sequence[Event]) -> Event:
    """The first of likely causes that lead up to a certain one without a gap."""
    for event in sorted(events, key=place, reverse=True):
        if event.mentioned or place(event) >= place(first) or first.kind == _KERNEL != event.kind:
            continue
        if first.start - event.last <= _BURST:
            first = event
    return first


def _last_burst(events: Sequence[Event]) -> Event:
    """The first of the statements that stand together at the end."""
    ordered = sorted(events, key=place)
    first = ordered[-1]
    for event in reversed(ordered[:-1]):
        if first.number - event.last > _BURST:
            break
        first = event
    return first


def first_try(event: Event, events: Sequence[Event]) -> Event:
    """Where somebody gave up: what every try had said before, if there is such a thing."""
    if event.kind != _GAVE_UP:
        return event
    said = (
        other
        for other in events
        if other.repeats
        and other.role in _TRIED
        and other.last < event.number
        and not other.epilogue
    )
    return next((other for other in said if event.number - other.last <= _BURST), event)


def telling(event: Event) -> Event:
    """Of messages that a failed test left one below the other: the first that tells of a failure.

    Tests also say how far they are, in the same form.
    """
    if event.kind != _TEST or not _MESSAGE.match(event.text) or _tells(event.text):
        return event
    for line in event.after:
        text = peel(line.text).text.strip()
        if not _MESSAGE.match(text):
            break
        if _tells(text):
            return replace(event, number=line.number, text=text)
    return event


def _tells(text: str) -> bool:
    """Whether the message of a test tells of a failure, not of a measure."""
    return _TELLS.search(_MEASURE.sub("", text)) is not None
