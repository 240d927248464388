"""Which words a pattern needs: of each regular expression, words that every match must hold.

An *anchor* is a word under which a pattern is found in an index. A *need* is a list of literals of
which one must be in a line as well: that a line lacks them is known long before the pattern is
tried. One pass over the tokens of a pattern; what is optional or unknown to it promises nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Final, NamedTuple

WORD: Final = re.compile(r"[a-z0-9]+")
LITERAL_RUN: Final = re.compile(r"[^\x00-\x7f]+")
_NO_WORDS: Final[frozenset[str]] = frozenset()
_ENDS: Final = ("alt", "close")
_GROUPS: Final = ("open", "look", "plain")
_SHORTEST: Final = 3
"""Starts of words and pieces of them shorter than this are in nearly every line."""

_TOKEN: Final = re.compile(
    r"(?P<run>[\w /:'\",`=<>-]{2,}(?![*+?{]))"
    r"|(?P<boundary>\\[bAZ]|\^|\$)"
    r"|(?P<space>\\[sW])"
    r"|(?P<unbounded>\\[wdSB])"
    r"|(?P<escaped>\\.)"
    r"|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|(?P<look>\(\?<?[=!])"
    r"|(?P<plain>\((?:\?:)?[\w '/-]+(?:\|[\w '/-]+)*\))"
    r"|(?P<open>\((?:\?(?::|[a-zA-Z-]+:|P<\w+>))?)"
    r"|(?P<close>\))"
    r"|(?P<alt>\|)"
    r"|(?P<repeat>[*+?]\??|\{\d*,?\d*\}\??)"
    r"|(?P<any>\.)"
    r"|(?P<maybe>[\w ,'-]\?\??)"
    r"|(?P<char>.)",
    re.DOTALL,
)
_Token = tuple[str | None, str]


class Anchor(NamedTuple):
    """A word that a line must hold: a whole one, the start of one, or a substring.

    A "literal" is no word, only a piece that must be there. `run` is the literal around it;
    `weight` tells how few lines hold it.
    """

    text: str
    kind: str  # "word", "prefix", "substring" or "literal"
    run: str = ""
    weight: int = 0


Offer = tuple[int, tuple[Anchor, ...]]
"""Words of which one must be there, with the least of their weights."""
_NOTHING: Final[Offer] = (-1, ())
_DIGIT: Final = re.compile(r"[0-9]")
_DIGIT_SET: Final = re.compile(r"\[[0-9-]+\]")
_DIGITS: Final = tuple(Anchor(digit, "literal") for digit in "0123456789")


@dataclass(slots=True)
class _Scan:
    """One sequence while it is scanned: the run so far, and what has been found to be needed."""

    run: str = ""
    run_starts_word: bool = True
    digits: bool = False
    common: frozenset[str] = _NO_WORDS
    offered: list[Offer] = field(default_factory=list)

    def end_run(self, at_boundary: bool, starts_next: bool) -> None:
        """Close the run of literals; `at_boundary` if a word surely ends there."""
        if self.run:
            self.digits = self.digits or _DIGIT.search(self.run) is not None
            self.offer(_run_anchors(self.run, self.run_starts_word, at_boundary, self.common))
            self.run = ""
        self.run_starts_word = starts_next

    def drop_last(self) -> None:
        """The last literal is optional: the run ends before it."""
        dropped, self.run = self.run[-1], self.run[:-1]
        parts = not dropped.isalnum() and self.ends_at_boundary()
        self.end_run(at_boundary=False, starts_next=parts)

    def ends_at_boundary(self) -> bool:
        """Whether a word that comes next surely starts there."""
        if not self.run:
            return self.run_starts_word
        return not _is_letter(self.run[-1])

    def offer(self, offer: Offer) -> None:
        if offer[1]:
            self.offered.append(offer)

    @property
    def best(self) -> Offer:
        """The most selective choice: words before pieces, then the longest."""
        return max(self.offered, key=itemgetter(0), default=_NOTHING)


@dataclass(frozen=True, slots=True)
class Needed:
    """What every match of a pattern holds: one of `anchors`, and one of each of the offers."""

    anchors: tuple[Anchor, ...]
    offers: tuple[Offer, ...]

    @property
    def literals(self) -> tuple[tuple[str, ...], ...]:
        """Lists of literals of which one must be in a line, beyond what the anchor tells."""
        return tuple(
            tuple(x.run or x.text for x in anchors)
            for _, anchors in self.offers
            if anchors is not self.anchors or any(x.run not in ("", x.text) for x in anchors)
        )


def needed_words(source: str, common: frozenset[str] = _NO_WORDS) -> Needed:
    """What a pattern needs. `common` words are in so many patterns that others are chosen."""
    tokens: list[_Token] = [(match.lastgroup, match[0]) for match in _TOKEN.finditer(source)]
    scan = _Scan(run_starts_word=False, common=common)
    at = _scan(tokens, 0, scan)
    scan.end_run(at_boundary=False, starts_next=False)
    offered = scan.offered
    if at < len(tokens):  # alternatives: nothing else is sure
        either = _alternatives(tokens, 0, False, False, common)[0]
        offered = [either] if either[1] else []
    weight, best = max(offered, key=itemgetter(0), default=_NOTHING)
    if not offered and scan.digits:
        offered = [(0, _DIGITS)]
    return Needed(best if weight > 0 else (), tuple(offered))


def _is_letter(char: str) -> bool:
    return char.isalnum() and char.isascii()


@lru_cache(maxsize=8192)
def _run_anchors(run: str, starts_word: bool, ends_word: bool, common: frozenset[str]) -> Offer:
    lowered = run.lower()
    if run.isalnum() and run.isascii():  # most are one word
        if starts_word and (ends_word or len(run) >= _SHORTEST):
            return _offer(lowered, "word" if ends_word else "prefix", lowered, common)
        return _piece(lowered)
    if not run.isascii() and (foreign := LITERAL_RUN.findall(lowered)):
        return _offer(max(foreign, key=len), "substring", lowered, common)
    best, kind = "", ""
    for match in WORD.finditer(lowered):
        if match.start() == 0 and not starts_word:
            continue
        whole = match.end() < len(lowered) or ends_word
        if not whole and len(match[0]) < _SHORTEST:
            continue
        if not best or _tells(match[0], common) > _tells(best, common):
            best, kind = match[0], "word" if whole else "prefix"
    return _offer(best, kind, lowered, common) if best else _piece(lowered)


def _tells(word: str, common: frozenset[str]) -> int:
    """How telling a word is: long, and not in every other pattern."""
    return 1 if word in common else len(word)


def _offer(text: str, kind: str, run: str, common: frozenset[str]) -> Offer:
    weight = _tells(text, common) * (3 if kind == "substring" else 1)
    return weight, (Anchor(text, kind, run, weight),)


def _piece(lowered: str) -> Offer:
    return (0, (Anchor(lowered, "literal"),)) if len(lowered.strip()) >= _SHORTEST else _NOTHING


def _alternatives(
    tokens: Sequence[_Token], at: int, starts_word: bool, ends_word: bool, common: frozenset[str]
) -> tuple[Offer, bool]:
    """The anchors of `a|b|c` up to its closing bracket, and whether a word may start after it."""
    found: list[Offer] = []
    parted = True
    while True:
        offer, at, ends = _sequence(tokens, at, starts_word, ends_word, common)
        found.append(offer)
        parted = parted and ends
        if at >= len(tokens) or tokens[at][0] == "close":
            break
        at += 1  # past "|"
    return _either(found), parted


def _either(found: Sequence[Offer]) -> Offer:
    least = min(found)[0]
    if least < 0:
        return _NOTHING
    return least, tuple(anchor for _, anchors in found for anchor in anchors)


def _sequence(
    tokens: Sequence[_Token], at: int, starts_word: bool, ends_word: bool, common: frozenset[str]
) -> tuple[Offer, int, bool]:
    if at + 1 < len(tokens) and tokens[at][0] == "run" and tokens[at + 1][0] in _ENDS:
        run = tokens[at][1]
        return _run_anchors(run, starts_word, ends_word, common), at + 1, not _is_letter(run[-1])
    scan = _Scan(run_starts_word=starts_word, common=common)
    at = _scan(tokens, at, scan)
    parted = scan.ends_at_boundary()
    scan.end_run(at_boundary=ends_word, starts_next=False)
    best = (0, _DIGITS) if scan.digits and not scan.offered else scan.best
    return best, at, parted


def _scan(tokens: Sequence[_Token], at: int, scan: _Scan) -> int:
    """Scan a sequence up to its end; the index after it."""
    end = len(tokens)
    while at < end:
        kind, text = tokens[at]
        if kind in _GROUPS:
            at = _group(tokens, at, scan)
            continue
        if kind in _ENDS:
            break
        at += 1
        if kind == "run":
            scan.run += text
        elif kind == "maybe":
            scan.run += text[0]
            scan.drop_last()
        else:
            _step(scan, text, kind, at < end and _is_optional(tokens[at]))
    return at


def _step(scan: _Scan, text: str, kind: str | None, optional: bool) -> None:
    if kind in ("char", "escaped"):
        scan.run += text[-1]
        if optional:
            scan.drop_last()
    elif kind == "boundary":
        scan.end_run(at_boundary=True, starts_next=True)
    elif kind in ("set", "space"):
        parts = not optional and (kind == "space" or _is_word_free(text))
        scan.digits = scan.digits or (not optional and _DIGIT_SET.fullmatch(text) is not None)
        scan.end_run(at_boundary=parts, starts_next=parts)
    elif kind in ("unbounded", "any") or (kind == "repeat" and scan.run):
        scan.digits = scan.digits or (text == r"\d" and not optional)
        scan.end_run(at_boundary=False, starts_next=False)


def _optional(tokens: Sequence[_Token], at: int) -> bool:
    """Whether the item before `at` may be absent."""
    return at < len(tokens) and _is_optional(tokens[at])


def _is_optional(token: _Token) -> bool:
    kind, text = token
    return kind == "repeat" and (text[0] in "?*" or text.startswith(("{0", "{,")))


def _group(tokens: Sequence[_Token], at: int, scan: _Scan) -> int:
    """Scan a group; a required one may offer its anchors to the sequence around it."""
    kind, text = tokens[at]
    starts_word = scan.ends_at_boundary()
    scan.end_run(at_boundary=False, starts_next=False)
    after = at + 1 if kind == "plain" else _closing(tokens, at) + 1
    repeated = after < len(tokens) and tokens[after][0] == "repeat"
    ends_word = not repeated and _starts_boundary(tokens, after)
    if kind == "plain":
        offer, parted = _plain_alternatives(text, starts_word, ends_word, scan.common)
    else:
        offer, parted = _alternatives(tokens, at + 1, starts_word, ends_word, scan.common)
    optional = _optional(tokens, after)
    scan.run_starts_word = parted and (starts_word or not optional)
    if kind == "look":
        scan.run_starts_word = starts_word or (text == "(?<!" and _bounds(tokens[at + 1]))
    elif not optional:
        scan.offer(offer)
    return after + 1 if repeated else after


def _bounds(token: _Token) -> bool:
    """Whether what must not stand before a word is any letter, so that the word starts there."""
    kind, text = token
    return text == r"\w" or (kind == "set" and text.startswith(r"[\w"))


def _plain_alternatives(
    text: str, starts_word: bool, ends_word: bool, common: frozenset[str]
) -> tuple[Offer, bool]:
    """`_alternatives` of a group of plain words, which most groups are."""
    runs = text[1:-1].removeprefix("?:").split("|")
    found = [_run_anchors(run, starts_word, ends_word, common) for run in runs]
    return _either(found), not any(_is_letter(run[-1]) for run in runs)


def _closing(tokens: Sequence[_Token], at: int) -> int:
    """The index of the bracket that closes the group opened at `at`."""
    depth = 0
    for index in range(at, len(tokens)):
        kind = tokens[index][0]
        depth += (kind in ("open", "look")) - (kind == "close")
        if not depth:
            return index
    return len(tokens)


def _starts_boundary(tokens: Sequence[_Token], at: int) -> bool:
    """Whether a word that ends before `at` surely ends there."""
    if at >= len(tokens):
        return False
    kind, text = tokens[at]
    if kind == "boundary":
        return True
    if kind == "run":
        return not text[0].isalnum()
    if kind in ("char", "escaped") and text[-1].isalnum():
        return False
    return kind in ("char", "escaped", "space") and not _optional(tokens, at + 1)


def _is_word_free(char_set: str) -> bool:
    """Whether a set surely matches no ASCII letter or digit."""
    if char_set.startswith("[^"):
        return False
    inner = re.sub(r"\\[sSW.\-\]\[/]", "", char_set[1:-1])
    return not any(char.isalnum() for char in inner)
