"""HTTP/1.1 on loopback: threads, keep-alive, and the ways a connection can end badly."""

from __future__ import annotations

import contextlib
import email.utils
import http.server
import socket
import socketserver
import struct
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Literal
from urllib.parse import urlsplit

from fakes.streams import Bandwidth, Content, Stream, stream_of

Ending = Literal["whole", "reset", "cut", "reset-in-body"]
SMALL = 256 * 1024
NO_BODY = (204, 304)


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request as it came: `path` and `query` still percent-encoded, header names lowercased."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(slots=True)
class Delivery:
    """What goes on the wire, and how the connection ends afterwards.

    `span` sends a part of the content; `chunked` hides its size; `length`
    announces another size than the real one.
    """

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    content: Content = b""
    span: tuple[int, int] | None = None
    chunked: bool = False
    ending: Ending = "whole"
    delay: float = 0.0
    paced: bool = False


Responder = Callable[[Incoming], Delivery]


class Listener:
    """Answers every request on one address with `responder`, each connection in a thread.

    The address is bound at once; `start` begins to answer, `close` ends every
    connection and joins every thread.
    """

    def __init__(
        self, responder: Responder, *, host: str = "127.0.0.1", port: int = 0, name: str = ""
    ) -> None:
        self.responder = responder
        self.bandwidth = Bandwidth()
        self.closing = threading.Event()
        self.faults: list[BaseException] = []
        self._server = _Server((host, port), self)
        bound_host, self.port = self._server.server_address[:2]
        self.host = str(bound_host)
        self._thread = threading.Thread(target=self._accept, name=name or "fake", daemon=True)

    @property
    def origin(self) -> str:
        return f"http://{self.host}:{self.port}"

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self.closing.set()
        if self._thread.is_alive():
            with contextlib.suppress(OSError):  # wakes the thread that waits for a connection
                socket.create_connection((self.host, self.port), timeout=1).close()
            self._thread.join()
        self._server.end_connections()
        self._server.server_close()

    def _accept(self) -> None:
        while not self.closing.is_set():
            self._server.handle_request()


class _Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = False  # so that server_close() joins them

    def __init__(self, address: tuple[str, int], listener: Listener) -> None:
        self.listener = listener
        self._open: set[socket.socket] = set()
        self._resetting: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        # HTTPServer would look up the host's name here, which can take seconds
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def get_request(self) -> tuple[socket.socket, object]:
        connection, address = super().get_request()
        self._open.add(connection)
        return connection, address

    def reset(self, connection: socket.socket) -> None:
        """Ends a connection with RST instead of FIN: the peer sees "connection reset"."""
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._resetting.add(connection)

    def shutdown_request(self, request: socket.socket) -> None:  # type: ignore[override]
        self._open.discard(request)
        if request in self._resetting:
            self._resetting.discard(request)
            request.close()
        else:
            super().shutdown_request(request)

    def end_connections(self) -> None:
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is normal; anything else is a fault of the fake."""
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, ConnectionError | TimeoutError):
            self.listener.faults.append(error)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def _serve(self) -> None:
        listener = self.server.listener
        target = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else b""
        if len(body) < length:  # the client died while it sent: this never was a request
            self.close_connection = True
            return
        incoming = Incoming(
            method=self.command,
            path=target.path,
            query=target.query,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
        )
        delivery = listener.responder(incoming)
        if delivery.delay:
            listener.closing.wait(delivery.delay)
        self._deliver(delivery, listener)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _serve  # noqa: N815

    def _deliver(self, delivery: Delivery, listener: Listener) -> None:
        if delivery.ending == "reset":
            self._end(reset=True)
            return
        stream = stream_of(delivery.content)
        start, stop = delivery.span or (0, stream.size)
        head = self._head(delivery, stop - start)
        if delivery.ending in ("cut", "reset-in-body"):
            stop = start + (stop - start) // 2
        if stop - start <= SMALL and not delivery.paced and not delivery.chunked:
            self.connection.sendall(head + b"".join(stream.chunks(start, stop)))
        else:
            self.connection.sendall(head)
            self._send(stream, start, stop, delivery, listener)
        if delivery.ending != "whole":
            self._end(reset=delivery.ending == "reset-in-body")

    def _send(
        self, stream: Stream, start: int, stop: int, delivery: Delivery, listener: Listener
    ) -> None:
        for piece in stream.chunks(start, stop):
            if listener.closing.is_set():
                self.close_connection = True
                return
            if delivery.paced:
                listener.bandwidth.wait_for(len(piece), listener.closing)
            if delivery.chunked:
                self.connection.sendall(b"".join((b"%x\r\n" % len(piece), piece, b"\r\n")))
            else:
                self.connection.sendall(piece)
        if delivery.chunked and delivery.ending == "whole":
            self.connection.sendall(b"0\r\n\r\n")

    def _head(self, delivery: Delivery, size: int) -> bytes:
        headers = {"Date": email.utils.formatdate(usegmt=True), **delivery.headers}
        if delivery.chunked:
            headers["Transfer-Encoding"] = "chunked"
        elif delivery.status not in NO_BODY:
            # a cut body without content still has to announce something that never comes
            headers["Content-Length"] = str(size or (0 if delivery.ending == "whole" else 1))
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        reason = HTTPStatus(delivery.status).phrase
        return f"HTTP/1.1 {delivery.status} {reason}\r\n{lines}\r\n".encode("latin-1")

    def _end(self, *, reset: bool) -> None:
        self.close_connection = True
        if reset:
            self.server.reset(self.connection)

    def log_message(self, *args: object) -> None:
        """Nothing: a test's output is the test's own."""
