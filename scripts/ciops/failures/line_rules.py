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
  benign, `epilogue` that what follows tidies up, `passed` that the run succeeded: the job, or by
  its kind only a `build` or some `tests` in it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ciops.failures.alternatives import Finder
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
_LONGEST_TEXT: Final = 1000
_MOST_DULL: Final = 4000
_MOST_JUDGED: Final = 1000
_FEW: Final = 16
_NUMBER: Final = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{8,}(?![0-9A-Za-z])|\d+")
DULL_ROLES: Final = frozenset((BENIGN,))
KEYS: Final = (
    *("id", "role", "kind", "sure", "pattern", "words", "below", "within", "level"),
    *("matches", "near_misses"),
)


@dataclass(frozen=True, slots=True)
class LineRule:
    """One rule; `words` are lower-case texts of which a line must hold one.

    `below` finds the words of the error on one of the `within` lines that follow. `level`
    restricts the rule to lines logged at that level (`E`). A rule that is not `sure` knows lines
    that are no error now and then: it yields to the sure ones.
    """

    id: str
    role: str
    source: str
    words: tuple[str, ...] = ()
    kind: str = ""
    sure: bool = True
    below: str = ""
    within: int = 0
    level: str = ""
    matches: tuple[str, ...] = ()
    near_misses: tuple[str, ...] = ()

    def compiled(self) -> re.Pattern[str]:
        """The pattern, compiled on first use (a run needs few of them)."""
        return _finder(self.source).whole()

    def find(self, text: str, lower: str) -> re.Match[str] | None:
        """What the pattern finds first in a text; `lower` is the same in lower case."""
        return _finder(self.source).find(text, lower)

    def compiled_below(self) -> re.Pattern[str] | None:
        """The pattern of the line below, if the rule has one."""
        return _finder(self.below).whole() if self.below else None


_FINDERS: Final[dict[str, Finder]] = {}


def _finder(source: str) -> Finder:
    finder = _FINDERS.get(source)
    if finder is None:
        finder = _FINDERS[source] = Finder(source)
    return finder


@dataclass(frozen=True, slots=True)
class Said:
    """A line together with the rule that knows it."""

    rule: LineRule
    match: re.Match[str]

    def group(self, name: str) -> str:
        """A named group, or an empty text when the rule has none or it took no part."""
        return self.match.groupdict().get(name) or ""


def is_dull(said: Said | None) -> bool:
    """Whether a line means nothing, by a rule or for lack of one."""
    return said is None or said.rule.role in DULL_ROLES


class WordIndex:
    """Finds which of many words stand in a text, by one rare trigram of each word."""

    __slots__ = ("_by_trigram", "_few", "_short")

    def __init__(self, words: Iterable[str]) -> None:
        words = sorted(set(words))
        self._few = tuple(words) if len(words) <= _FEW else ()
        counts = Counter(gram for word in words for gram in _trigrams(word))
        self._short = tuple(word for word in words if len(word) < 3)
        self._by_trigram: dict[str, list[str]] = {}
        for word in words:
            if len(word) >= 3:
                rarest = min(sorted(_trigrams(word)), key=lambda gram: counts[gram])
                self._by_trigram.setdefault(rarest, []).append(word)

    def find(self, text: str) -> Iterator[str]:
        """The words that stand in a lower-case text."""
        if self._few:
            yield from (word for word in self._few if word in text)
            return
        for gram in self._by_trigram.keys() & _trigrams(text):
            for word in self._by_trigram[gram]:
                if word in text:
                    yield word
        for word in self._short:
            if word in text:
                yield word


# Several indexes are asked about a line, one after the other.
@lru_cache(maxsize=4)
def _trigrams(text: str) -> frozenset[str]:
    return frozenset([text[i : i + 3] for i in range(len(text) - 2)])


class Classifier:
    """Finds the first rule, in their order, that knows a line."""

    __slots__ = ("_always", "_by_word", "_dull", "_first", "_rules", "_words")

    def __init__(self, rules: Iterable[LineRule]) -> None:
        self._rules = tuple(rules)
        self._always = tuple(i for i, rule in enumerate(self._rules) if not rule.words)
        self._by_word: dict[str, list[int]] = {}
        for index, rule in enumerate(self._rules):
            for word in rule.words:
                self._by_word.setdefault(word, []).append(index)
        self._words = WordIndex(self._by_word)
        self._dull: dict[str, Said | None] = {}
        # A line is judged at a glance, for the lines above it, and when it is heard.
        self._first = lru_cache(maxsize=_MOST_JUDGED)(self._judge)

    def _judge(self, text: str, level: str) -> Said | None:
        return next(self.all(text, level), None)

    def say(self, text: str, level: str = "") -> Said | None:
        """The rule of a line that is peeled and stripped."""
        text = text[:_LONGEST_TEXT]
        template = level + _NUMBER.sub("0", text)
        if template in self._dull:
            return self._dull[template]
        said = self._first(text, level)
        if is_dull(said) and self._stays_dull(text, level):
            if len(self._dull) > _MOST_DULL:
                self._dull.clear()
            self._dull[template] = said
        return said

    def _stays_dull(self, text: str, level: str) -> bool:
        """Whether the line would mean nothing with any other numbers too."""
        variants = (_NUMBER.sub("0", text), _NUMBER.sub("7", text))
        return all(is_dull(self._first(variant, level)) for variant in variants)

    def is_nothing(self, text: str, level: str = "") -> bool:
        """Whether no line that differs from this one in numbers only means anything."""
        self.say(text, level)
        return level + _NUMBER.sub("0", text[:_LONGEST_TEXT]) in self._dull

    def all(self, text: str, level: str = "") -> Iterator[Said]:
        """Every rule that knows the line, in their order."""
        found = set(self._always)
        lower = text.lower()
        for word in self._words.find(lower):
            found.update(self._by_word[word])
        for index in sorted(found):
            rule = self._rules[index]
            if rule.level and rule.level != level:
                continue
            match = rule.find(text, lower)
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
        sure=item.flag("sure", True),
        below=pattern_text(item, "below") if item.has("below") else "",
        within=int(item.integer("within", 3)) if item.has("below") else 0,
        level=item.choice("level", ("E", "W", "I"), ""),
        matches=item.texts("matches", ()),
        near_misses=item.texts("near_misses", ()),
    )


def pattern_text(item: Reader, key: str) -> str:
    """The text of a pattern under `key`, compiled once only when a check asks for it."""
    return item.text(key)
