"""`uses: org/triage-action@v1` as GitHub runs it, under act, against the fake GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ci_programs.act import Act
from ci_programs.queue import LABELS, QUEUE, ROUTE, github_issue
from ci_programs.suite import Installed, git_repository
from fakes.github import Account, FakeGitHub

pytestmark = pytest.mark.tool

TOKEN = "ghs_loopback0token"
WORKFLOW = """
on:
  issues: {types: [labeled]}
  schedule: [{cron: "17 3 * * *"}]
  workflow_dispatch: {inputs: {issue: {type: string}, dry-run: {type: boolean}}}
jobs:
  triage:
    runs-on: ubuntu-24.04
    steps:
      - id: triage
        uses: org/triage-action@v1
        with:
          issue: ${{ inputs.issue }}
          dry-run: ${{ inputs.dry-run || false }}
      - if: always()
        run: cp -r out "$RESULTS/"
"""


@pytest.fixture
def forge() -> Iterator[FakeGitHub]:
    issues = [github_issue(7), github_issue(8)]
    with FakeGitHub("o/r", issues=issues, labels=LABELS) as fake:
        yield fake


@pytest.fixture
def act(tmp_path: Path, suite: Path, installed: Installed, forge: FakeGitHub) -> Act:
    return user_of(tmp_path, suite, installed, forge)


def user_of(tmp_path: Path, suite: Path, installed: Installed, forge: FakeGitHub) -> Act:
    """A user's repository with the workflow; what the job leaves is copied to `tmp_path/out`."""
    folder = tmp_path / "user"
    (folder / ".github/workflows").mkdir(parents=True)
    (folder / ".github/workflows/triage.yml").write_text(WORKFLOW, encoding="utf-8")
    git_repository(folder, "https://github.com/o/r.git")
    env = {
        "GITHUB_API_URL": forge.url,
        "TRIAGE_ACTION_CACHE": str(installed.cache),
        "RESULTS": str(tmp_path),
    }
    return Act(folder, {"org/triage-action@v1": suite}, env, {"GITHUB_TOKEN": TOKEN})


def labeled(forge: FakeGitHub, number: int) -> dict[str, Any]:
    return {
        "action": "labeled",
        "label": {"name": QUEUE},
        "issue": forge.issue(number),
        "repository": {"full_name": "o/r"},
    }


def test_a_labeled_issue_is_triaged(act: Act, forge: FakeGitHub, tmp_path: Path) -> None:
    run = act.run("issues", labeled(forge, 7))
    assert run.status == 0, run.printed
    added = [ROUTE, "module: fsdp", "bot-triaged", "triaged"]
    assert forge.labels(7) == [QUEUE, *added]
    assert forge.labels(8) == [QUEUE]
    assert len(forge.writes) == 1
    outputs = run.outputs("triage")
    assert outputs["labels"].splitlines() == added
    assert json.loads(outputs["decision"])["sub_oncall"] == "parallelisms"
    assert outputs["comment-url"] == ""
    assert "## Issue triage of `o/r`" in run.summary
    assert "`module: fsdp`" in run.summary
    assert json.loads((tmp_path / outputs["run-file"]).read_text(encoding="utf-8"))
    assert forge.seen_tokens == {TOKEN}
    assert TOKEN not in run.printed


def test_a_schedule_sweeps_the_queue(act: Act, forge: FakeGitHub) -> None:
    run = act.run("schedule", {})
    assert run.status == 0, run.printed
    assert ROUTE in forge.labels(7)
    assert ROUTE in forge.labels(8)
    assert "2 issues were looked at" in run.summary


def test_by_hand_for_one_issue_and_dry(act: Act, forge: FakeGitHub) -> None:
    run = act.run("workflow_dispatch", {"inputs": {"issue": "8", "dry-run": "true"}})
    assert run.status == 0, run.printed
    assert forge.writes == []
    assert "module: fsdp" in run.summary


def test_a_token_that_may_only_read_is_told_in_one_sentence(
    tmp_path: Path, suite: Path, installed: Installed
) -> None:
    reader = Account("github-actions[bot]", permissions={"issues": "read", "metadata": "read"})
    with FakeGitHub(
        "o/r", issues=[github_issue(7)], labels=LABELS, tokens={TOKEN: reader}
    ) as forge:
        run = user_of(tmp_path, suite, installed, forge).run("issues", labeled(forge, 7))
    assert run.status == 1
    assert forge.writes == []
    assert len(run.errors) == 1, run.printed
    assert "issues" in run.errors[0]
    assert "write" in run.errors[0]
    assert "Traceback" not in run.printed
