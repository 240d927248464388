"""A small queue on a fake forge, and runs of issue-triage on it.

The policy is `tests/data/triage/small-policy.yml`: its words decide plainly. Import it as
`from triage.small_world import …`; `tests/` is on the path.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ciops.triage import app, run_command
from ciops.triage.interruption import Interruption
from ciops.triage.policy import Policy
from ciops.triage.policy_file import load_policy
from fakes.github import FakeGitHub

ROOT = Path(__file__).resolve().parents[2]
SMALL = ROOT / "tests" / "data" / "triage" / "small-policy.yml"
REPO = "shelf/shelfd"
QUEUE = "queue: storage"
BOT = "shelf-bot[bot]"

# What the small policy makes of a text.
TO_DISK = {"title": "PlatterError on start", "body": "It fails."}
TO_APP = {"title": "CacheError", "body": "run these steps"}
NO_STEPS = {"title": "CacheError", "body": "It fails."}
UNCLEAR = {"title": "It fails", "body": "no more words"}
ELSEWHERE = {"title": "It fails on my toaster", "body": ""}
URGENT = {"title": "CacheError lost every file", "body": "run these steps"}
FASTER = {"title": "make it faster please", "body": "CacheError"}


@cache
def small_policy() -> Policy:
    return load_policy(SMALL)


def all_labels(profile: str = "shared") -> list[str]:
    policy = small_policy()
    return sorted(policy.allowed_labels(policy.profiles[profile]))


def issue(number: int, text: Mapping[str, str], **fields: Any) -> dict[str, Any]:
    """An issue of the queue; `labels` are further ones, `comments` and `timeline` its own."""
    apart = {key: fields.pop(key) for key in ("comments", "timeline") if key in fields}
    labels = [QUEUE, *fields.pop("labels", ())]
    given = {"number": number, "user": "reporter", "labels": labels, **text, **fields}
    return {"issue": given, **apart}


def comment(body: str, by: str = "alice", **fields: Any) -> dict[str, Any]:
    return {"body": body, "user": by, **fields}


def label_event(label: str, by: str, *, event: str = "labeled", at: str = "") -> dict[str, Any]:
    when = at or "2025-01-02T00:00:00Z"
    return {"event": event, "label": {"name": label}, "actor": by, "created_at": when}


def forge_with(*issues: Mapping[str, Any], **options: Any) -> FakeGitHub:
    """A fake GitHub whose repository has every label of the small policy."""
    return FakeGitHub(REPO, issues, **{"labels": all_labels(), **options})


class Hurried(Interruption):
    """Waits for nothing, and remembers for how long it was to wait."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.check()
        self.waits.append(seconds)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run left: exit status, what it said, its folder."""

    status: int
    said: str
    folder: Path
    waits: tuple[float, ...] = ()

    @property
    def summary(self) -> str:
        return (self.folder / "summary.md").read_text(encoding="utf-8")

    @property
    def record(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        return data

    @property
    def decisions(self) -> list[dict[str, Any]]:
        lines = (self.folder / "decisions.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]


def environment(url: str, **more: str) -> dict[str, str]:
    return {"GITHUB_API_URL": url, "GITHUB_TOKEN": "secret-token-of-the-test", **more}


def run(
    forge: FakeGitHub, folder: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> Ran:
    """`run` with the small policy, without waiting for anything."""
    given = ["--repo", REPO, "--policy", str(SMALL), "--output", str(folder), *arguments]
    return command(forge, folder, ["run", *given], env)


def command(
    forge: FakeGitHub, folder: Path, arguments: Iterable[str], env: Mapping[str, str] | None = None
) -> Ran:
    """Any command, as the entry script runs it; nothing in `run` waits."""
    name, *rest = arguments
    hurried = Hurried()
    environ = {**environment(forge.url), **(env or {})}
    out = io.StringIO()
    hurrying = {"run": lambda given, env: run_command.main(given, env, hurried)}
    with redirect_stdout(out), redirect_stderr(out):
        status = app.main([name, *rest], environ, {**app.COMMANDS, **hurrying})
    return Ran(status, out.getvalue(), folder, tuple(hurried.waits))
