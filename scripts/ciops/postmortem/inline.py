"""Inline Markdown in which identifiers win.

CommonMark eats identifiers: `__init__` turns bold, `a*b*c` loses its stars, `vector<T>` is a tag,
`std::map<K*, V*>` starts emphasis, `handlers[topic](event)` is a link, `\\d+\\.\\d+` loses a
backslash. Here code spans, links, `*emphasis*`, `**strong**`, `~~strike~~`, escapes and addresses
are read, and nothing else is markup: no underscore emphasis, no HTML, no entities, no reference
links. What looks like code is taken byte for byte. Emphasis opens and closes beside CJK text and
its punctuation, where CommonMark's flanking rules would leave the stars in.
https://spec.commonmark.org/0.31.2/#left-flanking-delimiter-run
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ciops.postmortem.inline_tokens import Token, is_cjk, tokens


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Code:
    text: str


@dataclass(frozen=True, slots=True)
class Styled:
    """Strong, emphasised or struck text."""

    style: Literal["strong", "em", "strike"]
    children: Inlines


@dataclass(frozen=True, slots=True)
class Link:
    children: Inlines
    href: str


@dataclass(frozen=True, slots=True)
class Break:
    """A line break that the author asked for."""


Inline: TypeAlias = Text | Code | Styled | Link | Break
Inlines: TypeAlias = tuple[Inline, ...]


def parse_inline(source: str) -> Inlines:
    """A source as styled text; adjoining plain texts are one, a carriage return ends a line."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    pieces = list(tokens(source))
    return _tree(source, pieces, _pairs(source, pieces))


def _pairs(source: str, pieces: list[Token]) -> dict[int, int]:
    """Which opening mark is closed by which: index to index, properly nested."""
    pairs: dict[int, int] = {}
    open_marks: list[int] = []
    for index, token in enumerate(pieces):
        if token.kind != "mark":
            continue
        run = source[token.start : token.end]
        matching = [i for i in open_marks if source[pieces[i].start : pieces[i].end] == run]
        if token.closes and matching and matching[-1] < index - 1:
            pairs[matching[-1]] = index
            open_marks = [i for i in open_marks if i < matching[-1]]
        elif token.opens:
            open_marks.append(index)
    return pairs


def _tree(
    source: str, pieces: list[Token], pairs: dict[int, int], start: int = 0, end: int | None = None
) -> Inlines:
    nodes: list[Inline] = []
    index, stop = start, len(pieces) if end is None else end
    while index < stop:
        closing = pairs.get(index)
        if closing is not None:
            inner = _tree(source, pieces, pairs, index + 1, closing)
            nodes.append(_styled(source[pieces[index].start : pieces[index].end], inner))
            index = closing + 1
            continue
        nodes.extend(_node(source, pieces, index))
        index += 1
    return merged(nodes)


def _styled(run: str, inner: Inlines) -> Styled:
    if run.startswith("~"):
        return Styled("strike", inner)
    if run == "***":
        return Styled("strong", (Styled("em", inner),))
    return Styled("strong" if run == "**" else "em", inner)


def _node(source: str, pieces: list[Token], index: int) -> Iterator[Inline]:
    token = pieces[index]
    content = source[slice(*token.inner)]
    if token.kind == "code":
        yield Code(content.replace("\n", " "))
    elif token.kind == "url":
        yield Link((Text(content),), token.href)
    elif token.kind == "link":
        yield Link(_without_links(parse_inline(content)), token.href)
    elif token.kind == "hard":
        # Nothing follows: no break, and a backslash is one.
        last = token.end == len(source)
        yield Text("\\" if source[token.start] == "\\" else "") if last else Break()
    elif token.kind == "soft":
        yield Text(_joint(source, token))
    else:
        yield Text(content)


def _joint(source: str, token: Token) -> str:
    """What a line end in the source stands for: nothing between CJK characters, else a space."""
    around = source[token.start - 1 : token.start] + source[token.end : token.end + 1]
    if not source[token.end :] or token.start == 0:
        return ""
    return "" if len(around) == 2 and is_cjk(around) else " "


def _without_links(nodes: Inlines) -> Inlines:
    """A link cannot hold another: an address inside a label is its text."""
    out: list[Inline] = []
    for node in nodes:
        if isinstance(node, Link):
            out.extend(_without_links(node.children))
        elif isinstance(node, Styled):
            out.append(Styled(node.style, _without_links(node.children)))
        else:
            out.append(node)
    return merged(out)


def merged(nodes: list[Inline]) -> Inlines:
    """Adjoining texts as one, empty ones dropped."""
    out: list[Inline] = []
    for node in nodes:
        if isinstance(node, Text) and out and isinstance(out[-1], Text):
            out[-1] = Text(out[-1].text + node.text)
        elif not isinstance(node, Text) or node.text:
            out.append(node)
    return tuple(out)


def is_absolute(href: str) -> bool:
    """Whether an address means the same wherever it is read."""
    return href.startswith(("https://", "http://", "mailto:"))


def visible(nodes: Inlines) -> str:
    """What a reader sees of styled text, a break as a line end."""
    parts: list[str] = []
    for node in nodes:
        if isinstance(node, Text | Code):
            parts.append(node.text)
        elif isinstance(node, Styled | Link):
            parts.append(visible(node.children))
        else:
            parts.append("\n")
    return "".join(parts)
