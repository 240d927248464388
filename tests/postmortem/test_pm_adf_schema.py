"""Valid ADF by Atlassian's schema: the quick verdict is that of jsonschema on everything."""

from __future__ import annotations

import copy
import functools
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from ciops.postmortem.adf import render_adf
from ciops.postmortem.adf_schema import ADF_SCHEMA, adf_problems
from ciops.postmortem.document import build
from ciops.postmortem.record_reader import read_record
from ciops.postmortem.references import Links
from ciops.postmortem.wording import load_words
from fakes.contract import adf_check
from postmortem.records import ROOT

CASES = ROOT / "tests" / "data" / "postmortem" / "cases"
Json = dict[str, Any]
EVERYTHING = """| a | b |
|---|---|
| **bold** | [link](https://example.com/a) |

1. one
   - two
     - three
2. `code`

> quoted

```sql
select 1;
```
"""


@functools.cache
def usual() -> Draft4Validator:
    return Draft4Validator(json.loads(ADF_SCHEMA.read_text(encoding="utf-8")))


@functools.cache
def blocks() -> tuple[Json, ...]:
    """A block of every kind that the tool writes, the shortest of each."""
    record = read_record((CASES / "01.yml").read_text(encoding="utf-8"), "01.yml").record
    record = replace(record, symptom=EVERYTHING)
    document = json.loads(json.dumps(render_adf(build(record, load_words("en"), Links()))))
    longest_first = sorted(document["content"], key=lambda block: -len(json.dumps(block)))
    return tuple({block["type"]: block for block in longest_first}.values())


def nodes_of(node: Any) -> list[Any]:
    """A node and everything in it that can be changed."""
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    below = [each for child in inner for each in nodes_of(child)]
    return [node, *below] if isinstance(node, dict | list) else below


KINDS = ("paragraph", "text", "listItem", "bulletList", "tableCell", "panel", "code", "doc", "x", 3)
VALUES: tuple[Any, ...] = (
    "",
    "x",
    0,
    7,
    -1,
    None,
    True,
    [],
    {},
    [{}],
    {"type": "text", "text": "a"},
)


def mutated(document: Json, draw: st.DrawFn) -> None:
    """One change somewhere: a key or an item taken away, doubled, replaced or added."""
    nodes = nodes_of(document)
    node = nodes[draw(st.integers(0, len(nodes) - 1))]
    value = copy.deepcopy(draw(st.sampled_from([*VALUES, *blocks()])))
    if isinstance(node, list):
        at = draw(st.integers(0, len(node)))
        node[at : at + draw(st.integers(0, 1))] = [value] * draw(st.integers(0, 2))
        return
    keys = ["type", "attrs", "content", "marks", "text", "localId", *node]
    key = draw(st.sampled_from(keys))
    how = draw(st.sampled_from(["take", "put", "kind"]))
    if how == "take":
        node.pop(key, None)
    elif how == "kind":
        node["type"] = draw(st.sampled_from(KINDS))
    else:
        node[key] = value


@st.composite
def documents(draw: st.DrawFn) -> Json:
    chosen = draw(st.lists(st.sampled_from(blocks()), min_size=1, max_size=2))
    document = copy.deepcopy({"type": "doc", "version": 1, "content": chosen})
    for _ in range(draw(st.integers(0, 3))):
        mutated(document, draw)
    return document


@settings(max_examples=100, deadline=None)
@given(documents())
def test_the_verdict_is_that_of_the_schema(document):
    """The judge of the fakes, which is held to jsonschema, is quick enough to ask often."""
    assert bool(adf_problems("x.json", document)) == (adf_check()(document) is not None)


@settings(max_examples=12, deadline=None)
@given(documents())
def test_the_verdict_is_that_of_jsonschema(document):
    assert bool(adf_problems("x.json", document)) == (not usual().is_valid(document))


@pytest.mark.parametrize("name", ["01", "04", "05", "10"])
def test_what_is_rendered_is_valid(name):
    text = (CASES / f"{name}.yml").read_text(encoding="utf-8")
    record = read_record(text, name).record
    document = render_adf(build(record, load_words(record.language), Links()))
    assert adf_problems(name, json.loads(json.dumps(document))) == []


def para(**keys: Any) -> Json:
    return {"type": "paragraph", **keys}


def doc(*content: Any) -> Json:
    return {"type": "doc", "version": 1, "content": list(content)}


@pytest.mark.parametrize(
    ("document", "place"),
    [
        (doc(para(content=[{"type": "text", "text": ""}])), "content[0].content[0].text"),
        (doc(para(content=[{"type": "text"}])), "content[0].content[0]"),
        (doc(para(colour="red")), "content[0]"),
        (doc(para(), {"type": "bulletList", "content": [para()]}), "content[1].content[0]"),
        (doc({"type": "heading", "attrs": {"level": 7}}), "content[0].attrs.level"),
        (doc({"type": "poem"}), "content[0]"),
        (doc({"type": ["paragraph"]}), "content[0]"),
        ({"type": "doc", "content": []}, "version"),
    ],
)
def test_a_problem_says_where_it_is(document, place):
    (problem, *_) = adf_problems("out/PLUG-1.jira.json", document)
    assert problem.startswith("out/PLUG-1.jira.json: ")
    assert place in problem


def test_the_same_node_in_two_places_is_judged_in_each():
    """An item is valid in its list and nowhere else, though it is one object."""
    item = {"type": "listItem", "content": [para()]}
    shared = doc({"type": "bulletList", "content": [item]}, item)
    assert not usual().is_valid(shared)
    assert adf_problems("x.json", shared)
