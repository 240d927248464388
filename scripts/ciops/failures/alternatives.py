"""A pattern as its alternatives, each with the literals that a text must hold for it to match.

A rule of forty alternatives is tried on every line that holds one of its words. Which of them can
match at all is known from the literals that they ask for, in a fraction of the time that a search
for all forty takes; only those are tried. `^(?!b).*(?:c|d)` counts as `^(?!b).*c` and `^(?!b).*d`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

Clause = tuple[str, ...]
"""Lower-case literals of which one must be there."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way for a pattern to match: its own pattern, and clauses that a text must all fulfil.

    The first clause is the one that the fewest texts fulfil. What is optional, or must only not be
    there, promises nothing: there may be no clause.
    """

    source: str
    clauses: tuple[Clause, ...]


_SHORTEST: Final = 2
_TELLING: Final = 4
_MOST_CLAUSES: Final = 3
_WORTH_PARTING: Final = 4
_SHORT: Final = 48
"""A text of fewer characters is searched for everything as soon as for literals."""
_PATIENCE: Final = 40
_TOKEN: Final = re.compile(
    r"(?P<open>\((?:\?(?:P<\w+>|<?[=!]|[aiLmsu]*(?:-[ims]+)?:))?(?!\?))"
    r"|(?P<close>\))"
    r"|(?P<alt>\|)"
    r"|(?P<repeat>(?:[*+?]|\{\d+(?:,\d*)?\}|\{,\d*\})[?+]?)"
    r"|(?P<any>[\^$.])"
    r"|(?P<item>\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)|\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|(?P<run>[^\\\[\](){}|*+?^$.]+(?![*+?{]))"
    r"|(?P<char>.)",
    re.DOTALL,
)
_FLAGS: Final = re.compile(r"\(\?[aisu]+\)")
# References to groups, conditions, comments, atomic groups, blanks that do not count.
_STRANGE: Final = re.compile(r"\\[0-9N]|\(\?(?:P[=>]|[(#>])|\(\?[a-zA-Z]*[xmL]")
_EITHER_CASE: Final = re.compile(r"\[(?:[A-Z][a-z]|[a-z][A-Z])\]")
_NONE_AT_LEAST: Final = re.compile(r"[*?]|\{0|\{,")

_Token = tuple[str | None, str]
_Try = Callable[[str], re.Match[str] | None]


def alternatives(source: str) -> tuple[Alternative, ...]:
    """The alternatives of a pattern: it is found in a text where one of them is.

    One that is written in a way that is not understood is its own only alternative.
    """
    flags = _FLAGS.match(source)
    head = flags[0] if flags else ""
    tokens = _tokens(source, len(head))
    if _STRANGE.search(source) or any(map(_is_possessive, tokens)):
        return (Alternative(source, ()),)
    parts = [part for branch in _branches(tokens) for part in _parted(branch)]
    return tuple(
        Alternative(head + "".join(text for _, text in part), clauses)
        for part, clauses in _telling(parts)
    )


def _tokens(source: str, begin: int) -> list[_Token]:
    return [(found.lastgroup, found[0]) for found in _TOKEN.finditer(source, begin)]


def _telling(parts: list[list[_Token]]) -> Iterator[tuple[list[_Token], tuple[Clause, ...]]]:
    """Those that ask for a telling literal with what they need, and all others as one."""
    rest: list[_Token] = []
    for part in parts:
        clauses = _clauses(part)
        if clauses and min(map(len, clauses[0])) >= _TELLING:
            yield part, clauses
        else:
            rest += (("alt", "|"), *part)
    if rest:
        yield rest[1:], _clauses(rest[1:])


def _is_possessive(token: _Token) -> bool:
    return token[0] == "repeat" and token[1].endswith("+") and token[1] != "+"


def _branches(tokens: Sequence[_Token]) -> list[list[_Token]]:
    """What stands between the bars that are in no bracket."""
    found: list[list[_Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token[0] == "open") - (token[0] == "close")
        if token[0] == "alt" and not depth:
            found.append([])
        else:
            found[-1].append(token)
    return found


def _parted(tokens: list[_Token]) -> Iterator[list[_Token]]:
    """One alternative for each way through its bracket of most alternatives, if it has one."""
    begin, end, inner = 0, 0, [tokens]
    for at, closing in _brackets(tokens, 0, len(tokens)):
        branches = _branches(tokens[at + 1 : closing])
        if len(branches) > max(len(inner), _WORTH_PARTING - 1):
            begin, end, inner = at, closing, branches
    if len(inner) == 1:
        yield tokens
        return
    for branch, _ in _telling(inner):
        yield [*tokens[: begin + 1], *branch, *tokens[end:]]


def _brackets(tokens: Sequence[_Token], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Where brackets open and close that every match goes through once."""
    at = begin
    while at < end:
        kind, text = tokens[at]
        closing = _closing(tokens, at) if kind == "open" else at
        repeated = closing + 1 < end and tokens[closing + 1][0] == "repeat"
        if kind == "open" and not repeated and not text.endswith("!"):
            yield at, closing
            if len(_branches(tokens[at + 1 : closing])) == 1:
                yield from _brackets(tokens, at + 1, closing)
        at = closing + 1


def _closing(tokens: Sequence[_Token], at: int) -> int:
    """The index of the bracket that closes the one at `at`."""
    depth = 0
    for index in range(at, len(tokens)):
        depth += (tokens[index][0] == "open") - (tokens[index][0] == "close")
        if not depth:
            return index
    return len(tokens)


def _clauses(tokens: Sequence[_Token]) -> tuple[Clause, ...]:
    """What a sequence needs, that of the fewest texts first."""
    found, _ = _either(tokens, 0)
    return tuple(sorted(found, key=_weakness)[:_MOST_CLAUSES])


def _weakness(clause: Clause) -> tuple[int, int]:
    """Clauses of short texts are fulfilled by many lines."""
    return -min(map(len, clause)), len(clause)


def _either(tokens: Sequence[_Token], at: int) -> tuple[list[Clause], int]:
    """What one of some alternatives needs, up to their closing bracket, and where that is."""
    branches = []
    while True:
        clauses, at = _sequence(tokens, at)
        branches.append(clauses)
        if at >= len(tokens) or tokens[at][0] == "close":
            break
        at += 1  # past "|"
    if len(branches) == 1:
        return branches[0], at
    if not all(branches):
        return [], at
    best = [min(clauses, key=_weakness) for clauses in branches]
    return [tuple(dict.fromkeys(text for clause in best for text in clause))], at


def _sequence(tokens: Sequence[_Token], at: int) -> tuple[list[Clause], int]:
    """What one alternative needs, and the index of the token that ends it."""
    clauses: list[Clause] = []
    run = ""
    while at < len(tokens) and tokens[at][0] not in ("alt", "close"):
        kind, text = tokens[at]
        letters = _letters(kind, text)
        inner: list[Clause] = []
        if kind == "open":
            inner, at = _either(tokens, at + 1)
        needed, after = _repeat(tokens, at + 1)
        run += letters if needed else ""
        if not letters or after > at + 1:
            clauses += _text(run)
            run = ""
        if needed and not text.endswith("!"):
            clauses += inner
        at = after
    return [*clauses, *_text(run)], at


def _repeat(tokens: Sequence[_Token], at: int) -> tuple[bool, int]:
    """Whether what stands before `at` must be there, and the index after its repeat."""
    if at >= len(tokens) or tokens[at][0] != "repeat":
        return True, at
    return not _NONE_AT_LEAST.match(tokens[at][1]), at + 1


def _letters(kind: str | None, text: str) -> str:
    """The text, in lower case, that a token stands for; empty for one that stands for several."""
    if kind in ("char", "run"):
        return text.lower()
    if kind == "item" and len(text) == 2 and not text[1].isalnum():
        return text[1]
    if kind == "item" and _EITHER_CASE.fullmatch(text) and text[1].lower() == text[2].lower():
        return text[1].lower()
    return ""


def _text(run: str) -> Iterator[Clause]:
    if len(run) >= _SHORTEST:
        yield (run,)


class Finder:
    """Finds a pattern in texts as its `search` does, trying those alternatives that can match.

    A pattern is taken apart once it has been searched for `patience` times, and an alternative is
    compiled when it is first tried: most traces call for few.
    """

    __slots__ = ("_always", "_by_text", "_left", "_parts", "_source", "_tries", "_whole")

    def __init__(self, source: str, patience: int = _PATIENCE) -> None:
        self._source = source
        self._left = patience
        self._whole: re.Pattern[str] | None = None
        self._parts: tuple[Alternative, ...] = ()
        self._tries: list[_Try | None] = []
        self._always: list[int] = []
        self._by_text: dict[str, list[int]] = {}

    def whole(self) -> re.Pattern[str]:
        """The pattern itself."""
        self._whole = self._whole or re.compile(self._source)
        return self._whole

    def find(self, text: str, lower: str) -> re.Match[str] | None:
        """The first match in a text; `lower` is the same in lower case."""
        if len(text) < _SHORT or self._is_patient():
            return self.whole().search(text)
        found = {*self._always}
        for literal in [literal for literal in self._by_text if literal in lower]:
            found.update(self._by_text[literal])
        for at in found:
            if self._matches(at, text, lower):
                return self.whole().search(text)
        return None

    def _is_patient(self) -> bool:
        """Whether the pattern is not worth taking apart yet."""
        if self._left > 0:
            self._left -= 1
            return True
        if not self._parts:
            self._take_apart()
        return False

    def _take_apart(self) -> None:
        self._parts = alternatives(self._source)
        self._tries = [None] * len(self._parts)
        for at, part in enumerate(self._parts):
            if not part.clauses:
                self._always.append(at)
            for text in part.clauses[0] if part.clauses else ():
                self._by_text.setdefault(text, []).append(at)

    def _matches(self, at: int, text: str, lower: str) -> bool:
        for clause in self._parts[at].clauses[1:]:
            for literal in clause:
                if literal in lower:
                    break
            else:
                return False
        if len(self._parts) == 1:
            return True
        tries = self._tries[at]
        if tries is None:
            tries = self._tries[at] = _try(self._parts[at].source)
        return tries(text) is not None


def _try(source: str) -> _Try:
    """How to look for an alternative: what begins at the start need not be sought elsewhere."""
    pattern = re.compile(source)
    flags = _FLAGS.match(source)
    branches = _branches(_tokens(source, flags.end() if flags else 0))
    starts = all(branch[:1] == [("any", "^")] for branch in branches)
    return pattern.match if starts else pattern.search
