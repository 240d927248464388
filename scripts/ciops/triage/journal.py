"""What a run leaves behind as it goes: a line of JSON and a section of Markdown an issue.

Nothing is kept in memory but counts and the first failures, so a queue may be of any length.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Self

from ciops.plumbing.output_folder import WholeWrites, make_folder, open_new
from ciops.plumbing.rendering import escape_markdown
from ciops.triage.case_file import to_case
from ciops.triage.decide import to_json
from ciops.triage.history import facets_by_people
from ciops.triage.issue_summary import issue_section
from ciops.triage.run_issue import Desk, Result
from ciops.triage.would_change import Change, change_json

DECISIONS: Final = "decisions.jsonl"
SECTIONS: Final = "issues.md"
SHADOW: Final = "shadow.jsonl"
FAILURES: Final = 50


class Journal:
    """The files of one run in its folder. `shadow` keeps whole cases, for a backtest."""

    def __init__(self, folder: Path, desk: Desk, *, shadow: bool = False) -> None:
        make_folder(folder)
        self.folder = folder
        self.outcomes: Counter[str] = Counter()
        self.skips: Counter[str] = Counter()
        self.failures: list[str] = []
        self.worst = 0
        self._desk = desk
        self._decisions = open_new(folder / DECISIONS)
        self._sections = open_new(folder / SECTIONS)
        self._shadow = open_new(folder / SHADOW) if shadow else None

    def add(self, result: Result, changes: Sequence[Change] = (), *, show: bool = True) -> None:
        """Count a result and write it down; `show` gives it a section of the summary."""
        self.outcomes[result.outcome] += 1
        if result.look is not None and result.look.skip is not None:
            self.skips[result.look.skip] += 1
        if result.error:
            self.worst = max(self.worst, result.status)
            self._note_failure(result)
        _line(self._decisions, _told(result, changes))
        if show and result.look is not None:
            self._sections.write(issue_section(result, self._desk, changes).encode())
        if self._shadow is not None and result.look is not None and result.look.decision:
            decided = to_json(result.look.decision, map(change_json, changes))
            told = facets_by_people(result.look.facts, self._desk.policy)
            case = {**to_case(result.look.facts), "facets": told, "decision": decided}
            _line(self._shadow, case)

    def _note_failure(self, result: Result) -> None:
        if len(self.failures) < FAILURES:
            self.failures.append(f"#{result.number}: {escape_markdown(result.error)}")

    @property
    def looked_at(self) -> int:
        return self.outcomes.total()

    def sections(self, limit: int) -> str:
        """The sections so far, at most `limit` bytes of them."""
        with (self.folder / SECTIONS).open("rb") as file:
            return file.read(limit).decode("utf-8", errors="ignore")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in (self._decisions, self._sections, self._shadow):
            if file is not None:
                file.close()


def _line(file: WholeWrites, data: dict[str, Any]) -> None:
    file.write(json.dumps(data, ensure_ascii=False).encode("utf-8", errors="replace") + b"\n")


def _told(result: Result, changes: Sequence[Change]) -> dict[str, Any]:
    return {"number": result.number, "outcome": result.outcome, **dict(_details(result, changes))}


def _details(result: Result, changes: Sequence[Change]) -> Iterator[tuple[str, Any]]:
    look, written = result.look, result.written
    if look is not None:
        yield "url", look.facts.url
        yield "labels", list(look.facts.labels)
        yield "skip", look.skip
    if look is not None and look.decision is not None:
        yield "decision", to_json(look.decision, map(change_json, changes))
    if written.labels:
        yield "added", list(written.labels)
    if written.suggested:
        yield "suggested", list(written.suggested)
    if written.comment_url:
        yield "comment_url", written.comment_url
    if result.error:
        yield "error", result.error
