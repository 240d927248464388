"""The traces of a chain's failed jobs, read into evidence; and the logs beside a workload's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ciops.failures import report_model as model
from ciops.failures.chain import ChainJob
from ciops.failures.logs_beside import logs_beside
from ciops.failures.report_model import Remark
from ciops.failures.trace_download import NOT_READ, Downloads, unread
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.http import HttpError
from ciops.plumbing.output_folder import OutputFolder

if TYPE_CHECKING:
    from ciops.failures.gathering import Gathered

_BAR: Final = 24


def read_all(found: Gathered, keep: OutputFolder | None) -> None:
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


def read_beside(found: Gathered) -> None:
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
