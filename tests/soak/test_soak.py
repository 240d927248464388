"""The soak in small, and what it takes for flat. `make soak` runs it in full."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from soak import soak_sweep
from soak.watching import Watch, halves, is_flat, problems

SERIES = [
    pytest.param([10, 40, 50, 50, 51, 50, 50, 51], 2, True, id="loaded, then level"),
    pytest.param([10, 40, 50, 60, 70, 80, 90, 99], 2, False, id="grows all the time"),
    pytest.param([50] * 15 + [90], 2, True, id="one peak at the end"),
    pytest.param([50, 50, 50, 50, 50, 50, 90, 90, 90], 2, False, id="it stays up"),
    pytest.param([50, 50, 50, 50, 50, 50, 58, 58, 58], 12, True, id="within the slack"),
    pytest.param([50], 0, True, id="too short to tell"),
]


@pytest.mark.parametrize(("samples", "slack", "flat"), SERIES)
def test_what_is_flat(samples: list[float], slack: float, flat: bool) -> None:
    assert is_flat(samples, slack) is flat


def test_the_quarters_that_are_compared() -> None:
    assert halves([1, 1, 2, 2, 3, 3, 4, 4]) == (2, 4)


def test_too_many_files_are_named() -> None:
    watch = Watch([50.0] * 8, [9, 40, 9])
    assert problems(watch, "shard 1", 1.0, 40) == []
    assert problems(watch, "shard 1", 1.0, 39) == ["shard 1: 40 files were open at once"]


def test_growth_is_named() -> None:
    (problem,) = problems(Watch([10.0 * n for n in range(1, 9)], [9]), "shard 1", 5.0, 40)
    assert problem.startswith("shard 1: memory grew: memory 35 MiB in the second quarter, 75")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="samples come from /proc")
def test_a_process_is_sampled() -> None:
    watch = Watch()
    watch.follow(os.getpid()).join(0.3)
    assert watch.memory[0] > 1
    assert watch.files[0] >= 3


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="samples come from /proc")
def test_a_queue_in_shards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = soak_sweep.soak(50, 2, tmp_path)
    assert [one for one in found if "memory grew" not in one] == []  # too short for that
    assert "merged: exit 0, 49 decisions" in capsys.readouterr().out
