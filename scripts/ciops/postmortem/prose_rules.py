"""The rules of the prose check, from `config/post-mortem-render/prose.<language>.yml`.

A rule is a regular expression over one sentence in which a person stands as one character, code as
another and a quote as a third; `{person}`, `{code}`, `{quote}` and the file's macros write them.
Each of its alternatives is a pattern of its own, compiled when a sentence first needs it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from ciops.plumbing.yaml_file import Reader, load
from ciops.postmortem.cues import Cue, Index, cue_of, index_of
from ciops.postmortem.record import LANGUAGES, Language

Kind = Literal["hedge", "blame", "overclaim", "advocacy", "vague-mechanism"]
KINDS: Final[tuple[Kind, ...]] = ("hedge", "blame", "overclaim", "advocacy", "vague-mechanism")
CONFIG: Final = Path(__file__).resolve().parents[3] / "config" / "post-mortem-render"
PERSON: Final = "\ue000"
CODE: Final = "\ue001"
QUOTE: Final = "\ue002"
_MARKS: Final = {"person": PERSON, "code": CODE, "quote": QUOTE}
_MACRO: Final = re.compile(r"\{([a-z][a-z_]*)\}")
_STRUCTURE: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]", re.DOTALL)
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
BUILT_IN: Final = ("concrete", "elaborated", "accompanied")
PEOPLE: Final = ("start", "before", "not_before", "pronouns", "departments", "titled", "surnames")


_compiled: Final = cache(re.compile)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression, compiled at its first use; `reader` and `key` say where it stands."""

    text: str
    reader: Reader
    key: str
    flags: int = re.IGNORECASE

    @property
    def regex(self) -> re.Pattern[str]:
        """Raises DocumentError where it is none."""
        try:
            return _compiled(self.text, self.flags)
        except re.error as error:
            problem = f"not a regular expression: {error}"
            raise self.reader.error(problem, key=self.key) from None


@dataclass(frozen=True, slots=True)
class Alternatives:
    """A pattern in its alternatives, of which those are tried that can match a text."""

    patterns: tuple[Pattern, ...]
    index: Index

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        for number in self.index.candidates(text):
            yield from self.patterns[number].regex.finditer(text)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; `unless` names exemptions, `places` is where it looks."""

    id: str
    kind: Kind
    patterns: tuple[Pattern, ...]
    places: frozenset[str]
    unless: tuple[str, ...]
    matches: tuple[str, ...] = ()
    near_misses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Guide:
    """What one language's files say.

    `numbered` are the patterns of all rules as `index` knows them; `people` finds persons that no
    record needs to name, `given_names` are theirs.
    """

    language: Language
    rules: tuple[Rule, ...]
    numbered: tuple[tuple[Rule, Pattern], ...]
    index: Index
    exemptions: Mapping[str, Pattern]
    before: Mapping[str, Pattern]
    after: Mapping[str, Pattern]
    claims: Mapping[str, Pattern]
    absolute: Alternatives
    people: tuple[Pattern, ...]
    given_names: frozenset[str]
    kinds: Mapping[str, frozenset[str]]
    log_lines: Pattern
    bare_code: Pattern

    def applicable(self, text: str, place: str) -> Iterator[tuple[Rule, Pattern]]:
        """The rules that look at a place, with those patterns that can match a text."""
        for number in self.index.candidates(text):
            rule, pattern = self.numbered[number]
            if place in rule.places:
                yield rule, pattern


class _Macros:
    """Macros with everything put in, and the cue of each."""

    def __init__(self, reader: Reader) -> None:
        self.texts = dict(_MARKS)
        self.cues: dict[str, Cue] = {name: frozenset(mark) for name, mark in _MARKS.items()}
        for name in reader.mapping():
            self.add(reader, name)

    def add(self, reader: Reader, name: str) -> None:
        """Take a macro; it may use those before it."""
        text = _written(reader, name)
        self.cues[name] = cue_of(self.checked(reader, name, text), self.cues)
        self.texts[name] = self.expanded(text)

    def checked(self, reader: Reader, key: str, text: str) -> str:
        """A text whose macros are all known."""
        for used in _MACRO.findall(text):
            if used not in self.texts:
                raise reader.error(f"there is no macro {{{used}}} before it", key=key)
        return text

    def expanded(self, text: str) -> str:
        return _MACRO.sub(lambda name: _grouped(self.texts[name[1]]), text)


def _grouped(text: str) -> str:
    """A text as one piece of a pattern; a mark also stands in sets."""
    return text if len(text) == 1 else f"(?:{text})"


def _written(reader: Reader, key: str) -> str:
    """The pattern under a key; its lines are read as one."""
    return reader.text(key).replace("\n", "")


def alternatives(pattern: str) -> list[str]:
    """The alternatives of a pattern at its top level: `a(b|c)|d` as `a(b|c)` and `d`."""
    parts, depth, start = [], 0, 0
    for match in _STRUCTURE.finditer(pattern):
        mark = match.group()
        depth += {"(": 1, ")": -1}.get(mark, 0)
        if mark == "|" and depth == 0:
            parts.append(pattern[start : match.start()])
            start = match.end()
    return [*parts, pattern[start:]]


def load_guide(language: Language, folder: Path = CONFIG) -> Guide:
    """Read one language's rules; raises DocumentError with the place of a mistake."""
    shared = Reader(load(folder / "prose.yml"))
    shared.mapping(("schema", "kinds", "log_lines", "bare_code", "given_names"))
    places = shared.child("kinds")
    kinds = {kind: frozenset(places.texts(kind)) for kind in places.mapping()}
    top = Reader(load(folder / f"prose.{language}.yml"))
    top.mapping((*_GROUPS, "schema", "language"))
    top.choice("language", LANGUAGES)
    macros = _Macros(top.child("macros"))
    exemptions = _patterns(top.child("exemptions"), macros)
    before = _patterns(top.child("exempt_before"), macros, "(?:{})$")
    after = _patterns(top.child("exempt_after"), macros)
    known = (*exemptions, *before, *after, *BUILT_IN)
    rules, cues = _rules(top, macros, kinds, known)
    return Guide(
        language=language,
        rules=rules,
        numbered=tuple((rule, pattern) for rule in rules for pattern in rule.patterns),
        index=index_of(cues),
        exemptions=exemptions,
        before=before,
        after=after,
        claims=_claims(top.child("claims"), macros),
        absolute=_absolute(top.child("claims"), macros),
        people=_people(top.child("people"), macros),
        given_names=frozenset(shared.text("given_names", "").split()),
        kinds=kinds,
        log_lines=_joined(shared, "log_lines", r"\s*(?:{})"),
        bare_code=_joined(shared, "bare_code", r"(?<![A-Za-z0-9_])(?:{})"),
    )


def _patterns(reader: Reader, macros: _Macros, frame: str = "{}") -> dict[str, Pattern]:
    found = {}
    for key in reader.mapping():
        text = macros.checked(reader, key, _written(reader, key))
        found[key] = Pattern(frame.replace("{}", macros.expanded(text)), reader, key)
    return found


def _claims(reader: Reader, macros: _Macros) -> dict[str, Pattern]:
    """The patterns of claims, which may use each other."""
    found = {}
    for key in reader.mapping():
        macros.add(reader, key)
        found[key] = Pattern(macros.texts[key], reader, key)
    return found


def _absolute(reader: Reader, macros: _Macros) -> Alternatives:
    """What no test can show, said in many ways of which a clause uses one."""
    texts = alternatives(macros.checked(reader, "absolute", _written(reader, "absolute")))
    patterns = tuple(Pattern(macros.expanded(text), reader, "absolute") for text in texts)
    return Alternatives(patterns, index_of(cue_of(text, macros.cues) for text in texts))


def _joined(reader: Reader, key: str, frame: str) -> Pattern:
    either = "|".join(f"(?:{text})" for text in reader.texts(key))
    return Pattern(frame.replace("{}", either), reader, key, 0)


def _rules(
    top: Reader,
    macros: _Macros,
    kinds: Mapping[str, frozenset[str]],
    exemptions: Collection[str],
) -> tuple[tuple[Rule, ...], list[Cue]]:
    """The rules, and the cue of each of their patterns in turn."""
    rules: list[Rule] = []
    cues: list[Cue] = []
    for reader in top.items("rules"):
        reader.mapping(("id", "kind", "re", "in", "not_in", "unless", "matches", "near_misses"))
        kind = reader.choice("kind", KINDS)
        places = frozenset(reader.texts("in", ())) or kinds[kind]
        texts = alternatives(macros.checked(reader, "re", _written(reader, "re")))
        cues += [cue_of(text, macros.cues) for text in texts]
        rules.append(
            Rule(
                id=reader.text("id"),
                kind=next(known for known in KINDS if known == kind),
                patterns=tuple(Pattern(macros.expanded(text), reader, "re") for text in texts),
                places=places - frozenset(reader.texts("not_in", ())),
                unless=reader.choices("unless", exemptions, ()),
                matches=reader.texts("matches"),
                near_misses=reader.texts("near_misses"),
            )
        )
    return tuple(rules), cues


def _people(reader: Reader, macros: _Macros) -> tuple[Pattern, ...]:
    """How persons are found beside the names of the record: titles, handles, roles, pronouns."""
    reader.mapping(("roles", *PEOPLE))
    roles = "|".join(f"(?:{role})" for role in reader.texts("roles"))
    words = {key: _written(reader, key) for key in PEOPLE if reader.has(key)}
    start, not_behind = words.get("start", "") + words.get("before", ""), words["not_before"]
    role = rf"{start}(?:{roles})(?![A-Za-z0-9_]|{not_behind})"
    handle = r"(?<![\w@./-])@[A-Za-z][A-Za-z0-9-]*(?![\w(@/]|\.\w)"
    return (
        Pattern(handle, reader, "roles", re.ASCII),
        *(Pattern(words[key], reader, key, 0) for key in ("titled", "surnames") if key in words),
        Pattern(macros.expanded(role), reader, "roles"),
        *(Pattern(words[key], reader, key) for key in ("pronouns", "departments") if key in words),
    )
