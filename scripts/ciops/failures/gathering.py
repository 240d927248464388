"""The first half of a report: the starting pipeline, its chain, and the evidence of every job.

Each phase adds to what the run has found so far. A signal ends the phase that it meets, and the
report is made of what is there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciops.errors import PartialError
from ciops.failures import report_model as model
from ciops.failures import sources
from ciops.failures.chain import Chain, ChainJob, follow
from ciops.failures.knowledge import Knowledge
from ciops.failures.report_command import GITHUB_ACTIONS, Options
from ciops.failures.report_model import Remark
from ciops.failures.scope import read_scope
from ciops.failures.sources import Forges, Source
from ciops.failures.start import Start
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.interruption import Stop, StoppedError
from ciops.plumbing.output_folder import OutputFolder

if TYPE_CHECKING:
    from ciops.failures.buckets import JobEvidence

Sleep = Callable[[float], None]


@dataclass(slots=True)
class Gathered:
    """What a run has found so far.

    `jobs` are those that it reports on; `beside` says of some what a log beside theirs shows.
    """

    options: Options
    host: CiHost
    stop: Stop
    knowledge: Knowledge
    scope: str
    source: Source
    forges: Forges
    chain: Chain
    jobs: list[ChainJob] = field(default_factory=list)
    evidence: dict[int, JobEvidence] = field(default_factory=dict)
    beside: dict[int, str] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)

    def phase(self, doing: str, work: Callable[[], None]) -> None:
        """Do some work until it ends or a signal ends it: then the report says where.

        After that no phase begins any more.
        """
        if self.stopped_at():
            return
        try:
            with self.stop.interruptible():
                work()
        except StoppedError as stop:
            self.remarks.append(Remark(model.STOPPED, f"{stop.reason} while {doing}"))

    def stopped_at(self) -> str:
        """Where a signal ended the work, "" when none did."""
        return next((one.detail for one in self.remarks if one.kind == model.STOPPED), "")


def gather(
    options: Options,
    host: CiHost,
    knowledge: Knowledge,
    stop: Stop,
    keep: OutputFolder | None,
    sleep: Sleep = time.sleep,
) -> Gathered:
    """Everything that failed, with evidence; CiopsError when there is nothing to report on."""
    scope = read_scope(knowledge)
    forges = Forges(host, options.gitlab_url, sleep)
    if options.source == GITHUB_ACTIONS:
        source = sources.github_actions(forges, scope, options.pipeline, host)
    else:
        source = sources.gitlab(forges, scope, options.pipeline)
    start = _start(source, host, stop)
    from ciops.failures.reading_traces import read_all, read_beside  # the first call is made

    chain = Chain(start.pipeline, source.site)
    found = Gathered(options, host, stop, knowledge, scope.name, source, forges, chain)

    def say(text: str) -> None:
        host.say(text, "dim")

    found.phase("following the bridges", lambda: follow(start, scope, source.pipelines, say, chain))
    found.remarks.extend(chain.remarks)
    read_all(found, keep)
    found.phase("reading logs beside workloads", lambda: read_beside(found))
    return found


def _start(source: Source, host: CiHost, stop: Stop) -> Start:
    """The starting pipeline; without one there is nothing to report on."""
    try:
        with stop.interruptible():
            start = source.find()
    except StoppedError as stopped:
        problem = f"{stopped.reason}: stopped before the starting pipeline was known"
        raise PartialError(problem, "Run it again") from None
    host.say(f"pipeline {start.pipeline.id} {start.pipeline.url}", "dim")
    return start
