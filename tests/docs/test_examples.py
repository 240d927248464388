"""The files that people begin with work as they are."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from ci_programs.suite import ROOT
from ciops.failures.app import main

SMALLEST = ROOT / "examples/smallest-rules/failure-rules.yml"
FRAMED = """\
2026-05-04T10:11:13.1234567Z Traceback (most recent call last):
2026-05-04T10:11:13.1234567Z   File "{path}", line 12, in pop
2026-05-04T10:11:13.1234567Z     return queue[0]
2026-05-04T10:11:13.1234567Z IndexError: list index out of range
2026-05-04T10:11:14.1234567Z ##[error]Process completed with exit code 1.
"""


@pytest.mark.parametrize(
    ("path", "frame"),
    [
        ("/home/runner/work/kettle/kettle/kettle/broker.py", "kettle/broker.py:pop"),
        ("/builds/tea/kettle/kettle/broker.py", "kettle/broker.py:pop"),
        ("/venv/lib/python3.12/site-packages/my_project/broker.py", "my_project/broker.py:pop"),
        ("/venv/lib/python3.12/site-packages/requests/api.py", None),
    ],
)
def test_the_smallest_rules_know_whose_code_it_is(
    path: str, frame: str | None, tmp_path: Path
) -> None:
    log = tmp_path / "job.log"
    log.write_text(FRAMED.format(path=path), encoding="utf-8")
    printed = io.StringIO()
    with redirect_stdout(printed):
        assert main(["scan", str(log), "--config", str(SMALLEST)], {}) == 0
    found = json.loads(printed.getvalue())
    assert found["line"] == 4
    assert found["frame"] == frame
    assert found["bucket"].startswith("my-project/")
