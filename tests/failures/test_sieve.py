"""Which lines of a block deserve a look."""

from __future__ import annotations

import random

import pytest

from ciops.failures.sieve import Sieve

WORDS = ("error", "fail", "deadline")


def interesting(sieve: Sieve, *lines: str) -> list[int]:
    count, indexes = sieve.interesting("\n".join(lines).encode())
    assert count == len(lines)
    return indexes


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["quiet", "an error", "quiet"], [1]),
        (["ERROR", "Failed"], [0, 1]),
        (["quiet"] * 5, []),
        ([""], []),
        (["step 1 of 2", "step 2 of 2: error"], [1]),
    ],
    ids=["one", "in any case", "none", "empty", "numbers"],
)
def test_lines_with_a_word_are_interesting(lines: list[str], expected: list[int]) -> None:
    assert interesting(Sieve(WORDS), *lines) == expected


def test_a_line_is_interesting_again_until_it_is_learnt() -> None:
    sieve = Sieve(WORDS)
    line = "errors: 0 in batch 7"
    assert interesting(sieve, line) == [0]
    sieve.is_dull(line.encode())
    assert interesting(sieve, "errors: 3 in batch 12") == []
    assert interesting(sieve, "errors: 3 in part 12") == [0]


def test_what_was_learnt_holds_for_other_digests() -> None:
    rng = random.Random(1)
    lines = [f"+ run --fail-fast --out /tmp/{rng.randbytes(6).hex()}/x" for _ in range(200)]
    sieve = Sieve(WORDS)
    assert interesting(sieve, *lines[:50]) == list(range(50))
    sieve.is_dull(lines[0].encode())
    assert sieve.knows(lines[60].encode())
    assert interesting(sieve, *lines[50:]) == []
    assert not sieve.knows(b"+ run --fail-fast --out /tmp/other/x")


def test_many_fresh_digests_hide_no_word() -> None:
    rng = random.Random(2)
    lines = [f"{rng.randbytes(6).hex()}: layer" for _ in range(100)]
    lines[40] += " error"
    assert interesting(Sieve(WORDS), *lines) == [40]


def test_a_word_that_looks_like_a_digest_is_found_among_digests() -> None:
    rng = random.Random(3)
    lines = [f"{rng.randbytes(6).hex()}: layer" for _ in range(100)]
    lines[70] = "the layer is bad"
    assert 70 in interesting(Sieve([*WORDS, "bad"]), *lines)


def test_what_one_trace_learns_serves_the_next() -> None:
    first = Sieve(WORDS)
    first.is_dull(b"errors: 0")
    assert interesting(first.beside(), "errors: 12") == []


def test_a_line_is_met_once() -> None:
    sieve = Sieve(WORDS)
    assert sieve.meets(b"error 1")
    assert not sieve.meets(b"error 2")
    assert sieve.beside().meets(b"error 3")


def test_the_word_of_one_line_says_nothing_of_the_next() -> None:
    sieve = Sieve(WORDS)
    lines = ["deadline", "an error", "quiet", "deadline", "still quiet"]
    assert [interesting(sieve, line) for line in lines] == [[0], [0], [], [0], []]
    assert interesting(Sieve(()), "quiet") == []


def _among_digests(sieve: Sieve, line: str) -> bool:
    """Whether a line is read that comes in a log whose every line has a digest."""
    rng = random.Random(4)
    quiet = [f"{rng.randbytes(6).hex()}: layer {n}" for n in range(200)]
    interesting(sieve, *quiet[:100])
    return interesting(sieve, *quiet[100:], line) == [100]


@pytest.mark.parametrize(
    ("learnt", "line", "read"),
    [
        ("get /tmp/0a1b2c3d/x: failed 0", "get /tmp/77fe01/x: failed 1", False),
        ("get /tmp/0a1b2c3d/x: failed 0", "get /tmp/77fe01/x: failed 1, ded", True),
        ("get /tmp/0a1b2c3d/x: failed 0", "gt /tmp/77fe01/x: failed 1", True),
        ("copy 0a1b2c3d to 1f2e3d4c: fail 0", "copy 77fe01 to 2e3d4c5b: fail 1", False),
        ("copy 0a1b2c3d to 1f2e3d4c: fail 0", "copy 77fe01 too 2e3d4c5b: fail 1", True),
    ],
    ids=["another digest", "letters behind", "letters before", "two digests", "between two"],
)
def test_only_the_digest_may_differ_from_what_was_learnt(
    learnt: str, line: str, read: bool
) -> None:
    sieve = Sieve(WORDS)
    _among_digests(sieve, learnt)
    sieve.is_dull(learnt.encode())
    _among_digests(sieve, learnt)
    assert _among_digests(sieve, line) is read


def test_a_digest_may_complete_a_word() -> None:
    sieve = Sieve([*WORDS, "appears to be"])
    assert not _among_digests(sieve, "it appears to fade 1")
    assert _among_digests(sieve, "it appears to be 1")
