"""One command of a tool against fresh services: run here, or in a process that can be killed.

A scene says which services there are, which command runs, and what to compare afterwards. What is
done to it (a fault at request k, a signal at request k) is said by the tests, once for all tools.
"""

from __future__ import annotations

import importlib
import io
import json
import multiprocessing
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import yaml

from ciops.plumbing.http import Client
from fakes.messages import Recorded
from fakes.server import FakeServer

ROOT = Path(__file__).resolve().parents[2]
APPS = {
    "issue-triage": "ciops.triage.app",
    "pipeline-failure-report": "ciops.failures.app",
    "post-mortem-render": "ciops.postmortem.app",
}
# What a command imports late, loaded once for all children.
LATE = [
    *("requests", "jsonschema", "jinja2", "markdown_it", "ciops.forges.github"),
    *("ciops.forges.gitlab", "ciops.triage.run_work", "ciops.triage.undo"),
    *("ciops.failures.report_run", "ciops.failures.concluding", "ciops.failures.open_pr_command"),
    *("ciops.failures.merge_command", "ciops.postmortem.publish_command", "ciops.postmortem.jira"),
    *("ciops.postmortem.render_command", "ciops.postmortem.verification"),
    "ciops.postmortem.new_command",
]

Servers = tuple[FakeServer, ...]
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


@dataclass(frozen=True, slots=True)
class Command:
    """A command line and its environment."""

    arguments: list[str]
    env: dict[str, str]


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run ended and what it printed."""

    status: int | None
    said: str


def _nothing(servers: Servers, folder: Path) -> Any:
    return None


@dataclass(frozen=True, slots=True)
class Scene:
    """`state` is what the services hold afterwards, `left` what the run left in its folder.

    `check` asserts what must be true of these two even when the run was ended amid its work.
    """

    tool: str
    name: str
    open: Callable[[], Servers]
    command: Callable[[Servers, Path], Command]
    state: Callable[[Servers, Path], object]
    left: Callable[[Servers, Path], object] = _nothing
    prepare: Callable[[Servers, Path], object] = _nothing
    check: Callable[[Servers, Path], object] = _nothing

    @property
    def id(self) -> str:
        return f"{self.tool} {self.name}"

    @contextmanager
    def opened(self, folder: Path) -> Iterator[Servers]:
        """The services, prepared."""
        with ExitStack() as stack:
            servers = tuple(stack.enter_context(server) for server in self.open())
            folder.mkdir(parents=True, exist_ok=True)
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                self.prepare(servers, folder)
            yield servers

    def settled(self, servers: Servers, folder: Path) -> tuple[str, str]:
        """State and results, without the addresses that differ from fake to fake."""
        both = self.state(servers, folder), self.left(servers, folder)
        state, left = (_ADDRESS.sub("http://here", json.dumps(one, indent=1)) for one in both)
        return state, left


@dataclass(frozen=True, slots=True)
class Place:
    """A request of an undisturbed run: the `at`-th one to a server."""

    server: int
    at: int
    method: str
    operation: str

    @property
    def is_write(self) -> bool:
        return self.method != "GET"

    @property
    def is_text(self) -> bool:
        """A log: any bytes are one, so none can be told to be spoiled."""
        return self.operation.endswith(("/trace", "/logs"))

    def __str__(self) -> str:
        return f"request {self.at} to service {self.server}, {self.operation}"


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """What two runs in a row leave, and every request of the first."""

    first: Ran
    settled: tuple[str, str]
    again: Ran
    settled_again: tuple[str, str]
    places: list[Place] = field(repr=False)

    @property
    def distinct(self) -> list[Place]:
        """The first request of each kind, and every write."""
        seen: set[tuple[int, str]] = set()
        found = []
        for place in self.places:
            if place.is_write or (place.server, place.operation) not in seen:
                found.append(place)
            seen.add((place.server, place.operation))
        return found


@cache
def undisturbed(scene: Scene) -> Undisturbed:
    with TemporaryDirectory() as name, scene.opened(Path(name)) as servers:
        folder = Path(name)
        before = [len(server.requests) for server in servers]
        first = run_here(scene, servers, folder)
        places = [
            place
            for number, (server, start) in enumerate(zip(servers, before, strict=True))
            for place in _places(number, server.requests[start:])
        ]
        assert first.status == 0, first
        assert places, "it asked for nothing"
        settled = scene.settled(servers, folder)
        again = run_here(scene, servers, folder)
        return Undisturbed(first, settled, again, scene.settled(servers, folder), places)


def _places(server: int, requests: Sequence[Recorded]) -> Iterator[Place]:
    for at, request in enumerate(requests, 1):
        yield Place(server, at, request.method, request.operation)


# --- here -------------------------------------------------------------------------------------


def run_here(scene: Scene, servers: Servers, folder: Path, patience: float = 60.0) -> Ran:
    """In this process; nothing is slept, an answer is waited for `patience` seconds."""
    command = scene.command(servers, folder)
    with hurried(patience):
        return _main(scene.tool, command.arguments, command.env)


@contextmanager
def hurried(patience: float = 60.0) -> Iterator[None]:
    """Every client waits for nothing between its tries."""
    made = Client.__init__

    def make(self: Client, *given: Any, **options: Any) -> None:
        waiting = {"sleep": lambda _: None, "timeout": (10.0, patience)}
        made(self, *given, **{**options, **waiting})

    with patch.object(Client, "__init__", make):
        yield


def _main(tool: str, arguments: Sequence[str], env: Mapping[str, str]) -> Ran:
    app = importlib.import_module(APPS[tool])
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        status = app.main(list(arguments), env)
    return Ran(status, out.getvalue())


# --- in a process of its own ------------------------------------------------------------------


@cache
def _starter() -> multiprocessing.context.ForkServerContext:
    """Forks from a process that has everything loaded and neither threads nor sockets."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["faults.scenes", *APPS.values(), *LATE])
    return context


class Child:
    """A run in a process of its own, from `start` to `wait`."""

    def __init__(self, scene: Scene, servers: Servers, folder: Path) -> None:
        command = scene.command(servers, folder)
        self._log = folder / "printed.txt"
        given = (scene.tool, command.arguments, command.env, str(self._log))
        path = os.pathsep.join([str(ROOT / "scripts"), str(ROOT / "tests")])
        with patch.dict(os.environ, {"PYTHONPATH": path}):
            self._process: BaseProcess = _starter().Process(target=_child, args=given)
            self._process.start()

    def signal(self, number: int) -> None:
        os.kill(self._process.pid or 0, number)

    def wait(self) -> Ran:
        self._process.join(30)
        assert self._process.exitcode is not None, "it never ended"
        return Ran(self._process.exitcode, self._log.read_text("utf-8", "replace"))


def _child(tool: str, arguments: list[str], env: dict[str, str], log: str) -> None:
    app = importlib.import_module(APPS[tool])
    with Path(log).open("w", encoding="utf-8") as out, redirect_stdout(out), redirect_stderr(out):
        status = app.main(arguments, env)
    raise SystemExit(status)


def signalled(
    scene: Scene, servers: Servers, folder: Path, place: Place, number: int, path: str | None = None
) -> tuple[Ran, float]:
    """A run that gets a signal at a request (of a path); the seconds from the signal to its end."""
    children: list[Child] = []
    sent: list[float] = []

    def send() -> None:
        sent.append(time.monotonic())
        children[0].signal(number)

    servers[place.server].fail("call", at=place.at, callback=send, path=path)
    children.append(Child(scene, servers, folder))
    ran = children[0].wait()
    return ran, time.monotonic() - sent[0]


def broken_files(folder: Path) -> list[str]:
    """Files with a name that somebody may read, of which only a part was written."""
    return [str(path) for path in sorted(folder.rglob("[!.]*")) if not _is_whole(path)]


def _is_whole(path: Path) -> bool:
    text = path.read_text("utf-8", "replace") if path.is_file() else ""
    try:
        if path.suffix == ".json":
            json.loads(text)
        if path.suffix == ".jsonl":
            [json.loads(line) for line in text.splitlines()]
        if path.suffix == ".yml":
            yaml.safe_load(text)
    except ValueError:
        return False
    return True
