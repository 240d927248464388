"""`make demo` on a machine that has Python and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

from ci_programs.suite import ROOT, Installed, plain_environment, run

NO_PACKAGES = ["-I", "-S"]  # neither those of a virtual environment nor the user's


def test_it_needs_the_packages_of_the_tools_alone(installed: Installed, tmp_path: Path) -> None:
    demo = [sys.executable, *NO_PACKAGES, str(ROOT / "examples/demo.py")]
    env = plain_environment(TRIAGE_ACTION_CACHE=str(installed.cache))
    done = run(demo, env, tmp_path)
    assert done.returncode == 0, done.stderr
    places = done.stdout.partition("=== Where to look ===")[2].split("\n")
    named = [line.split()[0] for line in places if line.startswith("  ")]
    assert len(named) == 6
    assert all((tmp_path / name).is_file() for name in named)


def test_a_job_that_there_is_not(installed: Installed, tmp_path: Path) -> None:
    demo = [sys.executable, *NO_PACKAGES, str(ROOT / "examples/demo.py"), "issue-triaje"]
    env = plain_environment(TRIAGE_ACTION_CACHE=str(installed.cache))
    done = run(demo, env, tmp_path)
    assert done.returncode == 2
    assert "There is no job issue-triaje" in done.stderr
