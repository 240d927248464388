"""A record, examined: what it holds, what the gates say, and what reads badly."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

from ciops.plumbing.yaml_file import read_text
from ciops.postmortem.gates import Decision, decide
from ciops.postmortem.prose import Finding, check_record, document_line
from ciops.postmortem.prose_rules import load_guide
from ciops.postmortem.record import Language, Record
from ciops.postmortem.record_reader import Reading, read_record
from ciops.postmortem.settings import Settings, load_settings
from ciops.postmortem.wording import Words, load_words


@dataclass(frozen=True, slots=True)
class Warned:
    """A finding, and its line in the file."""

    finding: Finding
    line: int | None


@dataclass(frozen=True, slots=True)
class Examination:
    """`name` is the record's file as the user wrote it.

    `asked` is the language that `--language` names, None without it: a record's own is stronger.
    """

    name: str
    reading: Reading
    decision: Decision
    warnings: tuple[Warned, ...]
    words: Words
    settings: Settings
    asked: Language | None

    @property
    def record(self) -> Record:
        return self.reading.record


def examine(options: argparse.Namespace, ticket: str = "") -> Examination:
    """Read and judge the record that the options name; `ticket` takes the place of the record's."""
    settings, name, asked = load_settings(options.settings), str(options.record), options.language
    reading = read_record(read_text(options.record), name, asked or "en")
    if ticket:
        reading = replace(reading, record=replace(reading.record, ticket=ticket))
    words = load_words(reading.record.language)
    decision = decide(reading, settings, words, is_bug_fix=options.confirm_bug_fix)
    warnings = _warnings(reading)
    return Examination(name, reading, decision, warnings, words, settings, asked)


def _warnings(reading: Reading) -> tuple[Warned, ...]:
    if reading.malformed or reading.document is None:
        return ()
    document = reading.document
    found = check_record(reading.record, load_guide(reading.record.language))
    return tuple(Warned(finding, document_line(finding, document)) for finding in found)
