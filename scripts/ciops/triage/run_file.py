"""`run.json`: every write of a run, in a file that is whole at every moment.

Each write is told of twice: before it is sent, and with its ids once the service has answered. So
a run that is killed in between leaves a record of what may have happened, and `undo` looks. An
entry replaces the file's last lines in a single write; nothing before it is touched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal, Self

from ciops.errors import CiopsError, UsageError
from ciops.plumbing.output_folder import make_folder, open_new
from ciops.plumbing.yaml_file import read_text, shown

SCHEMA: Final = 1
NAME: Final = "run.json"
LIMIT: Final = 64 * 1024 * 1024

Kind = Literal["comment", "labels"]
State = Literal["sent", "done"]


@dataclass(frozen=True, slots=True)
class Run:
    """Which run it is. `queue` is a label, `mode` apply, dry-run or shadow, `shard` "I/N"."""

    repo: str
    forge: str
    account: str
    policy: str
    profile: str
    queue: str
    mode: str
    shard: str
    started_at: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One write: `sent`, then `done` with what came of it.

    `labels` are those that were really added; `suggested` wait for a person.
    """

    issue: int
    kind: Kind
    state: State
    at: str
    labels: tuple[str, ...] = ()
    suggested: tuple[str, ...] = ()
    template: str = ""
    marker: str = ""
    id: int = 0
    url: str = ""


class RunFile:
    """The record of a run in its folder. An earlier run's record there is kept beside it."""

    def __init__(self, folder: Path, run: Run) -> None:
        self.path = folder / NAME
        make_folder(folder)
        _keep_earlier(self.path)
        self._file = open_new(self.path)
        head = json.dumps({"schema": SCHEMA, "tool": "issue-triage", **asdict(run)}, indent=1)
        self._file.write(f'{head.removesuffix("}").rstrip()},\n "writes": ['.encode())
        self._end = self._file.tell()
        self._entries = 0
        self._close_with(None)

    def add(self, entry: Entry) -> None:
        """One more entry, on a line of its own."""
        told = {key: value for key, value in asdict(entry).items() if value or key == "issue"}
        line = f"{',' if self._entries else ''}\n  {json.dumps(told)}".encode()
        self._put(line + _tail(None))
        self._end += len(line)
        self._entries += 1

    def finish(self, result: Mapping[str, Any]) -> None:
        """What came of the run as a whole."""
        self._close_with(result)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _close_with(self, result: Mapping[str, Any] | None) -> None:
        self._put(_tail(result))

    def _put(self, data: bytes) -> None:
        """Raises when there is no room: the file is then as it was, and the write is not sent."""
        try:
            self._end_with(data)
        except CiopsError:
            with suppress(CiopsError):
                self._end_with(_tail(None))  # which was there, so there is room for it
            raise

    def _end_with(self, data: bytes) -> None:
        self._file.seek(self._end)
        self._file.write(data)
        self._file.truncate()


def _tail(result: Mapping[str, Any] | None) -> bytes:
    return f'\n ],\n "result": {json.dumps(result)}\n}}\n'.encode()


def _keep_earlier(path: Path) -> None:
    if not path.is_file() or path.is_symlink():
        return
    try:
        earlier = read_run_file(path)
    except UsageError:
        started, wrote = "unreadable", True
    else:
        started, wrote = "".join(filter(str.isalnum, earlier.run.started_at)), bool(earlier.entries)
    if wrote:
        names = (f"run-{started}{suffix}.json" for suffix in _suffixes())
        path.replace(next(new for new in map(path.with_name, names) if not new.exists()))


def _suffixes() -> Iterator[str]:
    yield ""
    yield from (f"-{number}" for number in count(2))


def timestamp() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class Record:
    """A run file as it is read: the run, its entries, and how it ended (None: it was killed)."""

    run: Run
    entries: tuple[Entry, ...]
    result: Mapping[str, Any] | None


def read_run_file(path: Path) -> Record:
    """UsageError for what is no run file of this tool."""
    try:
        data = json.loads(read_text(path, LIMIT))
    except (ValueError, RecursionError):
        raise _not_ours(path, "is not JSON") from None
    if not isinstance(data, dict) or data.get("tool") != "issue-triage":
        raise _not_ours(path, "is no record of issue-triage")
    if data.get("schema") != SCHEMA:
        raise _not_ours(path, f"has schema {shown(data.get('schema'))}, not {SCHEMA}")
    result = data.get("result")
    try:
        run = Run(**{name: _text(data, name) for name in Run.__slots__})
        entries = tuple(_entry(item) for item in data["writes"])
    except (KeyError, TypeError, ValueError) as error:
        raise _not_ours(path, f"lacks or misstates {error}") from None
    return Record(run, entries, result if isinstance(result, dict) else None)


def _entry(item: Mapping[str, Any]) -> Entry:
    kind, state = item["kind"], item["state"]
    if kind not in ("comment", "labels") or state not in ("sent", "done"):
        raise ValueError("kind or state of a write")
    return Entry(
        issue=_whole(item, "issue"),
        kind=kind,
        state=state,
        at=_text(item, "at"),
        labels=_texts(item, "labels"),
        suggested=_texts(item, "suggested"),
        template=str(item.get("template", "")),
        marker=str(item.get("marker", "")),
        id=_whole(item, "id") if "id" in item else 0,
        url=str(item.get("url", "")),
    )


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data[key]
    if not isinstance(value, str):
        raise TypeError(key)
    return value


def _whole(data: Mapping[str, Any], key: str) -> int:
    value = data[key]
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(key)
    return value


def _texts(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value: Sequence[Any] = data.get(key, ())
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise TypeError(key)
    return tuple(value)


def _not_ours(path: Path, problem: str) -> UsageError:
    return UsageError(f"{path}: {problem}", "Name the run.json that `run` left in its folder")
