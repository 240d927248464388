"""A record to fill in: every field with its guidance, and only what is known filled in.

Nothing is inferred. What a forge or an existing document says verbatim is put in its field; the
references found in a text are offered as comments for the author to move.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ciops.postmortem.record import SECTIONS, Language
from ciops.postmortem.references import find_references
from ciops.postmortem.sections import Part
from ciops.postmortem.wording import Words

# The field that holds the text of a section.
TEXT_OF: Final[Mapping[str, str]] = {
    "summary": "summary",
    "symptom": "symptom",
    "root_cause": "root_cause.mechanism",
    "why_symptom": "why_symptom",
    "fix": "fix.change",
    "discovery": "discovery.notes",
    "escape": "escape.detail",
    "validation": "validation.original_reproduction.evidence",
}
_NOT_IN_BLOCK: Final = re.compile(r"[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd]")
_NOT_QUOTED: Final = re.compile(r"[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd]")
_ITEM: Final = re.compile(r"\s*(?:[-*+•・]|[0-9]+[.)])\s+(?P<text>.*)")
_TAIL: Final = re.compile(
    r"\s*[（(](?P<owner>[^（）(),、，]{1,40})[,、，]\s*(?P<artifact>[^（）()]{1,120}?)[。.]?[)）][。.]?\s*$"
)


@dataclass(frozen=True, slots=True)
class Item:
    what: str
    owner: str = ""
    artifact: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a record; texts are by the path of their field."""

    ticket: str
    language: Language
    title: str = ""
    owner: str = ""
    references: tuple[str, ...] = ()
    introduced_by: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    items: tuple[Item, ...] = ()
    hints: Mapping[str, Sequence[str]] = field(default_factory=dict)


def from_parts(
    parts: Sequence[Part],
) -> tuple[dict[str, str], tuple[Item, ...], dict[str, list[str]]]:
    """The texts, action items and references of an existing document's sections."""
    texts: dict[str, str] = {}
    hints: dict[str, list[str]] = {}
    items: list[Item] = []
    for part in parts:
        body = part.text.strip("\n").strip()
        if not part.section or not body:
            continue
        if part.section == "action_items":
            items.extend(_items(body))
            continue
        path = TEXT_OF[part.section]
        texts[path] = f"{texts[path]}\n\n{body}" if path in texts else body
        found = dict.fromkeys(each.text for each in find_references(body))
        hints.setdefault(part.section, []).extend(found)
    return texts, tuple(items), hints


def title_in(text: str, ticket: str) -> str:
    """What the first heading says behind the ticket's key and a colon or dash; "" if nothing."""
    heading = re.search(r"(?m)^#{1,2}[ \t]+(?P<words>\S.*?)[ \t#]*$", text)
    if heading is None:
        return ""
    behind = rf"(?<![\w-]){re.escape(ticket)}(?![\w-])\s*[:：–—-]\s*(?P<title>.+)"
    found = re.search(behind, heading["words"])
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", found["title"]) if found else ""


def _items(body: str) -> Iterator[Item]:
    """One item a bullet; "(Alex, JIRA-12346.)" at its end names owner and artifact."""
    for bullet in _bullets(body):
        tail = _TAIL.search(bullet)
        if tail is None:
            yield Item(bullet)
        else:
            yield Item(bullet[: tail.start()].strip(), tail["owner"].strip(), tail["artifact"])


def _bullets(body: str) -> Iterator[str]:
    current = ""
    for line in body.split("\n"):
        item = _ITEM.match(line)
        if item:
            if current:
                yield current
            current = item["text"].strip()
        elif current and line.strip():
            current += " " + line.strip()
    if current:
        yield current


def draft(known: Known, words: Words) -> str:
    """The record as commented YAML."""
    writer = _Writer(known, words)
    return "\n".join(writer.lines()) + "\n"


@dataclass(frozen=True, slots=True)
class _Writer:
    known: Known
    words: Words

    def lines(self) -> Iterator[str]:
        known = self.known
        yield from self.guide("top", ticket=known.ticket)
        yield ""
        yield f"ticket: {quoted(known.ticket)}"
        yield from self.scalar("title", known.title)
        yield from self.guide("owner")
        yield "owner:"
        yield f"  name: {quoted(known.owner)}".rstrip()
        yield "  team:"
        yield f"language: {known.language}"
        yield from self.guide("kind")
        yield "kind:"
        for section in SECTIONS:
            yield ""
            yield from getattr(self, section)()

    def guide(self, key: str, indent: str = "", **facts: str) -> Iterator[str]:
        for line in self.words.say(f"guide.{key}", **facts).strip().split("\n"):
            yield f"{indent}# {line}".rstrip()

    def scalar(self, key: str, value: str, indent: str = "") -> Iterator[str]:
        yield f"{indent}{key}: {quoted(value)}".rstrip()

    def text(self, path: str, indent: str = "") -> Iterator[str]:
        key = path.rpartition(".")[2]
        yield from block(key, self.known.texts.get(path, ""), indent)

    def hints(self, section: str, indent: str = "") -> Iterator[str]:
        found = self.known.hints.get(section)
        if found:
            yield f"{indent}# {self.words.say('draft.found')}: {', '.join(found)}"

    def summary(self) -> Iterator[str]:
        yield from self.guide("summary")
        yield from self.hints("summary")
        yield from self.text("summary")

    def symptom(self) -> Iterator[str]:
        yield from self.guide("symptom")
        yield from self.text("symptom")
        yield ""
        yield from self.guide("reproduction")
        yield "reproduction:"
        yield from self.text("reproduction.steps", "  ")
        yield "  outcome:"
        yield "  rate:"

    def root_cause(self) -> Iterator[str]:
        yield from self.guide("root_cause")
        yield from self.hints("root_cause")
        yield "root_cause:"
        yield "  status:"
        yield from self.text("root_cause.mechanism", "  ")
        yield from listed("introduced_by", self.known.introduced_by, "  ")

    def why_symptom(self) -> Iterator[str]:
        yield from self.guide("why_symptom")
        yield from self.text("why_symptom")

    def fix(self) -> Iterator[str]:
        yield from self.guide("fix")
        yield from self.hints("fix")
        yield "fix:"
        yield from listed("references", self.known.references, "  ")
        yield from self.text("fix.change", "  ")
        yield from self.text("fix.addresses_cause", "  ")
        yield from self.guide("earlier_attempts", "  ")
        yield "  earlier_attempts: []"

    def discovery(self) -> Iterator[str]:
        yield from self.guide("discovery")
        yield from self.hints("discovery")
        yield "discovery:"
        yield "  made_deterministic:"
        yield "  tools:"
        yield from self.guide("hypotheses", "  ")
        yield "  hypotheses: []"
        yield "  decisive_experiment:"
        yield from self.text("discovery.notes", "  ")

    def escape(self) -> Iterator[str]:
        yield from self.guide("escape")
        yield "escape:"
        yield "  cause:"
        yield from self.text("escape.detail", "  ")

    def validation(self) -> Iterator[str]:
        yield from self.guide("validation")
        yield from self.hints("validation")
        yield "validation:"
        yield "  original_reproduction:"
        yield "    result:"
        yield from self.text("validation.original_reproduction.evidence", "    ")
        yield from self.guide("workloads", "  ")
        yield "  workloads: []"
        yield "  performance: []"
        yield "  stress: []"
        yield "  other_configurations: []"
        yield from self.guide("not_tested", "  ")
        yield "  not_tested:"

    def action_items(self) -> Iterator[str]:
        yield from self.guide("action_items")
        if not self.known.items:
            yield "action_items: []"
            return
        yield "action_items:"
        for item in self.known.items:
            yield f"  - what: {quoted(item.what)}"
            yield f"    owner: {quoted(item.owner)}".rstrip()
            yield f"    artifact: {quoted(item.artifact)}".rstrip()
            yield "    kind:"


def quoted(value: str) -> str:
    """A one-line text as a YAML scalar in double quotes; nothing for an empty one."""
    if not value:
        return ""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_NOT_QUOTED.sub(_code_point, escaped)}"'


def _code_point(match: re.Match[str]) -> str:
    return f"\\U{ord(match.group()):08x}"


def block(key: str, text: str, indent: str) -> Iterator[str]:
    """A text as a literal block, byte for byte, or quoted where a block cannot hold it."""
    if not text:
        yield f"{indent}{key}:"
        return
    if not text.strip() or text.endswith("\n\n") or _NOT_IN_BLOCK.search(text):
        yield f"{indent}{key}: {quoted(text)}"
        return
    body = text.removesuffix("\n")
    chomp = "-" if body == text else ""
    depth = "2" if text[0] in " \n\t" else ""
    yield f"{indent}{key}: |{depth}{chomp}"
    for line in body.split("\n"):
        yield f"{indent}  {line}" if line else ""


def listed(key: str, values: Sequence[str], indent: str) -> Iterator[str]:
    """A list on one line."""
    yield f"{indent}{key}: [{', '.join(quoted(value) for value in values)}]"
