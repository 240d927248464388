"""Markdown that keeps its formatting and pings nobody."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ciops.plumbing.rendering import clean_text, neutralise_mentions

SITE = MarkdownIt("commonmark").enable(["table", "strikethrough"])
A = "<!-- -->"


@pytest.mark.parametrize(
    ("markdown", "inert"),
    [
        ("Thanks @user!", f"Thanks @{A}user!"),
        ("@org/team", f"@{A}org/team"),
        ("(@user)", f"(@{A}user)"),
        ("**@user**", f"**@{A}user**"),
        ("日本@user", f"日本@{A}user"),
        ("mail a@b.com", f"mail a@{A}b.com"),
        (r"\@user", rf"\@{A}user"),
        (r"\\@user", rf"\\@{A}user"),
        ("&#64;user &#x40;user &commat;user", f"&#64;{A}user &#x40;{A}user &commat;{A}user"),
        ("@&#117;ser", f"@{A}&#117;ser"),
        ("an @ alone, a@ and @!", "an @ alone, a@ and @!"),
        ("`@user` and ``a ` @b``", "`@user` and ``a ` @b``"),
        ("a ` b @user", f"a ` b @{A}user"),
        ("[a](`)@user`", f"[a](&#96;)@{A}user`"),
        ("![a](b(`))@user`", f"![a](b(&#96;))@{A}user`"),
        ('[a](b "x)`")@user`', f'[a](b "x)&#96;")@{A}user`'),
        ("[a](<b `>)@user`", f"[a](<b &#96;>)@{A}user`"),
        ("[a](((((`)))))@user`", f"[a](((((`)))))@{A}user`"),
        ("[a](b) `@user`", "[a](b) `@user`"),
        ("[a`](b)@user`", "[a`](b)@user`"),
        (r"\`@user\`", rf"\`@{A}user\`"),
        ("``@user`", f"``@{A}user`"),
        ("```py\n@decorator\n```", "```py\n@decorator\n```"),
        ("~~~\n@d\n~~~\n@user", f"~~~\n@d\n~~~\n@{A}user"),
        ("```\n@open", "```\n@open"),
        ("x\n\n    @code", "x\n\n    @code"),
        ("x\n    @lazy", f"x\n    @{A}lazy"),
        ("- a\n\n      @code\n\n  @user", f"- a\n\n      @code\n\n  @{A}user"),
        ("> ```\n> @code\n> ```\n> @user", f"> ```\n> @code\n> ```\n> @{A}user"),
        ("- a `\n- @user `", f"- a `\n- @{A}user `"),
        ("# a `\n@user `", f"# a `\n@{A}user `"),
        ("a `\n\n@user `", f"a `\n\n@{A}user `"),
        ("a `x\ny` @user", f"a `x\ny` @{A}user"),
        ("| a ` | ` @b |\n|--|--|\n| `@c` | @d |", f"| a ` | ` @{A}b |\n|--|--|\n| `@c` | @{A}d |"),
        ("<div>\n`@user`\n</div>", f"<div>\n`@{A}user`\n</div>"),
        ('<a title="@user">x</a>', '<a title="@user">x</a>'),
        ("<!-- @user -->", "<!-- @user -->"),
        ("x <!-- @user\n@b --> @c", f"x <!-- @user\n@b --> @{A}c"),
        ("x <!--> @user", f"x <!--> @{A}user"),
        ("x <!-- @user", f"x <!-- @{A}user"),
        ("x <!---> @user -->", f"x <!---> @{A}user -->"),
        ("x <!-- a -- @user -->", f"x <!-- a -- @{A}user -->"),
        ("x <!-- @user --->", f"x <!-- @{A}user --->"),
        ("<? > @user ?>", f"<? > @{A}user ?>"),
        ("x <?<!--?>@user<!-->", f"x <?<!--?>@{A}user<!-->"),
        ("x <? ` ?> `@user`", f"x <? ` ?> `@{A}user`"),
        ("x <!A > @user>", f"x <!A > @{A}user>"),
        ("x <![CDATA[ > @user ]]>", f"x <![CDATA[ > @{A}user ]]>"),
        ('<script src="@user">', f'<script src="@{A}user">'),
        ('<script src="https://x/@u">', f'<script src="https://x/@{A}u">'),
        ('x <TITLE lang="@user">', f'x <TITLE lang="@{A}user">'),
        ('x <scripted src="@user">', 'x <scripted src="@user">'),
        ("<a @user>", f"<a @{A}user>"),
        ("<me@x.org> <https://x/@y>", "<me@x.org> <https://x/@y>"),
        ("https://m.com/@user/p.", "<https://m.com/@user/p>."),
        ("(https://m.com/@user)", "(<https://m.com/@user>)"),
        ("[x](https://m.com/@user)", "[x](<https://m.com/@user>)"),
        ('[x](https://m.com/@user "t")', '[x](<https://m.com/@user> "t")'),
        ("[x]: https://m.com/@user", "[x]: <https://m.com/@user>"),
        ("https://m.com/p is kept", "https://m.com/p is kept"),
        ("xhttps://m.com/@user", f"xhttps://m.com/@{A}user"),
        ("https://@user", f"https://@{A}user"),
        ("[^1]\n\n[^1]: x\n\n    @user", f"[^1]\n\n[^1]: x\n\n    @{A}user"),
    ],
)
def test_mentions(markdown: str, inert: str) -> None:
    assert neutralise_mentions(markdown) == inert


@pytest.mark.parametrize(
    ("markdown", "inert"),
    [
        ("see #12, o/r#3 and GH-4, gh-5", f"see #{A}12, o/r#{A}3 and GH-{A}4, gh-{A}5"),
        ("!12 and `#12`", f"!{A}12 and `#12`"),
        ("# 12\n\n#12", f"# 12\n\n#{A}12"),
        ("&#123; x&#49;", "&#123; x&#49;"),
        ("#&#49;2", f"#{A}&#49;2"),
        ("nothing here", "nothing here"),
    ],
)
def test_references(markdown: str, inert: str) -> None:
    assert neutralise_mentions(markdown, references=True) == inert


def test_references_stay_unless_asked() -> None:
    assert neutralise_mentions("see #12 @a") == f"see #12 @{A}a"


@pytest.mark.parametrize(
    ("markdown", "inert"),
    [
        ("/close", r"\/close"),
        ("a\n/label ~x\nb", "a\n\\/label ~x\nb"),
        ("  /close", "  \\/close"),
        ("a/b and /c", "a/b and /c"),
        ("// no", "// no"),
        ("<div>\n/close\n</div>", f"<div>\n{A}/close\n</div>"),
        ("~~~\n/close\n~~~", " ~~~\n /close\n ~~~"),
        ("````\n```\n/close\n````", " ````\n ```\n /close\n ````"),
    ],
)
def test_quick_actions(markdown: str, inert: str) -> None:
    assert neutralise_mentions(markdown) == inert
    assert not re.search(r"^/[a-z]", inert, re.MULTILINE)


PIECES = st.lists(
    st.sampled_from(
        ["@user", "&#64;user", "`", "``", "```", "\n```\n", "\n", "\n\n", "    ", "> ", "- ", "| "]
    )
    | st.sampled_from(
        [
            "<!---->",
            "<!-->",
            "--!>",
            "<?",
            "?>",
            '<script x="',
            "<![CDATA[",
            "<a ",
            "|--|--|\n",
            "<div>",
            "</div>",
            "<b>",
            "<!--",
            "-->",
            "\\",
            "word ",
            "https://x.y/@z ",
            "[a](",
            ")",
            '"',
        ]
    )
    | st.sampled_from(
        ["[a](", ")", "*", "~~~\n", "# ", "\t", "1. ", "[^1]: ", '<a title="', '">', "\u200b"]
    ),
    max_size=20,
).map("".join)


TOKEN = re.compile(
    r"<!-?->|<!--.*?(?:--!?>|\Z)"  # a comment as HTML has it
    r"|<[?!][^>]*>|<(?P<close>/?)(?P<name>[a-zA-Z][^\s/>]*)(?:\"[^\"]*\"|'[^']*'|[^'\">])*>"
    r"|(?P<text>[^<]+|<)",
    re.DOTALL,
)
SHOWN = ("script", "style", "title", "textarea")


def text_nodes(markdown: str) -> list[str]:
    """Text outside code, tags and links: where a site looks for mentions."""
    nodes = [""]
    inside: list[str] = []
    for token in TOKEN.finditer(SITE.render(markdown)):
        name = (token["name"] or "").lower()
        if token["text"] and not inside:
            nodes[-1] += token["text"].replace("&#64;", "@")
        elif name in SHOWN:  # GitHub shows the tag itself
            nodes += [part for part in re.split(r"<!--.*?-->", token.group()) if not inside]
            nodes.append("")
        elif name in ("code", "pre", "a") and not token["close"]:
            inside.append(name)
        elif name in inside:
            inside.remove(name)
        else:
            nodes.append("")
    return nodes


@settings(max_examples=500, deadline=None)
@given(PIECES)
def test_no_arrangement_of_markup_brings_a_mention_through(markdown: str) -> None:
    inert = neutralise_mentions(markdown)
    assert not any(re.search(r"@\w", node) for node in text_nodes(inert))


@settings(max_examples=300, deadline=None)
@given(PIECES)
def test_no_character_is_lost(markdown: str) -> None:
    inert = neutralise_mentions(markdown).replace("&#96;", "`")  # a tick in an address, as shown
    for added in (A, "<https://x.y/@z>"):
        inert = inert.replace(added, "https://x.y/@z" if "z" in added else "")
    plain = clean_text(markdown).replace(A, "").replace("<https://x.y/@z>", "https://x.y/@z")
    assert re.sub(r"(?m)^ ", "", inert) in (plain, re.sub(r"(?m)^ ", "", plain))


@pytest.mark.parametrize(
    "markdown",
    [
        "`" * 60_000 + "@a",
        "".join("`" * n + " " for n in range(1, 340)) + "@a",
        "@a" * 30_000,
        "<a " * 20_000 + "@a",
        "<!--" * 15_000 + "@a",
        "<!A" * 20_000 + "@a",
        "<?<![CDATA[" * 6_000 + "@a",
        "https://x.y/@z(" * 4_000,
        "> " * 300 + "@a",
        "&#0" * 20_000 + "@a",
    ],
    ids=[
        "ticks",
        "runs",
        "mentions",
        "tags",
        "comments",
        "declarations",
        "instructions",
        "urls",
        "quotes",
        "entities",
    ],
)
def test_hostile_markdown_is_quick(markdown: str) -> None:
    start = time.process_time()
    neutralise_mentions(markdown, references=True)
    assert time.process_time() - start < 3.0
