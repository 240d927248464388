"""Streams: bounded, resumed where they broke, and without the token in storage."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import threading
import tracemalloc
from collections.abc import Callable

import pytest

from ciops.plumbing.http import (
    Client,
    ForbiddenError,
    NotFoundError,
    RateLimitedError,
    UnavailableError,
)
from plumbing.conftest import Answer, Asked, Clock, Server

DATA = bytes(range(256)) * 8_000  # 2 MB
TEXT = {"Content-Type": "text/plain"}


def first_byte(asked: Asked) -> int | None:
    match = re.fullmatch(r"bytes=(\d+)-", asked.headers.get("range", ""))
    return int(match.group(1)) if match else None


def part(data: bytes, start: int) -> Answer:
    span = f"bytes {start}-{len(data) - 1}/{len(data)}"
    return Answer(data[start:], 206, {**TEXT, "Content-Range": span})


class Storage:
    """Sends at most `burst` bytes a connection, with or without Range."""

    def __init__(self, data: bytes, burst: int, ranges: bool = True, etag: str = "") -> None:
        self.data, self.burst, self.ranges, self.etag = data, burst, ranges, etag

    def __call__(self, asked: Asked) -> Answer:
        start = first_byte(asked) or 0
        headers = {**TEXT, "ETag": self.etag} if self.etag else dict(TEXT)
        current = asked.headers.get("if-range", self.etag) == self.etag
        if start >= len(self.data) and self.ranges and start:
            return Answer(b"", 416, headers)
        if not (start and self.ranges and current):
            body, status, start = self.data, 200, 0
        else:
            body, status = self.data[start:], 206
            headers["Content-Range"] = f"bytes {start}-{len(self.data) - 1}/{len(self.data)}"
        return Answer(body[: self.burst], status, headers, length=len(body))


def read(client: Client, path: str = "/trace", offset: int = 0) -> bytes:
    with client.download(path, offset) as body:
        return b"".join(body)


def test_a_body_in_bounded_chunks(server: Server, client: Client) -> None:
    server.script(Answer(DATA, headers=TEXT))
    with client.download("/trace") as body:
        chunks = list(body)
        assert (body.status, body.headers["Content-Type"]) == (200, "text/plain")
    assert b"".join(chunks) == DATA
    assert max(map(len, chunks)) <= 256 * 1024
    assert server.asked[0].headers["accept-encoding"] == "identity"
    assert "range" not in server.asked[0].headers


@pytest.mark.parametrize("status", [200, 204])
def test_an_empty_body(server: Server, client: Client, status: int) -> None:
    server.script(Answer(b"", status, TEXT))
    assert read(client) == b""


def test_a_cut_body_is_resumed_by_range(server: Server, client: Client, log: list[str]) -> None:
    server.handler = Storage(DATA, burst=700_000)
    assert read(client) == DATA
    starts = [first_byte(asked) for asked in server.asked]
    assert starts[0] is None
    assert len(starts) == 3
    assert "the download was cut short after 700,000 bytes" in log[0]


def test_without_ranges_what_was_seen_is_skipped(server: Server, client: Client) -> None:
    server.script(
        Answer(DATA[:700_001], headers=TEXT, length=len(DATA)),
        Answer(DATA[:1_400_000], headers=TEXT, length=len(DATA)),
        Answer(DATA, headers=TEXT),
    )
    assert read(client) == DATA


def test_a_body_that_changed_is_taken_from_its_start(server: Server, client: Client) -> None:
    """The bytes already handed on are skipped, so the whole has the length of the new one."""
    storage = Storage(DATA, burst=700_000, etag='"one"')
    new = DATA[::-1]

    def answer(asked: Asked) -> Answer:
        reply = storage(asked)
        storage.data, storage.etag, storage.burst = new, '"two"', len(new)
        return reply

    server.handler = answer
    assert read(client) == DATA[:700_000] + new[700_000:]
    assert server.asked[1].headers["if-range"] == '"one"'


def test_a_weak_tag_is_not_used(server: Server, client: Client) -> None:
    server.script(
        Answer(DATA[:9], headers={**TEXT, "ETag": 'W/"1"'}, length=len(DATA)), part(DATA, 9)
    )
    assert read(client) == DATA
    assert "if-range" not in server.asked[1].headers


def test_a_server_that_resumes_at_the_wrong_place(server: Server, client: Client) -> None:
    """Further back is skipped, further on would leave a hole."""
    cut = Answer(DATA[:1000], headers=TEXT, length=len(DATA))
    server.script(cut, part(DATA, 400))
    assert read(client) == DATA
    server.script(cut, part(DATA, 2000))
    with pytest.raises(UnavailableError, match="the server left out bytes"):
        read(client)


@pytest.mark.parametrize(
    "answer",
    [part(DATA, 5), Answer(DATA, headers=TEXT)],
    ids=["by range", "from the start"],
)
def test_an_offset(server: Server, client: Client, answer: Answer) -> None:
    server.script(answer)
    assert read(client, offset=5) == DATA[5:]
    assert first_byte(server.asked[0]) == 5


def test_an_offset_behind_the_end(server: Server, client: Client) -> None:
    server.script(Answer(b"", 416, TEXT))
    with client.download("/trace", 10) as body:
        assert list(body) == []
        assert body.status == 416


def test_a_cut_at_the_very_end(server: Server, client: Client) -> None:
    server.script(Answer(DATA, headers=TEXT, length=len(DATA) + 1), Answer(b"", 416, TEXT))
    assert read(client) == DATA


def test_no_progress_is_given_up(server: Server, client: Client, clock: Clock) -> None:
    server.handler = Storage(DATA, burst=10)
    with pytest.raises(UnavailableError, match="the download was cut short after 50 bytes"):
        read(client)
    assert len(server.asked) == 5


def test_progress_earns_new_tries(server: Server, client: Client) -> None:
    data = DATA * 5
    server.handler = Storage(data, burst=1_100_000)
    assert hashlib.sha256(read(client)).digest() == hashlib.sha256(data).digest()
    assert len(server.asked) == 10


@pytest.mark.parametrize(
    "bad",
    [
        Answer(b"{}", 500),
        Answer(b"{}", 429, {"Retry-After": "3"}),
        Answer(reset="before"),
        Answer(b"<html>", 502),
    ],
    ids=["500", "429", "reset", "502"],
)
@pytest.mark.parametrize("at", [0, 1])
def test_failures_at_the_start_and_while_resuming(
    server: Server, client: Client, bad: Answer, at: int
) -> None:
    cut = Answer(DATA[:1000], headers=TEXT, length=len(DATA))
    server.script(*([bad, cut, part(DATA, 1000)] if at == 0 else [cut, bad, part(DATA, 1000)]))
    assert read(client) == DATA


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(b'{"message": "404 Not found"}', 404), NotFoundError),
        (Answer(b'{"message": "no"}', 403), ForbiddenError),
        (Answer(b"{}", 429, {"Retry-After": "9999"}), RateLimitedError),
        (Answer(b"{}", 500), UnavailableError),
    ],
    ids=["404", "403", "429", "500"],
)
def test_a_body_that_cannot_be_had(
    server: Server, client: Client, answer: Answer, kind: type[Exception]
) -> None:
    server.script(answer)
    with pytest.raises(kind):
        read(client)


def test_storage_never_sees_the_token_and_signed_addresses_are_asked_anew(
    make_server: Callable[[], Server], client_of: Callable[..., Client]
) -> None:
    api, storage = make_server(), make_server()
    count = iter(range(100))
    api.handler = lambda _: Answer(
        b"", 302, {"Location": f"http://localhost:{storage.port}/s?sig={next(count)}"}
    )
    storage.handler = Storage(DATA, burst=900_000)
    assert read(client_of(api.url, headers={"PRIVATE-TOKEN": "s3cret"})) == DATA
    assert [asked.path for asked in storage.asked] == ["/s?sig=0", "/s?sig=1", "/s?sig=2"]
    assert "s3cret" not in repr(storage.asked)
    assert first_byte(storage.asked[1]) == 900_000


def test_leaving_early_closes_the_connection(server: Server, client: Client) -> None:
    server.script(Answer(DATA, headers=TEXT))
    with client.download("/trace") as body:
        assert next(iter(body))
    assert read(client) == DATA


def test_memory_is_flat(server: Server, client: Client) -> None:
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    chunked = {**TEXT, "Transfer-Encoding": "chunked"}
    server.script(Answer(chunk * 1000 + b"0\r\n\r\n", headers=chunked))
    size = 0
    tracemalloc.start()
    try:
        with client.download("/trace") as body:
            for piece in body:
                if not size:
                    tracemalloc.reset_peak()
                    before = tracemalloc.get_traced_memory()[0]
                size += len(piece)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size == 65_536_000
    assert peak - before < 4_000_000


def test_a_packed_body_is_unpacked_and_never_resumed_by_range(
    server: Server, client: Client
) -> None:
    packed = gzip.compress(DATA[:300_000] + os.urandom(300_000))
    headers = {**TEXT, "Content-Encoding": "gzip"}
    server.script(
        Answer(packed[:200_000], headers=headers, length=len(packed)),
        Answer(packed, headers=headers),
    )
    assert read(client) == gzip.decompress(packed)
    assert "range" not in server.asked[1].headers


def test_a_packed_part_is_asked_for_as_a_whole(server: Server, client: Client) -> None:
    packed = gzip.compress(DATA)
    headers = {**TEXT, "Content-Encoding": "gzip"}
    server.script(
        Answer(packed[5:], 206, {**headers, "Content-Range": f"bytes 5-9/{len(packed)}"}),
        Answer(packed, headers=headers),
    )
    assert read(client, offset=5) == DATA[5:]
    assert "range" not in server.asked[1].headers


def test_many_downloads_at_once(server: Server, client: Client) -> None:
    """Every one of them cut, on one client."""

    def answer(asked: Asked) -> Answer:
        name = asked.path.removeprefix("/")
        return Storage(name.encode() * 40_000, burst=60_000)(asked)

    server.handler = answer
    found: dict[str, bytes] = {}

    def fetch(name: str) -> None:
        found[name] = read(client, f"/{name}")

    names = [f"job{number}" for number in range(12)]
    threads = [threading.Thread(target=fetch, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {name: name.encode() * 40_000 for name in names}
