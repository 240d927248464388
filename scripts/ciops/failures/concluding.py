"""The second half of a report: buckets, the code behind them, tracking, and what is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from ciops.failures import report_model as model
from ciops.failures.assemble import Facts, Looked, assemble, has_own_frame, in_buckets
from ciops.failures.buckets import Bucket
from ciops.failures.chain import ChainJob
from ciops.failures.code_lookup import CodeLookup
from ciops.failures.gathering import Gathered
from ciops.failures.green_runs import GreenRuns
from ciops.failures.parts import Part, code_key, part_json
from ciops.failures.publishing import publish
from ciops.failures.report_command import Shard
from ciops.failures.report_model import Remark, Report
from ciops.failures.tracking import untracked
from ciops.failures.tracking_run import tracked
from ciops.plumbing.output_folder import OutputFolder

# Jobs of a bucket that are asked for their last green run, where the first one has none.
_MORE_WITNESSES: Final = 4


def conclude(found: Gathered, previous: Report | None, folder: OutputFolder) -> int:
    """Make the report and publish it; the exit status."""
    options = found.options
    buckets = in_buckets(list(found.evidence.values()), found.knowledge)
    looked: dict[str, Looked] = {}
    found.phase("looking up code", lambda: _look_up(found, buckets, looked))
    evidence = list(found.evidence.values())
    facts = _facts(found, found.jobs)
    report = assemble(facts, evidence, buckets, looked, previous, found.knowledge)
    report = _tracked(found, report)
    if options.shard is not None:
        folder.write(*_part(found, options.shard, buckets, looked))
    return publish(report, options.formats, folder, options.language, found.host)


def _look_up(found: Gathered, buckets: Sequence[Bucket], looked: dict[str, Looked]) -> None:
    """The code behind every bucket whose owner's code failed."""
    jobs = {one.job.id: one for one in found.jobs}
    lookup = CodeLookup(found.forges.repository, GreenRuns(found.source.pipelines, found.chain))
    for bucket in buckets:
        if has_own_frame(bucket):
            looked[bucket.name] = _looked(found, lookup, bucket, jobs)


def _looked(
    found: Gathered, lookup: CodeLookup, bucket: Bucket, jobs: Mapping[int, ChainJob]
) -> Looked:
    if bucket.frame is None:
        return Looked()
    owner = found.knowledge.owner(bucket.frame.owner)
    commits = {job: found.evidence[job].scan.commit for job in _witnesses(found, bucket)}
    named = [job for job in commits if commits[job]]
    first, *others = dict.fromkeys((*named[:1], *commits))
    code = lookup.find(bucket.frame, owner, commits[first], jobs[first])
    for other in others[:_MORE_WITNESSES]:
        if code.code is None or code.code.changes is not None or code.history_problem:
            break  # else this job was never green, perhaps another one was
        code = lookup.find(bucket.frame, owner, commits[first], jobs[other])
    if code.failed:
        _remark_once(found, Remark(model.CODE_UNREADABLE, code.problem))
    if code.history_problem:
        _remark_once(found, Remark(model.HISTORY_UNREADABLE, code.history_problem))
    return Looked(code.code, code.code is None and not code.problem, code.problem)


def _witnesses(found: Gathered, bucket: Bucket) -> list[int]:
    """The jobs whose own traces show the frame of a bucket, its representative first."""
    frame = str(bucket.frame)
    shown = [job for job in bucket.jobs if str(found.evidence[job].scan.frame) == frame]
    return list(dict.fromkeys((bucket.representative, *shown)))


def _remark_once(found: Gathered, remark: Remark) -> None:
    if remark not in found.remarks:
        found.remarks.append(remark)


def _facts(found: Gathered, jobs: Sequence[ChainJob]) -> Facts:
    chain = found.chain
    return Facts(
        config=f"{found.knowledge.name}@{found.knowledge.version}",
        scope=found.scope,
        starting_pipeline=chain.start.id,
        terminal_pipelines=tuple(chain.terminal),
        steps=tuple(chain.steps),
        jobs=tuple(jobs),
        dead_ends=tuple(chain.dead_ends),
        remarks=tuple(found.remarks),
        source=found.source.name,
        shard=str(found.options.shard or ""),
        generated_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        log_urls={one.job.id: found.source.log_url(one) for one in jobs},
        beside=found.beside,
    )


def _tracked(found: Gathered, report: Report) -> Report:
    """Filed where that was asked for; a run that was stopped asks no service any more."""
    if not found.options.tracks or found.stop.reason:
        return untracked(report, found.knowledge)
    results = [report]

    def track() -> None:
        dry_run = found.options.dry_run
        results.append(tracked(report, found.knowledge, found.forges, dry_run, found.host))

    before = len(found.remarks)
    with found.host.group("Tracking"):
        found.phase("tracking", track)
    stopped = found.remarks[before:]  # before anything was tracked
    done = results[-1] if len(results) > 1 else untracked(report, found.knowledge)
    return replace(done, remarks=(*done.remarks, *stopped))


def _part(
    found: Gathered, shard: Shard, buckets: Sequence[Bucket], looked: dict[str, Looked]
) -> tuple[str, str]:
    """The file of this part: its name and its text."""
    part = Part(
        schema=1,
        index=shard.index,
        count=shard.count,
        facts=_facts(found, found.chain.jobs),
        evidence=tuple(found.evidence.values()),
        looked={code_key(one): looked[one.name] for one in buckets if one.name in looked},
        formats=found.options.formats,
        language=found.options.language,
    )
    return part.name, part_json(part)
