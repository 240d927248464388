"""Object storage on another loopback host: what job logs and traces are redirected to.

It asks for no token and remembers the headers it got, so that a test can see
whether a token followed the redirect.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from fakes.streams import Content, stream_of
from fakes.wire import Delivery, Incoming, Listener

OTHER_LOOPBACK = "127.0.0.2"


class ObjectStorage:
    """Serves what was `put`; `received` holds the headers of every request."""

    def __init__(self) -> None:
        self.received: list[Mapping[str, str]] = []
        self.supports_range = True
        self._objects: dict[str, Content] = {}
        self.listener = _listener(self._answer)
        self.origin = self.listener.origin

    @property
    def seen_secrets(self) -> set[str]:
        """Header names that could carry a token, among all that arrived."""
        secret = {"authorization", "private-token", "job-token", "cookie"}
        return {name for headers in self.received for name in headers if name in secret}

    def put(self, path: str, content: Content) -> str:
        """Stores an object; its signed URL."""
        self._objects[path] = content
        return f"{self.origin}{path}?X-Signature=fake"

    def start(self) -> None:
        self.listener.start()

    def close(self) -> None:
        self.listener.close()

    def _answer(self, request: Incoming) -> Delivery:
        self.received.append(request.headers)
        content = self._objects.get(request.path)
        if content is None or request.method != "GET":
            return Delivery(404, {"Content-Type": "application/xml"}, b"<Error>NoSuchKey</Error>")
        wanted = request.headers.get("range") if self.supports_range else None
        return ranged(Delivery(200, {"Content-Type": "text/plain"}, content, paced=True), wanted)


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


def _listener(answer: object) -> Listener:
    """On 127.0.0.2 where the machine has it (Linux, Windows), else another port of 127.0.0.1."""
    try:
        return Listener(answer, host=OTHER_LOOPBACK, name="fake storage")  # type: ignore[arg-type]
    except OSError:
        return Listener(answer, name="fake storage")  # type: ignore[arg-type]
