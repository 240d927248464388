"""Run workflows under act, GitHub's runner on this machine, without a container."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ci_programs.suite import BIN, plain_environment, run

ACT = BIN / "act"


@dataclass(frozen=True, slots=True)
class ActRun:
    """What a workflow did under act: its steps' outputs and summaries, and what it printed."""

    status: int
    lines: tuple[Mapping[str, Any], ...]
    seconds: float = 0.0

    @property
    def printed(self) -> str:
        return "\n".join(str(line.get("msg", "")) for line in self.lines)

    def outputs(self, step: str) -> dict[str, str]:
        return {
            line["name"]: line.get("arg", "")
            for line in self.lines
            if line.get("command") == "set-output" and line.get("stepID") == [step]
        }

    @property
    def summary(self) -> str:
        """All summaries; a composite action's own step and the step that uses it tell the same."""
        return "".join(
            line["content"]
            for line in self.lines
            if line.get("command") == "summary" and len(line["stepID"]) > 1
        )

    @property
    def errors(self) -> list[str]:
        return [line["arg"] for line in self.lines if line.get("command") == "error"]


@dataclass(slots=True)
class Act:
    """act on a workflow in a folder of its own. `local` maps `owner/repo@ref` to a folder."""

    folder: Path
    local: Mapping[str, Path]
    env: Mapping[str, str]
    secrets: Mapping[str, str] = field(default_factory=dict)

    def run(self, event: str, payload: Mapping[str, Any], *more: str) -> ActRun:
        """The workflows of the folder on one event."""
        event_file = self.folder.parent / f"{event}.json"
        event_file.write_text(json.dumps(payload), encoding="utf-8")
        command = [str(ACT), event, "--json", "--no-cache-server", "-e", str(event_file)]
        for label in ("ubuntu-24.04", "ubuntu-latest"):
            command += ["-P", f"{label}=-self-hosted"]
        for reference, folder in self.local.items():
            command += ["--local-repository", f"{reference}={folder}"]
        for option, pairs in (("--env", self.env), ("-s", self.secrets)):
            command += [part for key, value in pairs.items() for part in (option, f"{key}={value}")]
        home = self.folder.parent / "home"
        environment = plain_environment(HOME=str(home), XDG_CACHE_HOME=str(home / "cache"))
        began = time.monotonic()
        done = run([*command, *more], environment, self.folder)
        lines = tuple(_json_lines(done.stdout + done.stderr))
        return ActRun(done.returncode, lines, time.monotonic() - began)


def _json_lines(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        try:
            parsed = json.loads(line)
        except ValueError:
            parsed = {"msg": line}
        yield parsed if isinstance(parsed, dict) else {"msg": line}
