"""The suite as its users get it, and starting it as they do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
SUITE_PARTS = (
    "action.yml",
    "pipeline-failure-report",
    "post-mortem-render",
    "config",
    "templates",
    "scripts",
    "requirements.txt",
)
SECONDS = 120  # nothing here takes ten; a hang must end


@dataclass(frozen=True, slots=True)
class Installed:
    """A package cache that is filled, and how long the first start took to fill it."""

    cache: Path
    cold_seconds: float


def copy_suite(target: Path, parts: tuple[str, ...]) -> Path:
    """The named parts of this repository in `target`, without what Python left behind."""
    ignore = shutil.ignore_patterns("__pycache__")
    for part in parts:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, target / part, ignore=ignore)
        else:
            shutil.copy(source, target / part)
    return target


def plain_environment(**more: str) -> dict[str, str]:
    """The environment without what a CI job would have set, and with this Python first in PATH."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(
            ("GITHUB_", "GITLAB_", "CI_", "INPUT_", "RUNNER_", "JIRA_", "PYTEST_")
        )
    }
    for key in ("CI", "TRIAGE_ACTION_CACHE", "DRY_RUN"):
        kept.pop(key, None)
    return {**kept, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **more}


def start(
    suite: Path, *arguments: str, env: Mapping[str, str], cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """`sh scripts/start.sh …` of a copy of the suite."""
    return run(["sh", str(suite / "scripts/start.sh"), *arguments], plain_environment(**env), cwd)


def run(
    command: list[str], env: Mapping[str, str], cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def git_repository(folder: Path, remote: str) -> Path:
    """A repository with what lies in `folder` committed; CI programs read its remote."""
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    for command in (
        ["init", "-q", "-b", "main"],
        ["remote", "add", "origin", remote],
        ["add", "-A"],
        [*identity, "commit", "-q", "-m", "as it is"],
        ["update-ref", "refs/remotes/origin/main", "HEAD"],
        ["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"],
    ):
        subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True)
    return folder
