"""Files, commits, merge requests and search of the fake GitLab."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.gitlab import FakeGitLab
from fakes.raw_client import Connect

P = "/projects/5"
REPOSITORY: dict[str, Any] = {
    "files": {"src/a.py": "x = 1\n", ".gitlab/issue_templates/Bug.md": "## Bug\n"},
    "commits": [
        {"sha": "a" * 40, "paths": ["src/a.py"], "date": "2026-02-01T00:00:00Z"},
        {"sha": "b" * 40, "paths": ["README.md"], "date": "2026-01-01T00:00:00Z"},
    ],
    "merge_requests": [
        {"iid": 1, "title": "Fix", "state": "merged", "merge_commit_sha": "a" * 40},
        {"iid": 2, "title": "Next", "source_branch": "next"},
    ],
}


@pytest.fixture
def repository() -> FakeGitLab:
    issues = [{"iid": 1, "title": "Issue 1", "description": "It hangs."}]
    forge = FakeGitLab(projects=[{"id": 5, "path": "g/p", "issues": issues, **REPOSITORY}])
    project = forge.project(5)
    project.branches |= {"next": "b" * 40, "fix": "b" * 40}
    project.statuses["a" * 40] = [{"name": "build"}, {"name": "lint", "status": "failed"}]
    return forge


READS = [
    pytest.param("/repository/files/src%2Fa.py?ref=main", 200, id="a file at a branch"),
    pytest.param("/repository/files/src%2Fa.py?ref=HEAD", 200, id="at HEAD"),
    pytest.param("/repository/files/src%2Fa.py?ref=bbbbbbbb", 200, id="at a short SHA"),
    pytest.param("/repository/files/src%2Fb.py?ref=main", 404, id="no such file"),
    pytest.param("/repository/files/src%2Fa.py?ref=gone", 404, id="no such ref"),
    pytest.param("/repository/branches/main", 200, id="a branch"),
    pytest.param("/repository/branches/gone", 404, id="no such branch"),
    pytest.param("/repository/commits/main", 200, id="a commit by its branch"),
    pytest.param("/merge_requests/1", 200, id="a merge request"),
    pytest.param("/merge_requests/3", 404, id="no such merge request"),
]


@pytest.mark.parametrize(("path", "status"), READS)
def test_the_repository_is_read(
    connect: Connect, repository: FakeGitLab, path: str, status: int
) -> None:
    with repository as forge:
        assert connect(forge).get(P + path).status_code == status


COUNTS = [
    pytest.param("/repository/commits?path=src", 1, id="commits below a path"),
    pytest.param("/repository/commits?since=2026-01-15T00:00:00Z", 1, id="commits since"),
    pytest.param("/repository/commits?ref_name=next", 1, id="commits of a branch"),
    pytest.param("/repository/commits/main/statuses?name=lint", 1, id="statuses"),
    pytest.param("/merge_requests?state=opened", 1, id="open merge requests"),
    pytest.param("/merge_requests?source_branch=next", 1, id="by source branch"),
    pytest.param("/search?scope=issues&search=hangs", 1, id="search in issues"),
    pytest.param("/search?scope=merge_requests&search=fix", 1, id="search in merge requests"),
    pytest.param("/search?scope=blobs&search=x%20%3D", 1, id="search in files"),
    pytest.param("/search?scope=issues&search=unheard-of", 0, id="nothing found"),
]


@pytest.mark.parametrize(("path", "count"), COUNTS)
def test_lists_of_the_repository(
    connect: Connect, repository: FakeGitLab, path: str, count: int
) -> None:
    with repository as forge:
        assert len(connect(forge).get(P + path).json()) == count


@pytest.mark.parametrize(
    ("source", "status"),
    [
        pytest.param("fix", 201, id="a branch that is there"),
        pytest.param("gone", 400, id="a branch that is not"),
        pytest.param("next", 409, id="a second one"),
    ],
)
def test_a_merge_request_is_opened_once_for_a_branch_that_is_there(
    connect: Connect, repository: FakeGitLab, source: str, status: int
) -> None:
    with repository as forge:
        body = {"title": "t", "source_branch": source, "target_branch": "main"}
        answer = connect(forge).post(f"{P}/merge_requests", body)
        assert answer.status_code == status
        assert len(forge.writes) == int(status == 201)
