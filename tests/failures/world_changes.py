"""Changes of a world after which every failure is still the same failure.

Each takes the bytes of a trace (and what it needs to stay consistent) and returns other bytes with
as many lines, so the labels of a world hold for the changed one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence

_HOST = re.compile(rb"\bpool\d+-\d+\b")
_RANK_PREFIX = re.compile(rb"((?:^|[\r\n])(?:\d{4}-\S+Z \d\d[OE][ +])?)(\d)(: )")
_RANK_TAG = re.compile(rb"(\[rank|\[RANK |on rank )(\d)")
_STAMPED = re.compile(rb"^\d{4}-\d\d-\d\dT[\d:.]+Z \d\d[OE][ +]")
_PATHS = (
    (b"/usr/local/lib/python3.12/dist-packages", b"/opt/venvs/run/lib/python3.11/site-packages"),
    (b"/usr/lib/python3.12", b"/opt/python/lib/python3.11"),
    (b"/workspace/autodeploy-dashboard", b"/srv/checkouts/7/autodeploy-dashboard"),
    (b"/hf_hub_cache", b"/mnt/share/hub"),
    (b"/opt/jet", b"/srv/tools/jet"),
)


def new_names(models: Sequence[str]) -> dict[str, str]:
    """Another name for each model, and for the part of it after the slash."""
    names = {}
    for model in models:
        digest = hashlib.sha256(model.encode()).hexdigest()
        owner, name = f"lab{digest[:3]}", f"Quasar{digest[3]}-{int(digest[4:6], 16)}b-{digest[6:9]}"
        names[model] = f"{owner}/{name}"
        names[model.rpartition("/")[2]] = name
        names[model.replace("/", "--")] = f"{owner}--{name}"
    return names


def rename(names: Mapping[str, str]) -> Callable[[bytes], bytes]:
    """Every model, path, host and rank gets another name, the same one everywhere."""
    ordered = sorted(names, key=len, reverse=True)

    def change(trace: bytes) -> bytes:
        for name in ordered:
            trace = trace.replace(name.encode(), names[name].encode())
        for old, new in _PATHS:
            trace = trace.replace(old, new)
        trace = _HOST.sub(_other_host, trace)
        trace = _RANK_PREFIX.sub(lambda m: m[1] + _other_rank(m[2]) + m[3], trace)
        return _RANK_TAG.sub(lambda m: m[1] + _other_rank(m[2]), trace)

    return change


def _other_host(match: re.Match[bytes]) -> bytes:
    digest = hashlib.sha256(match[0]).hexdigest()
    return f"{('onyx', 'quartz', 'basalt')[int(digest[0], 16) % 3]}-{int(digest[1:4], 16)}".encode()


def _other_rank(rank: bytes) -> bytes:
    return str((int(rank) * 3 + 5) % 8).encode()


def with_crlf(trace: bytes) -> bytes:
    """Lines that end as on Windows."""
    return trace.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def timestamped(trace: bytes) -> bytes:
    """A plain trace as a runner with timestamps would have written it."""
    lines = trace.split(b"\n")
    if not trace or any(_STAMPED.match(line) for line in lines[:50]):
        return trace
    return b"\n".join(_stamp(number, line) for number, line in enumerate(lines))


def _stamp(number: int, line: bytes) -> bytes:
    stream = b"00O" if b"section_" in line else b"01E" if number % 2 else b"01O"
    time = f"2026-05-04T10:{number // 3600 % 60:02}:{number // 60 % 60:02}.{number % 60:06}Z "
    return time.encode() + stream + b" " + line


def in_another_logger(trace: bytes) -> bytes:
    """Every line under one more prefix, as mpirun tags its output."""
    return b"\n".join(_tag(line) for line in trace.split(b"\n"))


def _tag(line: bytes) -> bytes:
    if not line or b"section_" in line or _STAMPED.match(line) or line.startswith(b"\x1b"):
        return line
    match = re.match(rb"(\d): ", line)
    if match is None:
        return line
    return b"[1," + match[1] + b"]<stderr>:" + line[match.end() :]
