"""A request or a reply that breaks a contract fails the test that made it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from fakes import github, gitlab, jira_comments
from fakes.contract import Call, load
from fakes.github import FakeGitHub
from fakes.gitlab import FakeGitLab
from fakes.jira import FakeJira
from fakes.raw_client import Connect
from fakes.server import ContractViolationError

ISSUE = {"number": 7, "title": "Hang", "labels": ["bug"]}
R = "/repos/o/r"

BROKEN_REQUESTS = [
    pytest.param("GET", "/repos/o/r/milestones", None, 404, "no path", id="unknown path"),
    pytest.param("PUT", f"{R}/issues/7/labels", {"labels": ["x"]}, 405, "only GET, POST",
                 id="labels are never replaced"),
    pytest.param("POST", f"{R}/labels", {"name": "x"}, 405, "only GET", id="labels are never made"),
    pytest.param("PATCH", f"{R}/issues/7", {"state": "closed"}, 405, "only GET",
                 id="issues are never closed"),
    pytest.param("GET", f"{R}/issues?perpage=100", None, 400, "unknown query key 'perpage'",
                 id="misspelt query key"),
    pytest.param("GET", f"{R}/issues?state=opened", None, 400, '"opened" is none of',
                 id="unknown query value"),
    pytest.param("GET", f"{R}/issues?page=two", None, 400, "not an integer", id="page is a word"),
    pytest.param("GET", f"{R}/issues?page=1&page=2", None, 400, "twice", id="a key twice"),
    pytest.param("GET", "/search/issues", None, 400, "'q' is missing", id="required query key"),
    pytest.param("GET", f"{R}/issues/seven", None, 404, "not an integer", id="path is a word"),
    pytest.param("POST", f"{R}/issues/7/labels", {"label": ["x"]}, 422, "unknown key 'label'",
                 id="misspelt body key"),
    pytest.param("POST", f"{R}/issues/7/labels", {"labels": [{"name": "x", "why": "y"}]}, 422,
                 "labels[0]: unknown key 'why'", id="misspelt key deep in a body"),
    pytest.param("POST", f"{R}/issues/7/labels", {"labels": [{"name": "x", "confidence": "sure"}]},
                 422, '"sure" is none of', id="unknown body value"),
    pytest.param("POST", f"{R}/issues/7/comments", {"body": 3}, 422, "3 is not a string",
                 id="wrong type in a body"),
    pytest.param("POST", f"{R}/issues/7/comments", None, 400, "body is missing", id="no body"),
    pytest.param("DELETE", f"{R}/issues/7/labels/bug", {"x": 1}, 400, "takes no body",
                 id="a body too many"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body", "status", "rule"), BROKEN_REQUESTS)
def test_a_request_that_breaks_the_contract_is_refused_and_fails_the_test(
    connect: Connect, method: str, path: str, body: Any, status: int, rule: str
) -> None:
    def a_test() -> None:
        with FakeGitHub(issues=[ISSUE]) as forge:
            answer = connect(forge).send(method, path, json=body)
            assert answer.status_code == status
            assert rule in answer.json()["message"]
            assert forge.labels(7) == ["bug"]
            assert forge.writes == []

    with pytest.raises(ContractViolationError, match=re.escape(rule)):
        a_test()


def _misnamed(forge: FakeGitHub) -> None:
    forge.issue(7)["titel"] = forge.issue(7).pop("title")


def _mistyped(forge: FakeGitHub) -> None:
    forge.issue(7)["number"] = "seven"


def _invented(forge: FakeGitHub) -> None:
    forge.issue(7)["priority"] = "high"


def _undated(forge: FakeGitHub) -> None:
    forge.issue(7)["created_at"] = "yesterday"


@pytest.mark.parametrize(
    ("plant", "rule"),
    [
        pytest.param(_misnamed, "'title' is missing", id="a field under another name"),
        pytest.param(_mistyped, '"seven" is not an integer', id="a field of another type"),
        pytest.param(_invented, "unknown key 'priority'", id="a field that GitHub does not have"),
        pytest.param(_undated, "is not a date-time", id="a date in words"),
    ],
)
@pytest.mark.parametrize("path", [f"{R}/issues", f"{R}/issues/7"])
def test_a_reply_that_breaks_the_contract_is_not_sent_and_fails_the_test(
    connect: Connect, plant: Callable[[FakeGitHub], None], rule: str, path: str
) -> None:
    def a_test() -> None:
        with FakeGitHub(issues=[ISSUE]) as forge:
            plant(forge)
            answer = connect(forge).get(path)
            assert answer.status_code == 501
            assert rule in answer.json()["message"]

    with pytest.raises(ContractViolationError, match=re.escape(rule)):
        a_test()


def test_gitlab_and_jira_fail_a_test_alike(connect: Connect) -> None:
    project = {"id": 1, "path": "g/p", "issues": [{"iid": 1, "title": "Hang"}]}
    with (
        pytest.raises(ContractViolationError, match="unknown query key 'recursive'"),
        FakeGitLab(projects=[project]) as gitlab_forge,
    ):
        connect(gitlab_forge).get("/projects/1/labels?recursive=true")
    with (
        pytest.raises(ContractViolationError, match="unknown query key 'limit'"),
        FakeJira(issues={"DBG-7": {}}) as jira,
    ):
        connect(jira).get("/issue/DBG-7/comment?limit=3")


@pytest.mark.parametrize(
    ("name", "value"), [("Link", "<next page>"), ("X-Total", "many"), ("ETag", "unquoted")]
)
def test_a_header_of_a_reply_is_checked(name: str, value: str) -> None:
    call = load("gitlab").request("GET", "/projects/1/issues", "", b"")
    assert isinstance(call, Call)
    headers = {"Content-Type": "application/json", name: value}
    problem = load("gitlab").reply_problem(call.operation, 200, headers, [])
    assert problem is not None
    assert f"header {name.lower()}" in problem


def test_a_redirect_without_a_location_is_no_redirect() -> None:
    call = load("gitlab").request("GET", "/projects/1/jobs/2/trace", "", b"")
    assert isinstance(call, Call)
    problem = load("gitlab").reply_problem(call.operation, 302, {}, None)
    assert problem == "the header Location is missing"


def test_a_success_that_the_contract_does_not_list_is_no_success() -> None:
    call = load("github").request("GET", "/user", "", b"")
    assert isinstance(call, Call)
    assert load("github").reply_problem(call.operation, 202, {}, {}) is not None
    assert load("github").reply_problem(call.operation, 418, {}, {}) is None


def test_a_query_key_that_the_fake_does_not_act_on_is_no_silent_success(connect: Connect) -> None:
    with FakeGitHub(issues=[ISSUE]) as forge:
        connect(forge).get(f"{R}/issues?mentioned=alice")
        assert "does not act on {'mentioned'}" in forge.take_violations()[0]


def test_a_body_key_that_the_fake_does_not_act_on_is_no_silent_success(connect: Connect) -> None:
    with FakeGitHub(issues=[ISSUE]) as forge:
        connect(forge).post(f"{R}/issues", {"title": "x", "milestone": 3})
        assert "does not act on {'milestone'}" in forge.take_violations()[0]


def test_violations_that_were_taken_no_longer_fail_the_test(connect: Connect) -> None:
    with FakeGitHub() as forge:
        connect(forge).get("/nowhere")
        assert forge.take_violations() == ["request 1: the contract has no path /nowhere"]


def test_a_failure_in_the_test_itself_keeps_its_place_and_names_the_violation(
    connect: Connect,
) -> None:
    def a_test() -> None:
        with FakeGitHub() as forge:
            connect(forge).get("/nowhere")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        a_test()
    assert "no path /nowhere" in caught.value.__notes__[0]


def test_an_exception_in_a_route_fails_the_test(connect: Connect) -> None:
    with (
        pytest.raises(ContractViolationError, match="search qualifiers"),
        FakeGitHub() as forge,
    ):
        assert connect(forge).get("/search/issues?q=stars:3").status_code == 501


@pytest.mark.parametrize(
    ("name", "routes"),
    [
        pytest.param("github", github.ROUTES, id="GitHub"),
        pytest.param("gitlab", gitlab.ROUTES, id="GitLab"),
        pytest.param("jira", jira_comments.routes("/rest/api/3"), id="Jira"),
    ],
)
def test_every_operation_of_a_contract_is_answered(name: str, routes: dict[str, Any]) -> None:
    assert routes.keys() == load(name).operations.keys()


PATHS = [
    ("github", "GET", f"{R}/commits/feature/x", "GET /repos/{owner}/{repo}/commits/{ref}"),
    ("github", "GET", f"{R}/commits/feature/x/check-runs",
     "GET /repos/{owner}/{repo}/commits/{ref}/check-runs"),
    ("github", "GET", f"{R}/contents/.github/ISSUE_TEMPLATE/06-bug-report.yml",
     "GET /repos/{owner}/{repo}/contents/{path}"),
    ("github", "GET", f"{R}/issues/comments/5",
     "GET /repos/{owner}/{repo}/issues/comments/{comment_id}"),
    ("gitlab", "GET", "/projects/group%2Fsub%2Fname/pipelines/latest",
     "GET /projects/{id}/pipelines/latest"),
    ("gitlab", "GET", "/projects/7/pipelines/12", "GET /projects/{id}/pipelines/{pipeline_id}"),
    ("gitlab", "GET", "/projects/7/repository/files/src%2Fa.py?ref=main",
     "GET /projects/{id}/repository/files/{file_path}"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "method", "path", "operation"), PATHS)
def test_a_path_finds_its_operation(name: str, method: str, path: str, operation: str) -> None:
    bare, _, query = path.partition("?")
    call = load(name).request(method, bare, query, b"")
    assert isinstance(call, Call)
    assert call.operation.name == operation


def test_parameters_arrive_typed() -> None:
    path, query = "/projects/g%2Fp/pipelines/4/jobs", "scope[]=failed&scope[]=success&per_page=5"
    call = load("gitlab").request("GET", path, f"{query}&include_retried=true", b"")
    assert isinstance(call, Call)
    assert call.path == {"id": "g/p", "pipeline_id": 4}
    assert call.query == {
        "scope[]": ["failed", "success"], "per_page": 5, "include_retried": True, "page": 1,
    }  # fmt: skip


def test_a_project_path_that_is_not_encoded_is_unknown(connect: Connect) -> None:
    with FakeGitLab(projects=[{"id": 1, "path": "g/p"}]) as forge:
        assert connect(forge).get("/projects/g/p").status_code == 404
        assert forge.take_violations() == ["request 1: the contract has no path /projects/g/p"]
