"""The first half of a report: the starting pipeline, its chain, and the evidence of every job.

Each phase adds to what the run has found so far. A signal ends the phase that it meets, and the
report is made of what is there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ciops.errors import PartialError
from ciops.failures import report_model as model
from ciops.failures import sources
from ciops.failures.buckets import JobEvidence
from ciops.failures.chain import Chain, ChainJob, follow
from ciops.failures.knowledge import Knowledge
from ciops.failures.logs_beside import logs_beside
from ciops.failures.report_command import GITHUB_ACTIONS, Options
from ciops.failures.report_model import Remark
from ciops.failures.scope import read_scope
from ciops.failures.sources import Forges, Source
from ciops.failures.start import Start
from ciops.failures.trace_download import NOT_READ, Downloads, unread
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.http import HttpError
from ciops.plumbing.interruption import Stop, StoppedError
from ciops.plumbing.output_folder import OutputFolder

Sleep = Callable[[float], None]
_BAR: Final = 24


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
    chain = Chain(start.pipeline, source.site)
    found = Gathered(options, host, stop, knowledge, scope.name, source, forges, chain)

    def say(text: str) -> None:
        host.say(text, "dim")

    found.phase("following the bridges", lambda: follow(start, scope, source.pipelines, say, chain))
    found.remarks.extend(chain.remarks)
    _read_all(found, keep)
    found.phase("reading logs beside workloads", lambda: _read_beside(found))
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


def _read_all(found: Gathered, keep: OutputFolder | None) -> None:
    """Give every job of this run evidence: of its trace, or why there is none."""
    options = found.options
    found.jobs = sorted(found.chain.jobs, key=lambda one: one.job.id)
    if options.shard is not None:
        found.jobs = options.shard.share(found.jobs)
    wanted = found.jobs[: options.jobs_limit]
    with found.host.group(f"Traces of failed jobs: {len(wanted)}"):
        found.phase("reading traces", lambda: _read(found, wanted, keep))
    if len(wanted) < len(found.jobs):
        left = len(found.jobs) - len(wanted)
        found.remarks.append(Remark(model.JOBS_LIMIT, str(options.jobs_limit), left))
    why = found.stopped_at() or f"--jobs-limit {options.jobs_limit}"
    for one in found.jobs:
        if one.job.id not in found.evidence:
            found.evidence[one.job.id] = unread(one, f"{NOT_READ}: {why}")


def _read(found: Gathered, jobs: Sequence[ChainJob], keep: OutputFolder | None) -> None:
    for evidence in _downloads(found, keep).results(jobs):
        found.evidence[evidence.id] = evidence
        _show_progress(found.host, len(found.evidence), len(jobs))


def _read_beside(found: Gathered) -> None:
    """Supplementary evidence; that it cannot be read costs nothing but a remark."""
    read = [one for one in found.evidence.values() if not one.unreadable.startswith(NOT_READ)]
    try:
        notes = logs_beside(
            read,
            found.jobs,
            found.source.pipelines,
            found.knowledge,
            lambda jobs: _downloads(found, None).results(jobs),
        )
    except HttpError as error:
        found.remarks.append(Remark(model.PIPELINE_UNREADABLE, error.problem))
    else:
        found.beside.update(notes)


def _downloads(found: Gathered, keep: OutputFolder | None) -> Downloads:
    count = found.options.concurrency
    return Downloads(found.source.pipelines, found.knowledge, concurrency=count, keep=keep)


def _show_progress(host: CiHost, done: int, total: int) -> None:
    filled = _BAR * done // total
    host.progress(f"traces [{'#' * filled}{'.' * (_BAR - filled)}]", done, total)
