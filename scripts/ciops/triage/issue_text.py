"""Read a whole issue: title, body and comments become lines with zone, place and speaker.

Pure: facts and rules in, a `Reading` out. What a bot wrote is not read at all; in comments a
quoted reply is somebody else's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

from ciops.triage.facts import MAINTAINERS, Account, CommentFacts, IssueFacts
from ciops.triage.reading_rules import SPOKEN, ReadingRules, Zone
from ciops.triage.tracebacks import Traceback, find_tracebacks
from ciops.triage.zones import MAX_SEGMENT, ZonedLine, zone_document

Speaker = Literal["reporter", "maintainer", "other", "bot"]

_LEAD: Final = 400
_CACHED_DOCUMENTS: Final = 64
_EDITED: Final = re.compile(
    r"\W{0,6}(?:edit(?:ed)?|update[ds]?|upd|correction|eta|p\.?s\.?|追記|更新|编辑|补充|màj)\b"
    r"(?:\W{0,3}(?:\d|[:\])*,.(-]|$)| [^.:!?]{1,60}:)",
    re.I,
)
_EDITED_INSIDE: Final = re.compile(
    r"[.!?)] \W{0,4}(?:edit(?:ed)?|update[ds]?|upd|correction)\W{0,3}:", re.I
)


@dataclass(slots=True)
class Line:
    """One line of an issue.

    `lead`: among the first words of the report or comment, where people say what it is about;
    `later`: said after the report, in a comment or in an edit of the body.
    `where` is "title", "body" or "comment N" (N from 1); `turn` is 0 for the report and N for
    comment N; `number` to `last` are its lines in that document.
    Not frozen, which would take twice the time of thousands; nobody changes one.
    """

    text: str
    zone: Zone
    where: str
    number: int
    last: int
    turn: int
    speaker: Speaker
    block: int
    later: bool = False
    lead: bool = True


@dataclass(frozen=True, slots=True)
class TurnTraceback:
    """A traceback and who pasted it where."""

    traceback: Traceback
    where: str
    turn: int
    speaker: Speaker


@dataclass(frozen=True, slots=True)
class Reading:
    """An issue as it is read: its lines in order, and its tracebacks.

    `people` are how many others wrote who are no maintainers.
    """

    lines: tuple[Line, ...]
    tracebacks: tuple[TurnTraceback, ...]
    turns: int
    thumbs_up: int = 0
    people: int = 0
    maintainer_turns: frozenset[int] = field(default_factory=frozenset)


def read_issue(
    facts: IssueFacts, rules: ReadingRules, bots: frozenset[str] = frozenset()
) -> Reading:
    """Read an issue. `bots` are folded logins whose comments are not read."""
    lines: list[Line] = []
    tracebacks: list[TurnTraceback] = []
    if title := facts.title.strip()[:MAX_SEGMENT]:
        lines.append(Line(title, "title", "title", 1, 1, 0, "reporter", 0))
    maintainers = set()
    for turn, speaker, text in _turns(facts, bots):
        where = f"comment {turn}" if turn else "body"
        document = _document(text, rules, turn > 0)
        lines.extend(_spoken_lines(document.lines, where, turn, speaker))
        tracebacks.extend(TurnTraceback(x, where, turn, speaker) for x in document.tracebacks)
        if speaker == "maintainer":
            maintainers.add(turn)
    return Reading(
        tuple(lines), tuple(tracebacks), len(facts.comments), facts.thumbs_up,
        _others(facts, bots), frozenset(maintainers),
    )  # fmt: skip


def _others(facts: IssueFacts, bots: frozenset[str]) -> int:
    return len(
        {
            comment.author.login
            for comment in facts.comments
            if speaker_of(comment, facts.author, bots) == "other"
        }
    )


def speaker_of(comment: CommentFacts, author: Account, bots: frozenset[str]) -> Speaker:
    """Who a comment is from: association and account type decide, never the words."""
    if comment.author.is_bot or comment.author.login.casefold() in bots:
        return "bot"
    if comment.association in MAINTAINERS:
        return "maintainer"
    return "reporter" if comment.author.login == author.login else "other"


def _turns(facts: IssueFacts, bots: frozenset[str]) -> Iterator[tuple[int, Speaker, str]]:
    yield 0, "reporter", facts.body
    for number, comment in enumerate(facts.comments, start=1):
        speaker = speaker_of(comment, facts.author, bots)
        if speaker != "bot":
            yield number, speaker, comment.body


def _spoken_lines(
    lines: Sequence[ZonedLine], where: str, turn: int, speaker: Speaker
) -> Iterator[Line]:
    later = turn > 0
    spoken = 0
    for line in lines:
        if turn and line.zone == "quoted":
            continue
        last = line.last or line.number
        later = later or _is_edit(line.text)
        lead = spoken < _LEAD
        spoken += len(line.text) if line.zone in SPOKEN else 0
        yield Line(
            line.text, line.zone, where, line.number, last, turn, speaker, line.block, later, lead
        )


def _is_edit(text: str) -> bool:
    """Whether something was added to what was written before: `Update after a day: …`."""
    return _EDITED.match(text) is not None or _EDITED_INSIDE.search(text) is not None


@dataclass(frozen=True, slots=True)
class _Document:
    lines: tuple[ZonedLine, ...]
    tracebacks: tuple[Traceback, ...]


@lru_cache(maxsize=_CACHED_DOCUMENTS)
def _document(text: str, rules: ReadingRules, reply: bool) -> _Document:
    """One document read; kept for a while, as counterfactuals read the same comments again."""
    lines = tuple(zone_document(text, rules, reply))
    return _Document(lines, tuple(find_tracebacks(lines)))
