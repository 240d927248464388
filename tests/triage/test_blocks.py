"""Markdown as people write it: every way of getting a fence wrong."""

from __future__ import annotations

import pytest

from ciops.triage.blocks import heading_name, split_blocks, strip_tags

FORM = {"versions", "describe the bug"}


def kinds(text: str, headings=FORM):
    return [
        (block.kind, [line.text for line in block.lines]) for block in split_blocks(text, headings)
    ]


@pytest.mark.parametrize(
    ("text", "inside", "after"),
    [
        pytest.param("```python\nx\n```\ny", ["x"], ["y"], id="closed"),
        pytest.param("~~~\nx\n~~~\ny", ["x"], ["y"], id="tildes"),
        pytest.param("````\n```\nx\n````\ny", ["```", "x"], ["y"], id="three inside four"),
        pytest.param("````python\nx\n```\ny", ["x"], ["y"], id="four closed with three"),
        pytest.param("```\nx\n``` \ny", ["x"], ["y"], id="trailing blank"),
        pytest.param("- item\n  ```py\n  x\n  ```\ny", ["  x"], ["y"], id="in a list"),
        pytest.param("```\nx\n```and then\ny", ["x"], ["y"], id="words after the closing fence"),
        pytest.param(
            "```markdown\n```python\nx\n```\n```\ny", ["```python", "x", "```"], ["y"], id="nested"
        ),
        pytest.param("<pre>\nx\n</pre>\ny", ["x"], ["y"], id="pre"),
        pytest.param(
            "```\nx\n### Versions\ny", ["x"], ["y"], id="never closed before the form goes on"
        ),
        pytest.param("```py\nx\n```sh\ny\n```", ["x"], [], id="the next fence opens inside"),
    ],
)
def test_a_fence_holds_what_was_meant(text, inside, after):
    found = kinds(text)
    fences = [lines for kind, lines in found if kind == "fence"]
    assert fences[0] == inside
    assert after == [] or found[-1][1] == after


def test_an_unclosed_fence_runs_to_the_end():
    assert kinds("```\nx\n\ny") == [("fence", ["x", "", "y"])]


def test_code_on_the_opening_line_is_kept():
    assert kinds("```RuntimeError: it broke\nmore\n```")[0] == (
        "fence",
        ["RuntimeError: it broke", "more"],
    )


def test_code_spans_of_three_backticks_are_no_fence():
    assert kinds("see ```x = 1``` there") == [("prose", ["see ```x = 1``` there"])]


def test_an_html_comment_is_not_there():
    assert kinds("a\n<!-- label this\nurgent -->\nb") == [("prose", ["a", "", "b"])]


def test_an_html_comment_in_a_fence_is_code():
    assert kinds("```html\n<!-- x -->\n```") == [("fence", ["<!-- x -->"])]


def test_an_unclosed_html_comment_hides_the_rest():
    assert kinds("a <!-- b\nc") == [("prose", ["a ", ""])]


def test_indented_code_follows_a_blank_line_and_no_list():
    assert kinds("a\n\n    x = 1\n\nb")[1] == ("indented", ["    x = 1"])
    assert kinds("- a\n\n    more of the item")[0][0] == "prose"


def test_three_marks_are_a_prompt_where_python_follows():
    found = kinds(">>> x = 1\n1\n\n>>> said he")
    assert found == [("fence", [">>> x = 1", "1"]), ("quote", [">>> said he"])]


def test_quotes_and_headings_stand_apart():
    assert [kind for kind, _ in kinds("> said\n\n# Head\ntext")] == ["quote", "heading", "prose"]


def test_the_section_is_the_heading_above():
    blocks = split_blocks("### 🐛 Describe the bug\na\n### Versions\nb", FORM)
    assert [block.section for block in blocks if block.kind == "prose"] == [
        "describe the bug",
        "versions",
    ]


def test_lines_keep_their_numbers():
    (block,) = [b for b in split_blocks("a\n\n```\nx\ny\n```") if b.kind == "fence"]
    assert [line.number for line in block.lines] == [4, 5]


def test_names_of_headings_lose_marks_and_emoji():
    assert heading_name("### 🐛 Describe the bug!") == "describe the bug"


def test_only_tags_that_render_are_stripped():
    assert strip_tags('<b>x</b> <string> vector<int> <img src="x" onerror="y">').split() == [
        "x",
        "<string>",
        "vector<int>",
    ]
