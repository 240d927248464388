"""Short reports of every part: where they go, and which modules they are about."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from triage.issue_making import facets

DATA = Path(__file__).resolve().parents[1] / "data" / "triage"
REPORTS = yaml.safe_load((DATA / "routes.yml").read_text(encoding="utf-8"))
SCOPE = yaml.safe_load((DATA / "scope.yml").read_text(encoding="utf-8"))


def test_short_reports_find_their_way():
    wrong = {}
    for report in REPORTS:
        found = facets(report["title"], report.get("body", ""))
        if not found.distributed or found.sub_oncall != report["route"]:
            wrong[report["title"]] = found.sub_oncall
    assert wrong == {}


def test_short_reports_get_their_modules():
    missed, added = {}, {}
    for report in REPORTS:
        found = set(facets(report["title"], report.get("body", "")).modules)
        wanted = set(report["modules"])
        if wanted - found:
            missed[report["title"]] = wanted - found
        if found - wanted - set(report.get("extra", ())):
            added[report["title"]] = found - wanted
    assert added == {}
    assert len(missed) <= 2, missed


@pytest.mark.parametrize("report", SCOPE, ids=lambda report: report["title"][:50])
def test_a_short_report_is_in_scope_or_not(report):
    assert facets(report["title"], report["body"]).distributed is report["distributed"]
