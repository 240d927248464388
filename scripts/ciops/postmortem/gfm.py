"""A document as GitHub-flavoured Markdown, whose visible text is the document's.

Text that Markdown would act on is put into a code span when it is an identifier, so that the file
can still be searched for it byte for byte, and escaped otherwise. That also keeps `@name` from
notifying anybody: GitHub reads mentions after Markdown, where a backslash no longer helps.
https://github.github.com/gfm/
"""

from __future__ import annotations

import re
import unicodedata
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
    visible,
)
from ciops.postmortem.inline_tokens import OPENER, VERBATIM

DEEPEST_HEADING: Final = 6
_MARKERS: Final = {"strong": "**", "em": "*", "strike": "~~"}
_RUNS: Final = ("*", "~", "\\")
_TAGS: Final = {"strong": "strong", "em": "em", "strike": "del"}
_WORD: Final = re.compile(rf"(?P<verbatim>{VERBATIM})|(?P<run>[!-~]+)|(?P<rest>[^!-~]+)")
# What Markdown, GitHub or GitLab act on inside a line.
_ACTS: Final = re.compile(
    r"[*`~\\]|\$(?=[A-Za-z{(\\])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|<(?=[A-Za-z/!?])|&(?=#?\w+;)"
    r"|(?<![A-Za-z0-9.])@(?=\w)|\](?=[(\[:])|\[(?=[\^! \]x])|(?<![\w:]):[a-z0-9_+-]+:(?![\w:])"
)
_ESCAPES: Final = re.compile(r"[*`~\\$_<&\[\]@:]")
# What starts a block at the start of a line, and GitLab's quick actions.
_STARTS: Final = re.compile(
    r"(?P<mark>#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|-{2,}|={1,}|~{3,}|[|:])|(?P<number>[0-9]{1,9})(?=[.)](?:\s|$))"
)
_QUICK_ACTION: Final = re.compile(r"/[A-Za-z_]\S*")
_CLOSER: Final = {opener: closer for closer, opener in OPENER.items()}
_SPAN: Final = re.compile(r"(?P<ticks>`+)(?P<pad> ?)(?P<text>.*?)(?P=pad)(?<!`)(?P=ticks)(?!`)")
_PUNCTUATION: Final = re.compile(r"[!-/:-@\[-`{-~]")
_BACKSLASH: Final = r"\\\g<0>"
_NO_SPAN: Final = re.compile(r"[`\n]|^\s|\s$")


def render_gfm(document: Document, title_level: int = 1) -> str:
    """The whole document, ending with a line end."""
    parts = [f"{'#' * title_level} {_heading_text(document.title)}"]
    for section in document.sections:
        parts.extend(section_parts(section, title_level + 1))
    return "\n\n".join(parts) + "\n"


def section_parts(section: Section, level: int) -> Iterator[str]:
    """A section's heading and blocks, each without a line end."""
    yield f"{'#' * level} {_heading_text((Text(section.heading),))}"
    body = _blocks(section.blocks, level)
    if body:
        yield "\n".join(body)


def _heading_text(inlines: Inlines) -> str:
    text = _line(inlines).replace("\n", " ")
    return re.sub(r"#(?=#*$)", r"\\#", text)


def _blocks(blocks: Iterable[Block], level: int) -> list[str]:
    """Blocks as lines, an empty line between two of them."""
    lines: list[str] = []
    previous: Block | None = None
    other_marker = False
    for block in blocks:
        follows_list = isinstance(block, Items) and isinstance(previous, Items)
        other_marker = follows_list and not other_marker
        rendered = _block(block, level, other_marker)
        if not rendered:
            continue
        lines.extend(["", *rendered] if lines else rendered)
        previous = block
    return lines


def _block(block: Block, level: int, other_marker: bool) -> list[str]:
    if isinstance(block, Paragraph):
        text = _line(block.inlines, starts_line=True)
        return text.split("\n") if text else []
    if isinstance(block, CodeBlock):
        return _fence(block)
    if isinstance(block, Items):
        return _list(block, level, other_marker)
    if isinstance(block, Quote):
        inner = _blocks(block.blocks, level) or [""]
        return [f"> {line}".rstrip() for line in inner]
    if isinstance(block, Heading):
        deep = min(block.level + level, DEEPEST_HEADING)
        return [f"{'#' * deep} {_heading_text(block.inlines)}"]
    if isinstance(block, Table):
        return _table(block)
    return ["---"] if isinstance(block, Rule) else []


def _fence(block: CodeBlock) -> list[str]:
    runs = re.findall(r"`{3,}", block.text)
    fence = "`" * max([3, *(len(run) + 1 for run in runs)])
    body = block.text.split("\n") if block.text else []
    return [fence + block.language, *body, fence]


def _list(block: Items, level: int, other_marker: bool) -> list[str]:
    lines: list[str] = []
    for index, item in enumerate(block.items):
        if block.start is None:
            marker = "*" if other_marker else "-"
        else:
            marker = f"{block.start + index}{')' if other_marker else '.'}"
        body = _blocks(item, level)
        if lines and len(item) > 1:
            lines.append("")
        indent = " " * (len(marker) + 1)
        lines.append(f"{marker} {body[0]}" if body else marker)
        lines.extend(indent + line if line else "" for line in body[1:])
    return lines


def _table(block: Table) -> list[str]:
    rule = "| " + " | ".join("---" for _ in block.header) + " |"
    return [_row(block.header), rule, *(_row(row) for row in block.rows)]


def _row(cells: Iterable[Inlines]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(inlines: Inlines) -> str:
    """A cell: pipes escaped, in code spans too; a backslash before a pipe has no code span."""
    safe = tuple(_plain_code(inline) for inline in inlines)
    text = _line(safe).replace("\\\n", "<br>").replace("\n", " ")
    return re.sub(r"\|", r"\\|", text)


def _plain_code(inline: Inline) -> Inline:
    if isinstance(inline, Code) and re.search(r"\\(?=\||$)", inline.text):
        return Text(inline.text)
    return inline


def _line(inlines: Iterable[Inline], *, starts_line: bool = False) -> str:
    """Styled text in one line, or in several where the author broke it."""
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
        out = _joined(out, piece)
    return out.strip(" \t") if starts_line else out


def _node(node: Inline, *, nested: bool = False) -> str:
    if isinstance(node, Text):
        return escape(node.text)
    if isinstance(node, Code):
        return code_span(node.text)
    if isinstance(node, Break):
        return "\\\n"
    if isinstance(node, Link):
        return _link(node)
    inner = _nested(node.children)
    return _tagged(node, inner) if nested else inner


def _nested(children: Inlines) -> str:
    out = ""
    for child in children:
        out = _joined(out, _node(child, nested=True))
    return out


def _tagged(node: Styled, inner: str) -> str:
    return f"<{_TAGS[node.style]}>{inner}</{_TAGS[node.style]}>"


def _marked(node: Styled, inner: str, before: str, after: str) -> str:
    """Stars where Markdown sees them beside these neighbours, HTML where it does not.

    https://spec.commonmark.org/0.31.2/#left-flanking-delimiter-run, which fails beside CJK text.
    """
    marker = _MARKERS[node.style]
    if _flanks(inner[0], before) and _flanks(inner[-1], after):
        return f"{marker}{inner}{marker}"
    return _tagged(node, inner)


def _flanks(inside: str, outside: str) -> bool:
    """Whether a run of stars between these two characters is read as a delimiter."""
    if inside.isspace() or inside in _RUNS or outside in _RUNS:
        return False
    return not _is_mark(inside) or not outside or outside.isspace() or _is_mark(outside)


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] in "PS"


def _link(node: Link) -> str:
    label = visible(node.children)
    if label == node.href and not re.search(r"[<>\s]", label):
        return f"<{node.href}>"
    text = _nested(node.children)
    address = re.sub(r"([<>\\])", r"\\\1", node.href)
    plain = not re.search(r"[\s()<>\\]", node.href)
    return f"[{text}]({address if plain else f'<{address}>'})"


def code_span(text: str) -> str:
    """Text as a code span that nothing in it can close."""
    runs = [len(run) for run in re.findall("`+", text)]
    ticks = "`" * next(n for n in range(1, len(runs) + 2) if n not in runs)
    if (
        text.startswith("`")
        or text.endswith(("`", "\\"))
        or (text[:1] == " " == text[-1:] and text.strip())
    ):
        text = f" {text} "
    return f"{ticks}{text}{ticks}" if text else ""


def _joined(before: str, piece: str) -> str:
    """Two pieces that stay two: neither a longer run of ticks nor `!` and a link as a picture."""
    if piece.startswith("[") and re.search(r"(?<!\\)(?:\\\\)*!$", before):
        before = f"{before[:-1]}\\!"
    return before + _unglued(before, piece)


def _unglued(before: str, piece: str) -> str:
    """A piece that starts with a code span, as HTML when it would join the ticks before it."""
    span = _SPAN.match(piece) if before.endswith("`") else None
    if span is None or before.endswith("\\`"):
        return piece
    return f"<code>{_PUNCTUATION.sub(_BACKSLASH, span['text'])}</code>{piece[span.end() :]}"


def escape(text: str) -> str:
    """Text that Markdown shows as it is."""
    if not _ESCAPES.search(text):
        return text
    out = ""
    for match in _WORD.finditer(text):
        out += _unglued(out, _piece(match))
    return out


def _piece(match: re.Match[str]) -> str:
    piece = match.group()
    if match.lastgroup == "rest" or not _ACTS.search(piece):
        return piece
    if match.lastgroup == "verbatim" and not _NO_SPAN.search(piece):
        return code_span(piece)
    start, end = _core(piece)
    core = piece[start:end]
    if "`" in core or not re.search(r"\w.|.\w", core):
        return _backslashed(piece)
    return _backslashed(piece[:start]) + code_span(core) + _backslashed(piece[end:])


def _core(run: str) -> tuple[int, int]:
    """Where an identifier lies in a run: without the punctuation and brackets of its sentence."""
    start, end = 0, len(run)
    while start < end:
        first, last, inside = run[start], run[end - 1], run[start:end]
        if last in ".,;:!?\"'" or inside.count(last) > inside.count(OPENER.get(last, last)):
            end -= 1
        elif first in "\"'" or inside.count(first) > inside.count(_CLOSER.get(first, first)):
            start += 1
        elif first == "(" and last == ")":
            start, end = start + 1, end - 1
        else:
            break
    return start, end


def _backslashed(text: str) -> str:
    return _ESCAPES.sub(_BACKSLASH, text)


def _start_of_line(text: str) -> str:
    """Text at the start of a line, where more characters act."""
    text = text.lstrip(" \t")
    quick = _QUICK_ACTION.match(text)
    if quick:
        return code_span(quick.group()) + escape(text[quick.end() :])
    start = _STARTS.match(text)
    if start is None:
        return escape(text)
    if start["number"]:
        return f"{start['number']}\\{text[start.end()]}" + escape(text[start.end() + 1 :])
    return "".join(f"\\{char}" for char in start["mark"]) + escape(text[start.end() :])
