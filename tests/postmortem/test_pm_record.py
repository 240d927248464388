"""Reading records: every fault named with its path and line, and nothing else changed."""

from __future__ import annotations

import pytest

from ciops.postmortem.record import Discovery, Escape
from postmortem.records import GONE, changed, read

FAULTS = {
    "unknown key with a near one": ({"root_casue": {}}, "root_casue", "unknown-key", "root_cause"),
    "unknown nested key": (
        {"validation__orignal_reproduction": {}},
        "validation.orignal_reproduction",
        "unknown-key",
        "original_reproduction",
    ),
    "unknown key far from any": ({"colour": "red"}, "colour", "unknown-key", "Known here"),
    "unknown key in a list": (
        {"action_items__0__onwer": "Bo"},
        "action_items[0].onwer",
        "unknown-key",
        "owner",
    ),
    "owner is text": ({"owner": "Priya"}, "owner", "wrong-type", "name, team"),
    "references is text": (
        {"fix__references": "acme/host#1"},
        "fix.references",
        "wrong-type",
        '["acme/host#1"]',
    ),
    "title is a number": ({"title": 42}, "title", "wrong-type", "'42'"),
    "summary is a list": ({"summary": ["a"]}, "summary", "wrong-type", "a list"),
    "summary is a flag": ({"summary": True}, "summary", "wrong-type", "true"),
    "not_tested is a list": (
        {"validation__not_tested": ["x"]},
        "validation.not_tested",
        "wrong-type",
        "text",
    ),
    "workloads is a mapping": (
        {"validation__workloads": {"name": "x"}},
        "validation.workloads",
        "wrong-type",
        "a list",
    ),
    "action items are text": ({"action_items": "none"}, "action_items", "wrong-type", "a list"),
    "an item is text": ({"action_items": ["x"]}, "action_items[0]", "wrong-type", "a mapping"),
    "an item is empty": ({"action_items": [None]}, "action_items[0]", "wrong-type", "a mapping"),
    "a reference is a number": (
        {"fix__references": [977]},
        "fix.references[0]",
        "wrong-type",
        "'977'",
    ),
    "revision is text": ({"revision": "two"}, "revision", "wrong-type", "whole number"),
    "revision is a flag": ({"revision": True}, "revision", "wrong-type", "whole number"),
    "revision is 0": ({"revision": 0}, "revision", "unknown-value", "1"),
    "rate is a fraction": ({"reproduction__rate": 0.5}, "reproduction.rate", "wrong-type", "'0.5'"),
    "kind unknown": ({"kind": "bugfix"}, "kind", "unknown-value", "bug-fix"),
    "language unknown": ({"language": "de"}, "language", "unknown-value", "en, ja, fr"),
    "outcome unknown": (
        {"reproduction__outcome": "sometimes"},
        "reproduction.outcome",
        "unknown-value",
        "deterministic",
    ),
    "status unknown": (
        {"root_cause__status": "probable"},
        "root_cause.status",
        "unknown-value",
        "identified",
    ),
    "cause unknown": (
        {"escape__cause": "human-error"},
        "escape.cause",
        "unknown-value",
        "no-good-reason",
    ),
    "one cause of a list unknown": (
        {"escape__cause": ["ci-gap", "bad-luck"]},
        "escape.cause[1]",
        "unknown-value",
        "latent-code",
    ),
    "result unknown": (
        {"validation__original_reproduction__result": "passed"},
        "validation.original_reproduction.result",
        "unknown-value",
        "pass",
    ),
    "item kind unknown": (
        {"action_items__0__kind": "test"},
        "action_items[0].kind",
        "unknown-value",
        "regression-test",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(name):
    changes, path, problem, words = FAULTS[name]
    faults = read(changed(**changes)).faults
    assert [(fault.path, fault.problem) for fault in faults] == [(path, problem)]
    assert words in faults[0].suggestion
    assert faults[0].line


def test_every_fault_is_named_at_once_in_the_order_of_lines():
    faults = read("titel: x\nowner: Priya\nrevision: two\nsummary: 7\n").faults
    assert [(fault.line, fault.path) for fault in faults] == [
        (1, "titel"),
        (2, "owner"),
        (3, "revision"),
        (4, "summary"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("ticket: A-1\nsummary: a: b\n", 2),
        ("ticket: A-1\nfix:\n\tchange: x\n", 3),
        ("ticket: A-1\nticket: A-2\n", 2),
        ('title: "open\n', 1),
        ("summary: @home\n", 1),
    ],
    ids=["colon", "tab", "duplicate key", "open quote", "reserved character"],
)
def test_a_yaml_fault_has_an_empty_path_and_its_line(text, line):
    reading = read(text)
    assert [(fault.path, fault.problem) for fault in reading.faults] == [("", "yaml-syntax")]
    assert reading.faults[0].line in (line, line + 1)
    assert reading.malformed


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just text\n"], ids=["empty", "list", "text"])
def test_a_file_that_is_no_mapping(text):
    faults = read(text).faults
    assert [fault.problem for fault in faults] == (["wrong-type"] if text else [])


@pytest.mark.parametrize(
    ("changes", "malformed"),
    [({"kind": "x"}, False), ({"owner": "x"}, True), ({"colour": "x"}, True), ({}, False)],
    ids=["unknown value", "wrong type", "unknown key", "none"],
)
def test_what_makes_a_record_malformed(changes, malformed):
    assert read(changed(**changes)).malformed is malformed


def test_null_and_blank_are_absent():
    record = read(changed(symptom=None, why_symptom="  \n", escape=None)).record
    assert (record.symptom, record.why_symptom, record.escape) == ("", "", Escape())
    assert record.discovery == Discovery()


def test_texts_are_kept_byte_for_byte():
    text = "  two leading spaces, a\ttab, trailing  \n\n  `x`\n"
    assert read(changed(summary=text)).record.summary == text


def test_a_measured_number_stays_as_it_is_written():
    row = '{metric: "p, 99", before: 1.90, after: 0o17}'
    text = f"validation:\n  performance:\n    - {row}\n"
    reading = read(text)
    assert reading.faults == ()
    assert reading.record.validation.performance[0].before == "1.90"
    assert reading.record.validation.performance[0].after == "0o17"


def test_one_cause_or_a_list_of_them():
    assert read(changed(escape__cause="ci-gap")).record.escape.causes == ("ci-gap",)
    both = read(changed(escape__cause=["ci-gap", "review-miss"])).record.escape.causes
    assert both == ("ci-gap", "review-miss")


def test_the_language_is_the_records_own_or_the_one_asked_for():
    from ciops.postmortem.record_reader import read_record

    assert read_record("language: fr\n", "r", "ja").record.language == "fr"
    assert read_record("title: x\n", "r", "ja").record.language == "ja"
    assert read_record("title: x\n", "r").record.language == "en"


@pytest.mark.parametrize(
    ("changes", "gone"),
    [
        ({"symptom": GONE}, {"symptom"}),
        ({"why_symptom": GONE}, {"why_symptom"}),
        ({"discovery": {"hypotheses": []}}, set()),
        ({"discovery": {"tools": "gdb"}, "escape": {"cause": "ci-gap"}}, set()),
    ],
    ids=["no symptom", "no why", "an empty discovery is none", "all nine"],
)
def test_sections_follow_what_the_record_has(changes, gone):
    sections = set(read(changed(**changes)).record.sections())
    always = {"summary", "symptom", "root_cause", "why_symptom", "fix", "validation"}
    assert always - gone <= sections
    assert not gone & sections
    assert ("discovery" in sections) is ("tools" in changes.get("discovery", {}))
