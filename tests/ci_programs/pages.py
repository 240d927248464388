"""The pages that people read, taken apart: links, headings, blocks of code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ci_programs.suite import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
TOOLS = {
    "issue_triage": "issue-triage",
    "pipeline_failure_report": "pipeline-failure-report",
    "post_mortem_render": "post-mortem-render",
}
_START = re.compile(
    rf"(?:^|[\s`])(?:python3 scripts/launch\.py )?({'|'.join(TOOLS)})(?:\.py)? (?P<rest>.*)$"
)
_HTML_LINK = re.compile(r'(?:src|srcset|href)="([^"]+)"')


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, the line it begins on (from 1), its text."""

    page: Path
    language: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


@dataclass(frozen=True, slots=True)
class Command:
    """A start of a tool as a page shows it; `words` begin with the command."""

    where: str
    tool: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.where} {self.words[0]}"


@cache
def tokens(page: Path) -> tuple[Token, ...]:
    return tuple(MarkdownIt().enable("table").parse(page.read_text(encoding="utf-8")))


def links(page: Path) -> Iterator[str]:
    """Where a page's links and pictures lead, as they are written."""
    for token in tokens(page):
        if token.type == "html_block":
            yield from _HTML_LINK.findall(token.content)
        for child in token.children or ():
            yield from (str(child.attrs[key]) for key in ("href", "src") if key in child.attrs)


def headings(page: Path) -> list[str]:
    """The visible text of each heading, in order; the first is the title."""
    pairs = zip(tokens(page), tokens(page)[1:], strict=False)
    return [_visible(inline) for opening, inline in pairs if opening.type == "heading_open"]


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives headings: lower case, words joined by dashes."""
    texts = [re.sub(r"[^\w\s-]", "", text.lower()) for text in headings(page)]
    return {re.sub(r"\s", "-", text.strip()) for text in texts}


def blocks(page: Path, *languages: str) -> list[Block]:
    return [
        Block(page, token.info.strip(), (token.map or [0])[0] + 1, token.content)
        for token in tokens(page)
        if token.type == "fence" and token.info.strip() in languages
    ]


def commands(page: Path) -> Iterator[Command]:
    """Every start of a tool in the shell blocks of a page."""
    for block in blocks(page, "sh", "bash"):
        for line in block.text.replace("\\\n", " ").splitlines():
            yield from started(line, str(block))


def started(line: str, where: str) -> Iterator[Command]:
    """The start of a tool that a line holds, without its comment."""
    found = _START.search(line)
    if found:
        words = re.findall(r'"[^"]*"|[^\s"]+', found["rest"].partition(" #")[0])
        yield Command(where, TOOLS[found[1]], tuple(word.strip('"') for word in words))


def _visible(inline: Token) -> str:
    kept = ("text", "code_inline")
    return "".join(child.content for child in inline.children or () if child.type in kept)
