"""Sentences of rules and code in a reader's language.

Reasons and hypotheses are English sentences of a configuration or of the tool itself, so that
`report.json` reads the same everywhere. `phrases.yml` of a language says them anew: English on the
left, with `{names}` where facts stand; facts that are sentences are said anew too. What has no
entry stays English, so a rule works without one.
"""

from __future__ import annotations

import re
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
    """An English sentence as literal texts around named facts, and the sentence it becomes."""

    texts: tuple[str, ...]
    facts: tuple[str, ...]
    said: str

    @property
    def weight(self) -> int:
        """How many letters are the sentence's own."""
        return sum(map(len, self.texts))


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
        facts = match(phrase, text)
        if facts is not None:
            anew = {name: say_anew(fact, phrases, depth + 1) for name, fact in facts.items()}
            return _filled(phrase.said, anew)
    return text


def _filled(sentence: str, facts: dict[str, str]) -> str:
    return _PLACE.sub(lambda place: facts[place[1]], sentence)


def match(phrase: Phrase, text: str) -> dict[str, str] | None:
    """The facts of a sentence, in linear time: each literal text is taken where it is first found.

    A sentence that begins with a fact and ends with a literal is read from its end, so that what
    the fact says cannot be taken for the literal.
    """
    if not phrase.facts:
        return {} if text == phrase.texts[0] else None
    first, *_, last = phrase.texts
    if len(text) < phrase.weight or not text.startswith(first) or not text.endswith(last):
        return None
    inside = text[len(first) : len(text) - len(last)]
    backwards = not first and bool(last)
    found = _cut(inside, phrase.texts[1:-1], backwards=backwards)
    return dict(zip(phrase.facts, found, strict=True)) if found and all(found) else None


def _cut(text: str, literals: tuple[str, ...], *, backwards: bool) -> list[str]:
    """What stands around the literals, in order; empty when one of them is missing."""
    found = []
    for literal in reversed(literals) if backwards else literals:
        before, here, after = text.rpartition(literal) if backwards else text.partition(literal)
        if not here:
            return []
        found.append(after if backwards else before)
        text = before if backwards else after
    found.append(text)
    return found[::-1] if backwards else found


@cache
def _phrases(path: Path) -> tuple[Phrase, ...]:
    """The phrases of one file, those with the most words of their own first."""
    if not path.is_file():
        return ()
    top = Reader(load(path))
    found = [_phrase(english, top.text(english)) for english in top.mapping()]
    return tuple(sorted(found, key=lambda phrase: -phrase.weight))


def _phrase(english: str, said: str) -> Phrase:
    pieces = _PLACE.split(english)
    return Phrase(tuple(pieces[::2]), tuple(pieces[1::2]), said)
