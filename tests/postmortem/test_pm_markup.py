"""Identifiers win over markup: what is read, and what each format shows of it."""

from __future__ import annotations

import json
import re

import pytest

from ciops.postmortem.adf import render_adf
from ciops.postmortem.blocks import parse_blocks
from ciops.postmortem.document import Document, Section, build
from ciops.postmortem.gfm import render_gfm
from ciops.postmortem.inline import Code, Link, Styled, Text, parse_inline, visible
from ciops.postmortem.references import Links
from ciops.postmortem.wiki_markup import render_wiki
from postmortem.records import changed, read, words
from postmortem.test_pm_property import seen, squeezed
from postmortem.visible import adf_problems, of_adf, of_markdown, of_wiki

# Bare, outside of code spans; none may lose or change a character anywhere.
TRAPS = [
    "__init__",
    "_x_",
    "_private and public_",
    "snake_case_name",
    "a*b*c",
    "2*x + 3*y*z",
    "*args and **kwargs",
    "f(*args, **kwargs)",
    "vector<T>",
    "std::vector<uint32_t*>",
    "std::map<K*, V*> and int *p",
    "char *buf, int *len",
    "ring_wait<__half, 4>",
    "ns::fn",
    "src/*.py and tests/*.py",
    "**/*.yml",
    "{{x}}",
    "{{ '{{' }}",
    "{% if critical %}",
    "${HOSTNAME} and #{id}",
    "{code}a{code}",
    "{noformat}",
    "[DBG-7af3]",
    "[DBG-7af3]: launched",
    "handlers[topic](event)",
    "[&](int x)",
    "@decorator",
    "@app.route(path)",
    "(@someone)",
    "4be1c07",
    "~tilde~",
    "^caret^",
    "a~b c~d",
    "#123 and !42",
    "https://runs.example.com/9912?a=b_c_d&e=*",
    "svc-export@batch.example.com",
    "!image!",
    "[~user]",
    "----",
    "--flag and -x",
    "bq. quoted",
    "h1. heading",
    "??cite??",
    "(x) and (i) and (!)",
    ":) ;) :smile:",
    "||a||b||",
    "a | b",
    "x -> y",
    "<script>alert(1)</script>",
    "<!-- hidden -->",
    "&lt; &amp; &nbsp;",
    "$PATH and $x$",
    r"C:\temp\_x",
    r"\d+\.\d+",
    r"\\server\share",
    "100 % of 5*3",
    "`",
    "C# and F#",
    "/close",
    "1986. A year",
    "1) one",
    "- dash",
    "+ 1",
    "> quote",
    "# heading",
    "=== rule",
    "::add-mask::x",
    "~~struck out",
    "**bold without end",
    "5 * 3 * 2",
    "日本語__init__と vector<T>です",
    "l'identifiant « __str__ »",
]


def document(*blocks) -> Document:
    return Document("T-1", "en", (Text("Title"),), (Section("summary", "Summary", blocks),))


def body(shown: str, after: str = "Summary") -> str:
    return shown.split(after, 1)[1].strip("\n ")


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize(
    "frame", ["Then {} runs.", "前に{}後", "{}"], ids=["words", "CJK", "alone"]
)
def test_a_bare_identifier_survives_in_every_format(trap, frame):
    from ciops.postmortem.blocks import Paragraph

    sentence = frame.format(trap)
    nodes = parse_inline(sentence)
    assert visible(nodes) == sentence
    one = document(Paragraph(nodes))
    adf = render_adf(one)
    assert adf_problems(adf) == []
    assert sentence in body(of_adf(adf))
    assert sentence.strip() in body(of_markdown(render_gfm(one)))
    assert sentence.strip() in body(of_wiki(render_wiki(one)))


@pytest.mark.parametrize("trap", [trap for trap in TRAPS if "|" not in trap and "`" not in trap])
def test_an_identifier_survives_in_a_table_cell_and_in_code(trap):
    from ciops.postmortem.blocks import Paragraph, Table

    for cell in ((Text(trap),), (Code(trap),)):
        one = document(Table((cell, cell), ((cell, cell),)), Paragraph(cell))
        assert adf_problems(render_adf(one)) == []
        shown = of_markdown(render_gfm(one)).split("\n")
        assert [line.strip() for line in shown].count(trap.strip()) == 5
        assert of_wiki(render_wiki(one)).count(trap.strip()) >= 5


@pytest.mark.parametrize(
    "cell",
    [(Text("a | b"),), (Code("a || b"),), (Code("a\\|b"),), (Text("x\\|y"),), (Code("c\\"),)],
)
def test_pipes_survive_in_a_table_cell(cell):
    from ciops.postmortem.blocks import Table

    one = document(Table((cell,), ((cell,),)))
    text = visible(cell)
    assert of_markdown(render_gfm(one)).split("\n").count(text) == 2
    assert of_wiki(render_wiki(one)).count(text) == 2
    assert of_adf(render_adf(one)).split("\n").count(text) == 2


@pytest.mark.parametrize(
    ("source", "nodes"),
    [
        ("*really*", (Styled("em", (Text("really"),)),)),
        ("**Cause:** x", (Styled("strong", (Text("Cause:"),)), Text(" x"))),
        (
            "これは**「重要」**です",
            (Text("これは"), Styled("strong", (Text("「重要」"),)), Text("です")),
        ),
        ("**なし**（x）", (Styled("strong", (Text("なし"),)), Text("（x）"))),
        ("~~gone~~", (Styled("strike", (Text("gone"),)),)),
        ("***both***", (Styled("strong", (Styled("em", (Text("both"),)),)),)),
        ("`a``b`", (Code("a``b"),)),
        ("`` c`d ``", (Code("c`d"),)),
        ("`{{x}}`", (Code("{{x}}"),)),
        ("[run](https://a.b/c)", (Link((Text("run"),), "https://a.b/c"),)),
        ("[run](docs/a.md)", (Link((Text("run"),), "docs/a.md"),)),
        ("![plot](https://a.b/c.png)", (Link((Text("plot"),), "https://a.b/c.png"),)),
        ("[](https://a.b/c)", (Link((Text("https://a.b/c"),), "https://a.b/c"),)),
        ("<https://a.b/c>", (Link((Text("https://a.b/c"),), "https://a.b/c"),)),
        ("[https://a.b](https://c.d)", (Link((Text("https://a.b"),), "https://c.d"),)),
        ("[x](javascript:alert)", (Text("[x](javascript:alert)"),)),
        (r"\*not em\*", (Text("*not em*"),)),
        ("あ\nい", (Text("あい"),)),
        ("a\nb", (Text("a b"),)),
        ("한\n국", (Text("한 국"),)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_markup_is_read(source, nodes):
    assert parse_inline(source) == nodes


@pytest.mark.parametrize(
    ("source", "address"),
    [
        ("see https://a.b/c.", "https://a.b/c"),
        ("(https://a.b/c)", "https://a.b/c"),
        ("https://a.b/c_(d)", "https://a.b/c_(d)"),
        ("「https://a.b/c」です", "https://a.b/c"),
        ("https://a.b/cです", "https://a.b/c"),
        ("https://a.b/__init__.py", "https://a.b/__init__.py"),
        ("**https://a.b/c**", "https://a.b/c"),
    ],
)
def test_where_an_address_ends(source, address):
    found = re.findall(r"href='([^']+)'", repr(parse_inline(source)))
    assert found == [address]


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ("a\n\n- b\n- c\n", ["Paragraph", "Items"]),
        ("```py\n# x\n```\n", ["CodeBlock"]),
        ("> q\n", ["Quote"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n", ["Table"]),
        ("<div>x</div>\n", ["Paragraph"]),
        ("[DBG-7af3]: 0x7f21\n", ["Paragraph"]),
        ("text\n----\n", ["Paragraph", "Rule"]),
        ("the offset is a\n+ 1 at most\n", ["Paragraph"]),
        ("# h\n", ["Heading"]),
        ("#123 was reverted\n", ["Paragraph"]),
        ("```\n```\n", ["CodeBlock"]),
        ("    indented\n", ["CodeBlock"]),
        ("", []),
    ],
)
def test_blocks(source, kinds):
    assert [type(block).__name__ for block in parse_blocks(source)] == kinds


def markdown_of(source: str) -> str:
    return body(render_gfm(document(*parse_blocks(source))), "## Summary")


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("`@topic` and @someone", "`@topic` and `@someone`"),
        ("__init__ is called", "`__init__` is called"),
        ("plain words stay plain", "plain words stay plain"),
        ("snake_case stays", "snake_case stays"),
        ("これは**「重要」**です", "これは<strong>「重要」</strong>です"),
        ("**bold** text", "**bold** text"),
        ("- a\n\n  ```\n  x\n  ```\n- b", "- a\n\n  ```\n  x\n  ```\n- b"),
        ("1. a\n2. b", "1. a\n2. b"),
        ("- a\n- b\n\n* c", "- a\n- b\n\n* c"),
        ("````\n```\n````", "````\n```\n````"),
        ("a  \nb", "a\\\nb"),
        ("`x` `y`", "`x` `y`"),
        ("> a\n>\n> b", "> a\n>\n> b"),
    ],
)
def test_markdown_reads_as_its_author_wrote_it(source, written):
    assert markdown_of(source) == written


@pytest.mark.parametrize("source", ["@someone", "(@org/team)", "cc @a, @b.", "日本@user。"])
def test_a_mention_never_stands_in_plain_markdown(source):
    written = re.sub(r"`[^`]*`", "", markdown_of(source))
    assert "@" not in written


@pytest.mark.parametrize(
    ("source", "nodes"),
    [
        ("> - x\n>\n>   > y", ["blockquote"]),
        ("> # h", ["blockquote"]),
        ("> > q", ["blockquote"]),
        ("- > q", ["bulletList"]),
        ("- # h", ["bulletList"]),
        ("- | a |\n  |---|\n  | b |", ["bulletList"]),
        ("> | a |\n> |---|\n> | b |", ["blockquote"]),
        ("- x\n\n  ---", ["bulletList"]),
        ("-", ["bulletList"]),
        (">", ["blockquote"]),
        ("```\n```", ["codeBlock"]),
        ("| a |\n|---|", ["table"]),
        ("**`x`**", ["paragraph"]),
        ("[`x`](https://a.b)", ["paragraph"]),
        ("****", ["rule"]),
        ("0. zero", ["orderedList"]),
        ("```c++\nx\n```", ["codeBlock"]),
    ],
)
def test_adf_is_valid_where_the_schema_has_no_place(source, nodes):
    adf = render_adf(document(*parse_blocks(source)))
    assert adf_problems(adf) == []
    assert [node["type"] for node in adf["content"][2:]] == nodes


@pytest.mark.parametrize(
    "text",
    [
        "ends in a break\\\n",
        "ends in spaces  \n",
        "broken\\\n\\\n",
        "wow![i](https://a.b/c.png)",
        "\\![i](https://a.b/c.png)",
        "!image![i](https://a.b)",
        "\t\t[^1]}} starts with tabs",
        "a\r\n\r\n# carriage returns",
        "a\r# bare carriage return",
        "C:\\x" * 80,
    ],
    ids=repr,
)
def test_a_line_shows_the_same_wherever_it_stands(text):
    """Found by tests/fuzz/fuzz_adf.py, as names, evidence and bodies."""
    checked = {
        "original_reproduction": {"result": "pass", "evidence": text},
        "workloads": [{"name": text, "result": "pass", "evidence": text}],
    }
    record = read(changed(summary=text, validation=checked)).record
    document = build(record, words("en"), Links())
    wanted = squeezed(seen(document))
    assert squeezed(of_markdown(render_gfm(document))) == wanted
    assert adf_problems(render_adf(document)) == []


def test_adf_headings_of_a_text_stand_below_its_section():
    adf = render_adf(document(*parse_blocks("# One\n\n## Two\n\n###### Six")))
    levels = [node["attrs"]["level"] for node in adf["content"]]
    assert levels == [2, 3, 4, 5, 6]


def test_adf_cells_in_a_row_stand_apart():
    adf = render_adf(document(*parse_blocks("- | a | b |\n  |---|---|\n  | c | d |")))
    rows = adf["content"][2]["content"][0]["content"]
    assert [of_adf(row).strip() for row in rows] == ["a | b", "c | d"]


def test_adf_marks_code_alone_or_with_a_link():
    adf = render_adf(document(*parse_blocks("**`x`** [`y`](https://a.b) [z](docs/a.md)")))
    texts = [
        (node["text"], [mark["type"] for mark in node.get("marks", [])])
        for node in adf["content"][2]["content"]
    ]
    assert texts == [
        ("x", ["code"]),
        (" ", []),
        ("y", ["link", "code"]),
        (" z (docs/a.md)", []),
    ]


@pytest.mark.parametrize(
    ("language", "text", "fence"),
    [
        ("python", "x = 1", "{code:python}"),
        ("text", "x", "{noformat}"),
        ("brainfuck", "x", "{noformat}"),
        ("yaml", "{code}a{code}", "{noformat}"),
        ("", "{noformat}", "{code}"),
    ],
)
def test_wiki_code_is_fenced_by_what_it_does_not_close(language, text, fence):
    from ciops.postmortem.blocks import CodeBlock

    lines = render_wiki(document(CodeBlock(text, language))).rstrip("\n").split("\n")
    assert lines[-3:] == [fence, text, re.sub(r":\w+", "", fence)]


@pytest.mark.parametrize(
    ("markdown", "wiki"),
    [
        ("- a\n  1. b\n  2. c\n- d", "* a\n*# b\n*# c\n* d"),
        ("- **CI gap**: add it", "* *CI gap*: add it"),
        ("1. **CI gap**", "# *CI gap*"),
        ("- - a", "*\n** a"),
        ("- 1. **b**", "*\n*# *b*"),
    ],
)
def test_wiki_lists_nest_by_their_marks(markdown, wiki):
    assert body(render_wiki(document(*parse_blocks(markdown)))) == wiki


def test_two_renders_are_the_same_bytes():
    blocks = parse_blocks("- a `b`\n\n| x |\n|---|\n| y |\n")
    one, other = render_adf(document(*blocks)), render_adf(document(*blocks))
    assert json.dumps(one) == json.dumps(other)
