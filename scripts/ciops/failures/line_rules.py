"""What single lines of a log mean: rules, and the classifier that finds the rule of a line.

A rule gives a line a role:

- `cause` names a specific error, `stated` says in somebody's words that something failed, `hint`
  only smells of failure (it counts beside a statement that the job failed);
- `kill` says why the job was ended from outside, `cancel` only that it was;
- `wrapper` reports that something below failed; its group `cause` carries the reason when
  it repeats it;
- `announcement` names what failed, the reason stands near;
- `fallout` looks specific and is a consequence; `benign` looks like an error and is none;
- `recovery` says that what was printed before was overcome; `noise` that the next block is
  benign, `epilogue` that what follows tidies up, `passed` that the run succeeded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ciops.plumbing.yaml_file import Reader

CAUSE: Final = "cause"
STATED: Final = "stated"
HINT: Final = "hint"
KILL: Final = "kill"
CANCEL: Final = "cancel"
WRAPPER: Final = "wrapper"
ANNOUNCEMENT: Final = "announcement"
FALLOUT: Final = "fallout"
BENIGN: Final = "benign"
RECOVERY: Final = "recovery"
NOISE: Final = "noise"
EPILOGUE: Final = "epilogue"
PASSED: Final = "passed"
ROLES: Final = (
    *(CAUSE, STATED, HINT, KILL, CANCEL, WRAPPER, ANNOUNCEMENT),
    *(FALLOUT, BENIGN, RECOVERY, NOISE, EPILOGUE, PASSED),
)
DULL_ROLES: Final = frozenset((BENIGN,))
KEYS: Final = (
    *("id", "role", "kind", "pattern", "words", "below", "within", "level"),
    *("matches", "near_misses"),
)


@dataclass(frozen=True, slots=True)
class LineRule:
    """One rule; `words` are lower-case texts of which a line must hold one.

    `below` finds the words of the error on one of the `within` lines that follow. `level`
    restricts the rule to lines logged at that level (`E`).
    """

    id: str
    role: str
    source: str
    words: tuple[str, ...] = ()
    kind: str = ""
    below: str = ""
    within: int = 0
    level: str = ""
    matches: tuple[str, ...] = ()
    near_misses: tuple[str, ...] = ()

    def compiled(self) -> re.Pattern[str]:
        """The pattern, compiled on first use (a run needs few of them)."""
        return _compiled(self.source)

    def compiled_below(self) -> re.Pattern[str] | None:
        """The pattern of the line below, if the rule has one."""
        return _compiled(self.below) if self.below else None


_CACHE: Final[dict[str, re.Pattern[str]]] = {}


def _compiled(source: str) -> re.Pattern[str]:
    pattern = _CACHE.get(source)
    if pattern is None:
        pattern = _CACHE[source] = re.compile(source)
    return pattern


@dataclass(frozen=True, slots=True)
class Said:
    """A line together with the rule that knows it."""

    rule: LineRule
    match: re.Match[str]

    def group(self, name: str) -> str:
        """A named group, or an empty text when the rule has none or it took no part."""
        return self.match.groupdict().get(name) or ""


class Classifier:
    """Finds the first rule, in their order, that knows a line."""

    __slots__ = ("_always", "_by_word", "_rules")

    def __init__(self, rules: Iterable[LineRule]) -> None:
        self._rules = tuple(rules)
        self._always = tuple(i for i, rule in enumerate(self._rules) if not rule.words)
        by_word: dict[str, list[int]] = {}
        for index, rule in enumerate(self._rules):
            for word in rule.words:
                by_word.setdefault(word, []).append(index)
        self._by_word = tuple((word, tuple(indexes)) for word, indexes in by_word.items())

    def say(self, text: str, level: str = "") -> Said | None:
        """The rule of a line that is peeled and stripped."""
        return next(self.all(text, level), None)

    def all(self, text: str, level: str = "") -> Iterator[Said]:
        """Every rule that knows the line, in their order."""
        folded = text.lower()
        found = set(self._always)
        for word, indexes in self._by_word:
            if word in folded:
                found.update(indexes)
        for index in sorted(found):
            rule = self._rules[index]
            if rule.level and rule.level != level:
                continue
            match = rule.compiled().search(text)
            if match:
                yield Said(rule, match)


def read_rules(items: Sequence[Reader]) -> tuple[LineRule, ...]:
    """The rules of a `lines` list; raises DocumentError at the entry that is wrong."""
    return tuple(_read(item) for item in items)


def _read(item: Reader) -> LineRule:
    item.mapping(KEYS)
    return LineRule(
        id=item.text("id"),
        role=item.choice("role", ROLES),
        source=pattern_text(item, "pattern"),
        words=tuple(word.lower() for word in item.texts("words", ())),
        kind=item.text("kind", ""),
        below=pattern_text(item, "below") if item.has("below") else "",
        within=int(item.integer("within", 3)) if item.has("below") else 0,
        level=item.choice("level", ("E", "W", "I"), ""),
        matches=item.texts("matches", ()),
        near_misses=item.texts("near_misses", ()),
    )


def pattern_text(item: Reader, key: str) -> str:
    """The text of a pattern under `key`, compiled once only when a check asks for it."""
    return item.text(key)
