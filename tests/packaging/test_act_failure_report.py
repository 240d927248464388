"""`uses: org/triage-action/pipeline-failure-report@v1` under act, against the fake GitLab."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci_programs.act import Act
from ci_programs.suite import Installed, git_repository
from failures.pipeline_worlds import expected, fake_world
from fakes.gitlab import FakeGitLab

pytestmark = pytest.mark.tool

WORLD = expected("dev1")
TOKEN = "glpat-loopback0token"
WORKFLOW = """
on: {schedule: [{cron: "40 5 * * *"}]}
jobs:
  report:
    runs-on: ubuntu-24.04
    steps:
      - id: report
        uses: org/triage-action/pipeline-failure-report@v1
        with:
          gitlab-url: ${{ env.GITLAB }}
          gitlab-token: ${{ secrets.GITLAB_TOKEN }}
      - if: always()
        run: cp -r out "$RESULTS/"
"""


@pytest.fixture
def gitlab() -> Iterator[FakeGitLab]:
    with fake_world("dev1") as fake:
        yield fake


BY_INPUT = "          gitlab-token: ${{ secrets.GITLAB_TOKEN }}\n"
BY_VARIABLE = WORKFLOW.replace(BY_INPUT, "").replace(
    "jobs:\n", "env: {GITLAB_TOKEN: '${{ secrets.GITLAB_TOKEN }}'}\njobs:\n"
)


@pytest.fixture
def act(tmp_path: Path, suite: Path, installed: Installed, gitlab: FakeGitLab) -> Act:
    folder = tmp_path / "user"
    (folder / ".github/workflows").mkdir(parents=True)
    (folder / ".github/workflows/w.yml").write_text(WORKFLOW, encoding="utf-8")
    git_repository(folder, "https://github.com/o/r.git")
    env = {
        "GITLAB": gitlab.url,
        "TRIAGE_ACTION_CACHE": str(installed.cache),
        "RESULTS": str(tmp_path),
    }
    return Act(folder, {"org/triage-action@v1": suite}, env, {"GITLAB_TOKEN": TOKEN})


def test_the_newest_pipeline_of_the_scope_is_reported(
    act: Act, gitlab: FakeGitLab, tmp_path: Path
) -> None:
    run = act.run("schedule", {})
    assert run.status == 0, run.printed
    outputs = run.outputs("report")
    report = json.loads((tmp_path / outputs["report-file"]).read_text(encoding="utf-8"))
    assert report["starting_pipeline"] == WORLD["starting_pipeline"]
    assert report["failed_jobs_total"] == WORLD["failed_jobs_total"]
    assert outputs["failed-jobs"] == str(WORLD["failed_jobs_total"])
    assert outputs["buckets"] == str(len(report["buckets"]))
    assert {path.name for path in (tmp_path / "out").glob("report.*")} >= {
        "report.md",
        "report.json",
        "report.html",
    }
    assert str(WORLD["starting_pipeline"]) in run.summary
    assert gitlab.writes == []
    assert TOKEN not in run.printed


def test_the_token_may_come_as_a_variable_of_the_workflow(act: Act, gitlab: FakeGitLab) -> None:
    (act.folder / ".github/workflows/w.yml").write_text(BY_VARIABLE, encoding="utf-8")
    assert act.run("schedule", {}).status == 0
    assert gitlab.seen_tokens == {TOKEN}


def test_without_a_token_one_sentence_says_so(act: Act, gitlab: FakeGitLab) -> None:
    act.secrets = {}
    run = act.run("schedule", {})
    assert run.status == 1
    assert run.errors == [
        "Set GITLAB_TOKEN to a GitLab personal access token and rerun this skill."
    ]
    assert gitlab.requests == []
