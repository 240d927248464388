"""Planned writes, and how they are done: the comment first, then all labels in one call.

A run that dies between the two is made good by the next one, which finds its comment. Labels are
only ever added.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Final

from ciops.errors import RefusedError
from ciops.forges.base import Comment, IssueQueue, LabelAddition
from ciops.plumbing.http import HttpError
from ciops.triage.run_file import Entry, RunFile, timestamp

CREATE_LABELS: Final = "Create them in the repository, or change the policy; nothing was written"


@dataclass(frozen=True, slots=True)
class Writes:
    """What is to be written to one issue; `comment` is its text, "" for none."""

    issue: int
    template: str = ""
    marker: str = ""
    comment: str = ""
    labels: tuple[LabelAddition, ...] = ()

    @property
    def calls(self) -> int:
        return bool(self.comment) + bool(self.labels)


@dataclass(frozen=True, slots=True)
class Written:
    """What was written to one issue.

    `labels` were added; `suggested` wait for a person; `not_suggested` could not be stored as
    suggestions and were left. `doubled`: another run made the same comment at the same time.
    """

    labels: tuple[str, ...] = ()
    suggested: tuple[str, ...] = ()
    not_suggested: tuple[str, ...] = ()
    comment_id: int = 0
    comment_url: str = ""
    doubled: bool = False


@dataclass(frozen=True, slots=True)
class Pen:
    """What a write needs: where it goes, where it is recorded, and what guards it.

    `writing` lets a write be finished when the job is cancelled, `pace` waits before each. With
    `looks_after` comments are read once more when one was made.
    """

    queue: IssueQueue
    record: RunFile
    writing: Callable[[], AbstractContextManager[None]]
    pace: Callable[[], None]
    looks_after: bool = False


def refuse_missing(wanted: frozenset[str], there: frozenset[str]) -> None:
    """RefusedError with the labels that a repository lacks: adding one would create it."""
    missing = missing_labels(wanted, there)
    if missing:
        listed = ", ".join(f'"{name}"' for name in missing)
        raise RefusedError(f"the repository lacks labels: {listed}", CREATE_LABELS)


def missing_labels(wanted: frozenset[str], there: frozenset[str]) -> list[str]:
    """In alphabetical order; services do not tell labels apart by the case of plain letters.

    No further: `ﬁle` folds to `file` as well, but a service would take them for two labels.
    """
    known = set(map(_folded, there))
    return sorted(name for name in wanted if _folded(name) not in known)


def _folded(label: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in label)


def apply(writes: Writes, pen: Pen) -> Written:
    """Do the writes, each recorded before and after."""
    written = Written()
    if writes.comment:
        comment = _comment(writes, pen)
        doubled = pen.looks_after and _is_doubled(comment, writes, pen)
        written = replace(written, comment_id=comment.id, comment_url=comment.url, doubled=doubled)
    if writes.labels:
        written = _label(writes, pen, written)
    return written


def _comment(writes: Writes, pen: Pen) -> Comment:
    pen.pace()
    entry = Entry(
        writes.issue,
        "comment",
        "sent",
        timestamp(),
        template=writes.template,
        marker=writes.marker,
    )
    with pen.writing():
        pen.record.add(entry)
        comment = pen.queue.add_comment(writes.issue, writes.comment)
        done = replace(entry, state="done", at=timestamp(), id=comment.id, url=comment.url)
        pen.record.add(done)
    return comment


def _is_doubled(comment: Comment, writes: Writes, pen: Pen) -> bool:
    """Whether the same comment is there twice: no service takes one only if none is there yet."""
    try:
        there = pen.queue.comments(writes.issue)
    except HttpError:  # the comment is made and recorded, whoever else made one
        return False
    return any(
        writes.marker in other.body and (other.author.is_bot or other.author == comment.author)
        for other in there
        if other.id != comment.id
    )


def _label(writes: Writes, pen: Pen, written: Written) -> Written:
    pen.pace()
    entry = Entry(
        writes.issue,
        "labels",
        "sent",
        timestamp(),
        labels=tuple(part.name for part in writes.labels if not part.suggest),
        suggested=tuple(part.name for part in writes.labels if part.suggest),
    )
    with pen.writing():
        pen.record.add(entry)
        added = pen.queue.add_labels(writes.issue, writes.labels)
        suggested = tuple(name for name in entry.suggested if name not in added.not_suggested)
        pen.record.add(replace(entry, state="done", at=timestamp(), suggested=suggested))
    return replace(
        written,
        labels=entry.labels,
        suggested=suggested,
        not_suggested=added.not_suggested,
    )
