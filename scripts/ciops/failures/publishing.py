"""Show a report and write its files; the exit status follows from what it could not read."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Final

from ciops.errors import EXIT_DONE, EXIT_PARTIAL
from ciops.failures.report_chat import COLUMNS, chat_lines, chat_text
from ciops.failures.report_formats import CHAT, FILES
from ciops.failures.report_model import Report
from ciops.failures.report_text import made_safe
from ciops.failures.report_words import words_of
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.output_folder import OutputFolder

MARKDOWN: Final = "md"


def publish(
    report: Report, formats: Sequence[str], folder: OutputFolder, language: str, host: CiHost
) -> int:
    """Print the report, write what was asked for, tell the host; the exit status."""
    words = words_of(language)
    safe = made_safe(report)
    texts = {f"report.{name}": FILES[name](safe, words) for name in formats if name in FILES}
    if CHAT in formats:
        texts["report.chat"] = chat_text(safe, words)
    written = [folder.write(name, text) for name, text in texts.items()]
    for line in chat_lines(safe, words, _columns(host)):
        host.say(line.text, line.style)
    for path in written:
        host.say(str(path), "dim")
    if MARKDOWN in formats or host.name == "github":
        from ciops.failures.report_markdown import job_summary  # Jinja costs 70 ms

        host.summary(job_summary(safe, words))
    _tell(report, formats, folder, host)
    return status_of(report)


def _columns(host: CiHost) -> int:
    """As wide as the terminal, where there is one."""
    if host.name != "terminal":
        return COLUMNS
    return min(max(shutil.get_terminal_size((COLUMNS, 24)).columns, 60), 160)


def _tell(report: Report, formats: Sequence[str], folder: OutputFolder, host: CiHost) -> None:
    """What later steps and jobs may want to know."""
    host.output("failed-jobs", str(report.failed_jobs_total))
    host.output("buckets", str(len(report.buckets)))
    if "json" in formats:
        host.output("report-file", str(folder.path / "report.json"))


def status_of(report: Report) -> int:
    """1 when something could not be read, or a job is in no bucket or in two."""
    whole = not report.unreadable and not report.remarks and report.checksum_holds
    return EXIT_DONE if whole else EXIT_PARTIAL
