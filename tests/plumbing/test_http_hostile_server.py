"""A service, or whoever stands between, that answers to harm: addresses, bodies, words."""

from __future__ import annotations

import gzip
import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import responses

from ciops.plumbing import _http_transfer, http
from ciops.plumbing.http import (
    Client,
    ForeignHostError,
    InvalidError,
    MovedError,
    TooLargeError,
    UnavailableError,
)
from plumbing.conftest import Answer, Asked, Server

OK = Answer(b'{"ok": true}')
LONG_TOKEN = "s3cret-" + "0123456789abcdef" * 4

UNREADABLE = [
    "http://[",
    "http://a..b/x",
    f"http://{'a' * 70}.com/x",
    "http://\xff/x",
    "http://%zz/",
    "http://127.0.0.1:99999/",
    "http://127.0.0.1:-1/",
    "https:///x",
    "javascript:alert(1)",
    "data:application/json,{}",
]


def downloaded(client: Client) -> None:
    with client.download("/x") as body:
        list(body)


WAYS: dict[str, Callable[[Client], object]] = {
    "get": lambda client: client.get("/x"),
    "download": downloaded,
    "post": lambda client: client.post("/x", {}),
}


@pytest.mark.parametrize("location", UNREADABLE)
@pytest.mark.parametrize("way", WAYS)
def test_a_redirect_to_no_address_is_an_error_in_words(
    server: Server, client: Client, location: str, way: str
) -> None:
    server.script(Answer(status=302, headers={"Location": location}))
    with pytest.raises(MovedError if way == "post" else ForeignHostError):
        WAYS[way](client)


LINKS = {
    "another host": "<https://evil.example.com/x>; rel=next",
    "another port": "<http://127.0.0.1:1/x>; rel=next",
    "another scheme": "<https://127.0.0.1:{port}/x>; rel=next",
    "no scheme": "<//evil.example.com/x>; rel=next",
    "userinfo": "<http://127.0.0.1:{port}@evil.example.com/x>; rel=next",
    "look-alike": "<http://127.0.0.1:{port}.evil.example.com/x>; rel=next",
    "no address": "<http://[>; rel=next",
    "a file": "<file:///etc/passwd>; rel=next",
}


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_a_link_to_elsewhere_is_not_followed(server: Server, client: Client, link: str) -> None:
    server.script(Answer(b"[1]", headers={"Link": link.format(port=server.port)}))
    with pytest.raises(ForeignHostError):
        list(client.items("/x"))
    assert len(server.asked) == 1


def test_pages_that_link_in_a_circle_end(server: Server, client: Client) -> None:
    def circle(asked: Asked) -> Answer:
        other = "b" if asked.path == "/a" else "a"
        return Answer(b"[1]", headers={"Link": f"<{server.url}/{other}>; rel=next"})

    server.handler = circle
    with pytest.raises(UnavailableError, match="its pages link in a circle"):
        list(client.items("/a"))
    assert len(server.asked) == 2


def test_pages_without_end_end(
    server: Server, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MAX_PAGES", 20)

    def endless(asked: Asked) -> Answer:
        number = int(asked.path.rpartition("=")[2]) + 1
        return Answer(b"[1]", headers={"Link": f"<{server.url}/x?page={number}>; rel=next"})

    server.handler = endless
    with pytest.raises(UnavailableError, match="it has no last page"):
        list(client.items("/x", {"page": 1}))
    assert len(server.asked) == 20


@responses.activate
@pytest.mark.parametrize(
    "host",
    [
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "[::ffff:127.0.0.1]",
        "[::ffff:169.254.169.254]",
        "[fe80::1]",
        "[::]",
        "0",
        "2852039166",
        "localhost.",
        "anything.localhost",
    ],
)
def test_this_machine_is_known_in_every_spelling(
    client_of: Callable[..., Client], host: str
) -> None:
    location = {"Location": f"http://{host}/latest/meta-data"}
    responses.get("https://api.example.com/x", status=302, headers=location)
    with pytest.raises(ForeignHostError, match="this machine or network"):
        client_of("https://api.example.com").get("/x")
    assert len(responses.calls) == 1


@responses.activate
@pytest.mark.parametrize(
    "host", ["storage.example.com", "10.0.0.7", "[2001:db8::1]", "under_score"]
)
def test_storage_elsewhere_is_followed(client_of: Callable[..., Client], host: str) -> None:
    location = {"Location": f"https://{host}/object"}
    responses.get("https://api.example.com/x", status=302, headers=location)
    responses.get(f"https://{host}/object", json={"ok": True})
    assert client_of("https://api.example.com").get("/x").data == {"ok": True}


# --- bodies ---------------------------------------------------------------------------------


@contextmanager
def trickling(head: bytes, piece: bytes) -> Iterator[str]:
    """A server whose body never ends: a piece now and then, until the client leaves."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        gone = threading.Event()

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(head)
                try:
                    while not gone.wait(0.01):
                        connection.sendall(piece)
                except OSError:
                    return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        gone.set()
        thread.join(5)


def test_a_body_that_trickles_ends_at_its_time_limit(
    client_of: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A byte now and then resets every timeout of a socket; the whole body has one of its own."""
    monkeypatch.setattr(_http_transfer, "MAX_BODY_SECONDS", 0.2)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999\r\n\r\n["
    with trickling(head, b" ") as url, pytest.raises(UnavailableError, match="took more than"):
        client_of(url).post("/x", {})


def test_the_body_of_a_redirect_is_not_read(
    client_of: Callable[..., Client], server: Server
) -> None:
    server.script(OK)
    head = b"HTTP/1.1 302 Found\r\nLocation: %s/there\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"1000\r\n" + b"x" * 0x1000 + b"\r\n"
    with trickling(head % server.url.encode(), chunk) as url:
        assert client_of(url).get("/x").data == {"ok": True}
    assert server.asked[0].path == "/there"


@pytest.mark.parametrize("packed", [True, False], ids=["packed", "plain"])
def test_a_body_beyond_all_measure_is_refused(
    server: Server, client: Client, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    monkeypatch.setattr(_http_transfer, "MAX_JSON_BYTES", 100_000)
    plain = b"[" + b" " * 1_000_000 + b"]"
    answer = Answer(gzip.compress(plain), headers={"Content-Encoding": "gzip"})
    server.script(answer if packed else Answer(plain))
    with pytest.raises(TooLargeError):
        client.get("/x")
    assert len(server.asked) == 1


BODIES = {
    "deep": b"[" * 200_000,
    "deep and closed": b"[" * 200_000 + b"]" * 200_000,
    "a number of 5,000 digits": b"[" + b"9" * 5_000 + b"]",
    "not UTF-8": b'{"a": "\xff\xfe"}',
    "no packing at all": b"\x1f\x8b\x08",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_body_that_is_no_json_is_an_error_in_words(
    server: Server, client: Client, body: bytes
) -> None:
    server.script(Answer(body))
    with pytest.raises(UnavailableError, match="its body is not JSON"):
        client.get("/x")


# --- words ----------------------------------------------------------------------------------


@pytest.mark.parametrize("before", range(200, 301, 9))
def test_half_a_token_is_not_left_where_a_message_is_cut(
    server: Server, client_of: Callable[..., Client], before: int
) -> None:
    message = "y" * before + LONG_TOKEN
    server.script(Answer(b'{"message": "%s"}' % message.encode(), status=422))
    with pytest.raises(InvalidError) as caught:
        client_of(server.url, LONG_TOKEN).get("/x")
    assert "s3cret"[:3] not in str(caught.value)


@pytest.mark.parametrize("hidden", ["\u200b", "\x1b[0m", "\u202e"], ids=["space", "ansi", "bidi"])
def test_a_token_in_disguise_is_not_shown(
    server: Server, client_of: Callable[..., Client], hidden: str
) -> None:
    message = f"bad token {LONG_TOKEN[:9]}{hidden}{LONG_TOKEN[9:]}"
    server.script(Answer(f"<p>{message}</p>".encode(), status=400))
    with pytest.raises(InvalidError) as caught:
        client_of(server.url, LONG_TOKEN).get("/x")
    assert LONG_TOKEN not in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_moved_address_is_cut_and_clean(server: Server, client_of: Callable[..., Client]) -> None:
    location = f"/{LONG_TOKEN}/\x1b[31m" + "z" * 9_000
    server.script(Answer(status=301, headers={"Location": location}))
    with pytest.raises(MovedError) as caught:
        client_of(server.url, LONG_TOKEN).get("/x", follow=False)
    assert caught.value.location.isprintable()
    assert len(caught.value.location) < 400
    assert "s3cret" not in str(caught.value)


def test_no_token_stands_in_a_traceback_or_a_repr(
    server: Server, client_of: Callable[..., Client]
) -> None:
    server.script(Answer(b'{"message": "no"}', status=422, headers={"X": LONG_TOKEN}))
    client = client_of(server.url, LONG_TOKEN)
    with pytest.raises(InvalidError) as caught:
        client.get("/x", {"private_token": LONG_TOKEN})
    told = "".join(traceback.format_exception(caught.value))
    assert "s3cret" not in told + repr(client) + repr(caught.value)


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", " lead"])
def test_a_header_that_would_be_two_is_not_sent(
    server: Server, client_of: Callable[..., Client], value: str
) -> None:
    server.script(OK)
    with pytest.raises(UnavailableError):
        client_of(server.url, headers={"X-Own": value}).get("/x")
    assert server.asked == []
