"""Records for tests: the handed cases, and a whole one to change in one place."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ciops.postmortem.document import Document, build
from ciops.postmortem.gates import Decision, decide
from ciops.postmortem.record import Language
from ciops.postmortem.record_reader import Reading, read_record
from ciops.postmortem.references import Links
from ciops.postmortem.settings import Settings, load_settings
from ciops.postmortem.wording import Words, load_words

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "data" / "postmortem" / "cases"
NUMBERS = sorted(path.stem for path in CASES.glob("[0-9]*.yml"))

WHOLE: dict[str, Any] = {
    "ticket": "PLUG-1",
    "title": "Handlers run twice",
    "owner": {"name": "Priya", "team": "Runtime"},
    "language": "en",
    "kind": "bug-fix",
    "summary": "Invoices were exported twice. The registry is keyed on the origin now.",
    "symptom": "Each invoice id appears twice.",
    "reproduction": {"steps": "`demo --reload`", "outcome": "deterministic"},
    "root_cause": {
        "status": "identified",
        "mechanism": "`reload()` appends a second class when `cls.__module__` differs.",
        "introduced_by": ["acme/host@4be1c07"],
    },
    "why_symptom": "A second entry means a second row.",
    "fix": {
        "references": ["acme/host#977"],
        "change": "`register()` replaces the entry.",
        "addresses_cause": "The second entry no longer exists.",
    },
    "validation": {
        "original_reproduction": {"result": "pass", "evidence": "one line, run 7"},
        "workloads": [{"name": "nightly", "result": "pass", "evidence": "run 8"}],
        "not_tested": "PyPy was not retested.",
    },
    "action_items": [
        {"what": "Add a reload step", "owner": "Marek", "artifact": "PLUG-2", "kind": "ci-gap"}
    ],
}
GONE = object()


@cache
def settings() -> Settings:
    return load_settings()


@cache
def words(language: Language = "en") -> Words:
    return load_words(language)


def changed(**changes: Any) -> dict[str, Any]:
    """The whole record with values put at dotted paths (`fix__change=…`), or GONE from them."""
    data = copy.deepcopy(WHOLE)
    for path, value in changes.items():
        *steps, last = [int(step) if step.isdigit() else step for step in path.split("__")]
        place: Any = data
        for step in steps:
            place = place[step] if isinstance(place, list) else place.setdefault(step, {})
        if value is GONE:
            del place[last]
        else:
            place[last] = value
    return data


def read(data: dict[str, Any] | str) -> Reading:
    text = data if isinstance(data, str) else yaml.safe_dump(data, allow_unicode=True)
    return read_record(text, "record.yml")


def judged(data: dict[str, Any] | str, *, is_bug_fix: bool = False) -> Decision:
    reading = read(data)
    return decide(reading, settings(), words(reading.record.language), is_bug_fix=is_bug_fix)


def document_of(data: dict[str, Any] | str, links: Links | None = None) -> Document:
    reading = read(data)
    return build(reading.record, words(reading.record.language), links or Links())


def case(number: str) -> tuple[str, dict[str, Any]]:
    """A handed record and what must be said of it."""
    text = (CASES / f"{number}.yml").read_text(encoding="utf-8")
    expected = json.loads((CASES / f"{number}.expected.json").read_text(encoding="utf-8"))
    return text, expected
