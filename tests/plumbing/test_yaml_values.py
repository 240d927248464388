"""Scalars as YAML 1.2's core schema reads them, and documents as people save them."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ciops.plumbing.yaml_file import Document, DocumentError, load, parse, read_text


def value_of(text: str) -> Any:
    return parse(f"x: {text}\n", "f.yml").data["x"]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("true", True),
        ("False", False),
        ("TRUE", True),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("Off", "Off"),
        ("y", "y"),
        ("null", None),
        ("~", None),
        ("", None),
        ("NULL", None),
        ("nUll", "nUll"),
        ("0", 0),
        ("-7", -7),
        ("+7", 7),
        ("010", 10),
        ("0o17", 15),
        ("0o18", "0o18"),
        ("0xFf", 255),
        ("0b11", "0b11"),
        ("1_000", "1_000"),
        ("1.10", 1.1),
        ("'1.10'", "1.10"),
        (".5", 0.5),
        ("5.", 5.0),
        ("-1e3", -1000.0),
        ("1e", "1e"),
        (".", "."),
        ("+", "+"),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("12:30", "12:30"),
        ("190:20:30", "190:20:30"),
        ("2024-05-04", "2024-05-04"),
        ("2024-05-04T10:00:00Z", "2024-05-04T10:00:00Z"),
        ("1.2.3", "1.2.3"),
        ("=", "="),
        ("a#b", "a#b"),
        ("a # b", "a"),
        ("!!str 12", "12"),
        ("! 12", "12"),
        ("!!int '3'", 3),
        ("!!float 1", 1),
        ('"\\u0041\\x42"', "AB"),
        ("vector<T>::f", "vector<T>::f"),
        ("日本語", "日本語"),
    ],
)
def test_scalars(written: str, value: Any) -> None:
    found = value_of(written)
    assert found == value
    assert type(found) is type(value)


def test_not_a_number_is_a_float() -> None:
    assert math.isnan(value_of(".nan"))


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("", None),
        ("# only a comment\n", None),
        ("---\n", None),
        ("a: 1\n...\n", {"a": 1}),
        ("%YAML 1.2\n---\na: 1\n", {"a": 1}),
        ("\ufeffa: 1\n", {"a": 1}),
        ("a: 1\r\nb:\r\n  - 2\r\n", {"a": 1, "b": [2]}),
        ("on: push\n", {"on": "push"}),
        ("404: gone\n", {"404": "gone"}),
        ("1.10: v\n", {"1.10": "v"}),
        ("true: v\n", {"true": "v"}),
        ("~: v\n", {"~": "v"}),
        ("? a\n: b\n", {"a": "b"}),
        ("{a: [1, {b: c}], d: }\n", {"a": [1, {"b": "c"}], "d": None}),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        ("a: >-\n  x\n  y\n", {"a": "x y"}),
        ("a: &x [1]\nb: *x\n", {"a": [1], "b": [1]}),
        ("a: &x k\n*x : v\n", {"a": "k", "k": "v"}),
        ("&x k: v\nother: *x\n", {"k": "v", "other": "k"}),
        ("!!map {a: !!seq [1]}\n", {"a": [1]}),
        ("'<<': kept\n", {"<<": "kept"}),
    ],
)
def test_documents(text: str, data: Any) -> None:
    assert parse(text, "f.yml").data == data


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**60), 10**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"])),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(PLAIN)
def test_json_reads_as_json_does(value: Any) -> None:
    """JSON is YAML 1.2. (Long keys are not: YAML bounds an implicit key to 1,024 characters.)"""
    text = json.dumps(value, ensure_ascii=False)
    assert parse(text, "f.json").data == value


def test_a_file_is_read_without_its_byte_order_mark(tmp_path: Any) -> None:
    path = tmp_path / "p.yml"
    path.write_bytes(b"\xef\xbb\xbfname: caf\xc3\xa9\r\n")
    document = load(path)
    assert document.data == {"name": "café"}
    assert document.name == str(path)


def test_a_large_policy_loads_quickly() -> None:
    """60 KB in about 10 ms on an idle core; the bound is for a busy one."""
    rule = (
        "- id: rule-{n}\n  weight: 3\n  zones: [title, body]\n  any:\n"
        "    - 'torch\\.distributed\\.{n}'\n    - init_process_group\n"
    )
    text = "".join(rule.replace("{n}", str(n)) for n in range(600))
    assert len(text) > 60_000

    def seconds() -> float:
        start = time.process_time()
        parse(text, "p.yml")
        return time.process_time() - start

    assert min(seconds() for _ in range(5)) < 0.08


NESTED = """\
top:
  rules:
    - id: a
      any: [x,
        y]
    - id: b
      note: |
        text
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("top",), 1),
        (("top", "rules"), 2),
        (("top", "rules", 0), 3),
        (("top", "rules", 0, "any"), 4),
        (("top", "rules", 0, "any", 1), 5),
        (("top", "rules", 1, "note"), 7),
        (("top", "rules", 1, "absent"), 6),
        (("top", "rules", 9), 2),
        (("nowhere", 3, "x"), 1),
    ],
)
def test_the_line_of_a_key_or_of_its_nearest_parent(path: tuple[str | int, ...], line: int) -> None:
    assert parse(NESTED, "f.yml").line(path) == line


def test_lines_are_those_of_an_editor() -> None:
    """YAML 1.1 would count U+2028 as the end of a line."""
    document = parse("a: 'x\u2028y'\r\nb: 1\r\nc: 2\n", "f.yml")
    assert [document.line((key,)) for key in "abc"] == [1, 2, 3]


def test_an_empty_document_has_no_lines() -> None:
    assert parse("", "f.yml").line(("a",)) is None


def test_a_scalar_as_it_is_written() -> None:
    document = parse("v: 1.10\nsha: 0123456\nlist: [1]\n", "f.yml")
    assert document.source(("v",)) == "1.10"
    assert document.source(("sha",)) == "0123456"
    assert document.source(("list",)) is None
    assert document.source(("absent",)) is None


def test_an_error_names_file_line_key_and_next_step() -> None:
    error = Document("p.yml", {"a": [{"b": 1}]}, "a:\n  - b: 1\n").error(
        ("a", 0, "b"), "is too small", "Write 2"
    )
    assert str(error) == "p.yml:2: a[0].b: is too small. Write 2"
    assert (error.line, error.path, error.exit_status) == (2, ("a", 0, "b"), 2)


def test_text_is_read_up_to_a_limit(tmp_path: Any) -> None:
    path = tmp_path / "long.txt"
    path.write_text("12345")
    assert read_text(path, limit=5) == "12345"
    with pytest.raises(DocumentError, match="is larger than 4 bytes"):
        read_text(path, limit=4)
