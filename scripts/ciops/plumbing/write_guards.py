"""What keeps a run from writing, whichever tool it is of: a switch, and files of strangers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ciops.errors import RefusedError
from ciops.plumbing.command_line import NO

KILL_SWITCH: Final = "DRY_RUN"
PROPOSALS: Final = frozenset(
    {"pull_request", "pull_request_target", "merge_request_event", "external_pull_request_event"}
)


def held_back(env: Mapping[str, str]) -> bool:
    """Whether the switch is set: whatever it is set to stops all writing, unless that says no."""
    return env.get(KILL_SWITCH, "").strip().casefold() not in NO


def refuse_strangers_file(what: str, file: Path, env: Mapping[str, str], own: Path | None) -> None:
    """RefusedError where a run that writes would go by a file that a pull request may bring.

    Files below the folder `own` are the suite's.
    """
    event = env.get("GITHUB_EVENT_NAME", "") or env.get("CI_PIPELINE_SOURCE", "")
    if event in PROPOSALS and not (own and file.resolve().is_relative_to(own)):
        raise RefusedError(
            f"the {what} {file} may be the pull request's own, and this run would write",
            "Run it on another event, on a schedule or by hand, or with --dry-run",
        )
