"""Issues that were named: all are looked at and planned before the first is written to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ciops.errors import EXIT_PARTIAL, PartialError, RefusedError
from ciops.forges.base import Issue
from ciops.plumbing.http import (
    GoneError,
    HttpError,
    MovedError,
    NotFoundError,
    RateLimitedError,
    UnauthorizedError,
)
from ciops.plumbing.interruption import StoppedError
from ciops.triage.apply import refuse_missing
from ciops.triage.run_issue import Look, Result, look_at, unwritten
from ciops.triage.run_sweep import EndError, Ending, Session, finish

SHORT: Final = 4  # letters: shorter words find too much
WORDS: Final = 4


def take_named(numbers: list[int], there: frozenset[str], session: Session) -> Ending:
    """Look at each, then write to each. RefusedError when the repository lacks a needed label."""
    looks: list[Look] = []
    ending = _taken(numbers, there, looks, session)
    for look in looks:  # what there was no time for
        session.report(unwritten(look, "held_back"))
    return ending


def _taken(
    numbers: list[int], there: frozenset[str], looks: list[Look], session: Session
) -> Ending:
    """How it ended; `looks` holds what was looked at and not yet written to."""
    number = 0
    try:
        for number in numbers:
            looks.extend(_look(number, session))
        refuse_missing(frozenset(_wanted(looks)), there)
        while looks:
            look = looks.pop(0)
            number = look.facts.number
            finish(look, session)
    except EndError as end:
        return end.ending
    except StoppedError:
        return Ending("stopped", number, status=EXIT_PARTIAL)
    except RateLimitedError as error:
        return Ending("rate_limit", number, str(error), status=EXIT_PARTIAL)
    return Ending()


def _wanted(looks: list[Look]) -> list[str]:
    return [part.name for look in looks for part in look.writes.labels]


def _look(number: int, session: Session) -> Iterator[Look]:
    """What is there and what is planned; nothing when it failed, which is then reported."""
    try:
        issue = session.desk.queue.issue(number)
        look = look_at(issue, session.desk, "single")
        yield replace(look, similar=_similar(look, session))
        return
    except (RateLimitedError, UnauthorizedError):
        raise
    except HttpError as error:
        told, status = _in_words(error)
    except (RefusedError, PartialError) as error:
        told, status = str(error), error.exit_status
    session.report(Result(number, "failed", error=told, status=status))


def _in_words(error: HttpError) -> tuple[str, int]:
    """What an answer about a single issue means, and its exit status."""
    if isinstance(error, MovedError):
        moved = f"it was transferred to {error.location}"
        return f"{moved}. It is not followed there: run the job of that repository", EXIT_PARTIAL
    if isinstance(error, GoneError):
        return "it was deleted. There is nothing to do", EXIT_PARTIAL
    if isinstance(error, NotFoundError):
        unseen = "it is not there, or the token may not read it"
        return f"{unseen}. Check the number and the token", EXIT_PARTIAL
    return str(error), error.exit_status


def _similar(look: Look, session: Session) -> tuple[Issue, ...]:
    """Open issues whose text holds the rarest-looking words of the title; for information only."""
    if not session.similar or look.skip is not None:
        return ()
    found: dict[int, Issue] = {}
    words = _telling_words(look.facts.title)
    for some in (words, words[:2]):
        if some and not found:
            limit = session.similar + 1
            hits = session.desk.queue.search(" ".join(some), limit=limit)
            found = {hit.number: hit for hit in hits if hit.number != look.facts.number}
    return tuple(found.values())[: session.similar]


def _telling_words(title: str) -> list[str]:
    """Identifiers first, then long words."""
    words = dict.fromkeys(re.findall(rf"\w{{{SHORT},}}", title))
    return sorted(words, key=lambda word: ("_" not in word, -len(word)))[:WORDS]
