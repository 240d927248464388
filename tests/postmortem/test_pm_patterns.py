"""Patterns of which a text is only tried with what can match it: none that can may be left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ciops.plumbing.pattern_reading import parsed, written
from ciops.postmortem.cues import index_of
from ciops.postmortem.patterns import macro, need_of, needs_of, specialised, text_of, within
from ciops.postmortem.prose_rules import Guide, Pattern, load_guide
from postmortem.records import ROOT

LANGUAGES = ("en", "ja", "fr")
SENTENCES = ROOT / "tests" / "data" / "postmortem"
MACROS = {"verb": macro(parsed("run|walk")), "anything": macro(parsed(r"\w+"))}


@pytest.mark.parametrize(
    ("pattern", "cue"),
    [
        (r"maybe", {"maybe"}),
        (r"\bMaybe\b", {"maybe"}),
        (r"may(?:be|not)", {"may"}),
        (r"a(?:longest|longer)", {"longest", "longer"}),
        (r"(?:one|two|three)", {"one", "two", "three"}),
        (r"(?:bugs?|leaks?)", {"bug", "leak"}),
        (r"(?:one|)more", {"more"}),
        (r"(?:one|o?)more", {"more"}),
        (r"(?:one)?", set()),
        (r"bugs?", {"bug"}),
        (r"bugs*", {"bug"}),
        (r"bugs+", {"bugs"}),
        (r"b{0,2}ug", {"ug"}),
        (r"[sz]", set()),
        (r"synchroni[sz]e", {"synchroni"}),
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
    assert set(need_of(parsed(pattern, MACROS)).pieces) == cue


@pytest.mark.parametrize(
    ("pattern", "text", "kept"),
    [
        ("a|b|c", "b", "b"),
        ("a|b", "c", None),
        ("(?:one|two|three) more", "two more", "(?:two) more"),
        ("(?:one|two|three) more", "four more", None),
        ("(?:one |two )?more", "more", "more"),
        ("(?:one |two )*more", "two more", "(?:two )*more"),
        ("(?:is (?:not )?|was )done", "it was done", "(?:was )done"),
        ("bugs?(?! (?:tracker|report))", "a bug", "bugs?"),
        ("bugs?(?! (?:tracker|report))", "a bug report", "bugs?(?! (?:report))"),
        ("(?<!no )bug", "a bug", "bug"),
        ("(?=more)m", "less m", None),
        ("(?P<what>a)?b", "b", "(?P<what>(?!))?b"),
        ("{verb}s", "He walks", "(?:walk)s"),
        ("{verb}s", "He sits", None),
        ("(?-i:A|B)c", "bc", "(?-i:B)c"),
        (r"a{2,3}\{b\}", "aa{b}", r"a{2,3}\{b\}"),
        ("[一-龥]+を", "鍵を読む", "[読鍵]+を"),
        ("[^一-龥]を", "鍵を", "[^鍵]を"),
        ("[^一-龥]を", "を", r"[\s\S]を"),
        ("[一-龥]を", "を", None),
        ("[一-龥]?を", "を", "を"),
        ("[A-Z一-龥.-]を", "鍵を", "[鍵A-Z.-]を"),
        ("[]一-龥]を", "鍵を", r"[鍵\]]を"),
        ("(?<![一-龥])を", "を", "を"),
    ],
)
def test_what_a_text_cannot_match_is_left_out(pattern, text, kept):
    assert specialised(parsed(pattern, MACROS), text_of(text)) == kept


@pytest.mark.parametrize("pattern", ["(?:a|b", "a)", "(?:a|b))", "(?i)a", "(?(1)a|b)", "[a", "a\\"])
def test_what_is_no_pattern_is_refused(pattern):
    with pytest.raises(re.error):
        re.compile(written(parsed(pattern)))


def test_a_pattern_can_be_used_where_it_is_written():
    assert within("[一-龥]{2,}|lock", "the page") is None
    found = within("[一-龥]{2,}|[ァ-ヶー]{3,}", "古い区画のキャッシュ")
    assert found
    assert found.findall("古い区画のキャッシュ") == ["区画", "キャッシュ"]


def test_an_index_names_the_patterns_in_their_order():
    index = index_of(needs_of(parsed(pattern)) for pattern in ("two", r"\d", "(?:one|two)"))
    assert index.candidates("nothing here") == [1]
    assert index.candidates("ONE of them") == [1, 2]
    assert index.candidates("two") == [0, 1, 2]


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


def patterns_of(rules: Guide) -> Iterator[Pattern]:
    yield from (pattern for _, pattern in rules.numbered)
    yield from (rules.log_lines, rules.bare_code, *rules.people, *rules.absolute.patterns)
    for group in (rules.exemptions, rules.before, rules.after, rules.claims):
        yield from group.values()


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_pattern_that_matches_is_left_out(language):
    rules = guide(language)
    for sentence in known_sentences(language):
        found = set(rules.index.candidates(sentence))
        for number, (rule, pattern) in enumerate(rules.numbered):
            assert number in found or not pattern.regex.search(sentence), rule.id


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_left_of_a_pattern_matches_what_the_whole_does(language):
    """A sentence that one pattern matches is a near miss of most others; each third will do."""
    patterns = list(patterns_of(guide(language)))
    for sentence in known_sentences(language)[::3]:
        for pattern in patterns:
            wanted = [match.span() for match in pattern.regex.finditer(sentence)]
            assert [match.span() for match in pattern.finditer(sentence)] == wanted, pattern.key


WRITTEN = st.recursive(
    st.sampled_from(
        ["a", "B", "ab", "c?", r"\w", "[ab]", "[一-龥]", "[^一-龥]", r"\u4e00", "一", ".", r"\b"]
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda each: f"(?:{'|'.join(each)})"),
        st.tuples(
            st.sampled_from(
                ["(?:{})?", "(?:{}){{0,2}}", "(?={})", "(?!{})", "(?-i:{})", "(?:{}|)"]
            ),
            inner,
        ).map(lambda each: each[0].format(each[1])),
    ),
    max_leaves=12,
)


@given(WRITTEN, st.text(alphabet="abcAB一鍵é ", max_size=12))
def test_any_pattern_matches_what_the_whole_does(pattern, text):
    tree = parsed(pattern)
    regex = re.compile(pattern, re.IGNORECASE)
    assert written(tree) == pattern
    wanted = [match.span() for match in regex.finditer(text)]
    source = specialised(tree, text_of(text))
    found = re.finditer(source, text, re.IGNORECASE) if source is not None else ()
    assert [match.span() for match in found] == wanted
    assert index_of([needs_of(tree)]).candidates(text) or not wanted


def test_every_pattern_of_the_rules_has_a_cue():
    """One without is tried with every sentence: slow, and mostly a pattern that says too little."""
    for language in LANGUAGES:
        assert guide(language).index.always == ()
