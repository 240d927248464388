"""`open-pr`: a change for one bucket, and everything that is refused before it is opened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ciops.failures import open_pr_command
from ciops.failures.app import main
from failures.pipeline_worlds import (
    DOWNSTREAM,
    GITHUB_TOKEN,
    PATHS,
    TOKEN,
    UPSTREAM,
    job,
    pipeline,
    report_on,
    saved,
    small_world,
)
from fakes.github import FakeGitHub

OWNER = "NVIDIA/TensorRT-LLM"
BRANCH = "TRTLLM-4711-sharding"
VALIDATION = "pytest tests/unittest/test_sharding.py"
OWNED = (
    b"Traceback (most recent call last):\n"
    b'  File "/usr/lib/python3.12/dist-packages/tensorrt_llm/sharding.py", line 4, in go\n'
    b"    raise\nRuntimeError: sharded operand has another reduction dimension than expected\n"
    b"ERROR: Job failed: exit code 1\n"
)
GATED = (
    b"Traceback (most recent call last):\n"
    b'  File "/usr/lib/python3.12/dist-packages/huggingface_hub/utils.py", line 4, in check\n'
    b"    raise\n"
    b"huggingface_hub.errors.GatedRepoError: 403 Client Error. Access to model a/b is restricted\n"
    b"ERROR: Job failed: exit code 1\n"
)


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A report.json with two buckets: one actionable, one external."""
    jobs = [job(number, trace=OWNED) for number in (1, 2, 3)]
    with small_world(pipeline(500, DOWNSTREAM, jobs=[*jobs, job(4, trace=GATED)])) as fake:
        saved(report_on(fake, tmp_path, "--pipeline", "500"))
    return tmp_path / "out" / "report.json"


def bucket_in(report: Path, status: str) -> str:
    buckets = json.loads(report.read_text("utf-8"))["buckets"]
    return next(one["name"] for one in buckets if one["status"] == status)


def change(report: Path, **fields: Any) -> None:
    """Edit the actionable bucket, or with `job_` its representative job."""
    data = json.loads(report.read_text("utf-8"))
    bucket = next(one for one in data["buckets"] if one["status"] == "actionable")
    job = next(one for one in data["jobs"] if one["id"] == bucket["representative_job"])
    for key, value in fields.items():
        (job if key.startswith("job_") else bucket)[key.removeprefix("job_")] = value
    report.write_text(json.dumps(data), "utf-8")


def tensorrt_llm(**fields: Any) -> FakeGitHub:
    return FakeGitHub(OWNER, **{"branches": {"main": "f" * 40, BRANCH: "a" * 40}, **fields})


def open_pr(report: Path, github: FakeGitHub | None, *more: str, **env: str) -> int:
    """The exit status; `more` comes last and so wins."""
    known = {"GITHUB_TOKEN": GITHUB_TOKEN, "GITHUB_API_URL": github.url} if github else {}
    given = ["--report", str(report), "--head", BRANCH, "--validation", VALIDATION]
    bucket = [] if "--bucket" in more else ["--bucket", bucket_in(report, "actionable")]
    return main(["open-pr", *given, *bucket, *more], {**known, **env})


def test_a_change_is_opened_with_its_evidence(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tensorrt_llm() as github:
        assert open_pr(report, github) == 0
        (write,) = github.writes
        (pull,) = github.repository.pulls.values()
    assert pull["html_url"] in capsys.readouterr().out
    body = write.body
    assert (body["head"], body["base"], body["draft"]) == (BRANCH, "main", False)
    title = "[TRTLLM-4711][fix] sharding: RuntimeError: sharded operand has another reduction"
    assert body["title"].startswith(title)
    headings = [line for line in body["body"].splitlines() if line.startswith("## ")]
    assert headings == ["## Summary", "## Evidence", "## Validation", "## Not Included"]
    for words in (
        *(bucket_in(report, "actionable"), "pipelines/500", "One change covers 3 matching jobs"),
        *("/jobs/1)", "sharded operand has another", f"- `{VALIDATION}`"),
        *("external/huggingface/access-forbidden", "<!-- triage-action: failurebucket"),
    ):
        assert words in body["body"]


TITLES = [
    pytest.param("TRTLLM-12-x", "[TRTLLM-12][fix] ", id="JIRA"),
    pytest.param("me/nvbug-5123456-x", "[NVBUG-5123456][fix] ", id="NVBUG"),
    pytest.param("fix-sharding", "[None][fix] ", id="None"),
]


@pytest.mark.parametrize(("branch", "start"), TITLES)
def test_the_ticket_is_that_of_the_branch(report: Path, branch: str, start: str) -> None:
    with tensorrt_llm(branches={"main": "f" * 40, branch: "a" * 40}) as github:
        assert open_pr(report, github, "--head", branch) == 0
        assert github.writes[0].body["title"].startswith(start)


def test_a_dry_run_prints_the_payload(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with tensorrt_llm() as github:
        assert open_pr(report, github, "--dry-run") == 0
        assert github.writes == []
        printed = capsys.readouterr().out
        payload, _ = json.JSONDecoder().raw_decode(printed[printed.index("\n{") + 1 :])
        open_pr(report, github)
        written = github.writes[0].body
    assert payload == {key: payload["repository"] if key == "repository" else written[key]
                       for key in payload}  # fmt: skip
    assert payload["repository"] == OWNER


def test_a_variable_keeps_a_whole_job_from_opening(report: Path) -> None:
    with tensorrt_llm() as github:
        assert open_pr(report, github, DRY_RUN="true") == 0
        assert github.writes == []


def test_rules_that_a_pull_request_brings_open_nothing(
    report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = str(tmp_path / "rules.yml")
    with tensorrt_llm() as github:
        status = open_pr(report, github, "--config", rules, GITHUB_EVENT_NAME="pull_request")
        assert "may be the pull request's own" in refused(capsys, github, status)


def refused(capsys: pytest.CaptureFixture[str], github: FakeGitHub, status: int) -> str:
    assert status == 3
    assert github.writes == []
    return capsys.readouterr().err


BY_REPORT = [
    pytest.param({"status": "issue-only"}, "is issue-only", id="issue-only"),
    pytest.param({"hypothesis": ""}, "has no hypothesis in code", id="no hypothesis"),
    pytest.param({"job_excerpt": ""}, "has no log excerpt", id="no excerpt"),
    pytest.param({"job_evidence": "weak"}, "has no log excerpt", id="weak evidence"),
    pytest.param({"representative_job": 99}, "has no log excerpt", id="no representative"),
    pytest.param({"owner": "infra"}, "is owned by infra", id="owned by nobody here"),
    pytest.param({"owner": "external"}, "is owned by external", id="owned elsewhere"),
]


@pytest.mark.parametrize(("fields", "why"), BY_REPORT)
def test_refused_by_the_report(
    report: Path, capsys: pytest.CaptureFixture[str], fields: dict[str, Any], why: str
) -> None:
    name = bucket_in(report, "actionable")
    change(report, **fields)
    with tensorrt_llm() as github:
        status = open_pr(report, github, "--bucket", name)
        assert why in refused(capsys, github, status)
        assert github.request_count == 0


def test_an_external_bucket_is_refused(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with tensorrt_llm() as github:
        status = open_pr(report, github, "--bucket", bucket_in(report, "issue-only"))
        assert "is issue-only" in refused(capsys, github, status)


@pytest.mark.parametrize("text", ["", "  \n "])
def test_an_empty_validation_is_refused(
    report: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    with tensorrt_llm() as github:
        status = open_pr(report, github, "--validation", text)
        assert "--validation is empty" in refused(capsys, github, status)


def test_another_target_is_refused(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with tensorrt_llm() as github:
        status = open_pr(report, github, GITHUB_REPOSITORY="someone/else")
        assert "target repository someone/else is not" in refused(capsys, github, status)
        assert open_pr(report, github, GITHUB_REPOSITORY="nvidia/tensorrt-llm") == 0


def test_a_branch_with_an_open_change_is_refused(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tensorrt_llm() as github:
        assert open_pr(report, github) == 0
        capsys.readouterr()
        assert open_pr(report, github) == 3
        assert len(github.writes) == 1
    assert f"a pull request from {BRANCH} is open already" in capsys.readouterr().err


def test_a_bucket_with_an_open_change_is_refused(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    branches = {"main": "f" * 40, BRANCH: "a" * 40, "another-way": "b" * 40}
    with tensorrt_llm(branches=branches) as github:
        assert open_pr(report, github) == 0
        capsys.readouterr()
        assert open_pr(report, github, "--head", "another-way") == 3
        assert len(github.writes) == 1
    assert "an open pull request covers bucket" in capsys.readouterr().err


BRANCHES = [
    pytest.param("main", "is the branch to change", id="the default branch"),
    pytest.param("never-pushed", "has no branch", id="a branch that is not there"),
]


@pytest.mark.parametrize(("branch", "why"), BRANCHES)
def test_a_branch_that_holds_no_fix_is_refused(
    report: Path, capsys: pytest.CaptureFixture[str], branch: str, why: str
) -> None:
    with tensorrt_llm() as github:
        status = open_pr(report, github, "--head", branch)
        assert why in refused(capsys, github, status)


USAGE = [
    pytest.param(["--head", "a b"], "--head: ", id="no branch"),
    pytest.param(["--head", "../x"], "--head: ", id="a way out"),
    pytest.param(["--bucket", "nothing/like/it"], "has no bucket", id="no such bucket"),
    pytest.param(["--report", "/does/not/exist.json"], "no such file", id="no report"),
    pytest.param(["--nonsense"], "unrecognized arguments", id="an unknown option"),
]


@pytest.mark.parametrize(("more", "words"), USAGE)
def test_usage_errors(
    report: Path, capsys: pytest.CaptureFixture[str], more: list[str], words: str
) -> None:
    with tensorrt_llm() as github:
        assert open_pr(report, github, *more) == 2
        assert github.request_count == 0
    assert words in capsys.readouterr().err


def test_every_option_that_is_missing_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["open-pr"], {}) == 2
    error = capsys.readouterr().err
    assert all(name in error for name in ("--report", "--bucket", "--head", "--validation"))


def test_a_mistyped_bucket_gets_the_nearest(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = bucket_in(report, "actionable")
    assert open_pr(report, None, "--bucket", name[:-1]) == 2
    assert f'Did you mean "{name[:20]}' in capsys.readouterr().err


def test_a_lost_answer_opens_one_change(report: Path) -> None:
    name = bucket_in(report, "actionable")
    given = ["--report", str(report), "--bucket", name, "--head", BRANCH, "--validation", "x"]
    with tensorrt_llm() as github:
        github.fail("reset-after", writes=True)
        env = {"GITHUB_TOKEN": GITHUB_TOKEN, "GITHUB_API_URL": github.url}
        assert open_pr_command.main(given, env, sleep=lambda _: None) == 0
        assert len(github.repository.pulls) == 1


def test_a_merge_request_at_gitlab(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(report, owner="autodeploy-dashboard")
    assert open_pr(report, None) == 2
    expected = "Set GITLAB_TOKEN to a GitLab personal access token and rerun this skill."
    assert expected in capsys.readouterr().err
    with small_world() as fake:
        fake.project(UPSTREAM).branches[BRANCH] = "a" * 40
        env = {"GITLAB_TOKEN": TOKEN, "CI_PROJECT_PATH": PATHS[UPSTREAM]}
        assert open_pr(report, None, "--gitlab-url", fake.url, **env) == 0
        (merge_request,) = fake.project(UPSTREAM).merge_requests.values()
        assert fake.quick_actions == []
        assert open_pr(report, None, "--gitlab-url", fake.url, **env) == 3
    assert merge_request["source_branch"] == BRANCH
    assert merge_request["title"].startswith("[TRTLLM-4711][fix] ")
