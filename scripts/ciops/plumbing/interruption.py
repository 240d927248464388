"""A cancelled job still says what it did: SIGTERM and SIGINT stop the work, not its report.

GitHub sends SIGINT and 7.5 seconds later SIGTERM, GitLab SIGTERM; both kill soon after
(https://docs.github.com/en/actions/reference/workflow-cancellation-reference). The first signal
raises StoppedError where the work can be interrupted, and elsewhere at the next such place.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

from ciops.errors import PartialError

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class StoppedError(BaseException):
    """Somebody asked to stop. No `except Exception` swallows it.

    `reason` names the signal, `where` what was being done, "" when nobody said.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.where = ""

    def told(self) -> PartialError:
        """The same as an error for a person."""
        place = f" at {self.where}" if self.where else ""
        problem = f"{self.reason}: stopped{place} before the end"
        return PartialError(problem, "Run it again: what is done is left alone")


class Stop:
    """Whether somebody asked to stop: `reason` names the signal, "" when nobody did."""

    def __init__(self) -> None:
        self.reason = ""
        self._may_raise = False

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Inside, a signal raises StoppedError; one that came before raises it at once."""
        if self.reason:
            raise StoppedError(self.reason)
        self._may_raise = True
        try:
            yield
        finally:
            self._may_raise = False

    def hear(self, number: int, _frame: FrameType | None) -> None:
        """The handler of the first signal; further ones are not heard."""
        for other in SIGNALS:
            signal.signal(other, signal.SIG_IGN)
        self.reason = signal.Signals(number).name
        if self._may_raise:
            raise StoppedError(self.reason)


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Inside, signals are heard by the Stop that it gives; outside the main thread none are."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, stop.hear) for number in SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def doing(what: str) -> Iterator[None]:
    """Names what is done inside to a StoppedError that comes out of it; the innermost counts."""
    try:
        yield
    except StoppedError as stop:
        stop.where = stop.where or what
        raise


def can_cut_off() -> bool:
    """Whether work can be cut off here: there are timers, and this is the main thread."""
    here = threading.current_thread() is threading.main_thread()
    return here and hasattr(signal, "setitimer")


@contextmanager
def cut_off(seconds: float, error: Exception, *, waits: bool = False) -> Iterator[None]:
    """Raises the error where the block takes longer; does nothing where it cannot be cut off.

    Seconds of this process' own work, or with `waits` those of the clock. A regular expression
    looks for signals as it goes, so a search is cut off too.
    """
    if not can_cut_off():
        yield
        return

    def end(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
        raise error

    timer = signal.ITIMER_REAL if waits else signal.ITIMER_VIRTUAL
    number = signal.SIGALRM if waits else signal.SIGVTALRM
    before = signal.signal(number, end)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)
