"""The configuration that a workload prints into its trace: model and runtime hints.

A dump starts at a line that configuration describes and is a JSON object, a Python call
(`Config(model='x', …)`) or indented YAML. A template with unresolved `${…}` values is not a dump.
The commit may also stand on a line of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

HintValue = str | int | float | bool | tuple[str, ...]
_MOST_LINES: Final = 120
_UNRESOLVED: Final = re.compile(r"\$\{|\{\{|^\$\w+$|^<\w+>$")
_ENTRY: Final = re.compile(
    r"^(?P<indent>\s*)(?:- )?['\"]?(?P<key>[A-Za-z_][\w.-]*)['\"]?\s*[:=]\s*(?P<value>.*)$"
)
_ITEM: Final = re.compile(r"^(?P<indent>\s*)- (?P<value>[^:]+)$")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?$")


@dataclass(frozen=True, slots=True)
class HintRules:
    """Where a dump starts and which of its keys are wanted; `model` is the key of the model."""

    start: re.Pattern[str] | None = None
    words: tuple[str, ...] = ()
    model: str = "model"
    keys: tuple[str, ...] = ()
    commit: tuple[str, ...] = ()


class DumpReader:
    """Collects the first resolved dump of a trace."""

    __slots__ = ("_commit", "_left", "_list", "_named", "_rules", "_wanted", "done", "values")

    def __init__(self, rules: HintRules) -> None:
        self._rules = rules
        self._wanted = frozenset((rules.model, *rules.keys, *rules.commit))
        self.values: dict[str, HintValue] = {}
        self._left = 0
        self._list = ""
        self._commit = ""
        self._named = _commit_line(rules.commit)
        self.done = rules.start is None

    def read(self, text: str) -> bool:
        """One peeled line; True while the next lines are wanted too."""
        if self._left:
            return self._inside(text)
        start = self._rules.start.search(text) if self._rules.start else None
        if start is None or self.done:
            self._note_commit(text)
            return False
        rest = text[start.end() :].strip(" :")
        if rest.startswith("{") or "=" in rest or "(" in rest:
            self._take(_inline(rest, self._wanted))
            self._finish()
            return False
        self._left = _MOST_LINES
        return True

    def _note_commit(self, text: str) -> None:
        if not self._commit and self._named is not None:
            named = self._named.search(text)
            self._commit = named["sha"] if named else ""

    def starts(self, text: str) -> bool:
        """Whether a dump or a commit stands here, be it still wanted or not."""
        patterns = (self._rules.start, self._named)
        return any(pattern is not None and pattern.search(text) for pattern in patterns)

    def _inside(self, text: str) -> bool:
        self._left -= 1
        if text.strip() in ("", "{", "---") and self._left > 0:
            return True
        item, entry = _ITEM.match(text), _ENTRY.match(text)
        if self._list and item:
            self._append(item["value"])
        elif entry and (entry["indent"] or text[:1] in "\"'"):
            self._entry(entry["key"], entry["value"].strip().rstrip(","))
        else:
            self._left = 0
            self._note_commit(text)
        if not self._left:
            self._finish()
        return self._left > 0

    def _entry(self, key: str, value: str) -> None:
        self._list = ""
        if key not in self._wanted:
            return
        if value:
            self._take({key: _value(value)})
            return
        self._list = key
        self.values.setdefault(key, ())

    def _append(self, value: str) -> None:
        items = self.values.get(self._list, ())
        if isinstance(items, tuple) and len(items) < 32:
            self.values[self._list] = (*items, _unquoted(value))

    def _take(self, found: Mapping[str, HintValue]) -> None:
        for key, value in found.items():
            if not (isinstance(value, str) and _UNRESOLVED.search(value)):
                self.values.setdefault(key, value)

    def _finish(self) -> None:
        """A dump without a resolved model was a template: wait for the next one."""
        self._left = 0
        self._list = ""
        self.done = isinstance(self.values.get(self._rules.model), str)
        if not self.done:
            self.values.clear()

    def finish(self) -> None:
        """The trace is over."""
        if self._left:
            self._finish()

    @property
    def model(self) -> str | None:
        """The resolved model, where a dump named one."""
        model = self.values.get(self._rules.model)
        return model if isinstance(model, str) else None

    @property
    def commit(self) -> str | None:
        """The commit that the dump names, else a line of its own."""
        found = (self.values.get(key) for key in self._rules.commit)
        return next((str(value) for value in found if value), self._commit or None)

    def hints(self) -> dict[str, HintValue]:
        """The wanted hints that were printed, in the order of the configuration."""
        return {key: self.values[key] for key in self._rules.keys if key in self.values}


def _commit_line(keys: Sequence[str]) -> re.Pattern[str] | None:
    """A line that gives the commit of a component; words such as `commit` alone say too little."""
    names = "|".join(re.escape(key) for key in keys if "_" in key)
    if not names:
        return None
    return re.compile(rf"(?<![\w.])(?:{names})['\"]?\s*[:=]\s*['\"]?(?P<sha>[0-9a-f]{{7,40}})\b")


def _inline(text: str, wanted: Iterable[str]) -> dict[str, HintValue]:
    if text.startswith("{"):
        try:
            data = json.loads(text)
        except ValueError:
            data = None
        if isinstance(data, dict):
            return {k: v for k in wanted if k in data and (v := _plain(data[k])) is not None}
    found = {}
    for key in wanted:
        match = re.search(
            rf"(?<![\w.]){re.escape(key)}['\"]?\s*[:=]\s*(\[[^\]]*\]|'[^']*'|\"[^\"]*\"|[^\s,)}}]+)",
            text,
        )
        if match:
            found[key] = _value(match[1])
    return found


def _plain(value: object) -> HintValue | None:
    if isinstance(value, list):
        return tuple(str(item) for item in value[:32])
    return value if isinstance(value, (str, int, float, bool)) else None


def _value(text: str) -> HintValue:
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        items = (item.strip() for item in text[1:-1].split(","))
        return tuple(_unquoted(item) for item in items if item)
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if _NUMBER.match(text):
        return float(text) if "." in text else int(text)
    return _unquoted(text)


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text
