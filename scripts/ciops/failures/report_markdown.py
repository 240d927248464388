"""The report as Markdown that GitHub and GitLab show alike, and as a job summary.

The layout is `report.md.j2` and `bucket.md.j2` in the templates folder. A job summary has a
limit: what must stay (scope, checksum, chart, every bucket in the table, risks) is laid out first,
then the evidence of the buckets, biggest first, as far as there is room: whole, then without the
table of jobs, then not at all, which is said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ciops.failures.code_seen import without_code
from ciops.failures.report_findings import (
    checksum,
    code_at,
    code_place,
    headline,
    listed,
    outcome,
    owed,
    path_to,
    place_of,
    risks,
    start_of,
    tracking,
)
from ciops.failures.report_model import Bucket, FailedJob, PipelineStep, Report
from ciops.failures.report_phrases import in_language
from ciops.failures.report_text import causal_index, one_line, shortened
from ciops.failures.report_words import Words
from ciops.plumbing.rendering import escape_html, escape_markdown, link

SUMMARY_BYTES: Final = 1024 * 1024 - 4096
"""What a job summary may take on GitHub, less some room for what else a job says there."""
_BAR: Final = 8
_SLICES: Final = 12
_LABEL: Final = 60
_LONGEST_CELL: Final = 160
_LINE_COLUMNS: Final = 400


@dataclass(frozen=True, slots=True)
class _Row:
    """A bucket as the table of buckets shows it."""

    bucket: Bucket
    bar: str
    error: str
    reason: str
    place: str
    job: FailedJob | None
    outcome: str
    outcome_url: str


def markdown(report: Report, words: Words, limit: int | None = None) -> str:
    """The report in at most `limit` bytes, unless the shortest table of buckets takes more."""
    report = in_language(without_code(report), words)
    whole = [_section(report, bucket, words, jobs=True) for bucket in report.buckets]
    if limit is None:
        return _document(report, words, whole, 0)
    cell = _fitting_cell(report, words, limit)
    room = limit - _size(_document(report, words, [], len(report.buckets), cell))
    kept: list[str] = []
    for bucket, section in zip(report.buckets, whole, strict=True):
        brief = _section(report, bucket, words, jobs=False)
        fits = next((one for one in (section, brief) if _size(one) + 1 <= room), None)
        if fits is None:
            break
        room -= _size(fits) + 1
        kept.append(fits)
    return _document(report, words, kept, len(report.buckets) - len(kept), cell)


def _fitting_cell(report: Report, words: Words, limit: int) -> int:
    """How long an error may be in the table of buckets so that the table fits."""
    for cell in (_LONGEST_CELL, _LONGEST_CELL // 3):
        if _size(_document(report, words, [], len(report.buckets), cell)) <= limit:
            return cell
    return 0


def job_summary(report: Report, words: Words) -> str:
    """The report for the run's summary page."""
    return markdown(report, words, SUMMARY_BYTES)


def _size(text: str) -> int:
    return len(text.encode("utf-8", errors="replace"))


def _document(
    report: Report,
    words: Words,
    sections: Sequence[str],
    left_out: int,
    cell: int = _LONGEST_CELL,
) -> str:
    return words.templates.render(
        "report.md",
        report=report,
        words=words,
        headline=headline(report, words),
        checksum=checksum(report),
        paths=[path_to(report, one) for one in report.terminal_pipelines],
        start=start_of(report),
        via=lambda path: _via(path, words),
        chart=pie_chart(report, words) if len(report.buckets) > 1 else "",
        rows=_rows(report, words, cell),
        sections=sections,
        left_out=left_out,
        tracking=tracking(report, words),
        risks=listed(risks(report), words),
        owed=listed(owed(report), words),
    )


def _via(path: Sequence[PipelineStep], words: Words) -> str:
    """The project of a terminal pipeline, and the bridges on the way there as links."""
    project = escape_markdown(path[-1].project)
    links = [link(step.via_name or step.via_bridge, step.via_url) for step in path[1:]]
    if not links:
        return project
    via = words.say("report.via", path=" → ".join(links))
    return words.say("report.bracketed", what=project, inside=via)


def _rows(report: Report, words: Words, cell: int) -> list[_Row]:
    most = max((bucket.size for bucket in report.buckets), default=1)
    rows = []
    for bucket in report.buckets:
        done = outcome(bucket)
        error = shortened(bucket.causal_error or "", cell)
        job = report.jobs_by_id.get(bucket.representative_job)
        bar = text_bar(bucket.size, most)
        reason = shortened(bucket.reason, cell)
        place = place_of(bucket, job, words)
        rows.append(_Row(bucket, bar, error, reason, place, job, done.say(words), done.url))
    return rows


def text_bar(size: int, most: int, columns: int = _BAR) -> str:
    """A bar of eighths of a character; never empty."""
    eighths = max(1, round(size * columns * 8 / max(most, 1)))
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def pie_chart(report: Report, words: Words) -> str:
    """The buckets as a Mermaid pie chart, which GitHub and GitLab both draw.

    Of Mermaid's charts, `pie` alone is spelt the same in every version that either of them runs
    (https://mermaid.js.org/syntax/pie.html). A label is a name reduced to characters that mean
    nothing to Mermaid.
    """
    shown = list(report.buckets)
    if len(shown) > _SLICES:
        shown = shown[: _SLICES - 1]
    slices = [(bucket.name, bucket.size) for bucket in shown]
    rest = report.buckets[len(shown) :]
    if rest:
        slices.append((words.say("count.more-buckets", len(rest)), sum(one.size for one in rest)))
    body = "".join(f'    "{_label(name)}" : {size}\n' for name, size in slices)
    title = _label(words.say("markdown.chart"))
    return f"```mermaid\npie showData title {title}\n{body}```"


def _label(name: str) -> str:
    """No quote ends it, no `%%{…}%%` or `;` in it is read as a directive or a statement."""
    label = re.sub(r"[^\w ./+-]", "_", one_line(name)).strip() or "_"
    return label if len(label) <= _LABEL else f"..{label[2 - _LABEL :]}"  # its end tells it apart


def _section(report: Report, bucket: Bucket, words: Words, *, jobs: bool) -> str:
    """The folded evidence of one bucket; with `jobs`, a table of its jobs."""
    job = report.jobs_by_id.get(bucket.representative_job)
    members = [report.jobs_by_id[one] for one in bucket.jobs if one in report.jobs_by_id]
    return words.templates.render(
        "bucket.md",
        bucket=bucket,
        words=words,
        summary=_summary(bucket, words),
        job=job,
        outcome=outcome(bucket),
        code_place=code_place(bucket.code) if bucket.code else "",
        code_at=code_at(bucket.code, words) if bucket.code else "",
        changes=_changes(bucket, words),
        excerpt=numbered(job) if job else "",
        members=members if jobs else [],
        with_model=any(one.model for one in members),
        with_workload=any(one.workload for one in members),
        shorten=lambda text: shortened(text or "", _LONGEST_CELL),
    ).rstrip("\n")


def _changes(bucket: Bucket, words: Words) -> str:
    """The commits as Markdown links; that there was none; "" when that is not known."""
    if bucket.code is None or bucket.code.changes is None:
        return ""
    changes = [
        f"{link(one.sha[:10], one.url)} {escape_markdown(shortened(one.title, _LONGEST_CELL))}"
        for one in bucket.code.changes
    ]
    return words.say("report.and").join(changes) or words.say("code.no-changes")


def _summary(bucket: Bucket, words: Words) -> str:
    """One line of HTML. A comment takes apart what GitHub and GitLab would make a reference of."""
    marks = [words.say("count.jobs", bucket.size), bucket.status, bucket.owner]
    if bucket.recurring is not None:
        marks.append(words.say("mark.recurring" if bucket.recurring else "mark.new"))
    text = escape_html(one_line(" · ".join(marks)))
    name = escape_html(one_line(bucket.name))
    return re.sub(r"([@#!]|\bGH-)(?=[\w&])", r"\1<!-- -->", f"<code>{name}</code> – {text}")


def numbered(job: FailedJob) -> str:
    """The excerpt with line numbers, the causal line marked by `>`."""
    digits = len(str(job.excerpt[-1].number)) if job.excerpt else 1
    causal = causal_index(job)
    return "\n".join(
        f"{'>' if at == causal else ' '} {line.number:>{digits}} │ "
        f"{one_line(line.text, _LINE_COLUMNS)}".rstrip()
        for at, line in enumerate(job.excerpt)
    )
