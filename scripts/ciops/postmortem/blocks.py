"""Block Markdown over markdown-it-py, as a small tree of frozen nodes.

Paragraphs, lists, fences, quotes, tables, headings and rules are read. HTML blocks, reference
definitions (`[DBG-7af3]: text` would vanish) and underlined headings are not: they stay text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias

from ciops.postmortem.inline import Inlines, parse_inline

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

MAX_NESTING: Final = 20


@dataclass(frozen=True, slots=True)
class Paragraph:
    inlines: Inlines


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; `level` counts from 1."""

    level: int
    inlines: Inlines


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Literal text without its last line end."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    blocks: Blocks


@dataclass(frozen=True, slots=True)
class Items:
    """A list; `start` is None for bullets, else the first number."""

    items: tuple[Blocks, ...]
    start: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Cells by row; every row is as wide as the header."""

    header: tuple[Inlines, ...]
    rows: tuple[tuple[Inlines, ...], ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across the page."""


Block: TypeAlias = Paragraph | Heading | CodeBlock | Quote | Items | Table | Rule
Blocks: TypeAlias = tuple[Block, ...]

_ONE_LINE: Final = re.compile(r"(?!```)[^\s#>|~*+=_<\[0-9-][^\n\r\t\0]*\n?")


@cache
def parser() -> MarkdownIt:
    """The block half of markdown-it; its inline half is `inline.py`."""
    from markdown_it import MarkdownIt  # 70 ms: only what reads Markdown pays for it
    from markdown_it.rules_block import list_block

    def list_unless_sum(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
        """A wrapped line that starts with "+ 1" goes on with its sentence."""
        begin = state.bMarks[start_line] + state.tShift[start_line]
        if silent and state.src[begin : begin + 1] == "+":
            return False
        return list_block(state, start_line, end_line, silent)

    md = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING}).enable("table")
    md.disable(["html_block", "reference", "lheading"])
    md.core.ruler.enableOnly(["normalize", "block"])
    md.block.ruler.at("list", list_unless_sum, {"alt": ["paragraph", "reference", "blockquote"]})
    return md


def only_line(source: str) -> str:
    """The line that can be nothing but a paragraph: most texts are one, and need no parser.

    Empty where it takes a parser to tell.
    """
    return source.strip() if _ONE_LINE.fullmatch(source) else ""


def parse_blocks(source: str) -> Blocks:
    """Markdown as blocks."""
    line = only_line(source)
    if line:
        return (Paragraph(parse_inline(line)),)
    return _blocks(_Cursor(parser().parse(source)))


class _Cursor:
    """A place in the list of tokens."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.index = 0

    def peek(self) -> str:
        return self.tokens[self.index].type if self.index < len(self.tokens) else ""

    def take(self) -> Token:
        self.index += 1
        return self.tokens[self.index - 1]

    def until(self, closing: str) -> Iterator[None]:
        """Go on until the closing token, and take it."""
        while self.peek() not in (closing, ""):
            yield
        if self.peek():
            self.take()


def _blocks(cursor: _Cursor, closing: str = "") -> Blocks:
    found: list[Block] = []
    for _ in cursor.until(closing):
        block = _block(cursor, cursor.take())
        if block is not None:
            found.append(block)
    return tuple(found)


def _block(cursor: _Cursor, token: Token) -> Block | None:
    kind = token.type
    if kind in ("fence", "code_block"):
        return CodeBlock(token.content.removesuffix("\n"), _language(token.info))
    if kind == "hr":
        return Rule()
    if kind == "paragraph_open":
        return Paragraph(_inlines(cursor, "paragraph_close"))
    if kind == "heading_open":
        return Heading(int(token.tag[1]), _inlines(cursor, "heading_close"))
    if kind == "blockquote_open":
        return Quote(_blocks(cursor, "blockquote_close"))
    if kind == "bullet_list_open":
        return Items(_items(cursor, "bullet_list_close"))
    if kind == "ordered_list_open":
        start = token.attrGet("start")
        return Items(_items(cursor, "ordered_list_close"), 1 if start is None else int(start))
    return _table(cursor) if kind == "table_open" else None


def _language(info: str) -> str:
    match = re.match(r"\s*([\w+#.-]{1,30})", info)
    return match[1] if match else ""


def _inlines(cursor: _Cursor, closing: str) -> Inlines:
    content = ""
    for _ in cursor.until(closing):
        content += cursor.take().content
    return parse_inline(content)


def _items(cursor: _Cursor, closing: str) -> tuple[Blocks, ...]:
    items: list[Blocks] = []
    for _ in cursor.until(closing):
        cursor.take()
        items.append(_blocks(cursor, "list_item_close"))
    return tuple(items)


def _table(cursor: _Cursor) -> Table:
    rows: list[tuple[Inlines, ...]] = []
    cells: list[Inlines] = []
    for _ in cursor.until("table_close"):
        token = cursor.take()
        if token.type == "inline":
            cells.append(parse_inline(token.content))
        elif token.type == "tr_close":
            rows.append(tuple(cells))
            cells = []
    return Table(rows[0], tuple(rows[1:]))
