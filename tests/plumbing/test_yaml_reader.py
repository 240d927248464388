"""Typed access for loaders, and the sentence for every mistake."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ciops.plumbing.schema_check import schema_problems
from ciops.plumbing.yaml_file import (
    DocumentError,
    Reader,
    key_path,
    nearest,
    parse,
    shown,
)

TEXT = """\
name: pytorch
version: 1.10
enabled: yes
strict: true
limit: 3
share: 0.5
rules:
  - id: a
    weigth: 2
    zones: [title, bdoy]
    tags: one
  - id: 2024
    none: ~
owners:
  alice: {team: core}
  bob: {team: infra}
"""


def reader(text: str = TEXT) -> Reader:
    return Reader(parse(text, "p.yml"))


def rule(index: int) -> Reader:
    return reader().items("rules")[index]


def test_values() -> None:
    top = reader()
    assert top.text("name") == "pytorch"
    assert top.flag("strict") is True
    assert top.integer("limit") == 3
    assert top.number("limit") == 3
    assert top.number("share") == 0.5
    assert top.choice("name", ["pytorch", "vllm"]) == "pytorch"
    assert rule(0).texts("zones") == ("title", "bdoy")
    assert [(name, entry.text("team")) for name, entry in top.entries("owners")] == [
        ("alice", "core"),
        ("bob", "infra"),
    ]
    assert top.child("owners").child("bob").text("team") == "infra"
    assert top.has("name")
    assert not rule(1).has("none")


def test_defaults_stand_for_missing_and_null() -> None:
    top = reader("a: ~\n")
    for key in ("a", "absent"):
        assert top.text(key, None) is None
        assert top.text(key, "x") == "x"
        assert top.flag(key, False) is False
        assert top.integer(key, 7) == 7
        assert top.texts(key, ()) == ()
        assert top.choice(key, ["x"], "y") == "y"
        assert top.choices(key, ["x"], ()) == ()
        assert top.items(key) == []
        assert top.entries(key) == []
        assert top.child(key).text("b", "c") == "c"


def test_a_reader_of_a_place_in_the_document() -> None:
    inner = Reader(parse(TEXT, "p.yml"), ("rules", 0))
    assert inner.text("id") == "a"
    assert str(inner.error("is odd")) == "p.yml:8: rules[0]: is odd"


MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "unknown key": (
        lambda: rule(0).mapping({"id", "weight", "zones", "tags"}),
        'p.yml:9: rules[0].weigth: unknown key "weigth". Did you mean "weight"?',
    ),
    "far from any key": (
        lambda: rule(0).mapping({"id", "zones", "tags"}),
        'p.yml:9: rules[0].weigth: unknown key "weigth". Known are: id, tags, zones',
    ),
    "missing key": (lambda: rule(1).text("facet"), 'p.yml:12: rules[1]: key "facet" is missing'),
    "null for text": (lambda: rule(1).text("none"), 'p.yml:12: rules[1]: key "none" is missing'),
    "number for text": (
        lambda: reader().text("version"),
        "p.yml:2: version: expected text, found 1.1. Put it in quotes: '1.10'",
    ),
    "date-like number for text": (
        lambda: rule(1).text("id"),
        "p.yml:12: rules[1].id: expected text, found 2024. Put it in quotes: '2024'",
    ),
    "yes for a flag": (
        lambda: reader().flag("enabled"),
        'p.yml:3: enabled: expected true or false, found "yes". Write true or false',
    ),
    "flag for a number": (
        lambda: reader().integer("strict"),
        "p.yml:4: strict: expected a whole number, found true",
    ),
    "fraction for a whole number": (
        lambda: reader().integer("share"),
        "p.yml:6: share: expected a whole number, found 0.5",
    ),
    "infinity": (
        lambda: reader("a: .inf\n").number("a"),
        "p.yml:1: a: expected a finite number, found inf",
    ),
    "text for a list": (
        lambda: rule(0).texts("tags"),
        'p.yml:11: rules[0].tags: expected a list of texts, found "one". '
        'Write it as a list: ["one"]',
    ),
    "mapping in a list of texts": (
        lambda: reader().texts("rules"),
        "p.yml:8: rules[0]: expected text, found a mapping",
    ),
    "list for a mapping": (
        lambda: reader().child("rules"),
        "p.yml:7: rules: expected a mapping, found a list. Write it as keys with values",
    ),
    "mapping for a list": (
        lambda: reader().items("owners"),
        "p.yml:14: owners: expected a list, found a mapping",
    ),
    "text for the whole": (
        lambda: reader("just words\n").mapping({"a"}),
        'p.yml:1: expected a mapping, found "just words". Write it as keys with values',
    ),
    "unknown value": (
        lambda: reader().choice("name", ["pytorhc", "vllm"]),
        'p.yml:1: name: unknown value "pytorch". Did you mean "pytorhc"?',
    ),
    "unknown value in a list": (
        lambda: rule(0).choices("zones", ["title", "body"]),
        'p.yml:10: rules[0].zones[1]: unknown value "bdoy". Did you mean "body"?',
    ),
}


@pytest.mark.parametrize(("read", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(read: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read()
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("word", "choices", "found"),
    [
        ("weigth", ["weight", "height"], "weight"),
        ("ZONES", ["zones"], "zones"),
        ("xyz", ["weight"], None),
        ("", ["weight"], None),
        ("weight", [], None),
    ],
)
def test_the_nearest_word(word: str, choices: list[str], found: str | None) -> None:
    assert nearest(word, choices) == found


@pytest.mark.parametrize(
    ("path", "text"),
    [((), ""), (("a",), "a"), (("a", 3, "b"), "a[3].b"), ((0, "b"), "[0].b")],
)
def test_key_paths(path: tuple[str | int, ...], text: str) -> None:
    assert key_path(path) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", '"a"'),
        ("a\nb\x1b", '"a\ufffdb\ufffd"'),
        ("x" * 70, '"' + "x" * 60 + '…"'),
        (None, "nothing"),
        (True, "true"),
        ([1], "a list"),
        ({}, "a mapping"),
        (1.5, "1.5"),
    ],
)
def test_values_in_messages(value: object, text: str) -> None:
    assert shown(value) == text


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "mode": {"enum": ["strict", "loose"]},
        "rules": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "weight": {"minimum": 1}},
                "required": ["id"],
                "additionalProperties": False,
            },
        },
        "either": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
    },
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("name: x\nrules: [{id: a, weight: 1}]\n", []),
        ("name: 3\n", ["p.yml:1: name: 3 is not of type 'string'"]),
        ("nmae: x\n", ['p.yml:1: nmae: unknown key "nmae". Did you mean "name"?']),
        ("mode: strct\n", ['p.yml:1: mode: unknown value "strct". Did you mean "strict"?']),
        (
            "name: x\nrules:\n  - id: a\n    wieght: 2\n  - weight: 0\n",
            [
                'p.yml:4: rules[0].wieght: unknown key "wieght". Did you mean "weight"?',
                "p.yml:5: rules[1]: 'id' is a required property",
                "p.yml:5: rules[1].weight: 0 is less than the minimum of 1",
            ],
        ),
        ("either: [a, 1]\n", ["p.yml:1: either[1]: 1 is not of type 'string'"]),
    ],
    ids=["right", "type", "unknown key", "unknown value", "several", "branch"],
)
def test_schema_problems(text: str, problems: list[str], tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps(SCHEMA))
    assert schema_problems(parse(text, "p.yml"), schema) == problems


def test_a_schema_that_is_not_json(tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text("{")
    with pytest.raises(DocumentError, match=r"schema\.json:1: is not JSON"):
        schema_problems(parse("a: 1\n", "p.yml"), schema)
