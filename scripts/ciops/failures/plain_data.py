"""Frozen dataclasses as plain JSON data and back, by their type hints.

Used where a whole structure of facts goes through a file. What is read back has the types that the
dataclass declares, or a PlainDataError says at which place it has not.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, TypeAlias, TypeVar, get_args, get_origin

T = TypeVar("T")
Value: TypeAlias = Any  # of a dataclass, or what json.loads gives
Hint: TypeAlias = Any


class PlainDataError(Exception):
    """Data that is not of the declared type; the words name the place."""


def to_plain(value: Value) -> Value:
    """A value as JSON can hold it: sets are sorted, tuples become lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(to_plain(item) for item in value)
    return [to_plain(item) for item in value] if isinstance(value, list | tuple) else value


def from_plain(kind: type[T], data: Value) -> T:
    """A dataclass from its plain data; raises PlainDataError."""
    built: T = _dataclass(kind, data, kind.__name__)
    return built


@cache
def _hints(kind: type) -> dict[str, Hint]:
    return typing.get_type_hints(kind)


def _dataclass(kind: Hint, data: Value, place: str) -> Value:
    if not isinstance(data, dict):
        raise PlainDataError(f"{place} is no object")
    hints = _hints(kind)
    found = {}
    for field in fields(kind):
        if field.name in data:
            found[field.name] = _value(hints[field.name], data[field.name], f"{place}.{field.name}")
        elif field.default is MISSING and field.default_factory is MISSING:
            raise PlainDataError(f"{place}.{field.name} is missing")
    return kind(**found)


def _value(hint: Hint, data: Value, place: str) -> Value:
    origin: Hint = get_origin(hint)
    arguments = get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _one_of(arguments, data, place)
    if origin is typing.Literal:
        return data if data in arguments else _refuse(hint, data, place)
    if origin in (tuple, frozenset):
        items = data if isinstance(data, list) else _refuse(hint, data, place)
        return origin(_value(arguments[0], item, f"{place}[]") for item in items)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        pairs = data if isinstance(data, dict) else _refuse(hint, data, place)
        return {
            _key(arguments[0], key, place): _value(arguments[1], item, f"{place}.{key}")
            for key, item in pairs.items()
        }
    if is_dataclass(hint):
        return _dataclass(hint, data, place)
    return data if type(data) is hint else _refuse(hint, data, place)


def _key(hint: Hint, key: str, place: str) -> str | int:
    """JSON knows keys of text only."""
    if hint is not int:
        return key
    return int(key) if key.isdecimal() else _refuse(hint, key, place)


def _one_of(kinds: tuple[Hint, ...], data: Value, place: str) -> Value:
    """The first kind of a union that the data is of."""
    if data is None and type(None) in kinds:
        return None
    for kind in kinds:
        try:
            return _value(kind, data, place)
        except PlainDataError:
            continue
    return _refuse(kinds, data, place)


def _refuse(hint: Hint, data: Value, place: str) -> Value:
    raise PlainDataError(f"{place} is a {type(data).__name__}, which is not {_named(hint)}")


def _named(hint: Hint) -> str:
    if isinstance(hint, tuple):
        return " or ".join(_named(one) for one in hint)
    return hint.__name__ if isinstance(hint, type) else str(hint)
