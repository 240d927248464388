"""What a report says, before it is words in some format.

The renderers are pure functions over `Report`; `report_json` writes and reads it. Every text has
its secrets masked already. `None` and "" mean "not known" or "does not apply".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Final

from ciops.failures.config_dump import HintValue
from ciops.failures.scan_result import NumberedLine

SCHEMA: Final = 1

ACTIONABLE: Final = "actionable"
ISSUE_ONLY: Final = "issue-only"

# Why nothing was filed for a bucket; these four and no others.
DUPLICATES_NOT_CHECKED: Final = "duplicates not checked"
WEAK_EVIDENCE: Final = "evidence too weak for an owner"
NO_SINGLE_FIX: Final = "no single coherent fix"
EXTERNAL_OR_INFRA: Final = "external or infra"
BLOCKERS: Final = (DUPLICATES_NOT_CHECKED, WEAK_EVIDENCE, NO_SINGLE_FIX, EXTERNAL_OR_INFRA)

# What became of tracking.
FILED: Final = "filed"
"""This run filed the issue."""
EXISTING: Final = "existing"
"""An open issue or pull request covers the bucket already."""
PLANNED: Final = "planned"
"""A dry run would file it; there is no URL yet."""

# Which commit the code of a hypothesis was read at.
NAMED_BY_TRACE: Final = "trace"
NAMED_BY_JOB: Final = "job"
DEFAULT_BRANCH: Final = "default-branch"
COMMIT_SOURCES: Final = (NAMED_BY_TRACE, NAMED_BY_JOB, DEFAULT_BRANCH)

# What a run could not do, or was told not to. `Remark.detail` says more where there is more.
STOPPED: Final = "stopped"
JOBS_LIMIT: Final = "jobs-limit"
HISTORY_UNREADABLE: Final = "history-unreadable"
CODE_UNREADABLE: Final = "code-unreadable"
TRACKING_FAILED: Final = "tracking-failed"
PIPELINE_UNREADABLE: Final = "pipeline-unreadable"
REMARKS: Final = (
    *(STOPPED, JOBS_LIMIT, HISTORY_UNREADABLE, CODE_UNREADABLE, TRACKING_FAILED),
    PIPELINE_UNREADABLE,
)


@dataclass(frozen=True, slots=True)
class PipelineStep:
    """One pipeline on the way from the starting pipeline to the terminal ones.

    `parent` is the pipeline whose bridge triggered it (None for the starting one); `via_*` is that
    bridge.
    """

    id: int
    url: str = ""
    project: str = ""
    ref: str = ""
    sha: str = ""
    parent: int | None = None
    via_bridge: int | None = None
    via_name: str = ""
    via_url: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """A commit that touched the file of a hypothesis since the last green run of the job."""

    sha: str
    title: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class CodeReference:
    """The code a hypothesis points at: a file that exists in the owner's repository.

    `commit` is where it was read, `commit_source` who named that commit. `changes` is None where
    the history since the last green run is not known, and empty where nothing touched the file.
    """

    repository: str
    path: str
    line: int | None = None
    function: str = ""
    url: str = ""
    commit: str = ""
    commit_source: str = ""
    changes: tuple[Change, ...] | None = None


@dataclass(frozen=True, slots=True)
class Bucket:
    """Failed jobs of one cause, and what came of them.

    `recurring` is None without an earlier report. `tracking` is the URL of the issue or pull
    request, `tracking_state` what it is to this run; `blocker` says why nothing was filed.
    """

    name: str
    status: str
    reason: str
    owner: str
    representative_job: int
    jobs: tuple[int, ...]
    causal_error: str | None = None
    signature: str = ""
    hypothesis: str = ""
    recurring: bool | None = None
    tracking: str | None = None
    tracking_state: str = ""
    blocker: str = ""
    owner_assumed: bool = False
    evidence: str = "strong"
    rule: str = ""
    code: CodeReference | None = None

    @property
    def size(self) -> int:
        """How many failed jobs it holds."""
        return len(self.jobs)


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A failed job and the first causal error of its trace.

    The fields from `line` to `runtime_hints` are those of a scan. `excerpt` holds the lines around
    the causal one. `weak_reason` says in words why the evidence is weak. `via_bridge` is the bridge
    that triggered its pipeline, None in the starting pipeline.
    """

    id: int
    name: str
    pipeline_id: int
    job_url: str = ""
    log_url: str = ""
    workload: str = ""
    via_bridge: int | None = None
    allow_failure: bool = False
    line: int | None = None
    text: str | None = None
    exception: str | None = None
    frame: str | None = None
    evidence: str = "weak"
    signature: str = ""
    bucket: str = ""
    status: str = ISSUE_ONLY
    owner: str = ""
    wrappers: tuple[NumberedLine, ...] = ()
    model: str | None = None
    runtime_hints: Mapping[str, HintValue] = field(default_factory=lambda: MappingProxyType({}))
    excerpt: tuple[NumberedLine, ...] = ()
    weak_reason: str = ""
    failure_reason: str = ""
    supplementary: bool = False


@dataclass(frozen=True, slots=True)
class DeadEndBridge:
    """A failed bridge behind which no failed job could be seen; it is no bucket of jobs."""

    id: int
    name: str
    bucket: str
    status: str
    reason: str
    url: str = ""
    pipeline_id: int | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A job whose trace could not be read; it is counted all the same."""

    id: int
    reason: str


@dataclass(frozen=True, slots=True)
class Remark:
    """Something a run could not do, by kind (`REMARKS`); `count` is how many it concerns."""

    kind: str
    detail: str = ""
    count: int = 0


@dataclass(frozen=True)
class Report:
    """A whole report.

    `config` is `name@version`. `pipelines` holds the starting pipeline first and every one that was
    followed. `generated_at` is ISO 8601 in UTC. `previous_pipeline` is the starting pipeline of the
    report compared with. `tracked` says whether filing was asked for. `shard` is `I/N` for a part.
    """

    config: str
    scope: str
    starting_pipeline: int
    terminal_pipelines: tuple[int, ...]
    failed_jobs_total: int
    buckets: tuple[Bucket, ...] = ()
    jobs: tuple[FailedJob, ...] = ()
    dead_end_bridges: tuple[DeadEndBridge, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    pipelines: tuple[PipelineStep, ...] = ()
    source: str = "gitlab"
    generated_at: str = ""
    previous_pipeline: int | None = None
    tracked: bool = False
    dry_run: bool = False
    shard: str = ""
    remarks: tuple[Remark, ...] = ()

    @property
    def bucket_sum(self) -> int:
        """The jobs in all buckets."""
        return sum(bucket.size for bucket in self.buckets)

    @property
    def checksum_holds(self) -> bool:
        """Whether every failed job is in exactly one bucket."""
        bucketed = [job for bucket in self.buckets for job in bucket.jobs]
        same = sorted(bucketed) == sorted(job.id for job in self.jobs)
        return same and len(bucketed) == len(set(bucketed)) == self.failed_jobs_total

    @cached_property
    def jobs_by_id(self) -> dict[int, FailedJob]:
        """The failed jobs by their id."""
        return {job.id: job for job in self.jobs}

    @cached_property
    def pipelines_by_id(self) -> dict[int, PipelineStep]:
        """The pipelines by their id."""
        return {step.id: step for step in self.pipelines}
