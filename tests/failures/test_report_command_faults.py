"""A service that fails at every request in turn: the report comes, or an error says why not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from failures.pipeline_worlds import (
    DOWNSTREAM,
    GITHUB_TOKEN,
    ROOT,
    TOKEN,
    UPSTREAM,
    Outcome,
    bridge,
    job,
    pipeline,
    report_on,
    saved,
    small_world,
)
from fakes.github import FakeGitHub
from fakes.gitlab import FakeGitLab
from fakes.server import FakeServer

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


def without_time(outcome: Outcome) -> dict[str, Any]:
    return {key: part for key, part in saved(outcome).items() if key != "generated_at"}


def whole(tmp_path: Path) -> tuple[Outcome, int, int]:
    """The undisturbed run, and how often it asked each service."""
    with world(port=0) as fake, tensorrt_llm() as github:
        outcome = run(fake, github, tmp_path / "whole")
        return outcome, fake.request_count, github.request_count


def same(outcome: Outcome, undisturbed: Outcome) -> bool:
    """The same but for the addresses of the fakes."""
    ours, theirs = (without_time(one) for one in (outcome, undisturbed))
    keys = ("buckets", "jobs")
    small = ("id", "name", "bucket", "line", "text", "status", "evidence", "jobs", "reason")
    return all(
        [{key: part.get(key) for key in small} for part in ours[name]]
        == [{key: part.get(key) for key in small} for part in theirs[name]]
        for name in keys
    ) and all(ours[key] == theirs[key] for key in ("checksum", "remarks", "unreadable"))


# Every request is struck by some of these, and the others go by every third.
PASSING = ["500", "cut", "429", "502", "503", "reset", "reset-in-body", "badjson", "slow"]


@pytest.mark.parametrize("how", PASSING)
def test_a_fault_that_passes_leaves_no_trace(tmp_path: Path, how: str) -> None:
    undisturbed, requests, lookups = whole(tmp_path)
    assert undisturbed.status == 0
    number = PASSING.index(how)
    for k in range(1 + number % 3, requests + lookups + 1, 1 if number == 0 else 3):
        with world() as fake, tensorrt_llm() as github:
            server: FakeServer = fake if k <= requests else github
            at = k if k <= requests else k - requests
            path = None if how not in ("badjson",) else r"^(?!.*trace)"
            fault = server.fail(how, at=at, path=path, seconds=0.01)
            outcome = run(fake, github, tmp_path / str(k))
            assert fault.fired <= 1
            assert outcome.status == 0, (k, outcome.error)
            assert same(outcome, undisturbed), k


LASTING = ["500", "401", "403", "404", "429", "reset", "cut"]


@pytest.mark.parametrize("how", LASTING)
def test_a_fault_that_lasts_is_named_and_the_report_comes(tmp_path: Path, how: str) -> None:
    """From request k on nothing works any more, at either service."""
    _, requests, lookups = whole(tmp_path)
    reports, tried = 0, 0
    number = LASTING.index(how)
    for k in range(1 + number % 3, requests + lookups + 1, 1 if number == 0 else 3):
        tried += 1
        with world() as fake, tensorrt_llm() as github:
            server: FakeServer = fake if k <= requests else github
            server.fail(how, at=k if k <= requests else k - requests, times=None)
            outcome = run(fake, github, tmp_path / str(k))
        if outcome.report is None:
            assert outcome.status == 4, (k, outcome)
            assert outcome.error
            continue
        reports += 1
        report = outcome.report
        named = report["unreadable"] or report["remarks"]
        assert outcome.status == (1 if named else 0), (k, outcome)
        checksum = report["checksum"]
        assert checksum["failed_jobs"] == checksum["bucket_sum"] == len(report["jobs"])
    assert reports > tried // 2


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


# --- killed -----------------------------------------------------------------------------------


def killed_at(k: int, fake: FakeGitLab, github: FakeGitHub, folder: Path, *, writes: bool) -> bool:
    """A run that is killed at the k-th request of either service; whether it was."""
    script = str(ROOT / "scripts" / "pipeline_failure_report.py")
    env = {
        **{"PATH": os.environ["PATH"], "GITLAB_TOKEN": TOKEN, "GITLAB_URL": fake.url},
        **{"GITHUB_TOKEN": GITHUB_TOKEN, "GITHUB_API_URL": github.url},
    }
    options = ["--track", "--format", "json", "--output", str(folder / "out")]
    child: list[subprocess.Popen[bytes]] = []

    def kill() -> None:
        child[0].send_signal(signal.SIGKILL)
        child[0].wait()

    fake.kill_after(k, kill, writes=writes)
    github.kill_after(k, kill, writes=writes)
    child.append(
        subprocess.Popen(
            [sys.executable, script, "report", *options],
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    )
    return child[0].wait() == -signal.SIGKILL


@pytest.mark.parametrize("writes", [False, True], ids=["any request", "a write"])
def test_killed_at_any_request_a_rerun_converges(tmp_path: Path, writes: bool) -> None:
    """Every issue is filed once, whenever the first run died."""
    k = 1
    while True:
        with world() as fake, tensorrt_llm() as github:
            was_killed = killed_at(k, fake, github, tmp_path, writes=writes)
            fake.faults.clear()
            github.faults.clear()
            outcome = run(fake, github, tmp_path / "again", "--track")
            assert outcome.status == 0, (k, outcome)
            assert len(fake.project(UPSTREAM).issues) == 1, k
            assert len(github.repository.issues) == 1, k
            states = {one["tracking_state"] for one in saved(outcome)["buckets"]}
            assert states <= {"filed", "existing", ""}
            assert list(tmp_path.glob("**/*.part")) == []
        if not was_killed:
            break
        k += 1 if writes else 4
    assert k > 1
