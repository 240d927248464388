"""Scan trace files on disk, plain or gzipped, in bounded memory."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ciops.errors import UsageError
from ciops.failures.knowledge import Knowledge
from ciops.failures.scan_result import ScanResult
from ciops.failures.trace import TraceReader
from ciops.plumbing.checkout import refuse_link_out

_CHUNK: Final = 256 * 1024
_GZIP: Final = b"\x1f\x8b"


def scan_file(path: Path, knowledge: Knowledge) -> ScanResult:
    """The result of one file; raises UsageError when it cannot be read."""
    reader = TraceReader(knowledge)
    for chunk in chunks(path):
        reader.feed(chunk)
    return reader.finish()


def chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, unpacked if it is gzipped (whatever its name)."""
    refuse_link_out(path)
    if path.is_dir():
        raise UsageError(f"{path}: is a directory", "Name the files in it")
    try:
        with path.open("rb") as file:
            packed = file.read(2) == _GZIP
        with gzip.open(path, "rb") if packed else path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                yield chunk
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path}: cannot be read: {reason}", "Check the file") from error
