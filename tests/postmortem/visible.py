"""What a reader sees of each output, and whether ADF is valid."""

from __future__ import annotations

import functools
import html
import re
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from fakes.contract import adf_check


@functools.cache
def commonmark() -> MarkdownIt:
    """Markdown as GitHub reads it, without this project's own inline rules."""
    return MarkdownIt("commonmark", {"maxNesting": 200}).enable(["table", "strikethrough"])


def of_markdown(text: str) -> str:
    """Rendered text, one line a block."""
    lines: list[str] = []
    for token in commonmark().parse(text):
        if token.type == "inline":
            lines.append("".join(map(_inline, token.children or [])))
        elif token.type in ("fence", "code_block"):
            lines.append(token.content)
    return "\n".join(lines)


def _inline(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    if token.type == "html_inline":
        return "\n" if token.content == "<br>" else ""
    return token.content


def of_adf(node: dict[str, Any]) -> str:
    """The text nodes, one line a block."""
    if node["type"] == "text":
        return str(node["text"])
    if node["type"] == "hardBreak":
        return "\n"
    inner = "".join(map(of_adf, node.get("content", [])))
    return inner + "\n" if node["type"] in ("paragraph", "heading", "codeBlock") else inner


def of_wiki(text: str) -> str:
    """Wiki markup with its escapes undone and the brackets of bare addresses gone."""
    text = re.sub(r"\[(https?://[^\]|\s]+)\]", r"\1", text)
    return html.unescape(re.sub(r"\\([^A-Za-z0-9\s])", r"\1", text))


def adf_problems(document: dict[str, Any]) -> list[str]:
    """By the schema compiled to closures, whose verdict is held to that of jsonschema."""
    problem = adf_check()(document)
    return [] if problem is None else [str(problem)]
