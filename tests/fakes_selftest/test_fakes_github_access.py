"""Tokens, permissions and limits of the fake GitHub."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.github import Account, FakeGitHub
from fakes.raw_client import Connect

R = "/repos/o/r"


def issue(number: int, **fields: Any) -> dict[str, Any]:
    return {"number": number, "title": f"Issue {number}", "body": "It hangs.", **fields}


READER = Account("reader", permissions={"issues": "read", "contents": "read"})
TOKENS = {
    "reads": READER,
    "writes": Account("writer", permissions={"issues": "write"}),
    "app": Account("triage[bot]", permissions={"contents": "read"}),
    "elsewhere": Account("stranger", repositories=frozenset({"o/other"})),
    "revoked": Account("gone", rejected=True),
}
LABEL = ("POST", f"{R}/issues/7/labels", {"labels": ["x"]})
PULL = ("POST", f"{R}/pulls", {"title": "t", "head": "x", "base": "main"})
READ = ("GET", f"{R}/issues/7", None)
ACCESS = [
    pytest.param("writes", False, LABEL, 200, None, id="a token that may write"),
    pytest.param("reads", False, LABEL, 403, "issues=write; pull_requests=write",
                 id="a token that may only read"),
    pytest.param("app", False, LABEL, 403, "issues=write; pull_requests=write",
                 id="an app that may only read"),
    pytest.param("reads", False, PULL, 403, "pull_requests=write", id="no pull request"),
    pytest.param(None, False, READ, 200, None, id="nobody reads what is public"),
    pytest.param(None, False, LABEL, 401, None, id="nobody writes"),
    pytest.param(None, True, READ, 404, None, id="what is private is hidden"),
    pytest.param("elsewhere", True, READ, 404, None, id="and from other repositories' tokens"),
    pytest.param("app", True, READ, 403, "issues=read; pull_requests=read",
                 id="a private repository's issues need their permission"),
    pytest.param("revoked", False, READ, 401, None, id="a revoked token"),
    pytest.param("unheard-of", False, READ, 401, None, id="an unknown token"),
]  # fmt: skip


@pytest.mark.parametrize(("token", "private", "request_", "status", "needed"), ACCESS)
def test_a_token_may_do_what_it_was_given(
    connect: Connect,
    token: str | None,
    private: bool,
    request_: tuple[str, str, Any],
    status: int,
    needed: str | None,
) -> None:
    with FakeGitHub(issues=[issue(7)], tokens=TOKENS, private=private) as forge:
        client = connect(forge, {"Authorization": f"Bearer {token}"} if token else {})
        method, path, body = request_
        answer = client.send(method, path, json=body)
        assert answer.status_code == status
        assert answer.headers.get("X-Accepted-GitHub-Permissions") == needed
        assert forge.seen_tokens == ({token} if token else set())


@pytest.mark.parametrize(
    ("account", "status", "login"),
    [
        pytest.param("triage-bot", 200, "triage-bot", id="a user"),
        pytest.param("github-actions[bot]", 403, None, id="the token of Actions is no user"),
    ],
)
def test_whose_token_it_is(connect: Connect, account: str, status: int, login: str | None) -> None:
    with FakeGitHub(account=account) as forge:
        answer = connect(forge).get("/user")
        assert (answer.status_code, answer.json().get("login")) == (status, login)


def test_the_primary_limit_ends_and_comes_back(connect: Connect) -> None:
    clock = [1000.0]
    with FakeGitHub(rate_limit=2, rate_window=60, now=lambda: clock[0]) as forge:
        client = connect(forge)
        left = [client.get(f"{R}/labels").headers["X-RateLimit-Remaining"] for _ in range(2)]
        assert left == ["1", "0"]
        refused = client.get(f"{R}/labels")
        assert refused.status_code == 403
        assert "API rate limit exceeded" in refused.json()["message"]
        assert "Retry-After" not in refused.headers
        assert client.get("/rate_limit").json()["resources"]["core"]["remaining"] == 0
        clock[0] = float(refused.headers["X-RateLimit-Reset"])
        assert client.get(f"{R}/labels").ok


def test_a_server_without_rate_limits_says_nothing_of_them(connect: Connect) -> None:
    with FakeGitHub(rate_limit=None, base_path="/api/v3") as forge:
        client = connect(forge)
        assert forge.url.endswith("/api/v3")
        assert client.get("/rate_limit").status_code == 404
        assert not [name for name in client.get(R).headers if "ratelimit" in name.lower()]


def test_who_writes_too_fast_is_told_how_long_to_wait(connect: Connect) -> None:
    clock = [1000.0]
    options: dict[str, Any] = {"writes_per_minute": 2, "now": lambda: clock[0]}
    with FakeGitHub(issues=[issue(7)], **options) as forge:
        client = connect(forge)
        write = (f"{R}/issues/7/comments", {"body": "x"})
        assert [client.post(*write).status_code for _ in range(3)] == [201, 201, 403]
        refused = client.post(*write)
        assert "secondary rate limit" in refused.json()["message"]
        clock[0] += int(refused.headers["Retry-After"])
        assert client.post(*write).ok
        assert len(forge.comments(7)) == 3


def test_the_planned_secondary_limit_may_come_without_a_time(connect: Connect) -> None:
    with FakeGitHub(limited_status=429) as forge:
        forge.fail("secondary")
        answer = connect(forge).get("/rate_limit")
        assert answer.status_code == 429
        assert "secondary rate limit" in answer.json()["message"]
        assert "Retry-After" not in answer.headers
