"""The formats of a report, by the name that `--format` takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from ciops.failures.report_csv import to_csv
from ciops.failures.report_json import to_json
from ciops.failures.report_model import Report
from ciops.failures.report_text import made_safe
from ciops.failures.report_words import Words

Renderer = Callable[[Report, Words], str]
CHAT: Final = "chat"
"""Always printed, line by line: see `report_chat.chat_lines`."""


def _markdown(report: Report, words: Words) -> str:
    from ciops.failures.report_markdown import markdown  # Jinja costs 70 ms

    return markdown(report, words)


def _page(report: Report, words: Words) -> str:
    from ciops.failures.report_page import page

    return page(report, words)


FILES: Final[Mapping[str, Renderer]] = MappingProxyType(
    {
        "md": _markdown,
        "csv": lambda report, _words: to_csv(report),
        "json": lambda report, _words: to_json(report),
        "html": _page,
    }
)
"""What is written to `report.<format>`."""

FORMATS: Final = (CHAT, *FILES)


def files(report: Report, formats: Iterable[str], words: Words) -> dict[str, str]:
    """The texts of the asked files by their names, `chat` left out."""
    safe = made_safe(report)
    return {f"report.{name}": FILES[name](safe, words) for name in formats if name in FILES}


def summary(report: Report, words: Words) -> str:
    """Markdown for the run's summary page, within what a host takes."""
    from ciops.failures.report_markdown import job_summary

    return job_summary(made_safe(report), words)
