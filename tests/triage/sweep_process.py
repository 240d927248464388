"""A sweep in a process of its own, for tests that kill it. Everything it needs is loaded here."""

from __future__ import annotations

import os
from contextlib import redirect_stdout
from pathlib import Path

import requests  # noqa: F401 - the client loads it late

import ciops.forges.github
import ciops.triage.run_work
from ciops.triage.app import main
from triage.small_world import REPO, SMALL, environment

LOADED = (ciops.forges.github, ciops.triage.run_work)


def sweep(url: str, folder: str) -> None:
    """Sweep the queue of the fake at `url`; says nothing."""
    given = ["--repo", REPO, "--policy", str(SMALL), "--output", folder, "--sweep"]
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        main(["run", *given], environment(url))
