"""Where an error was raised, when no traceback of its own says so."""

from __future__ import annotations

import re

import pytest

from ciops.failures.events import Event
from ciops.failures.frames import Frame, Root
from ciops.failures.framing import Visible
from ciops.failures.raise_site import raise_site

ROOTS = [Root("us", re.compile(r"^.*/gear/"))]
OURS, THEIRS = Frame("/opt/gear/turn.py", 7, "turn"), Frame("/opt/torch/ops.py", 9, "call")


def event(number: int, text: str, kind: str, *frames: Frame, source: str = "") -> Event:
    return Event(number, text, "cause", kind=kind, frames=frames, start=number, last=number,
                 source=source)  # fmt: skip


LATE = event(12, "RuntimeError: CUDA error: device-side assert triggered", "gpu", OURS)
CASES = [
    pytest.param(event(9, "boom", "exception", OURS, THEIRS), OURS, id="its own traceback"),
    pytest.param(
        event(9, "Assertion failed: even (/src/gear/cpp/pump.cpp:33)", "assertion"),
        Frame("/src/gear/cpp/pump.cpp", 33, ""),
        id="the file that native code names",
    ),
    pytest.param(
        event(9, "Assertion failed (/src/gear/cpp/pump.cpp:33)", "gpu", OURS, THEIRS),
        OURS,
        id="its own traceback before the file that it names",
    ),
    pytest.param(event(9, "Assertion `i < n` failed", "assertion"), OURS, id="reported late"),
    pytest.param(
        event(9, "Assertion `i < n` failed", "assertion", THEIRS), OURS, id="late, but in our code"
    ),
    pytest.param(
        event(9, "Assertion `i < n` failed", "assertion", source="rank 3"), None, id="another rank"
    ),
    pytest.param(event(9, "make: *** [all] Error 2", "make"), None, id="another kind"),
    pytest.param(event(9, "failed (/src/other/pump.cpp:33)", "exception"), None, id="not ours"),
]


@pytest.mark.parametrize(("one", "site"), CASES)
def test_where_it_was_raised(one: Event, site: Frame | None) -> None:
    frames = raise_site(one, [one, LATE], ROOTS)
    inside = [frame for frame in frames if ROOTS[0].pattern.match(frame.path)]
    assert (inside[-1] if inside else None) == site


PYTEST = [
    pytest.param("", id="plain"),
    pytest.param("3: ", id="under a prefix"),
]


@pytest.mark.parametrize("prefix", PYTEST)
def test_the_file_and_the_test_that_pytest_names(prefix: str) -> None:
    one = event(9, "E       AssertionError: accuracy 41.2 is below 55.0", "test")
    above = ("____ test_other ____", "____ TestGear.test_turn[fast-7] ____", "> assert ok")
    one.before = [Visible(number, prefix + text) for number, text in enumerate(above)]
    one.after = [
        Visible(10, prefix),
        Visible(11, f"{prefix}tests/gear/test_a.py:31: AssertionError"),
    ]
    roots = [Root("us", re.compile(r"^(?=tests/)"))]
    assert raise_site(one, [one], roots) == (Frame("tests/gear/test_a.py", 31, "test_turn"),)


def test_a_traceback_far_below_is_another_failure() -> None:
    one = event(9, "Assertion `i < n` failed", "assertion")
    far = event(500, LATE.text, "gpu", OURS)
    assert raise_site(one, [one, far], ROOTS) == ()
