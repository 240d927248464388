"""The pipeline part of the demo runs, and shows what it says it shows."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from failures.pipeline_worlds import ROOT


def test_the_demo_reports_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location(
        "demo_pipeline", ROOT / "examples/demo_pipeline.py"
    )
    assert spec is not None
    assert spec.loader is not None
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    assert demo.run(tmp_path) == 1  # one trace was erased, and the report says so
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"report.md", "report.csv", "report.json", "report.html", "summary.md"}
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert (report["starting_pipeline"], report["terminal_pipelines"]) == (91, [93])
    assert report["checksum"] == {"failed_jobs": 9, "bucket_sum": 9}
    first = report["buckets"][0]
    assert (first["size"], first["status"]) == (3, "actionable")
    assert len(first["code"]["changes"]) == 2
    filed = [one for one in report["buckets"] if one["tracking_state"] == "filed"]
    assert len(filed) == 3
    assert "total failed jobs = 9" in capsys.readouterr().out
