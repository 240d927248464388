"""Terms and patterns of a policy: compiled when first needed, found by the words they need.

A *term* is literal text, bounded by non-word characters where it begins or ends with a word
character (nor does a path or a package name, `x/term` or `x-term`, hold it); a `*` stands for the
rest of an identifier. A *pattern* is a Python `re`. Of each, the
*anchors* are words of which one must be in a line for it to match; an index of anchors picks the
few patterns that a line needs, so that a line costs what it holds and not what the policy holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from ciops.errors import UsageError

_WORD: Final = re.compile(r"[a-z0-9]+")
_CASED: Final = re.compile(r"\\[WSDBAZ]|\(\?P.[^>)]*[A-Z]|\(\?-?i|\[[^\]]*[A-Z][^\]]*\]")
_LITERAL_RUN: Final = re.compile(r"[^\x00-\x7f]+")
_SHORTEST_PREFIX: Final = 3
_NONE: Final[Mapping[str, int]] = {}

_TOKEN: Final = re.compile(
    r"(?P<run>[\w /:'\",`=<>-]{2,}(?![*+?{]))"
    r"|(?P<boundary>\\[bAZ]|\^|\$)"
    r"|(?P<space>\\[sW])"
    r"|(?P<unbounded>\\[wdSB])"
    r"|\\(?P<escaped>.)"
    r"|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|(?P<look>\(\?<?[=!])"
    r"|(?P<open>\((?:\?(?::|[a-zA-Z-]+:|P<\w+>))?)"
    r"|(?P<close>\))"
    r"|(?P<alt>\|)"
    r"|(?P<repeat>[*+?]\??|\{\d*,?\d*\}\??)"
    r"|(?P<any>\.)"
    r"|(?P<char>.)",
    re.DOTALL,
)


class Anchor(NamedTuple):
    """A word that a line must hold: a whole one, the start of one, or (not ASCII) a substring."""

    text: str
    kind: str  # "word", "prefix" or "substring"


def words_of(text: str) -> set[str]:
    """The ASCII words of a text, folded; an underscore parts words."""
    return set(_WORD.findall(text.lower()))


def term_pattern(term: str) -> str:
    """The regular expression of a term."""
    parts = [re.escape(part) for part in term.split("*")]
    body = r"\w{0,60}".join(parts).replace(r"\ ", " ")
    left = r"(?<![\w/-])" if term[:1].isalnum() or term[:1] == "_" else ""
    right = r"(?!\w)" if term[-1:].isalnum() or term[-1:] == "_" else ""
    if not term.isascii():
        left = right = ""
    return f"{left}{body}{right}"


@lru_cache(maxsize=4096)
def compiled(source: str, case_sensitive: bool) -> re.Pattern[str]:
    """A compiled pattern, kept for the life of the process; raises UsageError.

    Words are ASCII words: in 使用FSDP the name starts after a character that Unicode counts as a
    letter.
    """
    flags = re.ASCII if case_sensitive else re.ASCII | re.IGNORECASE
    try:
        return re.compile(source, flags)
    except re.error as error:
        raise UsageError(
            f"pattern {source!r} cannot be read: {error}", "See `policy check`"
        ) from None


def fold(text: str) -> str:
    """Text in lower case, every letter at the place where it was."""
    return text.replace("İ", "i").lower()


def folded_source(source: str) -> str | None:
    """A pattern in lower case, or None where that would not mean the same."""
    if _CASED.search(source):
        return None
    return source.lower().replace("(?p", "(?P")


def term_anchors(term: str, common: Mapping[str, int] = _NONE) -> tuple[Anchor, ...]:
    """The most telling word of a term: one that must be there for the term to match.

    `common` counts words over all terms, so that one that is in many of them is not chosen.
    """
    if run := _longest(_LITERAL_RUN.findall(term)):
        return (Anchor(run, "substring"),)
    lowered = term.lower()
    best = Anchor("", "word")
    for match in _WORD.finditer(lowered):
        kind = "prefix" if lowered[match.end() : match.end() + 1] == "*" else "word"
        starts_late = lowered[: match.start()].endswith("*")
        if not starts_late and _tells(match[0], common) > _tells(best.text, common):
            best = Anchor(match[0], kind)
    return (best,) if best.text else ()


def _tells(word: str, common: Mapping[str, int]) -> tuple[int, int]:
    """How telling a word is: rare before long."""
    return (-common.get(word, 0) if word else -(10**6), len(word))


def _longest(runs: Sequence[str]) -> str:
    return max(runs, key=len, default="")


@dataclass(slots=True)
class _Scan:
    """One sequence while it is scanned: the run so far and the best anchors found."""

    run: str = ""
    run_starts_word: bool = True
    best: tuple[Anchor, ...] = ()
    offered: list[tuple[Anchor, ...]] = field(default_factory=list)

    def end_run(self, at_boundary: bool, starts_next: bool) -> None:
        """Close the run of literals; `at_boundary` if a word surely ends there."""
        if self.run:
            self.offer(_run_anchors(self.run, self.run_starts_word, at_boundary))
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

    def offer(self, anchors: tuple[Anchor, ...]) -> None:
        if not anchors:
            return
        self.offered.append(anchors)
        if not self.best or _weight(anchors) > _weight(self.best):
            self.best = anchors


def _is_letter(char: str) -> bool:
    return char.isalnum() and char.isascii()


def _is_plain(tokens: Sequence[re.Match[str]], at: int) -> bool:
    """Whether an alternative is one run of letters."""
    if at + 1 >= len(tokens) or tokens[at].lastgroup != "run":
        return False
    return tokens[at + 1].lastgroup in ("alt", "close")


def _weight(anchors: Iterable[Anchor]) -> int:
    """How selective a choice of anchors is: the length of its shortest."""
    return min(len(anchor.text) * (3 if anchor.kind == "substring" else 1) for anchor in anchors)


def _run_anchors(run: str, starts_word: bool, ends_word: bool) -> tuple[Anchor, ...]:
    lowered = run.lower()
    if run.isalnum() and run.isascii():  # most are one word
        sure = starts_word and (ends_word or len(run) >= _SHORTEST_PREFIX)
        return (Anchor(lowered, "word" if ends_word else "prefix"),) if sure else ()
    if not run.isascii() and (foreign := _longest(_LITERAL_RUN.findall(lowered))):
        return (Anchor(foreign, "substring"),)
    best: tuple[Anchor, ...] = ()
    for match in _WORD.finditer(lowered):
        if match.start() == 0 and not starts_word:
            continue
        whole = match.end() < len(lowered) or ends_word
        if not whole and len(match[0]) < _SHORTEST_PREFIX:
            continue
        anchor = (Anchor(match[0], "word" if whole else "prefix"),)
        if not best or _weight(anchor) > _weight(best):
            best = anchor
    return best


def pattern_anchors(source: str) -> tuple[Anchor, ...]:
    """The anchors of a pattern; empty where no word is sure to be in every match."""
    return needed_anchors(source)[0]


def needed_anchors(source: str) -> tuple[tuple[Anchor, ...], tuple[tuple[str, ...], ...]]:
    """The anchors of a pattern, and other words (lists of which one) that it needs as well."""
    tokens = list(_TOKEN.finditer(source))
    scan = _Scan(run_starts_word=False)
    at = _scan(tokens, 0, scan)
    scan.end_run(at_boundary=False, starts_next=False)
    if at < len(tokens):  # alternatives: nothing more is sure
        return _alternatives(tokens, 0, starts_word=False, ends_word=False)[0], ()
    others = (anchors for anchors in scan.offered if anchors is not scan.best)
    return scan.best, tuple(tuple(x.text for x in anchors) for anchors in others)


def _alternatives(
    tokens: Sequence[re.Match[str]], at: int, starts_word: bool, ends_word: bool
) -> tuple[tuple[Anchor, ...], bool]:
    """The anchors of `a|b|c` up to its closing bracket, and whether a word may start after it."""
    found: list[tuple[Anchor, ...]] = []
    parted = True
    while True:
        anchors, at, ends = _sequence(tokens, at, starts_word, ends_word)
        found.append(anchors)
        parted = parted and ends
        if at >= len(tokens) or tokens[at].lastgroup == "close":
            break
        at += 1  # past "|"
    if not all(found):
        return (), parted
    return tuple({anchor: None for anchors in found for anchor in anchors}), parted


def _sequence(
    tokens: Sequence[re.Match[str]], at: int, starts_word: bool, ends_word: bool
) -> tuple[tuple[Anchor, ...], int, bool]:
    if _is_plain(tokens, at):
        run = tokens[at]["run"]
        return _run_anchors(run, starts_word, ends_word), at + 1, not _is_letter(run[-1])
    scan = _Scan(run_starts_word=starts_word)
    at = _scan(tokens, at, scan)
    parted = scan.ends_at_boundary()
    scan.end_run(at_boundary=ends_word, starts_next=False)
    return scan.best, at, parted


def _scan(tokens: Sequence[re.Match[str]], at: int, scan: _Scan) -> int:
    """Scan a sequence up to its end; the index after it."""
    while at < len(tokens):
        token = tokens[at]
        kind = token.lastgroup
        if kind in ("alt", "close"):
            break
        if kind in ("open", "look"):
            at = _group(tokens, at, scan)
            continue
        _step(scan, token, kind, _optional(tokens, at + 1))
        at += 1
    return at


def _step(scan: _Scan, token: re.Match[str], kind: str | None, optional: bool) -> None:
    if kind == "run":
        scan.run += token["run"]
    elif kind in ("char", "escaped"):
        scan.run += token["char"] or token["escaped"]
        if optional:
            scan.drop_last()
    elif kind == "boundary":
        scan.end_run(at_boundary=True, starts_next=True)
    elif kind in ("set", "space"):
        parts = not optional and (kind == "space" or _is_word_free(token["set"]))
        scan.end_run(at_boundary=parts, starts_next=parts)
    elif kind in ("unbounded", "any") or (kind == "repeat" and scan.run):
        scan.end_run(at_boundary=False, starts_next=False)


def _optional(tokens: Sequence[re.Match[str]], at: int) -> bool:
    """Whether the item before `at` may be absent."""
    if at >= len(tokens) or tokens[at].lastgroup != "repeat":
        return False
    return tokens[at]["repeat"][0] in "?*" or tokens[at]["repeat"].startswith(("{0", "{,"))


def _group(tokens: Sequence[re.Match[str]], at: int, scan: _Scan) -> int:
    """Scan a group; a required one may offer its anchors to the sequence around it."""
    looks = tokens[at].lastgroup == "look"
    starts_word = scan.ends_at_boundary()
    scan.end_run(at_boundary=False, starts_next=False)
    after = _closing(tokens, at) + 1
    repeated = after < len(tokens) and tokens[after].lastgroup == "repeat"
    ends_word = not repeated and _starts_boundary(tokens, after)
    anchors, parted = _alternatives(tokens, at + 1, starts_word, ends_word)
    optional = _optional(tokens, after)
    scan.run_starts_word = parted and (starts_word or not optional)
    if looks:
        bounds = tokens[at][0] == "(?<!" and tokens[at + 1][0] == r"\w"
        scan.run_starts_word = starts_word or bounds
    elif not optional:
        scan.offer(anchors)
    return after + 1 if repeated else after


def _closing(tokens: Sequence[re.Match[str]], at: int) -> int:
    """The index of the bracket that closes the group opened at `at`."""
    depth = 0
    for index in range(at, len(tokens)):
        kind = tokens[index].lastgroup
        depth += (kind in ("open", "look")) - (kind == "close")
        if not depth:
            return index
    return len(tokens)


def _starts_boundary(tokens: Sequence[re.Match[str]], at: int) -> bool:
    """Whether a word that ends before `at` surely ends there."""
    if at >= len(tokens):
        return False
    token = tokens[at]
    if token.lastgroup == "boundary":
        return True
    if token.lastgroup == "run":
        return not token["run"][0].isalnum()
    return token.lastgroup == "space" and not _optional(tokens, at + 1)


def _is_word_free(char_set: str) -> bool:
    """Whether a set surely matches no ASCII letter or digit."""
    if char_set.startswith("[^"):
        return False
    inner = re.sub(r"\\[sSW.\-\]\[/]", "", char_set[1:-1])
    return not any(char.isalnum() for char in inner)
