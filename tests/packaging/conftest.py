"""What packaging tests share: the suite as others get it, and its packages installed once."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci_programs.archive_server import Server, archive_of
from ci_programs.suite import SUITE_PARTS, Installed, copy_suite, start


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all workers of a run."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite as an action is downloaded: a plain folder, its path with a space in it."""
    return copy_suite(tmp_path_factory.mktemp("as others get it"), SUITE_PARTS)


@pytest.fixture(scope="session")
def installed(shared_folder: Path, suite: Path) -> Installed:
    """The packages, installed for real by the first start of the run; the others find them."""
    cache = shared_folder / "package cache"
    figures = shared_folder / "install.json"
    with (shared_folder / "install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # a second worker waits instead of installing as well
        if not figures.exists():
            began = time.monotonic()
            first = start(suite, "issue_triage", "--help", env={"TRIAGE_ACTION_CACHE": str(cache)})
            seconds = time.monotonic() - began
            assert first.returncode == 0, first.stderr
            figures.write_text(json.dumps({"cold": seconds}), encoding="utf-8")
    return Installed(cache, float(json.loads(figures.read_text(encoding="utf-8"))["cold"]))


@pytest.fixture(scope="session")
def archive(suite: Path) -> Iterator[str]:
    """The address at which the suite can be fetched, with {version} in it."""
    with Server({"/v1.tar.gz": archive_of(suite, "triage-action-v1")}) as server:
        yield f"{server.url}/{{version}}.tar.gz"
