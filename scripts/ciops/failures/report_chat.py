"""The report for a terminal and a job log: about 60 lines, and every bucket in them.

A bucket takes as many lines as the number of buckets leaves it; with very many, one. Lines carry
a style each (see `CiHost.say`), so colour is the printer's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ciops.failures import report_model as model
from ciops.failures.report_findings import (
    checksum,
    headline,
    listed,
    outcome,
    owed,
    path_to,
    place_of,
    risks,
    tracking,
)
from ciops.failures.report_model import Bucket, Report
from ciops.failures.report_phrases import in_language
from ciops.failures.report_text import shortened, width, wrapped
from ciops.failures.report_words import Words

LINES: Final = 60
_SLACK: Final = 4  # a little more than that beats a layout that says much less
COLUMNS: Final = 100
_INDENT: Final = " " * 6
_MOST_LISTED: Final = 6


@dataclass(frozen=True, slots=True)
class ChatLine:
    """One line and its style: "", bold, dim, red, green or yellow."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class _Chat:
    """What every part of the text needs."""

    report: Report
    words: Words
    columns: int

    def line(self, text: str, style: str = "", indent: str = _INDENT, url: str = "") -> ChatLine:
        """The text cut to what fits; an address stands after it, whole."""
        return ChatLine(
            f"{indent}{shortened(text, self.columns - len(indent))} {url}".rstrip(), style
        )

    def lines(
        self, text: str, style: str = "", first: str = _INDENT, most: int = 2
    ) -> list[ChatLine]:
        """The text on up to `most` lines, indented like the first one's text."""
        texts = wrapped(text, self.columns - len(first), most)
        rest = " " * len(first)
        return [ChatLine((rest if at else first) + one, style) for at, one in enumerate(texts)]

    def labelled(self, label: str, text: str) -> str:
        """ "Label: text" as the language writes it."""
        return self.words.say("report.labelled", label=self.words.say(label), text=text)


def chat_lines(report: Report, words: Words, columns: int = COLUMNS) -> list[ChatLine]:
    """The report as lines of at most `columns`, but for long addresses."""
    report = in_language(report, words)
    chat = _Chat(report, words, columns)
    head = [*_head(chat)]
    tail = [*_dead_ends(chat), *_tracking(chat), *_remaining(chat), *_checksum(chat)]
    return [*head, *_buckets(chat, LINES - len(head) - len(tail)), *tail]


def chat_text(report: Report, words: Words, columns: int = COLUMNS) -> str:
    """The same without style, ending in a newline."""
    return "".join(f"{line.text}\n" for line in chat_lines(report, words, columns))


def _head(chat: _Chat) -> Iterator[ChatLine]:
    report = chat.report
    title = chat.words.say("chat.title", scope=report.scope, config=report.config)
    yield chat.line(title, "bold", "")
    yield _pipeline(chat, "label.starting-pipeline", [report.starting_pipeline])
    for pipeline in report.terminal_pipelines[:_MOST_LISTED]:
        yield _pipeline(
            chat, "label.terminal-pipeline", [one.id for one in path_to(report, pipeline)]
        )
    further = report.terminal_pipelines[_MOST_LISTED:]
    if further:
        said = chat.labelled("label.terminal-pipelines", ", ".join(map(str, further)))
        yield from chat.lines(said, first="")
    yield ChatLine("")
    yield chat.line(headline(report, chat.words), "bold", "")
    yield ChatLine("")


def _pipeline(chat: _Chat, label: str, path: Sequence[int]) -> ChatLine:
    """A pipeline with its project and address, and those between it and the starting one."""
    known = chat.report.pipelines_by_id
    *_, last = path
    names = [f"{one} {known[one].project}".strip() if one in known else str(one) for one in path]
    between = names[1:-1]
    said = chat.labelled(label, names[-1])
    if between:
        via = chat.words.say("report.via", path=" → ".join(between))
        said = chat.words.say("report.bracketed", what=said, inside=via)
    return chat.line(said, indent="", url=known[last].url if last in known else "")


# --- buckets -----------------------------------------------------------------------------------


def _buckets(chat: _Chat, room: int) -> list[ChatLine]:
    """Every bucket, in the roomiest layout that fits; in the tightest when none does."""
    lines: list[ChatLine] = []
    for layout in _LAYOUTS:
        lines = [line for bucket in chat.report.buckets for line in layout(chat, bucket)]
        if len(lines) <= room + _SLACK:
            break
    return [*lines, ChatLine("")] if lines and lines[-1].text else lines


def _whole(chat: _Chat, bucket: Bucket) -> list[ChatLine]:
    """Name, error, place, hypothesis, reason and outcome, a line each; then an empty one."""
    done = outcome(bucket)
    lines = [_name(chat, bucket), chat.line(_error(chat, bucket)), _place(chat, bucket)]
    if bucket.hypothesis:
        lines += chat.lines(chat.labelled("label.hypothesis", bucket.hypothesis), "dim")
    lines += chat.lines(chat.labelled("label.why", bucket.reason), "dim")
    lines.append(chat.line(done.say(chat.words), "dim", url=done.url))
    return [*lines, ChatLine("")]


def _roomy(chat: _Chat, bucket: Bucket) -> list[ChatLine]:
    """Name, error, place, reason, outcome."""
    done = outcome(bucket)
    return [
        *(_name(chat, bucket), chat.line(_error(chat, bucket)), _place(chat, bucket)),
        chat.line(chat.labelled("label.why", bucket.reason), "dim"),
        chat.line(done.say(chat.words), "dim", url=done.url),
    ]


def _medium(chat: _Chat, bucket: Bucket) -> list[ChatLine]:
    """Name, error, place, outcome and reason."""
    said = f"{outcome(bucket).say(chat.words)} – {bucket.reason}"
    error = chat.line(_error(chat, bucket))
    return [_name(chat, bucket), error, _place(chat, bucket), chat.line(said, "dim")]


def _brief(chat: _Chat, bucket: Bucket) -> list[ChatLine]:
    """Name, with the outcome if there is room; then job, error and reason on one line."""
    half = (chat.columns - len(_INDENT) - len(str(bucket.representative_job))) * 2 // 3
    error = shortened(f"{bucket.representative_job}: {_error(chat, bucket)}", half)
    name = _name(chat, bucket)
    whole = f"{name.text} · {outcome(bucket).say(chat.words)}"
    if width(whole) <= chat.columns:
        name = ChatLine(whole, name.style)
    return [name, chat.line(f"{error} – {bucket.reason}", "dim")]


def _one(chat: _Chat, bucket: Bucket) -> list[ChatLine]:
    """All on one line: what the name leaves is for job and error."""
    name = _name(chat, bucket)
    left = chat.columns - width(name.text) - 3
    rest = f"{bucket.representative_job}: {_error(chat, bucket)}"
    return [ChatLine(f"{name.text} · {shortened(rest, max(left, 24))}", name.style)]


_LAYOUTS: Final[Sequence[Callable[[_Chat, Bucket], list[ChatLine]]]] = (
    *(_whole, _roomy, _medium, _brief, _one),
)


def _name(chat: _Chat, bucket: Bucket) -> ChatLine:
    marks = [bucket.status]
    if bucket.recurring is not None:
        marks.append(chat.words.say("mark.recurring" if bucket.recurring else "mark.new"))
    size = chat.words.number(bucket.size)
    style = "yellow" if bucket.status == model.ACTIONABLE else "bold"
    return ChatLine(f"{size:>4}  {bucket.name}  {' · '.join(marks)}", style)


def _error(chat: _Chat, bucket: Bucket) -> str:
    return bucket.causal_error or chat.words.say("report.no-cause")


def _place(chat: _Chat, bucket: Bucket) -> ChatLine:
    """Where the evidence stands: job, line, address."""
    job = chat.report.jobs_by_id.get(bucket.representative_job)
    said = place_of(bucket, job, chat.words)
    return chat.line(said, "dim", url=job.job_url if job else "")


# --- after the buckets -------------------------------------------------------------------------


def _dead_ends(chat: _Chat) -> Iterator[ChatLine]:
    bridges = chat.report.dead_end_bridges
    if bridges:
        yield ChatLine(chat.words.say("label.dead-ends"), "bold")
        for one in bridges:
            text = f"{one.id} {one.name}: {one.reason} – {one.bucket} {one.status}"
            yield from chat.lines(text, first="  - ")


def _tracking(chat: _Chat) -> Iterator[ChatLine]:
    said = tracking(chat.report, chat.words)
    if said:
        yield from chat.lines(said, first="", most=4)


def _remaining(chat: _Chat) -> Iterator[ChatLine]:
    for label, found in (("label.risks", risks(chat.report)), ("label.owed", owed(chat.report))):
        if found:
            yield ChatLine(chat.words.say(label), "bold")
            for text in listed(found, chat.words, _MOST_LISTED):
                yield from chat.lines(text, first="  - ")


def _checksum(chat: _Chat) -> Iterator[ChatLine]:
    style = "green" if chat.report.checksum_holds else "red"
    yield from (ChatLine(line, style) for line in checksum(chat.report))
