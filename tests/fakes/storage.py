"""Object storage on another loopback host: what job logs and traces are redirected to.

It asks for no token and remembers the headers it got, so that a test can see
whether a token followed the redirect.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fakes.faults import Fault, spoil
from fakes.streams import Content, stream_of
from fakes.wire import Delivery, Incoming, Listener, Responder

OTHER_LOOPBACK = "127.0.0.2"
SECRET_HEADERS = {"authorization", "private-token", "job-token", "cookie"}


class ObjectStorage:
    """Serves what was `put`; `received` holds the headers of every request."""

    def __init__(self, *, keep_requests: bool = True) -> None:
        self.keep_requests = keep_requests
        self.received: list[Mapping[str, str]] = []
        self.seen_secrets: set[str] = set()
        self.supports_range = True
        self.faults: list[Fault] = []
        self._objects: dict[str, Content] = {}
        self.listener = _listener(self._answer)
        self.origin = self.listener.origin

    def put(self, path: str, content: Content) -> str:
        """Stores an object; its signed URL."""
        self._objects[path] = content
        return f"{self.origin}{path}?X-Signature=fake"

    def fail(self, how: str | int, **plan: Any) -> Fault:
        """Plans a fault, as a forge does."""
        self.faults.append(Fault(str(how), **plan))
        return self.faults[-1]

    def start(self) -> None:
        self.listener.start()

    def close(self) -> None:
        self.listener.close()

    def _answer(self, request: Incoming) -> Delivery:
        """Remembers which headers that can carry a token arrived."""
        self.seen_secrets |= SECRET_HEADERS & request.headers.keys()
        if self.keep_requests:
            self.received.append(request.headers)
        struck = [fault for fault in self.faults if fault.strikes(request.method, request.path)]
        if struck and struck[0].before:
            return _refusal(struck[0])
        delivery = self._object(request)
        return spoil(delivery, struck[0]) if struck else delivery

    def _object(self, request: Incoming) -> Delivery:
        content = self._objects.get(request.path)
        if content is None or request.method != "GET":
            return Delivery(404, {"Content-Type": "application/xml"}, b"<Error>NoSuchKey</Error>")
        wanted = request.headers.get("range") if self.supports_range else None
        return ranged(Delivery(200, {"Content-Type": "text/plain"}, content, paced=True), wanted)


def _refusal(fault: Fault) -> Delivery:
    if fault.how == "reset":
        return Delivery(0, ending="reset")
    headers = {"Content-Type": "application/xml", **fault.answer_headers}
    return Delivery(int(fault.how), headers, b"<Error>Planned</Error>")


def ranged(delivery: Delivery, wanted: str | None) -> Delivery:
    """The delivery cut to a `Range: bytes=FROM-` header: 206, or 416 past the end."""
    match = re.fullmatch(r"bytes=(\d+)-(\d*)", wanted or "")
    if match is None:
        return delivery
    size = stream_of(delivery.content).size
    start = int(match[1])
    if start >= size:
        delivery.status, delivery.content = 416, b""
        delivery.headers["Content-Range"] = f"bytes */{size}"
        return delivery
    stop = min(size, int(match[2]) + 1) if match[2] else size
    delivery.status, delivery.span = 206, (start, stop)
    delivery.headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
    return delivery


def _listener(answer: Responder) -> Listener:
    """On 127.0.0.2 where the machine has it (Linux, Windows), else another port of 127.0.0.1."""
    try:
        return Listener(answer, host=OTHER_LOOPBACK, name="fake storage")
    except OSError:
        return Listener(answer, name="fake storage")
