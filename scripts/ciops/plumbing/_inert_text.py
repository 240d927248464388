"""Untrusted text made inert for Markdown and HTML. Callers import from `rendering`.

Mentions and cross-references are taken apart by an empty HTML comment (`@<!-- -->name`): GitHub
and GitLab look for them in single text nodes of the rendered page, and the comment makes two of
one. LLVM's issue bot has done so for years
(https://github.com/llvm/llvm-project/blob/main/llvm/utils/git/github-automation.py). In code both
sites ignore mentions and would show the comment, so code is left alone. A backslash would not
do on GitHub, where mentions are found after Markdown is gone; GitLab's quick actions are found
before it, so there a backslash before the leading `/` does
(https://docs.gitlab.com/user/project/quick_actions/).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import cache
from typing import Final

APART: Final = "<!-- -->"

_ANSI: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_NEWLINE: Final = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
# Joiners shape emoji and several scripts; beside an ASCII character they only hide.
_JOINER: Final = re.compile(
    "(?:(?<=[\x00-\x7f])|\\A)[\u200c\u200d]+|[\u200c\u200d]+(?=[\x00-\x7f]|\\Z)"
)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

_INDENT: Final = re.compile(r"^[ \t]+", re.MULTILINE)
_MARKUP: Final = re.compile(r"([\\`*_\[\]<>&|~$]|!(?=[\[\w])|%(?=[\w\"]))")
_LINE_START: Final = re.compile(r"^(?:([#+=/-])|(\d{1,9})([.)]))", re.MULTILINE)
_AT: Final = re.compile(r"@(?=\S)")
# A reference, an emoji name, an address that would become a link (and show our backslashes).
_WORDS: Final = re.compile(
    r"(#(?=\d)|\b[gG][hH]-(?=\d)|:(?=[\w+\\-]+:)(?!\d\d?:)|:(?=//)|\b[wW]{3}(?=\.))",
    re.ASCII,
)


def clean_text(text: str) -> str:
    """Text without what cannot be seen: terminal sequences, controls, bidi, zero-width.

    Line breaks of every kind become "\\n"; tabs stay; a lone surrogate becomes U+FFFD.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _NEWLINE.sub("\n", _ANSI.sub("", text))
    text = _JOINER.sub("", _HIDDEN.sub("", text))
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def escape_html(text: object) -> str:
    """Text for HTML, in content and in quoted attributes."""
    return html.escape(clean_text(str(text)), quote=True)


def escape_markdown(text: object) -> str:
    """Text that Markdown shows as it is: no markup, mention, reference, emoji or quick action.

    Indentation is dropped: HTML would not show it and Markdown would make code of it. Addresses
    are shown but are no links; `link` makes one.
    """
    out = _INDENT.sub("", clean_text(str(text)))
    out = _MARKUP.sub(r"\\\1", out)
    out = _LINE_START.sub(_escaped_start, out)
    out = _AT.sub(r"\@" + APART, out)
    return _WORDS.sub(r"\1" + APART, out)


def _escaped_start(match: re.Match[str]) -> str:
    sign, number, delimiter = match.groups()
    return f"\\{sign}" if sign else f"{number}\\{delimiter}"


def code_span(text: object) -> str:
    """Text as inline code that no number of backticks breaks out of; "" for nothing."""
    code = clean_text(str(text)).replace("\n", " ")
    if not code:
        return ""
    ticks = "`" * (_longest_run(code) + 1)
    loses_space = code[0] == " " == code[-1] and code.strip(" ") != ""
    pad = " " if loses_space or "`" in (code[0], code[-1]) else ""
    return f"{ticks}{pad}{code}{pad}{ticks}"


def _longest_run(code: str) -> int:
    return max((len(run) for run in re.findall("`+", code)), default=0)


def fenced(text: object, info: str = "") -> str:
    """Text as a code block whose fence is longer than any run of backticks inside.

    A block in which a line starts with `/` is indented by one space, fence and all (Markdown
    takes it off again): GitLab has looked for quick actions by a pattern that knows only fences
    of three backticks.
    """
    code = clean_text(str(text)).removesuffix("\n")
    fence = "`" * max(3, _longest_run(code) + 1)
    language = re.sub(r"[^\w+#.-]", "", info)
    return _shifted(f"{fence}{language}\n{code}\n{fence}")


def _shifted(block: str) -> str:
    if not re.search(r"^/", block, re.MULTILINE):
        return block
    return "\n".join(" " + line for line in block.split("\n"))


def table_cell(markdown: object) -> str:
    """Markdown for one cell of a table: pipes escaped (in code too), line breaks as <br>."""
    lines = str(markdown).strip().replace("\r\n", "\n").replace("\n", "<br>")
    return lines.replace("|", r"\|")


def link(text: object, url: object) -> str:
    """A Markdown link with escaped text; only the text when `url` is not http(s)."""
    label = escape_markdown(text).replace("\n", " ")
    target = clean_text(str(url))
    if not re.match(r"https?://[^\s/]", target):
        return label
    safe = re.sub(r"[\s<>()\\|`*_\"'@]", _percent, target)
    return f"[{label}]({safe})"


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match.group().encode())


# --- Markdown whose formatting stays -------------------------------------------------------

_QUICK_ACTION: Final = re.compile(r"^([ \t]*)(?=/[a-zA-Z])", re.MULTILINE)
_CELL_EDGE: Final = re.compile(r"(?<!\\)(\|)")
_MENTION: Final = r"(?:@|&#0*64;|&#[xX]0*40;|&commat;)(?=[\w&])"
_REFERENCE: Final = r"(?<!&)#(?=[\d&])|!(?=\d)|\b[gG][hH]-(?=\d)"
_URL: Final = r"(?<![A-Za-z<\\])https?://[A-Za-z0-9][^\s<>]*"
_ESCAPED: Final = r"\\[!-/:-?\[-`{-~]"  # ASCII punctuation but @, which stays a mention
_ATTRIBUTE: Final = r"""\s+[a-zA-Z_:][\w:.-]*(?:\s*=\s*(?:[^"'=<>`\s]+|'[^']*'|"[^"]*"))?"""
# GitHub shows these tags as text: https://github.github.com/gfm/#disallowed-raw-html-extension-
_SHOWN: Final = "title|textarea|style|xmp|iframe|noembed|noframes|script|plaintext"
_SHOWN_TAG: Final = rf"<(?i:{_SHOWN})(?:{_ATTRIBUTE})*\s*/?>"
_TAG: Final = rf"<[A-Za-z][A-Za-z0-9-]*(?:{_ATTRIBUTE})*\s*/?>|</[A-Za-z][A-Za-z0-9-]*\s*>"
# Instructions, declarations and CDATA, which readers end at different places; an address with
# more brackets than _LINK_TAIL follows.
_ODD: Final = re.compile(r"<\?|<![A-Za-z\[]|\]\((?:[^\s()]*\(){2}[^\s]*`")
_AUTOLINK: Final = r"<[A-Za-z][A-Za-z0-9.+-]{1,31}:[^\s<>]*>|<[\w.+-]+@[A-Za-z0-9.-]+>"


_PARENTHESES: Final = r"\((?:\\.|[^\s()\\]|\((?:\\.|[^\s()\\])*\))*\)"
_TITLE: Final = r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\((?:\\.|[^()\\])*\))"""
_LINK_TAIL: Final = re.compile(
    rf"\]\(\s*(?:<(?:\\.|[^<>\\\n])*>|(?:\\.|[^\s()<\\]|{_PARENTHESES})*)(?:\s+{_TITLE})?\s*\)"
)


def neutralise_mentions(markdown: str, *, references: bool = False) -> str:
    """Markdown that renders as before but pings nobody and runs no GitLab quick action.

    With `references`, `#1`, `owner/repo#1`, `!1` and `GH-1` link nothing either. A bare URL
    that holds an @ is put in <>, which makes it a link on every reading of the text.
    """
    text = clean_text(markdown)
    if not re.search(r"[@&/#!-]" if references else r"[@&/]", text):
        return text
    parts = (_inert(kind, part, references=references) for kind, part in _segments(text))
    return "\n".join(parts)


def _segments(text: str) -> Iterator[tuple[str, str]]:
    """The text in order, cut where no inline markup reaches across, with the kind of each."""
    lines = text.split("\n")
    owner: list[tuple[str, int]] = [("text", index) for index in range(len(lines))]
    for kind, start, end in _leaf_blocks(text):
        owner[start:end] = [(kind, start)] * (min(end, len(lines)) - start)
    start = 0
    for index in range(1, len(lines) + 1):
        if index == len(lines) or owner[index] != owner[start]:
            yield owner[start][0], "\n".join(lines[start:index])
            start = index


def _leaf_blocks(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind, first line and line after the last of each paragraph, code block, row and so on."""
    from markdown_it import MarkdownIt  # 40 ms: only Markdown that keeps its markup pays for it

    kinds = {"fence": "fence", "code_block": "indented", "html_block": "html"}
    kinds |= {"inline": "text", "tr_open": "row"}
    if "[^" in text:  # in a footnote, which this parser does not know, indentation is no code
        kinds["code_block"] = "text"
    parser = MarkdownIt("commonmark").enable("table").disable("inline")
    rows: set[int] = set()
    for token in parser.parse(text):
        kind = kinds.get(token.type)
        if kind is None or token.map is None or token.map[0] in rows:
            continue
        if kind == "row":
            rows.add(token.map[0])
        yield kind, token.map[0], token.map[1]


def _inert(kind: str, text: str, *, references: bool) -> str:
    if kind == "fence":
        return _shifted(text)
    if kind == "indented":
        return text
    if kind == "html":
        return _taken_apart(_QUICK_ACTION.sub(r"\1" + APART, text), "html", references)
    text = _QUICK_ACTION.sub(r"\1\\", text)
    text = _LINK_TAIL.sub(_without_ticks, text)
    if kind == "row":
        cells = _CELL_EDGE.split(text)
        return "".join(_taken_apart(cell, "text", references) for cell in cells)
    return _taken_apart(text, "text", references)


def _without_ticks(tail: re.Match[str]) -> str:
    """A backtick in a link's address or title opens no code: written so that none could."""
    return tail.group().replace("`", "&#96;")


def _taken_apart(text: str, kind: str, references: bool) -> str:
    """Steps over code spans, escapes, tags and links, and takes apart what is left."""
    out: list[str] = []
    absent: set[str] = set()
    at = 0
    pattern = _pattern("odd" if _ODD.search(text) else kind, references)
    while match := pattern.search(text, at):
        out.append(text[at : match.start()])
        at = match.end()
        group = match.lastgroup
        if group == "ticks":
            at = _code_end(text, match)
        elif group == "comment":
            at = _comment_end(text, match, absent)
            if at == match.end() and "-->" not in absent:  # readers differ: so does what is code
                pattern = _pattern("odd", references)
        out.append(_piece(text[match.start() : at], group, references))
    out.append(text[at:])
    return "".join(out)


def _piece(text: str, group: str | None, references: bool) -> str:
    if group == "act":
        return text + APART
    if group == "url":
        return _wrapped_url(text)
    if group == "shown":
        return re.sub(_act(references), rf"\g<0>{APART}", text, flags=re.ASCII)
    return text


def _code_end(text: str, opening: re.Match[str]) -> int:
    """Where a code span ends; after the backticks alone when nothing closes them."""
    closing = re.compile(rf"(?<!`){opening.group()}(?!`)").search(text, opening.end())
    return closing.end() if closing else opening.end()


def _comment_end(text: str, opening: re.Match[str], absent: set[str]) -> int:
    """Where a comment ends; after the opening alone when not every reader takes it for one.

    Older CommonMark has no `--` in a comment, and HTML ends one at `<!-->` already. `absent` keeps
    that no end is left, so that time stays linear.
    """
    start = opening.end()
    end = -1 if "-->" in absent else text.find("-->", start)
    if end < 0:
        absent.add("-->")
        return start
    body = text[start:end]
    if "--" in body or body.startswith((">", "->")) or body.endswith("-"):
        return start
    return end + 3


def _wrapped_url(url: str) -> str:
    """A URL with an @ as <URL>, less the punctuation that a reader would not count to it."""
    if "@" not in url:
        return url
    body = url.rstrip("?!.,:*_~'\"")
    while body.endswith(")") and body.count(")") > body.count("("):
        body = body[:-1]
    return f"<{body}>{url[len(body) :]}"


def _act(references: bool) -> str:
    return f"{_MENTION}|{_REFERENCE}" if references else _MENTION


@cache
def _pattern(kind: str, references: bool) -> re.Pattern[str]:
    act = f"(?P<act>{_act(references)})"
    if kind == "odd":
        return re.compile(act, re.ASCII)
    tags = f"(?P<comment><!--)|(?P<shown>{_SHOWN_TAG})"
    if kind == "html":
        return re.compile(f"{tags}|(?P<keep>{_TAG})|{act}", re.ASCII)
    keep = f"(?P<keep>{_ESCAPED}|{_TAG}|{_AUTOLINK})"
    return re.compile(f"(?P<ticks>`+)|{tags}|{keep}|(?P<url>{_URL})|{act}", re.ASCII)
