"""`report.json`: a report as data, for later runs and for other programs.

Keys keep their order and are only ever added within one schema number. Reading is tolerant: a key
that is not known is ignored and one that may be missing gets its default, so a report of an older
or newer version, or one written by hand, serves as `--previous` and for `open-pr`. What is there
must have the right type; every error names the file, the line and the key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from ciops.errors import UsageError
from ciops.failures.config_dump import HintValue
from ciops.failures.report_model import (
    ISSUE_ONLY,
    SCHEMA,
    Bucket,
    Change,
    CodeReference,
    DeadEndBridge,
    FailedJob,
    PipelineStep,
    Remark,
    Report,
    Unreadable,
)
from ciops.failures.scan_result import NumberedLine
from ciops.plumbing.yaml_file import Document, Reader, read_text, shown

MAX_BYTES: Final = 256 * 1024 * 1024
_RERUN: Final = "Name a report.json that `report --format json` wrote"


def to_json(report: Report) -> str:
    """The text of `report.json`, ending in a newline."""
    return json.dumps(to_data(report), ensure_ascii=False, indent=1) + "\n"


def to_data(report: Report) -> dict[str, Any]:
    """The report as plain data in the order of `report.json`."""
    return {
        "schema": SCHEMA,
        "config": report.config,
        "scope": report.scope,
        "starting_pipeline": report.starting_pipeline,
        "terminal_pipelines": list(report.terminal_pipelines),
        "failed_jobs_total": report.failed_jobs_total,
        "checksum": {"failed_jobs": report.failed_jobs_total, "bucket_sum": report.bucket_sum},
        "buckets": [_bucket_data(bucket) for bucket in report.buckets],
        "jobs": [_job_data(job) for job in report.jobs],
        "dead_end_bridges": [asdict(bridge) for bridge in report.dead_end_bridges],
        "unreadable": [asdict(job) for job in report.unreadable],
        "pipelines": [asdict(step) for step in report.pipelines],
        "source": report.source,
        "generated_at": report.generated_at,
        "previous_pipeline": report.previous_pipeline,
        "tracked": report.tracked,
        "dry_run": report.dry_run,
        "shard": report.shard,
        "remarks": [asdict(remark) for remark in report.remarks],
    }


def _bucket_data(bucket: Bucket) -> dict[str, Any]:
    return {
        "name": bucket.name,
        "status": bucket.status,
        "reason": bucket.reason,
        "owner": bucket.owner,
        "size": bucket.size,
        "representative_job": bucket.representative_job,
        "jobs": list(bucket.jobs),
        "causal_error": bucket.causal_error,
        "signature": bucket.signature,
        "hypothesis": bucket.hypothesis,
        "recurring": bucket.recurring,
        "tracking": bucket.tracking,
        "blocker": bucket.blocker,
        "tracking_state": bucket.tracking_state,
        "owner_assumed": bucket.owner_assumed,
        "evidence": bucket.evidence,
        "rule": bucket.rule,
        "code": None if bucket.code is None else asdict(bucket.code),
    }


def _job_data(job: FailedJob) -> dict[str, Any]:
    return {
        "id": job.id,
        "name": job.name,
        "pipeline_id": job.pipeline_id,
        "job_url": job.job_url,
        "log_url": job.log_url,
        "workload": job.workload,
        "via_bridge": job.via_bridge,
        "allow_failure": job.allow_failure,
        "line": job.line,
        "text": job.text,
        "exception": job.exception,
        "frame": job.frame,
        "evidence": job.evidence,
        "signature": job.signature,
        "bucket": job.bucket,
        "status": job.status,
        "owner": job.owner,
        "wrappers": [{"line": line.number, "text": line.text} for line in job.wrappers],
        "model": job.model,
        "runtime_hints": {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in job.runtime_hints.items()
        },
        "excerpt": "\n".join(line.text for line in job.excerpt),
        "excerpt_lines": [line.number for line in job.excerpt],
        "weak_reason": job.weak_reason,
        "failure_reason": job.failure_reason,
        "supplementary": job.supplementary,
    }


# --- reading ----------------------------------------------------------------------------------


def load_report(path: str | Path) -> Report:
    """Read a `report.json`; UsageError names file, line and key of what is wrong."""
    return from_json(read_text(path, MAX_BYTES), str(path))


def from_json(text: str, name: str) -> Report:
    """A report from its JSON text; `name` stands for the file in messages."""
    try:
        data = json.loads(text)
    except RecursionError:
        raise UsageError(f"{name}: is nested too deeply for a report", _RERUN) from None
    except json.JSONDecodeError as error:
        problem = f"{name}:{error.lineno}: is not JSON: {error.msg} (column {error.colno})"
        raise UsageError(problem, _RERUN) from None
    if not isinstance(data, dict) or "schema" not in data or "buckets" not in data:
        raise UsageError(f"{name}: is no report: it has no keys schema and buckets", _RERUN)
    if data["schema"] != SCHEMA:
        problem = f"{name}: schema: {shown(data['schema'])} is not a schema this version reads"
        raise UsageError(problem, f"Write the report again with this version (schema {SCHEMA})")
    return _report(Reader(Document(name, data, text)))


def _report(top: Reader) -> Report:
    jobs = tuple(_job(item) for item in top.items("jobs"))
    buckets = tuple(_bucket(item) for item in top.items("buckets"))
    return Report(
        config=top.text("config", ""),
        scope=top.text("scope", ""),
        starting_pipeline=top.integer("starting_pipeline"),
        terminal_pipelines=_integers(top, "terminal_pipelines"),
        failed_jobs_total=top.integer("failed_jobs_total", sum(one.size for one in buckets)),
        buckets=buckets,
        jobs=jobs,
        dead_end_bridges=tuple(_dead_end(item) for item in top.items("dead_end_bridges")),
        unreadable=tuple(
            Unreadable(item.integer("id"), item.text("reason", ""))
            for item in top.items("unreadable")
        ),
        pipelines=tuple(_pipeline(item) for item in top.items("pipelines")),
        source=top.text("source", "gitlab"),
        generated_at=top.text("generated_at", ""),
        previous_pipeline=top.integer("previous_pipeline", None),
        tracked=top.flag("tracked", False),
        dry_run=top.flag("dry_run", False),
        shard=top.text("shard", ""),
        remarks=tuple(
            Remark(item.text("kind"), item.text("detail", ""), item.integer("count", 0))
            for item in top.items("remarks")
        ),
    )


def _bucket(item: Reader) -> Bucket:
    return Bucket(
        name=item.text("name"),
        status=item.text("status", ISSUE_ONLY),
        reason=item.text("reason", ""),
        owner=item.text("owner", ""),
        representative_job=item.integer("representative_job"),
        jobs=_integers(item, "jobs"),
        causal_error=item.text("causal_error", None),
        signature=item.text("signature", ""),
        hypothesis=item.text("hypothesis", ""),
        recurring=item.flag("recurring", None),
        tracking=item.text("tracking", None),
        tracking_state=item.text("tracking_state", ""),
        blocker=item.text("blocker", ""),
        owner_assumed=item.flag("owner_assumed", False),
        evidence=item.text("evidence", "strong"),
        rule=item.text("rule", ""),
        code=_code(item.child("code")) if item.has("code") else None,
    )


def _code(item: Reader) -> CodeReference:
    changes = tuple(
        Change(one.text("sha"), one.text("title", ""), one.text("url", ""))
        for one in item.items("changes")
    )
    return CodeReference(
        repository=item.text("repository"),
        path=item.text("path"),
        line=item.integer("line", None),
        function=item.text("function", ""),
        url=item.text("url", ""),
        commit=item.text("commit", ""),
        commit_source=item.text("commit_source", ""),
        changes=changes if item.has("changes") else None,
    )


def _job(item: Reader) -> FailedJob:
    return FailedJob(
        id=item.integer("id"),
        name=item.text("name", ""),
        pipeline_id=item.integer("pipeline_id"),
        job_url=item.text("job_url", ""),
        log_url=item.text("log_url", ""),
        workload=item.text("workload", ""),
        via_bridge=item.integer("via_bridge", None),
        allow_failure=item.flag("allow_failure", False),
        line=item.integer("line", None),
        text=item.text("text", None),
        exception=item.text("exception", None),
        frame=item.text("frame", None),
        evidence=item.text("evidence", "weak"),
        signature=item.text("signature", ""),
        bucket=item.text("bucket", ""),
        status=item.text("status", ISSUE_ONLY),
        owner=item.text("owner", ""),
        wrappers=tuple(_line(one) for one in item.items("wrappers")),
        model=item.text("model", None),
        runtime_hints=_hints(item.child("runtime_hints")),
        excerpt=_excerpt(item),
        weak_reason=item.text("weak_reason", ""),
        failure_reason=item.text("failure_reason", ""),
        supplementary=item.flag("supplementary", False),
    )


def _line(item: Reader) -> NumberedLine:
    return NumberedLine(item.integer("line"), item.text("text", ""))


def _excerpt(item: Reader) -> tuple[NumberedLine, ...]:
    texts = item.text("excerpt", "").split("\n") if item.text("excerpt", "") else []
    numbers = _integers(item, "excerpt_lines")
    if len(numbers) != len(texts):  # a report by another hand: only the order is known
        numbers = tuple(range(1, len(texts) + 1))
    return tuple(NumberedLine(*pair) for pair in zip(numbers, texts, strict=True))


def _hints(item: Reader) -> Mapping[str, HintValue]:
    hints: dict[str, HintValue] = {}
    for key, value in item.mapping().items():
        if isinstance(value, list):
            hints[key] = tuple(str(one) for one in value)
        elif isinstance(value, str | int | float | bool):
            hints[key] = value
    return MappingProxyType(hints)


def _dead_end(item: Reader) -> DeadEndBridge:
    return DeadEndBridge(
        id=item.integer("id"),
        name=item.text("name", ""),
        bucket=item.text("bucket", ""),
        status=item.text("status", ISSUE_ONLY),
        reason=item.text("reason", ""),
        url=item.text("url", ""),
        pipeline_id=item.integer("pipeline_id", None),
    )


def _pipeline(item: Reader) -> PipelineStep:
    return PipelineStep(
        id=item.integer("id"),
        url=item.text("url", ""),
        project=item.text("project", ""),
        ref=item.text("ref", ""),
        sha=item.text("sha", ""),
        parent=item.integer("parent", None),
        via_bridge=item.integer("via_bridge", None),
        via_name=item.text("via_name", ""),
        via_url=item.text("via_url", ""),
    )


def _integers(item: Reader, key: str) -> tuple[int, ...]:
    numbers = []
    for one in item.items(key):
        if type(one.value) is not int:
            raise one.error(f"expected a whole number, found {shown(one.value)}")
        numbers.append(one.value)
    return tuple(numbers)
