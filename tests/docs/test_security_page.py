"""The security page names tests that are there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs/security.md"
NAMED = re.compile(r"`([a-z_/]+\.py)::([A-Za-z_:]+)`")
ROW = re.compile(r"^- \*\*(?P<threat>.+?)\*\*: (?P<holds>.+)\.\n  (?P<tests>.*)$", re.MULTILINE)


@cache
def known_in(path: str) -> frozenset[str]:
    """`test_x` and `TestY::test_x` of a file below tests/; empty where there is none."""
    file = TESTS / path
    if not file.is_file():
        return frozenset()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    plain = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    inner = {
        f"{one.name}::{node.name}"
        for one in classes
        for node in one.body
        if isinstance(node, ast.FunctionDef)
    }
    return frozenset(plain | inner)


def guarded() -> list[re.Match[str]]:
    """The rows of the section that names a test for each threat."""
    section = PAGE.read_text(encoding="utf-8").partition("## What is held by which test")[2]
    return list(ROW.finditer(section.partition("\n## ")[0]))


@pytest.mark.parametrize("row", guarded(), ids=lambda row: row["threat"])
def test_a_threat_is_guarded_by_tests_that_are_there(row: re.Match[str]) -> None:
    named = NAMED.findall(row["tests"])
    assert named, "name the test that guards it"
    assert row["tests"] == ", ".join(f"`{path}::{name}`" for path, name in named)
    missing = [f"{path}::{name}" for path, name in named if name not in known_in(path)]
    assert not missing


def test_the_page_has_its_threats() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## What is held by which test")[2]
    assert len(guarded()) == section.partition("\n## ")[0].count("\n- ")
    assert len(guarded()) > 40
    assert len({row["threat"] for row in guarded()}) == len(guarded())


def test_a_test_that_is_not_there_is_seen() -> None:
    assert "test_a_test_that_is_not_there_is_seen" in known_in("docs/test_security_page.py")
    assert "test_no_such" not in known_in("docs/test_security_page.py")
    assert not known_in("docs/test_no_such_file.py")
