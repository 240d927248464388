"""The first causal line of authored excerpts: one tool, one way to fail each, and green logs."""

from __future__ import annotations

import pytest

from ciops.failures.scan_result import NONE, STRONG
from failures.excerpt_files import DATA, Excerpt, excerpts, scan

FILES = sorted(DATA.glob("excerpts*.txt"))
ALL = [one for file in FILES for one in excerpts(file)]
FAILED = [one for one in ALL if one.line is not None]
GREEN = [one for one in ALL if one.evidence == NONE]


@pytest.mark.parametrize("excerpt", ALL, ids=lambda one: one.name)
def test_the_first_causal_line_is_found_with_the_right_certainty(excerpt: Excerpt) -> None:
    found = scan(excerpt.text)
    assert found.evidence == excerpt.evidence, f"line {found.line}: {found.text}"
    if excerpt.line is not None:
        assert found.line in (excerpt.line, *excerpt.also), found.text


@pytest.mark.parametrize("excerpt", FAILED[::3], ids=lambda one: one.name)
def test_a_runner_that_stamps_every_line_changes_nothing(excerpt: Excerpt) -> None:
    stamp = "2026-05-04T10:11:12.123456Z 01O "
    stamped = "".join(stamp + line + "\n" for line in excerpt.text.rstrip("\n").split("\n"))
    found, plain = scan(stamped), scan(excerpt.text)
    assert (found.line, found.text, found.evidence) == (plain.line, plain.text, plain.evidence)


@pytest.mark.parametrize("excerpt", FAILED[1::3], ids=lambda one: one.name)
@pytest.mark.parametrize("end", ["\x07", "\x1b\\"], ids=["bell", "terminator"])
def test_an_agent_that_stamps_lines_out_of_sight_changes_nothing(
    excerpt: Excerpt, end: str
) -> None:
    # https://buildkite.com/docs/pipelines/managing-log-output: ESC _ bk;t=MILLISECONDS BEL
    lines = excerpt.text.rstrip("\n").split("\n")
    stamped = "".join(f"\x1b_bk;t=1777888999{n:03}{end}{x}\n" for n, x in enumerate(lines))
    found, plain = scan(stamped), scan(excerpt.text)
    assert (found.line, found.text, found.evidence) == (plain.line, plain.text, plain.evidence)


@pytest.mark.parametrize("excerpt", FAILED[1::3], ids=lambda one: one.name)
def test_carriage_returns_at_the_ends_of_lines_change_nothing(excerpt: Excerpt) -> None:
    found, plain = scan(excerpt.text.replace("\n", "\r\n")), scan(excerpt.text)
    assert (found.line, found.text, found.evidence) == (plain.line, plain.text, plain.evidence)


@pytest.mark.parametrize("excerpt", FAILED[2::3], ids=lambda one: one.name)
def test_colours_change_nothing(excerpt: Excerpt) -> None:
    lines = excerpt.text.rstrip("\n").split("\n")
    coloured = (x if x.startswith("section_") else f"\x1b[31m{x}\x1b[0m" for x in lines)
    found, plain = scan("\n".join(coloured) + "\n"), scan(excerpt.text)
    assert (found.line, found.evidence) == (plain.line, plain.evidence)


@pytest.mark.parametrize("excerpt", GREEN, ids=lambda one: one.name)
def test_a_green_log_stays_green_when_it_is_long(excerpt: Excerpt) -> None:
    assert scan(excerpt.text * 40).evidence != STRONG


def test_there_are_excerpts_of_both_kinds() -> None:
    assert len(FAILED) > 200
    assert len(GREEN) > 30
