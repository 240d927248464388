"""The compiled checks agree with jsonschema and openapi-schema-validator, and are quick."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft4Validator, FormatChecker
from openapi_schema_validator import OAS30ReadValidator

from fakes.contract import FOLDER, adf_check, document, load
from fakes.filler import Filler
from fakes.github_shapes import Shapes
from fakes.schema import FORMATS, Compiler, Problem

WRONG: tuple[Any, ...] = ("text", 7, True, None, [], {})
SLICES = ("github", "gitlab", "jira")


def mutations(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Near misses of an object: each key missing, of another type, null; and one key more."""
    yield value
    yield {**value, "a_key_nobody_knows": 1}
    for key in value:
        yield {other: part for other, part in value.items() if other != key}
        for wrong in WRONG:
            yield {**value, key: wrong}


def with_null_where_nullable(node: Any) -> Any:
    """`nullable` beside an enum or alternatives that forget null: the services do send null."""
    if isinstance(node, list):
        return [with_null_where_nullable(part) for part in node]
    if not isinstance(node, dict):
        return node
    read = {key: with_null_where_nullable(part) for key, part in node.items()}
    if node.get("nullable") is True and node.keys() & {"enum", "oneOf", "anyOf"}:
        return {"anyOf": [{"enum": [None], "nullable": True}, read]}
    return read


def same_formats() -> FormatChecker:
    """The formats of the services: how strictly to read them is not what is compared here."""
    checker = FormatChecker(formats=())
    for name, pattern in FORMATS.items():
        checker.checks(name)(
            lambda value, match=pattern.fullmatch: not isinstance(value, str) or bool(match(value))
        )
    return checker


def named_schemas() -> list[Any]:
    return [
        pytest.param(name, schema, id=f"{name}-{schema}")
        for name in SLICES
        for schema in document(name)["components"]["schemas"]
    ]


@pytest.mark.parametrize(("name", "schema"), named_schemas())
def test_a_verdict_is_the_same_as_that_of_the_interpreting_validator(
    name: str, schema: str
) -> None:
    spoken = document(name)
    check = Compiler(spoken, closed=False).compile({"$ref": f"#/components/schemas/{schema}"})
    slow = OAS30ReadValidator(
        {**with_null_where_nullable(spoken), "$ref": f"#/components/schemas/{schema}"},
        format_checker=same_formats(),
    )
    filled = Filler(spoken, "https://example.com").fill(schema, {})
    for value in list(mutations(filled))[:60]:
        mine = check(value)
        assert (mine is None) == slow.is_valid(value), f"{value} → {mine}"


TEXT = {"type": "text", "text": "hang"}
PARAGRAPH = {"type": "paragraph", "content": [TEXT]}


def doc(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "doc", "version": 1, "content": list(blocks)}


ADF = {
    "paragraph": doc(PARAGRAPH),
    "empty document": doc(),
    "heading": doc({"type": "heading", "attrs": {"level": 2}, "content": [TEXT]}),
    "heading of level 9": doc({"type": "heading", "attrs": {"level": 9}, "content": [TEXT]}),
    "text at the top": doc(TEXT),
    "empty text": doc({"type": "paragraph", "content": [{"type": "text", "text": ""}]}),
    "code with link": doc(
        {
            "type": "paragraph",
            "content": [
                {
                    **TEXT,
                    "marks": [
                        {"type": "code"},
                        {"type": "link", "attrs": {"href": "https://example.com"}},
                    ],
                }
            ],
        }
    ),
    "code with strong": doc(
        {
            "type": "paragraph",
            "content": [{**TEXT, "marks": [{"type": "code"}, {"type": "strong"}]}],
        }
    ),
    "list": doc({"type": "bulletList", "content": [{"type": "listItem", "content": [PARAGRAPH]}]}),
    "table in a list": doc(
        {
            "type": "bulletList",
            "content": [
                {
                    "type": "listItem",
                    "content": [
                        {
                            "type": "table",
                            "content": [
                                {
                                    "type": "tableRow",
                                    "content": [{"type": "tableCell", "content": [PARAGRAPH]}],
                                }
                            ],
                        }
                    ],
                }
            ],
        }
    ),
    "heading in a quote": doc(
        {
            "type": "blockquote",
            "content": [{"type": "heading", "attrs": {"level": 1}, "content": [TEXT]}],
        }
    ),
    "no version": {"type": "doc", "content": [PARAGRAPH]},
}


@cache
def slow_adf() -> Draft4Validator:
    return Draft4Validator(json.loads((FOLDER / "adf-schema.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", ADF)
def test_a_verdict_on_adf_is_the_same_as_that_of_jsonschema(name: str) -> None:
    assert (adf_check()(ADF[name]) is None) == slow_adf().is_valid(ADF[name])


def test_some_of_those_documents_are_valid_and_some_are_not() -> None:
    verdicts = {name: adf_check()(value) is None for name, value in ADF.items()}
    assert verdicts["paragraph"]
    assert verdicts["code with link"]
    assert not verdicts["code with strong"]
    assert not verdicts["table in a list"]
    assert not verdicts["heading in a quote"]


CASES = [
    pytest.param({"type": "integer"}, True, "true is not an integer", id="a boolean is no number"),
    pytest.param({"type": "string", "nullable": True}, None, None, id="nullable"),
    pytest.param({"type": "string", "format": "date-time"}, "2026-13-01T00:00:00Z",
                 "is not a date-time", id="month 13"),
    pytest.param({"type": "string", "format": "date-time"}, "2026-05-04T10:00:00.000+0000", None,
                 id="Jira's offset"),
    pytest.param({"type": "string", "format": "uri"}, "https://x/a label", "is not a uri",
                 id="a blank in a uri"),
    pytest.param({"enum": ["low", 1]}, True, "is none of", id="true is not the 1 of an enum"),
    pytest.param({"type": "array", "items": {"type": "integer"}}, [1, "2"], "[1]: ",
                 id="the item is named"),
    pytest.param({"type": "object", "properties": {"a": {"type": "string"}}}, {"b": 1},
                 "unknown key 'b' (known: a)", id="closed: unlisted keys are refused"),
    pytest.param({"type": "object", "additionalProperties": True}, {"b": 1}, None,
                 id="a free map stays free"),
    pytest.param({"type": "string", "maxLength": 2}, "abc", "at most 2", id="too long"),
    pytest.param({"not": {"required": ["sha"]}}, {"sha": 1}, "forbidden shape", id="not"),
    pytest.param({"oneOf": [{"type": "string"}, {"maxLength": 3}]}, "ab", "2 alternatives",
                 id="one of two that both fit"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "value", "words"), CASES)
def test_a_problem_says_what_and_where(
    schema: dict[str, Any], value: Any, words: str | None
) -> None:
    problem = Compiler({}, closed=True).compile(schema)(value)
    assert (problem is None) if words is None else words in str(problem)


def test_the_alternative_that_agreed_the_furthest_explains_a_failure() -> None:
    entry = {
        "oneOf": [
            {"type": "string"},
            {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        ]
    }
    problem = Compiler({}, closed=True).compile(entry)({"name": "x", "why": "y"})
    assert problem == Problem("unknown key 'why' (known: name)")


def test_a_schema_may_refer_to_itself() -> None:
    tree: dict[str, Any] = {
        "type": "object",
        "properties": {"next": {"$ref": "#/tree"}},
        "required": ["next"],
    }
    tree["nullable"] = True
    check = Compiler({"tree": tree}, closed=True).compile({"$ref": "#/tree"})
    assert check({"next": {"next": None}}) is None
    assert str(check({"next": {"next": 3}})) == "next.next: 3 is not an object"


def test_a_list_of_a_hundred_issues_is_checked_in_milliseconds() -> None:
    shapes = Shapes("https://example.com/api", "https://example.com")
    labels = [shapes.label("o/r", name) for name in ("bug", "oncall: distributed", "triaged")]
    issues = [
        copy.deepcopy(shapes.issue("o/r", {"number": n, "title": "Hang", "labels": labels}))
        for n in range(1, 101)
    ]
    check = load("github").schema("issue")
    best = min(_timed(lambda: [check(issue) for issue in issues]) for _ in range(3))
    assert best < 0.05, "about 3 ms on an idle core; jsonschema takes 300"


def _timed(work: Any) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
