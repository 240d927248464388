"""Many failures at once: which are one, who owns them, and that framing does not matter."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from ciops.failures.assemble import in_buckets
from ciops.failures.buckets import Bucket, JobEvidence
from ciops.failures.trace import TraceReader
from ciops.plumbing.yaml_file import load
from failures import world_changes as changes
from failures.pipeline_worlds import ROOT, knowledge

Change = Callable[[bytes], bytes]
FILE = ROOT / "tests/data/failures/incidents.yml"
MODELS = ("acme/Gear-7B", "lab/Wheel-mini-instruct", "third/Pulley-V3.1")
# What a launcher prints for its ranks has a prefix, what stands beside it has none.
BESIDE = re.compile(
    r"srun|sbatch|slurmstepd|\[ \d|WARNING: F|ERROR: |FATAL|fatal|error:|nvidia|\[rank|tests/|cp:|"
    r"/code|ninja|FAILED:|/usr|Failed to init"
)
ORDINARY = (
    "0: [TRT-LLM] [I] Loaded shard {}/40 (512 MiB) in 1.2s, checksum errors: 0",
    "0: metrics step={} tps=12.1 error_rate=0.0 failed_requests=0",
    "1: [TRT-LLM AUTO-DEPLOY] [I] [transform=detect] [SUMMARY] matches={} | errors=0",
)


@cache
def incidents() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = load(FILE).data
    return found


def trace(number: int, excerpt: str) -> bytes:
    """The trace of a job that failed so, among ordinary lines."""
    said = [line if BESIDE.match(line) else f"0: {line}" for line in excerpt.splitlines()]
    head = f"resolved workload config: {{'model': '{MODELS[number % 3]}', 'world_size': 2}}"
    work = [ORDINARY[step % 3].format(step) for step in range(9)]
    ends = [f"srun: error: pool0-0{number:04}: task 0: Exited with exit code 1"]
    verdict = "section_end:1:step_script\r\x1b[0K\x1b[31;1mERROR: Job failed: exit code 1\x1b[0;m"
    return "\n".join(["$ run", head, *work, *said, *ends, verdict, ""]).encode()


@cache
def in_all(change: Change) -> tuple[dict[int, str], list[Bucket]]:
    """By job: the incident that it is one of; and the buckets of all jobs."""
    excerpts = [(one["id"], text) for one in incidents() for text in one["excerpts"]]
    jobs = []
    for number, (_, text) in enumerate(excerpts):
        reader = TraceReader(knowledge())
        reader.feed(change(trace(number, text)))
        jobs.append(JobEvidence(number, f"cov-{number} [2 run]", reader.finish()))
    return {n: name for n, (name, _) in enumerate(excerpts)}, in_buckets(jobs, knowledge())


def unchanged(text: bytes) -> bytes:
    return text


def in_colour(text: bytes) -> bytes:
    return re.sub(rb"(?m)^0: (.*)$", lambda m: b"0: \x1b[31m" + m[1] + b"\x1b[0m", text)


def with_another_rank(text: bytes) -> bytes:
    return re.sub(rb"(?m)^(0: .*)$", rb"\1\n1: [TRT-LLM] [I] Loaded shard 3/40 in 1.2s", text)


def under_two_prefixes(text: bytes) -> bytes:
    return re.sub(rb"(?m)^0: ", b"0: [rank0]: ", text)


def without_an_end(text: bytes) -> bytes:
    return text.partition(b"\nsrun: error: pool0")[0] + b"\n"


def test_every_incident_has_a_bucket_of_its_own() -> None:
    names, buckets = in_all(unchanged)
    wrong = [
        (one.name, sorted({names[job] for job in one.jobs}))
        for one in buckets
        if len({names[job] for job in one.jobs}) > 1
    ]
    assert wrong == []
    parts = [names[one.jobs[0]] for one in buckets]
    assert sorted(name for name in set(parts) if parts.count(name) > 1) == []


@pytest.mark.parametrize("one", incidents(), ids=lambda one: one["id"])
def test_who_owns_an_incident(one: dict[str, Any]) -> None:
    names, buckets = in_all(unchanged)
    (found,) = [bucket for bucket in buckets if names[bucket.jobs[0]] == one["id"]]
    assert found.owner in one["owner"]
    assert found.status in one["status"]
    assert found.evidence == "strong"


FRAMINGS = [
    changes.with_crlf,
    changes.timestamped,
    changes.in_another_logger,
    in_colour,
    with_another_rank,
    under_two_prefixes,
    without_an_end,
]


@pytest.mark.parametrize("change", FRAMINGS, ids=lambda change: change.__name__)
def test_the_buckets_do_not_hang_on_framing(change: Change) -> None:
    before, after = in_all(unchanged)[1], in_all(change)[1]
    assert [(one.jobs, one.owner, one.status) for one in after] == [
        (one.jobs, one.owner, one.status) for one in before
    ]
