"""The prose check of a document that already exists: sections by name, language by its words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ciops.postmortem.claims import Scope
from ciops.postmortem.prose import Finding, Prose, check, named_persons
from ciops.postmortem.prose_rules import Guide
from ciops.postmortem.record import Language
from ciops.postmortem.sections import Names, Part, split_sections

_PLACES: Final[Mapping[str, str]] = {
    "summary": "summary",
    "symptom": "symptom",
    "root_cause": "mechanism",
    "why_symptom": "why",
    "fix": "fix",
    "discovery": "discovery",
    "escape": "escape",
    "validation": "validation",
    "action_items": "action",
}
_JAPANESE: Final = re.compile(r"[ぁ-んァ-ヶ]")
_FRENCH: Final = re.compile(
    r"\b(?:le|la|les|des|une?|est|dans|pour|par|sur|qui|pas|été|cette|avec)\b", re.IGNORECASE
)
_ENGLISH: Final = re.compile(
    r"\b(?:the|is|are|was|were|of|and|to|in|that|this|with|for|not)\b", re.IGNORECASE
)
_ITEM_OWNER: Final = re.compile(
    r"[（(](?P<name>[A-ZÀ-Þ][\w’'.-]+(?: [A-ZÀ-Þ][\w’'.-]+)?|[一-龥々]{1,4})[,、，]"
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A finding in a document; `line` counts from 1."""

    finding: Finding
    line: int


def language_of(text: str) -> Language:
    """Japanese by its kana, else French or English by the commonest words."""
    if len(_JAPANESE.findall(text)) * 20 > len(text):
        return "ja"
    return "fr" if len(_FRENCH.findall(text)) > len(_ENGLISH.findall(text)) else "en"


def lint(text: str, names: Names, guide: Guide) -> Iterator[Passage]:
    """The findings of a document in its order."""
    text = _without_front_matter(text)
    parts = list(split_sections(text, names))
    people, scope = _people(text, names, guide), _scope(parts, guide)
    for part in parts:
        place = _PLACES.get(part.section, "other")
        prose = Prose((part.section or "document",), place, part.text)
        for finding in check([prose], people, scope, guide):
            yield Passage(finding, part.line + finding.line)


def _without_front_matter(text: str) -> str:
    """A text of the same lines with YAML front matter blanked."""
    match = re.match(r"---\n.*?\n---\n", text, re.DOTALL)
    return "\n" * match.group().count("\n") + text[match.end() :] if match else text


def _people(text: str, names: Names, guide: Guide) -> list[str]:
    found = [match["name"] for match in names.owner.finditer(text)]
    found += [match["name"] for match in _ITEM_OWNER.finditer(text)]
    found += named_persons([text], guide)
    return list(dict.fromkeys(found))


def _scope(parts: list[Part], guide: Guide) -> Scope:
    """What the validation says was tested and what was not, sentence by sentence."""
    text = "\n".join(part.text for part in parts if part.section == "validation")
    sentences = re.split(r"(?<=[.!?])\s+|(?<=[。！？])|\n", text)
    untested = [each for each in sentences if guide.claims["untested"].search(each)]
    tested = [each for each in sentences if each not in untested]
    return Scope("\n".join(tested), "\n".join(untested), bool(re.search(r"[0-9]", text)))
