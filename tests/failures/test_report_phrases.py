"""Reasons and hypotheses said anew in another language, or left as they are."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from ciops.failures.report_chat import chat_text
from ciops.failures.report_csv import to_csv
from ciops.failures.report_json import to_json
from ciops.failures.report_phrases import FILE, Phrase, in_language, match, say_anew
from ciops.failures.report_words import FOLDER, LANGUAGES, words_of
from ciops.plumbing.yaml_file import Document, Plain, load
from failures.hostile_words import HOSTILE, poisoned
from failures.report_samples import usual

CONFIG = Path(__file__).parents[2] / "config" / "pipeline-failure-report"
OTHERS = [language for language in LANGUAGES if language != "en"]


def phrase(english: str, said: str) -> Phrase:
    pieces = re.split(r"\{(\w+)\}", english)
    return Phrase(tuple(pieces[::2]), tuple(pieces[1::2]), said)


KNOWN = (
    phrase("{reason}; the owner is an assumption", "{reason} (owner?)"),
    phrase("{error} comes out of {frame}: {text}", "{frame} -> {error} = {text}"),
    phrase("{what} ({path} of {repository})", "{repository}:{path} {what}"),
    phrase("too weak: {why}", "WEAK {why}"),
    phrase("a limit ({why}) was reached", "LIMIT {why}"),
    phrase("nothing", "NOTHING"),
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nothing", "NOTHING"),
        ("nothing at all", "nothing at all"),
        ("too weak: nothing", "WEAK NOTHING"),
        ("too weak: a b", "WEAK a b"),
        ("too weak: ", "too weak: "),
        ("too weak: nothing; the owner is an assumption", "WEAK NOTHING (owner?)"),
        ("E comes out of a.py:f: E: x: y", "a.py:f -> E = E: x: y"),
        ("f (x of y) failed (a.py of o/r)", "o/r:a.py f (x of y) failed"),
        ("a limit (nothing) was reached", "LIMIT NOTHING"),
        ("a limit () was reached", "a limit () was reached"),
        ("{why}", "{why}"),
        ("too weak: {why}", "WEAK {why}"),
        ("", ""),
        ("too weak: " + "x" * 2000, "too weak: " + "x" * 2000),
    ],
)
def test_a_sentence(text: str, said: str) -> None:
    assert say_anew(text, KNOWN) == said


def test_sentences_in_sentences_end() -> None:
    text = "too weak: " * 50 + "nothing"
    assert say_anew(text, KNOWN).startswith("WEAK WEAK WEAK WEAK")


def test_a_text_built_to_blow_up_a_pattern_is_read_in_no_time() -> None:
    many = phrase("{a} of {b} of {c} of {d} of {e} at {f}.", "x")
    text = " of " * 240 + "x"
    start = time.process_time()
    for _ in range(1000):
        match(many, text)
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize(
    ("language", "says"),
    [
        ("en", "Why: evidence too weak: the trace answers 404; the owner is an assumption"),
        (
            "fr",
            "Pourquoi\u00a0: preuves trop faibles\u00a0: la trace répond 404\u202f; le",
        ),
        ("ja", "理由：証拠不十分：トレースの応答は 404（オーナーは推定）"),
    ],
)
def test_the_report_says_reasons_in_its_language(language: str, says: str) -> None:
    assert says in chat_text(usual(), words_of(language))


AT = "(loom/a.py of loom/loom at 4be1d02, the default branch, as no commit is named"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"The error comes out of loom/a.py:f: E: (x, y) of z {AT})",
            "L'erreur vient de loom/a.py:f\u00a0: E: (x, y) of z (loom/a.py de loom/loom à "
            "4be1d02, la branche par défaut, faute de commit nommé)",
        ),
        (
            f"Shapes differ {AT}; changed since the last green run by c81d9a2 a, b, d00fbe3 c)",
            "Shapes differ (loom/a.py de loom/loom à 4be1d02, la branche par défaut, faute de "
            "commit nommé\u202f; modifié depuis la dernière exécution réussie par "
            "c81d9a2 a, b, d00fbe3 c)",
        ),
        (
            "The error comes out of a.py:f: no (not checked: nobody looked)",
            "L'erreur vient de a.py:f\u00a0: no (non vérifié\u00a0: personne n'a regardé)",
        ),
    ],
)
def test_a_hypothesis_in_french(text: str, said: str) -> None:
    report = replace(usual(), buckets=(replace(usual().buckets[0], hypothesis=text),))
    assert in_language(report, words_of("fr")).buckets[0].hypothesis == said


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_no_language_knows_stays(text: str) -> None:
    for language in LANGUAGES:
        assert in_language(poisoned(text), words_of(language)) == poisoned(text)


def test_data_stays_english() -> None:
    assert "evidence too weak: the trace answers 404" in to_json(usual())
    assert "nothing filed" not in to_csv(usual())


def sentences(language: str) -> dict[str, str]:
    data = load(FOLDER / language / FILE).data
    assert isinstance(data, dict)
    return {english: str(said) for english, said in data.items()}


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_knows_the_same_sentences(language: str) -> None:
    assert sentences(language).keys() == sentences(OTHERS[0]).keys()


@pytest.mark.parametrize("language", OTHERS)
def test_a_sentence_keeps_its_facts(language: str) -> None:
    for english, said in sentences(language).items():
        places = re.findall(r"\{(\w+)\}", english)
        assert sorted(re.findall(r"\{(\w+)\}", said)) == sorted(places), english
        assert len(set(places)) == len(places)
        assert not re.search(r"\}\{", english), "two facts need a text between them"


def said_by_rules(document: Document) -> list[str]:
    return list(_said(document.data))


def _said(value: Plain) -> list[str]:
    if isinstance(value, list):
        return [text for one in value for text in _said(one)]
    if not isinstance(value, dict):
        return []
    own = [str(value[key]) for key in ("reason", "hypothesis") if isinstance(value.get(key), str)]
    return own + [text for one in value.values() for text in _said(one)]


@pytest.mark.parametrize("language", OTHERS)
def test_most_sentences_of_the_rules_are_known(language: str) -> None:
    """English is shown for the rest: add it to phrases.yml when you can."""
    said = {text for path in CONFIG.glob("*.yml") for text in said_by_rules(load(path))}
    known = tuple(phrase(*pair) for pair in sentences(language).items())
    unknown = sorted(text for text in said if text and say_anew(text, known) == text)
    assert len(unknown) <= len(said) / 4, unknown
