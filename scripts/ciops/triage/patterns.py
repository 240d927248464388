"""Terms and patterns of a policy: compiled when first needed, found by the words they need.

A *term* is literal text, bounded by non-word characters where it begins or ends with a word
character (nor does a path or a package name, `x/term` or `x-term`, hold it); a `*` stands for the
rest of an identifier. A *pattern* is a Python `re`. Of each, the
*anchors* are words of which one must be in a line for it to match; an index of anchors picks the
few patterns that a line needs, so that a line costs what it holds and not what the policy holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from ciops.errors import UsageError
from ciops.plumbing.pattern_reading import Need
from ciops.triage.needed_words import LITERAL_RUN, WORD, Anchor, Needed

_CASED: Final = re.compile(r"\\[WSDBAZ]|\(\?P.[^>)]*[A-Z]|\(\?-?i|\[[^\]]*[A-Z][^\]]*\]")
_NONE: Final[Mapping[str, int]] = {}


def words_of(text: str) -> list[str]:
    """The ASCII words of a text, folded, in order; an underscore parts words."""
    return WORD.findall(text.lower())


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


def needed_by_term(term: str, common: Mapping[str, int] = _NONE) -> Needed:
    """What a term needs: its most telling word, and the longest literal in it.

    `common` counts words over all terms, so that one that is in many of them is not chosen.
    """
    literal = max(term.lower().split("*"), key=len)
    offered = (Need(0, (Anchor(literal, "literal"),)),)
    return Needed(_term_anchors(term, common), offered)


def _term_anchors(term: str, common: Mapping[str, int]) -> tuple[Anchor, ...]:
    if run := _longest(LITERAL_RUN.findall(term)):
        return (Anchor(run, "substring"),)
    lowered = term.lower()
    best = Anchor("", "word")
    for match in WORD.finditer(lowered):
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
