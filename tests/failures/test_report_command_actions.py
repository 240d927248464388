"""GitHub Actions' runs as a source: the same report after the first step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ciops.errors import CiopsError
from ciops.failures.report_command import options_of, parser
from ciops.failures.report_run import run
from ciops.plumbing.command_line import open_host, parse
from failures.pipeline_worlds import GITHUB_TOKEN, Outcome
from fakes.github import FakeGitHub

REPO = "acme/widgets"
CONFIG = """\
name: acme
version: "1"
extends: [{rules}]
owners:
  - name: widgets
    repository: acme/widgets
    verified: true
    default: true
    roots: [{{pattern: '^/home/runner/work/widgets/widgets/'}}]
"""
STAMP = "2026-05-04T10:11:12.1234567Z "
LOG = "".join(
    STAMP + line + "\n"
    for line in (
        "##[group]Run pytest",
        "pytest tests",
        "##[endgroup]",
        "Traceback (most recent call last):",
        '  File "/home/runner/work/widgets/widgets/src/gear.py", line 3, in turn',
        "    raise ValueError",
        "ValueError: teeth of gear and rack do not match",
        "##[error]Process completed with exit code 1.",
    )
)
NOW, OLD = "a" * 40, "b" * 40
DAY, GEAR = "2026-05-0", "src/gear.py"
RUN = "{web}/acme/widgets/actions/runs/7"


def actions(**fields: Any) -> FakeGitHub:
    """A run with two failed jobs, one of them at an earlier attempt; an older run was green."""
    jobs = [
        {"id": 71, "name": "test (3.11)", "log": LOG},
        {"id": 72, "name": "test (3.12)", "log": LOG},
        {"id": 73, "name": "lint", "conclusion": "success"},
        {"id": 74, "name": "slow", "conclusion": "cancelled"},
        {"id": 75, "name": "build", "run_attempt": 1, "log": LOG},
        {"id": 76, "name": "build", "conclusion": "success"},
        {"id": 77, "name": "hung", "conclusion": "timed_out"},
    ]
    runs = [
        {
            "id": 7,
            "run_attempt": 2,
            "head_sha": NOW,
            "jobs": jobs,
            "created_at": "2026-05-04T10:00:00Z",
        },
        {
            "id": 5,
            "conclusion": "success",
            "head_sha": OLD,
            "created_at": f"{DAY}2T10:00:00Z",
            "jobs": [{"id": 51, "name": "test (3.11)", "conclusion": "success"}],
        },
    ]
    commits = [
        {
            "sha": NOW,
            "message": "Fewer teeth",
            "paths": ["src/gear.py"],
            "date": "2026-05-03T00:00:00Z",
        },
        {"sha": OLD, "message": "Start", "paths": ["src/gear.py"], "date": "2026-05-01T00:00:00Z"},
    ]
    files = {GEAR: "def turn():\n    raise ValueError\n"}
    return FakeGitHub(REPO, **{"runs": runs, "commits": commits, "files": files, **fields})


def report_on(github: FakeGitHub, folder: Path, *arguments: str, **env: str) -> Outcome:
    rules = "ci-lines.yml"
    config = folder / "acme.yml"
    config.write_text(CONFIG.format(rules=rules), "utf-8")
    known = {
        "GITHUB_TOKEN": GITHUB_TOKEN,
        "GITHUB_API_URL": github.url,
        "GITHUB_SERVER_URL": github.shapes.web,
        "GITHUB_REPOSITORY": REPO,
    }
    host = open_host({**known, **env})
    given = ["--source", "github-actions", "--config", str(config), "--format", "json"]
    try:
        made = parse(parser(), [*given, "--output", str(folder / "out"), *arguments], host)
        status, error = run(options_of(made, host.env), host, sleep=lambda _: None), ""
    except CiopsError as problem:
        status, error = problem.exit_status, str(problem)
    path = folder / "out" / "report.json"
    return Outcome(status, error, json.loads(path.read_text("utf-8")) if path.exists() else None)


def test_a_run_is_a_pipeline(tmp_path: Path) -> None:
    with actions() as github:
        outcome = report_on(github, tmp_path, "--pipeline", "7")
        assert github.storage.seen_secrets == set()
        api = github.url
    report = outcome.report
    assert report is not None, outcome.error
    assert (report["source"], report["starting_pipeline"]) == ("github-actions", 7)
    assert report["terminal_pipelines"] == [7]
    assert [job["id"] for job in report["jobs"]] == [71, 72, 77]
    assert report["checksum"] == {"failed_jobs": 3, "bucket_sum": 3}
    first = report["jobs"][0]
    assert (first["line"], first["exception"]) == (7, "ValueError")
    assert first["frame"] == "src/gear.py:turn"
    assert first["log_url"] == f"{api}/repos/{REPO}/actions/jobs/71/logs"
    assert first["job_url"].endswith(f"/{REPO}/actions/runs/7/job/71")
    assert report["pipelines"][0]["project"] == REPO
    assert [one["id"] for one in report["unreadable"]] == [77]  # its log is gone
    assert outcome.status == 1


def test_the_code_is_that_of_the_run(tmp_path: Path) -> None:
    with actions() as github:
        report = report_on(github, tmp_path, "--pipeline", "7").report
    assert report is not None
    bucket = next(one for one in report["buckets"] if one["size"] == 2)
    code = bucket["code"]
    assert (code["commit"], code["commit_source"], code["path"]) == (NOW, "job", "src/gear.py")
    assert [one["title"] for one in code["changes"]] == ["Fewer teeth"]
    assert bucket["status"] == "actionable"


STARTS = [
    pytest.param(["--pipeline", RUN], {}, id="a URL"),
    pytest.param(["--pipeline", f"{RUN}/job/71"], {}, id="of a job"),
    pytest.param(
        ["--pipeline", RUN], {"GITHUB_REPOSITORY": "x/y"}, id="it names its own repository"
    ),
    pytest.param([], {}, id="the newest that failed"),
]


@pytest.mark.parametrize(("arguments", "env"), STARTS)
def test_starts(tmp_path: Path, arguments: list[str], env: dict[str, str]) -> None:
    with actions() as github:
        given = [text.format(web=github.shapes.web) for text in arguments]
        report = report_on(github, tmp_path, *given, **env).report
    assert report is not None
    assert report["starting_pipeline"] == 7


def test_the_run_whose_end_started_this_one(tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"workflow_run": {"id": 5}}), "utf-8")
    env = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "workflow_run",
        "GITHUB_EVENT_PATH": str(event),
    }
    with actions() as github:
        report = report_on(github, tmp_path, **env).report
    assert report is not None
    assert (report["starting_pipeline"], report["failed_jobs_total"]) == (5, 0)


REFUSED = [
    pytest.param(["--pipeline", "https://github.evil.test/a/b/actions/runs/7"], {}, 3, id="host"),
    pytest.param(["--pipeline", "404"], {}, 4, id="missing"),
    pytest.param(["--pipeline", "7"], {"GITHUB_REPOSITORY": ""}, 2, id="no repository"),
    pytest.param(["--pipeline", "7"], {"GITHUB_REPOSITORY": "a/b/c"}, 2, id="no such name"),
]


@pytest.mark.parametrize(("arguments", "env", "status"), REFUSED)
def test_refusals(tmp_path: Path, arguments: list[str], env: dict[str, str], status: int) -> None:
    with actions() as github:
        outcome = report_on(github, tmp_path, *arguments, **env)
    assert (outcome.status, outcome.report) == (status, None)
    assert outcome.error


def test_an_issue_of_a_run_is_filed_where_it_ran(tmp_path: Path) -> None:
    vague = LOG.replace("Traceback (most recent call last):\n", "x\n").replace("  File ", "  in ")
    run_of = {"id": 7, "jobs": [{"id": 71, "name": "test", "log": vague}]}
    with actions(runs=[run_of]) as github:
        report = report_on(github, tmp_path, "--pipeline", "7", "--track").report
        (issue,) = github.repository.issues.values()
    assert report is not None
    assert report["buckets"][0]["tracking"] == issue["html_url"]
