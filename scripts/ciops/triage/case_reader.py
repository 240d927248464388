"""Issues from files: a case (`{"id", "issue", "comments", "timeline"}`), a folder, JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ciops.errors import UsageError
from ciops.plumbing.yaml_file import read_text
from ciops.triage.facts import IssueFacts, from_rest


@dataclass(frozen=True, slots=True)
class Case:
    """One issue with where it came from. `data` is all of the file, for those who measure."""

    source: str
    facts: IssueFacts
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Unread:
    """A file, or a line of one, that holds no issue, and why."""

    source: str
    problem: str


def read_cases(paths: Sequence[Path]) -> Iterator[Case | Unread]:
    """Every issue in the paths, in order; UsageError where a path is not there."""
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: no such file or folder", "Check the path")
        for file in sorted(path.glob("*.json*")) if path.is_dir() else [path]:
            yield from _cases_in(file)


def _cases_in(file: Path) -> Iterator[Case | Unread]:
    try:
        text = read_text(file)
    except UsageError as error:
        yield Unread(str(file), str(error).removeprefix(f"{file}: "))
        return
    if file.suffix != ".jsonl":
        yield _case(str(file), text)
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield _case(f"{file}:{number}", line)


def _case(source: str, text: str) -> Case | Unread:
    if not text.strip():
        return Unread(source, "is empty. Save one issue as JSON in it")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Unread(source, f"is not JSON: {error}")
    if not isinstance(data, dict):
        kind = "a list" if isinstance(data, list) else "a value"
        problem = f"holds {kind}, no object with an issue"
        return Unread(source, f"{problem}. Write one issue a file, or one a line in a .jsonl file")
    case = data if "issue" in data else {"issue": data}
    try:
        facts = from_rest(case)
    except UsageError as error:
        return Unread(source, str(error))
    if not case["issue"].keys() & {"title", "body"}:
        problem = "holds no issue: neither title nor body"
        return Unread(source, f"{problem}. Save it as GitHub's API gives it")
    return Case(source, facts, case)
