"""Where a token goes, and where it never does."""

from __future__ import annotations

import base64
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ciops.errors import UsageError
from ciops.plumbing._http_transfer import checked_base
from ciops.plumbing.http import Client, ForeignHostError, UnavailableError, segment
from plumbing.conftest import Answer, Server

TOKEN = "s3cret-token"
OK = Answer(b'{"ok": true}')


def test_bearer_and_given_headers(server: Server, client_of: Callable[..., Client]) -> None:
    server.script(OK)
    client = client_of(server.url + "/api/v3/", headers={"Accept": "application/x"})
    assert client.get("/user").data == {"ok": True}
    asked = server.asked[0]
    assert asked.path == "/api/v3/user"
    assert asked.headers["authorization"] == f"Bearer {TOKEN}"
    assert asked.headers["accept"] == "application/x"
    assert "private-token" not in asked.headers


def test_basic(server: Server, client_of: Callable[..., Client]) -> None:
    server.script(OK)
    client_of(server.url, "me:s3cret", auth="basic").get("/x")
    expected = base64.b64encode(b"me:s3cret").decode()
    assert server.asked[0].headers["authorization"] == f"Basic {expected}"


@pytest.mark.parametrize("token", [None, "", "  \n"])
def test_no_token_no_header(
    server: Server, client_of: Callable[..., Client], token: str | None
) -> None:
    server.script(OK)
    client_of(server.url, token).get("/x")
    assert "authorization" not in server.asked[0].headers


def test_a_token_is_stripped(server: Server, client_of: Callable[..., Client]) -> None:
    server.script(OK)
    client_of(server.url, f"  {TOKEN}\n").get("/x")
    assert server.asked[0].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("token", ["a\nb", "a\r\nX-Evil: 1", "é", "a\x00b"])
def test_a_token_that_no_header_can_carry(client_of: Callable[..., Client], token: str) -> None:
    with pytest.raises(UsageError, match="holds a line break") as caught:
        client_of("https://x.y", token)
    assert token not in str(caught.value)


def netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "netrc"
    path.write_text("default login someone password from-netrc\n")
    path.chmod(stat.S_IRUSR | stat.S_IWUSR)
    monkeypatch.setenv("NETRC", str(path))


@pytest.mark.parametrize("token", [TOKEN, None])
def test_a_netrc_is_never_read(
    make_server: Callable[[], Server],
    client_of: Callable[..., Client],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    token: str | None,
) -> None:
    netrc(tmp_path, monkeypatch)
    here, there = make_server(), make_server()
    here.script(Answer(status=302, headers={"Location": there.url + "/x"}))
    there.script(OK)
    client_of(here.url, token).get("/x")
    expected = None if token is None else f"Bearer {token}"
    assert here.asked[0].headers.get("authorization") == expected
    assert "authorization" not in there.asked[0].headers


BASES = {
    "https": ("https://api.example.com", True),
    "https with a path and port": ("https://ghe.example.com:8443/api/v3/", True),
    "http on 127.0.0.1": ("http://127.0.0.1:8080", True),
    "http on 127.1.2.3": ("http://127.1.2.3", True),
    "http on localhost": ("http://localhost:3", True),
    "http on ::1": ("http://[::1]:3/api", True),
    "http elsewhere": ("http://gitlab.example.com", False),
    "http on a look-alike": ("http://127.0.0.1.evil.com", False),
    "http on localhost.evil": ("http://localhost.evil.com", False),
    "user and password": ("https://me:pass@x.y", False),
    "user that looks like a host": ("https://api.github.com@evil.com", False),
    "backslash": ("https://api.github.com\\@evil.com", False),
    "query": ("https://x.y/?token=1", False),
    "fragment": ("https://x.y/#a", False),
    "no scheme": ("api.github.com", False),
    "another scheme": ("ftp://x.y", False),
    "file": ("file:///etc/passwd", False),
    "empty": ("", False),
    "space": ("https://x y", False),
    "port out of range": ("https://x.y:99999", False),
    "no host": ("https:///x", False),
}


@pytest.mark.parametrize(("url", "taken"), BASES.values(), ids=BASES)
def test_base_addresses(client_of: Callable[..., Client], url: str, taken: bool) -> None:
    if taken:
        client_of(url)
        return
    with pytest.raises(UsageError) as caught:
        client_of(url)
    assert "pass" not in str(caught.value).replace("password", "")
    assert caught.value.next_step


@pytest.mark.parametrize(
    ("service", "words"),
    [("GitHub", "Write GITHUB_API_URL as"), ("GitLab", "--gitlab-url"), ("Forge", "Write it as")],
)
def test_a_base_address_that_is_none_is_said_by_its_setting(service: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        checked_base(service, "example.com")


FOREIGN = [
    "https://evil.example.com/x",
    "http://127.0.0.1.evil.com/",
    "http://localhost:{port}/x",
    "https://127.0.0.1:{port}/x",
    "http://127.0.0.1:1/x",
    "http://127.0.0.1:{port}@evil.com/x",
    "http://evil.com\\@127.0.0.1:{port}/x",
    "http://127.0.0.1:{port}\\.evil.com/x",
    "file:///etc/passwd",
    "gopher://127.0.0.1:{port}/x",
]


@pytest.mark.parametrize("url", FOREIGN)
def test_an_address_elsewhere_is_not_asked(server: Server, client: Client, url: str) -> None:
    with pytest.raises(ForeignHostError) as caught:
        client.get(url.format(port=server.port))
    assert caught.value.exit_status == 3
    assert server.asked == []
    assert client.calls == 0


def test_an_absolute_address_on_the_own_host(server: Server, client: Client) -> None:
    server.script(OK)
    client.get(f"{server.url}/repositories/1/issues?page=2")
    assert server.asked[0].path == "/repositories/1/issues?page=2"


def test_cookies_are_not_kept(server: Server, client: Client) -> None:
    server.script(Answer(headers={"Set-Cookie": "session=1; Path=/"}))
    client.get("/x")
    client.get("/y")
    assert "cookie" not in server.asked[1].headers


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_proxies_of_the_environment_are_used(
    make_server: Callable[[], Server],
    client_of: Callable[..., Client],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    """Seen at a redirect to a host that only the proxy knows: no token goes through in plain."""
    server, proxy = make_server(), make_server()
    monkeypatch.setenv(name, proxy.url)
    server.script(Answer(status=302, headers={"Location": "http://storage.example/log"}))
    proxy.script(OK)
    assert client_of(server.url).get("/x").data == {"ok": True}
    assert [asked.path for asked in proxy.asked] == ["http://storage.example/log"]
    assert "authorization" not in proxy.asked[0].headers


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_is_asked_without_a_proxy(
    make_server: Callable[[], Server],
    client_of: Callable[..., Client],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    host: str,
) -> None:
    """A proxy would read the token, which http does not hide, and answer for its own loopback."""
    server, proxy = make_server(), make_server()
    monkeypatch.setenv(name, proxy.url)
    server.script(OK)
    assert client_of(server.url.replace("127.0.0.1", host)).get("/x").data == {"ok": True}
    assert proxy.asked == []


def test_a_proxy_that_does_not_answer(
    client_of: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://me:s3cret@127.0.0.1:9")
    with pytest.raises(UnavailableError, match="the proxy does not answer") as caught:
        client_of("https://api.example.com").get("/x")
    assert "s3cret" not in str(caught.value)


def test_a_ca_bundle_that_is_not_there(
    client_of: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere/ca.pem")
    with pytest.raises(UsageError, match="REQUESTS_CA_BUNDLE names no file"):
        client_of("https://127.0.0.1:9").get("/x")


def test_a_certificate_that_cannot_be_verified(
    server: Server, client_of: Callable[..., Client]
) -> None:
    """Plain HTTP behind https: no handshake is possible, and no retry will change that."""
    server.script(OK)
    with pytest.raises(UnavailableError) as caught:
        client_of(server.url.replace("http:", "https:")).get("/x")
    assert "TLS" in str(caught.value) or "connection" in str(caught.value)
    assert server.asked == []


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("a b", "a%20b"),
        ("group/project", "group%2Fproject"),
        ("oncall: distributed", "oncall%3A%20distributed"),
        ("../x", "..%2Fx"),
        ("é", "%C3%A9"),
        ("a?b#c&d", "a%3Fb%23c%26d"),
        (7, "7"),
    ],
)
def test_segments(value: str | int, path: str) -> None:
    assert segment(value) == path


@pytest.mark.parametrize("value", ["", ".", ".."])
def test_segments_that_would_climb(value: str) -> None:
    with pytest.raises(UsageError, match="cannot be part of an address"):
        segment(value)


def test_importing_this_module_loads_no_http_library() -> None:
    """Offline commands catch its errors and must not pay for requests (100 ms)."""
    code = "import sys, ciops.plumbing.http; print('requests' in sys.modules)"
    scripts = Path(__file__).parents[2] / "scripts"
    env = {**os.environ, "PYTHONPATH": str(scripts)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
