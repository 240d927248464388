"""Pages, sizes, and what errors say and do not say."""

from __future__ import annotations

import gzip
import json
import threading
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from ciops.plumbing import _http_transfer as transfer
from ciops.plumbing.http import (
    Client,
    ForbiddenError,
    ForeignHostError,
    GoneError,
    HttpError,
    InvalidError,
    NotFoundError,
    TooLargeError,
    UnauthorizedError,
    UnavailableError,
)
from plumbing.conftest import Answer, Asked, Server


def page(rows: Any, following: str | None = None) -> Answer:
    headers = {"Link": f'<{following}>; rel="next", <x>; rel="last"'} if following else {}
    return Answer(json.dumps(rows).encode(), headers=headers)


def test_pages_follow_the_link_header(server: Server, client: Client) -> None:
    server.script(
        page([1, 2], f"{server.url}/repositories/9?page=2"), page([], "/x?page=3"), page([3])
    )
    assert list(client.items("/x", {"per_page": 100})) == [1, 2, 3]
    assert [asked.path for asked in server.asked] == [
        "/x?per_page=100",
        "/repositories/9?page=2",
        "/x?page=3",
    ]


def test_pages_are_read_as_they_are_wanted(server: Server, client: Client) -> None:
    server.script(page([1, 2], "/x?page=2"), page([3]))
    items = client.items("/x")
    assert [next(items), next(items)] == [1, 2]
    assert len(server.asked) == 1


def test_pages_that_are_objects(server: Server, client: Client) -> None:
    server.script(page({"total_count": 2, "jobs": [1]}, "/x?page=2"), page({"jobs": [2]}))
    assert list(client.items("/x", key="jobs")) == [1, 2]


@pytest.mark.parametrize("rows", [{}, "text", 3, {"jobs": None}])
@pytest.mark.parametrize("key", [None, "jobs"])
def test_a_page_without_a_list(server: Server, client: Client, rows: Any, key: str | None) -> None:
    server.script(page(rows))
    with pytest.raises(UnavailableError, match="the page holds no list"):
        list(client.items("/x", key=key))


@pytest.mark.parametrize(
    "following",
    ["https://evil.example.com/x?page=2", "http://localhost:1/x", "//evil.example.com/x"],
)
def test_a_link_to_another_host_is_refused(server: Server, client: Client, following: str) -> None:
    server.script(page([1], following))
    items = client.items("/x")
    assert next(items) == 1
    with pytest.raises(ForeignHostError):
        next(items)
    assert len(server.asked) == 1


def test_a_page_that_links_to_itself(server: Server, client: Client) -> None:
    server.script(page([1], "/x"))
    with pytest.raises(UnavailableError, match="its pages link in a circle"):
        list(client.items("/x"))


@pytest.mark.parametrize("header", ["", "nonsense", "<>", '<x>; rel="prev"', "<x>;;rel", ","])
def test_link_headers_without_a_next(server: Server, client: Client, header: str) -> None:
    server.script(Answer(b"[1]", headers={"Link": header}))
    assert list(client.items("/x")) == [1]


def test_thousands_of_pages_in_flat_memory(server: Server, client: Client) -> None:
    rows = [{"n": "x" * 2000}] * 5

    def answer(asked: Asked) -> Answer:
        number = int(asked.path.partition("page=")[2] or 1)
        server.asked.clear()
        return page(rows, f"/x?page={number + 1}" if number < 1000 else None)

    server.handler = answer
    count = 0
    tracemalloc.start()
    try:
        for count, _ in enumerate(client.items("/x"), 1):
            if count == 1_000:
                tracemalloc.reset_peak()
                before = tracemalloc.get_traced_memory()[0]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 5_000
    assert peak - before < 1_000_000
    assert server.connections == 1


def test_query_values(server: Server, client: Client) -> None:
    server.script(Answer())
    query = {"a": None, "b": True, "c": [1, "x"], "d": "é &", "e": 0, "f": False, "g": []}
    client.get("/x", query)
    assert server.asked[0].path == "/x?b=true&c=1&c=x&d=%C3%A9+%26&e=0&f=false"


# --- sizes ------------------------------------------------------------------------------------


def test_a_length_of_a_gigabyte_is_not_waited_for(server: Server, client: Client) -> None:
    server.script(Answer(b"{}", length=10**9))
    with pytest.raises(TooLargeError, match="its body is larger than 64 MiB"):
        client.get("/x")
    assert len(server.asked) == 1


@pytest.mark.parametrize("length", ["9" * 30, "99999999999"])
def test_a_length_beyond_reason(server: Server, client: Client, length: str) -> None:
    server.script(Answer(b"{}", length=int(length)))
    with pytest.raises(HttpError):
        client.get("/x")


def test_a_decompression_bomb_is_not_unpacked(server: Server, client: Client) -> None:
    packed = gzip.compress(b" " * (200 * 1024 * 1024), compresslevel=9)
    assert len(packed) < 300_000
    server.script(Answer(packed, headers={"Content-Encoding": "gzip"}))
    tracemalloc.start()
    try:
        with pytest.raises(TooLargeError):
            client.get("/x")
        assert tracemalloc.get_traced_memory()[1] < 100 * 1024 * 1024
    finally:
        tracemalloc.stop()


def test_a_body_that_grows_past_the_limit(
    server: Server, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "MAX_JSON_BYTES", 1000)
    chunk = b"400\r\n" + b" " * 1024 + b"\r\n"
    server.script(Answer(chunk * 3 + b"0\r\n\r\n", headers={"Transfer-Encoding": "chunked"}))
    with pytest.raises(TooLargeError):
        client.get("/x")


def test_a_body_that_drips(server: Server, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "MAX_BODY_SECONDS", -1.0)
    server.script(Answer(b"{}"))
    with pytest.raises(UnavailableError, match="its body took more than"):
        client.get("/x")


def test_gzip_is_read(server: Server, client: Client) -> None:
    server.script(Answer(gzip.compress(b'{"a": "\xc3\xa9"}'), headers={"Content-Encoding": "gzip"}))
    assert client.get("/x").data == {"a": "é"}
    assert "gzip" in server.asked[0].headers["accept-encoding"]


# --- errors -----------------------------------------------------------------------------------

KINDS = {
    400: InvalidError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: InvalidError,
    410: GoneError,
    422: InvalidError,
}


@pytest.mark.parametrize(("status", "kind"), KINDS.items())
def test_kinds(server: Server, client: Client, status: int, kind: type[HttpError]) -> None:
    server.script(Answer(b'{"message": "Said so"}', status))
    with pytest.raises(kind) as caught:
        client.get("/repos/o/r", {"secret": "q"})
    assert type(caught.value) is kind
    assert str(caught.value).startswith(f"GitHub: GET /repos/o/r answered {status}: Said so")
    assert caught.value.reason == "Said so"


REASONS = {
    "GitHub": ({"message": "Validation Failed", "documentation_url": "u"}, "Validation Failed"),
    "GitHub's fields": (
        {"message": "Validation Failed", "errors": [{"field": "name", "code": "invalid"}]},
        "Validation Failed; field: name; code: invalid",
    ),
    "GitHub's words": ({"message": "m", "errors": ["a", "b"]}, "m; a; b"),
    "GitLab": ({"message": "404 Project Not Found"}, "404 Project Not Found"),
    "GitLab's fields": ({"message": {"title": ["is too long"]}}, "title: is too long"),
    "GitLab's OAuth": ({"error": "invalid_token", "error_description": "x"}, "invalid_token; x"),
    "Jira": (
        {"errorMessages": [], "errors": {"comment": "Comment body is not valid!"}},
        "comment: Comment body is not valid!",
    ),
    "Jira's words": ({"errorMessages": ["No issue"], "errors": {}}, "No issue"),
    "none": ({}, ""),
    "a list": ([1], ""),
    "null": (None, ""),
    "a number": ({"message": 3}, ""),
    "nested deep": ({"errors": [[[[["x"]]]]]}, ""),
    "long": ({"message": "x" * 1000}, "x" * 300 + "…"),
    "hostile": ({"message": "a\n::error::b\x1b[31m\u202e"}, "a ::error::b"),
}


@pytest.mark.parametrize(("data", "reason"), REASONS.values(), ids=REASONS)
def test_reasons(server: Server, client: Client, data: Any, reason: str) -> None:
    server.script(Answer(json.dumps(data).encode(), 422))
    with pytest.raises(InvalidError) as caught:
        client.get("/x")
    assert caught.value.reason == reason
    assert "\n" not in str(caught.value)


def test_a_page_as_an_error(server: Server, client: Client) -> None:
    server.script(Answer(b"<html><body><h1>Forbidden</h1>by the gateway</body></html>", 403))
    with pytest.raises(ForbiddenError, match="answered 403: Forbidden by the gateway"):
        client.get("/x")


PERMISSIONS = {
    "fine-grained": (
        {"X-Accepted-GitHub-Permissions": "issues=write; pull_requests=write"},
        "the service asks for issues=write; pull_requests=write",
    ),
    "classic": (
        {"X-Accepted-OAuth-Scopes": "repo, public_repo"},
        "the service takes any of repo, public_repo",
    ),
    "single sign-on": (
        {"X-GitHub-SSO": "required; url=https://github.com/orgs/o/sso?token=s3cret-token"},
        "Authorize the token for the organization's single sign-on",
    ),
    "nothing": ({}, "Check the token's permissions for this repository or project"),
    "long": ({"X-Accepted-GitHub-Permissions": "x" * 5000}, "x" * 200 + "…"),
}


@pytest.mark.parametrize(("headers", "words"), PERMISSIONS.values(), ids=PERMISSIONS)
def test_a_403_names_the_permission(
    server: Server, client: Client, headers: dict[str, str], words: str
) -> None:
    server.script(Answer(b'{"message": "Resource not accessible by integration"}', 403, headers))
    with pytest.raises(ForbiddenError) as caught:
        client.post("/repos/o/r/issues/3/labels", {})
    assert words in str(caught.value)
    assert "s3cret" not in str(caught.value)


SPEAKING = {
    "in the message": Answer(b'{"message": "token s3cret-token is bad"}', 401),
    "in a field": Answer(b'{"errors": {"s3cret-token": ["s3cret-token"]}}', 422),
    "in a page": Answer(b"<p>Bearer s3cret-token</p>", 403),
    "in a 500": Answer(b'{"message": "s3cret-token"}', 500),
    "in a limit": Answer(b'{"message": "s3cret-token"}', 429, {"Retry-After": "999"}),
    "in a content type": Answer(b"x", 200, {"Content-Type": "text/s3cret-token"}),
    "in a redirect": Answer(status=301, headers={"Location": "https://x.y/s3cret-token?a=s3cret"}),
}


@pytest.mark.parametrize("answer", SPEAKING.values(), ids=SPEAKING)
def test_no_error_and_no_log_line_holds_the_token(
    server: Server, client: Client, log: list[str], answer: Answer
) -> None:
    server.script(answer)
    with pytest.raises(HttpError) as caught:
        client.get("/x", {"private_token": "s3cret-token"}, follow=False)
    chain = [caught.value, caught.value.__cause__]
    assert "s3cret" not in "".join(repr(error) + str(error) for error in chain) + "".join(log)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_basic_credentials_are_hidden_in_every_form(
    server: Server, client_of: Callable[..., Client]
) -> None:
    server.script(Answer(b'{"message": "me:s3cret bWU6czNjcmV0 s3cret"}', 401))
    with pytest.raises(UnauthorizedError) as caught:
        client_of(server.url, "me:s3cret", auth="basic").get("/x")
    assert caught.value.reason == "*** *** ***"


def test_a_connection_error_shows_no_query(client_of: Callable[..., Client]) -> None:
    with pytest.raises(UnavailableError) as caught:
        client_of("http://127.0.0.1:9").get("/x", {"token": "s3cret-token"})
    assert "s3cret" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


# --- connections ------------------------------------------------------------------------------


def test_one_connection_serves_many_calls(server: Server, client: Client) -> None:
    server.script(Answer(b'{"a": 1}'))
    for _ in range(20):
        client.get("/x")
        client.post("/x", {})
    assert server.connections == 1
    assert client.calls == 40


def test_an_error_answer_does_not_cost_the_connection(server: Server, client: Client) -> None:
    server.script(Answer(b'{"message": "no"}', 404))
    for _ in range(5):
        with pytest.raises(NotFoundError):
            client.get("/x")
    assert server.connections == 1


def test_many_threads_share_a_client(server: Server, client: Client) -> None:
    server.handler = lambda asked: Answer(json.dumps({"path": asked.path}).encode(), delay=0.002)
    wrong: list[str] = []

    def ask(name: int) -> None:
        for number in range(20):
            path = f"/{name}/{number}"
            if client.get(path).data != {"path": path}:
                wrong.append(path)

    threads = [threading.Thread(target=ask, args=(name,)) for name in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert client.calls == 320
    assert server.connections <= 16
