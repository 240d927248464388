"""Regular expressions as trees, of which a text is only tried with what can match it.

Hundreds of patterns stand against every sentence and hardly any can match it; of those that can,
hardly any alternative. A tree knows which pieces of text its matches must hold (`cues`), and
`specialised` leaves out of a pattern every alternative that a text cannot match, so that what is
compiled is as small as what is said: over that one text the rest matches exactly what the whole
would.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from ciops.postmortem.cues import NOTHING, Cue, tell

_WORD: Final = r"[^\\()\[\]{}|?*+.^$]+"
_TOKEN: Final = re.compile(
    rf"(?P<macro>\{{[a-z][a-z_]*\}})|(?P<words>\(\?:(?:{_WORD}\??\|)*{_WORD}\??\))"
    r"|(?P<open>\((?:\?(?:[a-z-]*:|P<\w+>|<?[=!]|>))?)(?!\?)|(?P<end>[|)])"
    r"|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<class>\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[A-Za-z0-9])|[.^$])"
    rf"|\\(?P<escaped>.)|(?P<run>{_WORD})|(?P<char>[^(])",
    re.DOTALL,
)
_REPEAT: Final = re.compile(r"[*+?][?+]?|\{\d*,?\d*\}[?+]?")
_SPECIAL: Final = frozenset("\\()[]{}|?*+.^$")
_CAPTURES: Final = ("(", "(?P<")
# Scripts of thousands of letters, whose sets are slow to compile: only a text's own are put in.
_STRETCH: Final = re.compile(r"([^\x00-\x7f])-([^\x00-\x7f])")
_FIRST_OF_MANY: Final = "\u2e80"


class Text:
    """A text to match: in small letters, and its letters of large scripts in order."""

    __slots__ = ("known", "letters", "lowered")

    def __init__(self, text: str) -> None:
        self.lowered: Container[str] = text.lower()
        written = "" if text.isascii() else text + text.lower() + text.upper()
        self.letters: list[str] | None = sorted({it for it in written if it >= _FIRST_OF_MANY})
        # By the id of a tree, which stays its own as long as it is kept beside.
        self.known: dict[int, tuple[Branches, str | None]] = {}


class _Anything:
    def __contains__(self, piece: object) -> bool:
        return True


class Run(NamedTuple):
    """What is taken as it is written; all pieces are in whatever it matches."""

    source: str
    pieces: tuple[str, ...]

    def within(self, text: Text) -> str | None:
        for piece in self.pieces:
            if piece not in text.lowered:
                return None
        return self.source


class Letters(NamedTuple):
    """A set with stretches of a large script, `[head…tail]`."""

    source: str
    head: str
    stretches: tuple[tuple[str, str], ...]
    tail: str
    repeat: str
    optional: bool

    def within(self, text: Text) -> str | None:
        letters = text.letters
        if letters is None:
            return self.source + self.repeat
        found = "".join(
            "".join(letters[bisect_left(letters, first) : bisect_right(letters, last)])
            for first, last in self.stretches
        )
        if found or self.tail:
            return f"[{self.head}{found}{self.tail}]{self.repeat}"
        if self.head:
            return rf"[\s\S]{self.repeat}"
        return "" if self.optional else None


class Words(NamedTuple):
    """A group of plain words, each with the piece that its matches hold."""

    words: tuple[tuple[str, str], ...]
    repeat: str
    optional: bool

    def within(self, text: Text) -> str | None:
        lowered = text.lowered
        found = [word for piece, word in self.words if piece in lowered]
        if found:
            return f"(?:{'|'.join(found)}){self.repeat}"
        return "" if self.optional else None


class Group(NamedTuple):
    """A group or a look around; an `optional` one may be left out where nothing in it matches."""

    opening: str
    branches: Branches
    repeat: str
    optional: bool

    def within(self, text: Text) -> str | None:
        found = specialised(self.branches, text)
        if found is not None:
            return f"{self.opening}{found}){self.repeat}"
        if not self.optional:
            return None
        return f"{self.opening}(?!)){self.repeat}" if self.opening.startswith(_CAPTURES[1]) else ""


class Sequence(NamedTuple):
    """One alternative of a pattern."""

    parts: tuple[Run | Letters | Words | Group, ...]
    cue: Cue

    def within(self, text: Text) -> str | None:
        parts, lowered = self.parts, text.lowered
        if len(parts) == 1:
            return parts[0].within(text)
        for piece in self.cue.pieces:
            if piece in lowered:
                break
        else:
            if self.cue.tell:
                return None
        found = []
        for part in parts:
            source = part.within(text)
            if source is None:
                return None
            found.append(source)
        return "".join(found)


Branches = tuple[Sequence, ...]
text_of: Final = lru_cache(256)(Text)


def specialised(branches: Branches, text: Text) -> str | None:
    """The pattern with only those alternatives that can match a text; None where none can."""
    known = text.known.get(id(branches))
    if known is None:
        found = [source for each in branches if (source := each.within(text)) is not None]
        known = text.known[id(branches)] = branches, "|".join(found) if found else None
    return known[1]


def whole(branches: Branches) -> str:
    """The pattern with all its alternatives."""
    text = Text("")
    text.lowered, text.letters = _Anything(), None
    return specialised(branches, text) or ""


def within(pattern: str, text: str) -> re.Pattern[str] | None:
    """A regular expression with what can match a text; None where nothing can."""
    source = specialised(_known(pattern), text_of(text))
    return None if source is None else re.compile(source)


@lru_cache(256)
def _known(pattern: str) -> Branches:
    return parsed(pattern, {})


def parsed(pattern: str, macros: Mapping[str, Branches]) -> Branches:
    """A pattern in which `{name}` stands for a macro.

    Raises KeyError for a macro that is not there, re.error where brackets do not match and for what
    is not known here, as flags in the middle and conditions.
    """
    branches, at = _branches(pattern, 0, macros)
    if at < len(pattern):
        raise re.error("unbalanced parenthesis or unknown construct", pattern, at)
    return branches


def _branches(pattern: str, at: int, macros: Mapping[str, Branches]) -> tuple[Branches, int]:
    """The alternatives `a|b|c` from `at` on, and the place of the bracket that closes them."""
    found = []
    while True:
        sequence, at = _sequence(pattern, at, macros)
        found.append(sequence)
        if pattern[at : at + 1] != "|":
            return tuple(found), at
        at += 1


class _Row:
    """The parts of an alternative as they are read, and the best cue among them."""

    def __init__(self) -> None:
        self.parts: list[Run | Letters | Words | Group] = []
        self.cue = NOTHING
        self.source = ""
        self.word = ""
        self.pieces: list[str] = []

    def plain(self, text: str) -> None:
        """Characters that stand for themselves."""
        self.source += _escaped(text)
        self.word += text

    def atom(self, source: str) -> None:
        """Something that matches no text in particular."""
        self.end_word()
        self.source += source

    def end_word(self) -> None:
        if self.word:
            piece = self.word.lower()
            self.pieces.append(piece)
            self.cue = max(self.cue, Cue(tell(piece), -1, (piece,)))
            self.word = ""

    def part(self, part: Letters | Words | Group, cue: Cue) -> None:
        self.end_run()
        self.parts.append(part)
        self.cue = max(self.cue, cue)

    def end_run(self) -> None:
        self.end_word()
        if self.source:
            self.parts.append(Run(self.source, tuple(self.pieces)))
            self.source, self.pieces = "", []


def _sequence(pattern: str, at: int, macros: Mapping[str, Branches]) -> tuple[Sequence, int]:
    """What stands in a row from `at` on, and where it ends."""
    row = _Row()
    while (token := _TOKEN.match(pattern, at)) and token.lastgroup != "end":
        kind, text, at = token.lastgroup, token.group(), token.end()
        inner: Branches = ()
        if kind == "open":
            inner, at = _branches(pattern, at, macros)
            if pattern[at : at + 1] != ")":
                raise re.error("missing ), unterminated subpattern", pattern, token.start())
            at += 1
        repeat, at = _repeat(pattern, at)
        if kind == "macro":
            _group(row, "(?:", macros[text[1:-1]], repeat)
        elif kind == "open":
            _group(row, text, inner, repeat)
        elif kind == "words":
            _words(row, text, repeat)
        elif kind == "set":
            _set(row, text, repeat)
        elif kind in ("run", "escaped"):
            _run(row, text[-1] if kind == "escaped" else text, repeat)
        else:
            row.atom(text + repeat)
    row.end_run()
    return Sequence(tuple(row.parts), row.cue), at


def _repeat(pattern: str, at: int) -> tuple[str, int]:
    """How often what stands before `at` is repeated, as written, and where that ends."""
    if pattern[at : at + 1] not in ("*", "+", "?", "{"):
        return "", at
    found = _REPEAT.match(pattern, at)
    return (found.group(), found.end()) if found else ("", at)


def _optional(repeat: str) -> bool:
    return repeat.startswith(("?", "*", "{0", "{,"))


def _run(row: _Row, text: str, repeat: str) -> None:
    """Plain characters; only the last of them is repeated."""
    if not repeat:
        return row.plain(text)
    row.plain(text[:-1])
    if _optional(repeat):
        return row.atom(_escaped(text[-1]) + repeat)
    row.plain(text[-1])
    return row.atom(repeat)


def _set(row: _Row, text: str, repeat: str) -> None:
    """A set; of a large script only the letters of a text will be put in."""
    found = (match for match in _STRETCH.finditer(text) if match[1] >= _FIRST_OF_MANY)
    stretches = tuple((match[1], match[2]) for match in found)
    if not stretches:
        return row.atom(text + repeat)
    head = "^" if text.startswith("[^") else ""
    tail = text[1 + len(head) : -1]
    for first, last in stretches:
        tail = tail.replace(f"{first}-{last}", "")
    tail = re.sub(r"^(?=\])", r"\\", tail)
    return row.part(Letters(text, head, stretches, tail, repeat, _optional(repeat)), NOTHING)


def _words(row: _Row, text: str, repeat: str) -> None:
    words = text[3:-1].split("|")
    pieces = tuple((word[:-2] if word[-1] == "?" else word).lower() for word in words)
    optional = _optional(repeat)
    cue = NOTHING if optional else Cue(min(map(tell, pieces)), -len(pieces), pieces)
    row.part(Words(tuple(zip(pieces, words, strict=True)), repeat, optional), cue)


def _group(row: _Row, opening: str, branches: Branches, repeat: str) -> None:
    optional = _optional(repeat) or opening.endswith("!")
    cue = NOTHING if optional else _either(branches)
    row.part(Group(opening, branches, repeat, optional), cue)


def _either(branches: Branches) -> Cue:
    """The cue of alternatives: the pieces of all."""
    tell = min(each.cue.tell for each in branches)
    pieces = tuple(piece for each in branches for piece in each.cue.pieces) if tell else ()
    return Cue(tell, -len(pieces), pieces)


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if char in _SPECIAL else char for char in text)
