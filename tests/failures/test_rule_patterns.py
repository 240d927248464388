"""Patterns of failure rules that could run away are named by `rules check`."""

from __future__ import annotations

import pytest

from ciops.failures.rule_check import _pattern_problem


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a|a)*b",
        r"(?:\w+\s?)+!",
        r"(?:foo|foofoo)+bar",
        r"(?:word|a)(?:a|b|ab|ba){30}z",
        r"(?:retry|retryretry){32}z",
    ],
)
def test_a_pattern_that_runs_away_is_named(pattern: str) -> None:
    assert "takes over 0.25 s on repeated" in _pattern_problem(pattern)


@pytest.mark.parametrize(
    "pattern", [r"\berror\b: .{0,60}failed", r"(?:foo|bar){1,3}z", r"exit code (\d+)"]
)
def test_a_pattern_as_people_write_it_is_taken(pattern: str) -> None:
    assert _pattern_problem(pattern) == ""


def test_what_is_no_pattern_is_named() -> None:
    assert "is no regular expression" in _pattern_problem("(foo")
