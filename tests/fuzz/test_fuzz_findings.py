"""What fuzzing found stays here; and each campaign runs for a moment, so that it does not rot."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from ciops.triage.issue_text import read_issue
from triage.issue_making import issue, policy

HERE = Path(__file__).resolve().parent
CAMPAIGNS = sorted(HERE.glob("fuzz_*.py"))
sys.path.insert(0, str(HERE))
import fuzz_trace  # noqa: E402

SECRET = fuzz_trace.SECRET.encode()
TRACES = {
    "a secret glued to a letter": b"\nAborted by o%s\nERROR: Job failed: exit code 1\n" % SECRET,
    "a secret glued to a model": b"resolved config:\n  model: org/nametoken=%s\nx" % SECRET,
    "a secret in a function's name": b'  File "/a/b.py", line 3, in f%s\nError: x' % SECRET,
}


def test_a_title_is_no_longer_than_a_pattern_may_see() -> None:
    """A service may hand over any title: patterns are made for lines of 1,000 characters."""
    reading = read_issue(issue("x" * 100_000, "It fails."), policy().reading)
    assert [len(line.text) for line in reading.lines if line.where == "title"] == [1000]


@pytest.mark.parametrize("data", TRACES.values(), ids=list(TRACES))
def test_a_trace_that_a_campaign_found(data: bytes) -> None:
    fuzz_trace.attempt(fuzz_trace.Trace(data, cuts=(len(data) // 2,)))


@pytest.mark.parametrize("path", CAMPAIGNS, ids=lambda path: path.stem)
def test_a_campaign_runs(path: Path) -> None:
    seed = str(random.Random(path.stem).randrange(1000))
    command = [sys.executable, str(path), "--seconds", "3", "--seed", seed]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
