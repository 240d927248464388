"""Redirects: the token stays behind, and some ways are not gone at all."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
import responses

from ciops.plumbing.http import Client, ForeignHostError, MovedError, UnavailableError
from plumbing.conftest import Answer, Asked, Server

TOKEN = "s3cret-token"
OK = Answer(b'{"ok": true}')


def carries_secret(asked: Asked) -> bool:
    text = repr(asked)
    return "s3cret" in text or base64.b64encode(b"me:s3cret").decode() in text


def test_a_redirect_on_the_own_host_keeps_the_token(server: Server, client: Client) -> None:
    server.script(Answer(status=301, headers={"Location": "/repositories/1"}), OK)
    assert client.get("/repos/o/r").data == {"ok": True}
    assert [asked.path for asked in server.asked] == ["/repos/o/r", "/repositories/1"]
    assert server.asked[1].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["port", "host"])
@pytest.mark.parametrize("way", ["get", "download"])
def test_a_redirect_elsewhere_goes_without_any_given_header(
    make_server: Callable[[], Server],
    client_of: Callable[..., Client],
    status: int,
    host: str,
    way: str,
) -> None:
    here, there = make_server(), make_server()
    target = f"http://{host}:{there.port}/storage?signature=abc"
    here.script(Answer(status=status, headers={"Location": target, "Set-Cookie": "s=s3cret"}))
    there.script(OK)
    headers = {"PRIVATE-TOKEN": TOKEN, "JOB-TOKEN": TOKEN, "X-Own": TOKEN}
    client = client_of(here.url, headers=headers)
    if way == "get":
        client.get("/x", {"private_token": TOKEN})
    else:
        with client.download("/x") as body:
            assert b"".join(body) == OK.body
    assert here.asked[0].headers["private-token"] == TOKEN
    assert here.asked[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert there.asked[0].path == "/storage?signature=abc"
    assert not carries_secret(there.asked[0])
    assert "cookie" not in there.asked[0].headers


def test_a_token_does_not_come_back_with_a_second_redirect(
    make_server: Callable[[], Server], client_of: Callable[..., Client]
) -> None:
    """It does where the way leads back to the own host: that host is the one it is for."""
    here, there, third = make_server(), make_server(), make_server()
    here.script(Answer(status=302, headers={"Location": there.url + "/a"}))
    there.script(Answer(status=302, headers={"Location": third.url + "/b"}))
    third.script(OK)
    client_of(here.url).get("/x")
    assert not carries_secret(there.asked[0])
    assert not carries_secret(third.asked[0])


@responses.activate
@pytest.mark.parametrize(
    "target",
    [
        "http://api.example.com/x",
        "https://api.example.com:8443/x",
        "https://API.example.com.evil.com/x",
        "https://storage.example.com/x",
        "//storage.example.com/x",
    ],
    ids=["scheme downgrade", "port", "look-alike", "host", "scheme-relative"],
)
def test_https_redirects_lose_the_token(client_of: Callable[..., Client], target: str) -> None:
    moved = {"Location": target}
    responses.get("https://api.example.com/start", status=302, headers=moved)
    full = target if "://" in target else f"https:{target}"
    responses.get(full, json={"ok": True})
    client = client_of("https://api.example.com", headers={"PRIVATE-TOKEN": TOKEN})
    client.get("/start")
    first, second = (call.request for call in responses.calls)
    assert first.headers["Authorization"] == f"Bearer {TOKEN}"
    assert "s3cret" not in repr(dict(second.headers))


@responses.activate
def test_the_standard_port_is_the_same_host(client_of: Callable[..., Client]) -> None:
    moved = {"Location": "https://API.EXAMPLE.COM:443/y"}
    responses.get("https://api.example.com/x", status=302, headers=moved)
    responses.get("https://api.example.com:443/y", json={"ok": True})
    client_of("https://api.example.com").get("/x")
    assert responses.calls[1].request.headers["Authorization"] == f"Bearer {TOKEN}"


@responses.activate
@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://127.0.0.1/x",
        "http://localhost/x",
        "http://[::1]/x",
        "http://0.0.0.0/x",
        "file:///etc/passwd",
        "https://me:pw@storage.example.com/x",
        "https://storage.example.com\\x",
    ],
)
def test_redirects_that_no_api_has_a_reason_for(
    client_of: Callable[..., Client], target: str
) -> None:
    responses.get("https://api.example.com/x", status=302, headers={"Location": target})
    with pytest.raises(ForeignHostError) as caught:
        client_of("https://api.example.com").get("/x")
    assert len(responses.calls) == 1
    assert "pw" not in str(caught.value)


def test_endless_redirects(server: Server, client: Client) -> None:
    server.script(Answer(status=302, headers={"Location": "/again"}))
    with pytest.raises(UnavailableError, match="more than 5 redirects"):
        client.get("/x")
    assert len(server.asked) == 6


def test_a_redirect_that_is_not_to_be_followed(server: Server, client: Client) -> None:
    location = f"{server.url}/repos/other/place/issues/9?token=s3cret"
    server.script(Answer(status=301, headers={"Location": location}))
    with pytest.raises(MovedError) as caught:
        client.get("/repos/o/r/issues/3", follow=False)
    assert caught.value.location == f"{server.url}/repos/other/place/issues/9"
    assert "s3cret" not in str(caught.value)
    assert len(server.asked) == 1


@pytest.mark.parametrize("method", ["post", "put", "delete"])
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_write_is_never_redirected(
    server: Server, client: Client, method: str, status: int
) -> None:
    server.script(Answer(status=status, headers={"Location": "/elsewhere"}))
    with pytest.raises(MovedError):
        getattr(client, method)("/x", *([] if method == "delete" else [{"a": 1}]))
    assert len(server.asked) == 1


def test_a_proxy_setting_of_a_wrong_form(
    client_of: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http:///nowhere")
    with pytest.raises(UnavailableError, match="the address or a proxy setting cannot be used"):
        client_of("https://api.example.com").get("/x")
