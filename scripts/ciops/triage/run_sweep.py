"""The whole queue, issue by issue, until it ends or something says stop.

Issues come oldest first by creation, an order that writing to them does not change. What fails
on one issue is named and the next one is looked at; what would fail on every issue ends the
sweep. It ends in good order: at the limit of writes, near the rate limit, on a signal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from ciops.errors import EXIT_DONE, EXIT_PARTIAL, CiopsError, PartialError, RefusedError
from ciops.forges.answers import MadeAnewError
from ciops.forges.base import Issue
from ciops.plumbing.http import (
    Client,
    ForbiddenError,
    HttpError,
    RateLimitedError,
    UnauthorizedError,
)
from ciops.plumbing.interruption import StoppedError
from ciops.triage.apply import Pen
from ciops.triage.interruption import Interruption
from ciops.triage.run_command import Shard
from ciops.triage.run_issue import Desk, Look, Result, look_at, unwritten, write

Why = Literal["", "max_writes", "rate_limit", "stopped", "failed"]
Report = Callable[[Result], None]

RESERVE: Final = 25  # requests left to others who share the token: one issue takes up to seven
SHORT_WAIT: Final = 120.0
FAILURES_IN_A_ROW: Final = 5


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run over issues ended. `why` is "" at its proper end.

    `number` is the issue where it stopped, 0 where no issue was at hand; `left` counts the
    issues that are left, None where nobody counted.
    """

    why: Why = ""
    number: int = 0
    error: str = ""
    left: int | None = None
    status: int = EXIT_DONE


@dataclass(slots=True)
class Session:
    """A run over issues. `pen` is None where nothing is written."""

    desk: Desk
    client: Client
    report: Report
    interruption: Interruption
    pen: Pen | None = None
    max_writes: int | None = None
    now: Callable[[], float] = time.time
    similar: int = 0
    writes: int = 0
    failed_in_a_row: int = 0

    def fits(self, look: Look) -> bool:
        """Whether the writes of an issue are within the limit, all of them."""
        return self.max_writes is None or self.writes + look.writes.calls <= self.max_writes


class EndError(Exception):
    """Ends a sweep at an issue."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending.why)
        self.ending = ending


def sweep(label: str, shard: Shard, session: Session) -> Ending:
    """Look at every open issue with the queue's label that the shard holds."""
    listed = session.desk.queue.issues(label, order="created")
    issues = (issue for issue in listed if shard.holds(issue.number))
    number = 0
    try:
        for issue in issues:
            number = issue.number
            _take(issue, session)
            number = 0
    except EndError as end:
        return _counted(end.ending, issues)
    except StoppedError:
        return Ending("stopped", number, status=EXIT_PARTIAL)
    except RateLimitedError as error:
        return Ending("rate_limit", 0, str(error), status=EXIT_PARTIAL)
    except HttpError as error:  # the list itself: what goes wrong with an issue is caught there
        return Ending("failed", 0, str(error), status=error.exit_status)
    return Ending()


def _counted(ending: Ending, rest: Iterator[Issue]) -> Ending:
    """With how much is left, where finding out costs a call for a hundred."""
    if ending.why != "max_writes":
        return ending
    try:
        left = 1 + sum(1 for _ in rest)
    except (HttpError, StoppedError):
        return ending
    return Ending(ending.why, ending.number, ending.error, left, ending.status)


def _take(issue: Issue, session: Session) -> None:
    """Look at one issue, write to it, report what came of it."""
    _mind_the_rate(issue, session)
    session.interruption.check()
    try:
        look = look_at(issue, session.desk, "sweep")
    except HttpError as error:
        _fail(issue.number, None, error, session)
    except (RefusedError, PartialError) as error:
        session.report(_failed(issue.number, None, error))
    else:
        finish(look, session)


def finish(look: Look, session: Session) -> None:
    """Write what was planned for an issue, within the limits, and report what came of it."""
    try:
        result = _written(look, session)
    except HttpError as error:
        _fail(look.facts.number, look, error, session)
    except MadeAnewError as error:  # so would every issue that comes after
        number = look.facts.number
        session.report(replace(_failed(number, look, error), ends_run=True))
        raise EndError(Ending("failed", number, str(error), status=error.exit_status)) from error
    except RefusedError as error:
        session.report(_failed(look.facts.number, look, error))
    else:
        session.failed_in_a_row = 0
        session.report(result)


def _written(look: Look, session: Session) -> Result:
    if session.pen is None or not look.writes.calls:
        return unwritten(look)
    if not session.fits(look):
        session.report(unwritten(look, "held_back"))
        raise EndError(Ending("max_writes", look.facts.number))
    session.writes += look.writes.calls
    return write(look, session.desk, session.pen)


def _failed(number: int, look: Look | None, error: CiopsError) -> Result:
    return Result(number, "failed", look, error=str(error), status=error.exit_status)


def _fail(number: int, look: Look | None, error: HttpError, session: Session) -> None:
    """Report an issue that failed; raises when every other one would fail too."""
    session.failed_in_a_row += 1
    ending = _ending_by(number, error, session)
    session.report(replace(_failed(number, look, error), ends_run=ending is not None))
    if ending is not None:
        raise EndError(ending) from error


def _ending_by(number: int, error: HttpError, session: Session) -> Ending | None:
    """How a run ends by an error, None where the next issue may fare better."""
    if isinstance(error, RateLimitedError):
        return Ending("rate_limit", number, str(error), status=EXIT_PARTIAL)
    general = isinstance(error, UnauthorizedError) or _lacks_permission(number, error, session)
    if general or session.failed_in_a_row >= FAILURES_IN_A_ROW:
        return Ending("failed", number, str(error), status=error.exit_status)
    return None


def _lacks_permission(number: int, error: HttpError, session: Session) -> bool:
    """403 is also the answer for an issue that was locked meanwhile, which is its own affair."""
    if not isinstance(error, ForbiddenError):
        return False
    try:
        return not session.desk.queue.issue(number).locked
    except HttpError:
        return True


def _mind_the_rate(issue: Issue, session: Session) -> None:
    """Stop before the last requests are used up, or wait where that is short."""
    rate = session.client.rate
    if rate.remaining is None or rate.remaining >= RESERVE or rate.limit is None:
        return
    if rate.limit <= 2 * RESERVE:  # a limit so low that it would all be reserve
        return
    wait = (rate.reset or 0.0) - session.now()
    if wait > SHORT_WAIT:
        raise EndError(Ending("rate_limit", issue.number, status=EXIT_PARTIAL))
    if wait > 0:
        session.interruption.sleep(wait + 1)
