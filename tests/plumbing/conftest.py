"""A loopback server that answers by a script, byte for byte as bad as a test wants it."""

from __future__ import annotations

import io
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ciops.plumbing.ci_host import CiHost, detect
from ciops.plumbing.http import Client


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """`length` lies about the body's length; `reset` breaks the connection at that point."""

    body: bytes = b"{}"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None
    reset: str = ""
    delay: float = 0.0


Script = Callable[[Asked], Answer]


class Server:
    """Answers in turn, then with the last; or as `handler` says."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.answers: list[Answer] = []
        self.handler: Script | None = None
        self.connections = 0
        self._lock = threading.Lock()
        self._listener = Listener(self)
        self.port = self._listener.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.01,))
        self._thread.start()

    def script(self, *answers: Answer) -> None:
        self.answers = list(answers)

    def answer(self, asked: Asked) -> Answer:
        with self._lock:
            self.asked.append(asked)
            if self.handler is not None:
                return self.handler(asked)
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def close(self) -> None:
        self._listener.shutdown()
        self._listener.server_close()
        self._thread.join()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Listener

    def handle(self) -> None:
        self.server.owner.connections += 1
        with suppress(ConnectionError):  # the client may leave when it has seen enough
            super().handle()

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {key.lower(): value for key, value in self.headers.items()}
        reply = self.server.owner.answer(Asked(self.command, self.path, headers, body))
        time.sleep(reply.delay)
        if reply.reset != "before":
            self.send(reply)
        if reply.reset:
            self.abort()

    def send(self, reply: Answer) -> None:
        length = len(reply.body) if reply.length is None else reply.length
        headers = {"Content-Type": "application/json", **reply.headers}
        if "Transfer-Encoding" not in headers:
            headers["Content-Length"] = str(length)
        self.send_response_only(reply.status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)
        self.close_connection = self.close_connection or length != len(reply.body)

    def abort(self) -> None:
        self.wfile.flush()
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        pass


for method in ("GET", "POST", "PUT", "DELETE"):
    setattr(Handler, f"do_{method}", Handler.answer)


class Listener(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, owner: Server) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.owner = owner


@pytest.fixture
def make_server() -> Iterator[Callable[[], Server]]:
    servers: list[Server] = []

    def make() -> Server:
        servers.append(Server())
        return servers[-1]

    yield make
    for server in servers:
        server.close()


@pytest.fixture
def server(make_server: Callable[[], Server]) -> Server:
    return make_server()


@dataclass
class Clock:
    """Time that passes only by sleeping."""

    time: float = 1_700_000_000.0
    slept: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture
def client_of(clock: Clock, log: list[str]) -> Iterator[Callable[..., Client]]:
    clients: list[Client] = []

    def make(url: str, token: str | None = "s3cret-token", **options: Any) -> Client:
        given = {"sleep": clock.sleep, "now": clock.now, "log": log.append, **options}
        clients.append(Client("GitHub", url, token, **given))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def client(server: Server, client_of: Callable[..., Client]) -> Client:
    return client_of(server.url)


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "NETRC"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


GITHUB = {"GITHUB_ACTIONS": "true"}
GITLAB = {"GITLAB_CI": "true"}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@dataclass
class Seen:
    host: CiHost
    out: io.StringIO
    err: io.StringIO
    folder: Path

    @property
    def lines(self) -> list[str]:
        return self.out.getvalue().splitlines()


@pytest.fixture
def on(tmp_path: Path) -> Callable[..., Seen]:
    def start(*environments: dict[str, str], tty: bool = False) -> Seen:
        env = {key: value for part in environments for key, value in part.items()}
        out, err = (Terminal(), Terminal()) if tty else (io.StringIO(), io.StringIO())
        return Seen(detect(env, tmp_path / "out", out, err), out, err, tmp_path / "out")

    return start
