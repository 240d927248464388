"""`include: component: …/issue-triage@v1` as GitLab runs it, against the fake GitLab."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci_programs import gitlab
from ci_programs.gitlab import Project
from ci_programs.queue import QUEUE, ROUTE, gitlab_project
from ci_programs.suite import Installed
from fakes.gitlab import FakeGitLab

pytestmark = pytest.mark.tool

TOKEN = "glpat-loopback0token"


@pytest.fixture
def forge() -> Iterator[FakeGitLab]:
    with FakeGitLab(projects=[gitlab_project(issues=3)]) as fake:
        yield fake


@pytest.fixture
def variables(forge: FakeGitLab, installed: Installed) -> dict[str, str]:
    """What the project and the GitLab of the fake set in a job."""
    return {
        "CI_SERVER_URL": forge.url,
        "CI_PIPELINE_SOURCE": "schedule",
        "GITLAB_TOKEN": TOKEN,
        "TRIAGE_ACTION_CACHE": str(installed.cache),
    }


def project(tmp_path: Path, **inputs: str) -> Project:
    return gitlab.user_of("issue-triage", tmp_path, inputs)


def test_a_schedule_sweeps_the_queue(
    tmp_path: Path, archive: str, forge: FakeGitLab, variables: dict[str, str]
) -> None:
    where = project(tmp_path, archive=archive)
    done = where.run(variables=variables)
    assert done.returncode == 0, done.stdout + done.stderr
    for iid in (1, 2, 3):
        assert forge.project(3).issues[iid]["labels"] == [
            QUEUE,
            ROUTE,
            "module: fsdp",
            "bot-triaged",
            "triaged",
        ]
    assert forge.created_labels == []
    assert TOKEN not in done.stdout + done.stderr
    assert forge.seen_schemes == {"Authorization: Bearer"}
    out = where.folder / "out"
    assert "3 issues were looked at" in (out / "summary.md").read_text(encoding="utf-8")
    assert json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert "RUN_FILE=out/run.json" in (out / "outputs.env").read_text(encoding="utf-8")


def test_a_webhook_names_one_issue(
    tmp_path: Path, archive: str, forge: FakeGitLab, variables: dict[str, str]
) -> None:
    event = {
        "object_kind": "issue",
        "project": {"path_with_namespace": "group/project"},
        "object_attributes": {"iid": 2, "state": "opened", "title": "x", "url": "x"},
        "labels": [{"title": QUEUE}],
    }
    payload = tmp_path / "payload.json"
    payload.write_text(json.dumps(event), encoding="utf-8")
    triggered = {"CI_PIPELINE_SOURCE": "trigger", "TRIGGER_PAYLOAD": str(payload)}
    done = project(tmp_path, archive=archive).run(variables=variables | triggered)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ROUTE in forge.project(3).issues[2]["labels"]
    assert forge.project(3).issues[1]["labels"] == [QUEUE]


def test_shards_share_a_sweep_and_one_job_merges(
    tmp_path: Path, archive: str, forge: FakeGitLab, variables: dict[str, str]
) -> None:
    where = project(tmp_path, archive=archive, shards="2", dry_run="true")
    done = where.run(variables=variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert forge.writes == []
    summary = where.folder / "out/summary.md"
    assert "3 issues were looked at" in summary.read_text(encoding="utf-8")


def test_a_push_starts_nothing(tmp_path: Path, variables: dict[str, str]) -> None:
    where = project(tmp_path, version="v1")
    listed = where.run("--list", variables=variables | {"CI_PIPELINE_SOURCE": "push"})
    assert listed.returncode == 0
    assert "issue-triage" not in listed.stdout
