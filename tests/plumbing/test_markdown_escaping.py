"""Facts in Markdown: every visible character stays, and none of them acts.

A rendered page stands for what a reader sees: text nodes are what the sites look for mentions,
references, emoji and addresses in.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ciops.plumbing.rendering import (
    clean_text,
    code_span,
    escape_html,
    escape_markdown,
    fenced,
    link,
    table_cell,
)

SITE = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# What GitHub or GitLab would act on, within one text node.
ACTS = re.compile(
    r"@\w|(?<!\w)#\d|\bGH-\d|https?://|\bwww\.|:(?!\d\d?:)[\w+-]+:", re.IGNORECASE | re.ASCII
)


class Page(HTMLParser):
    """The text nodes of a page, apart where a tag or comment stands between, and its tags."""

    def __init__(self, markdown: str) -> None:
        super().__init__(convert_charrefs=True)
        self.nodes: list[str] = [""]
        self.tags: list[str] = []
        self.code: list[str] = []
        self.in_code = False
        self.feed(SITE.render(markdown))
        self.close()

    @property
    def text(self) -> str:
        return "".join(self.nodes)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.nodes.append("")
        if tag == "code":
            self.code.append("")
            self.in_code = True

    def handle_endtag(self, tag: str) -> None:
        self.nodes.append("")
        self.in_code = self.in_code and tag != "code"

    def handle_comment(self, data: str) -> None:
        self.nodes.append("")

    def handle_data(self, data: str) -> None:
        self.nodes[-1] += data
        if self.in_code:
            self.code[-1] += data


def seen(text: str) -> str:
    """Text as a page shows it: runs of white space are one."""
    return " ".join(clean_text(text).split())


IDENTIFIERS = [
    "__init__",
    "a*b*c",
    "vector<T>",
    "ns::fn",
    "std::b::c",
    "a|b|c",
    "{{x}}",
    "{code}",
    "[DBG-7af3]",
    "@decorator",
    "3f786850e387550fdab836ed7e6dc881de23001b",
    "file.py:12:30",
    "a_b_c",
    "~~no~~",
    "x < y && y > z",
    "&lt;b&gt; &#64;",
    "C:\\temp\\new",
    "$a$ and $`b`$",
    "50% of 100%",
    "-1",
    "1. one",
    "2) two",
    "# head",
    "> quote",
    "+ item",
    "===",
    "---",
    "| a | b |",
    "```",
    "~~~",
    "![image](x)",
    "[text](http://x)",
    "[text]: http://x",
    "<https://x.y>",
    "<!-- hidden -->",
    "<script>alert(1)</script>",
    "\\@user",
    "user@example.com",
    "#123",
    "owner/repo#123",
    "GH-12",
    "!12",
    "@org/team",
    "https://example.com/a_b_c?x=1&y=2#z",
    "www.example.com/__x__",
    ":tada:",
    ":+1:",
    ":white_check_mark:",
    "a:b_c:d",
    "/close",
    "/label ~bug",
    "*****",
    "日本語_の_識別子",
    "é@ü",
    "trailing\\",
]


@pytest.mark.parametrize("text", IDENTIFIERS)
def test_a_fact_is_shown_byte_for_byte_and_does_nothing(text: str) -> None:
    page = Page(f"Seen: {escape_markdown(text)} here")
    assert page.text.strip() == f"Seen: {text} here"
    assert page.tags == ["p"]
    assert not any(ACTS.search(node) for node in page.nodes)


@pytest.mark.parametrize("text", IDENTIFIERS)
def test_a_fact_at_the_start_of_a_line(text: str) -> None:
    page = Page(escape_markdown(text))
    assert page.text.strip() == text
    assert page.tags == ["p"]


NASTY = st.lists(
    st.sampled_from(list("`*_[]()<>#+-.!|~$&^=:\"'@/\\{}% \n\t1aB"))
    | st.sampled_from(
        ["@user", "#12", "https://a.b", "<b>", "&amp;", "```", "~~~", "\u202e", "\u200b", "é"]
    )
    | st.sampled_from(
        ["\n\n", "    ", "<!--", "-->", "\r\n", "\x1b[31m", "/close", "1. ", "GH-3", ":tada:"]
    )
    | st.sampled_from(["[^1]", "]: ", "](", "\\\n", "  \n", "\x00", "\u2028", "www.x.y"]),
    max_size=30,
).map("".join)


@settings(max_examples=400, deadline=None)
@given(NASTY)
def test_no_text_escapes_its_escaping(text: str) -> None:
    page = Page(escape_markdown(text))
    assert seen(page.text) == seen(text)
    assert set(page.tags) <= {"p", "br"}
    assert not any(ACTS.search(node) for node in page.nodes)


@settings(max_examples=300, deadline=None)
@given(NASTY)
def test_no_text_leaves_its_code_span(text: str) -> None:
    page = Page(f"a {code_span(text)} z")
    if not clean_text(text):
        assert page.text.split() == ["a", "z"]
        return
    assert page.code[0] == clean_text(text).replace("\n", " ")
    assert page.tags == ["p", "code"]


@settings(max_examples=300, deadline=None)
@given(NASTY)
def test_no_text_leaves_its_code_block(text: str) -> None:
    page = Page(f"{fenced(text, 'text')}\n\nafter")
    assert page.tags == ["pre", "code", "p"]
    assert page.code[0].removesuffix("\n") == clean_text(text).removesuffix("\n")


@settings(max_examples=300, deadline=None)
@given(NASTY, st.booleans())
def test_no_text_leaves_its_cell(text: str, as_code: bool) -> None:
    cell = table_cell(code_span(text) if as_code else escape_markdown(text))
    page = Page(f"| a | b |\n|---|---|\n| {cell} | end |\n\nafter")
    assert page.tags.count("td") == 2
    assert page.tags.count("tr") == 2
    assert seen(page.text).startswith("a b")
    expected = seen(text).replace(" ", "")
    assert seen(page.text).replace(" ", "") == f"ab{expected}endafter"


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("a", "`a`"),
        ("a`b", "``a`b``"),
        ("`", "`` ` ``"),
        ("``a", "``` ``a ```"),
        (" a ", "`  a  `"),
        (" a", "` a`"),
        ("  ", "`  `"),
        (" \t ", "`  \t  `"),
        ("a\nb", "`a b`"),
        ("", ""),
        ("\x1b[31mred\x1b[0m", "`red`"),
    ],
)
def test_code_spans(text: str, span: str) -> None:
    assert code_span(text) == span


@pytest.mark.parametrize(
    ("text", "info", "block"),
    [
        ("x", "", "```\nx\n```"),
        ("x\n", "py", "```py\nx\n```"),
        ("a\n```\nb", "", "````\na\n```\nb\n````"),
        ("a ````` b", "", "``````\na ````` b\n``````"),
        ("x", "py`\n@user", "```pyuser\nx\n```"),
        ("", "", "```\n\n```"),
    ],
)
def test_code_blocks(text: str, info: str, block: str) -> None:
    assert fenced(text, info) == block


def test_a_code_block_hides_quick_actions_from_a_plain_pattern() -> None:
    """GitLab has looked for them by lines that start with a slash."""
    block = fenced("a\n/close\n```\n/label ~x", "text")
    assert not re.search(r"^/", block, re.MULTILINE)
    assert Page(block).code == ["a\n/close\n```\n/label ~x\n"]


def test_a_fact_hides_quick_actions_from_a_plain_pattern() -> None:
    assert not re.search(r"^\s*/", escape_markdown("x\n  /close\n/label ~x"), re.MULTILINE)


@pytest.mark.parametrize(
    ("url", "markdown"),
    [
        ("https://x.y/a", "[t](https://x.y/a)"),
        ("http://127.0.0.1:8/a?b=c&d", "[t](http://127.0.0.1:8/a?b=c&d)"),
        ("https://x.y/a b)<c>|\n`", "[t](https://x.y/a%20b%29%3Cc%3E%7C%0A%60)"),
        ("https://x.y/@user", "[t](https://x.y/%40user)"),
        ("https://x.y/é", "[t](https://x.y/é)"),
        ("javascript:alert(1)", "t"),
        ("data:text/html,x", "t"),
        ("//x.y", "t"),
        ("HTTPS:///x", "t"),
        ("https:// x", "t"),
        ("", "t"),
    ],
)
def test_links(url: str, markdown: str) -> None:
    assert link("t", url) == markdown


def test_the_text_of_a_link_cannot_end_it() -> None:
    page = Page(link("a](http://evil) @user\n`x", "https://x.y"))
    assert page.tags == ["p", "a"]
    assert page.text.strip() == "a](http://evil) @user `x"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("plain", "plain"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb\rc\x0bd\x0ce\x85f\u2028g\u2029h", "a\nb\nc\nd\ne\nf\ng\nh"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://evil\x07click\x1b]8;;\x1b\\", "click"),
        ("\x1b]0;title", ""),
        ("a\x1b", "a"),
        ("\x9b31mx", "31mx"),
        ("a\x00\x07\x08b\x7f", "ab"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("\u2066a\u2069\u200f\u061c", "a"),
        ("zero\u200bwidth\u2060\ufeff", "zerowidth"),
        ("soft\u00adhyphen", "softhyphen"),
        ("ad\u200dmin", "admin"),
        ("\u200dx\u200c", "x"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("hidden\U000e0041\U000e007f", "hidden"),
        ("\ud800x", "\ufffdx"),
        ("日本語", "日本語"),
    ],
)
def test_clean_text(text: str, cleaned: str) -> None:
    assert clean_text(text) == cleaned


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_cleaning_twice_changes_nothing_and_can_be_written(text: str) -> None:
    once = clean_text(text)
    assert clean_text(once) == once
    once.encode()


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("<b a='x' c=\"y\">&</b>", "&lt;b a=&#x27;x&#x27; c=&quot;y&quot;&gt;&amp;&lt;/b&gt;"),
        (7, "7"),
        ("\u202ex\x00", "x"),
    ],
)
def test_html(text: object, escaped: str) -> None:
    assert escape_html(text) == escaped
