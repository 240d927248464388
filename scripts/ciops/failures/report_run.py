"""One run of `report`: resolve, follow, read, bucket, look up, track, publish.

Each phase adds to what the run has found so far. A signal ends the phase it meets, and the report
is made of what is there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from ciops.errors import PartialError
from ciops.failures import report_model as model
from ciops.failures import sources
from ciops.failures.assemble import Facts, Looked, assemble, in_buckets
from ciops.failures.buckets import Bucket, JobEvidence
from ciops.failures.chain import Chain, ChainJob, follow
from ciops.failures.code_lookup import CodeLookup
from ciops.failures.green_runs import GreenRuns
from ciops.failures.interruption import StoppedError, stoppable
from ciops.failures.knowledge import Knowledge, load_knowledge
from ciops.failures.output_folder import OutputFolder
from ciops.failures.parts import Part, code_key, own_share, part_json
from ciops.failures.publishing import publish
from ciops.failures.report_command import GITHUB_ACTIONS, Options, Shard
from ciops.failures.report_json import load_report
from ciops.failures.report_model import Remark, Report
from ciops.failures.scope import Scope, read_scope
from ciops.failures.sources import Forges, Source
from ciops.failures.start import Start
from ciops.failures.trace_download import NOT_READ, Downloads, unread
from ciops.failures.tracking import untracked
from ciops.failures.tracking_rules import read_tracking
from ciops.failures.tracking_run import tracked
from ciops.plumbing.ci_host import CiHost

_BAR: Final = 24


@dataclass(slots=True)
class _Run:
    """What a run has found so far."""

    options: Options
    host: CiHost
    knowledge: Knowledge
    scope: Scope
    source: Source
    forges: Forges
    chain: Chain
    keep: OutputFolder | None
    evidence: dict[int, JobEvidence] = field(default_factory=dict)
    buckets: list[Bucket] = field(default_factory=list)
    looked: dict[str, Looked] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)


def run(options: Options, host: CiHost, sleep: Callable[[float], None] = time.sleep) -> int:
    """The report; its exit status. Raises CiopsError when there is nothing to report on."""
    knowledge = load_knowledge(options.config)
    scope = read_scope(knowledge)
    read_tracking(knowledge)  # so that a mistake in it is told before anything is read
    previous = load_report(options.previous) if options.previous else None
    folder, keep = _folders(options)
    with stoppable():
        forges = Forges(host, options.gitlab_url, sleep)
        source = _source(options, forges, scope, host)
        start = _start(source, host)
        chain = Chain(start.pipeline, source.site)
        one = _Run(options, host, knowledge, scope, source, forges, chain, keep)
        _follow(one, start)
        jobs = _read_all(one)
        one.buckets = in_buckets(list(one.evidence.values()), knowledge)
        _look_up(one)
        report = _tracked(one, _report(one, jobs, previous))
        if options.shard is not None:
            folder.write(*_part(one, options.shard))
        return publish(report, options.formats, folder, options.language, host)


def _folders(options: Options) -> tuple[OutputFolder, OutputFolder | None]:
    """Where results go; refused before any call when one is a symbolic link."""
    folder = OutputFolder(options.output, "--output")
    keep = OutputFolder(options.keep_traces, "--keep-traces") if options.keep_traces else None
    folder.refuse_link()
    if keep is not None:
        keep.refuse_link()
    return folder, keep


def _source(options: Options, forges: Forges, scope: Scope, host: CiHost) -> Source:
    if options.source == GITHUB_ACTIONS:
        return sources.github_actions(forges, scope, options.pipeline, host)
    return sources.gitlab(forges, scope, options.pipeline)


def _stop(one: _Run) -> Remark | None:
    """What ended an earlier phase: the time that is left is for the report."""
    return next((remark for remark in one.remarks if remark.kind == model.STOPPED), None)


def _start(source: Source, host: CiHost) -> Start:
    """The starting pipeline; without one there is nothing to report on."""
    try:
        start = source.find()
    except StoppedError as stop:
        problem = f"{stop.reason}: stopped before the starting pipeline was known"
        raise PartialError(problem, "Run it again") from None
    host.say(f"pipeline {start.pipeline.id} {start.pipeline.url}", "dim")
    return start


@contextmanager
def _phase(one: _Run, doing: str) -> Iterator[None]:
    """What a signal ends; the report says where it stopped."""
    try:
        yield
    except StoppedError as stop:
        one.remarks.append(Remark(model.STOPPED, f"{stop.reason} while {doing}"))


def _follow(one: _Run, start: Start) -> None:
    """Everything that failed below the starting pipeline."""

    def say(text: str) -> None:
        one.host.say(text, "dim")

    with _phase(one, "following the bridges"):
        follow(start, one.scope, one.source.pipelines, say, one.chain)
    one.remarks.extend(one.chain.remarks)


def _read_all(one: _Run) -> list[ChainJob]:
    """The jobs of this run, every one with evidence: of its trace, or why there is none."""
    jobs = one.chain.jobs
    shard = one.options.shard
    if shard is not None:
        jobs = own_share(jobs, shard.index, shard.count)
    limit = one.options.jobs_limit
    wanted = sorted(jobs, key=lambda job: job.job.id)[:limit]
    with _phase(one, "reading traces"), one.host.group(f"{len(wanted)} traces of failed jobs"):
        _read(one, wanted)
    stop = _stop(one)
    if len(wanted) < len(jobs):
        left = len(jobs) - len(wanted)
        one.remarks.append(Remark(model.JOBS_LIMIT, str(limit), left))
    for job in jobs:
        if job.job.id not in one.evidence:
            why = stop.detail if stop else f"--jobs-limit {limit}"
            one.evidence[job.job.id] = unread(job, f"{NOT_READ}: {why}")
    return jobs


def _read(one: _Run, jobs: Sequence[ChainJob]) -> None:
    downloads = Downloads(
        one.source.pipelines,
        one.knowledge,
        concurrency=one.options.concurrency,
        keep=one.keep,
    )
    for found in downloads.results(jobs):
        one.evidence[found.id] = found
        _show_progress(one.host, len(one.evidence), len(jobs))


def _show_progress(host: CiHost, done: int, total: int) -> None:
    filled = _BAR * done // total
    host.progress(f"traces [{'#' * filled}{'.' * (_BAR - filled)}]", done, total)


def _look_up(one: _Run) -> None:
    """The code behind every bucket whose hypothesis points at some."""
    pointing = [bucket for bucket in one.buckets if bucket.frame is not None]
    if not pointing or _stop(one):
        return
    jobs = {job.job.id: job for job in one.chain.jobs}
    lookup = CodeLookup(one.forges.repository, GreenRuns(one.source.pipelines, one.chain))
    with _phase(one, "looking up code"):
        for bucket in pointing:
            one.looked[bucket.name] = _looked(one, lookup, bucket, jobs[bucket.representative])


def _looked(one: _Run, lookup: CodeLookup, bucket: Bucket, job: ChainJob) -> Looked:
    if bucket.frame is None:
        return Looked()
    owner = one.knowledge.owner(bucket.frame.owner)
    commit = one.evidence[job.job.id].scan.commit
    found = lookup.find(bucket.frame, owner, commit, job)
    if found.failed:
        _remark_once(one, Remark(model.CODE_UNREADABLE, found.problem))
    if found.history_problem:
        _remark_once(one, Remark(model.HISTORY_UNREADABLE, found.history_problem))
    return Looked(found.code, found.code is None and not found.problem, found.problem)


def _remark_once(one: _Run, remark: Remark) -> None:
    if remark not in one.remarks:
        one.remarks.append(remark)


def _facts(one: _Run, jobs: Sequence[ChainJob]) -> Facts:
    chain = one.chain
    return Facts(
        config=f"{one.knowledge.name}@{one.knowledge.version}",
        scope=one.scope.name,
        starting_pipeline=chain.start.id,
        terminal_pipelines=tuple(chain.terminal),
        steps=tuple(chain.steps),
        jobs=tuple(jobs),
        dead_ends=tuple(chain.dead_ends),
        remarks=tuple(one.remarks),
        source=one.source.name,
        shard=str(one.options.shard or ""),
        generated_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        log_urls={job.job.id: one.source.log_url(job) for job in jobs},
    )


def _report(one: _Run, jobs: Sequence[ChainJob], previous: Report | None) -> Report:
    evidence = list(one.evidence.values())
    facts = _facts(one, jobs)
    return assemble(facts, evidence, one.buckets, one.looked, previous, one.knowledge)


def _tracked(one: _Run, report: Report) -> Report:
    if not one.options.track or _stop(one):
        return untracked(report, one.knowledge)
    with one.host.group("Tracking"):
        return tracked(report, one.knowledge, one.forges, one.options.dry_run, one.host)


def _part(one: _Run, shard: Shard) -> tuple[str, str]:
    """The file of this part: its name and its text."""
    part = Part(
        schema=1,
        index=shard.index,
        count=shard.count,
        facts=_facts(one, one.chain.jobs),
        evidence=tuple(one.evidence.values()),
        looked={
            code_key(bucket): one.looked[bucket.name]
            for bucket in one.buckets
            if bucket.name in one.looked
        },
        formats=one.options.formats,
        language=one.options.language,
    )
    return part.name, part_json(part)
