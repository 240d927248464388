"""Hypotheses: the file behind a frame, at which commit, and who changed it since the last green."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ciops.failures.code_lookup import could_hold
from failures.pipeline_worlds import (
    DOWNSTREAM,
    UPSTREAM,
    bridge,
    job,
    pipeline,
    report_on,
    saved,
    small_world,
)
from fakes.github import FakeGitHub
from fakes.gitlab import FakeGitLab

OWNER = "NVIDIA/TensorRT-LLM"
SHARDING = "tensorrt_llm/_torch/sharding.py"
NOW, OLD, HEAD = "a" * 40, "b" * 40, "c" * 40
SOURCE = "def _apply(graph):\n    return graph\n"


def trace(commit: str = "", path: str = SHARDING, function: str = "_apply") -> bytes:
    named = f"  commit: {commit}\n" if commit else ""
    return (
        f"resolved workload config:\n  model: org/phi\n{named}  world_size: 2\ndone\n"
        "Traceback (most recent call last):\n"
        f'  File "/usr/local/lib/python3.12/dist-packages/{path}", line 11, in {function}\n'
        "    shard(x)\n"
        "RuntimeError: a and b must have same reduction dim, but got [1, 2] X [3, 4]\n"
        "ERROR: Job failed: exit code 1\n"
    ).encode()


def failing(text: bytes, **fields: Any) -> FakeGitLab:
    """One failed job, and two pipelines before it: the older one green."""
    started = {"started_at": "2026-05-04T12:00:00.000Z", "name": "cov phi [2 run]"}
    green = {"started_at": "2026-05-02T12:00:00.000Z", "name": "cov phi [2 run]"}
    return small_world(
        pipeline(30, DOWNSTREAM, jobs=[job(301, trace=text, **started)], **fields),
        pipeline(20, DOWNSTREAM, jobs=[job(201, **green)], **fields),
        pipeline(10, DOWNSTREAM, jobs=[job(101, status="success", **green)], **fields),
    )


def repository(**fields: Any) -> FakeGitHub:
    """TensorRT-LLM with a history; the default branch is ahead of what ran."""
    commits = [
        {"sha": HEAD, "message": "Later", "paths": [SHARDING], "date": "2026-05-05T00:00:00Z"},
        {"sha": NOW, "message": "Other file", "paths": ["x.py"], "date": "2026-05-04T00:00:00Z"},
        {
            "sha": "d" * 40,
            "message": "Rework sharding\n\nLong story",
            "paths": [SHARDING],
            "date": "2026-05-03T00:00:00Z",
        },
        {"sha": OLD, "message": "Ancient", "paths": [SHARDING], "date": "2026-04-01T00:00:00Z"},
    ]
    known = {"files": {SHARDING: SOURCE}, "commits": commits, **fields}
    return FakeGitHub(OWNER, **known)


def bucket_of(fake: FakeGitLab, folder: Path, github: FakeGitHub | None) -> Mapping[str, Any]:
    outcome = report_on(fake, folder, "--pipeline", "30", github=github)
    (bucket,) = saved(outcome)["buckets"]
    return {**bucket, "exit": outcome.status, "remarks": saved(outcome)["remarks"]}


def test_the_commit_that_the_trace_names(tmp_path: Path) -> None:
    with failing(trace(NOW)) as fake, repository() as github:
        bucket = bucket_of(fake, tmp_path, github)
    code = bucket["code"]
    assert bucket["exit"] == 0
    assert (code["repository"], code["path"], code["function"]) == (OWNER, SHARDING, "_apply")
    assert (code["commit"], code["commit_source"], code["line"]) == (NOW, "trace", 11)
    assert code["url"].endswith(f"/{OWNER}/blob/{NOW}/{SHARDING}#L11")
    assert [one["title"] for one in code["changes"]] == ["Rework sharding"]
    for words in (SHARDING, OWNER, NOW[:12], "the commit that the trace names", "Rework sharding"):
        assert words in bucket["hypothesis"]


def test_a_short_commit_is_found_too(tmp_path: Path) -> None:
    with failing(trace(NOW[:10])) as fake, repository() as github:
        code = bucket_of(fake, tmp_path, github)["code"]
    assert (code["commit"], code["commit_source"]) == (NOW, "trace")


def test_the_commit_of_the_job_where_the_repository_has_it(tmp_path: Path) -> None:
    with failing(trace(), sha=NOW) as fake, repository() as github:
        code = bucket_of(fake, tmp_path, github)["code"]
    assert (code["commit"], code["commit_source"], code["line"]) == (NOW, "job", 11)


UNKNOWN = [
    pytest.param(trace(), id="no commit is named"),
    pytest.param(trace("9" * 40), id="a commit that is not there"),
    pytest.param(trace("main"), id="a branch is no commit"),
]


@pytest.mark.parametrize("text", UNKNOWN)
def test_else_the_default_branch_and_it_says_so(tmp_path: Path, text: bytes) -> None:
    with failing(text) as fake, repository() as github:
        bucket = bucket_of(fake, tmp_path, github)
    code = bucket["code"]
    assert (code["commit"], code["commit_source"], code["line"]) == (HEAD, "default-branch", None)
    assert "the default branch" in bucket["hypothesis"]
    assert [one["title"] for one in code["changes"]] == ["Rework sharding"]  # not what came later


WRONG = [
    pytest.param({"files": {"tensorrt_llm/other.py": SOURCE}}, id="no such file"),
    pytest.param({"files": {SHARDING: "def _other():\n    pass\n"}}, id="the file of another time"),
]


@pytest.mark.parametrize("fields", WRONG)
def test_a_wrong_file_yields_no_hypothesis(tmp_path: Path, fields: dict[str, Any]) -> None:
    with failing(trace(NOW)) as fake, repository(**fields) as github:
        bucket = bucket_of(fake, tmp_path, github)
    assert (bucket["hypothesis"], bucket["code"], bucket["exit"]) == ("", None, 0)


def test_a_file_that_is_there_now_but_was_not_then(tmp_path: Path) -> None:
    with failing(trace(NOW)) as fake, repository() as github:
        github.repository.files_at[NOW] = {}
        assert bucket_of(fake, tmp_path, github)["hypothesis"] == ""


def test_without_a_token_nothing_is_asked_and_it_says_so(tmp_path: Path) -> None:
    with failing(trace(NOW)) as fake:
        bucket = bucket_of(fake, tmp_path, None)
    assert bucket["code"] is None
    assert "not checked: GITHUB_TOKEN is not set" in bucket["hypothesis"]
    assert SHARDING in bucket["hypothesis"]
    assert bucket["exit"] == 0


def test_a_repository_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with failing(trace(NOW)) as fake, repository() as github:
        github.fail("500", path="/commits", times=None)
        bucket = bucket_of(fake, tmp_path, github)
    assert bucket["exit"] == 1
    assert [one["kind"] for one in bucket["remarks"]] == ["code-unreadable"]
    assert "not checked: GitHub: GET /" in bucket["hypothesis"]


def test_a_history_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with failing(trace(NOW)) as fake, repository() as github:
        fake.path_status["/projects/77/pipelines/20/jobs"] = 403
        bucket = bucket_of(fake, tmp_path, github)
    assert bucket["exit"] == 1
    assert [one["kind"] for one in bucket["remarks"]] == ["history-unreadable"]
    assert bucket["code"]["changes"] is None


def test_without_a_green_run_the_changes_are_not_known(tmp_path: Path) -> None:
    with failing(trace(NOW)) as fake, repository() as github:
        fake.project(DOWNSTREAM).jobs[10][0]["name"] = "cov olmo [2 run]"
        bucket = bucket_of(fake, tmp_path, github)
    assert bucket["code"]["changes"] is None
    assert bucket["exit"] == 0
    assert "since the last green" not in bucket["hypothesis"]


def test_a_bucket_whose_first_job_was_never_green_asks_for_another_one(tmp_path: Path) -> None:
    """Nor does its trace name a commit; the second job's does."""
    now, green = (
        "2026-05-04T12:00:00.000Z",
        {"name": "cov phi", "started_at": "2026-05-02T12:00:00Z"},
    )
    never = job(300, trace=trace(), name="cov new", started_at=now)
    other = job(301, trace=trace(NOW), name="cov phi", started_at=now)
    with (
        small_world(
            pipeline(30, DOWNSTREAM, jobs=[never, other]),
            pipeline(10, DOWNSTREAM, jobs=[job(101, status="success", **green)]),
        ) as fake,
        repository() as github,
    ):
        bucket = bucket_of(fake, tmp_path, github)
    assert (bucket["representative_job"], bucket["size"]) == (300, 2)
    assert (bucket["code"]["commit"], bucket["code"]["commit_source"]) == (NOW, "trace")
    assert [one["title"] for one in bucket["code"]["changes"]] == ["Rework sharding"]


COMMIT_LINES = [
    pytest.param("tensorrt_llm_commit: " + NOW, "trace", id="a line of its own"),
    pytest.param("[TRT-LLM] [I] trtllm_commit=" + NOW[:12], "trace", id="short, under a prefix"),
    pytest.param("checked out commit: " + NOW, "default-branch", id="a commit of whatever"),
]


@pytest.mark.parametrize(("line", "source"), COMMIT_LINES)
def test_a_commit_beside_the_dump(tmp_path: Path, line: str, source: str) -> None:
    text = (f"{line}\n" + "ok\n" * 40).encode() + trace()
    with failing(text) as fake, repository() as github:
        assert bucket_of(fake, tmp_path, github)["code"]["commit_source"] == source


def test_nothing_changed_since(tmp_path: Path) -> None:
    with failing(trace(NOW)) as fake, repository() as github:
        fake.project(DOWNSTREAM).jobs[10][0]["started_at"] = "2026-05-03T12:00:00.000Z"
        bucket = bucket_of(fake, tmp_path, github)
    assert bucket["code"]["changes"] == []
    assert "not changed since the last green run" in bucket["hypothesis"]


def test_the_last_green_run_is_of_the_same_branch(tmp_path: Path) -> None:
    with failing(trace(NOW)) as fake, repository() as github:
        fake.project(DOWNSTREAM).pipelines[10]["ref"] = "experiment"
        assert bucket_of(fake, tmp_path, github)["code"]["changes"] is None


def test_the_code_of_the_dashboard_at_the_commit_of_its_own_pipeline(tmp_path: Path) -> None:
    text = trace().replace(
        f"/usr/local/lib/python3.12/dist-packages/{SHARDING}".encode(),
        b"/workspace/autodeploy-dashboard/coverage/launch.py",
    )
    below = bridge(11, "model-coverage", (30, DOWNSTREAM, "failed"))
    up = pipeline(1, UPSTREAM, bridges=[below], sha=NOW)
    with small_world(up, pipeline(30, DOWNSTREAM, jobs=[job(301, trace=text)])) as fake:
        fake.project(UPSTREAM).files["coverage/launch.py"] = SOURCE.encode()
        fake.project(UPSTREAM).add_commit({"sha": NOW, "paths": []})
        outcome = report_on(fake, tmp_path, "--pipeline", "1")
        site = fake.url
    (bucket,) = saved(outcome)["buckets"]
    assert bucket["owner"] == "autodeploy-dashboard"
    assert bucket["code"]["commit_source"] == "job"
    place = "ftp/infra/autodeploy-dashboard/-/blob"
    assert bucket["code"]["url"] == f"{site}/{place}/{NOW}/coverage/launch.py#L11"


def test_code_of_another_owner_is_no_hypothesis(tmp_path: Path) -> None:
    """A hub's refusal surfaces in code of TensorRT-LLM, which is not at fault."""
    gated = b"huggingface_hub.errors.GatedRepoError: 403 Client Error. Access is restricted\n"
    text = trace(NOW).replace(b"RuntimeError: a and b must have same", gated + b"x")
    with failing(text) as fake, repository() as github:
        bucket = bucket_of(fake, tmp_path, github)
        assert github.request_count == 0
    assert (bucket["owner"], bucket["code"]) == ("external", None)
    assert SHARDING not in bucket["hypothesis"]


HOLDS = [
    pytest.param("def f():\n    pass\n", "f", True, id="it defines it"),
    pytest.param("class A:\n    async def f(self):\n        pass\n", "A.f", True, id="a method"),
    pytest.param("def g():\n    pass\n", "f", False, id="it defines others only"),
    pytest.param("def g():\n    pass\n", "<module>", True, id="the module itself"),
    pytest.param("def g():\n    pass\n", "<lambda>", True, id="a lambda"),
    pytest.param("void f(int x) {}\n", "f", True, id="another language"),
    pytest.param("", "f", True, id="nothing is known"),
]


@pytest.mark.parametrize(("content", "function", "holds"), HOLDS)
def test_whether_a_file_can_be_the_one(content: str, function: str, holds: bool) -> None:
    assert could_hold(content.encode(), function) is holds
