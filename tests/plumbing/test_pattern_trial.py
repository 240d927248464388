"""Patterns that could stall a reader are found by trial, and what runs too long is cut off."""

from __future__ import annotations

import re
import signal
import threading
import time

import pytest

from ciops.plumbing.interruption import cut_off
from ciops.plumbing.pattern_trial import TOO_LONG, is_plain, stalls_on

SLOW = {
    "nested": r"word(a+)+z",
    "alternatives alike": r"(?:a|a)*b",
    "one the start of another": r"(?:foo|foofoo)+bar",
    "words in a row": r"(?:\w+\s?)+!",
    "many repeats of its own word": r"(?:retry|retryretry){32}z",
    "a power of the length": r"\w{0,50}\w{0,50}\w{0,50}z",
}
QUICK = (
    r"exit code (\d+)",
    r"\berror\b: .{0,60}failed",
    r"(?:foo|bar){1,3}z",
    r"\bslow(?:er|ly)?\b.{0,40}\btoday\b",
    r"^(?!.*\bno\b).*\b(?:one|two|three)\b.*\bdone$",
)


@pytest.mark.parametrize("pattern", SLOW.values(), ids=SLOW)
def test_a_pattern_that_can_stall_is_found_soon(pattern: str) -> None:
    start = time.process_time()
    assert stalls_on(re.compile(pattern))
    assert time.process_time() - start < 8 * TOO_LONG


@pytest.mark.parametrize("pattern", QUICK)
def test_a_pattern_as_people_write_it_is_taken(pattern: str) -> None:
    assert stalls_on(re.compile(pattern)) == ""


def test_a_thread_finds_it_without_a_timer() -> None:
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(stalls_on(re.compile("(?:a|a)*b"))))
    thread.start()
    thread.join(60)
    assert found[0]


@pytest.mark.parametrize(
    ("pattern", "plain"),
    [("no repeat at all", True), (r"a\d+b", True), ("a.*b.*c", False), ("(?:a|b)+", False)],
)
def test_what_is_plain_is_not_tried(pattern: str, plain: bool) -> None:
    assert is_plain(pattern) is plain


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this system")
@pytest.mark.parametrize("waits", [False, True], ids=["work", "clock"])
def test_what_takes_longer_is_cut_off_and_leaves_no_timer(waits: bool) -> None:
    with pytest.raises(ValueError, match="enough"), cut_off(0.1, ValueError("enough"), waits=waits):
        re.search("(?:a|a)*z", "a" * 60)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_only_work_counts_unless_waits_do() -> None:
    with cut_off(0.02, ValueError("enough")):
        time.sleep(0.1)
