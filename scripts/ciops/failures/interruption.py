"""A cancelled job still says what it found: SIGTERM and SIGINT stop the work, not the report.

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
from typing import Final

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class StoppedError(BaseException):
    """Somebody asked to stop. No `except Exception` swallows it; `reason` names the signal."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


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
        for other in _SIGNALS:
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
    before = {number: signal.signal(number, stop.hear) for number in _SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
