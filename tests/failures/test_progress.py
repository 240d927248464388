"""Whether a job that ran out of time was still at work."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from ciops.failures.framing import Visible
from ciops.failures.progress import made_progress

KNOWN = re.compile(r"\d+%\|")


def lines(*texts: str, every: float | None = None) -> list[Visible]:
    """Lines, timed where `every` says how many seconds lie between them."""
    return [Visible(number, text, "01", _at(number, every)) for number, text in enumerate(texts)]


def _at(number: float, every: float | None) -> str:
    if every is None:
        return ""
    moment = datetime(2026, 5, 4, 10, tzinfo=UTC) + timedelta(seconds=number * every)
    return moment.strftime("%Y-%m-%dT%H:%M:%S")


END = Visible(99, "ERROR: Job failed: execution took longer than 2h0m0s seconds", "00")
WITHOUT_TIMES = [
    pytest.param(["step", "Fetching: 35%|###"], True, id="a known line of work"),
    pytest.param(["ran 10/99 cases", "ran 20/99 cases", "ran 31/99 cases"], True, id="a counter"),
    pytest.param(["loss 3.2", "ep 1 ok", "ep 2 ok", "ep 3 ok"], True, id="below other lines"),
    pytest.param(["ran 10/99 cases", "ran 10/99 cases", "ran 10/99 cases"], False, id="it stands"),
    pytest.param(["ran 10/99 cases", "ran 20/99 cases"], False, id="too few"),
    pytest.param(["heartbeat t=1", "heartbeat t=2", "heartbeat t=3"], False, id="a heartbeat"),
    pytest.param(["waiting 10 s", "waiting 20 s", "waiting 30 s"], False, id="only waiting"),
    pytest.param(["7%|#", *["idle"] * 12], False, id="too far above"),
    pytest.param([], False, id="nothing"),
]


@pytest.mark.parametrize(("texts", "moved"), WITHOUT_TIMES)
def test_work_shows_in_the_last_lines(texts: list[str], moved: bool) -> None:
    assert made_progress(lines(*texts), END, KNOWN) is moved


SILENCES = [
    pytest.param(60, 90, True, id="on pace"),
    pytest.param(60, 6000, False, id="silent for an hour and more"),
    pytest.param(1800, 2400, True, id="slow all along"),
    pytest.param(0, 6000, True, id="a burst that ends with work"),
]


@pytest.mark.parametrize(("every", "silence", "moved"), SILENCES)
def test_work_goes_on_until_the_end(every: int, silence: int, moved: bool) -> None:
    above = lines(*(f"ran {number}/99 cases, {number}%|" for number in range(8)), every=every)
    end = Visible(99, END.text, "00", _at(1, 7 * every + silence))
    assert made_progress(above, end, KNOWN) is moved


def test_a_burst_that_ends_otherwise_is_no_work() -> None:
    above = lines("7%|#", "8%|#", "captured the graph", every=0)
    assert not made_progress(above, Visible(99, END.text, "00", _at(1, 6000)), KNOWN)


def test_the_runner_does_no_work() -> None:
    runner = [Visible(n, f"cleaning {n}", "00") for n in range(5)]
    assert not made_progress(runner, END, KNOWN)


def test_a_time_that_is_none_does_no_harm() -> None:
    wrong = [Visible(1, "7%|#", "01", "2026-13-45T71:00:00")]
    assert made_progress(wrong, Visible(9, "x", "00", "2026-13-45T71:00:00"), KNOWN)
