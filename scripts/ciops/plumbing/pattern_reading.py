"""Regular expressions as trees, and what a text must hold for one to match it.

Hundreds of patterns stand against every line and hardly any can match it. Which can is known from
the texts that their matches hold, in a fraction of the time that a search takes. A pattern is read
once, into alternatives of runs and groups; each tool weighs for itself which texts tell most.

What is optional, or must only not be there, promises nothing. The texts are in lower case, whether
a pattern minds the case or not.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final, NamedTuple

_PLAIN: Final = r"[^\\()\[\]{}|?*+.^$]"
SET: Final = r"\[\^?\]?(?:\\.|[^\]\\])*\]"
REPEAT: Final = r"(?:[*+?]|\{\d+(?:,\d*)?\}|\{,\d*\})[?+]?"
_TOKEN: Final = re.compile(
    rf"((?:[^\\()\[|{{]++|\\[^N]|{SET}|\{{(?![a-z_]+\}}))++)"
    r"|(\|)"
    rf"|(\((?:\?:)?(?:{_PLAIN}++\??+\|)*+{_PLAIN}++\??+\)(?:{REPEAT})?)"
    r"|(\((?:\?(?:[aisu]*(?:-[ims]+)?:|P<\w+>|<?[=!]|>))?(?!\?))"
    rf"|(\)(?:{REPEAT})?)"
    rf"|(\{{[a-z_]+\}}(?:{REPEAT})?)"
    r"|(.{1,9})",
    re.DOTALL,
)
_ITEM: Final = re.compile(
    rf"({_PLAIN}+(?![*+?{{]))"
    rf"|(\\(?:x[0-9a-fA-F]{{2}}|u[0-9a-fA-F]{{4}}|U[0-9a-fA-F]{{8}}|\d+|.)|{SET}|.)({REPEAT})?",
    re.DOTALL,
)
_NONE_AT_LEAST: Final = ("?", "*", "{0", "{,")
_NO_LETTERS: Final = re.compile(r"[\^$]|\\[bAZsWnrt]|\[-?(?:[^\\\w^-]|_|\\[sWnrt]|\\[^\w])*-?\]")
_EITHER_CASE: Final = re.compile(r"\[(?:[A-Z][a-z]|[a-z][A-Z])\]")
_MAYBE: Final = re.compile(r".\?", re.DOTALL)
_LETTERS: Final = frozenset(string.ascii_letters + string.digits)
_OPEN_END: Final = _LETTERS | {"?"}
_DIGIT: Final = re.compile(r"\\d|\[[0-9-]+\]")
_ANY_LETTER: Final = re.compile(r"\\w|\[\\w(?:\\.|[^\]\\])*\]")


Literal = tuple[str, bool | None, bool | None]
"""Text in a row; whether a word surely begins and ends with it, None where others tell."""


class Run(NamedTuple):
    """Characters, sets and places without a bracket or bar, and the texts that each match holds.

    A word before it surely ends there if it `parts`; one after it surely starts there if it
    `starts` (None: if one would before it). With `digit`, there is one in each match.
    """

    source: str
    literals: tuple[Literal, ...]
    parts: bool
    starts: bool | None
    digit: bool


class _Item(NamedTuple):
    """One of a run: the text that it stands for, if it takes no letter, must be, is a digit."""

    letter: str
    free: bool
    needed: bool
    digit: bool


class Words(NamedTuple):
    """A group of plain words: each the text that its matches hold, and as it is written."""

    opening: str
    words: tuple[tuple[str, str], ...]
    repeat: str


class Group(NamedTuple):
    """A bracket or a look around; `need` is what it needs where that is known beforehand."""

    opening: str
    branches: Branches
    repeat: str
    need: Need | None = None


class Need(NamedTuple):
    """Pieces of which each match holds one, and how telling the least of them is."""

    weight: int
    pieces: tuple[Any, ...]


Part = Run | Words | Group
Branch = tuple[Part, ...]
Branches = tuple[Branch, ...]
Weigh = Callable[[str, bool, bool], Need]
"""What a text offers that surely begins a word, and ends one, or not."""
NOTHING: Final = Need(0, ())


def parsed(
    source: str, macros: Mapping[str, Group] | None = None, weigh: Weigh | None = None
) -> Branches:
    """The alternatives of a pattern, in which `{name}` may stand for a macro.

    Raises KeyError for a macro that is not there, re.error where brackets do not match and for what
    is not known here, as flags, conditions and references by name.
    """
    outer: list[tuple[str, list[Branch], list[Part]]] = []
    branches: list[Branch] = []
    parts: list[Part] = []
    for run, bar, words, opening, closing, macro, unknown in _TOKEN.findall(source):
        if run:
            parts.append(_run(run))
        elif words:
            parts.append(_words(words))
        elif bar:
            branches.append(tuple(parts))
            parts = []
        elif opening:
            outer.append((opening, branches, parts))
            branches, parts = [], []
        elif closing and outer:
            inner = (*branches, tuple(parts))
            opening, branches, parts = outer.pop()
            need = best(needs(inner, weigh)) if weigh else None
            parts.append(Group(opening, inner, closing[1:], need))
        elif macro and macros is None:
            parts.append(_run(macro))
        elif macro and macros is not None:
            name, _, repeat = macro[1:].partition("}")
            parts.append(macros[name]._replace(repeat=repeat))
        else:
            problem = f"cannot be read at {unknown}" if unknown else "closes a bracket too often"
            raise re.error(problem, source)
    if outer:
        raise re.error(f"missing ) after {outer[-1][0]}", source)
    return (*branches, tuple(parts))


def _words(source: str) -> Words:
    opening = "(?:" if source[1] == "?" else "("
    inner, _, repeat = source[len(opening) :].rpartition(")")
    texts = (_MAYBE.sub("", inner) if "?" in inner else inner).lower().split("|")
    return Words(opening, tuple(zip(texts, inner.split("|"), strict=True)), repeat)


def items(source: str) -> list[tuple[str, str, str]]:
    """What a run is made of: plain letters in a row, or else an item and how it is repeated."""
    return _ITEM.findall(source)


def inside(part: Words | Group) -> Branches:
    """The alternatives of a group."""
    if isinstance(part, Group):
        return part.branches
    return tuple([(_run(word),) for _, word in part.words])


@lru_cache(maxsize=8192)
def _run(source: str) -> Run:
    literals: list[Literal] = []
    text = ""
    digit = False
    begins: bool | None = None
    found = items(source)
    for plain, item, repeat in found:
        if plain:
            text += plain
            continue
        letter, free, needed, is_digit = _item(item, repeat)
        digit = digit or is_digit
        if letter and needed:
            text += letter
            if not repeat:
                continue
        before = text[-1] not in _LETTERS if text else begins
        if text:
            literals.append((text.lower(), begins, free and needed and not letter))
            text = ""
        begins = free if needed else free and before
    if text:
        literals.append((text.lower(), begins, None))
        begins = text[-1] not in _LETTERS
    plain, item, repeat = found[0]
    first = _item(plain[0] if plain else item, repeat)
    return Run(source, tuple(literals), first.free and first.needed, begins, digit)


@lru_cache(maxsize=1024)
def _item(item: str, repeat: str) -> _Item:
    letter = _letter(item)
    free = letter not in _LETTERS if letter else _NO_LETTERS.fullmatch(item) is not None
    needed = not repeat.startswith(_NONE_AT_LEAST)
    return _Item(letter, free, needed, needed and _DIGIT.fullmatch(item) is not None)


def _letter(item: str) -> str:
    """The text, in either case, that an item stands for; empty for one that stands for several."""
    if item[0] == "\\":
        return item[1] if not item[1].isalnum() else ""
    if item[0] != "[":
        return item if item not in ".^$*+?{}" else ""
    return item[1] if _EITHER_CASE.fullmatch(item) and item[1].lower() == item[2].lower() else ""


def is_optional(part: Words | Group) -> bool:
    """Whether a match may go without it."""
    return part.repeat.startswith(_NONE_AT_LEAST) or part.opening[-1] == "!"


def written(branches: Iterable[Branch]) -> str:
    """The pattern of a tree."""
    return "|".join(["".join(map(_written, branch)) for branch in branches])


def _written(part: Part) -> str:
    if isinstance(part, Run):
        return part.source
    if isinstance(part, Words):
        return f"{part.opening}{'|'.join(word for _, word in part.words)}){part.repeat}"
    return f"{part.opening}{written(part.branches)}){part.repeat}"


def telling(need: Need) -> tuple[int, int]:
    """The key of the best need: what few texts hold."""
    return need.weight, -len(need.pieces)


def best(needs: Sequence[Need]) -> Need:
    """The most telling."""
    return needs[0] if len(needs) == 1 else max(needs, key=telling, default=NOTHING)


def either(needs: Sequence[Need]) -> Need:
    """What one of some alternatives needs."""
    if len(needs) == 1:
        return needs[0]
    weights, pieces = zip(*needs, strict=True)
    return Need(min(weights), tuple(chain.from_iterable(pieces))) if all(pieces) else NOTHING


def needs(branches: Sequence[Branch], weigh: Weigh, digit: Need = NOTHING) -> list[Need]:
    """What each match of a pattern holds; `digit` where that is no more than a digit."""
    return of_any([_needs(branch, weigh, digit, False, False)[0] for branch in branches])


def of_any(found: Sequence[list[Need]]) -> list[Need]:
    """What each match of some alternatives holds, of which each holds what is `found` of it."""
    if len(found) == 1:
        return found[0]
    need = either([best(each) for each in found])
    return [need] if need.pieces else []


def _needs(
    branch: Branch, weigh: Weigh, digit: Need, starts: bool, ends: bool
) -> tuple[list[Need], bool]:
    """What it holds, and whether a word after it surely starts there.

    `starts` and `ends` tell whether what is before it, and after it, parts words.
    """
    found: list[Need] = []
    has_digit = False
    last = len(branch) - 1
    for at, part in enumerate(branch):
        if isinstance(part, Run):
            _, literals, _, after, digits = part
            for text, begins, stops in literals:
                begin = starts if begins is None else begins
                need = weigh(text, begin, (at == last and ends) if stops is None else stops)
                if need[1]:
                    found.append(need)
            has_digit = has_digit or digits
            starts = starts if after is None else after
        else:
            follows = branch[at + 1] if at < last else None
            parted = ends if follows is None else isinstance(follows, Run) and follows.parts
            need, starts = _of_group(part, weigh, digit, starts, parted and not part.repeat)
            if need[1]:
                found.append(need)
    if has_digit and not found and digit.pieces:
        found.append(digit)
    return found, starts


def _of_group(
    part: Words | Group, weigh: Weigh, digit: Need, starts: bool, ends: bool
) -> tuple[Need, bool]:
    """The same of a group, of which the best is enough."""
    optional = is_optional(part)
    if isinstance(part, Words):
        words = part.words
        offers = [weigh(text, starts, ends and word[-1] != "?") for text, word in words if text]
        need = either(offers) if len(offers) == len(words) else NOTHING
        parted = _OPEN_END.isdisjoint([word[-1] for _, word in words])
        return (NOTHING if optional else need), parted and (starts or not optional)
    if part.need:
        return (NOTHING if optional else part.need), False
    looks = part.opening[-1] in "=!"
    begins = starts and part.opening != "(?<="
    ends = ends and not looks
    found = [_needs(each, weigh, digit, begins, ends) for each in part.branches]
    need = NOTHING if optional else either([best(each) for each, _ in found])
    if looks:
        return need, starts or (part.opening == "(?<!" and _is_any_letter(part.branches))
    return need, all(each for _, each in found) and (starts or not optional)


def _is_any_letter(branches: Branches) -> bool:
    """Whether what must not stand before a word is any letter, so that the word starts there."""
    return _ANY_LETTER.fullmatch(written(branches)) is not None
