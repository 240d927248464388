"""A document as Atlassian Document Format, valid against Atlassian's own schema.

Where the schema has no place for a block, its text stays and only its frame goes: a quote or
heading inside a list or quote becomes a paragraph, a table there becomes lines. An inline code mark
stands alone or with a link. Nothing random is made, so equal records give equal bytes. Text nodes
never notify anybody: a mention is a node of its own, and none is written here.
https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, TypeAlias

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

Node: TypeAlias = dict[str, Any]
Place = Literal["document", "list", "quote"]
TITLE_LEVEL: Final = 2
DEEPEST_HEADING: Final = 6


def render_adf(document: Document) -> Node:
    """The whole document as a `doc` node."""
    content = [_heading(TITLE_LEVEL, document.title)]
    for section in document.sections:
        content.extend(section_nodes(section))
    return {"version": 1, "type": "doc", "content": content}


def section_nodes(section: Section) -> Iterator[Node]:
    """One section under its heading."""
    yield _heading(TITLE_LEVEL + 1, (Text(section.heading),))
    for block in section.blocks:
        yield from _nodes(block, "document")


def _nodes(block: Block, place: Place) -> Iterator[Node]:
    """A block as the nodes that may stand at `place`."""
    if isinstance(block, Paragraph):
        yield _paragraph(block.inlines)
    elif isinstance(block, CodeBlock):
        yield _code_block(block)
    elif isinstance(block, Items):
        yield _list(block)
    elif isinstance(block, Heading):
        yield _inner_heading(block, place)
    elif isinstance(block, Quote):
        yield from _quote(block, place)
    elif isinstance(block, Table):
        yield from _table(block, place)
    elif isinstance(block, Rule) and place == "document":
        yield {"type": "rule"}


def _paragraph(inlines: Iterable[Inline]) -> Node:
    return {"type": "paragraph", "content": _inline(inlines)}


def _heading(level: int, inlines: Inlines) -> Node:
    return {
        "type": "heading",
        "attrs": {"level": min(level, DEEPEST_HEADING)},
        "content": _inline(inlines),
    }


def _inner_heading(block: Heading, place: Place) -> Node:
    """A heading in the record's own text, below the section's."""
    if place == "document":
        return _heading(block.level + TITLE_LEVEL + 1, block.inlines)
    return _paragraph((Styled("strong", block.inlines),))


def _code_block(block: CodeBlock) -> Node:
    node: Node = {"type": "codeBlock"}
    if block.language:
        node["attrs"] = {"language": block.language}
    if block.text:
        node["content"] = [{"type": "text", "text": block.text}]
    return node


def _list(block: Items) -> Node:
    items = [{"type": "listItem", "content": _children(item, "list")} for item in block.items]
    if block.start is None:
        return {"type": "bulletList", "content": items}
    return {"type": "orderedList", "attrs": {"order": block.start}, "content": items}


def _children(blocks: Iterable[Block], place: Place) -> list[Node]:
    """The nodes of a container, which may not be empty."""
    return [node for block in blocks for node in _nodes(block, place)] or [_paragraph(())]


def _quote(block: Quote, place: Place) -> Iterator[Node]:
    if place == "document":
        yield {"type": "blockquote", "content": _children(block.blocks, "quote")}
        return
    for child in block.blocks:
        if isinstance(child, Paragraph):
            child = Paragraph((Styled("em", child.inlines),))
        yield from _nodes(child, place)


def _table(block: Table, place: Place) -> Iterator[Node]:
    if place != "document":
        for row in (block.header, *block.rows):
            yield _paragraph(_cells_in_line(row))
        return
    header = _row("tableHeader", block.header)
    yield {"type": "table", "content": [header, *(_row("tableCell", row) for row in block.rows)]}


def _cells_in_line(row: tuple[Inlines, ...]) -> Iterator[Inline]:
    for index, cell in enumerate(row):
        if index:
            yield Text(" | ")
        yield from cell


def _row(kind: str, row: tuple[Inlines, ...]) -> Node:
    cells = [{"type": kind, "content": [_paragraph(cell)]} for cell in row]
    return {"type": "tableRow", "content": cells}


def _inline(inlines: Iterable[Inline]) -> list[Node]:
    nodes: list[Node] = []
    for inline in inlines:
        _add(nodes, inline, ())
    return nodes


def _add(nodes: list[Node], inline: Inline, marks: tuple[Node, ...]) -> None:
    """Append one inline, joining texts that carry the same marks."""
    if isinstance(inline, Styled):
        mark = {"type": inline.style}
        inner = marks if mark in marks else (*marks, mark)
        for child in inline.children:
            _add(nodes, child, inner)
    elif isinstance(inline, Link):
        _add_link(nodes, inline, marks)
    elif isinstance(inline, Break):
        nodes.append({"type": "hardBreak"})
    elif isinstance(inline, Code):
        links = tuple(mark for mark in marks if mark["type"] == "link")
        _add_text(nodes, inline.text, (*links, {"type": "code"}))
    else:
        _add_text(nodes, inline.text, marks)


def _add_link(nodes: list[Node], link: Link, marks: tuple[Node, ...]) -> None:
    """A link; an address without a host leads nowhere from a ticket, so it is shown as text."""
    absolute = is_absolute(link.href)
    mark = {"type": "link", "attrs": {"href": link.href}}
    for child in link.children:
        _add(nodes, child, (*marks, mark) if absolute else marks)
    if not absolute and visible(link.children) != link.href:
        _add_text(nodes, f" ({link.href})", marks)


def _add_text(nodes: list[Node], text: str, marks: tuple[Node, ...]) -> None:
    if not text:
        return
    wanted = list(marks)
    if nodes and nodes[-1]["type"] == "text" and nodes[-1].get("marks", []) == wanted:
        nodes[-1]["text"] += text
        return
    node: Node = {"type": "text", "text": text}
    if wanted:
        node["marks"] = wanted
    nodes.append(node)
