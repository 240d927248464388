"""The prose check: every rule on its own examples, and tables of sentences by their place."""

from __future__ import annotations

from functools import cache

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ciops.postmortem.blocks import parse_blocks
from ciops.postmortem.claims import Scope
from ciops.postmortem.prose import Finding, Prose, check, check_record, document_line
from ciops.postmortem.prose_rules import Guide, load_guide
from ciops.postmortem.prose_view import sentences
from postmortem.records import ROOT, changed, read

LANGUAGES = ("en", "ja", "fr")
SENTENCES = ROOT / "tests" / "data" / "postmortem"
# The persons that the rules' own examples speak of.
NAMES = {
    "en": ("Alex", "Priya", "Marek", "Tom", "Noor"),
    "ja": ("佐伯", "長谷", "Marek"),
    "fr": ("Hélène", "Yann", "Solène", "Idriss"),
}
# The persons of the tables, and what their records say was not tested.
TABLE_NAMES = {
    "en": ("Priya Nair", "Marek", "Lucía", "Grace", "Ines", "Ravi", "Dana"),
    "ja": ("佐伯", "江口", "Marek", "高木", "Nadia", "小林"),
    "fr": ("Hélène Caron", "Yann", "Solène", "Camille", "Bruno", "Karim"),
}
NOT_TESTED = {
    "en": "PyPy and zip-imported plugins were not retested.",
    "ja": "遠隔 GPU への振り分け経路では再テストしていません。Windows 版は再テストしていません。",
    "fr": "Les gammes K7 et K11 n'ont pas été retestées.",
}

EDGES = " ,;:、。：；"  # a phrase is shown without them


@cache
def guide(language: str) -> Guide:
    return load_guide(language)


def examples(wanted: str) -> list[tuple[str, str, str]]:
    return [
        (language, rule.id, sentence)
        for language in LANGUAGES
        for rule in guide(language).rules
        for sentence in getattr(rule, wanted)
    ]


def found_by_rule(language: str, rule_id: str, sentence: str) -> list[Finding]:
    rule = next(rule for rule in guide(language).rules if rule.id == rule_id)
    place = "mechanism" if "mechanism" in rule.places else sorted(rule.places)[0]
    prose = Prose(("field",), place, sentence.replace("{code}", "`x_y`"))
    return list(check([prose], NAMES[language], Scope(), guide(language)))


@pytest.mark.parametrize(("language", "rule", "sentence"), examples("matches"))
def test_a_rule_finds_what_it_says_it_finds(language, rule, sentence):
    kind = next(each.kind for each in guide(language).rules if each.id == rule)
    assert kind in {finding.kind for finding in found_by_rule(language, rule, sentence)}


@pytest.mark.parametrize(("language", "rule", "sentence"), examples("near_misses"))
def test_a_rule_lets_its_near_misses_pass(language, rule, sentence):
    assert found_by_rule(language, rule, sentence) == []


def table() -> list[tuple[str, str, str, str]]:
    rows = []
    for language in LANGUAGES:
        for path in sorted(SENTENCES.glob(f"sentences*.{language}.yml")):
            for place, kinds in yaml.safe_load(path.read_text(encoding="utf-8")).items():
                for kind, written in kinds.items():
                    rows += [(language, place, kind, sentence) for sentence in written]
    return rows


@pytest.mark.parametrize(("language", "place", "kind", "sentence"), table())
def test_a_sentence_in_its_place(language, place, kind, sentence):
    prose = Prose(("field",), place, sentence)
    scope = Scope("", NOT_TESTED[language])
    found = list(check([prose], TABLE_NAMES[language], scope, guide(language)))
    assert {each.kind for each in found} == (set() if kind == "clean" else {kind})
    assert all(each.phrase == each.phrase.strip(EDGES) for each in found)


def findings(**changes: object) -> list[tuple[str, str, str]]:
    record = read(changed(**changes)).record
    found = check_record(record, guide(record.language))
    return [(finding.kind, finding.field, finding.phrase) for finding in found]


@pytest.mark.parametrize(
    "text",
    [
        "`We believe` is printed.",
        "```\nWe believe it is stale.\n```",
        "    We believe it is stale.",
        "> We believe it is stale.",
        "The ticket says “we believe it is stale”.",
        'The ticket says "we believe it is stale".',
        "The ticket says 'we believe it is stale'.",
        "WARN we believe it is stale",
        "See https://example.com/we-believe-it.",
        "[the run](https://example.com/maybe)",
    ],
)
def test_code_quotes_logs_and_addresses_are_not_prose(text):
    assert findings(root_cause__mechanism=text) == []


def test_a_link_label_is_prose():
    mechanism = "[We believe](https://a.b) it is stale."
    assert findings(root_cause__mechanism=mechanism)[0][2] == "We believe"


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("We **believe** it is stale.", "We **believe"),
        ("We\nbelieve it is stale.", "We believe"),
        ("It is `x`, and we believe `y`.", "we believe"),
    ],
)
def test_a_phrase_is_the_authors_own_words(text, phrase):
    assert [found[2] for found in findings(root_cause__mechanism=text)] == [phrase]


def test_hypotheses_are_let_pass_and_what_confirmed_them_is_not():
    tried = [
        {"claim": "We believe it is the NIC.", "rejected_because": "It seems not."},
        {"claim": "We believe it is the page.", "confirmed_by": "It seems so."},
    ]
    assert findings(discovery={"hypotheses": tried, "notes": "Maybe the cache."}) == [
        ("hedge", "discovery.hypotheses[1].confirmed_by", "seems")
    ]


def test_a_claim_is_let_pass_where_it_was_rejected():
    claim = {"claim": "Ravi forgot to check the cache."}
    found = findings(
        owner={"name": "Ravi"},
        discovery={"hypotheses": [{**claim, "rejected_because": "Two logs say so."}, claim]},
    )
    assert found == [("blame", "discovery.hypotheses[1].claim", "Ravi forgot to")]


@pytest.mark.parametrize(
    ("summary", "kinds"),
    [
        ("We think we should rewrite the cache.", ["advocacy"]),
        ("We should rewrite the cache, I think.", ["advocacy"]),
        ("We think, we should rewrite the cache.", ["hedge", "advocacy"]),
        ("Perhaps the lock is stale, so we should rewrite the cache.", ["hedge", "advocacy"]),
    ],
)
def test_whose_opinion_a_proposal_is_is_no_hedge(summary, kinds):
    assert [kind for kind, _, _ in findings(summary=summary)] == kinds


@pytest.mark.parametrize(
    ("mechanism", "vague"),
    [
        ("A deadlock blocks both workers.", True),
        ("`a()` takes `l1` then `l2`, `b()` the reverse. The deadlock needs both.", False),
        ("A deadlock blocks both. `a()` takes `l1` then `l2`, `b()` the reverse.", False),
        ("A deadlock blocks `a()`, which waits for the lock.", False),
        ("A deadlock in `pool.cc`.", True),
        ("A locking problem: `a()` takes `l2` first.", False),
        ("`a()` and `b()` have a locking problem.", True),
        ("When `poll()` returns early a timing issue occurs.", True),
        ("When `poll()` returns before `wake()`, a timing issue occurs.", False),
    ],
)
def test_a_mechanism_is_vague_where_nothing_beside_it_names_code(mechanism, vague):
    kinds = [kind for kind, _, _ in findings(root_cause__mechanism=mechanism)]
    assert kinds == ["vague-mechanism"] * vague
    assert findings(why_symptom=mechanism) == []


def test_a_declared_hypothesis_is_for_its_gate_to_refuse():
    cause = {"status": "hypothesis", "mechanism": "We believe it wraps."}
    assert findings(root_cause=cause) == []


@pytest.mark.parametrize("owner", ["Ravi", "Ravi Patel", "@ravi"])
def test_the_subject_decides(owner):
    blamed = "Ravi should have checked the cache."
    assert findings(owner={"name": owner}, escape={"detail": blamed}) != []
    assert findings(owner={"name": owner}, escape={"detail": "CI should have caught it."}) == []


def test_a_name_inside_another_word_is_no_person():
    assert (
        findings(owner={"name": "長谷"}, language="ja", escape={"detail": "長谷部が忘れた。"}) == []
    )


def ran(result: str) -> dict[str, str]:
    return {"name": "echo", "result": result, "evidence": "Its queue drains on all platforms."}


@pytest.mark.parametrize(
    ("summary", "validation", "claims"),
    [
        ("Fixed on all platforms.", {}, True),
        ("Fixed on all three platforms.", {}, False),
        ("Fixed on all platforms.", {"other_configurations": ["all platforms"]}, False),
        ("Fixed on all platforms.", {"workloads": [ran("pass")]}, False),
        ("Fixed on all platforms.", {"workloads": [ran("not-run")]}, True),
        ("Fixed on all the nodes.", {"not_tested": "Other nodes were not retested."}, True),
        ("Fixed on all the nodes.", {"not_tested": "The docs were not checked."}, False),
        ("Fixed on Windows too.", {"not_tested": "Windows was not retested."}, True),
        ("Fixed on Linux too.", {"not_tested": "Windows was not retested."}, False),
        ("Fixed with Llama.", {"not_tested": "Models other than Llama were not retested."}, False),
        ("Fixed on 32 nodes.", {"not_tested": "32 nodes were not tested."}, True),
        ("Windows hung.", {"not_tested": "Windows was not retested."}, False),
        ("Fixed without any performance impact.", {}, True),
        (
            "Fixed without any performance impact.",
            {"performance": [{"metric": "p99", "before": "1 s", "after": "1 s"}]},
            False,
        ),
    ],
)
def test_a_claim_is_measured_against_what_was_tested(summary, validation, claims):
    tested = {"original_reproduction": {"result": "pass"}, **validation}
    found = findings(summary=summary, validation=tested)
    assert [kind for kind, field, _ in found if field == "summary"] == ["overclaim"] * claims


def test_two_claims_in_one_clause_are_one_finding():
    summary = "It is fixed on all platforms and for all users."
    assert [phrase for _, _, phrase in findings(summary=summary)] == [
        "on all platforms and for all users"
    ]


@pytest.mark.parametrize(
    ("summary", "phrases"),
    [
        ("It is probably maybe a stale lock.", ["probably maybe"]),
        ("It is probably, maybe, a stale lock.", ["probably", "maybe"]),
        ("It is probably stale, maybe.", ["probably", "maybe"]),
    ],
)
def test_words_of_one_kind_are_one_finding_where_they_touch(summary, phrases):
    assert [phrase for _, _, phrase in findings(summary=summary)] == phrases


def test_a_finding_is_placed_in_the_file():
    text = (
        "language: en\nroot_cause:\n  status: identified\n  mechanism: |\n    First line.\n\n"
        "    Here we\n    believe it wraps.\nsummary: >-\n  A line and\n  it probably wraps.\n"
    )
    reading = read(text)
    found = check_record(reading.record, guide("en"))
    assert [(each.field, document_line(each, reading.document)) for each in found] == [
        ("summary", 11),
        ("root_cause.mechanism", 7),
    ]


def test_the_same_words_twice_are_two_places():
    reading = read("language: en\nsummary: |\n  It probably wraps.\n\n  It probably wraps.\n")
    found = check_record(reading.record, guide("en"))
    assert [document_line(each, reading.document) for each in found] == [3, 5]


def test_a_finding_is_placed_though_the_file_has_fewer_lines_than_the_text():
    text = 'language: en\nsummary: "One.\\n\\nTwo.\\n\\nThree.\n  It probably wraps."\n' + "#\n" * 9
    reading = read(text)
    (found,) = check_record(reading.record, guide("en"))
    assert (found.line, document_line(found, reading.document)) == (4, 3)


def test_findings_come_in_the_order_of_the_record():
    found = findings(
        summary="It probably wraps.",
        root_cause__mechanism="It seems to wrap. Perhaps twice.",
        why_symptom="We think so.",
    )
    assert [field for _, field, _ in found] == [
        "summary",
        "root_cause.mechanism",
        "root_cause.mechanism",
        "why_symptom",
    ]


@given(st.text(alphabet="ab `*_~<>[]()!&\\#-+=|:;.\"'/é日1\u3000", max_size=20))
def test_a_line_alone_reads_as_it_does_behind_another_paragraph(text):
    """One line is read without a Markdown parser where it can be nothing but a paragraph."""
    alone, behind = sentences([text, f"Before.\n\n{text}"], guide("en"), None)
    assert [each.text for each in alone] == [each.text for each in behind[1:]]
    assert parse_blocks(text) == parse_blocks(f"Before.\n\n{text}")[1:]
