"""Facts from JSON of any shape: a null or a changed type is an empty value, never a crash."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ciops.forges import github_facts, gitlab_facts
from ciops.forges.json_fields import child, flag, names, rows, same_text, text, whole

READERS: dict[str, Callable[[Any], Any]] = {
    f"{module.__name__.rsplit('.', 1)[-1]}.{name}": getattr(module, name)
    for module, known in (
        (
            github_facts,
            "person issue comment label_event project commit pull check run job",
        ),
        (
            gitlab_facts,
            "person issue comment label_event project pipeline bridge job commit check "
            "merge_request",
        ),
    )
    for name in known.split()
}
WORDS = """
id iid number title body description labels user author state pull_request reactions commit
committer head base event action label actor username login type bot name pipeline runner
downstream_pipeline conclusion status merged_at repository message
"""
KEYS = st.sampled_from(WORDS.split())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=8),
    max_leaves=20,
)


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@settings(max_examples=80, deadline=None)
@given(JSON)
def test_any_json_becomes_a_fact_of_its_types(read: Callable[[Any], Any], data: Any) -> None:
    fact = read(data)
    if fact is None:
        return
    assert is_dataclass(fact)
    for field in fields(fact):
        kind = str(field.type)
        value = getattr(fact, field.name)
        if kind == "str":
            assert isinstance(value, str)
        elif kind in ("int", "bool"):
            assert type(value).__name__ == kind
        elif kind == "tuple[str, ...]":
            assert all(isinstance(item, str) for item in value)


@pytest.mark.parametrize("data", [None, 3, "x", [], {"a": None}, {"a": {}}, {"a": [None, {}, 3]}])
def test_fields_of_a_wrong_type_are_empty(data: Any) -> None:
    assert text(data, "a") == ""
    assert whole(data, "a") == 0
    assert flag(data, "a") is False
    assert child(data, "a") == {}
    assert names(data, "a") == ()


@pytest.mark.parametrize(
    ("data", "key", "found"),
    [
        ({"a": ["x", {"name": "y"}, {"name": ""}]}, "a", ("x", "y")),
        ([{"name": "y"}], "", ("y",)),
        ({"a": True}, "a", ()),
    ],
)
def test_names(data: Any, key: str, found: tuple[str, ...]) -> None:
    assert names(data, key) == found


def test_a_flag_is_no_number() -> None:
    assert whole({"a": True}, "a") == 0
    assert flag({"a": 1}, "a") is False
    assert rows({"a": (1,)}, "a") == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a\nb", "a\r\nb\r\n", True),
        ("  a ", "a", True),
        ("a b", "a  b", False),
        ("", "\n", True),
    ],
)
def test_texts_as_services_give_them_back(one: str, other: str, same: bool) -> None:
    assert same_text(one, other) is same
