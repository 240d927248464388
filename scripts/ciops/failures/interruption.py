"""A cancelled job still says what it found: SIGTERM and SIGINT stop the work, not the report.

GitHub sends SIGINT and 7.5 seconds later SIGTERM, GitLab SIGTERM; both kill soon after
(https://docs.github.com/en/actions/reference/workflow-cancellation-reference). The first signal
raises StoppedError in the main thread; whoever holds partial results catches it.
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


@contextmanager
def stoppable() -> Iterator[None]:
    """Inside, the first SIGTERM or SIGINT raises StoppedError; further ones are not heard."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def stop(number: int, _frame: FrameType | None) -> None:
        for other in _SIGNALS:
            signal.signal(other, signal.SIG_IGN)
        raise StoppedError(signal.Signals(number).name)

    for number in _SIGNALS:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
