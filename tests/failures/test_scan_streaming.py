"""A trace read in pieces: the same result, bounded memory, and time that grows with its size."""

from __future__ import annotations

import itertools
import random
import time
import tracemalloc
from collections.abc import Callable

import pytest

from ciops.failures.scan_result import NONE, STRONG, WEAK
from ciops.failures.trace import TraceReader
from failures.excerpt_files import scan, shipped

ERROR = "ValueError: 3 heads cannot be split over 2 ranks"
BLOCK = f"""Traceback (most recent call last):
  File "/app/run.py", line 3, in main
    split(heads)
{ERROR}
ERROR: Job failed: exit code 1
"""
FILLER = "".join(f"step {n} loss={n / 7:.4f} grad_norm={n / 3:.3f}\n" for n in range(4000))


@pytest.mark.parametrize("chunk", [1, 7, 64, 1000, 65_536])
def test_the_size_of_chunks_does_not_matter(chunk: int) -> None:
    text = FILLER[:20_000] + BLOCK
    whole = scan(text)
    assert whole.text == ERROR
    assert scan(text, chunk) == whole


@pytest.mark.parametrize("lines", [0, 1, 79, 80, 81, 3000])
def test_lines_are_numbered_in_the_raw_trace(lines: int) -> None:
    found = scan(("quiet\n" * lines) + BLOCK)
    assert (found.line, found.lines) == (lines + 4, lines + 5)


@pytest.mark.parametrize(
    ("text", "evidence", "lines"),
    [
        ("", WEAK, 0),
        ("\n", NONE, 1),
        ("hello\n", NONE, 1),
        ("hello", NONE, 1),
        ("ERROR: Job failed: exit code 1", WEAK, 1),
        (BLOCK.rstrip("\n"), STRONG, 5),
    ],
    ids=["empty", "newline", "a line", "no newline", "wrapper alone", "cut at the last newline"],
)
def test_short_traces(text: str, evidence: str, lines: int) -> None:
    found = scan(text)
    assert (found.evidence, found.lines) == (evidence, lines)


def test_an_error_at_the_end_of_a_long_line_is_found() -> None:
    text = "x " * 225_000 + "RuntimeError: boom\nERROR: Job failed: exit code 1\n"
    found = scan(text, 65_536)
    assert found.line == 1
    assert "RuntimeError: boom" in (found.text or "")


def test_an_error_glued_to_a_progress_bar_is_found() -> None:
    bars = "".join(f"\r {n}%|{'#' * (n // 10)}| {n}/100 [00:01<00:02, 3.84it/s]" for n in range(99))
    found = scan(f"{bars}{ERROR}\nERROR: Job failed: exit code 1\n")
    assert (found.line, found.text) == (1, ERROR)


def test_broken_bytes_are_read_on() -> None:
    found = scan(b"\xff\xfe\x00garbage\xc3\n" + BLOCK.encode())
    assert (found.line, found.text) == (5, ERROR)


def _tracebacks(count: int) -> str:
    rng = random.Random(3)
    told = [
        "Traceback (most recent call last):\n"
        f'  File "/app/retry.py", line {rng.randrange(400)}, in call\n    send()\n'
        f"TimeoutError: attempt {n}\nstill at work on batch {n}\nwrote batch {n}\n"
        for n in range(count)
    ]
    return "".join(told)


def _bars(count: int) -> str:
    return "\r".join(f"{n} of {count}: fetching part {n} errors: 0" for n in range(count)) + "\n"


def _names(count: int) -> str:
    return " ".join(f"test_error_{n}_fails" for n in range(count)) + "\n"


def _open_frames(count: int) -> str:
    return "Traceback (most recent call last):\n" + '  File "a.py", line 1, in f\n' * count


def _fresh_errors(count: int) -> str:
    rng = random.Random(5)
    words = ["".join(rng.choices("abcdefghij", k=9)) for _ in range(count)]
    return "".join(f"error: {a} cannot reach {b}\n" for a, b in itertools.pairwise(words))


@pytest.mark.parametrize(
    "make", [_tracebacks, _bars, _names, _open_frames, _fresh_errors], ids=lambda one: one.__name__
)
def test_time_grows_with_the_size_whatever_the_trace(make: Callable[[int], str]) -> None:
    def seconds(count: int) -> float:
        text = make(count) + BLOCK
        best = 9.9
        for _ in range(3):
            start = time.process_time()
            scan(text, 65_536)
            best = min(best, time.process_time() - start)
        return best

    assert seconds(1200) < 12 * seconds(300) + 0.1


def test_memory_does_not_grow_with_the_trace() -> None:
    knowledge = shipped()
    scan(FILLER + BLOCK)  # patterns are compiled once

    def peak(times: int) -> int:
        reader = TraceReader(knowledge)
        data = FILLER.encode()
        tracemalloc.start()
        for _ in range(times):
            reader.feed(data)
        reader.finish()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    # the least of some runs: a server of another test that still runs allocates beside this one
    long, short = (min(peak(times) for _ in range(3)) for times in (40, 4))
    assert long < 1.5 * short + 500_000
