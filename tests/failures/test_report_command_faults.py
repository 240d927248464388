"""One thing at a time is lost for good: the report comes and names it, or an error says why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from failures.pipeline_worlds import (
    DOWNSTREAM,
    UPSTREAM,
    Outcome,
    bridge,
    job,
    pipeline,
    report_on,
    small_world,
)
from fakes.github import FakeGitHub
from fakes.gitlab import FakeGitLab

OWNER = "NVIDIA/TensorRT-LLM"
CODE = "tensorrt_llm/run.py"
OWNED = (
    b"Traceback (most recent call last):\n"
    b'  File "/usr/lib/python3.12/dist-packages/tensorrt_llm/run.py", line 4, in go\n'
    b"    raise\nRuntimeError: sharded operand has another reduction dimension than expected\n"
    b"ERROR: Job failed: exit code 1\n"
)
UNOWNED = (
    b"RuntimeError: kernel launch configuration is inconsistent across pipeline stages\n"
    b"ERROR: Job failed: exit code 1\n"
)
GATED = (
    b"huggingface_hub.errors.GatedRepoError: 403 Client Error. Access to model a/b is restricted\n"
    b"ERROR: Job failed: exit code 1\n"
)


def world(**options: Any) -> FakeGitLab:
    """Two levels, a fork, and an earlier pipeline in which one job was green."""
    fork = [
        bridge(101, "model-coverage: [a]", (2, DOWNSTREAM, "failed")),
        bridge(102, "model-coverage: [b]", (3, DOWNSTREAM, "failed")),
    ]
    return small_world(
        pipeline(4, UPSTREAM, bridges=fork),
        pipeline(2, DOWNSTREAM, jobs=[job(21, "cov x", trace=OWNED), job(22, trace=UNOWNED)]),
        pipeline(3, DOWNSTREAM, jobs=[job(31, trace=GATED)]),
        pipeline(1, DOWNSTREAM, jobs=[job(11, "cov x", "success")]),
        **options,
    )


def tensorrt_llm() -> FakeGitHub:
    return FakeGitHub(OWNER, files={CODE: "def go():\n    pass\n"}, labels=["bug"])


def run(fake: FakeGitLab, github: FakeGitHub, folder: Path, *more: str) -> Outcome:
    return report_on(fake, folder, "--concurrency", "1", *more, github=github)


@pytest.mark.parametrize("status", [403, 404, 500])
def test_every_single_thing_that_is_lost_for_good_is_named(tmp_path: Path, status: int) -> None:
    """One path at a time answers with a status, always; the rest of the service works."""
    with world() as fake, tensorrt_llm() as github:
        run(fake, github, tmp_path / "whole")
        paths = {one.path for one in fake.requests}
    for number, path in enumerate(sorted(paths)):
        with world() as fake, tensorrt_llm() as github:
            fake.path_status[path] = status
            fake.path_status[path.replace("bridges", "trigger_jobs")] = status
            outcome = run(fake, github, tmp_path / f"{status}-{number}")
        if outcome.report is None:
            assert outcome.status == 4, (path, outcome)
            continue
        report = outcome.report
        lost = [*report["unreadable"], *report["remarks"], *report["dead_end_bridges"]]
        if lost or outcome.status:
            assert outcome.status == 1, path
            assert str(status) in str(lost), (path, lost)
        checksum = report["checksum"]
        assert checksum["failed_jobs"] == checksum["bucket_sum"] == len(report["jobs"])
