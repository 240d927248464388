"""The report as Markdown: what stays when it is long, the chart, and text that cannot act."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from ciops.failures.code_seen import seen
from ciops.failures.report_formats import files
from ciops.failures.report_markdown import (
    SUMMARY_BYTES,
    job_summary,
    markdown,
    numbered,
    pie_chart,
    text_bar,
)
from ciops.failures.report_model import Report
from ciops.failures.report_text import made_safe
from ciops.failures.report_words import words_of
from ciops.plumbing.ci_host import SUMMARY_LIMIT
from failures.hostile_words import HOSTILE, SECRETS, poisoned
from failures.report_samples import big, empty, job, lines, usual

EN = words_of("en")
PARSER = MarkdownIt("gfm-like", {"html": True, "linkify": False})


def tokens(text: str) -> list[Token]:
    found = []
    for token in PARSER.parse(text):
        found += [token, *(token.children or [])]
    return found


def kinds(text: str) -> Counter[str]:
    """How much structure there is, without what the words themselves are made of."""
    kept = re.compile(r"heading|table|tr_|td_|th_|list|fence|html_block|hr|blockquote|code_block")
    return Counter(token.type for token in tokens(text) if kept.match(token.type))


def test_every_bucket_is_in_the_table_with_a_link_to_its_job() -> None:
    text = markdown(usual(), EN)
    table = text[text.index("## Buckets") : text.index("## Bridges")]
    for bucket in usual().buckets:
        row = next(row for row in table.splitlines() if bucket.name in row)
        assert re.search(rf"\[job {bucket.representative_job}[^]]*\]\(https://gitlab", row)
        assert f"**{bucket.size}** " in row


def test_every_job_is_linked() -> None:
    links = {token.attrs.get("href") for token in tokens(markdown(usual(), EN))}
    assert {job.job_url for job in usual().jobs} <= links


def test_evidence_is_folded_and_marks_the_causal_line() -> None:
    text = markdown(usual(), EN)
    assert text.count("<details>") == text.count("</details>") == 7
    assert "> 2114 │ RuntimeError: a and b must have same reduction dim" in text


def test_no_failed_job_is_a_short_report() -> None:
    text = markdown(empty(), EN)
    assert "No failed job: 0 = 0" in text
    assert "mermaid" not in text
    assert "## " not in text
    assert "`total failed jobs = 0`, `sum of bucket sizes = 0` ✅" in text


def test_a_broken_checksum_is_plain_to_see() -> None:
    text = markdown(replace(usual(), failed_jobs_total=15), EN)
    assert "`total failed jobs = 15`, `sum of bucket sizes = 14` ❌" in text
    assert "Do not trust this report" in text


# --- the job summary ---


def test_the_summary_of_a_usual_report_is_the_report() -> None:
    assert job_summary(usual(), EN) == markdown(usual(), EN)
    assert SUMMARY_BYTES < SUMMARY_LIMIT


@pytest.mark.parametrize("share", [0.9, 0.5, 0.1])
def test_a_summary_that_is_too_long_loses_evidence_of_small_buckets_first(share: float) -> None:
    report = big(500, 60)
    whole = markdown(report, EN)
    limit = int(len(whole.encode()) * share)
    text = markdown(report, EN, limit)
    assert len(text.encode()) <= limit
    assert [one.name for one in report.buckets if f"**{one.name}**" not in text] == []
    kept = [one.name for one in report.buckets if f"<code>{one.name}</code>" in text]
    assert kept == [one.name for one in report.buckets][: len(kept)]
    assert f"The evidence of {60 - len(kept)} buckets is left out here" in text or len(kept) == 60
    assert text.count("<details>") == text.count("</details>") == len(kept)
    assert "total failed jobs = 500" in text


def test_the_table_of_jobs_goes_before_the_excerpt() -> None:
    report = big(400, 1)
    limit = len(markdown(report, EN).encode()) // 3
    text = markdown(report, EN, limit)
    assert "> 1009 │ RuntimeError" in text
    assert "| cover" not in text
    assert "left out" not in text


def test_thousands_of_buckets_all_stay_in_the_table() -> None:
    report = big(1200, 1200)
    text = markdown(report, EN, 330_000)
    assert len(text.encode()) <= 330_000
    assert [one.name for one in report.buckets if f"**{one.name}**" not in text] == []


# --- the chart ---


@pytest.mark.parametrize(
    ("size", "most", "bar"),
    [
        (8, 8, "████████"),
        (4, 8, "████"),
        (1, 8, "█"),
        (1, 16, "▌"),
        (1, 64, "▏"),
        (1, 100_000, "▏"),
        (0, 0, "▏"),
        (9, 16, "████▌"),
    ],
)
def test_text_bars(size: int, most: int, bar: str) -> None:
    assert text_bar(size, most) == bar


SLICE = re.compile(r'    "[\w ./+-]{1,60}" : [1-9]\d*')


def test_the_pie_has_a_slice_a_bucket() -> None:
    first, title, *slices, last = pie_chart(usual(), EN).splitlines()
    assert (first, title, last) == ("```mermaid", "pie showData title Failed jobs by bucket", "```")
    assert [one for one in slices if not SLICE.fullmatch(one)] == []
    assert slices[0] == '    "loom/autodeploy-sharding/mm-reduction-dim-mismatch" : 4'
    assert len(slices) == 7


def test_many_buckets_share_a_slice() -> None:
    report = big(500, 60)
    slices = pie_chart(report, EN).splitlines()[2:-1]
    assert len(slices) == 12
    assert slices[-1].startswith('    "49 more buckets" : ')
    assert sum(int(one.rsplit(" ", 1)[1]) for one in slices) == 500


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_name_writes_in_the_chart(text: str) -> None:
    for language in ("en", "fr", "ja"):
        _, title, *slices, last = pie_chart(poisoned(text), words_of(language)).splitlines()
        assert re.fullmatch(r"pie showData title [\w ./+-]+", title)
        assert [one for one in slices if not SLICE.fullmatch(one)] == []
        assert last == "```"


# --- text that cannot act ---


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_words_add_no_structure(text: str) -> None:
    hostile, plain = written(poisoned(text)), written(poisoned("plain"))
    assert kinds(hostile) == kinds(plain) or not text.strip()
    assert kinds(hostile)["html_block"] == kinds(plain)["html_block"]


def written(report: Report) -> str:
    return files(report, ["md"], EN)["report.md"]


ALLOWED_HTML = re.compile(r"</?(?:details|summary|code|br)>|<!-- -->")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_words_are_no_markup(text: str) -> None:
    for token in tokens(written(poisoned(text))):
        if token.type in ("html_inline", "html_block"):
            assert "<" not in ALLOWED_HTML.sub("", token.content)
        assert token.type not in ("image", "hr", "blockquote_open")
        href = str(token.attrs.get("href", ""))
        assert not href or re.match(r"https?://[^\s/]", href)
        if token.type == "text":
            assert not re.search(r"(?<![\w.])@\w", token.content), token.content


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_that_came_along_is_masked(secret: str) -> None:
    assert secret not in written(poisoned(HOSTILE["secret"]))


def test_references_in_a_folded_line_are_taken_apart() -> None:
    text = written(poisoned(HOSTILE["reference"]))
    summaries = re.findall(r"<summary>.*</summary>", text)
    assert summaries
    assert all(not re.search(r"#\d|!\d|GH-\d", one) for one in summaries)


def test_a_raw_line_shown_as_two_has_one_causal_line() -> None:
    shown = lines(5, "before", "progress 10%", "ValueError: no")
    shown = (shown[0], replace(shown[1], number=6), replace(shown[2], number=6))
    one = replace(job(1, "w", shown, 6), text="ValueError: no")
    assert numbered(one).splitlines() == [
        "  5 │ before",
        "  6 │ progress 10%",
        "> 6 │ ValueError: no",
    ]


def test_very_long_lines_are_cut() -> None:
    one = job(1, "w", lines(1, "x" * 5000), 1)
    assert len(numbered(one)) < 500
    report = replace(usual(), jobs=(replace(usual().jobs[0], excerpt=lines(1, "y" * 9000)),))
    assert len(made_safe(report).jobs[0].excerpt[0].text) == 2000


def test_where_a_hypothesis_was_seen_is_told_in_rows_of_its_own() -> None:
    first = usual().buckets[0]
    assert first.code is not None
    told = f"{first.hypothesis.rstrip('.')} ({seen(first.code)})"
    text = markdown(replace(usual(), buckets=(replace(first, hypothesis=told),)), EN)
    assert text.count("c81d9a2f0b") == text.count("[c81d9a2f0b](") + text.count("commit/c81d9a2f0b")
    assert "the commit that the trace names; changed" not in text
    assert "one operand was sharded along its reduction dim" in text
