"""Read YAML files people write (policies, rules, records) and say where a mistake is.

Scalars follow the YAML 1.2 core schema (https://yaml.org/spec/1.2.2/#103-core-schema), where
PyYAML follows 1.1: `on`, `off`, `yes` and `no` stay text, `0o17` is 15, `12:30` and dates stay
text. Mapping keys are always text, so `404:` and `"404":` are one key. Duplicate keys, merge
keys, tags other than the core ones, several documents in one file, and aliases that expand
beyond a bound are refused.

Every problem is a `DocumentError` (a `UsageError`): one sentence with file, line, key path, the
bad value and the nearest right one. Loading keeps no line numbers, which makes it quick; the
document is composed a second time only when an error asks for a line.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from ciops.plumbing._yaml_syntax import (
    DocumentError,
    KeyPath,
    Plain,
    YamlSyntaxError,
    build,
    key_path,
    line_of,
    shown,
    source_of,
)
from ciops.plumbing.checkout import refuse_link_out

__all__ = [
    "REQUIRED",
    "Document",
    "DocumentError",
    "KeyPath",
    "Plain",
    "Reader",
    "YamlSyntaxError",
    "did_you_mean",
    "key_path",
    "load",
    "nearest",
    "parse",
    "read_bytes",
    "read_text",
    "shown",
]

MAX_BYTES: Final = 8 * 1024 * 1024
T = TypeVar("T")


class _Required:
    """The default of a key that must be there."""


REQUIRED: Final = _Required()


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file: its name for messages, its plain data, and its text.

    Containers that an alias names are shared in `data`: read them, never change them.
    """

    name: str
    data: Plain
    text: str

    def line(self, path: KeyPath) -> int | None:
        """The 1-based line of a key or item; of its nearest parent when it is not there."""
        return line_of(self.text, path)

    def error(self, path: KeyPath, problem: str, next_step: str = "") -> DocumentError:
        """An error that reads "FILE:LINE: key.path: problem. Next step"."""
        return DocumentError(self.name, self.line(path), path, problem, next_step)

    def source(self, path: KeyPath) -> str | None:
        """The scalar at `path` as it is written (`1.10`, `0123456`), or None for a container."""
        return source_of(self.text, path)


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """The choice that `word` was most likely meant to be, or None when none is near."""
    from difflib import get_close_matches  # only errors pay for it

    by_folded = {choice.casefold(): choice for choice in choices}
    match = get_close_matches(word.casefold(), list(by_folded), n=1, cutoff=0.6)
    return by_folded[match[0]] if match else None


def read_text(path: str | Path, limit: int = MAX_BYTES) -> str:
    """The text of a UTF-8 file of at most `limit` bytes, without a byte order mark."""
    return _decode(read_bytes(path, limit), str(path))


def read_bytes(path: str | Path, limit: int = MAX_BYTES) -> bytes:
    """The bytes of a file of at most `limit`."""
    name = str(path)
    try:
        refuse_link_out(path)
        with Path(path).open("rb") as file:
            raw = file.read(limit + 1)
    except FileNotFoundError:
        raise DocumentError(name, None, (), "no such file", "Check the path") from None
    except IsADirectoryError:
        raise DocumentError(name, None, (), "is a directory", "Name a file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DocumentError(
            shown(name, 200, quote=False), None, (), f"cannot be read: {reason}"
        ) from None
    if len(raw) > limit:
        raise DocumentError(name, None, (), f"is larger than {limit:,} bytes", "Split it")
    return raw


def _decode(raw: bytes, name: str) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DocumentError(name, 1, (), "is UTF-16, not UTF-8", "Save the file as UTF-8")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        what = f"is not UTF-8: byte 0x{raw[error.start]:02x}"
        raise DocumentError(name, line, (), what, "Save the file as UTF-8") from None


def load(path: str | Path) -> Document:
    """Read and parse one file; raises DocumentError."""
    return parse(read_text(path), str(path))


def parse(text: str, name: str) -> Document:
    """Parse YAML text; `name` stands for the file in messages."""
    text = text.removeprefix("\ufeff")
    return Document(name, build(text, name), text)


class Reader:
    """Typed access to one place of a document, for loaders into dataclasses.

    Every method raises DocumentError with the place, the bad value and the nearest right one.
    A key that is missing or null takes `default`; without one it is an error. Null where a
    mapping or list is read counts as an empty one.
    """

    __slots__ = ("document", "path", "value")

    def __init__(self, document: Document, path: KeyPath = ()) -> None:
        self.document = document
        self.path = tuple(path)
        self.value: Plain = document.data
        for step in path:
            self.value = self.value[step]

    def _at(self, step: str | int, value: Plain) -> Reader:
        reader = Reader.__new__(Reader)
        reader.document, reader.path, reader.value = self.document, (*self.path, step), value
        return reader

    def error(
        self, problem: str, next_step: str = "", key: str | int | None = None
    ) -> DocumentError:
        """An error at this place, or at a key or item below it."""
        path = self.path if key is None else (*self.path, key)
        return self.document.error(path, problem, next_step)

    def mapping(self, allowed: Collection[str] | None = None) -> dict[str, Plain]:
        """The mapping here; with `allowed`, any other key is an error."""
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            raise self._wrong("a mapping", self.value)
        if allowed is not None:
            for key in self.value:
                if key not in allowed:
                    raise self.error(f"unknown key {shown(key)}", did_you_mean(key, allowed), key)
        return self.value

    def sequence(self) -> list[Reader]:
        """The items of the list here."""
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            raise self._wrong("a list", self.value)
        return [self._at(index, item) for index, item in enumerate(self.value)]

    def has(self, key: str) -> bool:
        """Whether `key` is there and is not null."""
        return self.mapping().get(key) is not None

    def child(self, key: str) -> Reader:
        """The mapping under `key`."""
        child = self._at(key, self.mapping().get(key))
        child.mapping()
        return child

    def items(self, key: str) -> list[Reader]:
        """The items of the list under `key`."""
        return self._at(key, self.mapping().get(key)).sequence()

    def entries(self, key: str) -> list[tuple[str, Reader]]:
        """The entries of the mapping under `key`, whose names are free."""
        child = self.child(key)
        return [(name, child._at(name, value)) for name, value in child.mapping().items()]

    def text(self, key: str, default: T | _Required = REQUIRED) -> str | T:
        """A text; a number or flag is refused, since YAML may have changed how it reads."""
        value: str | T = self._typed(key, default, (str,), "text")
        return value

    def flag(self, key: str, default: T | _Required = REQUIRED) -> bool | T:
        """true or false; `yes` and `on` are text and refused."""
        value: bool | T = self._typed(key, default, (bool,), "true or false")
        return value

    def number(self, key: str, default: T | _Required = REQUIRED) -> float | T:
        """A finite number."""
        value: float | T = self._typed(key, default, (int, float), "a number")
        if isinstance(value, float) and not math.isfinite(value):
            raise self._wrong("a finite number", value, key)
        return value

    def integer(self, key: str, default: T | _Required = REQUIRED) -> int | T:
        """A whole number."""
        value: int | T = self._typed(key, default, (int,), "a whole number")
        return value

    def texts(self, key: str, default: T | _Required = REQUIRED) -> tuple[str, ...] | T:
        """A list of texts."""
        value: Plain = self._typed(key, default, (list,), "a list of texts")
        for index, item in enumerate(value if isinstance(value, list) else ()):
            if not isinstance(item, str):
                raise self.items(key)[index]._wrong("text", item)
        texts: tuple[str, ...] | T = tuple(value) if isinstance(value, list) else value
        return texts

    def choice(
        self, key: str, choices: Collection[str], default: T | _Required = REQUIRED
    ) -> str | T:
        """One of `choices`."""
        value: str | T = self.text(key, default)
        if value is default or value in choices:
            return value
        raise self._not_one_of(str(value), choices, key)

    def choices(
        self, key: str, choices: Collection[str], default: T | _Required = REQUIRED
    ) -> tuple[str, ...] | T:
        """A list of some of `choices`."""
        values: tuple[str, ...] | T = self.texts(key, default)
        for item in self.items(key):
            if item.value not in choices:
                raise item._not_one_of(item.value, choices)
        return values

    def _typed(self, key: str, default: object, types: tuple[type, ...], words: str) -> Plain:
        value = self.mapping().get(key)
        if value is None:
            if default is REQUIRED:
                raise self.error(f"key {shown(key)} is missing", "Add it")
            return default
        if type(value) not in types:
            raise self._wrong(words, value, key)
        return value

    def _wrong(self, words: str, value: object, key: str | None = None) -> DocumentError:
        path = self.path if key is None else (*self.path, key)
        next_step = _retype(words, value, self.document.source(path))
        return self.error(f"expected {words}, found {shown(value)}", next_step, key)

    def _not_one_of(
        self, value: str, choices: Collection[str], key: str | None = None
    ) -> DocumentError:
        return self.error(f"unknown value {shown(value)}", did_you_mean(value, choices), key)


def _retype(words: str, value: object, written: str | None) -> str:
    """How to write a value so that it has the type asked for."""
    if words == "a mapping":
        return "Write it as keys with values"
    if words == "text" and written:
        return f"Put it in quotes: '{shown(written, quote=False)}'"
    if words.startswith("a list") and isinstance(value, str):
        return f"Write it as a list: [{shown(value)}]"
    if words == "true or false" and isinstance(value, str):
        return "Write true or false, without quotes"
    return ""


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """The nearest right one as a question, or all that are known."""
    known = sorted(choices)
    near = nearest(word, known)
    if near is not None:
        return f"Did you mean {shown(near)}?"
    return f"Known are: {', '.join(shown(choice, quote=False) for choice in known)}"
