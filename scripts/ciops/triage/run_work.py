"""A run from its beginning to its end: who we are, what is to be looked at, what is left behind."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from ciops.errors import EXIT_PARTIAL
from ciops.forges import open_forge
from ciops.plumbing.ci_host import CiHost
from ciops.triage.events import Target
from ciops.triage.interruption import Interruption, StoppedError
from ciops.triage.policy_file import load_policy
from ciops.triage.run_command import Options, say_left_alone

if TYPE_CHECKING:
    from ciops.forges.base import Forge, IssueQueue, Viewer
    from ciops.triage.policy import Policy, Profile

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Setting:
    """A run that is about to begin: what, where, by which rules, as whom."""

    options: Options
    target: Target
    host: CiHost
    policy: Policy
    profile: Profile
    forge: Forge
    queue: IssueQueue
    viewer: Viewer
    interruption: Interruption


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
        except BaseException as error:  # noqa: BLE001 - raised again where it is asked for
            self._error = error

    def result(self) -> T:
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._found[0]


def work(options: Options, target: Target, host: CiHost) -> int:
    """The run; its exit status."""
    with Interruption() as interruption:
        try:
            return _work(options, target, host, interruption)
        except StoppedError:
            host.error("the job was told to end before the first issue. Run it again")
            return EXIT_PARTIAL


def _work(options: Options, target: Target, host: CiHost, interruption: Interruption) -> int:
    if target.labels is not None:  # an event: it may need no call at all
        queue_label = load_policy(options.policy).labels.queue
        if queue_label.casefold() not in map(str.casefold, target.labels):
            return say_left_alone(target, options, host, "not_in_queue", queue_label)
    place = options.place
    forge = open_forge(place.forge, host.env, place.gitlab_url, host.say, interruption.sleep)
    queue = forge.queue(place.repo)
    viewer = Meanwhile(queue.viewer)  # the policy is read while the service answers
    policy = load_policy(options.policy)
    from ciops.triage.decide import profile_of
    from ciops.triage.run_end import carry_out

    profile = profile_of(policy, options.profile)
    setting = Setting(
        options, target, host, policy, profile, forge, queue, viewer.result(), interruption
    )
    return carry_out(replace(setting, policy=_knowing(policy, setting.viewer)))
