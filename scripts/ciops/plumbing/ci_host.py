"""Where the tool runs: GitHub Actions, GitLab CI or a terminal, behind one set of calls.

What is printed here may come from issues and traces. It is cleaned of control sequences, known
secrets are replaced, and no line of it is taken for a workflow command:

- GitHub reads `::command::` at the start of a line and `##[command]` anywhere in one
  (https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs). Text that
  holds either is printed between `::stop-commands::` and its random token, so it stays as it is.
- GitLab reads section marks, which need control characters.

Limits kept on GitHub: a summary of 1 MiB a step (more is dropped as a whole), ten annotations of
each kind a step (https://docs.github.com/en/actions/reference/workflows-and-actions).
"""

from __future__ import annotations

import json
import re
import secrets
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

from ciops.errors import UsageError
from ciops.plumbing._inert_text import clean_text
from ciops.plumbing._markdown_cut import SUMMARY_LIMIT, SUMMARY_NOTE, cut_markdown
from ciops.plumbing.output_folder import append, make_folder, unwritable
from ciops.plumbing.yaml_file import read_text, shown

__all__ = [
    "SUMMARY_LIMIT",
    "SUMMARY_NOTE",
    "CiHost",
    "Event",
    "GitHubActions",
    "GitLabCi",
    "cut_markdown",
    "detect",
]

EVENT_LIMIT: Final = 32 * 1024 * 1024
ANNOTATIONS_A_KIND: Final = 10
PROGRESS_SECONDS: Final = 10.0

_COMMAND: Final = re.compile(r"^\s*::|##\[", re.MULTILINE)
_STYLES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}


@dataclass(frozen=True, slots=True)
class Event:
    """What started the run: the host's event name and its JSON payload."""

    name: str
    payload: dict[str, Any]


def detect(
    env: Mapping[str, str],
    folder: Path = Path("out"),
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> CiHost:
    """The host that `env` speaks of. `folder` takes what a host has no place of its own for."""
    out = out or sys.stdout
    if env.get("GITHUB_ACTIONS") == "true":
        return GitHubActions(env, folder, out, out)  # one stream, so that lines keep their order
    if env.get("GITLAB_CI") == "true":
        return GitLabCi(env, folder, out, out)
    return CiHost(env, folder, out, err or sys.stderr)


class CiHost:
    """A terminal; the CI hosts differ in what they override. Safe in several threads."""

    name = "terminal"

    def __init__(self, env: Mapping[str, str], folder: Path, out: TextIO, err: TextIO) -> None:
        self.env = env
        self.folder = folder
        self._out = out
        self._err = err
        self._lock = threading.RLock()
        self._secrets: list[str] = []
        self._progress_at = 0.0
        self._annotations: dict[str, int] = {}
        self._sections = 0
        for stream in (out, err):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")

    def inputs(self) -> dict[str, str]:
        """The `INPUT_<NAME>` variables that are set, by option name (INPUT_DRY_RUN: dry-run)."""
        return {
            key.removeprefix("INPUT_").lower().replace("_", "-"): value.strip()
            for key, value in self.env.items()
            if key.startswith("INPUT_") and value.strip()
        }

    def event(self) -> Event | None:
        """The event that started the run; None when a person did. UsageError: unreadable."""
        return None

    def mask(self, secret: str) -> None:
        """Never show `secret`, nor a line of it, in anything that goes through this object."""
        self._secrets += _lines_of(secret)
        self._secrets.sort(key=len, reverse=True)

    def say(self, text: str, style: str = "") -> None:
        """Print text for a person; `style` (bold, dim, red, green, yellow) on a terminal only."""
        self._print(self._out, self._painted(self.safe(text), style, self._out))

    def notice(self, message: str, file: str | None = None, line: int | None = None) -> None:
        self._annotate("notice", message, file, line)

    def warning(self, message: str, file: str | None = None, line: int | None = None) -> None:
        self._annotate("warning", message, file, line)

    def error(self, message: str, file: str | None = None, line: int | None = None) -> None:
        self._annotate("error", message, file, line)

    @contextmanager
    def group(self, title: str) -> Iterator[None]:
        """Fold what is printed inside, where the host can."""
        self.say(title, "bold")
        yield

    def progress(self, what: str, done: int, total: int) -> None:
        """How far long work is: a line that overwrites itself, or in a log one now and then."""
        text = f"{self.safe(what)} {done}/{total}"
        if self._err.isatty():
            ending = "\n" if done >= total else ""
            with self._lock:
                self._err.write(f"\r\x1b[K{text}{ending}")
                self._err.flush()
            return
        now = time.monotonic()
        if done >= total or now - self._progress_at >= PROGRESS_SECONDS:
            self._progress_at = now
            self._print(self._err, text)

    def summary(self, markdown: str, note: str = SUMMARY_NOTE) -> None:  # noqa: ARG002
        """Add to the run's summary: `summary.md` in the folder where the host has none.

        `note` tells of a cut; its `{left}` and `{limit}` are bytes.
        """
        self._keep("summary.md", self._hidden(markdown).rstrip("\n") + "\n\n")

    def output(self, name: str, value: str) -> None:
        """Hand a value to later steps or jobs; a terminal has none."""

    def safe(self, text: str) -> str:
        """Text without control sequences and without the masked secrets."""
        return self._hidden(clean_text(text))

    def _hidden(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def _annotate(self, kind: str, message: str, file: str | None, line: int | None) -> None:
        place = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        style = {"warning": "yellow", "error": "red"}.get(kind, "")
        text = self.safe(f"{kind}: {place}{message}")
        self._print(self._err, self._painted(text, style, self._err))

    def _painted(self, text: str, style: str, stream: TextIO) -> str:
        plain = not style or self.env.get("NO_COLOR") or not stream.isatty()
        return text if plain else f"\x1b[{_STYLES[style]}m{text}\x1b[0m"

    def _print(self, stream: TextIO, text: str) -> None:
        with self._lock:
            stream.write(text + "\n")
            stream.flush()

    def _keep(self, name: str, text: str) -> None:
        """Add to a file of the folder."""
        with self._lock:
            make_folder(self.folder)
            append(self.folder / name, text.encode("utf-8", errors="replace"))


class GitHubActions(CiHost):
    """GitHub Actions, or a local runner that speaks its commands."""

    name = "github"

    def event(self) -> Event | None:
        name = self.env.get("GITHUB_EVENT_NAME", "")
        path = self.env.get("GITHUB_EVENT_PATH", "")
        return Event(name, _payload(path, "GITHUB_EVENT_PATH") if path else {}) if name else None

    def mask(self, secret: str) -> None:
        super().mask(secret)
        for line in _lines_of(secret):
            self._command("add-mask", line)

    def summary(self, markdown: str, note: str = SUMMARY_NOTE) -> None:
        path = self.env.get("GITHUB_STEP_SUMMARY", "")
        if not path:
            super().summary(markdown, note)
            return
        with self._lock:
            file = Path(path)
            used = file.stat().st_size if file.exists() else 0
            text = self._hidden(markdown).rstrip("\n") + "\n\n"
            _hand_over(file, cut_markdown(text, SUMMARY_LIMIT - used, note))

    def output(self, name: str, value: str) -> None:
        path = self.env.get("GITHUB_OUTPUT", "")
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", name):
            raise UsageError(f"output name {shown(name)} is not letters, digits, - and _")
        if path:
            value = self.safe(value)
            while (delimiter := f"end-of-{name}-{secrets.token_hex(16)}") in value:
                pass
            _hand_over(Path(path), f"{name}<<{delimiter}\n{value}\n{delimiter}\n")

    @contextmanager
    def group(self, title: str) -> Iterator[None]:
        self._command("group", title)
        try:
            yield
        finally:
            self._command("endgroup", "")

    def _annotate(self, kind: str, message: str, file: str | None, line: int | None) -> None:
        with self._lock:
            count = self._annotations[kind] = self._annotations.get(kind, 0) + 1
        if count > ANNOTATIONS_A_KIND:
            super()._annotate(kind, message, file, line)
            return
        places = {"file": file, "line": line}
        self._command(kind, message, {k: str(v) for k, v in places.items() if v is not None})

    def _command(
        self, command: str, data: str, properties: Mapping[str, str] | None = None
    ) -> None:
        data = data if command == "add-mask" else self.safe(data)
        pairs = (properties or {}).items()
        names = ",".join(f"{key}={_escape_property(self.safe(value))}" for key, value in pairs)
        line = f"::{command}{' ' + names if names else ''}::{_escape_data(data)}"
        super()._print(self._out, line)

    def _print(self, stream: TextIO, text: str) -> None:
        if _COMMAND.search(text):
            token = secrets.token_hex(16)
            text = f"::stop-commands::{token}\n{text}\n::{token}::"
        super()._print(stream, text)


def _lines_of(secret: str) -> list[str]:
    """Its lines as they are used: a token is sent without the space around it."""
    return [line.strip() for line in secret.splitlines() if line.strip()]


def _hand_over(path: Path, text: str) -> None:
    """Add to a file that the runner gave, in one write."""
    try:
        with path.open("ab") as file:
            file.write(text.encode("utf-8", errors="replace"))
    except OSError as error:
        raise unwritable(path, error) from None


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")


class GitLabCi(CiHost):
    """GitLab CI: folding sections, a dotenv file for outputs (`outputs.env` in the folder)."""

    name = "gitlab"

    def event(self) -> Event | None:
        """A webhook that triggered the pipeline (its body is the file variable TRIGGER_PAYLOAD)."""
        source = self.env.get("CI_PIPELINE_SOURCE", "")
        path = self.env.get("TRIGGER_PAYLOAD", "")
        if not path:
            return Event(source, {}) if source == "schedule" else None
        payload = _payload(path, "TRIGGER_PAYLOAD")
        kind = payload.get("object_kind")
        return Event(kind if isinstance(kind, str) else source, payload)

    def output(self, name: str, value: str) -> None:
        """One line of a dotenv report, which has no line breaks: they become spaces."""
        key = re.sub(r"[^A-Za-z0-9_]", "_", name).upper()
        self._keep("outputs.env", f"{key}={' '.join(self.safe(value).split())}\n")

    @contextmanager
    def group(self, title: str) -> Iterator[None]:
        """https://docs.gitlab.com/ci/jobs/job_logs/#custom-collapsible-sections"""
        with self._lock:
            self._sections += 1
            section = f"ciops_{self._sections}"
        heading = self.safe(title).replace("\n", " ")
        start = f"\x1b[0Ksection_start:{int(time.time())}:{section}[collapsed=true]\r\x1b[0K"
        self._print(self._out, start + heading)
        try:
            yield
        finally:
            self._print(self._out, f"\x1b[0Ksection_end:{int(time.time())}:{section}\r\x1b[0K")


def _payload(path: str, variable: str) -> dict[str, Any]:
    instead = "Name the issue or pipeline by an option instead"
    try:
        payload = json.loads(read_text(path, EVENT_LIMIT))
    except UsageError as error:
        raise UsageError(f"{variable}: the event file {error.problem}", instead) from None
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        problem = f"{variable}: the event file {shown(path)} is not JSON{where}"
        raise UsageError(problem, instead) from None
    if not isinstance(payload, dict):
        problem = f"{variable}: the event file {shown(path)} holds no JSON object"
        raise UsageError(problem, instead)
    return payload
