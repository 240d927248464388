"""Which failed jobs share a bucket does not hang on names, ranks or how a runner writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import pytest

from ciops.failures.assemble import in_buckets
from ciops.failures.buckets import Bucket, JobEvidence
from ciops.failures.scan_result import WEAK, ScanResult
from ciops.failures.trace import TraceReader
from failures import world_changes as changes
from failures.pipeline_worlds import NAMES, expected, knowledge, world_of

Change = Callable[[bytes], bytes]


def partition(buckets: Iterable[Bucket]) -> set[frozenset[int]]:
    return {frozenset(one.jobs) for one in buckets}


def failed_jobs(world: dict[str, Any], want: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        job
        for pipeline in want["terminal_pipelines"]
        for job in world["jobs"][str(pipeline)]
        if job["status"] == "failed" and not job.get("retried")
    ]


def evidence(world: dict[str, Any], job: dict[str, Any], change: Change) -> JobEvidence:
    """What a changed trace says of a job; its own name changes like the trace."""
    name = change(job["name"].encode()).decode()
    key = str(job["id"])
    if key not in world["traces"] or key in world.get("trace_http", {}):
        scan = ScanResult(evidence=WEAK, signature="no trace")
        return JobEvidence(job["id"], name, scan, "HTTP 404")
    reader = TraceReader(knowledge())
    reader.feed(change(world["traces"][key]))
    scan = reader.finish()
    return JobEvidence(job["id"], name, scan, "" if scan.size else "empty")


@cache
def jobs_of(name: str, change: Change) -> list[JobEvidence]:
    world, want = world_of(name), expected(name)
    return [evidence(world, job, change) for job in failed_jobs(world, want)]


@cache
def buckets_of(name: str, change: Change) -> list[Bucket]:
    return in_buckets(jobs_of(name, change), knowledge())


def models_of(name: str) -> list[str]:
    found = {
        match.decode()
        for trace in world_of(name)["traces"].values()
        for match in re.findall(rb"\bmodel['\"]?: ['\"]?([\w.-]+/[\w.-]+)", trace)
    }
    return sorted(found)


def unchanged(trace: bytes) -> bytes:
    return trace


@cache
def other_names(name: str) -> Change:
    return cache(changes.rename(changes.new_names(models_of(name))))


CHANGES = {
    "names": None,
    "CRLF": changes.with_crlf,
    "timestamps": changes.timestamped,
    "another logger": changes.in_another_logger,
}


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize("name", NAMES)
def test_the_partition_stays(name: str, kind: str) -> None:
    change = CHANGES[kind] or other_names(name)
    before, after = buckets_of(name, unchanged), buckets_of(name, change)
    assert partition(after) == partition(before)
    assert sorted((one.owner, one.status) for one in after) == sorted(
        (one.owner, one.status) for one in before
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_another_one(name: str) -> None:
    """The change of names does change them."""
    models = models_of(name)
    assert models
    change = other_names(name)
    for trace in world_of(name)["traces"].values():
        changed = change(trace)
        assert not [model for model in models if model.encode() in changed]
        assert not re.search(rb"\bpool\d+-\d+\b|/dist-packages/|/hf_hub_cache", changed)


@pytest.mark.parametrize("name", NAMES)
def test_the_partition_is_the_expected_one(name: str) -> None:
    found = partition(buckets_of(name, unchanged))
    keys: dict[str, set[int]] = {}
    for job in expected(name)["jobs"]:
        keys.setdefault(job["bucket_key"], set()).add(job["id"])
    assert found == {frozenset(jobs) for jobs in keys.values()}


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_jobs_does_not_matter(name: str) -> None:
    there = buckets_of(name, unchanged)
    back = in_buckets(jobs_of(name, unchanged)[::-1], knowledge())
    assert [(one.name, one.jobs) for one in there] == [(one.name, one.jobs) for one in back]
