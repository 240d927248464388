"""Bodies sent in pieces: from memory, from a file, or made up on the way.

A trace of 4 MB or of 1 GB is never copied whole, and all connections of a
server can share one bandwidth.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

CHUNK = 64 * 1024


class Stream(Protocol):
    """Bytes of a known size that can be read from any offset."""

    @property
    def size(self) -> int: ...

    def chunks(self, start: int, stop: int) -> Iterator[bytes | memoryview]:
        """The bytes from `start` up to `stop`, in pieces of at most 64 KiB."""
        ...


@dataclass(frozen=True, slots=True)
class InMemory:
    """A body held in memory; slices of it are views, not copies."""

    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    def chunks(self, start: int, stop: int) -> Iterator[memoryview]:
        view = memoryview(self.data)
        for offset in range(start, stop, CHUNK):
            yield view[offset : min(offset + CHUNK, stop)]


@dataclass(frozen=True, slots=True)
class OnDisk:
    """A file, read while it is sent."""

    path: Path

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def chunks(self, start: int, stop: int) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            file.seek(start)
            while start < stop and (piece := file.read(min(CHUNK, stop - start))):
                start += len(piece)
                yield piece


@dataclass(frozen=True, slots=True)
class Repeated:
    """`block` over and over, `times` times: a huge trace that costs no memory."""

    block: bytes
    times: int

    @property
    def size(self) -> int:
        return len(self.block) * self.times

    def chunks(self, start: int, stop: int) -> Iterator[memoryview]:
        row = memoryview(self.block * (CHUNK // len(self.block) + 2))
        while start < stop:
            offset = start % len(self.block)
            piece = row[offset : offset + min(CHUNK, stop - start)]
            start += len(piece)
            yield piece


Content = bytes | str | Path | Stream


def stream_of(content: Content) -> Stream:
    """Whatever a test hands over, as a stream."""
    if isinstance(content, str):
        return InMemory(content.encode())
    if isinstance(content, bytes):
        return InMemory(content)
    return OnDisk(content) if isinstance(content, Path) else content


class Bandwidth:
    """Bytes a second that all connections share. Without a limit it never waits."""

    def __init__(self, bytes_per_second: float | None = None) -> None:
        self.bytes_per_second = bytes_per_second
        self._lock = threading.Lock()
        self._free_at = 0.0

    def wait_for(self, size: int, closing: threading.Event) -> None:
        """Returns when `size` more bytes may go out, or at once when the server closes."""
        if self.bytes_per_second is None:
            return
        with self._lock:
            now = time.monotonic()
            self._free_at = max(self._free_at, now) + size / self.bytes_per_second
            wait = self._free_at - now
        if wait > 0.005:  # shorter sleeps cost more than they are worth
            closing.wait(wait)
