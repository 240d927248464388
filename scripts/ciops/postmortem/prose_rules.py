"""The rules of the prose check, from `config/post-mortem-render/prose.<language>.yml`.

A rule is a regular expression over one sentence in which a person stands as one character, code as
another and a quote as a third; `{person}`, `{code}`, `{quote}`, the file's classes of words and its
macros write them.
Each of its alternatives is a pattern of its own, of which a sentence compiles what can match it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final, Literal

from ciops.plumbing.pattern_reading import Branches, Group, written
from ciops.plumbing.yaml_file import Reader, load
from ciops.postmortem.cues import Index, index_of
from ciops.postmortem.patterns import macro, needs_of, specialised, text_of, tree
from ciops.postmortem.record import LANGUAGES, Language

Kind = Literal["hedge", "blame", "overclaim", "advocacy", "vague-mechanism"]
KINDS: Final[tuple[Kind, ...]] = ("hedge", "blame", "overclaim", "advocacy", "vague-mechanism")
CONFIG: Final = Path(__file__).resolve().parents[3] / "config" / "post-mortem-render"
PERSON: Final = "\ue000"
CODE: Final = "\ue001"
QUOTE: Final = "\ue002"
_MARKS: Final = {"person": PERSON, "code": CODE, "quote": QUOTE}
_GROUPS: Final = (
    "people",
    "classes",
    "macros",
    "exemptions",
    "exempt_before",
    "exempt_after",
    "exempt_later",
    "rules",
    "claims",
)
# Exemptions that are more than a pattern.
BUILT_IN: Final = ("concrete", "elaborated", "accompanied")
PEOPLE: Final = ("start", "before", "not_before", "pronouns", "departments", "titled", "surnames")


# Between the words of a class, also where a line ends; none within brackets.
_COMMA: Final = re.compile(r"(?:,\s+|、\s*)(?![^\[(]*[\])])")


_compiled: Final = lru_cache(4096)(re.compile)


@dataclass(frozen=True, eq=False)
class Pattern:
    """A regular expression; `reader` and `key` say where it stands.

    It is read when it is first needed, unless that was done already, and compiled with what can
    match a text. All raise DocumentError where it is no regular expression.
    """

    text: str
    macros: Macros
    reader: Reader
    key: str
    flags: int = re.IGNORECASE
    read: Branches | None = None

    @cached_property
    def branches(self) -> Branches:
        return self.read or self.macros.parsed(self.reader, self.key, self.text)

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The whole of it."""
        return self._compile(written(self.branches))

    def search(self, text: str) -> re.Match[str] | None:
        regex = self.within(text)
        return regex.search(text) if regex else None

    def match(self, text: str) -> re.Match[str] | None:
        regex = self.within(text)
        return regex.match(text) if regex else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        regex = self.within(text)
        return regex.finditer(text) if regex else iter(())

    def without(self, text: str) -> str:
        """A text with all its matches taken out."""
        regex = self.within(text)
        return regex.sub("", text) if regex else text

    def within(self, text: str) -> re.Pattern[str] | None:
        """What of it can match a text, or a part of that; None where nothing can."""
        source = specialised(self.branches, text_of(text))
        return None if source is None else self._compile(source)

    def _compile(self, source: str) -> re.Pattern[str]:
        try:
            return _compiled(source, self.flags)
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
            yield from self.patterns[number].finditer(text)


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
    record needs to name, `named` where a text names one, `given_names` are theirs.
    """

    language: Language
    rules: tuple[Rule, ...]
    numbered: tuple[tuple[Rule, Pattern], ...]
    index: Index
    exemptions: Mapping[str, Pattern]
    before: Mapping[str, Pattern]
    after: Mapping[str, Pattern]
    later: Mapping[str, Pattern]
    claims: Mapping[str, Pattern]
    absolute: Alternatives
    people: tuple[Pattern, ...]
    named: tuple[Pattern, ...]
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


class Macros(dict[str, Group]):
    """Macros and classes by name, read when one is first used."""

    def __init__(self, *readers: Reader, classes: Reader | None = None) -> None:
        self.unread = {name: reader for reader in readers for name in reader.mapping()}
        self.classes = classes
        if classes:
            self.unread |= dict.fromkeys(classes.mapping(), classes)

    def __missing__(self, name: str) -> Group:
        # Taken out before it is read, so that none can use itself.
        reader = self.unread.pop(name)
        text = _either(reader, name) if reader is self.classes else _written(reader, name)
        self[name] = macro(self.parsed(reader, name, text))
        return self[name]

    def parsed(self, reader: Reader, key: str, text: str) -> Branches:
        """The tree of a pattern; raises DocumentError."""
        for name, mark in _MARKS.items():
            text = text.replace(f"{{{name}}}", mark)
        try:
            return tree(text, self)
        except KeyError as missing:
            raise reader.error(f"there is no macro {{{missing.args[0]}}}", key=key) from None
        except re.error as error:
            raise reader.error(f"not a regular expression: {error}", key=key) from None

    def alternatives(self, reader: Reader, key: str) -> list[Pattern]:
        """The alternatives of the pattern under a key, each a pattern of its own."""
        branches = self.parsed(reader, key, _written(reader, key))
        return [Pattern("", self, reader, key, read=(each,)) for each in branches]


def _written(reader: Reader, key: str) -> str:
    """The pattern under a key; its lines are read as one."""
    return reader.text(key).replace("\n", "")


def _either(reader: Reader, key: str) -> str:
    """A class as a pattern: its words and phrases, which stand between commas."""
    return "|".join(word for part in _COMMA.split(reader.text(key)) if (word := part.strip()))


def load_guide(language: Language, folder: Path = CONFIG) -> Guide:
    """Read one language's rules; raises DocumentError with the place of a mistake."""
    shared = Reader(load(folder / "prose.yml"))
    shared.mapping(("schema", "kinds", "log_lines", "bare_code", "given_names"))
    places = shared.child("kinds")
    kinds = {kind: frozenset(places.texts(kind)) for kind in places.mapping()}
    top = Reader(load(folder / f"prose.{language}.yml"))
    top.mapping((*_GROUPS, "schema", "language"))
    top.choice("language", LANGUAGES)
    claims, people = top.child("claims"), top.child("people")
    macros = Macros(top.child("macros"), claims, classes=top.child("classes"))
    exemptions = _patterns(top.child("exemptions"), macros)
    before = _patterns(top.child("exempt_before"), macros, "(?:{})$")
    after = _patterns(top.child("exempt_after"), macros)
    later = _patterns(top.child("exempt_later"), macros)
    rules = _rules(top, macros, kinds, (*exemptions, *before, *after, *later, *BUILT_IN))
    numbered = tuple((rule, pattern) for rule in rules for pattern in rule.patterns)
    return Guide(
        language=language,
        rules=rules,
        numbered=numbered,
        index=_index(pattern for _, pattern in numbered),
        exemptions=exemptions,
        before=before,
        after=after,
        later=later,
        claims=_patterns(claims, macros),
        absolute=_absolute(claims, macros),
        people=_people(people, macros),
        named=tuple(Pattern(text, macros, people, "named") for text in people.texts("named", ())),
        given_names=frozenset(shared.text("given_names", "").split()),
        kinds=kinds,
        log_lines=_joined(shared, "log_lines", r"\s*(?:{})"),
        bare_code=_joined(shared, "bare_code", r"(?<![A-Za-z0-9_])(?:{})"),
    )


def _patterns(reader: Reader, macros: Macros, frame: str = "{}") -> dict[str, Pattern]:
    texts = {key: frame.replace("{}", _written(reader, key)) for key in reader.mapping()}
    return {key: Pattern(text, macros, reader, key) for key, text in texts.items()}


def _index(patterns: Iterable[Pattern]) -> Index:
    """An index of patterns of one alternative each."""
    return index_of(needs_of(pattern.branches) for pattern in patterns)


def _absolute(reader: Reader, macros: Macros) -> Alternatives:
    """What no test can show, said in many ways of which a clause uses one."""
    patterns = macros.alternatives(reader, "absolute")
    return Alternatives(tuple(patterns), _index(patterns))


def _joined(reader: Reader, key: str, frame: str) -> Pattern:
    either = "|".join(f"(?:{text})" for text in reader.texts(key))
    return Pattern(frame.replace("{}", either), Macros(), reader, key, 0)


def _rules(
    top: Reader,
    macros: Macros,
    kinds: Mapping[str, frozenset[str]],
    exemptions: Collection[str],
) -> tuple[Rule, ...]:
    rules: list[Rule] = []
    for reader in top.items("rules"):
        reader.mapping(("id", "kind", "re", "in", "not_in", "unless", "matches", "near_misses"))
        kind = reader.choice("kind", KINDS)
        places = frozenset(reader.texts("in", ())) or kinds[kind]
        rules.append(
            Rule(
                id=reader.text("id"),
                kind=next(known for known in KINDS if known == kind),
                patterns=tuple(macros.alternatives(reader, "re")),
                places=places - frozenset(reader.texts("not_in", ())),
                unless=reader.choices("unless", exemptions, ()),
                matches=reader.texts("matches"),
                near_misses=reader.texts("near_misses"),
            )
        )
    return tuple(rules)


def _people(reader: Reader, macros: Macros) -> tuple[Pattern, ...]:
    """How persons are found beside the names of the record: titles, handles, roles, pronouns."""
    reader.mapping(("roles", "named", *PEOPLE))
    roles = "|".join(f"(?:{role})" for role in reader.texts("roles"))
    words = {key: _written(reader, key) for key in PEOPLE if reader.has(key)}
    start, not_behind = words.get("start", "") + words.get("before", ""), words["not_before"]
    role = rf"{start}(?:{roles})(?![A-Za-z0-9_]|{not_behind})"
    handle = r"(?<![\w@./-])@[A-Za-z][A-Za-z0-9-]*(?![\w(@/]|\.\w)"

    def patterns(*keys: str, flags: int) -> Iterator[Pattern]:
        found = (key for key in keys if key in words)
        return (Pattern(words[key], macros, reader, key, flags) for key in found)

    return (
        Pattern(handle, macros, reader, "roles", re.ASCII),
        *patterns("titled", "surnames", flags=0),
        Pattern(role, macros, reader, "roles"),
        *patterns("pronouns", "departments", flags=re.IGNORECASE),
    )
