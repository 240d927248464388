"""What is tried again, after which wait, and what is given up at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ciops.errors import CiopsError
from ciops.plumbing.http import (
    Client,
    HttpError,
    Reply,
    UnavailableError,
)
from plumbing.conftest import Answer, Clock, Server

OK = Answer(b'{"ok": 1}')
NOW = 1_700_000_000.0

TRANSIENT = {
    "500": Answer(b"{}", 500),
    "502 with a page": Answer(b"<html>Bad gateway</html>", 502, {"Content-Type": "text/html"}),
    "503": Answer(b"", 503),
    "504": Answer(b"{}", 504),
    "408": Answer(b"{}", 408),
    "reset before": Answer(reset="before"),
    "reset in the body": Answer(b'{"a"', length=500, reset="after"),
    "cut body": Answer(b'{"a": 1', length=500),
    "half JSON": Answer(b'{"a": 1'),
    "no JSON": Answer(b"<html>Sign in</html>", headers={"Content-Type": "text/html"}),
    "empty body": Answer(b""),
    "not UTF-8": Answer(b'{"a": "\xff\xfe"}'),
    "deep JSON": Answer(b"[" * 100_000),
    "huge number": Answer(b"9" * 5_000),
    "broken gzip": Answer(b"\x1f\x8bxxxx", headers={"Content-Encoding": "gzip"}),
    "broken chunks": Answer(b"zz\r\n", headers={"Transfer-Encoding": "chunked"}, reset="after"),
}


@pytest.mark.parametrize(
    ("method", "name"),
    # a PUT may be answered with nothing
    [("get", name) for name in TRANSIENT]
    + [("put", name) for name in TRANSIENT if name != "empty body"],
)
def test_what_may_pass_is_tried_again(
    server: Server, client: Client, clock: Clock, log: list[str], method: str, name: str
) -> None:
    bad = TRANSIENT[name]
    server.script(bad, bad, OK)
    reply = client.get("/x") if method == "get" else client.put("/x", {"a": 1})
    assert reply.data == {"ok": 1}
    assert len(server.asked) == 3
    assert len(clock.slept) == len(log) == 2
    assert all(line.startswith(f"GitHub: {method.upper()} /x: ") for line in log)


@pytest.mark.parametrize("bad", TRANSIENT.values(), ids=TRANSIENT)
def test_five_tries_and_one_sentence(
    server: Server, client: Client, clock: Clock, bad: Answer
) -> None:
    server.script(bad)
    with pytest.raises(UnavailableError) as caught:
        client.get("/x")
    assert len(server.asked) == 5
    assert sum(clock.slept) < 40
    assert str(caught.value).startswith("GitHub: GET /x ")
    assert "Try again later" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_status == 4


def test_a_server_that_is_slow(server: Server, client_of: Callable[..., Client]) -> None:
    server.script(Answer(b"{}", delay=0.5), OK)
    assert client_of(server.url, timeout=(1.0, 0.1)).get("/x").data == {"ok": 1}


def test_a_server_that_never_answers(server: Server, client_of: Callable[..., Client]) -> None:
    server.script(Answer(b"{}", delay=0.3))
    with pytest.raises(UnavailableError, match="it did not answer in time"):
        client_of(server.url, timeout=(1.0, 0.05)).get("/x")


def test_a_port_where_nobody_listens(client_of: Callable[..., Client]) -> None:
    with pytest.raises(UnavailableError, match=r"there is no connection\. Check the address"):
        client_of("http://127.0.0.1:9").get("/x")


def test_the_first_retry_is_at_once_and_the_waits_grow(
    server: Server, client: Client, clock: Clock
) -> None:
    server.script(Answer(b"{}", 500))
    with pytest.raises(UnavailableError):
        client.get("/x")
    assert clock.slept[0] == 0
    assert clock.slept[1:] == sorted(clock.slept[1:])
    assert all(2 <= wait <= 17 for wait in clock.slept[1:])


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 410, 422, 451, 501])
def test_a_refusal_is_not_tried_again(
    server: Server, client: Client, clock: Clock, status: int
) -> None:
    server.script(Answer(b'{"message": "no"}', status))
    with pytest.raises(HttpError) as caught:
        client.get("/x")
    assert caught.value.status == status
    assert len(server.asked) == 1
    assert clock.slept == []


def test_204_and_other_empty_answers(server: Server, client: Client) -> None:
    for status in (204, 202, 205):
        server.script(Answer(b"", status))
        assert client.get("/x").data is None
    server.script(Answer(b"", 200))
    assert client.put("/x", {}).status == 200
    server.script(Answer(b"", 204))
    assert client.delete("/x").status == 204


def test_a_delete_that_worked_the_first_time(server: Server, client: Client) -> None:
    server.script(Answer(b"{}", reset="after", length=100), Answer(b"{}", 404))
    assert client.delete("/x").status == 204


def test_a_delete_of_what_is_not_there(server: Server, client: Client) -> None:
    server.script(Answer(b"{}", 404))
    with pytest.raises(HttpError):
        client.delete("/x")


# --- POST: once, and never twice --------------------------------------------------------------

CREATED = Answer(b'{"id": 5}', 201)
UNCERTAIN = {
    "500": Answer(b"{}", 500),
    "502": Answer(b"<html>", 502),
    "reset before": Answer(reset="before"),
    "reset in the body": Answer(b'{"id"', 201, length=100, reset="after"),
    "cut": Answer(b'{"id"', 201, length=100),
    "no JSON": Answer(b"<html>", 201),
    "empty": Answer(b"", 201),
}


@pytest.mark.parametrize("bad", UNCERTAIN.values(), ids=UNCERTAIN)
def test_a_post_that_landed_is_not_sent_again(
    server: Server, client: Client, clock: Clock, bad: Answer
) -> None:
    server.script(bad)
    reply = client.post("/x", {"a": 1}, lambda: {"id": 5})
    assert reply.data == {"id": 5}
    assert len(server.asked) == 1
    assert clock.slept
    assert clock.slept[0] >= 2  # what was lost takes a moment to show


@pytest.mark.parametrize("bad", UNCERTAIN.values(), ids=UNCERTAIN)
def test_a_post_that_did_not_land_is_sent_again(
    server: Server, client: Client, bad: Answer
) -> None:
    server.script(bad, CREATED)
    if bad.status == 201 and bad.reset != "before":
        with pytest.raises(UnavailableError):  # the service said that it had acted
            client.post("/x", {"a": 1}, lambda: None)
        assert len(server.asked) == 1
        return
    assert client.post("/x", {"a": 1}, lambda: None).data == {"id": 5}
    assert [asked.body for asked in server.asked] == [b'{"a": 1}'] * 2


@pytest.mark.parametrize("bad", UNCERTAIN.values(), ids=UNCERTAIN)
def test_a_post_without_a_way_to_look_is_sent_once(
    server: Server, client: Client, bad: Answer
) -> None:
    server.script(bad)
    with pytest.raises(UnavailableError):
        client.post("/x", {"a": 1})
    assert len(server.asked) == 1


def test_a_post_that_never_lands_is_looked_for_after_every_try(
    server: Server, client: Client
) -> None:
    looks: list[int] = []
    server.script(Answer(b"{}", 500))
    with pytest.raises(UnavailableError):
        client.post("/x", {}, lambda: looks.append(1))
    assert len(server.asked) == 5
    assert len(looks) == 5


def test_a_look_that_fails_leaves_it_at_one_try(server: Server, client: Client) -> None:
    def look() -> Any:
        raise UnavailableError("GitHub", "GET /y", 500, "down")

    server.script(Answer(b'{"message": "boom"}', 500))
    with pytest.raises(UnavailableError, match=r"POST /x answered 500: boom"):
        client.post("/x", {}, look)
    assert len(server.asked) == 1


def test_a_look_may_give_a_whole_reply(server: Server, client: Client) -> None:
    server.script(Answer(b"{}", 500))
    found = Reply(200, {}, [1], "u")
    assert client.post("/x", {}, lambda: found) is found


def test_a_post_that_never_left_needs_no_look(client_of: Callable[..., Client]) -> None:
    looks: list[int] = []
    with pytest.raises(UnavailableError, match="there is no connection"):
        client_of("http://127.0.0.1:9").post("/x", {}, lambda: looks.append(1))
    assert looks == []


@pytest.mark.parametrize("status", [400, 403, 404, 422])
def test_a_refused_post_is_sent_once(server: Server, client: Client, status: int) -> None:
    server.script(Answer(b"{}", status))
    with pytest.raises(HttpError):
        client.post("/x", {}, lambda: {"id": 1})
    assert len(server.asked) == 1


def test_what_no_json_has_is_not_sent(server: Server, client: Client) -> None:
    server.script(OK)
    with pytest.raises(ValueError, match="JSON"):
        client.post("/x", {"a": float("nan")})
    assert server.asked == []


def test_a_body_is_ascii_json(server: Server, client: Client) -> None:
    server.script(OK)
    client.post("/x", {"a": "é\ud800"})
    assert server.asked[0].headers["content-type"] == "application/json"
    assert json.loads(server.asked[0].body) == {"a": "é\ud800"}


def test_every_error_is_one_that_a_person_can_act_on() -> None:
    assert issubclass(HttpError, CiopsError)
