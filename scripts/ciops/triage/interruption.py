"""Ends a run in good order when its job is cancelled.

GitHub sends SIGINT, SIGTERM after 7.5 s and kills 2.5 s later
(https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-cancellation);
GitLab sends SIGTERM. What only reads or waits is left at once; a write under way is let finish,
so that it is recorded.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from ciops.errors import PartialError
from ciops.plumbing.interruption import SIGNALS, StoppedError, cut_off

HEARTBEAT: Final = 0.25  # seconds between two looks at whether to go on waiting


class Interruption:
    """Hears the signals while it is entered, and raises StoppedError where that does no harm."""

    def __init__(self) -> None:
        self._told = ""
        self._writing = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        self._before.clear()

    def _hear(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        first, self._told = not self._told, signal.Signals(number).name
        if first and not self._writing:
            raise StoppedError(self._told)

    def check(self) -> None:
        """Raises when told to end."""
        if self._told:
            raise StoppedError(self._told)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A write that is let finish: who is told to end meanwhile ends after it."""
        self.check()
        self._writing = True
        try:
            yield
        finally:
            self._writing = False

    def finishing(self) -> None:
        """What is left to do is short, and is done whatever comes."""
        self._writing = True

    def sleep(self, seconds: float) -> None:
        """Wait. Told to end, a wait amid a write ends too: what is to be repeated may be left."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.check()
            time.sleep(min(left, HEARTBEAT))
        self.check()


@contextmanager
def within(seconds: float, what: str) -> Iterator[None]:
    """PartialError where the block takes longer: a pattern that runs away holds nobody up.

    Where nothing can be cut off (another thread than the main one, Windows), the bounds that a
    policy's patterns are held to have to do.
    """
    problem = f"{what} could not be read in {seconds:g} s"
    error = PartialError(problem, "Run `policy check` on the policy: a pattern may run away")
    with cut_off(seconds, error, waits=True):
        yield


class Pace:
    """At most `most` writes in any minute: GitHub's secondary limit is 80.

    https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
    """

    def __init__(
        self,
        sleep: Callable[[float], None],
        now: Callable[[], float] = time.monotonic,
        most: int = 60,
    ) -> None:
        self._sleep = sleep
        self._now = now
        self._most = most
        self._recent: list[float] = []

    def wait(self) -> None:
        """Wait until another write is fitting, and count it."""
        now = self._now()
        self._recent = [moment for moment in self._recent if moment > now - 60.0]
        if len(self._recent) >= self._most:
            self._sleep(self._recent[0] + 60.0 - now)
            self._recent.pop(0)
        self._recent.append(self._now())
