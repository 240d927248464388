"""Sentences of rules and code in a reader's language.

Reasons and hypotheses are English sentences of a configuration or of the tool itself, so that
`report.json` reads the same everywhere. `phrases.yml` of a language says them anew: English on the
left, with `{names}` where facts stand; facts that are sentences are said anew too. What has no
entry stays English, so a rule works without one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from ciops.failures.report_model import Report
from ciops.failures.report_words import Words
from ciops.plumbing.yaml_file import Reader, load

FILE: Final = "phrases.yml"
_PLACE: Final = re.compile(r"\{(\w+)\}")
_DEEPEST: Final = 4
_LONGEST: Final = 1000


@dataclass(frozen=True, slots=True)
class Phrase:
    """An English sentence as a pattern, the longest text that must be in it, and the other one."""

    pattern: re.Pattern[str]
    literal: str
    said: str


def in_language(report: Report, words: Words) -> Report:
    """The report with every reason and hypothesis that the language knows said in it."""
    phrases = _phrases(Path(words.templates.folder) / words.language / FILE)
    if not phrases:
        return report

    def said(text: str) -> str:
        return say_anew(text, phrases)

    return replace(
        report,
        buckets=tuple(
            replace(one, reason=said(one.reason), hypothesis=said(one.hypothesis))
            for one in report.buckets
        ),
        jobs=tuple(
            replace(one, weak_reason=said(one.weak_reason)) if one.weak_reason else one
            for one in report.jobs
        ),
        dead_end_bridges=tuple(
            replace(one, reason=said(one.reason)) for one in report.dead_end_bridges
        ),
        unreadable=tuple(replace(one, reason=said(one.reason)) for one in report.unreadable),
        remarks=tuple(replace(one, detail=said(one.detail)) for one in report.remarks),
    )


def say_anew(text: str, phrases: tuple[Phrase, ...], depth: int = 0) -> str:
    """The sentence in the language of the phrases, or as it is."""
    if not text or len(text) > _LONGEST or depth > _DEEPEST:
        return text
    for phrase in phrases:
        found = phrase.pattern.fullmatch(text) if phrase.literal in text else None
        if found:
            facts = {
                name: say_anew(fact, phrases, depth + 1) for name, fact in found.groupdict().items()
            }
            return _PLACE.sub(lambda place, facts=facts: facts[place[1]], phrase.said)
    return text


@cache
def _phrases(path: Path) -> tuple[Phrase, ...]:
    """The phrases of one file, those with the most words of their own first."""
    if not path.is_file():
        return ()
    top = Reader(load(path))
    found = [_phrase(english, top.text(english)) for english in top.mapping()]
    return tuple(sorted(found, key=lambda phrase: -len(phrase.literal)))


def _phrase(english: str, said: str) -> Phrase:
    pieces = _PLACE.split(english)
    pattern = "".join(_pattern(pieces))
    return Phrase(re.compile(pattern, re.DOTALL), max(pieces[::2], key=len), said)


def _pattern(pieces: list[str]) -> Iterator[str]:
    """Literal texts alternate with the names of facts."""
    for index, piece in enumerate(pieces):
        yield f"(?P<{piece}>.+?)" if index % 2 else re.escape(piece)
