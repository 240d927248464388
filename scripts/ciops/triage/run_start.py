"""The beginning of a run: as little as possible before the first call, the rest meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from ciops.errors import EXIT_PARTIAL
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.interruption import StoppedError
from ciops.triage.command_line import open_place
from ciops.triage.events import Target
from ciops.triage.interruption import Interruption
from ciops.triage.policy_file import load_policy
from ciops.triage.run_command import Options, say_left_alone

if TYPE_CHECKING:
    from ciops.triage.policy import Policy

T = TypeVar("T")


class Meanwhile(Generic[T]):
    """Something that is asked for while other work is done."""

    def __init__(self, ask: Callable[[], T]) -> None:
        self._ask = ask
        self._found: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._found.append(self._ask())
        except BaseException as error:  # raised again by who asks for the answer
            self._error = error

    def result(self) -> T:
        """The answer, or the error that came instead."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._found[0]


def start(options: Options, target: Target, host: CiHost, interruption: Interruption) -> int:
    """The run; its exit status."""
    policy = None if target.labels is None else load_policy(options.policy)
    if policy is not None and not _in_queue(target, policy):  # an event that needs no call at all
        queue = policy.labels.queue
        return say_left_alone(target, options, host, "not_in_queue", queue)
    with interruption:
        try:
            return _started(options, target, host, interruption, policy)
        except StoppedError:
            host.error("the job was told to end before it had begun. Run it again")
            return EXIT_PARTIAL


def _in_queue(target: Target, policy: Policy) -> bool:
    return policy.labels.queue.casefold() in map(str.casefold, target.labels or ())


def _started(
    options: Options,
    target: Target,
    host: CiHost,
    interruption: Interruption,
    policy: Policy | None,
) -> int:
    place = options.place
    forge = open_place(place, host, interruption.sleep)
    queue = forge.queue(place.repo)
    asked = Meanwhile(queue.viewer)  # the service answers while the rest is loaded
    policy = policy or load_policy(options.policy)
    from ciops.triage.run_work import Setting, work

    return work(Setting(options, target, host, forge, queue, policy, interruption), asked.result)
