"""What --track files: where, once, through which form, and what it leaves alone."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ciops.failures.app import main
from ciops.failures.command_line import CONFIG
from ciops.failures.knowledge import Owner
from ciops.failures.tracking_rules import home_of
from failures.pipeline_worlds import (
    DOWNSTREAM,
    PATHS,
    ROOT,
    UPSTREAM,
    Outcome,
    expected,
    fake_world,
    job,
    knowledge,
    pipeline,
    report_on,
    saved,
    small_world,
)
from fakes.github import FakeGitHub
from fakes.gitlab import FakeGitLab

OWNER = "NVIDIA/TensorRT-LLM"
HOME = PATHS[UPSTREAM]
FORM_PATH = ".github/ISSUE_TEMPLATE/06-bug-report.yml"
FORM = (ROOT / "tests/data/failures/forms/06-bug-report.yml").read_text("utf-8")
MARKER = re.compile(r"<!-- triage-action: failurebucket[0-9a-f]{24} -->")
# An error of TensorRT-LLM that names no code: worth an issue, not ready for a change.
UNOWNED = (
    b"RuntimeError: kernel launch configuration is inconsistent across pipeline stages\n"
    b"ERROR: Job failed: exit code 1\n"
)
GATED = (
    b"Traceback (most recent call last):\n"
    b'  File "/usr/lib/python3.12/dist-packages/huggingface_hub/utils.py", line 4, in check\n'
    b"    raise\n"
    b"huggingface_hub.errors.GatedRepoError: 403 Client Error. Access to model a/b is restricted\n"
    b"ERROR: Job failed: exit code 1\n"
)
OWNED = (
    b"Traceback (most recent call last):\n"
    b'  File "/usr/lib/python3.12/dist-packages/tensorrt_llm/run.py", line 4, in go\n'
    b"    raise\nRuntimeError: sharded operand has another reduction dimension than expected\n"
    b"ERROR: Job failed: exit code 1\n"
)


def failing(*traces: bytes) -> FakeGitLab:
    jobs = [job(number, trace=text) for number, text in enumerate(traces, 1)]
    fake = small_world(pipeline(500, DOWNSTREAM, jobs=jobs))
    fake.project(UPSTREAM).files[FORM_PATH] = FORM.encode()
    fake.project(UPSTREAM).add_label("bug")
    return fake


def tensorrt_llm(**fields: Any) -> FakeGitHub:
    known: dict[str, Any] = {"labels": ["bug"], "files": {FORM_PATH: FORM}, **fields}
    return FakeGitHub(OWNER, **known)


def tracked(
    fake: FakeGitLab, github: FakeGitHub | None, folder: Path, *more: str
) -> tuple[Outcome, list[dict[str, Any]]]:
    given = ("--pipeline", "500", "--track", *more)
    outcome = report_on(fake, folder, *given, github=github)
    return outcome, saved(outcome)["buckets"]


def test_nothing_is_written_or_searched_without_track(tmp_path: Path) -> None:
    with failing(UNOWNED, GATED, OWNED, b"") as fake, tensorrt_llm() as github:
        outcome = report_on(fake, tmp_path, "--pipeline", "500", github=github)
        assert fake.writes == github.writes == []
        assert not any("search" in call for call in github.calls)
    found = {one["bucket"]: one for one in saved(outcome)["jobs"]}
    assert len(found) == 4
    blockers = {one["blocker"] for one in saved(outcome)["buckets"]}
    assert blockers == {
        "no single coherent fix",
        "external or infra",
        "duplicates not checked",
        "evidence too weak for an owner",
    }


def test_a_clear_failure_without_a_fix_is_filed_at_its_owner(tmp_path: Path) -> None:
    with failing(UNOWNED, UNOWNED) as fake, tensorrt_llm() as github:
        outcome, (bucket,) = tracked(fake, github, tmp_path)
        assert fake.writes == []
        (write,) = github.writes
        (issue,) = github.repository.issues.values()
    assert outcome.status == 0
    assert (bucket["tracking_state"], bucket["tracking"]) == ("filed", issue["html_url"])
    assert bucket["blocker"] == ""
    assert issue["title"].startswith("[Bug]: ")
    assert write.body["labels"] == ["bug"]  # the form's other label is not there, and not made
    assert github.created_labels == []


def test_every_required_question_is_answered(tmp_path: Path) -> None:
    with failing(UNOWNED, UNOWNED) as fake, tensorrt_llm() as github:
        tracked(fake, github, tmp_path)
        body = github.writes[0].body["body"]
        site = fake.url
    for heading in ("System Info", "Reproduction", "Expected behavior", "actual behavior"):
        assert re.search(rf"^### {heading}\n\n(?!_No response_)\S", body, re.MULTILINE), heading
    assert "- [X] I searched the existing issues" in body
    for words in (
        *(f"{site}/dl/jet/ci/-/pipelines/500", "`model-coverage`"),
        *(f"{site}/dl/jet/ci/-/jobs/1", f"{site}/dl/jet/ci/-/jobs/1/raw"),
        *("kernel launch configuration is inconsistent", "TensorRT-LLM", "Matching jobs: 2"),
        *("Why no pull request yet: no single coherent fix", "cov-2"),
    ):
        assert words in body
    assert len(MARKER.findall(body)) == 1
    assert body.rstrip().endswith("-->")


def test_a_second_run_files_nothing_new(tmp_path: Path) -> None:
    with failing(UNOWNED, GATED) as fake, tensorrt_llm() as github:
        _, first = tracked(fake, github, tmp_path)
        outcome, second = tracked(fake, github, tmp_path)
        assert len(github.writes) == len(fake.writes) == 1
    assert outcome.status == 0
    assert [one["tracking_state"] for one in second] == ["existing", "existing"]
    assert [one["tracking"] for one in second] == [one["tracking"] for one in first]


def test_a_search_that_lags_behind_files_nothing_twice(tmp_path: Path) -> None:
    """What was filed a moment ago is not in a service's search index yet."""
    with failing(UNOWNED) as fake, tensorrt_llm() as github:
        tracked(fake, github, tmp_path)
        (issue,) = github.repository.issues.values()
        issue["title"], issue["created_at"] = "renamed by a person", "2020-01-01T00:00:00Z"
        body, issue["body"] = issue["body"], "edited"
        _, (bucket,) = tracked(fake, github, tmp_path)
        assert bucket["tracking_state"] == "filed"  # without marker and title it is another one
        issue["body"] = body
        _, (bucket,) = tracked(fake, github, tmp_path)
        assert bucket["tracking_state"] == "existing"


def test_external_failures_go_to_the_configured_home(tmp_path: Path) -> None:
    with failing(GATED) as fake, tensorrt_llm() as github:
        outcome, (bucket,) = tracked(fake, github, tmp_path)
        assert github.writes == []
        (write,) = fake.writes
        assert fake.quick_actions == []
        assert fake.created_labels == []
        (issue,) = fake.project(UPSTREAM).issues.values()
    assert outcome.status == 0
    assert write.operation == "POST /projects/{id}/issues"
    assert issue["title"].startswith("[Bug]: external/huggingface/access-forbidden: ")
    assert issue["labels"] == ["bug"]
    assert bucket["tracking"] == issue["web_url"]
    assert "owned outside the verified repositories" in issue["description"]


def test_without_a_form_the_same_questions_are_answered(tmp_path: Path) -> None:
    with failing(GATED) as fake:
        del fake.project(UPSTREAM).files[FORM_PATH]
        _, (bucket,) = tracked(fake, None, tmp_path)
        (issue,) = fake.project(UPSTREAM).issues.values()
    assert bucket["tracking_state"] == "filed"
    assert issue["title"].startswith("external/huggingface/access-forbidden: ")
    assert "### Actual behavior\n\nFirst causal error" in issue["description"]
    assert issue["labels"] == []


LEFT_ALONE = [
    pytest.param(OWNED, "", id="actionable: a change is due"),
    pytest.param(b"", "evidence too weak for an owner", id="an empty trace"),
    pytest.param(
        b"ERROR: Job failed: exit code 1\n", "evidence too weak for an owner", id="a wrapper only"
    ),
]


@pytest.mark.parametrize(("text", "blocker"), LEFT_ALONE)
def test_what_deserves_no_issue(tmp_path: Path, text: bytes, blocker: str) -> None:
    with failing(text) as fake, tensorrt_llm() as github:
        _, (bucket,) = tracked(fake, github, tmp_path)
        assert fake.writes == github.writes == []
    assert (bucket["tracking"], bucket["tracking_state"]) == (None, "")
    assert bucket["blocker"] == blocker


TITLE = "[Bug]: kernel launch configuration is inconsistent across pipeline stages (RuntimeError)"
COVERING = [
    pytest.param({"title": TITLE}, True, id="a similar title"),
    pytest.param({"title": TITLE, "state": "closed"}, False, id="closed"),
    pytest.param({"title": "RuntimeError in kernel launch"}, False, id="another error"),
    pytest.param(
        {"title": TITLE, "body": f"<!-- triage-action: failurebucket{'0' * 24} -->"},
        False,
        id="filed for another failure",
    ),
]


@pytest.mark.parametrize(("issue", "covers"), COVERING)
def test_an_issue_that_a_person_filed(tmp_path: Path, issue: dict[str, Any], covers: bool) -> None:
    given = {"number": 7, "body": "kernel configuration inconsistent stages", **issue}
    with failing(UNOWNED) as fake, tensorrt_llm(issues=[given]) as github:
        _, (bucket,) = tracked(fake, github, tmp_path)
        assert len(github.writes) == (0 if covers else 1)
    assert bucket["tracking_state"] == ("existing" if covers else "filed")
    if covers:
        assert bucket["tracking"].endswith(f"/{OWNER}/issues/7")


def test_an_open_change_covers_an_actionable_bucket(tmp_path: Path) -> None:
    title = "[None][fix] sharded operand has another reduction dimension than expected"
    pull = {"number": 9, "title": title, "head": "fix", "base": "main", "body": "RuntimeError"}
    with failing(OWNED) as fake, tensorrt_llm(pulls=[pull]) as github:
        outcome, (bucket,) = tracked(fake, github, tmp_path)
        assert github.writes == []
    assert (bucket["status"], bucket["tracking_state"]) == ("issue-only", "existing")
    assert bucket["reason"].startswith("an open pull request covers it already")
    assert [one["status"] for one in saved(outcome)["jobs"]] == ["issue-only"]


@pytest.mark.parametrize("options", [["--track", "--dry-run"], ["--dry-run"]])
def test_a_dry_run_prints_the_exact_payload_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    with failing(UNOWNED) as fake, tensorrt_llm() as github:
        outcome = report_on(fake, tmp_path, "--pipeline", "500", *options, github=github)
        (bucket,) = saved(outcome)["buckets"]
        assert github.writes == fake.writes == []
        printed = capsys.readouterr().out
        payload, _ = json.JSONDecoder().raw_decode(printed[printed.index("\n{") + 1 :])
        tracked(fake, github, tmp_path)
        written = github.writes[0].body
    assert (bucket["tracking"], bucket["tracking_state"]) == (None, "planned")
    assert saved(outcome)["dry_run"] is True
    assert payload == {"repository": OWNER, **written}


SWITCH = [("true", True), ("1", True), ("anything", True), ("false", False), ("", False)]


@pytest.mark.parametrize(("value", "holds"), SWITCH)
def test_a_variable_keeps_a_whole_job_from_writing(tmp_path: Path, value: str, holds: bool) -> None:
    with failing(UNOWNED) as fake, tensorrt_llm() as github:
        given = ("--pipeline", "500", "--track")
        report_on(fake, tmp_path, *given, github=github, DRY_RUN=value)
        assert len(github.writes) == (0 if holds else 1)


def test_the_variable_asks_for_nothing(tmp_path: Path) -> None:
    with failing(UNOWNED) as fake, tensorrt_llm() as github:
        report_on(fake, tmp_path, "--pipeline", "500", github=github, DRY_RUN="true")
        assert not any("search" in call for call in github.calls)


PROPOSED = [
    {"GITHUB_EVENT_NAME": "pull_request"},
    {"GITHUB_EVENT_NAME": "pull_request_target"},
    {"CI_PIPELINE_SOURCE": "merge_request_event"},
    {"CI_PIPELINE_SOURCE": "external_pull_request_event"},
]


@pytest.mark.parametrize("env", PROPOSED, ids=str)
@pytest.mark.parametrize("command", ["report", "merge"])
def test_rules_that_a_pull_request_brings_file_nothing(
    env: dict[str, str], command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They name the repositories in which issues are filed."""
    rules = ["--config", str(tmp_path / "rules.yml")]
    given = [str(tmp_path / "parts")] if command == "merge" else ["--pipeline", "500"]
    known = {"GITLAB_TOKEN": "glpat-of-the-test", "GITLAB_URL": "https://gitlab.example.com"}
    assert main([command, *given, *rules, "--track"], {**known, **env}) == 3
    assert "rules.yml may be the pull request's own" in "".join(capsys.readouterr())


@pytest.mark.parametrize("more", [["--track", "--dry-run"], []], ids=["dry run", "no track"])
def test_such_rules_may_be_tried(more: list[str], tmp_path: Path) -> None:
    rules = shutil.copytree(CONFIG.parent, tmp_path / "rules") / CONFIG.name
    with failing(UNOWNED) as fake, tensorrt_llm() as github:
        given = ("--pipeline", "500", "--config", str(rules), *more)
        outcome = report_on(fake, tmp_path, *given, github=github, **PROPOSED[0])
        assert (outcome.status, github.writes) == (0, [])


def test_a_part_of_a_report_tracks_nothing(tmp_path: Path) -> None:
    with failing(UNOWNED) as fake, tensorrt_llm() as github:
        given = ("--pipeline", "500", "--dry-run", "--shard", "1/1")
        (bucket,) = saved(report_on(fake, tmp_path, *given, github=github))["buckets"]
        assert not any("search" in call for call in github.calls)
    assert bucket["tracking_state"] == ""


def test_a_tracker_without_a_token_is_named(tmp_path: Path) -> None:
    with failing(UNOWNED, GATED) as fake:
        outcome, buckets = tracked(fake, None, tmp_path)
    assert outcome.status == 1
    states = {one["owner"]: (one["tracking_state"], one["blocker"]) for one in buckets}
    assert states["external"] == ("filed", "")
    assert states["TensorRT-LLM"] == ("", "duplicates not checked")
    (remark,) = saved(outcome)["remarks"]
    assert (remark["kind"], "GITHUB_TOKEN is not set" in remark["detail"]) == (
        "tracking-failed",
        True,
    )


TROUBLE = [
    pytest.param({"how": "500", "path": "/search/issues", "times": None}, 0, id="the search"),
    pytest.param({"how": "403", "path": "/labels", "times": None}, 0, id="the labels"),
    pytest.param({"how": "500", "path": "/contents/", "times": None}, 0, id="the form"),
    pytest.param({"how": "403", "writes": True, "times": None}, 0, id="the write"),
    pytest.param({"how": "502", "writes": True}, 1, id="the write, once"),
    pytest.param({"how": "reset-after", "writes": True}, 1, id="an answer that was lost"),
    pytest.param({"how": "badjson", "writes": True}, 1, id="an answer that broke"),
]


@pytest.mark.parametrize(("fault", "filed"), TROUBLE)
def test_trouble_at_the_tracker(tmp_path: Path, fault: dict[str, Any], filed: int) -> None:
    with failing(UNOWNED) as fake, tensorrt_llm() as github:
        github.fail(**fault)
        outcome, (bucket,) = tracked(fake, github, tmp_path)
        assert len(github.repository.issues) == filed
    assert outcome.status == (0 if filed else 1)
    kinds = [one["kind"] for one in saved(outcome)["remarks"]]
    assert kinds == ([] if filed else ["tracking-failed"])
    assert bucket["tracking_state"] == ("filed" if filed else "")


def test_a_form_that_is_none_files_nothing(tmp_path: Path) -> None:
    with failing(UNOWNED) as fake, tensorrt_llm(files={FORM_PATH: "name: empty"}) as github:
        outcome, _ = tracked(fake, github, tmp_path)
        assert github.writes == []
    assert "asks nothing" in saved(outcome)["remarks"][0]["detail"]


@pytest.mark.parametrize("name", ["dev2", "dev3"])
def test_a_world_is_tracked_once(tmp_path: Path, name: str) -> None:
    start = expected(name)["start"]["pipeline_id"]
    given = ["--track", *(["--pipeline", str(start)] if start else [])]
    with fake_world(name) as fake, tensorrt_llm() as github:
        report = saved(report_on(fake, tmp_path, *given, github=github))
        filed = len(fake.writes) + len(github.writes)
        report_on(fake, tmp_path, *given, github=github)
        assert len(fake.writes) + len(github.writes) == filed
        assert fake.quick_actions == []
    states = [one["tracking_state"] for one in report["buckets"]]
    wanted = [
        one
        for one in report["buckets"]
        if one["status"] == "issue-only" and one["evidence"] == "strong"
    ]
    assert states.count("filed") == filed == len(wanted)
    assert all(one["tracking"] for one in wanted)


# --- where ------------------------------------------------------------------------------------

OWN = Owner("ours", "o/r", verified=True)
HOMES = [
    pytest.param(OWN, "ours", id="a verified owner's own repository"),
    pytest.param(Owner("infra", home="ours"), "ours", id="a home"),
    pytest.param(Owner("torch", "pytorch/pytorch", home="ours"), "ours", id="not a third party's"),
    pytest.param(Owner("torch", "pytorch/pytorch"), None, id="not even without a home"),
    pytest.param(Owner("infra"), None, id="nowhere"),
    pytest.param(Owner("infra", home="torch"), None, id="a home that is not verified"),
    pytest.param(Owner("infra", home="nobody"), None, id="a home that is not there"),
]


@pytest.mark.parametrize(("owner", "home"), HOMES)
def test_where_failures_are_tracked(owner: Owner, home: str | None) -> None:
    known = replace(knowledge(), owners=(OWN, Owner("torch", "pytorch/pytorch"), owner))
    found = home_of(owner, known)
    assert (found.name if found else None) == home
