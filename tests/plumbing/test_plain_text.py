"""Markdown that was written here, back as text for a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciops.plumbing.rendering import clean_text, code_span, escape_markdown, link, plain_text

ODD = st.text(alphabet=st.sampled_from("ab1. #*_`[]()<>&|\\~$@:/!-+\n\"'=^{}"), max_size=60)


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        pytest.param("## `o/r` and more", "`o/r` and more", id="a heading"),
        pytest.param("see [\\#7 a\\_b](https://x.example/7)!", "see #7 a_b!", id="a link"),
        pytest.param("- \\@<!-- -->kwame", "- @kwame", id="a mention"),
        pytest.param("`[x](https://a.example) \\#`", "`[x](https://a.example) \\#`", id="code"),
        pytest.param("``a ` [b]`` [c](https://x.example)", "``a ` [b]`` c", id="longer ticks"),
        pytest.param("a # b", "a # b", id="no heading"),
    ],
)
def test_what_a_terminal_shows(markdown: str, plain: str) -> None:
    assert plain_text(markdown) == plain


@given(ODD)
def test_every_visible_character_comes_back(text: str) -> None:
    visible = clean_text(text).split()
    assert plain_text(escape_markdown(text)).split() == visible
    assert plain_text(link(text, "https://x.example/a?b=(c)")).split() == visible


@given(ODD, ODD)
def test_code_is_left_as_it_is(text: str, around: str) -> None:
    code = code_span(text)
    assert code in plain_text(f"{escape_markdown(around)} {code}")
