"""Words by what they mean, and sentences by what they say."""

from __future__ import annotations

import json

import pytest

from ciops.errors import UsageError
from ciops.plumbing.yaml_file import parse
from ciops.triage.lexicon import Lexicon, sentences_of
from ciops.triage.patterns import fold, words_of
from ciops.triage.policy_file import policy_of
from ciops.triage.sayings import SayingIndex
from triage.issue_making import CASES, POLICY_FILE, policy

CONCEPTS = {
    "not": ["not", "no", "never", "isn't", "without"],
    "value": ["gradient*", "loss", "rows", "勾配", "state dict"],
    "same": ["same", "equal"],
    "differs": ["differ", "differs"],
    "property": ["shape", "function"],
    "keeps": ["returns", "has"],
    "hang": ["hangs", "hang"],
    "moves_on": [],
    "ranks": ["every rank", "ranks"],
}
LEXICON = Lexicon(
    CONCEPTS,
    {"same": "differs", "hang": "moves_on"},
    {"value": "property"},
    ["but", "and"],
)


def concepts(text):
    """What each word with a meaning is, without the negators."""
    told = (
        {name for name in CONCEPTS if token.concepts & LEXICON.bits([name])}
        for token in LEXICON.read(text.lower())
    )
    return [names for names in told if names - {"not"}]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("the gradients are equal", [{"value"}, {"same"}], id="a stem, a word"),
        pytest.param("they aren't: the rows", [{"value"}], id="what no list has"),
        pytest.param("gradients not equal", [{"value"}, {"differs"}], id="a negator turns"),
        pytest.param("not at all equal", [{"differs"}], id="from some words away"),
        pytest.param("no error, all equal", [{"same"}], id="not over a comma"),
        pytest.param("not here but equal", [{"same"}], id="not over a new clause"),
        pytest.param("it never hangs", [{"moves_on"}], id="a denied failure"),
        pytest.param("the loss function differs", [{"property"}, {"differs"}], id="qualifies only"),
        pytest.param("loss, shape", [{"value"}, {"property"}], id="qualifies not over a comma"),
        pytest.param("the state dict", [{"value"}], id="several words"),
        pytest.param("state. dict", [], id="several words of one sentence"),
        pytest.param("p.gradient", [{"value"}], id="a dotted name is its last part"),
        pytest.param("ランク毎の勾配が", [{"value"}], id="inside running text"),
        pytest.param("see https://x.y/loss", [], id="not in a link"),
    ],
)
def test_words_have_meanings(text, found):
    assert concepts(text) == found


@pytest.mark.parametrize(
    ("text", "several"), [("1", False), ("2", True), ("2.5", True), ("1.0", False), ("x2", None)]
)
def test_a_number_is_one_or_several(text, several):
    tokens = LEXICON.read(text)
    assert [bool(x.concepts & LEXICON.bits(["several"])) for x in tokens] == (
        [] if several is None else [several]
    )


def found_by(saying, text, without=()):
    index = SayingIndex(LEXICON)
    index.add(7, [saying], without, frozenset({"prose"}))
    return [text[x.start : x.end] for x in index.find(text.lower(), "prose")]


@pytest.mark.parametrize(
    ("saying", "text", "found"),
    [
        pytest.param("value", "The loss", ["loss"], id="one word"),
        pytest.param("value + same", "loss equal", ["loss equal"], id="side by side"),
        pytest.param("value + same", "loss is equal", [], id="not side by side"),
        pytest.param("value same", "loss is all equal", ["loss is all equal"], id="two between"),
        pytest.param("value same", "loss is at last quite equal", [], id="too many between"),
        pytest.param("value same", "loss, then equal", [], id="close ones share a clause"),
        pytest.param("value .. same", "loss, then equal", ["loss, then equal"], id="a sentence"),
        pytest.param("value .. same", "Loss. Equal.", [], id="another sentence"),
        pytest.param("value ~ same", "loss a b c d e f g equal", ["loss a b c d e f g equal"],
                     id="all of a clause"),
        pytest.param("value ~ same", "loss a b, equal", [], id="only of the clause"),
        pytest.param("value ... same", "loss a b c d e f g, equal",
                     ["loss a b c d e f g, equal"], id="all of a sentence"),
        pytest.param("same|differs .. value", "equal rows", ["equal rows"], id="one of several"),
        pytest.param("value .. differs", "rows are not equal", ["rows are not equal"], id="turned"),
        pytest.param("value .. same", "rows are not equal", [], id="what was turned is gone"),
        pytest.param("value value", "loss loss", ["loss loss"], id="the same twice"),
        pytest.param("hang", "it never hangs", [], id="a denied failure is none"),
    ],
)  # fmt: skip
def test_a_sentence_says_what_its_words_mean_in_a_row(saying, text, found):
    assert found_by(saying, text) == found


def test_what_must_not_be_said_is_looked_for_in_its_clauses():
    assert found_by("value .. differs", "the loss differs", ["property"])
    assert not found_by("value .. differs", "the loss differs in shape", ["property"])
    assert found_by("value .. differs", "the loss differs, shape is right", ["property"])


def test_a_saying_counts_only_in_its_zones():
    index = SayingIndex(LEXICON)
    index.add(7, ["value"], (), frozenset({"title"}))
    assert not list(index.find("loss", "prose"))
    assert list(index.find("loss", "title"))


def test_a_long_line_is_walked_once():
    text = "loss is not equal " * 4000
    assert len(found_by("value .. differs", text)) <= 6


HARD = [
    "It isn't. Not.", "See https://x.y/a. Loss?", "a._b is it. c", "v2.5 and 2v3, 8gpus", "v-5 2v",
    "no loss!? Then. ", 'He said "no." - so', "x - - y -- z", "勾配が異なる。 loss", "1.5x. 2.",
    "?", "https://" + "a" * 400 + "loss not equal", "the state dict. dict",
    "p.gradient isn’t the same",
]  # fmt: skip


def lines():
    """Lines of the cases, and ones made to be read wrongly."""
    bodies = (json.loads(path.read_text("utf-8"))["issue"]["body"] for path in CASES.glob("*"))
    return [*HARD, *(fold(line[:1000]) for body in bodies if body for line in body.splitlines())]


@pytest.mark.parametrize("lexicon", [LEXICON, policy().sayings.lexicon], ids=["small", "shipped"])
def test_a_line_read_by_its_sentences_has_the_same_words(lexicon):
    for line in lines():
        parts = [
            (start + token.start, start + token.end, token.concepts)
            for start, end in sentences_of(line)
            for token in lexicon.read(line[start:end])
        ]
        assert parts == [(x.start, x.end, x.concepts) for x in lexicon.read(line)], line


@pytest.mark.parametrize("lexicon", [LEXICON, policy().sayings.lexicon], ids=["small", "shipped"])
def test_no_concept_of_a_line_is_lost_by_the_quick_look(lexicon):
    for line in lines():
        may_have = lexicon.hints.may_have(line, words_of(line))
        assert all(token.concepts & may_have == token.concepts for token in lexicon.read(line)), (
            line
        )


@pytest.mark.parametrize(
    ("text", "may"),
    [
        pytest.param("a dict of its state", True, id="both words of a row"),
        pytest.param("a state of things", False, id="one of them"),
        pytest.param("a gradual loss", True, id="a word"),
        pytest.param("a gradual dict", False, id="none"),
    ],
)
def test_the_quick_look_leaves_out_what_no_word_tells(text, may):
    assert bool(LEXICON.hints.may_have(text, words_of(text)) & LEXICON.bits(["value"])) is may


def policy_with(change):
    text = POLICY_FILE.read_text(encoding="utf-8")
    old, new = change
    assert old in text
    return policy_of(parse(text.replace(old, new, 1), "policy.yml"))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            ("- 'value lost'", "- 'valeu lost'"),
            r'there is no concept "valeu".*Did you mean "value"',
        ),
        (("opposites: {same: differs", "opposites: {same: difers"), r"difers.*differs"),
        (("by: maintainer", "by: maintainers"), r"maintainers.*maintainer"),
    ],
)
def test_a_word_that_no_list_has_is_refused(change, told):
    with pytest.raises(UsageError, match=f"(?s){told}"):
        policy_with(change)


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("rank 3 prints 7", 1),
        ("rank 3, 7", 1),
        ("3 ranks print 7", 2),
        ("rank: 3", 1),
    ],
)
def test_a_number_right_after_what_it_numbers_only_says_which(text, figures):
    words = {"ordinal": ["rank"], "keeps": ["prints", "print"]}
    lexicon = Lexicon(words, {}, {}, labels={"number": "ordinal", "several": "ordinal"})
    number = lexicon.bits(["number"])
    assert sum(token.concepts & number != 0 for token in lexicon.read(text)) == figures
