"""`include: component: …/post-mortem-render@v1`: render, then a manual job that posts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci_programs import gitlab
from ci_programs.gitlab import Project
from ci_programs.suite import ROOT, Installed
from fakes.jira import FakeJira

pytestmark = pytest.mark.tool

TICKET = "JIRA-12345"
RENDER, PUBLISH = "post-mortem-render", "post-mortem-render:publish"


@pytest.fixture
def jira() -> Iterator[FakeJira]:
    with FakeJira(issues={TICKET: {"summary": "It stops", "project_type": "software"}}) as fake:
        yield fake


@pytest.fixture
def variables(jira: FakeJira, installed: Installed) -> dict[str, str]:
    return {
        "JIRA_BASE_URL": jira.url,
        "JIRA_EMAIL": "bot@example.invalid",
        "JIRA_API_TOKEN": "jira-loopback0token",
        "TRIAGE_ACTION_CACHE": str(installed.cache),
    }


@pytest.fixture
def project(tmp_path: Path, archive: str) -> Project:
    folder = tmp_path / "project/post-mortems"
    folder.mkdir(parents=True)
    record = (ROOT / "examples/post-mortem.yml").read_text(encoding="utf-8")
    (folder / "record.yml").write_text(record, encoding="utf-8")
    inputs = {"record": "post-mortems/record.yml", "archive": archive}
    return gitlab.user_of("post-mortem-render", tmp_path, inputs)


def test_a_pipeline_renders_and_posts_nothing(
    project: Project, jira: FakeJira, variables: dict[str, str]
) -> None:
    done = project.run(variables=variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert jira.requests == []
    assert (project.folder / f"out/docs/postmortems/{TICKET}.md").is_file()
    outputs = (project.folder / "out/outputs.env").read_text(encoding="utf-8")
    assert f"PAYLOAD=out/{TICKET}.jira.json" in outputs
    assert "DIGEST=sha256:" in outputs
    assert "Digest: sha256:" in done.stdout


def test_the_job_that_a_person_starts_posts_that_comment(
    project: Project, jira: FakeJira, variables: dict[str, str]
) -> None:
    done = project.run("--manual", PUBLISH, variables=variables)
    assert done.returncode == 0, done.stdout + done.stderr
    payload = (project.folder / f"out/{TICKET}.jira.json").read_text(encoding="utf-8")
    (comment,) = jira.comments(TICKET)
    assert comment["body"] == json.loads(payload)["body"]
    assert variables["JIRA_API_TOKEN"] not in done.stdout + done.stderr


def test_the_job_that_posts_is_manual_and_has_an_environment(project: Project) -> None:
    listed = project.run("--list-csv-all")
    rows = {row.split(";")[0]: row for row in listed.stdout.splitlines()}
    assert ";manual;" in rows[PUBLISH].replace('"', "")
    assert "post-mortem" in rows[PUBLISH]
    assert ";manual;" not in rows[RENDER].replace('"', "")
