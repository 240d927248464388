"""A pattern is read as a tree that writes it again, and every match holds what the tree needs."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ciops.plumbing.pattern_reading import (
    NOTHING,
    Group,
    Need,
    best,
    is_optional,
    needs,
    parsed,
    written,
)

LETTER = re.compile("[a-z0-9]")
DIGIT = Need(0, tuple((digit, False, False) for digit in "0123456789"))


def weigh(text: str, begins: bool, ends: bool) -> Need:
    return Need(len(text), ((text, begins, ends),))


def told(pattern: str) -> list[list[str]]:
    """What each match holds: `|` where a word surely begins or ends."""
    found = needs(parsed(pattern), weigh, DIGIT)
    return [
        ["|" * begins + text + "|" * ends for text, begins, ends in need.pieces] for need in found
    ]


@pytest.mark.parametrize(
    ("pattern", "pieces"),
    [
        ("Out of memory", [["out of memory"]]),
        (r"a\.py\b", [["a.py|"]]),
        (r"\bfoo", [["|foo"]]),
        (r"\Afoo$", [["|foo|"]]),
        (r"\Bfoo", [["foo"]]),
        (r"\x41bc", [["bc"]]),
        (r"\U0001F600 face", [[" face"]]),
        (r"(a)\12 b", [["a"], [" b"]]),
        (r"a\nb", [["a|"], ["|b"]]),
        ("[Aa]b[cC]", [["abc"]]),
        ("[ab]c", [["c"]]),
        ("colou?r", [["colo"], ["r"]]),
        ("ab+c", [["ab"], ["c"]]),
        ("a{0,2}b{2}c", [["b"], ["c"]]),
        ("a{b", [["a"], ["b"]]),
        ("a{b}c", [["a"], ["b"], ["c"]]),
        ("a++++b", [["a"], ["b"]]),
        (r"foo -?bar", [["foo "], ["|bar"]]),
        (r"foo\s+bar", [["foo|"], ["|bar"]]),
        (r"foo[ ,-]bar", [["foo|"], ["|bar"]]),
        (r"foo[ -~]bar", [["foo"], ["bar"]]),
        (r"foo[^a]bar", [["foo"], ["bar"]]),
        (r"\b(?:one|two)\b", [["|one|", "|two|"]]),
        (r"\b(?:ones?|two)\b", [["|one", "|two|"]]),
        (r"\b(?:one)+\b", [["|one"]]),
        (r"(?:one|two)?three", [["three"]]),
        (r"\b(?:one )?two\b", [["|two|"]]),
        (r"\b(?:one)?two\b", [["two|"]]),
        (r"(?:one|)", []),
        (r"(?:one|\d)", [["one", *"0123456789"]]),
        (r"\d{2}", [[*"0123456789"]]),
        (r"one\d", [["one"]]),
        (r"(?:a\b|b\s)c", [["a|", "b|"], ["|c"]]),
        (r"(?<!\w)foo", [["|foo"]]),
        (r"(?<![\w.])foo", [["|foo"]]),
        (r"(?<!\wx)foo", [["foo"]]),
        (r"(?<=one )two", [["one "], ["two"]]),
        (r"one(?=.*two)", [["one"], ["two"]]),
        (r"one(?! two)", [["one"]]),
        (r"one|two", [["one", "two"]]),
        (r"(?:one|longer)x|two", [["one", "longer", "two"]]),
        (r"(?-i:One)(?P<name>Two)", [["one"], ["two"]]),
        ("", []),
    ],
)
def test_what_every_match_holds(pattern, pieces):
    assert told(pattern) == pieces


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("a)", "closes a bracket too often"),
        ("(?:a|b))", "closes a bracket too often"),
        ("x(?P<n>a|b", r"missing \) after \(\?P<n>"),
        ("(?i)a", r"cannot be read at \(\?i\)a"),
        ("(?P<n>a)(?P=n)", r"cannot be read at \(\?P=n\)"),
        ("(a)?(?(1)b|c)", "cannot be read"),
        ("(?#why)a", "cannot be read"),
        (r"\N{DASH}", "cannot be read"),
        ("[a", "cannot be read"),
        ("a\\", "cannot be read"),
    ],
)
def test_what_is_not_known_is_refused(pattern, problem):
    with pytest.raises(re.error, match=problem):
        parsed(pattern)


def test_a_name_in_braces_stands_for_a_macro():
    inner = parsed("one|two")
    macros = {"verb": Group("(?:", inner, "", best(needs(inner, weigh)))}
    branches = parsed(r"{verb}{verb}?\{verb\}", macros)
    assert written(branches) == r"(?:one|two)(?:one|two)?\{verb\}"
    assert [len(need.pieces) for need in needs(branches, weigh)] == [2, 1]
    with pytest.raises(KeyError, match="noun"):
        parsed("{noun}", macros)


@pytest.mark.parametrize(
    ("pattern", "optional"),
    [("(?:a)", False), ("(?:a|b?)", False), ("(a)?", True), ("(a)*?", True), ("(a){0,2}", True),
     ("(a){,2}", True), ("(a){2}", False), ("(?!a)", True), ("(?<!a)", True), ("(?=a)", False)],
)  # fmt: skip
def test_what_a_match_may_go_without(pattern, optional):
    ((group,),) = parsed(pattern)
    assert is_optional(group) is optional


def test_the_best_need_is_of_the_longest_text_and_then_of_the_fewest():
    few, many = Need(3, ("one",)), Need(3, ("one", "two"))
    assert best([many, few, Need(2, ("at",))]) == few
    assert best([]) == NOTHING


ATOMS = st.sampled_from(
    ["ab", "B", "c?", "_", " ", "-?", "é", "2", r"\.", r"\w", r"\W", r"\s*", r"\d+", r"\b", r"\B",
     "^", "$", ".", "[ab]", "[aA]", "[ .-]", "[^a]", "[ -~]", "a{2}", "b{0,2}", "{b}", "a++"]
)  # fmt: skip
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=1, max_size=3).map("|".join),
        st.builds(
            lambda opening, ways, repeat: f"{opening}{'|'.join(ways)}){repeat}",
            st.sampled_from(["(?:", "(", "(?-i:", "(?P<n>", "(?=", "(?!", "(?>"]),
            st.lists(inner, min_size=1, max_size=3),
            st.sampled_from(["", "", "?", "*", "{2}", "{,2}", "+"]),
        ),
    ),
    max_leaves=9,
)


@given(PATTERNS, st.text("abcAB_ -.é2{}", max_size=9))
@example(r"\b(?:ab|c?)(?:ab)", "cab")
@example(r"foo\b\s(?:foo)\b", "foo foo")
@example(r"(?:foo\b)?\s?(?:bar)", "foobar")
def test_every_match_holds_what_its_pattern_needs(pattern, text):
    try:
        regex = re.compile(pattern, re.ASCII | re.IGNORECASE)
    except re.error:
        return
    branches = parsed(pattern)
    assert written(branches) == pattern
    if regex.search(text):
        for need in needs(branches, weigh, DIGIT):
            assert any(is_in(text.lower(), *piece) for piece in need.pieces), need


def is_in(line: str, piece: str, begins: bool, ends: bool) -> bool:
    """Whether a piece is in a line, with no letter before it or after it where that is told."""
    before = "(?<![a-z0-9])" if begins and LETTER.match(piece[0]) else ""
    after = "(?![a-z0-9])" if ends and LETTER.match(piece[-1]) else ""
    return re.search(before + re.escape(piece) + after, line) is not None
