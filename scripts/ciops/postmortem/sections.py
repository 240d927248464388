"""The sections of a document that already exists, by the names they go by in three languages.

A section starts at a heading, at a line that is only its name ("3. Root cause (required)"), or at a
paragraph that opens with it ("**Fix.** …", "根本原因。…").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ciops.plumbing.yaml_file import Reader, load
from ciops.postmortem.record import SECTIONS

DEFAULT: Final = (
    Path(__file__).resolve().parents[3] / "config" / "post-mortem-render" / "sections.yml"
)
_HEADING: Final = re.compile(r" {0,3}(?P<marks>#{1,6})\s+(?P<name>.*?)(?:\s+#+)?\s*$")
_FENCE: Final = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})")
_NUMBER: Final = re.compile(r"^\s*(?:[0-9]{1,2}|[ivx]{1,4})\s*[.)．、]\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Names:
    """`section_of` maps a bare name to a section id; `lead` finds one at the start of a line."""

    section_of: Mapping[str, str]
    lead: re.Pattern[str]
    mark: re.Pattern[str]
    owner: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a document; `section` is "" where its name is none of ours."""

    section: str
    text: str
    line: int


def load_names(path: Path = DEFAULT) -> Names:
    """Read the names; raises DocumentError with the place of a mistake."""
    top = Reader(load(path))
    top.mapping(("schema", "names", "required_marks", "owner_words"))
    names = top.child("names")
    names.mapping(SECTIONS)
    known = {_folded(name): section for section in SECTIONS for name in names.texts(section, ())}
    spelled = [name for section in SECTIONS for name in names.texts(section, ())]
    either = "|".join(re.escape(name) for name in sorted(spelled, key=len, reverse=True))
    marks = "|".join(re.escape(mark) for mark in top.texts("required_marks"))
    mark = rf"\s*[（(]\s*(?:{marks})\s*[)）]"
    owners = "|".join(re.escape(word) for word in top.texts("owner_words"))
    name = rf"(?P<name>{either})(?:{mark})?"
    return Names(
        section_of=known,
        lead=re.compile(
            rf"\s*(?:[0-9]{{1,2}}[.)．]\s*)?(?:"
            rf"(?P<bold>\*\*|__){name}\s*(?:[.。:：]?(?P=bold)|(?P=bold)[.。:：]?)"
            rf"|{name.replace('?P<name>', '?P<plain>')}\s*(?:[。：]|[.:](?=\s))"
            rf")\s*",
            re.IGNORECASE,
        ),
        mark=re.compile(mark, re.IGNORECASE),
        owner=re.compile(
            rf"(?:{owners})\s*[:：は]?\s*(?P<name>[A-ZÀ-Þ][\w’'.-]+(?: [A-ZÀ-Þ][\w’'.-]+)?"
            rf"|[一-龥々]{{1,4}}|[ァ-ヶー]{{2,10}})(?=[\s、。，,.;；(（）)]|$)",
            re.IGNORECASE,
        ),
    )


def _folded(name: str) -> str:
    return name.replace("’", "'").strip(" \t*_.。:：").casefold()


def section_named(line: str, names: Names) -> str:
    """The section that a heading's text names, or ""."""
    bare = _folded(names.mark.sub("", _NUMBER.sub("", line)))
    return names.section_of.get(bare, "")


def split_sections(text: str, names: Names) -> Iterator[Part]:
    """The parts of a document in its order, each with the line it starts in, counted from 1."""
    section, start, level = "", 1, 7
    body: list[str] = []
    for number, line, found in _starts(text, names):
        if found is None or (found.level > level and not found.section):
            body.append(line)
            continue
        yield Part(section, "\n".join(body), start)
        section, level = found.section, found.level
        start, body = number, [found.rest]
    yield Part(section, "\n".join(body), start)


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a section starts; what stands behind its name in the same line is `rest`."""

    section: str
    level: int
    rest: str


def _starts(text: str, names: Names) -> Iterator[tuple[int, str, _Start | None]]:
    fence = ""
    after_blank = True
    for number, line in enumerate(text.split("\n"), 1):
        mark = _FENCE.match(line)
        if mark and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else mark["fence"]
        inside = bool(fence or mark)
        yield number, line, None if inside else _start(line, names, after_blank)
        after_blank = not line.strip()


def _start(line: str, names: Names, after_blank: bool) -> _Start | None:
    heading = _HEADING.match(line)
    if heading:
        return _Start(section_named(heading["name"], names), len(heading["marks"]), "")
    if not after_blank:
        return None
    whole = section_named(line, names)
    if whole and len(line) < 80:
        return _Start(whole, 6, "")
    lead = names.lead.match(line)
    if lead is None:
        return None
    section = section_named(lead["name"] or lead["plain"], names)
    return _Start(section, 6, line[lead.end() :])
