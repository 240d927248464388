"""Cues: which patterns a text is tried with at all. None that can match may be left out."""

from __future__ import annotations

from functools import cache

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ciops.postmortem.cues import cue_of, index_of
from ciops.postmortem.prose_rules import Guide, alternatives, load_guide
from postmortem.records import ROOT

LANGUAGES = ("en", "ja", "fr")
SENTENCES = ROOT / "tests" / "data" / "postmortem"


@pytest.mark.parametrize(
    ("pattern", "cue"),
    [
        (r"maybe", {"maybe"}),
        (r"\bMaybe\b", {"maybe"}),
        (r"may(?:be|not)", {"may"}),
        (r"a(?:longest|longer)", {"longest", "longer"}),
        (r"(?:one|two|three)", {"one", "two", "three"}),
        (r"(?:one|)more", {"more"}),
        (r"(?:one)?", set()),
        (r"bugs?", {"bug"}),
        (r"bugs*|fix", {"bug", "fix"}),
        (r"bug|.*", set()),
        (r"b{0,2}ug", {"ug"}),
        (r"[sz]", set()),
        (r"synchroni[sz]e", {"synchroni"}),
        (r"(?=ahead)now", {"now"}),
        (r"(?!ahead)now", {"now"}),
        (r"(?<!behind)now", {"now"}),
        (r"\.py", {".py"}),
        (r"it\'s", {"it's"}),
        (r"{verb} i", {"run", "walk"}),
        (r"{anything}\w+", set()),
        (r"", set()),
    ],
)
def test_a_cue_is_in_whatever_the_pattern_matches(pattern, cue):
    macros = {"verb": frozenset({"run", "walk"}), "anything": frozenset[str]()}
    assert cue_of(pattern, macros) == cue


def test_an_index_names_the_patterns_in_their_order():
    index = index_of([frozenset({"two"}), frozenset(), frozenset({"one", "two"})])
    assert index.candidates("nothing here") == [1]
    assert index.candidates("ONE of them") == [1, 2]
    assert index.candidates("two") == [0, 1, 2]


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("a", ["a"]),
        ("a|b", ["a", "b"]),
        ("a(b|c)|d", ["a(b|c)", "d"]),
        (r"a\||[|)]|\(", [r"a\|", "[|)]", r"\("]),
        ("(a|(b|c))", ["(a|(b|c))"]),
    ],
)
def test_a_pattern_is_cut_at_its_top_level(pattern, parts):
    assert alternatives(pattern) == parts


@cache
def guide(language: str) -> Guide:
    return load_guide(language)


def known_sentences(language: str) -> list[str]:
    found = [
        sentence
        for path in SENTENCES.glob(f"sentences*.{language}.yml")
        for kinds in yaml.safe_load(path.read_text(encoding="utf-8")).values()
        for sentences in kinds.values()
        for sentence in sentences
    ]
    rules = guide(language).rules
    return found + [text for rule in rules for text in (*rule.matches, *rule.near_misses)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_pattern_that_matches_is_left_out(language):
    rules = guide(language)
    for sentence in known_sentences(language):
        found = set(rules.index.candidates(sentence))
        for number, (rule, pattern) in enumerate(rules.numbered):
            assert number in found or not pattern.regex.search(sentence), rule.id


@given(st.text(alphabet="abcAB|é\ue000", max_size=12))
def test_a_cue_of_plain_words_is_in_every_text_that_holds_one(text):
    index = index_of([cue_of("ab|bca|é", {})])
    holds = any(word in text.lower() for word in ("ab", "bca", "é"))
    assert bool(index.candidates(text)) == holds


def test_every_pattern_of_the_rules_has_a_cue():
    """One without is tried with every sentence: slow, and mostly a pattern that says too little."""
    for language in LANGUAGES:
        assert guide(language).index.always == ()
