"""Release notes come from CHANGELOG.md, and the versions that are named agree."""

from __future__ import annotations

import re
import sys
import tomllib

import pytest

from ci_programs import manifests
from ci_programs.command_lines import TOOLS
from ci_programs.suite import ROOT, plain_environment, run

CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
SCRIPT = ROOT / ".ci/release_notes.py"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def notes(*arguments: str) -> tuple[int, str, str]:
    done = run([sys.executable, "-I", str(SCRIPT), *arguments], plain_environment())
    return done.returncode, done.stdout, done.stderr


def test_the_notes_of_this_version() -> None:
    status, text, _ = notes(f"v{VERSION}")
    assert status == 0
    assert text.strip() in CHANGELOG
    assert "\n## " not in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["v99.0.0"], "CHANGELOG.md has no section for v99.0.0. Write it.", id="none"),
        pytest.param([VERSION[:-1]], "has no section for", id="part of a version"),
        pytest.param(["v1.0.0)("], "has no section for", id="no pattern"),
        pytest.param([], "Name one version", id="no version"),
    ],
)
def test_no_notes_is_a_mistake(arguments: list[str], says: str) -> None:
    status, text, error = notes(*arguments)
    assert (status, text) == (2, "")
    assert says in error


def test_the_newest_section_is_this_version() -> None:
    newest = re.search(r"^## \[?(\d+\.\d+\.\d+)", CHANGELOG, re.MULTILINE)
    assert newest
    assert newest[1] == VERSION


@pytest.mark.parametrize("tool", TOOLS)
def test_components_run_the_major_version_they_are_part_of(tool: str) -> None:
    assert manifests.component(tool).inputs["version"]["default"] == f"v{VERSION.split('.')[0]}"
