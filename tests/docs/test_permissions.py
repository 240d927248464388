"""What the README says of permissions is what the examples give."""

from __future__ import annotations

import re

import pytest

from ci_programs import manifests
from ci_programs.suite import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
# A row of the table, and the job of an example that is given just that.
JOBS = {
    "triage, `undo`": ("issue-triage", "triage"),
    "triage dry or in shadow, `explain`, `backtest`": ("issue-triage-shadow", "triage"),
    "report on a GitHub run": ("actions-failure-report", "report"),
    "post-mortem: render, check, lint": ("post-mortem-lint", "lint"),
    "a record for a merged fix": ("needs-post-mortem", "offer"),
}


def row(name: str) -> dict[str, str]:
    found = re.search(rf"^\| {re.escape(name)} \| ([^|]+) \|", README, re.MULTILINE)
    assert found, f"the README has no row {name}"
    return dict(re.findall(r"`([a-z-]+): (read|write)`", found[1]))


@pytest.mark.parametrize("name", JOBS)
def test_a_row_is_what_an_example_gives(name: str) -> None:
    example, job = JOBS[name]
    path = ROOT / f"examples/github/{example}.yml"
    assert row(name) == manifests.jobs(path)[job]["permissions"]


def test_publishing_needs_none() -> None:
    assert row("publish") == {}
    assert manifests.workflow("post-mortem-render")["jobs"]["publish"]["permissions"] == {}


def test_verifying_needs_more_than_rendering() -> None:
    render = manifests.workflow("post-mortem-render")["jobs"]["render"]["permissions"]
    assert row("post-mortem: render, check, lint") | row("… with `verify`") == render
