"""The report in every format and language, whole.

Written anew by one command, then read as a reviewer would:

    GOLDEN=write .venv/bin/python -m pytest tests/failures/test_report_goldens.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ciops.failures.report_chat import chat_text
from ciops.failures.report_formats import files
from ciops.failures.report_model import Report
from ciops.failures.report_words import LANGUAGES, words_of
from failures.report_samples import empty, usual

FOLDER = Path(__file__).parents[1] / "golden" / "failures"
REPORTS = {"usual": usual(), "empty": empty()}


def expect(name: str, text: str) -> None:
    path = FOLDER / name
    if os.environ.get("GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    assert path.read_bytes().decode() == text, f"{path} differs: see the top of this file"


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS.keys())
@pytest.mark.parametrize("language", LANGUAGES)
def test_chat(report: Report, language: str) -> None:
    kind = next(name for name, one in REPORTS.items() if one is report)
    expect(f"report-{kind}.{language}.txt", chat_text(report, words_of(language)))


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS.keys())
@pytest.mark.parametrize("language", LANGUAGES)
def test_markdown(report: Report, language: str) -> None:
    kind = next(name for name, one in REPORTS.items() if one is report)
    text = files(report, ["md"], words_of(language))["report.md"]
    expect(f"report-{kind}.{language}.md", text)


@pytest.mark.parametrize("name", ["csv", "json"])
def test_data_is_the_same_in_every_language(name: str) -> None:
    texts = {files(usual(), [name], words_of(one))[f"report.{name}"] for one in LANGUAGES}
    assert len(texts) == 1
    expect(f"report-usual.{name}", texts.pop())
