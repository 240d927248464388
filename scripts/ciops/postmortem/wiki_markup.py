"""A document as Confluence and Jira wiki markup.

Text is escaped with backslashes where the markup would act, so undoing the escapes gives the text
back. https://jira.atlassian.com/secure/WikiRendererHelpAction.jspa?section=all
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ciops.postmortem.blocks import (
    Block,
    CodeBlock,
    Heading,
    Items,
    Paragraph,
    Quote,
    Rule,
    Table,
)
from ciops.postmortem.document import Document, Section
from ciops.postmortem.inline import (
    Break,
    Code,
    Inline,
    Inlines,
    Link,
    Styled,
    Text,
    is_absolute,
    visible,
)

DEEPEST_HEADING: Final = 6
_MARKERS: Final = {"strong": "*", "em": "_", "strike": "-"}
# What {code:…} names; another name makes Jira show an error in its place.
_KNOWN_LANGUAGE: Final = re.compile(
    r"bash|c|c#|c\+\+|cpp|css|erlang|go|groovy|haskell|html|java|javascript|js|json|lua|objc|perl|php"
    r"|python|r|ruby|scala|sh|sql|swift|xml|yaml"
)
# Markers act at the edge of a word; brackets, braces, pipes, stars, tildes and carets anywhere.
_ACTS: Final = re.compile(
    r"[{}\[\]|*~^]|_(?![A-Za-z0-9])|(?<![A-Za-z0-9])_|-(?=-)|(?<=-)-|(?<![A-Za-z0-9\s])-(?=\w)"
    r"|(?<=\w)-(?![A-Za-z0-9\s])|(?<!\S)-(?=\S)|(?<!\w)\+(?=\S)|(?<=\S)\+(?!\w)|\?(?=\?)|(?<=\?)\?"
    r"|!(?=[^\s=])|\((?=(?:[xXiIyYnN!?+/*-]|on|off|\*[rgby])\))|(?<!\w)[:;](?=[)(DP](?!\w))|:(?=\|)"
)
_ENTITY: Final = re.compile(r"&(?=#?\w+;)")
_BACKSLASH: Final = re.compile(r"\\(?=[^A-Za-z0-9\s]|$)")
_STARTS: Final = re.compile(r"(?P<word>h[1-6]|bq)\.(?=\s)|(?P<mark>[-#*]+)(?=\s)|(?P<rule>-{4,})")


def render_wiki(document: Document, title_level: int = 1) -> str:
    """The whole document, ending with a line end."""
    parts = [f"h{title_level}. {_line(document.title)}"]
    for section in document.sections:
        parts.extend(section_parts(section, title_level + 1))
    return "\n\n".join(parts) + "\n"


def section_parts(section: Section, level: int) -> Iterator[str]:
    """A section's heading and each of its blocks."""
    yield f"h{level}. {escape(section.heading)}"
    for block in section.blocks:
        text = "\n".join(_block(block, level))
        if text:
            yield text


def _block(block: Block, level: int) -> list[str]:
    if isinstance(block, Paragraph):
        return [_line(block.inlines, starts_line=True)]
    if isinstance(block, CodeBlock):
        return _code_block(block)
    if isinstance(block, Items):
        return list(_list(block, "", level))
    if isinstance(block, Quote):
        inner = [line for child in block.blocks for line in _quoted(child, level)]
        return ["{quote}", *inner, "{quote}"]
    if isinstance(block, Heading):
        deep = min(block.level + level, DEEPEST_HEADING)
        return [f"h{deep}. {_line(block.inlines)}"]
    if isinstance(block, Table):
        return [_row(block.header, "||"), *(_row(row, "|") for row in block.rows)]
    return ["----"] if isinstance(block, Rule) else []


def _quoted(block: Block, level: int) -> list[str]:
    """A block inside {quote}, which cannot hold another quote."""
    if isinstance(block, Quote):
        return [line for child in block.blocks for line in _quoted(child, level)]
    return [*_block(block, level), ""]


def _code_block(block: CodeBlock) -> list[str]:
    """{code} or {noformat}, whichever the text does not close; text that closes both is escaped."""
    language = block.language.casefold()
    if "{code" not in block.text and _KNOWN_LANGUAGE.fullmatch(language):
        return [f"{{code:{language}}}", block.text, "{code}"]
    if "{noformat" not in block.text:
        return ["{noformat}", block.text, "{noformat}"]
    if "{code" not in block.text:
        return ["{code}", block.text, "{code}"]
    return [escape(line) for line in block.text.split("\n")]


def _list(block: Items, outer: str, level: int) -> Iterator[str]:
    prefix = outer + ("*" if block.start is None else "#")
    for item in block.items:
        lines = [line for child in item for line in _in_item(child, prefix, level)]
        if not lines or re.match(rf"{re.escape(prefix)}[*#]+(?: |$)", lines[0]):
            lines.insert(0, "")  # a list right inside an item; bold text starts with a star too
        yield f"{prefix} {lines[0]}".rstrip()
        yield from lines[1:]


def _in_item(block: Block, prefix: str, level: int) -> list[str]:
    """A block inside a list item, which an empty line would end."""
    if isinstance(block, Items):
        return list(_list(block, prefix, level))
    if isinstance(block, Quote):
        return [line for child in block.blocks for line in _in_item(child, prefix, level)]
    if isinstance(block, Heading):
        return [_line((Styled("strong", block.inlines),))]
    if isinstance(block, Table):
        return [" \\| ".join(map(_line, row)) for row in (block.header, *block.rows)]
    return [] if isinstance(block, Rule) else _block(block, level)


def _row(cells: Iterable[Inlines], bar: str) -> str:
    return bar + bar.join(_line(cell).replace("\n", r"\\ ") or " " for cell in cells) + bar


def _line(inlines: Iterable[Inline], *, starts_line: bool = False) -> str:
    out = ""
    nodes = tuple(inlines)
    rendered = [_node(node) for node in nodes]
    for index, node in enumerate(nodes):
        piece = rendered[index]
        at_start = starts_line and (not out or out.endswith("\n"))
        if isinstance(node, Text) and at_start:
            piece = _start_of_line(node.text)
        if isinstance(node, Styled) and piece:
            following = rendered[index + 1] if index + 1 < len(nodes) else ""
            piece = _marked(node, piece, out[-1:], following[:1])
        out += piece
    return out


def _node(node: Inline) -> str:
    if isinstance(node, Text):
        return escape(node.text)
    if isinstance(node, Code):
        return f"{{{{{escape(node.text)}}}}}" if node.text else ""
    if isinstance(node, Break):
        return "\n"
    if isinstance(node, Link):
        return _link(node)
    return _line(node.children)


def _marked(node: Styled, inner: str, before: str, after: str) -> str:
    """Markers, in braces where the neighbours would keep bare ones from acting."""
    marker = _MARKERS[node.style]
    free = re.fullmatch(r"[\s(]?", before) and re.fullmatch(r"[\s.,;:!?)]?", after)
    if not free or inner[0].isspace() or inner[-1].isspace():
        marker = f"{{{marker}}}"
    return f"{marker}{inner}{marker}"


def _link(node: Link) -> str:
    label = visible(node.children)
    if not is_absolute(node.href):
        more = "" if label == node.href else f" ({escape(node.href)})"
        return _line(node.children) + more
    if label == node.href and not re.search(r"[|\]\[{}]", label):
        return f"[{label}]"
    address = re.sub(r"[|\]\[{}\s]", lambda char: f"%{ord(char.group()):02X}", node.href)
    return f"[{_line(node.children)}|{address}]"


def escape(text: str) -> str:
    """Text that wiki markup shows as it is."""
    text = _ENTITY.sub("&amp;", text)
    out, position = [], 0
    for match in re.finditer(rf"(?P<slash>{_BACKSLASH.pattern})|{_ACTS.pattern}", text):
        piece = "&#92;" if match.lastgroup == "slash" else "\\" + match.group()
        out += [text[position : match.start()], piece]
        position = match.end()
    return "".join(out) + text[position:]


def _start_of_line(text: str) -> str:
    """Text at the start of a line, where list and heading marks act."""
    text = text.lstrip(" ")
    start = _STARTS.match(text)
    if start is None:
        return escape(text)
    if start["word"]:
        return f"{start['word']}&#46;{escape(text[start.end() :])}"
    marks = start["mark"] or start["rule"]
    return "".join(f"\\{char}" for char in marks) + escape(text[start.end() :])
