"""Patterns of which a text is only tried with what can match it.

Hundreds of patterns stand against every sentence and hardly any can match it; of those that can,
hardly any alternative. `specialised` leaves out of a pattern every alternative that a text cannot
match, so that what is compiled is as small as what is said: over that one text the rest matches
exactly what the whole would.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from ciops.plumbing.pattern_reading import (
    REPEAT,
    SET,
    Branch,
    Branches,
    Group,
    Need,
    Run,
    Words,
    best,
    is_optional,
    needs,
    parsed,
)

_LONGEST: Final = 6
# Scripts of thousands of letters, whose sets are slow to compile: only a text's own are put in.
_SET: Final = re.compile(rf"\\.|({SET})({REPEAT})?", re.DOTALL)
_STRETCH: Final = re.compile(r"([\u2e80-\U0010ffff])-([^\x00-\x7f])")
_FIRST_OF_MANY: Final = "\u2e80"


class Text:
    """A text to match: in small letters, and its letters of large scripts in order."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lowered = text.lower()
        # By the id of a tree, which stays its own as long as it is kept beside.
        self.known: dict[int, tuple[Branches, str | None]] = {}

    @cached_property
    def letters(self) -> list[str]:
        written = self.text + self.lowered + self.text.upper()
        return sorted({it for it in written if it >= _FIRST_OF_MANY})


text_of: Final = lru_cache(256)(Text)


class Letters(NamedTuple):
    """A set with stretches of a large script, `[head…tail]`."""

    head: str
    stretches: tuple[tuple[str, str], ...]
    tail: str
    repeat: str

    def within(self, letters: list[str]) -> str | None:
        """The set with only those of some letters."""
        found = "".join(
            "".join(letters[bisect_left(letters, first) : bisect_right(letters, last)])
            for first, last in self.stretches
        )
        if found or self.tail:
            return f"{self.head}{found}{self.tail}]{self.repeat}"
        if self.head == "[^":
            return rf"[\s\S]{self.repeat}"
        return "" if self.repeat.startswith(("?", "*", "{0", "{,")) else None


def specialised(branches: Branches, text: Text) -> str | None:
    """The pattern with only those alternatives that can match a text; None where none can."""
    known = text.known.get(id(branches))
    if known is None:
        found = [source for each in branches if (source := _within(each, text)) is not None]
        known = text.known[id(branches)] = branches, "|".join(found) if found else None
    return known[1]


def _within(branch: Branch, text: Text) -> str | None:
    """An alternative with only what can match a text."""
    if not _has_all(branch, text.lowered):
        return None
    found = []
    for part in branch:
        if isinstance(part, Run):
            source = _of_script(part.source, text)
        elif isinstance(part, Words):
            source = _words(part, text)
        else:
            source = _group(part, text)
        if source is None:
            return None
        found.append(source)
    return "".join(found)


def _has_all(branch: Branch, lowered: str) -> bool:
    """Whether a text holds what is soon told that it must."""
    for part in branch:
        if isinstance(part, Run):
            for literal in part.literals:
                if literal[0] not in lowered:
                    return False
        elif isinstance(part, Group) and part.need and not is_optional(part):
            for piece in part.need.pieces:
                if piece in lowered:
                    break
            else:
                if part.need.pieces:
                    return False
    return True


def _of_script(source: str, text: Text) -> str | None:
    """A pattern without brackets, in which large sets are of a text's own letters."""
    if source.isascii():
        return source
    found = []
    for part in _lettered(source):
        kept = part if isinstance(part, str) else part.within(text.letters)
        if kept is None:
            return None
        found.append(kept)
    return "".join(found)


@lru_cache(512)
def _lettered(source: str) -> tuple[str | Letters, ...]:
    """What is between the sets of a large script, and these."""
    found: list[str | Letters] = []
    at = 0
    for match in _SET.finditer(source):
        letters, repeat = match.groups("")
        stretches = tuple(_STRETCH.findall(letters))
        if stretches:
            head = "[^" if letters.startswith("[^") else "["
            tail = _STRETCH.sub("", letters[len(head) : -1])
            tail = re.sub(r"^(?=\])", r"\\", tail)
            found += [source[at : match.start()], Letters(head, stretches, tail, repeat)]
            at = match.end()
    return (*found, source[at:])


def _words(part: Words, text: Text) -> str | None:
    lowered = text.lowered
    found = [word for piece, word in part.words if piece in lowered]
    if found:
        return f"{part.opening}{'|'.join(found)}){part.repeat}"
    return "" if is_optional(part) else None


def _group(part: Group, text: Text) -> str | None:
    found = specialised(part.branches, text)
    if found is not None:
        return f"{part.opening}{found}){part.repeat}"
    if not is_optional(part):
        return None
    return f"{part.opening}(?!)){part.repeat}" if part.opening.startswith("(?P<") else ""


def within(pattern: str, text: str) -> re.Pattern[str] | None:
    """A regular expression with what can match a text; None where nothing can."""
    source = specialised(_known(pattern), text_of(text))
    return None if source is None else re.compile(source)


@lru_cache(256)
def _known(pattern: str) -> Branches:
    return tree(pattern)


def tree(pattern: str, macros: Mapping[str, Group] | None = None) -> Branches:
    """A pattern whose groups know what they need; raises as `parsed` does."""
    return parsed(pattern, macros, _weigh)


def macro(branches: Branches) -> Group:
    """A pattern as what a macro's name stands for."""
    return Group("(?:", branches, "", need_of(branches))


def need_of(branches: Branches) -> Need:
    """Pieces of text of which one is in whatever a pattern matches."""
    return best(needs_of(branches))


def needs_of(branches: Branches) -> list[Need]:
    """All such pieces that are soon told, a match holds one of each."""
    return needs(branches, _weigh)


def _weigh(text: str, _begins: bool, _ends: bool) -> Need:
    """How telling a text is; a private character, as for a person, is rarer than any word."""
    private = not text.isascii() and any("\ue000" <= char <= "\uf8ff" for char in text)
    return Need(_LONGEST + 1 if private else min(len(text.strip()), _LONGEST), (text,))
