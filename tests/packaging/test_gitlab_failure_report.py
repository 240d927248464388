"""`include: component: …/pipeline-failure-report@v1`, and the hidden job, against the fake."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci_programs import gitlab
from ci_programs.suite import Installed
from failures.pipeline_worlds import expected, fake_world
from fakes.gitlab import FakeGitLab

pytestmark = pytest.mark.tool

WORLD = expected("dev1")


@pytest.fixture
def server() -> Iterator[FakeGitLab]:
    with fake_world("dev1") as fake:
        yield fake


@pytest.fixture
def variables(server: FakeGitLab, installed: Installed, archive: str) -> dict[str, str]:
    return {
        "CI_SERVER_URL": server.url,
        "CI_PIPELINE_SOURCE": "schedule",
        "GITLAB_TOKEN": "glpat-loopback0token",
        "TRIAGE_ACTION_CACHE": str(installed.cache),
    }


def test_the_component_reports(
    tmp_path: Path, archive: str, server: FakeGitLab, variables: dict[str, str]
) -> None:
    inputs = {"archive": archive, "format": "md json html"}
    project = gitlab.user_of("pipeline-failure-report", tmp_path, inputs)
    done = project.run(variables=variables)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((project.folder / "out/report.json").read_text(encoding="utf-8"))
    assert report["starting_pipeline"] == WORLD["starting_pipeline"]
    assert report["checksum"]["failed_jobs"] == WORLD["failed_jobs_total"]
    outputs = (project.folder / "out/outputs.env").read_text(encoding="utf-8")
    assert f"FAILED_JOBS={WORLD['failed_jobs_total']}" in outputs
    assert (project.folder / "out/report.html").is_file()
    assert server.writes == []


def test_two_parts_make_one_report(tmp_path: Path, archive: str, variables: dict[str, str]) -> None:
    inputs = {"archive": archive, "format": "json", "shards": "2"}
    project = gitlab.user_of("pipeline-failure-report", tmp_path, inputs)
    done = project.run(variables=variables)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((project.folder / "out/report.json").read_text(encoding="utf-8"))
    assert report["checksum"] == {
        "failed_jobs": WORLD["failed_jobs_total"],
        "bucket_sum": WORLD["failed_jobs_total"],
    }


HIDDEN = """
include:
  - project: org/triage-action
    ref: v1
    file: .gitlab-ci.yml
failures:
  extends: .triage-action:pipeline-failure-report
  rules: [{when: always}]
  variables:
    TRIAGE_ACTION_ARCHIVE: "%s"
    INPUT_PIPELINE: "%s"
    INPUT_FORMAT: json
"""


def test_the_hidden_job_reports_on_the_pipeline_that_it_is_given(
    tmp_path: Path, archive: str, variables: dict[str, str]
) -> None:
    ci_file = HIDDEN % (archive, WORLD["starting_pipeline"])
    project = gitlab.project(tmp_path / "project", gitlab.publish(tmp_path), ci_file)
    done = project.run(variables=variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "triage-action:suite" not in done.stdout
    report = json.loads((project.folder / "out/report.json").read_text(encoding="utf-8"))
    assert report["failed_jobs_total"] == WORLD["failed_jobs_total"]
