"""A cancelled job leaves a valid report that says where it stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ciops.plumbing.interruption import StoppedError, stoppable
from failures.pipeline_worlds import (
    DOWNSTREAM,
    GITHUB_TOKEN,
    ROOT,
    TOKEN,
    UPSTREAM,
    bridge,
    job,
    pipeline,
    report_on,
    small_world,
)
from fakes.github import FakeGitHub
from fakes.gitlab import FakeGitLab

FAILING = b"RuntimeError: shape of q is wrong in every stage\nERROR: Job failed: exit code 1\n"
OWNER = "NVIDIA/TensorRT-LLM"


def world(**options: Any) -> FakeGitLab:
    down = bridge(101, "model-coverage", (2, DOWNSTREAM, "failed"))
    jobs = [job(number, trace=FAILING) for number in range(21, 33)]
    return small_world(
        pipeline(1, UPSTREAM, bridges=[down]), pipeline(2, DOWNSTREAM, jobs=jobs), **options
    )


def stopped(
    fake: FakeGitLab, github: FakeGitHub, folder: Path, number: signal.Signals, *more: str
) -> tuple[int, float]:
    """Run until a fault hangs, send a signal: the exit status and the seconds until the end."""
    script = str(ROOT / "scripts" / "pipeline_failure_report.py")
    env = {
        **{"PATH": os.environ["PATH"], "GITLAB_TOKEN": TOKEN, "GITLAB_URL": fake.url},
        **{"GITHUB_TOKEN": GITHUB_TOKEN, "GITHUB_API_URL": github.url},
    }
    options = ["--pipeline", "1", "--format", "json", "md", "--output", str(folder / "out"), *more]
    child = subprocess.Popen(
        [sys.executable, script, "report", *options], env=env, stdout=-1, stderr=-1
    )
    deadline = time.monotonic() + 20
    while not any(fault.fired for fault in (*fake.faults, *github.faults)):
        assert time.monotonic() < deadline
        assert child.poll() is None, child.communicate()
        time.sleep(0.02)
    time.sleep(0.3)
    sent = time.monotonic()
    child.send_signal(number)
    child.communicate(timeout=20)
    return child.returncode, time.monotonic() - sent


PLACES = [
    pytest.param("/pipelines/2/jobs", "following the bridges", 0, 0, id="following the bridges"),
    pytest.param("/jobs/27/trace", "reading traces", 12, 11, id="reading a trace"),
]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
@pytest.mark.parametrize(("path", "where", "jobs", "read"), PLACES)
def test_stopped_where_it_hung(
    tmp_path: Path, number: signal.Signals, path: str, where: str, jobs: int, read: int
) -> None:
    with world() as fake, FakeGitHub(OWNER) as github:
        fake.fail("slow", path=path, seconds=30, times=None)
        status, seconds = stopped(fake, github, tmp_path, number)
    assert status == 1
    assert seconds < 15  # what hung did so for 30
    report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    (remark,) = [one for one in report["remarks"] if one["kind"] == "stopped"]
    assert remark["detail"].startswith(f"{number.name} while {where}")
    assert report["checksum"] == {"failed_jobs": jobs, "bucket_sum": jobs}
    assert len(report["unreadable"]) == jobs - read
    assert all(number.name in one["reason"] for one in report["unreadable"])
    assert (tmp_path / "out" / "report.md").exists()
    assert list(tmp_path.glob("**/*.part")) == []


def test_stopped_while_filing_the_next_run_files_the_rest_once(tmp_path: Path) -> None:
    with world() as fake, FakeGitHub(OWNER, labels=["bug"]) as github:
        fault = github.fail("slow", writes=True, seconds=30)
        status, _ = stopped(fake, github, tmp_path, signal.SIGTERM, "--track")
        assert status == 1
        report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
        (remark,) = [one for one in report["remarks"] if one["kind"] == "stopped"]
        assert "tracking" in remark["detail"]
        assert fault.fired == 1
        filed = len(github.repository.issues)
        assert filed <= 1
        github.faults.clear()
        again = report_on(fake, tmp_path / "again", "--pipeline", "1", "--track", github=github)
        assert again.status == 0
        assert len(github.repository.issues) == 1


def test_stopped_before_anything_is_known(tmp_path: Path) -> None:
    with world() as fake, FakeGitHub(OWNER) as github:
        fake.fail("slow", path="/pipelines/1$", seconds=30)
        status, seconds = stopped(fake, github, tmp_path, signal.SIGTERM)
    assert status == 1
    assert seconds < 15  # what hung did so for 30
    assert not (tmp_path / "out").exists()


def test_a_signal_between_phases_is_heard_at_the_next_one() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with stoppable() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.reason == "SIGTERM"
        os.kill(os.getpid(), signal.SIGINT)  # heard no more
        with pytest.raises(StoppedError, match="SIGTERM"), stop.interruptible():
            pytest.fail("nothing begins any more")
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_signal_within_a_phase_ends_it() -> None:
    with stoppable() as stop, pytest.raises(StoppedError), stop.interruptible():
        os.kill(os.getpid(), signal.SIGTERM)
