"""YAML syntax: plain data from parser events, and the place of a key.

Builds plain data straight from parser events (PyYAML's constructor costs twice as much) and
finds the place of a key only when asked. Callers import from `yaml_file`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from ciops.errors import UsageError

MAX_DEPTH: Final = 64
MAX_ALIAS_CHARACTERS: Final = 1_000_000
MAX_NUMBER_LENGTH: Final = 100

_PARSER: Final = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_CORE: Final = "tag:yaml.org,2002:"
_CORE_TYPES: Final[dict[str, tuple[type, ...]]] = {
    _CORE + "null": (type(None),),
    _CORE + "bool": (bool,),
    _CORE + "int": (int,),
    _CORE + "float": (float, int),
}
_WORDS: Final[dict[str, Plain]] = {
    **dict.fromkeys(["", "~", "null", "Null", "NULL"]),
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
    **dict.fromkeys([".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"], math.inf),
    **dict.fromkeys(["-.inf", "-.Inf", "-.INF"], -math.inf),
    **dict.fromkeys([".nan", ".NaN", ".NAN"], math.nan),
}
_NUMBER: Final = re.compile(
    r"(?P<int>[-+]?[0-9]+)|(?P<oct>0o[0-7]+)|(?P<hex>0x[0-9a-fA-F]+)"
    r"|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
)
_MAY_BE_NUMBER: Final = frozenset("0123456789+-.")
_NOT_YAML: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NEWLINE: Final = re.compile(r"\r\n?|\n")
_HINTS: Final[dict[str, str]] = {
    "mapping values are not allowed": (
        "Put a value that holds a colon in quotes, and check the indentation"
    ),
    "found character": "Indent with spaces, not tabs; put a value that starts so in quotes",
    "did not find expected": "Check quotes, brackets, commas and indentation on and above the line",
    "could not find expected ':'": "Check the line above for a missing colon or quote",
    "found unexpected end of stream": "Close the quote or bracket that was opened",
    "expected <block end>": "Check the indentation, and quotes inside the value",
}

KeyPath: TypeAlias = Sequence[str | int]
Plain: TypeAlias = Any  # dict[str, Plain] | list[Plain] | str | int | float | bool | None
_Event: TypeAlias = Any  # one of yaml.events; the stubs leave get_event() open


class DocumentError(UsageError):
    """What is wrong, and where: `line` is 1-based or None, `path` empty for a syntax error."""

    def __init__(
        self, name: str, line: int | None, path: KeyPath, what: str, next_step: str = ""
    ) -> None:
        self.name = name
        self.line = line
        self.path = tuple(path)
        self.what = what
        place = name if line is None else f"{name}:{line}"
        key = f" {key_path(path)}:" if path else ""
        super().__init__(f"{place}:{key} {what}", next_step)


class YamlSyntaxError(DocumentError):
    """The text is not YAML that this module reads; `column` is 1-based."""

    def __init__(self, name: str, line: int, column: int, what: str, next_step: str = "") -> None:
        super().__init__(name, line, (), what, next_step)
        self.column = column
        self.args = (f"{name}:{line}:{column}: {what}",)
        self.problem = self.args[0]


def key_path(path: KeyPath) -> str:
    """`("rules", 3, "any")` as `rules[3].any`."""
    out = ""
    for step in path:
        out += f"[{step}]" if isinstance(step, int) else f".{shown(step, quote=False)}"
    return out.removeprefix(".")


def shown(value: object, limit: int = 60, *, quote: bool = True) -> str:
    """A value for a message: one line, cut, without control characters."""
    text = value if isinstance(value, str) else _plain_words(value)
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[: limit + 1])
    if len(text) > limit:
        text = text[:limit] + "…"
    return f'"{text}"' if quote and isinstance(value, str) else text


def _plain_words(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, list) else str(value)


def build(text: str, name: str) -> Plain:
    """Plain data of one YAML document; raises YamlSyntaxError."""
    bad = _NOT_YAML.search(text)
    if bad:
        what = f"character U+{ord(bad.group()):04X} is not allowed in YAML"
        raise _syntax(
            name, text, bad.start(), what, "Remove it, or write it as an escape in quotes"
        )
    try:
        return _Builder(text, name).document()
    except yaml.MarkedYAMLError as error:
        raise _translated(name, text, error) from None


def _translated(name: str, text: str, error: yaml.MarkedYAMLError) -> YamlSyntaxError:
    """The parser's own error, with the place where what it could not finish began."""
    mark, start = error.problem_mark, error.context_mark
    problem = what = error.problem or "not valid YAML"
    if start and mark and error.context and start.line != mark.line:
        what = f"{problem}, {error.context} that starts in line {_line_at(text, start.index)}"
    hint = next((hint for key, hint in _HINTS.items() if key in problem), "")
    place = mark or start
    return _syntax(name, text, place.index if place else 0, what, hint)


def _syntax(name: str, text: str, index: int, what: str, next_step: str = "") -> YamlSyntaxError:
    line_start = max(text.rfind("\n", 0, index), text.rfind("\r", 0, index)) + 1
    return YamlSyntaxError(name, _line_at(text, index), index - line_start + 1, what, next_step)


def _line_at(text: str, index: int) -> int:
    """Lines as editors count them: YAML 1.1 would also count U+0085, U+2028 and U+2029."""
    return sum(1 for _ in _NEWLINE.finditer(text, 0, index)) + 1


class _Builder:
    """Plain data straight from parser events, which skips PyYAML's slow constructor."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.next: Callable[[], _Event] = _PARSER(text).get_event
        self.anchors: dict[str, tuple[Plain, int] | None] = {}
        self.size = 0
        self.expanded = 0

    def document(self) -> Plain:
        self.next()  # stream start
        event = self.next()
        if not isinstance(event, DocumentStartEvent):
            return None
        data = self.node(self.next(), 0)
        self.next()  # document end
        event = self.next()
        if isinstance(event, DocumentStartEvent):
            raise self.error(event, "a second document starts here", "Keep one document a file")
        return data

    def node(self, event: _Event, depth: int) -> Plain:
        kind = type(event)
        if kind is AliasEvent:
            return self.alias(event)
        anchor = event.anchor
        before = self.size
        if anchor is not None:
            self.claim(anchor, event)
        value = self.scalar(event) if kind is ScalarEvent else self.container(event, kind, depth)
        if anchor is not None:
            self.anchors[anchor] = (value, self.size - before)
        return value

    def container(self, event: _Event, kind: type, depth: int) -> Plain:
        if depth >= MAX_DEPTH:
            raise self.error(event, f"nested deeper than {MAX_DEPTH} levels", "Flatten it")
        is_list = kind is SequenceStartEvent
        if event.tag not in (None, "!", _CORE + ("seq" if is_list else "map")):
            raise self.tag_error(event)
        return self.sequence(depth) if is_list else self.mapping(depth)

    def sequence(self, depth: int) -> list[Plain]:
        items: list[Plain] = []
        event = self.next()
        while type(event) is not SequenceEndEvent:
            items.append(self.node(event, depth + 1))
            event = self.next()
        return items

    def mapping(self, depth: int) -> dict[str, Any]:
        data: dict[str, Plain] = {}
        lines: dict[str, int] = {}
        event = self.next()
        while type(event) is not MappingEndEvent:
            key = self.key(event)
            if key in data:
                first = _line_at(self.text, lines[key])
                what = f"key {shown(key)} is a duplicate of line {first}"
                raise self.error(event, what, "Keep one of the two")
            lines[key] = event.start_mark.index
            data[key] = self.node(self.next(), depth + 1)
            event = self.next()
        return data

    def key(self, event: _Event) -> str:
        kind = type(event)
        if kind is AliasEvent:
            aliased = self.alias(event)
            if isinstance(aliased, str):
                return aliased
        if kind is not ScalarEvent:
            raise self.error(event, "a key must be text", "Write the key as plain text")
        if event.anchor is not None:
            self.claim(event.anchor, event)
            self.anchors[event.anchor] = (event.value, len(event.value) + 1)
        if event.tag not in (None, "!", _CORE + "str"):
            raise self.tag_error(event)
        if event.value == "<<" and event.implicit[0]:
            raise self.error(event, "merge keys (<<) are not read", "Write the entries out")
        self.size += len(event.value) + 1
        return str(event.value)

    def scalar(self, event: _Event) -> Plain:
        value: str = event.value
        self.size += len(value) + 1
        tag = event.tag
        if tag is None and event.implicit[0]:
            return self.plain(event, value)
        if tag in (None, "!", _CORE + "str"):
            return value
        types = _CORE_TYPES.get(tag)
        if types is None:
            raise self.tag_error(event)
        result = self.plain(event, value)
        if type(result) not in types:
            name = tag.removeprefix(_CORE)
            raise self.error(event, f"{shown(value)} is tagged !!{name} and is none")
        return result

    def plain(self, event: _Event, value: str) -> Plain:
        if value in _WORDS:
            return _WORDS[value]
        if value[0] not in _MAY_BE_NUMBER:
            return value
        match = _NUMBER.fullmatch(value)
        return self.number(event, value, match.lastgroup) if match else value

    def number(self, event: _Event, value: str, form: str | None) -> float:
        if len(value) > MAX_NUMBER_LENGTH:
            raise self.error(event, f"number {shown(value, 20)} is too long", "Put it in quotes")
        if form is not None:
            return int(value, {"int": 10, "oct": 8, "hex": 16}[form])
        result = float(value)
        if math.isinf(result):
            raise self.error(event, f"number {shown(value)} is out of range", "Put it in quotes")
        return result

    def claim(self, anchor: str, event: _Event) -> None:
        if anchor in self.anchors:
            raise self.error(
                event, f"anchor &{shown(anchor, quote=False)} is defined twice", "Rename one"
            )
        self.anchors[anchor] = None

    def alias(self, event: _Event) -> Plain:
        name = shown(event.anchor, quote=False)
        if event.anchor not in self.anchors:
            raise self.error(event, f"alias *{name} has no anchor", "Put a value with * in quotes")
        known = self.anchors[event.anchor]
        if known is None:
            raise self.error(event, f"alias *{name} stands inside its own anchor", "Write it out")
        value, size = known
        self.size += size
        self.expanded += size
        if self.expanded > MAX_ALIAS_CHARACTERS:
            what = f"aliases expand to more than {MAX_ALIAS_CHARACTERS:,} characters"
            raise self.error(event, what, "Write the values out")
        return value

    def tag_error(self, event: _Event) -> YamlSyntaxError:
        tag = event.tag.replace(_CORE, "!!")
        what = f"tag {shown(tag, quote=False)} is not allowed"
        return self.error(
            event, what, "Write a plain value, or put text that starts with ! in quotes"
        )

    def error(self, event: _Event, what: str, next_step: str = "") -> YamlSyntaxError:
        return _syntax(self.name, self.text, event.start_mark.index, what, next_step)


@lru_cache(maxsize=4)
def _compose(text: str) -> yaml.Node | None:
    return yaml.compose(text, _PARSER)  # safe: only nodes are made, and parse() bounded the text


def _step(node: yaml.Node, step: str | int) -> tuple[yaml.Node, int] | None:
    """The node below, and the character index where its key or item starts."""
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        if not 0 <= step < len(node.value):
            return None
        return node.value[step], node.value[step].start_mark.index
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(step):
                return value, key.start_mark.index
    return None


def line_of(text: str, path: KeyPath) -> int | None:
    """The 1-based line of a key or item, or of its nearest parent when it is not there."""
    node = _compose(text)
    if node is None:
        return None
    index = node.start_mark.index
    for step in path:
        found = _step(node, step)
        if found is None:
            break
        node, index = found
    return _line_at(text, index)


def source_of(text: str, path: KeyPath) -> str | None:
    """The scalar at a path as it is written, or None when there is no scalar there."""
    node = _compose(text)
    for step in path:
        found = _step(node, step) if node is not None else None
        if found is None:
            return None
        node = found[0]
    return str(node.value) if isinstance(node, yaml.ScalarNode) else None
