"""The words of the report: the same keys and facts in every language, numbers and plurals right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ciops.failures import report_model as model
from ciops.failures.report_words import FOLDER, LANGUAGES, words_of
from ciops.plumbing.rendering import Templates

SOURCES = [
    *(Path(__file__).parents[2] / "scripts/ciops/failures").glob("report_*.py"),
    *FOLDER.glob("*.j2"),
    *FOLDER.glob("*.js"),
]
FORM = re.compile(r"\.(?:one|other)$")


def own(language: str) -> dict[str, str]:
    """The messages of one language without those of the fallback."""
    return Templates(FOLDER, language, fallback=language).messages


def keys(language: str) -> set[str]:
    return {FORM.sub("", key) for key in own(language)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_keys(language: str) -> None:
    assert keys(language) == keys("en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_says_something_and_holds_the_same_facts(language: str) -> None:
    english = own("en")
    for key, text in own(language).items():
        base = FORM.sub("", key)
        there = english.get(key) or english.get(f"{base}.other", "")
        assert text.strip() or key == "report.between-sentences"
        assert set(re.findall(r"\{(\w+)\}", text)) == set(re.findall(r"\{(\w+)\}", there)), key


@pytest.mark.parametrize(("language", "forms"), [("en", 2), ("fr", 2), ("ja", 1)])
def test_a_counted_message_has_the_forms_of_its_language(language: str, forms: int) -> None:
    counted: dict[str, int] = {}
    for key in own(language):
        if FORM.search(key):
            counted[FORM.sub("", key)] = counted.get(FORM.sub("", key), 0) + 1
    assert counted
    assert set(counted.values()) == {forms}


def test_every_message_is_used() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    chosen_by_value = ("blocker.", "outcome.", "remark.", "status.", "code.")
    unused = [
        key
        for key in keys("en")
        if not key.startswith(chosen_by_value) and f'"{key}"' not in code
        if not (key.startswith("label.") and f'item("{key.removeprefix("label.")}"' in code)
    ]
    assert unused == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_value_of_the_model_has_its_word(language: str) -> None:
    words = words_of(language)
    for name in model.BLOCKERS:
        assert words.known("blocker", name) != name or language == "en"
    named = [
        *(f"blocker.{name.replace(' ', '-')}" for name in model.BLOCKERS),
        *(f"outcome.{name}" for name in (model.FILED, model.EXISTING, model.PLANNED)),
        *(f"remark.{kind}" for kind in model.REMARKS),
        *(f"code.{source}" for source in model.COMMIT_SOURCES),
        *(f"status.{status}" for status in (model.ACTIONABLE, model.ISSUE_ONLY)),
    ]
    assert [key for key in named if key not in own(language)] == []


@pytest.mark.parametrize("name", model.BLOCKERS)
def test_english_blockers_are_those_of_the_data(name: str) -> None:
    assert words_of("en").known("blocker", name) == name


@pytest.mark.parametrize(
    ("language", "n", "said"),
    [
        ("en", 0, "0 failed jobs"),
        ("en", 1, "1 failed job"),
        ("en", 2, "2 failed jobs"),
        ("en", 1234, "1,234 failed jobs"),
        ("en", 1234567, "1,234,567 failed jobs"),
        ("fr", 0, "0 job en échec"),
        ("fr", 1, "1 job en échec"),
        ("fr", 2, "2 jobs en échec"),
        ("fr", 1234567, "1\u202f234\u202f567 jobs en échec"),
        ("ja", 0, "失敗ジョブ 0 件"),
        ("ja", 1, "失敗ジョブ 1 件"),
        ("ja", 1234, "失敗ジョブ 1,234 件"),
    ],
)
def test_numbers_and_plurals(language: str, n: int, said: str) -> None:
    assert words_of(language).say("count.failed-jobs", n) == said


@pytest.mark.parametrize(
    ("asked", "language"),
    [
        ("fr", "fr"),
        ("fr-CA", "fr"),
        ("ja_JP.UTF-8", "ja"),
        ("de", "en"),
        ("", "en"),
        ("../x", "en"),
    ],
)
def test_the_language_or_english(asked: str, language: str) -> None:
    assert words_of(asked).language == language


def test_a_word_that_no_language_knows_stays() -> None:
    assert words_of("fr").known("blocker", "somebody is on holiday") == "somebody is on holiday"


def test_facts_are_never_read_as_messages() -> None:
    said = words_of("en").say("report.labelled", label="{text}", text="{label}")
    assert said == "{text}: {label}"


def test_french_spacing() -> None:
    """U+00A0 before a colon, U+202F before ; ! ?, and no plain space before any of them."""
    for key, text in own("fr").items():
        assert not re.search(r"(?<! /) [:;!?](?=\s|$)", text), key
        assert not re.search(r"\u00a0[;!?]|\u202f:", text), key
        assert not re.search(r"[^\s\u00a0\u202f\d/:][:;!?](?=\s|$)", text), key


def test_japanese_punctuation() -> None:
    for key, text in own("ja").items():
        assert not re.search(r"[\u3040-\u30ff\u4e00-\u9fff][:;,()!?]", text), key
