"""The report for a terminal and a job log: about 60 lines, and every bucket in them.

A bucket takes as many lines as the number of buckets leaves it; with very many, one. Lines carry a
style each (see `CiHost.say`), so colour is the printer's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from ciops.failures import report_model as model
from ciops.failures.report_findings import blockers, nothing_filed, outcome, owed, path_to, risks
from ciops.failures.report_model import Bucket, Report
from ciops.failures.report_text import shortened, width
from ciops.failures.report_words import Words

LINES: Final = 60
COLUMNS: Final = 100
_BAR: Final = 12
_MOST_FINDINGS: Final = 4


@dataclass(frozen=True, slots=True)
class ChatLine:
    """One line and its style: "", bold, dim, red, green or yellow."""

    text: str
    style: str = ""


def chat_lines(report: Report, words: Words, columns: int = COLUMNS) -> list[ChatLine]:
    """The report as lines; those that hold a URL may be longer than `columns`."""
    head = [*_head(report, words)]
    tail = [*_beside(report, words), *_tracking(report, words), *_remaining(report, words)]
    tail += _checksum(report, words)
    room = LINES - len(head) - len(tail)
    buckets = _buckets(report, words, columns, room)
    return [*map(_fitted(columns), head), *buckets, *map(_fitted(columns), tail)]


def chat_text(report: Report, words: Words, columns: int = COLUMNS) -> str:
    """The same without style, ending in a newline."""
    return "".join(f"{line.text}\n" for line in chat_lines(report, words, columns))


def _fitted(columns: int) -> Callable[[ChatLine], ChatLine]:
    def fit(line: ChatLine) -> ChatLine:
        if "://" in line.text:
            return line
        indent = line.text[: len(line.text) - len(line.text.lstrip(" "))]
        return ChatLine(indent + shortened(line.text, columns - len(indent)), line.style)

    return fit


def _head(report: Report, words: Words) -> Iterator[ChatLine]:
    what = words.say("chat.title", scope=report.scope, config=report.config)
    yield ChatLine(what, "bold")
    for pipeline in report.terminal_pipelines or (report.starting_pipeline,):
        path = path_to(report, pipeline)
        yield ChatLine("  " + " → ".join(f"{step.id} {step.project}".strip() for step in path))
        if path[-1].url:
            yield ChatLine(f"  {path[-1].url}", "dim")
    yield ChatLine("")
    yield ChatLine(headline(report, words), "bold")
    yield ChatLine("")


def headline(report: Report, words: Words) -> str:
    """How many jobs and buckets, what they deserve, how many are new."""
    if not report.failed_jobs_total:
        return words.say("report.none")
    jobs = words.say("count.failed-jobs", report.failed_jobs_total)
    buckets = words.say("count.buckets", len(report.buckets))
    parts = [
        f"{words.number(count)} {status}"
        for status in (model.ACTIONABLE, model.ISSUE_ONLY)
        if (count := sum(one.status == status for one in report.buckets))
    ]
    if any(one.recurring is not None for one in report.buckets):
        parts.append(words.say("count.new", sum(one.recurring is False for one in report.buckets)))
    what = words.say("report.headline", jobs=jobs, buckets=buckets)
    return words.say("report.with-parts", what=what, parts=words.say("report.and").join(parts))


# --- buckets -----------------------------------------------------------------------------------

_Layout = Callable[[Report, Bucket, Words, int], list[ChatLine]]


def _buckets(report: Report, words: Words, columns: int, room: int) -> list[ChatLine]:
    """Every bucket, in the roomiest layout that fits."""
    lines: list[ChatLine] = []
    for layout in _LAYOUTS:
        lines = [
            line for one in report.buckets for line in layout(report, one, words, columns)
        ]
        if len(lines) <= room:
            break
    return lines


def _whole(report: Report, bucket: Bucket, words: Words, columns: int) -> list[ChatLine]:
    """Name, error, place, reason and outcome, a line each, and an empty one."""
    done = outcome(bucket)
    said = f"{done.say(words)} {done.url}".strip()
    lines = [*_named(report, bucket, words, columns), _place(report, bucket, words, columns)]
    if bucket.hypothesis:
        lines.append(_labelled("label.hypothesis", bucket.hypothesis, words, columns))
    lines.append(_labelled("label.why", bucket.reason, words, columns))
    lines.append(ChatLine(f"{_INDENT}{said}", "dim"))
    return [*lines, ChatLine("")]


def _medium(report: Report, bucket: Bucket, words: Words, columns: int) -> list[ChatLine]:
    """Name, error, place, reason with outcome."""
    said = f"{bucket.reason} – {outcome(bucket).say(words)}"
    reason = _labelled("label.why", said, words, columns)
    return [
        *_named(report, bucket, words, columns),
        _place(report, bucket, words, columns),
        reason,
    ]


def _brief(report: Report, bucket: Bucket, words: Words, columns: int) -> list[ChatLine]:
    """Name, then the error with its job, and the reason as far as there is room."""
    lines = _named(report, bucket, words, columns, job=True)
    lines[1] = ChatLine(f"{lines[1].text}", lines[1].style)
    return lines


def _one(_report: Report, bucket: Bucket, words: Words, columns: int) -> list[ChatLine]:
    """All on one line: the error takes what the name leaves."""
    head = f"{_size(bucket, words)} {bucket.name} {bucket.status}"
    rest = f" · {bucket.representative_job}: {_error(bucket, words)}"
    left = max(columns - width(head), 24)
    return [ChatLine(head + " " + shortened(rest, left), _style(bucket))]


_LAYOUTS: Final[tuple[_Layout, ...]] = (_whole, _medium, _brief, _one)
_INDENT: Final = " " * 6


def _size(bucket: Bucket, words: Words) -> str:
    return f"{words.number(bucket.size):>4} "


def _style(bucket: Bucket) -> str:
    return "yellow" if bucket.status == model.ACTIONABLE else ""


def _named(
    report: Report, bucket: Bucket, words: Words, columns: int, job: bool = False
) -> list[ChatLine]:
    marks = [bucket.status]
    if bucket.recurring is not None:
        marks.append(words.say("mark.recurring" if bucket.recurring else "mark.new"))
    head = f"{_size(bucket, words)} {bucket.name}  {' · '.join(marks)}"
    error = _error(bucket, words)
    if job:
        line = report.jobs_by_id.get(bucket.representative_job)
        at = f":{line.line}" if line and line.line else ""
        error = f"{bucket.representative_job}{at} {error} – {bucket.reason}"
    return [
        ChatLine(head, _style(bucket)),
        ChatLine(_INDENT + shortened(error, columns - len(_INDENT))),
    ]


def _error(bucket: Bucket, words: Words) -> str:
    return bucket.causal_error or words.say("report.no-cause")


def _place(report: Report, bucket: Bucket, words: Words, columns: int) -> ChatLine:
    """Where the evidence stands: job, line, address."""
    job = report.jobs_by_id.get(bucket.representative_job)
    if job is None:
        return ChatLine(f"{_INDENT}{words.say('chat.job', job=bucket.representative_job)}", "dim")
    key = "chat.job-line" if job.line else "chat.job"
    said = words.say(key, job=job.id, line=job.line or 0)
    if job.frame:
        said += f" · {job.frame}"
    if job.job_url:
        return ChatLine(f"{_INDENT}{said} · {job.job_url}", "dim")
    return ChatLine(_INDENT + shortened(said, columns - len(_INDENT)), "dim")


def _labelled(label: str, text: str, words: Words, columns: int) -> ChatLine:
    said = words.say("report.labelled", label=words.say(label), text=text)
    return ChatLine(_INDENT + shortened(said, columns - len(_INDENT)), "dim")
