"""`uses: org/triage-action/post-mortem-render@v1` under act, against the fake Jira."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci_programs.act import Act, ActRun
from ci_programs.suite import ROOT, Installed, git_repository
from fakes.jira import FakeJira

pytestmark = pytest.mark.tool

TICKET = "JIRA-12345"
SECRETS = {"JIRA_EMAIL": "bot@example.invalid", "JIRA_API_TOKEN": "jira-loopback0token"}
WORKFLOW = """
on:
  workflow_dispatch: {inputs: {approve: {type: string}}}
jobs:
  post-mortem:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@v6
      - id: render
        uses: org/triage-action/post-mortem-render@v1
        with:
          paths: post-mortems/record.yml
          to: jira file
          jira-base-url: ${{ env.SITE }}
      - id: publish
        uses: org/triage-action/post-mortem-render@v1
        with:
          command: publish
          paths: ${{ steps.render.outputs.payload }}
          approve: ${{ inputs.approve == 'yes' && steps.render.outputs.digest || inputs.approve }}
          jira-base-url: ${{ env.SITE }}
          jira-email: ${{ secrets.JIRA_EMAIL }}
          jira-api-token: ${{ secrets.JIRA_API_TOKEN }}
      - if: always()
        run: cp -r out "$RESULTS/"
"""


@pytest.fixture
def jira() -> Iterator[FakeJira]:
    with FakeJira(issues={TICKET: {"summary": "It stops", "project_type": "software"}}) as fake:
        yield fake


@pytest.fixture
def act(tmp_path: Path, suite: Path, installed: Installed, jira: FakeJira) -> Act:
    folder = tmp_path / "user"
    (folder / ".github/workflows").mkdir(parents=True)
    (folder / ".github/workflows/w.yml").write_text(WORKFLOW, encoding="utf-8")
    (folder / "post-mortems").mkdir()
    record = (ROOT / "examples/post-mortem.yml").read_text(encoding="utf-8")
    (folder / "post-mortems/record.yml").write_text(record, encoding="utf-8")
    git_repository(folder, "https://github.com/o/r.git")
    env = {
        "SITE": jira.url,
        "TRIAGE_ACTION_CACHE": str(installed.cache),
        "RESULTS": str(tmp_path),
    }
    return Act(folder, {"org/triage-action@v1": suite}, env, SECRETS)


def dispatched(act: Act, approve: str) -> ActRun:
    return act.run("workflow_dispatch", {"inputs": {"approve": approve}})


def test_a_payload_is_rendered_and_published_with_its_digest(
    act: Act, jira: FakeJira, tmp_path: Path
) -> None:
    run = dispatched(act, "yes")
    assert run.status == 0, run.printed
    rendered = run.outputs("render")
    assert rendered["verdict"] == "render"
    assert rendered["payload"] == f"out/{TICKET}.jira.json"
    payload = json.loads((tmp_path / rendered["payload"]).read_text(encoding="utf-8"))
    (comment,) = jira.comments(TICKET)
    assert comment["body"] == payload["body"]
    assert run.outputs("publish")["comment-url"].startswith(jira.url)
    assert rendered["digest"] in run.summary
    assert (tmp_path / f"out/docs/postmortems/{TICKET}.md").is_file()
    assert SECRETS["JIRA_API_TOKEN"] not in run.printed


@pytest.mark.parametrize(
    "approve",
    [pytest.param("", id="no digest"), pytest.param("sha256:" + "0" * 64, id="another digest")],
)
def test_publishing_is_refused_without_the_digest(act: Act, jira: FakeJira, approve: str) -> None:
    run = dispatched(act, approve)
    assert run.status == 1
    assert jira.comments(TICKET) == []
    assert len(run.errors) == 1, run.printed
    assert "digest" in run.errors[0] or "approve" in run.errors[0]


def test_a_record_without_its_facts_is_refused(act: Act, jira: FakeJira) -> None:
    record = act.folder / "post-mortems/record.yml"
    text = record.read_text(encoding="utf-8").replace("status: identified", "status: hypothesis")
    record.write_text(text, encoding="utf-8")
    run = dispatched(act, "yes")
    assert run.status == 1
    assert run.outputs("render")["verdict"] == "refuse"
    assert "root cause: Find the experiment" in run.summary
    assert jira.requests == []
