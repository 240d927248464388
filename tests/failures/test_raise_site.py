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


TESTS = [
    pytest.param(
        ["____ test_other ____", "____ TestGear.test_turn[fast-7] ____", "> assert ok"],
        "E       AssertionError: accuracy 41.2 is below 55.0",
        ["", "tests/gear/test_a.py:31: AssertionError"],
        Frame("tests/gear/test_a.py", 31, "test_turn"),
        id="pytest",
    ),
    pytest.param(
        [
            *("____ test_join ____", "", "    def test_join():", ">       join(1)", ""),
            *("tests/gear/test_a.py:31: ", "_ _ _ _ _ _", "", "stick = 1", ""),
            *("    def join(stick):", "        def wait():", ">       raise Silent(stick)"),
        ],
        "E       gear.Silent: 1",
        ["", "gear/radio.py:3: Silent"],
        Frame("gear/radio.py", 3, "join"),
        id="pytest, below the test",
    ),
    pytest.param(
        ["____ test_join ____", "", "    def test_join():", "tests/a.py:3: ", "_ _ _ _", "deep()"],
        "E       gear.Silent: 1",
        ["", "gear/radio.py:3: Silent"],
        Frame("gear/radio.py", 3, "test_join"),
        id="pytest, where the source shows no function",
    ),
    pytest.param(
        ["=== RUN   TestMerge"],
        "store_test.go:41: got 3 rows, want 4",
        ["--- FAIL: TestMerge (0.1s)", "FAIL"],
        Frame("store_test.go", 41, "TestMerge"),
        id="go test",
    ),
    pytest.param(
        ["[ RUN      ] Mesh.Walk"],
        "../src/mesh_test.cpp:12: Failure",
        ["[  FAILED  ] Mesh.Walk (0 ms)", "[  FAILED  ] 1 test, listed below:"],
        Frame("../src/mesh_test.cpp", 12, "Mesh.Walk"),
        id="googletest",
    ),
]


@pytest.mark.parametrize("prefix", ["", "3: "], ids=["plain", "under a prefix"])
@pytest.mark.parametrize(("above", "text", "below", "site"), TESTS)
def test_a_failing_test_is_named(
    above: list[str], text: str, below: list[str], site: Frame, prefix: str
) -> None:
    one = event(9, text, "test")
    one.before = [Visible(number, prefix + line) for number, line in enumerate(above)]
    one.after = [Visible(10 + number, prefix + line) for number, line in enumerate(below)]
    assert raise_site(one, [one], ROOTS) == (site,)


def test_a_compiler_names_the_file_below_its_words() -> None:
    one = event(9, "error[E0308]: mismatched types", "compile")
    one.after = [Visible(10, "  --> crates/codec/src/lib.rs:10:17"), Visible(11, "   |")]
    assert raise_site(one, [one], ROOTS) == (Frame("crates/codec/src/lib.rs", 10, ""),)


def test_a_traceback_far_below_is_another_failure() -> None:
    one = event(9, "Assertion `i < n` failed", "assertion")
    far = event(500, LATE.text, "gpu", OURS)
    assert raise_site(one, [one, far], ROOTS) == ()
