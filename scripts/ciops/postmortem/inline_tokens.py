"""Inline Markdown cut into tokens: what is code byte for byte, what is markup, what is text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, Literal

TokenKind = Literal["text", "code", "verbatim", "escape", "url", "link", "mark", "soft", "hard"]


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of source: `start` to `end` with its markup, `inner` is where its content lies."""

    kind: TokenKind
    start: int
    end: int
    inner: tuple[int, int]
    href: str = ""
    opens: bool = False
    closes: bool = False


# Han, kana, their punctuation and full-width forms. Hangul is left out: Korean writes spaces.
# Compared as characters: a set of them is slow to compile.
_CJK: Final = (
    ("\u2e80", "\u2fdf"),
    ("\u3000", "\u312f"),
    ("\u31a0", "\u4dbf"),
    ("\u4e00", "\u9fff"),
    ("\uf900", "\ufaff"),
    ("\uff00", "\uffef"),
)
OPENER: Final = {")": "(", "]": "[", "}": "{"}
_ESCAPABLE: Final = re.escape("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
# Lengths are bounded, so that hostile text costs no more than it is long.
VERBATIM: Final = "|".join(
    (
        r"\{\{[^}\n]{0,200}(?:\}[^}\n]{1,80}){0,3}\}\}",  # {{ x }}
        r"\{%[^%\n]{0,200}(?:%[^%}\n][^%\n]{0,80}){0,3}%\}",  # {% if x %}
        r"[$#]\{[^{}\n]{0,80}\}",  # ${HOSTNAME}, #{id}
        # vector<T>, map<K*, V*>, std::vector<uint32_t*>; two levels deep
        r"\b[A-Za-z_][\w:.]{0,80}<[^<>\n`]{0,80}(?:<[^<>\n`]{0,80}>[^<>\n`]{0,80}){0,4}>",
        # const char *argv, void*, uint32_t **p
        r"\b(?:void|char|short|int|long|float|double|bool|auto|unsigned|FILE|\w{1,60}_t)"
        r"\s?\*{1,3}(?:\s?const\b)?(?:\s?[A-Za-z_]\w*)?",
        r"(?<![\w*])\*{1,2}(?:kw)?arg[svc]s?\b(?!\*)",  # *args, **kwargs, *argv
        # calls with a star inside: f(*args, a*b)
        r"\b[A-Za-z_][\w:.]{0,80}\((?=[^()\n`]{0,80}\*)(?![^()\n]*\*\*\w[^()\n]*\*\*)[^()\n`]{0,80}\)",
        # runs with a backslash before a letter or digit: C:\temp\_x, \d+\.\d+
        r"(?<![A-Za-z0-9_/\\.:-])(?=[^\s`\\]{0,80}\\{1,2}[A-Za-z0-9])[!-_a-~]{1,200}",
    )
)
_URL: Final = r"https?://[^\s<>`\"“”«»「」]+"
_TOKEN: Final = re.compile(
    rf"(?P<ticks>`+)|(?P<angle><(?:https?://|mailto:)[^\s<>]+>)|(?P<url>(?<![A-Za-z0-9]){_URL})"
    rf"|(?P<verbatim>{VERBATIM})|(?P<hard>(?:\\| {{2,}})\n\s*)|(?P<soft>[ \t]*\n\s*)"
    rf"|\\(?P<escape>[{_ESCAPABLE}])|(?P<bracket>!?\[)|(?P<mark>\*+|~~+)"
)
_DESTINATION: Final = re.compile(
    r"\(\s*(?:<(?P<angled>[^<>\n]*)>|(?P<plain>(?:[^\s()]|\([^\s()]*\))+))"
    r"(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'))?\s*\)"
)
# A link leads to an address, a path or an anchor; `[i](x)` and `[&](int x)` are code.
_ADDRESS: Final = re.compile(r"(?:https?://|mailto:|\.{0,2}/|#)[^\s]+|[\w.-]+(?:/[\w.~-]+)+/?")
_BRACKETS: Final = re.compile(r"[\[\]\n]\n?")
_LONGEST_LABEL: Final = 500
_DEEPEST_LABEL: Final = 4
_OPENS_BEFORE: Final = re.compile(r"[\s({\[\"'“‘«—–:;,/>]")
_CLOSES_AFTER: Final = re.compile(r"[\s)}\]\"'”’».,;:!?…—–/<-]")
_NOT_FIRST: Final = re.compile(r"[\s.,;:!?)\]}>/&=%+|]")
_NOT_LAST: Final = re.compile(r"[\s(\[{</&=+|]")


def is_cjk(text: str) -> bool:
    """Whether a text is nothing but CJK, and not empty."""
    return bool(text) and all(any(a <= char <= b for a, b in _CJK) for char in text)


def tokens(source: str) -> Iterator[Token]:
    """Cut a source into tokens that cover it without gaps."""
    position = plain = 0
    while match := _TOKEN.search(source, position):
        token = _read(source, match)
        if token is None:
            position = max(match.end(), position + 1)
            continue
        if plain < token.start:
            yield Token("text", plain, token.start, (plain, token.start))
        yield token
        position = plain = token.end
    if plain < len(source):
        yield Token("text", plain, len(source), (plain, len(source)))


def _read(source: str, match: re.Match[str]) -> Token | None:
    """The token that a match starts, or None when it turns out to be plain text."""
    start, end = match.span()
    kind = match.lastgroup
    if kind == "ticks":
        return _code_span(source, match)
    if kind == "url":
        end = start + len(_trimmed(_before_cjk(match.group())))
        return Token("url", start, end, (start, end), source[start:end])
    if kind == "angle":
        return Token("url", start, end, (start + 1, end - 1), source[start + 1 : end - 1])
    if kind == "bracket":
        return _link(source, match)
    if kind == "mark":
        return _mark(source, start, end)
    if kind == "escape":
        return Token("escape", start, end, match.span("escape"))
    if kind in ("hard", "soft"):
        return Token("hard" if kind == "hard" else "soft", start, end, (end, end))
    return Token("verbatim", start, end, (start, end))


def _before_cjk(url: str) -> str:
    """An address up to the Japanese that follows it without a space."""
    return url if url.isascii() else "".join(takewhile(lambda char: not is_cjk(char), url))


def _trimmed(url: str) -> str:
    """An address without the punctuation of the sentence around it."""
    while url:
        last = url[-1]
        closes_nothing = last in OPENER and url.count(last) > url.count(OPENER[last])
        if last not in ".,;:!?'\"*~|" and not closes_nothing:
            return url
        url = url[:-1]
    return url


def _code_span(source: str, match: re.Match[str]) -> Token | None:
    ticks = match.group()
    closing = re.compile(rf"(?<!`){ticks}(?!`)").search(source, match.end())
    if closing is None:
        return None
    start, end = match.end(), closing.start()
    content = source[start:end]
    if content.strip() and content[0] in " \n" and content[-1] in " \n":
        start, end = start + 1, end - 1
    return Token("code", match.start(), closing.end(), (start, end))


def _link(source: str, match: re.Match[str]) -> Token | None:
    """`[label](address)`; a picture becomes a link to it. An index such as `a[i](x)` is none."""
    start = match.start()
    if match.group() == "[" and start and (source[start - 1].isascii()) and _wordy(source, start):
        return None
    close = _label_end(source, match.end())
    destination = _DESTINATION.match(source, close + 1) if close else None
    if close is None or destination is None:
        return None
    href = destination["angled"] or destination["plain"] or ""
    if not _ADDRESS.fullmatch(href):
        return None
    inner = (match.end(), close)
    if not source[inner[0] : close].strip():
        inner = destination.span("angled" if destination["angled"] else "plain")
    return Token("link", start, destination.end(), inner, href)


def _wordy(source: str, position: int) -> bool:
    before = source[position - 1]
    return before.isalnum() or before in "_)]"


def _label_end(source: str, position: int) -> int | None:
    """Where the bracket that opened before `position` closes, within one paragraph."""
    depth = 1
    for match in _BRACKETS.finditer(source, position, position + _LONGEST_LABEL):
        depth += {"[": 1, "]": -1}.get(match.group()[0], 0)
        if depth == 0:
            return match.start()
        if match.group() == "\n\n" or depth > _DEEPEST_LABEL:
            return None
    return None


def _mark(source: str, start: int, end: int) -> Token | None:
    """A run of stars or tildes that can open or close a style, or None."""
    before, after = source[start - 1 : start], source[end : end + 1]
    style_length = end - start
    if style_length > (3 if source[start] == "*" else 2):
        return None
    opens = bool(after) and not _NOT_FIRST.match(after)
    opens = opens and (not before or is_cjk(before) or bool(_OPENS_BEFORE.match(before)))
    closes = bool(before) and not _NOT_LAST.match(before)
    closes = closes and (not after or is_cjk(after) or bool(_CLOSES_AFTER.match(after)))
    if is_cjk(before) and is_cjk(after):
        opens = closes = True
    if not opens and not closes:
        return None
    return Token("mark", start, end, (start, end), "", opens, closes)
