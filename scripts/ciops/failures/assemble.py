"""Evidence, buckets and what is known about them, put together to a report.

Pure: what was looked up, when it was and what is to be tracked is handed in. Texts of a scan are
masked already; all others are where a report leaves (`ciops.failures.report_text.made_safe`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ciops.failures import report_model as model
from ciops.failures.buckets import Bucket, JobEvidence, bucket, supplementary
from ciops.failures.chain import ChainJob
from ciops.failures.code_seen import seen
from ciops.failures.job_names import part_of
from ciops.failures.knowledge import Knowledge
from ciops.failures.recurrence import recurring
from ciops.failures.report_model import (
    CodeReference,
    DeadEndBridge,
    FailedJob,
    PipelineStep,
    Remark,
    Report,
    Unreadable,
)

_LONGEST_HYPOTHESIS: Final = 600
_SHOWN_MODELS: Final = 3


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look at the code behind a bucket's frame brought.

    `missing` says that there is no such file: then there is no hypothesis. `unchecked` says in
    words why nobody looked.
    """

    code: CodeReference | None = None
    missing: bool = False
    unchecked: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything a report is made of but the buckets.

    `beside` says of jobs with weak evidence what a log beside theirs shows.
    """

    config: str
    scope: str
    starting_pipeline: int
    terminal_pipelines: tuple[int, ...]
    steps: tuple[PipelineStep, ...]
    jobs: tuple[ChainJob, ...]
    dead_ends: tuple[DeadEndBridge, ...] = ()
    remarks: tuple[Remark, ...] = ()
    source: str = "gitlab"
    shard: str = ""
    generated_at: str = ""
    log_urls: Mapping[int, str] = field(default_factory=dict)
    beside: Mapping[int, str] = field(default_factory=dict)


def in_buckets(evidence: Sequence[JobEvidence], knowledge: Knowledge) -> list[Bucket]:
    """The buckets of all jobs, whatever the order in which their traces came."""
    return bucket(sorted(evidence, key=lambda job: job.id), knowledge)


def assemble(
    facts: Facts,
    evidence: Sequence[JobEvidence],
    buckets: Sequence[Bucket],
    looked: Mapping[str, Looked],
    previous: Report | None,
    knowledge: Knowledge,
) -> Report:
    """The report; `looked` is keyed by the names of buckets."""
    by_job = {job: one for one in buckets for job in one.jobs}
    beside = supplementary(evidence, knowledge)
    found = {job.id: job for job in evidence}
    jobs = [
        _failed_job(one, found[one.job.id], by_job[one.job.id], facts, knowledge)
        for one in sorted(facts.jobs, key=lambda one: one.job.id)
    ]
    jobs = [
        replace(job, evidence="weak", supplementary=True) if job.id in beside else job
        for job in jobs
    ]
    named = [_bucket(one, looked.get(one.name, Looked()), found) for one in buckets]
    return Report(
        config=facts.config,
        scope=facts.scope,
        starting_pipeline=facts.starting_pipeline,
        terminal_pipelines=facts.terminal_pipelines,
        failed_jobs_total=len(facts.jobs),
        buckets=tuple(recurring(named, jobs, previous)),
        jobs=tuple(jobs),
        dead_end_bridges=facts.dead_ends,
        unreadable=tuple(
            Unreadable(key, found[key].unreadable) for key in sorted(found) if found[key].unreadable
        ),
        pipelines=facts.steps,
        source=facts.source,
        generated_at=facts.generated_at,
        previous_pipeline=previous.starting_pipeline if previous else None,
        shard=facts.shard,
        remarks=facts.remarks,
    )


def _failed_job(
    one: ChainJob, evidence: JobEvidence, placed: Bucket, facts: Facts, knowledge: Knowledge
) -> FailedJob:
    job, scan = one.job, evidence.scan
    return FailedJob(
        id=job.id,
        name=job.name,
        pipeline_id=one.step.id,
        job_url=job.url,
        log_url=facts.log_urls.get(job.id, ""),
        workload=part_of(job.name, knowledge.jobs).workload,
        via_bridge=one.step.via_bridge,
        allow_failure=job.allow_failure,
        line=scan.line,
        text=scan.text,
        exception=scan.exception,
        frame=str(scan.frame) if scan.frame else None,
        evidence=evidence.evidence,
        signature=scan.signature,
        bucket=placed.name,
        status=placed.status,
        owner=placed.owner,
        wrappers=scan.wrappers,
        model=scan.model,
        runtime_hints=scan.runtime_hints,
        excerpt=scan.excerpt,
        weak_reason=_weak_reason(evidence, facts.beside.get(job.id, "")),
        failure_reason=job.failure_reason,
    )


def _weak_reason(evidence: JobEvidence, beside: str) -> str:
    """Why the evidence is weak, and what a log beside it shows."""
    if evidence.evidence == "strong":
        return ""
    return "; ".join(filter(None, (evidence.unreadable or evidence.scan.reason, beside)))


def _bucket(one: Bucket, looked: Looked, found: Mapping[int, JobEvidence]) -> model.Bucket:
    return model.Bucket(
        name=one.name,
        status=one.status,
        reason=one.reason,
        owner=one.owner,
        representative_job=one.representative,
        jobs=one.jobs,
        causal_error=one.causal_error,
        signature=one.signature,
        hypothesis=hypothesis(one, looked, _places(one, found)),
        owner_assumed=one.owner_assumed,
        evidence=one.evidence,
        rule=one.rule,
        code=looked.code,
    )


def _places(one: Bucket, found: Mapping[int, JobEvidence]) -> dict[str, str]:
    """What the places of a hypothesis' template stand for."""
    models = list(dict.fromkeys(name for job in one.jobs if (name := found[job].scan.model)))
    more = f" and {len(models) - _SHOWN_MODELS} more models"
    shown = ", ".join(models[:_SHOWN_MODELS]) + (more if len(models) > _SHOWN_MODELS else "")
    return {
        "{frame}": str(one.frame or "the code"),
        "{model}": shown or "the model",
        "{text}": one.causal_error or "",
        "{exception}": found[one.representative].scan.exception or "the error",
    }


def hypothesis(one: Bucket, looked: Looked, places: Mapping[str, str]) -> str:
    """The hypothesis in one sentence, with where its code was seen; "" when there is no such code.

    A rule's text that names no code says nothing about a file.
    """
    if names_code(one) and looked.missing:
        return ""
    text = re.sub(r"\{\w+\}", lambda place: places.get(place[0], place[0]), one.hypothesis)
    text = re.sub("^the ", "The ", text)[:_LONGEST_HYPOTHESIS]
    return f"{text.rstrip('. ')} ({_seen(looked)})" if names_code(one) else text


def names_code(one: Bucket) -> bool:
    """Whether a hypothesis points at code of its owner: the frame of its bucket."""
    if not has_own_frame(one) or one.frame is None:
        return False
    return "{frame}" in one.hypothesis or one.frame.path in one.hypothesis


def has_own_frame(one: Bucket) -> bool:
    """Whether the frame of a bucket lies in code of whoever owns the bucket."""
    return one.frame is not None and one.frame.owner == one.owner


def _seen(looked: Looked) -> str:
    if looked.code is None:
        return f"not checked: {looked.unchecked or 'nobody looked'}"
    return seen(looked.code)
