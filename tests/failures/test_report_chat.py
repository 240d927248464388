"""The report in a terminal: about 60 lines, every bucket, nothing wider than asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciops.failures.report_chat import LINES, chat_lines, chat_text
from ciops.failures.report_model import PipelineStep
from ciops.failures.report_text import shortened, width, wrapped
from ciops.failures.report_words import LANGUAGES, words_of
from failures.report_samples import big, empty, usual

EN = words_of("en")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("buckets", [1, 2, 5, 6, 8, 11, 15, 21, 22, 30])
def test_about_sixty_lines(buckets: int, language: str) -> None:
    lines = chat_lines(big(500, buckets), words_of(language))
    assert len(lines) <= LINES + 5


@pytest.mark.parametrize("buckets", [1, 7, 20, 31, 61, 300])
def test_no_bucket_is_dropped(buckets: int) -> None:
    report = big(900, buckets)
    text = chat_text(report, EN)
    assert [one.name for one in report.buckets if one.name + " " not in text] == []
    assert [one for one in report.buckets if str(one.representative_job) not in text] == []
    assert len(text.splitlines()) <= max(LINES + 5, buckets + 40)


@pytest.mark.parametrize("columns", [60, 80, 100, 140])
@pytest.mark.parametrize("language", LANGUAGES)
def test_only_names_and_addresses_are_wider_than_asked(language: str, columns: int) -> None:
    for report in (usual(), big(500, 12), big(500, 40)):
        names = [bucket.name for bucket in report.buckets]
        for line in chat_lines(report, words_of(language), columns):
            fits = width(line.text) <= columns
            assert fits or "://" in line.text or any(name in line.text for name in names)


def test_what_each_bucket_says_where_there_is_room() -> None:
    text = chat_text(usual(), EN)
    block = text[text.index("   4  loom/") : text.index("   3  external/")].splitlines()
    assert [line.strip() for line in block] == [
        "4  loom/autodeploy-sharding/mm-reduction-dim-mismatch  actionable · new",
        "RuntimeError: a and b must have same reduction dim, but got "
        "[s44*s70, 5120] X [2560, 5120].",
        "job 311097, line 2114 https://gitlab.example.com/lab/runs/-/jobs/311097",
        "Why: one code path fails: loom/transform/sharding.py:_apply of loom",
        "awaits a pull request",
    ]


def test_few_buckets_leave_room_for_the_hypothesis() -> None:
    few = replace(usual(), buckets=usual().buckets[:2])
    assert "Hypothesis: Shape propagation after the sharding transform" in chat_text(few, EN)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_checksum_ends_it_in_every_language(language: str) -> None:
    lines = chat_text(usual(), words_of(language)).splitlines()
    assert lines[-2:] == ["total failed jobs = 14", "sum of bucket sizes = 14"]


@pytest.mark.parametrize(("total", "style"), [(14, "green"), (15, "red")])
def test_the_checksum_is_green_or_red(total: int, style: str) -> None:
    lines = chat_lines(replace(usual(), failed_jobs_total=total), EN)
    assert {line.style for line in lines[-2:]} == {style}


def test_styles_are_those_a_printer_knows() -> None:
    styles = {line.style for line in chat_lines(usual(), EN)}
    assert styles <= {"", "bold", "dim", "red", "green", "yellow"}
    assert "\x1b" not in chat_text(usual(), EN)


def test_no_failed_job() -> None:
    text = chat_text(empty(), EN)
    assert "No failed job: 0 = 0" in text
    assert text.endswith("total failed jobs = 0\nsum of bucket sizes = 0\n")
    assert len(text.splitlines()) < 12


def test_a_fork_names_every_terminal_pipeline() -> None:
    ends = tuple(range(6000, 6012))
    steps = tuple(
        PipelineStep(id, f"https://gitlab.example.com/p/{id}", "lab/runs", parent=5087)
        for id in ends
    )
    forked = replace(usual(), terminal_pipelines=ends, pipelines=(*usual().pipelines[:2], *steps))
    text = chat_text(forked, EN)
    assert [id for id in ends if str(id) not in text] == []
    assert "Terminal pipeline: 6000 lab/runs (via 5087 lab/dispatch) https://" in text


def test_a_pipeline_nothing_is_known_of_is_named_by_its_id() -> None:
    text = chat_text(replace(usual(), pipelines=()), EN)
    assert "Starting pipeline: 5060\nTerminal pipeline: 5127\n" in text


@pytest.mark.parametrize(
    ("text", "columns", "cut"),
    [
        ("short", 10, "short"),
        ("exactly10!", 10, "exactly10!"),
        ("eleven char", 10, "eleven ch…"),
        ("a b          c", 10, "a b c"),
        ("two\nlines", 20, "two lines"),
        ("reste\u00a0: ici\u202f!", 20, "reste\u00a0: ici\u202f!"),
        ("日本語です", 10, "日本語です"),
        ("日本語ですよ", 10, "日本語で…"),
        ("e\u0301" * 5, 5, "e\u0301" * 5),
        ("", 5, ""),
        ("\x1b[31mred", 10, "red"),
    ],
)
def test_shortened(text: str, columns: int, cut: str) -> None:
    assert shortened(text, columns) == cut
    assert width(cut) <= columns


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one two three", ["one two", "three"]),
        ("one two three four five", ["one two", "three fou…"]),
        ("trois deux\u00a0: x", ["trois", "deux\u00a0: x"]),
        ("unbreakablelongword x", ["unbreakabl", "elongword…"]),
        ("日本語です。次の文", ["日本語で", "す。次の文"]),
        ("日本語の文。次", ["日本語の", "文。次"]),
        ("", [""]),
    ],
)
def test_wrapped(text: str, lines: list[str]) -> None:
    assert wrapped(text, 10, 2) == lines
