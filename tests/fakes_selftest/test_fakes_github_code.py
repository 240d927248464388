"""Search, commits, contents, pull requests, checks and runs of the fake GitHub."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from fakes.github import FakeGitHub
from fakes.raw_client import Connect

R = "/repos/o/r"


def issue(number: int, **fields: Any) -> dict[str, Any]:
    return {"number": number, "title": f"Issue {number}", "body": "It hangs.", **fields}


SHA, OLD = "a" * 40, "b" * 40
QUEUE = [
    issue(1, labels=["bug"], user="ann"),
    issue(2, labels=["Bug", "oncall: distributed"], user="ben"),
    issue(3, state="closed", body=None),
    issue(4, pull_request={}),
    issue(5),
]
SEARCHES = [
    pytest.param("repo:o/r hangs", [1, 2, 4, 5], id="a word"),
    pytest.param('repo:o/r "It hangs" in:body is:issue', [1, 2, 5], id="a phrase in bodies"),
    pytest.param("repo:o/r is:pr is:open", [4], id="pull requests"),
    pytest.param("repo:o/r state:closed", [3], id="closed"),
    pytest.param('repo:o/r label:"oncall: distributed"', [2], id="a label"),
    pytest.param("repo:o/r author:Ann", [1], id="an author"),
    pytest.param("repo:o/r -label:bug is:open is:issue", [5], id="without a label"),
    pytest.param("repo:o/r marker-91af in:comments", [5], id="a marker in a comment"),
    pytest.param("repo:o/r marker-91af in:body", [], id="but not in a body"),
    pytest.param("repo:o/other hangs", [], id="another repository"),
]


@pytest.mark.parametrize(("query", "expected"), SEARCHES)
def test_search(connect: Connect, query: str, expected: list[int]) -> None:
    comments = {5: [{"body": "<!-- marker-91af -->", "user": "ann"}]}
    with FakeGitHub(issues=QUEUE, comments=comments) as forge:
        found = connect(forge).get("/search/issues", params={"q": query, "order": "asc"}).json()
        assert [entry["number"] for entry in found["items"]] == expected
        assert found["total_count"] == len(expected)


CODE: dict[str, Any] = {
    "commits": [
        {"sha": SHA, "message": "Fix (#9)", "paths": ["src/a.py"], "date": "2026-02-01T00:00:00Z",
         "pulls": [9]},
        {"sha": OLD, "message": "Start", "paths": ["README.md"], "date": "2026-01-01T00:00:00Z"},
    ],
    "files": {"src/a.py": "x = 1\n", ".github/ISSUE_TEMPLATE/06-bug-report.yml": "name: Bug\n"},
    "pulls": [
        {"number": 9, "title": "Fix", "merged_at": "2026-02-01T00:00:00Z", "merge_commit_sha": SHA},
        {"number": 10, "title": "Next", "head": "next", "user": "ben"},
    ],
    "check_runs": {SHA: [{"name": "build"}, {"name": "lint", "conclusion": "failure"}]},
}  # fmt: skip


@pytest.fixture
def code() -> FakeGitHub:
    forge = FakeGitHub(**CODE)
    forge.repository.branches["next"] = OLD
    forge.repository.files_at[OLD] = {"src/a.py": b"x = 0\n"}
    return forge


def test_files_are_read_at_a_branch_or_a_commit(connect: Connect, code: FakeGitHub) -> None:
    with code as forge:
        client = connect(forge)
        texts = [
            base64.b64decode(client.get(f"{R}/contents/src/a.py{ref}").json()["content"])
            for ref in ("", "?ref=main", f"?ref={OLD}", f"?ref={OLD[:10]}")
        ]
        assert texts == [b"x = 1\n", b"x = 1\n", b"x = 0\n", b"x = 0\n"]
        folder = client.get(f"{R}/contents/.github/ISSUE_TEMPLATE").json()
        assert [(entry["name"], entry["type"]) for entry in folder] == [
            ("06-bug-report.yml", "file")
        ]
        assert client.get(f"{R}/contents/.github").json()[0]["type"] == "dir"
        assert client.get(f"{R}/contents/src/b.py").status_code == 404
        assert client.get(f"{R}/contents/src/a.py?ref=nowhere").status_code == 404


def test_commits_are_listed_by_path_time_and_start(connect: Connect, code: FakeGitHub) -> None:
    with code as forge:
        client = connect(forge)
        found = {
            query: [part["sha"][0] for part in client.get(f"{R}/commits?{query}").json()]
            for query in ("path=src", "path=src/a.py", "path=docs", "since=2026-01-15T00:00:00Z",
                          "sha=next", "")
        }  # fmt: skip
        assert found == {
            "path=src": ["a"],
            "path=src/a.py": ["a"],
            "path=docs": [],
            "since=2026-01-15T00:00:00Z": ["a"],
            "sha=next": ["b"],
            "": ["a", "b"],
        }
        assert client.get(f"{R}/commits/main").json()["files"][0]["filename"] == "src/a.py"
        assert client.get(f"{R}/commits/{'c' * 40}").status_code == 422
        assert client.get(f"{R}/branches/main").json()["commit"]["sha"] == SHA


def test_pull_requests_and_their_checks(connect: Connect, code: FakeGitHub) -> None:
    with code as forge:
        client = connect(forge)
        assert client.get(f"{R}/pulls/9").json()["merged"] is True
        assert [pull["number"] for pull in client.get(f"{R}/pulls").json()] == [10]
        assert "merged" not in client.get(f"{R}/pulls?state=closed").json()[0]
        assert client.get(f"{R}/pulls?head=o:next").json()[0]["number"] == 10
        assert client.get(f"{R}/commits/{SHA}/pulls").json()[0]["number"] == 9
        checks = client.get(f"{R}/commits/{SHA}/check-runs").json()
        assert [run["conclusion"] for run in checks["check_runs"]] == ["success", "failure"]
        assert client.get(f"{R}/issues/9").json()["pull_request"]["merged_at"] is not None


PULLS = [
    pytest.param({"head": "fix", "base": "main", "title": "t"}, 201, id="a branch that is there"),
    pytest.param({"head": "o:fix", "base": "main", "title": "t"}, 201, id="named with its owner"),
    pytest.param({"head": "gone", "base": "main", "title": "t"}, 422, id="a branch that is not"),
    pytest.param({"head": "fix", "base": "gone", "title": "t"}, 422, id="a base that is not"),
    pytest.param({"head": "next", "base": "main", "title": "t"}, 422, id="a second one"),
]


@pytest.mark.parametrize(("body", "status"), PULLS)
def test_a_pull_request_is_opened_once_for_a_branch_that_is_there(
    connect: Connect, code: FakeGitHub, body: dict[str, str], status: int
) -> None:
    code.repository.branches["fix"] = SHA
    with code as forge:
        answer = connect(forge).post(f"{R}/pulls", body)
        assert answer.status_code == status
        assert len(forge.repository.pulls) == (3 if status == 201 else 2)
        if status == 201:
            assert answer.json()["head"]["sha"] == SHA


RUN = {
    "id": 70,
    "run_attempt": 2,
    "head_sha": SHA,
    "jobs": [
        {"id": 71, "name": "build", "run_attempt": 1, "log": "first\n"},
        {"id": 72, "name": "build", "log": "second\n"},
    ],
}


def test_runs_show_the_jobs_of_the_latest_attempt(connect: Connect) -> None:
    with FakeGitHub(runs=[RUN]) as forge:
        client = connect(forge)
        jobs = f"{R}/actions/runs/70/jobs"
        assert [job["id"] for job in client.get(jobs).json()["jobs"]] == [72]
        assert client.get(f"{jobs}?filter=all").json()["total_count"] == 2
        assert client.get(f"{R}/actions/runs?status=failure").json()["total_count"] == 1
        assert client.get(f"{R}/actions/runs?branch=next").json()["total_count"] == 0
        assert client.get(f"{R}/actions/jobs/71").json()["run_id"] == 70


@pytest.mark.parametrize(
    ("keeps", "secrets"),
    [
        pytest.param(False, set(), id="requests drops the token"),
        pytest.param(True, {"authorization"}, id="a careless client hands it over"),
    ],
)
def test_a_log_lies_on_another_host_which_sees_what_it_is_sent(
    connect: Connect, keeps: bool, secrets: set[str]
) -> None:
    with FakeGitHub(runs=[RUN]) as forge:
        client = connect(forge)
        if keeps:
            client.session.rebuild_auth = lambda *_: None  # type: ignore[method-assign]
        assert client.get(f"{R}/actions/jobs/72/logs").text == "second\n"
        assert forge.storage.seen_secrets == secrets
        assert not forge.storage.origin.startswith(f"http://{forge.listener.host}:")
        assert client.get(f"{R}/actions/jobs/99/logs").status_code == 404
