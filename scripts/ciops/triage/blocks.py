"""Cut a Markdown document into blocks: fences in every broken form, quotes, headings, prose.

This is not CommonMark: it is what a person means who forgets to close a fence, closes four
backticks with three, opens the next fence inside the last one, or pastes `<pre>`. Lines keep
their 1-based number. One pass over the lines; a fence looks ahead to the next few delimiters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

Kind = Literal["prose", "fence", "indented", "quote", "heading"]

_DELIMITER: Final = re.compile(
    r"^[ \t]{0,12}(?:(?:[-*+]|\d{1,3}[.)])[ \t]{1,4})?(`{3,}|~{3,})[ \t]*([^`\n]*)$"
)
_INFO: Final = re.compile(
    r"^\{?\.?[A-Za-z][\w+#.-]{0,20}\}?(?::\S{1,80}| ?[{,].{0,80}| [\w-]{1,20}=.{0,80})?$"
)
_HEADING: Final = re.compile(r"^ {0,3}#{1,6}[ \t]+(\S.{0,200})")
_QUOTE: Final = re.compile(r"^[ \t]{0,3}>")
_PROMPT: Final = re.compile(r"^[ \t]{0,3}>>> (?:import |from |with |for |[\w.]+ ?[=(\[])")
"""Typed at Python's prompt: three marks of quotation only to Markdown."""
_INDENTED: Final = re.compile(r"^(?: {4}|\t)[ \t]*\S")
_BEGINS: Final = " \t#>"
"""What a heading, a quote and indented code begin with."""
_LIST_ITEM: Final = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\S")
_TAG: Final = re.compile(
    r"</?(?:details|summary|b|i|em|strong|sub|sup|img|p|div|span|br|code|pre|table|thead|tbody|tr|"
    r"td|th|ul|ol|li|a|h[1-6]|kbd|hr|center|font|u|s|del|ins|blockquote|tt|small)"
    r"(?:[ \t][^<>]{0,400})?/?>",
    re.IGNORECASE,
)
_PRE: Final = re.compile(r"<pre\b[^<>]{0,200}>", re.IGNORECASE)
_NESTING: Final = frozenset({"markdown", "md"})
_FIRST_LINES: Final = 2400
_LAST_LINES: Final = 600


@dataclass(slots=True)
class NumberedLine:
    """One line of a document and its 1-based number; `prefix` is what was taken off its start."""

    number: int
    text: str
    prefix: str = ""


class Block(NamedTuple):
    """A run of lines of one kind. `info` is a fence's language; `section` the heading above."""

    kind: Kind
    lines: tuple[NumberedLine, ...]
    info: str = ""
    section: str = ""


@dataclass(slots=True)
class _Cursor:
    lines: list[str]
    headings: Collection[str]
    delimiters: dict[int, tuple[str, str]]
    order: list[int]
    section: str = ""


def heading_name(text: str) -> str:
    """A heading without marks, emoji and punctuation, folded: `### 🐛 Describe the bug`."""
    return " ".join(re.findall(r"[\w']+", text)).casefold()


def strip_tags(text: str) -> str:
    """Text without the HTML tags that GitHub renders; `<string>` or `vector<int>` stay."""
    return _TAG.sub(" ", text) if "<" in text else text


def split_blocks(text: str, form_headings: Collection[str] = ()) -> list[Block]:
    """The blocks of a document, in order.

    `form_headings` are folded names of an issue form's headings: one of them ends a fence that
    nobody closed.
    """
    lines = _without_html_comments(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    lines = _bounded(lines)
    delimiters = _delimiters(lines)
    cursor = _Cursor(lines, form_headings, delimiters, sorted(delimiters))
    return list(_walk(cursor))


def _bounded(lines: list[str]) -> list[str]:
    """A text of thousands of lines without its middle, so that reading it takes a bounded time."""
    if len(lines) <= _FIRST_LINES + _LAST_LINES:
        return lines
    filled = [at for at, line in enumerate(lines) if line.strip()]
    for at in filled[_FIRST_LINES:-_LAST_LINES]:
        lines[at] = ""
    return lines


def _walk(cursor: _Cursor) -> Iterator[Block]:
    index = 0
    prose: list[NumberedLine] = []
    lines = cursor.lines
    while index < len(lines):
        line = lines[index]
        if not line and prose and not prose[-1].text:
            index += 1
            continue
        step = _next_block(cursor, index, prose) if line else None
        if step is None:
            index += 1
            prose.append(NumberedLine(index, line))
            continue
        block, index = step
        yield from _flush(cursor, prose)
        if block.kind == "heading":
            cursor.section = heading_name(block.lines[0].text)
        if block.lines:
            yield block
    yield from _flush(cursor, prose)


def _next_block(
    cursor: _Cursor, index: int, prose: Sequence[NumberedLine]
) -> tuple[Block, int] | None:
    """The block that starts at a line and the index after it, or None for prose."""
    line = cursor.lines[index]
    if index in cursor.delimiters:
        return _fence(cursor, index)
    if line[0] not in _BEGINS and "<" not in line:
        return None
    if _HEADING.match(line):
        return Block("heading", (NumberedLine(index + 1, line),), section=cursor.section), index + 1
    if _QUOTE.match(line):
        typed = _PROMPT.match(line) is not None
        return _typed(cursor, index) if typed else _run(cursor, index, "quote", _QUOTE)
    if "<" in line and _PRE.search(line):
        return _pre(cursor, index)
    if _INDENTED.match(line) and _starts_indented(prose):
        return _run(cursor, index, "indented", _INDENTED)
    return None


def _flush(cursor: _Cursor, prose: list[NumberedLine]) -> Iterator[Block]:
    if any(line.text.strip() for line in prose):
        yield Block("prose", tuple(prose), section=cursor.section)
    prose.clear()


def _starts_indented(prose: Sequence[NumberedLine]) -> bool:
    """Indented code follows a blank line and is not the continuation of a list item."""
    if prose and prose[-1].text.strip():
        return False
    for line in reversed(prose[-12:]):
        if _LIST_ITEM.match(line.text):
            return False
        if line.text.strip() and not line.text.startswith((" ", "\t")):
            return True
    return True


def _run(cursor: _Cursor, index: int, kind: Kind, shape: re.Pattern[str]) -> tuple[Block, int]:
    end = index
    while end < len(cursor.lines) and end not in cursor.delimiters:
        line = cursor.lines[end]
        blank_inside = kind == "indented" and not line.strip() and _more(cursor, end, shape)
        if not shape.match(line) and not blank_inside:
            break
        end += 1
    return _block(cursor, kind, index, end), end


def _more(cursor: _Cursor, index: int, shape: re.Pattern[str]) -> bool:
    following = cursor.lines[index + 1 : index + 2]
    return bool(following) and bool(shape.match(following[0]))


def _block(cursor: _Cursor, kind: Kind, start: int, end: int, info: str = "") -> Block:
    lines = tuple(NumberedLine(at + 1, cursor.lines[at]) for at in range(start, end))
    return Block(kind, lines, info, cursor.section)


def _typed(cursor: _Cursor, index: int) -> tuple[Block, int]:
    """What was typed at a prompt and what it answered, up to a line without anything."""
    end = index
    while end < len(cursor.lines) and cursor.lines[end].strip() and end not in cursor.delimiters:
        end += 1
    return _block(cursor, "fence", index, end, "pycon"), end


def _pre(cursor: _Cursor, index: int) -> tuple[Block, int]:
    end = index
    while end < len(cursor.lines) and "</pre>" not in cursor.lines[end].lower():
        end += 1
    stop = min(end + 1, len(cursor.lines))
    lines = tuple(
        NumberedLine(at + 1, text)
        for at in range(index, stop)
        if (text := strip_tags(cursor.lines[at])).strip() or index < at < end
    )
    return Block("fence", lines, "", cursor.section), stop


def _fence(cursor: _Cursor, index: int) -> tuple[Block, int]:
    _, info = cursor.delimiters[index]
    end, resume = _fence_end(cursor, index)
    block = _block(cursor, "fence", index + 1, end, info.split(" ")[0].strip("{}.").casefold())
    if info and not _INFO.match(info):  # code that starts on the fence's own line
        first = NumberedLine(index + 1, info)
        block = Block("fence", (first, *block.lines), "", cursor.section)
    return block, resume


def _fence_end(cursor: _Cursor, index: int) -> tuple[int, int]:
    """Where a fence's content ends and where reading goes on (both 0-based, exclusive)."""
    mark, info = cursor.delimiters[index]
    depth = 0
    loose: int | None = None
    for at in _later(cursor, index):
        other, other_info = cursor.delimiters[at]
        if other[0] != mark[0]:
            continue
        opens = bool(_INFO.match(other_info))
        if opens and info.casefold() in _NESTING:
            depth += 1
        elif opens and len(other) >= len(mark):
            return at, at  # the next fence opens: this one was never closed
        elif not opens and depth:
            depth -= 1
        elif not opens and len(other) >= len(mark):
            return _cut_at_heading(cursor, index, at, at + 1)
        elif not opens and loose is None:
            loose = at
    end = len(cursor.lines) if loose is None else loose
    return _cut_at_heading(cursor, index, end, end if loose is None else end + 1)


def _later(cursor: _Cursor, index: int) -> Iterator[int]:
    start = bisect_right(cursor.order, index)
    return iter(cursor.order[start : start + 200])


def _cut_at_heading(cursor: _Cursor, index: int, end: int, resume: int) -> tuple[int, int]:
    """A heading of the issue form inside a fence means that the fence was never closed."""
    for at in range(index + 1, end):
        line = cursor.lines[at]
        if line.startswith("#") and heading_name(line) in cursor.headings:
            return at, at
    return end, resume


def _delimiters(lines: Sequence[str]) -> dict[int, tuple[str, str]]:
    found = {}
    for index, line in enumerate(lines):
        if ("```" in line or "~~~" in line) and (match := _DELIMITER.match(line)):
            found[index] = (match[1], match[2].strip())
    return found


def _without_html_comments(text: str) -> str:
    """Text with `<!-- … -->` blanked, line breaks kept; inside a fence a comment is code."""
    if "<!--" not in text:
        return text
    kept: list[str] = []
    fenced, hidden = "", False
    for line in text.split("\n"):
        delimiter = None if hidden else _DELIMITER.match(line)
        if delimiter and not fenced:
            fenced = delimiter[1]
        elif delimiter and not delimiter[2].strip() and delimiter[1].startswith(fenced):
            fenced = ""
        if fenced:
            kept.append(line)
            continue
        shown, hidden = _shown(line, hidden)
        kept.append(shown)
    return "\n".join(kept)


def _shown(line: str, hidden: bool) -> tuple[str, bool]:
    """What of a line lies outside HTML comments, and whether one is still open after it."""
    parts = []
    rest = line
    while rest:
        mark = "-->" if hidden else "<!--"
        before, found, rest = rest.partition(mark)
        if not hidden:
            parts.append(before)
        if not found:
            break
        hidden = not hidden
    return "".join(parts), hidden
