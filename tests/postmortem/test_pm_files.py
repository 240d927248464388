"""The data that ships: schemas hold it, languages have the same keys, and goldens show it.

Goldens are written anew by

    GOLDEN=write .venv/bin/python -m pytest tests/postmortem/test_pm_files.py -k golden
"""

from __future__ import annotations

import json
import os
import re
from argparse import Namespace
from pathlib import Path

import pytest
import yaml
from jsonschema import validators

from ciops.errors import UsageError
from ciops.plumbing.schema_check import schema_problems
from ciops.plumbing.yaml_file import load, parse
from ciops.postmortem.claims import Scope
from ciops.postmortem.destinations import DESTINATIONS
from ciops.postmortem.destinations.contract import Target, Visibility
from ciops.postmortem.document import build
from ciops.postmortem.examination import examine
from ciops.postmortem.prose import Prose, check
from ciops.postmortem.prose_rules import load_guide
from ciops.postmortem.record_reader import read_record
from ciops.postmortem.references import Links
from ciops.postmortem.sections import load_names
from ciops.postmortem.settings import DEFAULT, load_settings, read_settings
from ciops.postmortem.wording import load_words
from postmortem.records import GONE, NUMBERS, ROOT, case, changed

CONFIG = ROOT / "config" / "post-mortem-render"
MESSAGES = ROOT / "templates" / "post-mortem-render"
GOLDEN = ROOT / "tests" / "golden" / "postmortem"
LANGUAGES = ("en", "ja", "fr")
EXAMPLES = {
    "en": ROOT / "examples" / "post-mortem.yml",
    "ja": ROOT / "examples" / "post-mortem.ja.yml",
}
SCHEMAS = {
    "settings.yml": "settings.schema.json",
    "sections.yml": "sections.schema.json",
    "prose.yml": "prose.schema.json",
    **{f"prose.{language}.yml": "prose-rules.schema.json" for language in LANGUAGES},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_configuration_keeps_its_schema(name):
    assert schema_problems(load(CONFIG / name), CONFIG / SCHEMAS[name]) == []


@pytest.mark.parametrize("path", sorted(CONFIG.glob("*.schema.json")), ids=lambda path: path.name)
def test_a_schema_is_one(path):
    schema = json.loads(path.read_text(encoding="utf-8"))
    validators.validator_for(schema).check_schema(schema)


def test_the_adf_schema_is_atlassians_own():
    shipped = (CONFIG / "adf.schema.json").read_bytes()
    assert shipped == (ROOT / "tests" / "contract" / "adf-schema.json").read_bytes()


def record_problems(text: str) -> list[str]:
    return schema_problems(parse(text, "record.yml"), CONFIG / "record.schema.json")


@pytest.mark.parametrize("number", NUMBERS)
def test_the_published_schema_and_the_reader_agree_on_the_handed_records(number):
    text, _ = case(number)
    assert bool(record_problems(text)) is bool(read_record(text, "r").faults)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"colour": "red"},
        {"owner": "Priya"},
        {"kind": "x"},
        {"language": None},
        {"fix__references": "a#1"},
        {"revision": "2"},
        {"revision": 0},
        {"escape__cause": ["ci-gap", "x"]},
        {"escape__cause": None},
        {"validation__workloads": None},
        {"validation__performance": [{"metric": "m", "before": 1.5, "after": 2}]},
        {"action_items__0__kind": None},
        {"action_items__0__what": 7},
        {"action_items": [None]},
        {"reproduction": []},
        {"discovery__hypotheses": [{"claim": "x", "because": "y"}]},
        {"symptom": None},
    ],
    ids=str,
)
def test_the_published_schema_and_the_reader_agree(changes):
    text = yaml.safe_dump(changed(**changes))
    assert bool(record_problems(text)) is bool(read_record(text, "r").faults)


@pytest.mark.parametrize("path", ["title", "summary", "fix__change", "kind", "owner"])
def test_the_published_schema_asks_for_what_is_always_required(path):
    assert record_problems(yaml.safe_dump(changed(**{path: GONE})))


def test_every_language_says_the_same_things():
    keys = {language: load_words(language).sentences for language in LANGUAGES}
    places = re.compile(r"\{[a-z_]+\}")
    for language in LANGUAGES:
        assert set(keys[language]) == set(keys["en"])
        for key, sentence in keys[language].items():
            assert sorted(places.findall(sentence)) == sorted(places.findall(keys["en"][key])), key


def test_french_sentences_have_their_spaces():
    for key, sentence in load_words("fr").sentences.items():
        if key.startswith("guide."):
            continue  # comments in a YAML file
        assert not re.search(r"(?<![\u202f\s(«/])[;!?](?=\s|$)", sentence), key
        assert not re.search(r"[^\u00a0\s]: |[^\u00a0]:$", sentence.replace("OWNER/REPO", "")), key
        assert not re.search(r"«(?!\u00a0)|(?<!\u00a0)»", sentence), key


def test_the_fixed_sentence_is_the_sources():
    assert load_words("ja").say("action_items.none") == (
        "なし — 修正で十分であり、この種のバグに関するフォローアップは不要です。"
    )


def test_facts_in_a_sentence_are_not_read_again():
    said = load_words("en").say("title.before", ticket="{name} {0}")
    assert said == "Post-mortem {name} {0}: "


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("minimum_rate: sometimes", "1/2"),
        ("minimum_rate: 0/2", "more than 0"),
        ("failing: ['(']", "not a regular expression"),
        ("links: {forge: bitbucket}", "bitbucket"),
        ("colour: red", "colour"),
    ],
)
def test_a_mistake_in_the_settings_is_named(change, words):
    text = (CONFIG / "settings.yml").read_text(encoding="utf-8")
    key = change.split(":")[0]
    kept = re.sub(rf"^{key}:(?:.*\n)(?:[ \n#].*\n|\n)*", "", text, flags=re.MULTILINE)
    with pytest.raises(UsageError, match=re.escape(words)):
        read_settings(parse(f"{kept}\n{change}\n", "settings.yml"))


def test_rules_have_names_of_their_own():
    for language in LANGUAGES:
        names = [rule.id for rule in load_guide(language).rules]
        assert len(set(names)) == len(names)
        assert all(name.startswith(f"{language}-") for name in names)


@pytest.mark.parametrize(
    ("written", "put", "words"),
    [
        ("unless: [verdict]", "unless: [verdcit]", 'Did you mean "verdict"?'),
        ("kind: hedge", "kind: hegde", 'Did you mean "hedge"?'),
        ("near_misses:", "near_mises:", 'Did you mean "near_misses"?'),
        (r"\bmaybe\b", r"\bmaybe(?=\b", "re: not a regular expression: missing )"),
        (r"{subject}{then}{adv}", "{sbject}", "there is no macro {sbject}"),
        ("  adv: |-", "  ad: |-", "there is no macro {adv}"),
    ],
)
def test_a_mistake_in_the_rules_is_named(tmp_path, written, put, words):
    rules_with(tmp_path, written, put)
    with pytest.raises(UsageError, match=re.escape(words)):
        load_guide("en", tmp_path)


def test_what_a_rule_finds_is_words_and_not_the_marks_around_them(tmp_path):
    rules_with(tmp_path, r"\bmaybe\b", r"\s*,(?: wraps)?\s*")
    rules = load_guide("en", tmp_path)
    checked = [Prose(("summary",), "summary", "Here, there, wraps.")]
    found = list(check(checked, (), Scope(), rules))
    assert [finding.phrase for finding in found] == ["wraps"]


def test_a_rule_that_is_no_regular_expression_is_named_when_it_is_first_needed(tmp_path):
    rules_with(tmp_path, r"\bmaybe\b", r"\bmay++++be\b")
    rules = load_guide("en", tmp_path)
    checked = [Prose(("summary",), "summary", "Maybe it wraps.")]
    with pytest.raises(UsageError, match=r"prose.en.yml:[0-9]+: rules.*not a regular expression"):
        list(check(checked, (), Scope(), rules))


@pytest.mark.parametrize(
    ("mechanism", "found"),
    [
        ("We ponder twice, thrice.", ["We ponder twice, thrice"]),
        ("We chew on the lock.", ["We chew on"]),
        ("We ponder twice.", []),
    ],
)
def test_a_class_is_words_between_commas_of_which_those_in_brackets_are_none(
    tmp_path, mechanism, found
):
    rules_with(tmp_path, "  opine: >-\n", "  opine: >-\n    ponder (?:twice, thrice), chew on,\n")
    checked = [Prose(("mechanism",), "mechanism", mechanism)]
    findings = check(checked, (), Scope(), load_guide("en", tmp_path))
    assert [each.phrase for each in findings] == found


def test_every_pattern_is_a_regular_expression():
    for language in LANGUAGES:
        rules = load_guide(language)
        alone = (rules.log_lines, rules.bare_code, *rules.people)
        groups = (rules.exemptions, rules.before, rules.after, rules.later, rules.claims)
        named = [pattern for group in groups for pattern in group.values()]
        numbered = [pattern for _, pattern in rules.numbered]
        for pattern in (*alone, *named, *rules.absolute.patterns, *numbered):
            assert pattern.regex


def rules_with(folder: Path, written: str, put: str) -> None:
    """The rules of English in a folder of their own, with something else in one place."""
    for name in ("prose.yml", "prose.en.yml"):
        text = (CONFIG / name).read_text(encoding="utf-8")
        assert name != "prose.en.yml" or written in text
        text = text.replace(written, put, 1) if name == "prose.en.yml" else text
        (folder / name).write_text(text, encoding="utf-8")


def test_the_sections_are_named_in_every_language():
    names = load_names()
    assert len(set(names.section_of.values())) == 9


@pytest.mark.parametrize("language", EXAMPLES)
def test_an_example_renders_without_a_word_to_change(language):
    options = _options(EXAMPLES[language])
    examination = examine(options)
    assert examination.decision.verdict == "render"
    assert examination.warnings == ()


def _options(path: Path) -> Namespace:
    return Namespace(record=path, language="en", settings=DEFAULT, confirm_bug_fix=False)


def golden_of(language: str, name: str) -> str:
    examination = examine(_options(EXAMPLES[language]))
    links = Links(jira="https://tada.atlassian.example")
    document = build(examination.record, examination.words, links)
    target = Target("JIRA-12345", links.jira, Visibility("role", "Developers"))
    text = DESTINATIONS[name].render(document, target)
    return text if text.endswith("\n") else f"{text}\n"


def golden_path(language: str, name: str) -> Path:
    ending = {"jira": "json", "jira-server": "json", "wiki": "wiki"}.get(name, "md")
    return GOLDEN / f"{name}.{language}.{ending}"


@pytest.mark.parametrize("name", DESTINATIONS)
@pytest.mark.parametrize("language", EXAMPLES)
def test_a_destination_looks_like_its_golden(language, name):
    path = golden_path(language, name)
    if os.environ.get("GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(golden_of(language, name), encoding="utf-8")
    assert golden_of(language, name) == path.read_text(encoding="utf-8")


def test_the_settings_load():
    assert load_settings().minimum_rate == (1, 2)
