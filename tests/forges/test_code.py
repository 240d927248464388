"""Files, commits, checks and pull requests, on both forges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from ciops.forges.base import CodeHost
from ciops.forges.github import GitHub
from ciops.forges.gitlab import GitLab
from ciops.plumbing.http import InvalidError, TooLargeError
from fakes.github import FakeGitHub
from fakes.gitlab import FakeGitLab
from forges.conftest import client_for

SHAS = ["a" * 40, "b" * 40, "c" * 40]
DAY = ["2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"]
COMMITS = [
    {
        "sha": SHAS[0],
        "message": "Third\n\nbody",
        "paths": ["src/a.py"],
        "date": "2026-03-01T00:00:00Z",
    },
    {"sha": SHAS[1], "message": "Second", "paths": ["src/b.py"], "date": "2026-02-01T00:00:00Z"},
    {"sha": SHAS[2], "message": "First", "paths": ["src/a.py"], "date": "2026-01-01T00:00:00Z"},
]
FILES = {"src/a.py": "print('é')\n", "docs/a+b@c.md": "x", "empty": ""}
BRANCHES = {"main": SHAS[0], "fix/hang": SHAS[1]}


@dataclass
class Host:
    name: str
    fake: Any
    code: CodeHost

    def issues(self) -> list[str]:
        if self.name == "github":
            found = self.fake.repository.issues.values()
            return [issue["title"] for issue in found if "pull_request" not in issue]
        return [issue["title"] for issue in self.fake.project(7).issues.values()]

    def pulls(self) -> list[str]:
        if self.name == "github":
            return [pull["title"] for pull in self.fake.repository.pulls.values()]
        return [part["title"] for part in self.fake.project(7).merge_requests.values()]


def on_github() -> Iterator[Host]:
    pulls = [
        {
            "number": 11,
            "title": "Merged",
            "body": "fixes",
            "user": "alice",
            "labels": ["needs-post-mortem"],
            "head": "gone",
            "sha": SHAS[1],
            "merged_at": "2026-02-02T00:00:00Z",
            "merge_commit_sha": SHAS[0],
        },
        {"number": 12, "title": "Open", "head": "fix/hang", "draft": True},
        {"number": 13, "title": "Closed", "state": "closed", "head": "old"},
    ]
    checks = {
        SHAS[0]: [
            {"name": "build", "status": "completed", "conclusion": "success"},
            {"name": "test", "status": "completed", "conclusion": "timed_out"},
            {"name": "lint", "status": "in_progress", "conclusion": None},
        ]
    }
    fake = FakeGitHub(
        "o/r",
        account="bot",
        commits=COMMITS,
        files=FILES,
        branches=BRANCHES,
        pulls=pulls,
        check_runs=checks,
    )
    with fake:
        client = client_for("GitHub", fake.url)
        yield Host("github", fake, GitHub(client).code("o/r"))
        client.close()


def on_gitlab() -> Iterator[Host]:
    merge_requests = [
        {
            "iid": 11,
            "title": "Merged",
            "description": "fixes",
            "author": "alice",
            "labels": ["needs-post-mortem"],
            "source_branch": "gone",
            "sha": SHAS[1],
            "state": "merged",
            "merged_at": "2026-02-02T00:00:00.000Z",
            "merge_commit_sha": SHAS[0],
        },
        {"iid": 12, "title": "Open", "source_branch": "fix/hang", "draft": True},
        {"iid": 13, "title": "Closed", "state": "closed", "source_branch": "old"},
    ]
    statuses = {
        SHAS[0]: [
            {"name": "build", "status": "success"},
            {"name": "test", "status": "failed"},
            {"name": "lint", "status": "running"},
        ]
    }
    project = {
        "id": 7,
        "path": "g/sub/r",
        "commits": COMMITS,
        "files": FILES,
        "branches": BRANCHES,
        "merge_requests": merge_requests,
        "issues": [{"iid": 1, "title": "There before"}],
        "statuses": statuses,
    }
    with FakeGitLab(projects=[project]) as fake:
        client = client_for("GitLab", fake.api_url)
        yield Host("gitlab", fake, GitLab(client).code("g/sub/r"))
        client.close()


@pytest.fixture(params=[on_github, on_gitlab], ids=["github", "gitlab"])
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    yield from request.param()


def test_the_project(host: Host) -> None:
    project = host.code.project()
    assert project.path in ("o/r", "g/sub/r")
    assert (project.default_branch, project.archived) == ("main", False)
    assert project.id
    assert project.url.startswith("http")


@pytest.mark.parametrize(
    ("path", "ref", "content"),
    [
        ("src/a.py", "", "print('é')\n".encode()),
        ("/src/a.py", "main", "print('é')\n".encode()),
        ("src/a.py", SHAS[0], "print('é')\n".encode()),
        ("docs/a+b@c.md", "", b"x"),
        ("empty", "", b""),
        ("src/absent.py", "", None),
        ("src/a.py", "no-such-branch", None),
    ],
)
def test_files(host: Host, path: str, ref: str, content: bytes | None) -> None:
    assert host.code.file(path, ref) == content


def test_a_folder_is_no_file(host: Host) -> None:
    assert host.code.file("src") is None


def test_commits_newest_first_and_by_path(host: Host) -> None:
    commits = host.code.commits()
    assert [commit.sha for commit in commits] == SHAS
    assert commits[0].message == "Third\n\nbody"
    assert commits[0].date.startswith("2026-03-01T00:00:00")
    assert [commit.sha for commit in host.code.commits("src/a.py")] == [SHAS[0], SHAS[2]]
    assert [commit.sha for commit in host.code.commits(limit=1)] == [SHAS[0]]
    since = host.code.commits(since="2026-01-15T00:00:00Z", until="2026-02-15T00:00:00Z")
    assert [commit.sha for commit in since] == [SHAS[1]]
    assert host.code.commits(ref="fix/hang")[0].sha == SHAS[1]


def test_one_commit(host: Host) -> None:
    commit = host.code.commit(SHAS[1])
    assert commit is not None
    assert (commit.sha, commit.message) == (SHAS[1], "Second")
    assert host.code.commit("d" * 40) is None


def test_checks(host: Host) -> None:
    checks = host.code.checks(SHAS[0])
    assert {check.name: check.status for check in checks} == {
        "build": "success",
        "test": "failed",
        "lint": "running",
    }


def test_branches(host: Host) -> None:
    assert host.code.branch("fix/hang") == SHAS[1]
    assert host.code.branch("absent") is None


def test_pull_requests(host: Host) -> None:
    merged = host.code.pull(11)
    assert merged is not None
    assert (merged.state, merged.title, merged.body) == ("merged", "Merged", "fixes")
    assert (merged.head, merged.base, merged.head_sha) == ("gone", "main", SHAS[1])
    assert (merged.author.login, merged.labels) == ("alice", ("needs-post-mortem",))
    assert merged.merged_at.startswith("2026-02-02T00:00:00")
    assert merged.merge_sha == SHAS[0]
    opened, closed = host.code.pull(12), host.code.pull(13)
    assert opened is not None
    assert closed is not None
    assert (opened.state, opened.draft, opened.merged_at, opened.merge_sha) == (
        "open",
        True,
        "",
        "",
    )
    assert closed.state == "closed"
    assert host.code.pull(99) is None


def test_open_pull_requests_of_a_branch(host: Host) -> None:
    assert [pull.number for pull in host.code.open_pulls("fix/hang")] == [12]
    assert host.code.open_pulls("old") == []


@pytest.mark.parametrize(
    "how", [None, "500", "502", "reset", "reset-after", "cut", "badjson", "empty", "429"]
)
def test_one_issue_is_filed_whatever_fails(host: Host, how: str | None) -> None:
    before = host.issues()
    if how:
        host.fake.fail(how, writes=True)
    issue = host.code.create_issue("Bucket x", "Body <!-- sig -->\nmore\n", ["bug"])
    assert issue.title == "Bucket x"
    assert issue.number
    assert issue.labels == ("bug",)
    assert host.issues() == [*before, "Bucket x"]


@pytest.mark.parametrize("how", [None, "500", "reset", "reset-after", "cut", "badjson", "429"])
def test_one_pull_request_is_opened_whatever_fails(host: Host, how: str | None) -> None:
    if host.name == "github":
        host.fake.repository.branches["fix/new"] = SHAS[1]
    else:
        host.fake.project(7).branches["fix/new"] = SHAS[1]
    if how:
        host.fake.fail(how, writes=True)
    pull = host.code.create_pull("Fix it", "Body", head="fix/new", base="main", draft=True)
    assert pull.state == "open"
    assert pull.draft or pull.title == "Draft: Fix it"
    assert (pull.head, pull.base) == ("fix/new", "main")
    assert len([title for title in host.pulls() if title.endswith("Fix it")]) == 1


def test_a_pull_request_that_is_open_already(host: Host) -> None:
    with pytest.raises(InvalidError, match=r"already exists|Another open merge request"):
        host.code.create_pull("Again", "Body", head="fix/hang", base="main")


def test_github_does_not_send_large_files() -> None:
    from fakes import github_code
    from fakes.messages import Asked, Reply

    def large(fake: FakeGitHub, asked: Asked) -> Reply:
        reply = github_code.get_contents(fake, asked)
        reply.body |= {"content": "", "encoding": "none", "size": 2_000_000}
        return reply

    with FakeGitHub("o/r", files={"big": "x"}) as fake:
        fake.routes = {**fake.routes, "GET /repos/{owner}/{repo}/contents/{path}": large}
        client = client_for("GitHub", fake.url)
        with pytest.raises(TooLargeError, match="the file is larger than 1 MB"):
            GitHub(client).code("o/r").file("big")
        client.close()


@pytest.mark.parametrize("status", [409, 451])
def test_other_refusals_are_no_absence(host: Host, status: int) -> None:
    host.fake.fail(status)
    with pytest.raises(InvalidError):
        host.code.commit(SHAS[0])
