"""The rules of the prose check, from `config/post-mortem-render/prose.<language>.yml`.

A rule is a regular expression over one sentence in which a person stands as one character, code as
another and a quote as a third; `{person}`, `{code}`, `{quote}` and the file's macros write them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ciops.plumbing.yaml_file import Reader, load
from ciops.postmortem.record import LANGUAGES, Language

Kind = Literal["hedge", "blame", "overclaim", "advocacy", "vague-mechanism"]
KINDS: Final[tuple[Kind, ...]] = ("hedge", "blame", "overclaim", "advocacy", "vague-mechanism")
CONFIG: Final = Path(__file__).resolve().parents[3] / "config" / "post-mortem-render"
PERSON: Final = "\ue000"
CODE: Final = "\ue001"
QUOTE: Final = "\ue002"
_MACRO: Final = re.compile(r"\{([a-z][a-z_]*)\}")
_GROUPS: Final = (
    "people",
    "macros",
    "exemptions",
    "exempt_before",
    "exempt_after",
    "rules",
    "claims",
)
# Exemptions that are more than a pattern.
BUILT_IN: Final = ("concrete", "elaborated")
_MARKS: Final = {"person": PERSON, "code": CODE, "quote": QUOTE}
PEOPLE: Final = (
    "start",
    "before",
    "not_before",
    "pronouns",
    "departments",
    "titled",
    "surnames",
    "systems",
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; `unless` names exemptions, `places` is where it looks.

    `of_persons` are its alternatives that speak of a person: most sentences hold none, and are
    spared them.
    """

    id: str
    kind: Kind
    pattern: re.Pattern[str] | None
    of_persons: re.Pattern[str] | None
    places: frozenset[str]
    unless: tuple[str, ...]
    matches: tuple[str, ...] = ()
    near_misses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Guide:
    """What one language's files say; `people` finds persons that no record needs to name."""

    language: Language
    rules: tuple[Rule, ...]
    exemptions: Mapping[str, re.Pattern[str]]
    before: Mapping[str, re.Pattern[str]]
    after: Mapping[str, re.Pattern[str]]
    claims: Mapping[str, re.Pattern[str]]
    people: tuple[re.Pattern[str], ...]
    kinds: Mapping[str, frozenset[str]]
    log_lines: re.Pattern[str]
    bare_code: re.Pattern[str]


def load_guide(language: Language, folder: Path = CONFIG) -> Guide:
    """Read one language's rules; raises DocumentError with the place of a mistake."""
    shared = Reader(load(folder / "prose.yml"))
    shared.mapping(("schema", "kinds", "log_lines", "bare_code"))
    kinds = {
        kind: frozenset(shared.child("kinds").texts(kind)) for kind in shared.child("kinds").value
    }
    top = Reader(load(folder / f"prose.{language}.yml"))
    top.mapping((*_GROUPS, "schema", "language"))
    top.choice("language", LANGUAGES)
    macros = _macros(top)
    exemptions = _patterns(top.child("exemptions"), macros)
    before = _patterns(top.child("exempt_before"), macros, "(?:{})$")
    after = _patterns(top.child("exempt_after"), macros)
    known = (*exemptions, *before, *after, *BUILT_IN)
    return Guide(
        language=language,
        rules=tuple(_rule(reader, macros, kinds, known) for reader in top.items("rules")),
        exemptions=exemptions,
        before=before,
        after=after,
        claims=_patterns(top.child("claims"), macros | _plain(top.child("claims"))),
        people=_people(top.child("people")),
        kinds=kinds,
        log_lines=_joined(shared, "log_lines", r"\s*(?:{})"),
        bare_code=_joined(shared, "bare_code", r"(?<![A-Za-z0-9_])(?:{})"),
    )


def _macros(top: Reader) -> dict[str, str]:
    systems = top.child("people").text("systems", "").replace("\n", "")
    return _MARKS | {"systems": systems} | _plain(top.child("macros"))


def _plain(reader: Reader) -> dict[str, str]:
    return {key: reader.text(key).replace("\n", "") for key in reader.mapping()}


def _expanded(text: str, macros: Mapping[str, str]) -> str:
    """A pattern with its macros put in; a macro may use others, lines are read as one."""
    text = text.replace("\n", "")
    for _ in range(5):
        text = _MACRO.sub(lambda name: macros.get(name[1], name[0]), text)
    return text


def _compiled(reader: Reader, key: str, text: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    try:
        return re.compile(text, flags)
    except re.error as error:
        raise reader.error(f"not a regular expression: {error}", key=key) from None


def _patterns(
    reader: Reader, macros: Mapping[str, str], frame: str = "{}"
) -> dict[str, re.Pattern[str]]:
    return {
        key: _compiled(reader, key, frame.replace("{}", _expanded(reader.text(key), macros)))
        for key in reader.mapping()
    }


def _joined(reader: Reader, key: str, frame: str) -> re.Pattern[str]:
    either = "|".join(f"(?:{text})" for text in reader.texts(key))
    return _compiled(reader, key, frame.replace("{}", either), 0)


def _rule(
    reader: Reader,
    macros: Mapping[str, str],
    kinds: Mapping[str, frozenset[str]],
    exemptions: Collection[str],
) -> Rule:
    reader.mapping(("id", "kind", "re", "case", "in", "not_in", "unless", "matches", "near_misses"))
    kind = reader.choice("kind", KINDS)
    places = frozenset(reader.texts("in", ())) or kinds[kind]
    flags = 0 if reader.flag("case", False) else re.IGNORECASE
    parts = alternatives(_expanded(reader.text("re"), macros))
    any_sentence = "|".join(part for part in parts if PERSON not in part)
    of_persons = "|".join(part for part in parts if PERSON in part)
    return Rule(
        id=reader.text("id"),
        kind=next(known for known in KINDS if known == kind),
        pattern=_compiled(reader, "re", any_sentence, flags) if any_sentence else None,
        of_persons=_compiled(reader, "re", of_persons, flags) if of_persons else None,
        places=places - frozenset(reader.texts("not_in", ())),
        unless=reader.choices("unless", exemptions, ()),
        matches=reader.texts("matches"),
        near_misses=reader.texts("near_misses"),
    )


def alternatives(pattern: str) -> list[str]:
    """The alternatives of a pattern at its top level: `a(b|c)|d` as `a(b|c)` and `d`."""
    parts, depth, start = [], 0, 0
    for match in re.finditer(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]", pattern, re.DOTALL):
        mark = match.group()
        depth += {"(": 1, ")": -1}.get(mark, 0)
        if mark == "|" and depth == 0:
            parts.append(pattern[start : match.start()])
            start = match.end()
    return [*parts, pattern[start:]]


def _people(reader: Reader) -> tuple[re.Pattern[str], ...]:
    """How persons are found beside the names of the record: titles, handles, roles, pronouns."""
    reader.mapping(("roles", *PEOPLE))
    roles = "|".join(f"(?:{role})" for role in reader.texts("roles"))
    words = {key: _expanded(reader.text(key, ""), {}) for key in PEOPLE}
    start, not_behind = words["start"] + words["before"], words["not_before"]
    role = rf"{start}(?:{roles})(?![A-Za-z0-9_]|{not_behind})"
    found = [_compiled(reader, "roles", role)]
    found += [_compiled(reader, key, words[key]) for key in ("pronouns", "departments")]
    for key in ("surnames", "titled"):
        if words[key]:
            found.insert(0, _compiled(reader, key, words[key], 0))
    found.insert(0, re.compile(r"(?<![\w@./-])@[A-Za-z][A-Za-z0-9-]*(?![\w(@/]|\.\w)", re.ASCII))
    return tuple(found)
