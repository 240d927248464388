"""One row a failed job, and no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ciops.failures.report_csv import COLUMNS, cell, to_csv
from failures.hostile_words import HOSTILE, poisoned
from failures.report_samples import big, empty, usual

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def test_the_first_row_names_the_columns() -> None:
    assert to_csv(empty()) == "\ufeff" + ",".join(COLUMNS) + "\r\n"
    assert COLUMNS == (
        "job_id", "job_url", "log_url", "workload", "model", "first_causal_error", "bucket",
        "owner", "status", "outcome", "starting_pipeline", "terminal_pipeline", "via_bridge",
    )  # fmt: skip


def test_one_row_a_failed_job() -> None:
    found = rows(to_csv(usual()))
    assert [row["job_id"] for row in found] == [str(job.id) for job in usual().jobs]
    assert len(rows(to_csv(big()))) == 500


def test_what_a_row_says() -> None:
    assert rows(to_csv(usual()))[0] == {
        "job_id": "311097",
        "job_url": "https://gitlab.example.com/lab/runs/-/jobs/311097",
        "log_url": "https://gitlab.example.com/lab/runs/-/jobs/311097/raw",
        "workload": "cover_phi-4_ws2",
        "model": "microsoft/phi-4",
        "first_causal_error": "RuntimeError: a and b must have same reduction dim, but got "
        "[s44*s70, 5120] X [2560, 5120].",
        "bucket": "loom/autodeploy-sharding/mm-reduction-dim-mismatch",
        "owner": "loom",
        "status": "actionable",
        "outcome": "awaits-change",
        "starting_pipeline": "5060",
        "terminal_pipeline": "5127",
        "via_bridge": "771",
    }


def test_outcomes_are_codes_with_their_address() -> None:
    found = {row["bucket"]: row["outcome"] for row in rows(to_csv(usual()))}
    assert found["external/huggingface/access-forbidden"] == (
        "existing https://gitlab.example.com/loom/dashboard/-/issues/412"
    )
    assert found["infra/resource/oom"] == "not-filed: external or infra"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("plain", "plain"),
        (None, ""),
        ("", ""),
        (5, "5"),
        (-5, "-5"),
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("  =1", "'  =1"),
        ("\t=1", "' =1"),
        ("\r=1", "' =1"),
        ("\n=1", "' =1"),
        ("\uff1d1", "'\uff1d1"),
        ("a=1", "a=1"),
        ("a;=1", "a;'=1"),
        ("a; =1", "a; '=1"),
        ("a\t-1", "a -1"),
        ("a;b", "a;b"),
        ("a,b", "a,b"),
        ('say "hi"', 'say "hi"'),
        ("two\r\nlines", "two lines"),
        ("\x00=1", "'=1"),
        ("\u202e=1", "'=1"),
        ("\ufeff=1", "'=1"),
        ("x" * 40_000, "x" * 31_999 + "…"),
    ],
)
def test_a_cell(value: object, shown: str) -> None:
    assert cell(value) == shown


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_words_stay_in_their_cells(text: str) -> None:
    for row in rows(to_csv(poisoned(text))):
        assert list(row) == list(COLUMNS)
        assert None not in row.values()
        assert not [one for one in row.values() if one.strip() and one.strip()[0] in SIGNS]


@settings(max_examples=200, deadline=None)
@given(st.text() | st.text("=+-@;\t\r\n\"', a1\u202e\uff1d", min_size=1))
def test_no_text_becomes_a_formula_for_any_separator(text: str) -> None:
    for part in cell(text).split(";"):
        assert part.strip()[:1] not in (*SIGNS, "\t")


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1).filter(str.isalnum))
def test_ordinary_words_are_left_as_they_are(text: str) -> None:
    assert cell(text) == text
