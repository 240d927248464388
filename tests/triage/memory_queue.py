"""A queue in memory behind the forges' protocol: as stateful as the fakes, without the wire.

For properties that are tried on hundreds of issues. `writes` tells of every change, `created` of
labels that the repository lacked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ciops.forges.base import (
    AddedLabels,
    Comment,
    Issue,
    LabelAddition,
    LabelEvent,
    Person,
    Timeline,
    Viewer,
    same_label,
)
from ciops.plumbing.http import Rate
from ciops.triage.apply import Pen
from ciops.triage.interruption import Interruption
from ciops.triage.policy import Policy
from ciops.triage.run_file import Run, RunFile
from ciops.triage.run_issue import Deciding, Desk, Result
from ciops.triage.run_named import take_named
from ciops.triage.run_sweep import Session
from ciops.triage.run_work import knowing
from ciops.triage.words import words_in

RUN = Run("o/r", "github", "shelf-bot[bot]", "small@1", "shared", "q", "apply", "1/1", "2025")
BOT = Viewer("shelf-bot[bot]", is_bot=True)
NOW = "2026-01-01T00:00:00Z"
WORDS = words_in("en")


@dataclass(frozen=True, slots=True)
class Write:
    """One change: which issue, `comment` or `label`, and what."""

    number: int
    kind: str
    what: str
    reason: str = ""


@dataclass(slots=True)
class MemoryQueue:
    """Issues by number, with their comments and label events."""

    issues_by_number: dict[int, Issue]
    talk: dict[int, list[Comment]] = field(default_factory=dict)
    events: dict[int, list[LabelEvent]] = field(default_factory=dict)
    repository: set[str] = field(default_factory=set)
    writes: list[Write] = field(default_factory=list)
    created: list[str] = field(default_factory=list)

    def viewer(self) -> Viewer:
        return BOT

    def labels(self) -> frozenset[str]:
        return frozenset(self.repository)

    def issue(self, number: int) -> Issue:
        return self.issues_by_number[number]

    def issues(self, label: str = "", **_: Any) -> Iterator[Issue]:
        yield from self.issues_by_number.values()

    def comments(self, number: int) -> list[Comment]:
        return list(self.talk.get(number, ()))

    def timeline(self, number: int) -> Timeline:
        return Timeline(tuple(self.events.get(number, ())), tuple(self.comments(number)), ())

    def refuse_labels(self, wanted: Sequence[str], there: Sequence[str]) -> None:
        """As on GitHub: labels stand side by side."""

    def association_of(self, person: Person) -> str:
        return "NONE"

    def add_labels(self, number: int, additions: Sequence[LabelAddition]) -> AddedLabels:
        for addition in additions:
            self.put(number, addition.name)
            self.writes.append(Write(number, "label", addition.name, addition.rationale))
        return AddedLabels(self.issue(number).labels)

    def put(self, number: int, label: str) -> None:
        there = self.issues_by_number[number]
        if not any(same_label(label, name) for name in self.repository):
            self.created.append(label)
        self.issues_by_number[number] = replace(there, labels=(*there.labels, label))
        event = LabelEvent("added", label, Person(BOT.login, is_bot=True), NOW)
        self.events.setdefault(number, []).append(event)

    def add_comment(self, number: int, body: str) -> Comment:
        author = Person(BOT.login, is_bot=True)
        said = Comment(900 + len(self.writes), body, author, "NONE", NOW, "https://x/c")
        self.talk.setdefault(number, []).append(said)
        there = self.issues_by_number[number]
        self.issues_by_number[number] = replace(there, comments=there.comments + 1)
        self.writes.append(Write(number, "comment", body))
        return said

    def remove_label(self, number: int, label: str) -> bool:
        raise AssertionError("a run removes no label")

    def delete_comment(self, number: int, comment_id: int) -> bool:
        raise AssertionError("a run deletes no comment")

    def search(self, words: str, **_: Any) -> list[Issue]:
        return []


def triage(
    queue: MemoryQueue,
    numbers: list[int],
    folder: Path,
    policy: Policy,
    profile: str,
    decide: Deciding | None = None,
) -> list[Result]:
    """A run on named issues, as `run` does it once it has begun."""
    desk = Desk(
        queue=queue,  # type: ignore[arg-type]
        forge="github",
        viewer=BOT,
        policy=knowing(policy, BOT),
        profile=policy.profiles[profile],
        words=WORDS,
    )
    results: list[Result] = []
    interruption = Interruption()
    with RunFile(folder, RUN) as record:
        session = Session(
            desk=desk if decide is None else replace(desk, decide=decide),
            client=SimpleNamespace(rate=Rate(None, None, None), calls=0),  # type: ignore[arg-type]
            report=results.append,
            interruption=interruption,
            pen=Pen(desk.queue, record, interruption.writing, lambda: None),
        )
        take_named(numbers, queue.labels(), session)
    return results
