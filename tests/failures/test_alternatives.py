"""Patterns are tried alternative by alternative, and find what they would find as a whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ciops.failures.alternatives import Finder, alternatives
from ciops.failures.knowledge import load_knowledge

CONFIG = Path(__file__).resolve().parents[2] / "config/pipeline-failure-report/autodeploy.yml"


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        ("error: no space", [(("error: no space",),)]),
        ("(?i)^Fatal: .*disk", [(("fatal: ",), ("disk",))]),
        ("exit code|was killed", [(("exit code",),), (("was killed",),)]),
        ("colou?r is", [(("colo",), ("r is",))]),
        ("worlds? end", [(("world",), (" end",))]),
        ("(?:not )?found here", [(("found here",),)]),
        ("(?!never)always", [(("always",),)]),
        ("(?=.*first)last", [(("first",), ("last",))]),
        (r"file\.txt\b gone", [(("file.txt",), (" gone",))]),
        ("[Uu]nable to", [(("unable to",),)]),
        ("(?:one|two) steps", [((" steps",), ("one", "two"))]),
        ("(?:one|two|)", [()]),
        (r"\d+ \w+", [()]),
        (r"(\w)\1 doubled", [()]),
        ("gree++dy", [(("gree",), ("dy",))]),
        ("(?P<a>x+) is not (?P=a)", [()]),
    ],
)
def test_what_an_alternative_needs(pattern: str, needed: list[tuple[tuple[str, ...], ...]]) -> None:
    assert [one.clauses for one in alternatives(pattern)] == needed


def test_a_bracket_of_many_ways_is_taken_apart() -> None:
    sources = [one.source for one in alternatives("^x: (?:alpha|bravo|charlie|delta) end")]
    assert sources == [f"^x: (?:{word}) end" for word in ("alpha", "bravo", "charlie", "delta")]


@pytest.mark.parametrize(
    "pattern", ["^x: (?:alpha|bravo|charlie|delta)? end", "^x: (?!alpha|bravo|charlie|delta) end"]
)
def test_what_may_be_absent_is_not_taken_apart(pattern: str) -> None:
    assert [one.source for one in alternatives(pattern)] == [pattern]


def test_alternatives_that_ask_for_little_stay_together() -> None:
    sources = [one.source for one in alternatives("(?i)^cc|^ld|^linker failed|^[a-z]+$")]
    assert sources == ["(?i)^linker failed", "(?i)^cc|^ld|^[a-z]+$"]


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("error (?P<cause>a+)|fatal (?P<other>b+)", "fatal b, error aa", "fatal b"),
        ("beta|alpha", "alpha beta", "alpha"),
        ("(?i)OUT of memory", "oUt OF MEMORY", "oUt OF MEMORY"),
        ("^first|second", "the second first", "second"),
        ("^first|second", "the first", None),
        (r"\bno (?:more |other )?space\b", "no more space", "no more space"),
    ],
)
def test_the_first_match_is_found_as_a_search_finds_it(
    pattern: str, text: str, found: str | None
) -> None:
    text += " " * 48
    match = Finder(pattern, 0).find(text, text.lower())
    assert (match[0] if match else None) == found
    assert found == (whole[0] if (whole := re.search(pattern, text)) else None)


def _shipped() -> list[tuple[str, str]]:
    knowledge = load_knowledge(CONFIG)
    rules = (*knowledge.lines, *knowledge.observations)
    return [(rule.id, source) for rule in rules for source in (rule.source, rule.below) if source]


def _examples() -> list[str]:
    knowledge = load_knowledge(CONFIG)
    rules = (*knowledge.lines, *knowledge.observations)
    return [text for rule in rules for text in (*rule.matches, *rule.near_misses)]


def test_every_shipped_rule_finds_in_every_example_what_its_search_finds() -> None:
    texts = [(text, text.lower()) for one in _examples()[::4] for text in (one, one + " " * 48)]
    for name, source in _shipped():
        pattern, finder = re.compile(source), Finder(source, 0)
        for text, lower in texts:
            found, whole = finder.find(text, lower), pattern.search(text)
            assert (found and found.span()) == (whole and whole.span()), (name, text)


_LETTERS = st.sampled_from(
    ["abcd", "dcba", "abc", "b", "c dab", r"\w", r"\d+", ".*", "[Aa]", "(?!b)", "a?", ""]
)
_GROUPS = st.recursive(
    _LETTERS,
    lambda inner: st.builds(
        lambda parts, ways, repeat: f"{''.join(parts)}(?:{'|'.join(ways)}){repeat}",
        st.lists(inner, max_size=2),
        st.lists(inner, min_size=1, max_size=5),
        st.sampled_from(["", "", "?", "{2}", "{0,2}", "+"]),
    ),
    max_leaves=8,
)
_PATTERNS = st.builds(
    lambda head, ways: head + "|".join(ways),
    st.sampled_from(["", "(?i)", "^", "(?i)^"]),
    st.lists(_GROUPS, min_size=1, max_size=4),
)


@given(
    _PATTERNS,
    st.text("abcdAB 12", max_size=20) | st.sampled_from(["xabcd", "c dab dcba", "ABCD dcba c dab"]),
)
@example("^abc|abcd|b", "1b")
@example("(?i)^abc|abcd|^b", "1b")
def test_any_pattern_is_found_where_its_search_finds_it(source: str, text: str) -> None:
    text += "." * 48
    found, whole = Finder(source, 0).find(text, text.lower()), re.search(source, text)
    assert (found and found.span()) == (whole and whole.span())
