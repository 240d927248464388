"""What is refused, each in one sentence with file, line, column and a next step."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ciops.errors import UsageError
from ciops.plumbing.yaml_file import DocumentError, YamlSyntaxError, load, parse

REFUSED = {
    "duplicate key": ("a: 1\nb: 2\na: 3\n", 3, 1, 'key "a" is a duplicate of line 1'),
    "duplicate in flow": ("x: {a: 1, a: 2}\n", 1, 11, 'key "a" is a duplicate of line 1'),
    "number and text key": ("1: a\n'1': b\n", 2, 1, 'key "1" is a duplicate of line 1'),
    "duplicate by alias": ("a: &k b\nb: 1\n*k : 2\n", 3, 1, 'key "b" is a duplicate of line 2'),
    "custom tag": ("a: !env HOME\n", 1, 4, "tag !env is not allowed"),
    "python tag": ("a: !!python/object/apply:os.system [x]\n", 1, 4, "tag !!python/object"),
    "tag on a mapping": ("a: !m {b: 1}\n", 1, 4, "tag !m is not allowed"),
    "sequence tagged as map": ("a: !!map [1]\n", 1, 4, "tag !!map is not allowed"),
    "tag on a key": ("!k a: 1\n", 1, 1, "tag !k is not allowed"),
    "binary": ("a: !!binary aGk=\n", 1, 4, "tag !!binary is not allowed"),
    "timestamp": ("a: !!timestamp 2024-01-01\n", 1, 4, "tag !!timestamp is not allowed"),
    "not what its tag says": ("a: !!int x\n", 1, 4, '"x" is tagged !!int and is none'),
    "merge key": ("b: &b {a: 1}\nc:\n  <<: *b\n", 3, 3, "merge keys (<<) are not read"),
    "second document": ("a: 1\n---\nb: 2\n", 2, 1, "a second document starts here"),
    "no anchor": ("a: *x\n", 1, 4, "alias *x has no anchor"),
    "anchor in itself": ("a: &x [1, *x]\n", 1, 11, "alias *x stands inside its own anchor"),
    "anchor twice": ("a: &x 1\nb: &x 2\n", 2, 4, "anchor &x is defined twice"),
    "mapping as key": ("? {a: 1}\n: b\n", 1, 3, "a key must be text"),
    "list alias as key": ("a: &x [1]\n*x : 2\n", 2, 1, "a key must be text"),
    "NUL": ("a: x\nb: \x00\n", 2, 4, "character U+0000 is not allowed in YAML"),
    "escape character": ("a: \x1b[0m\n", 1, 4, "character U+001B is not allowed"),
    "lone surrogate": ("a: \ud800\n", 1, 4, "character U+D800 is not allowed"),
    "tab": ("a:\n\t- b\n", 2, 1, "Indent with spaces, not tabs"),
    "colon in a value": ("a: b: c\n", 1, 5, "Put a value that holds a colon in quotes"),
    "open quote": ('a: "x\nb: 1\n', 3, 1, "that starts in line 1. Close the quote"),
    "open bracket": ("a: [1,\nb\n", 3, 1, "that starts in line 1"),
    "number too long": ("a: " + "9" * 5000 + "\n", 1, 4, "is too long. Put it in quotes"),
    "number out of range": ("a: 1e999\n", 1, 4, 'number "1e999" is out of range'),
    "too deep": ("[" * 65, 1, 65, "nested deeper than 64 levels"),
}


@pytest.mark.parametrize(("text", "line", "column", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(YamlSyntaxError) as caught:
        parse(text, "f.yml")
    assert str(caught.value).startswith(f"f.yml:{line}:{column}: ")
    assert words in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, UsageError)


@pytest.mark.parametrize(
    "text",
    [
        "a: {a: 1}\nb: {a: 1}\n",
        "- a: 1\n- a: 1\n",
        "[" * 64 + "]" * 64,
        "a: '!env HOME'\n",
        "a: '*x'\n",
        "a: " + "9" * 100 + "\n",
        "a: \x85\u2028\ufeff\n",
    ],
    ids=["sibling maps", "items", "64 deep", "quoted tag", "quoted alias", "100 digits", "breaks"],
)
def test_near_misses_are_read(text: str) -> None:
    assert parse(text, "f.yml").data


def bomb(levels: int, width: int) -> str:
    names = (f"[{', '.join([f'*a{level}'] * width)}]" for level in range(levels - 1))
    values = ["x" * 60, *names]
    return "\n".join(f"a{level}: &a{level} {value}" for level, value in enumerate(values))


def test_an_alias_bomb_is_refused_at_once() -> None:
    start = time.process_time()
    with pytest.raises(YamlSyntaxError, match="aliases expand to more than 1,000,000 characters"):
        parse(bomb(40, 9), "f.yml")
    assert time.process_time() - start < 1.0


def test_one_long_text_named_often_is_a_bomb_too() -> None:
    text = "a: &a " + "x" * 20_000 + "\nb: [" + ", ".join(["*a"] * 60) + "]\n"
    with pytest.raises(YamlSyntaxError, match="aliases expand"):
        parse(text, "f.yml")


def test_ordinary_aliases_are_read() -> None:
    assert len(parse(bomb(4, 9), "f.yml").data["a3"]) == 9


@pytest.mark.parametrize(
    "text",
    ["[" * 60_000, "{a: " * 20_000, "- " * 30_000, "? " * 30_000, '"' + "x" * 200_000],
    ids=["brackets", "braces", "dashes", "question marks", "open quote"],
)
def test_hostile_text_is_refused_quickly(text: str) -> None:
    start = time.process_time()
    with pytest.raises(YamlSyntaxError):
        parse(text, "f.yml")
    assert time.process_time() - start < 2.0


def test_no_value_is_shown_at_length_or_with_controls() -> None:
    with pytest.raises(YamlSyntaxError) as caught:
        parse('"' + "k\\n\\e[31m" * 300 + '": 1\n"' + "k\\n\\e[31m" * 300 + '": 2\n', "f.yml")
    assert len(str(caught.value)) < 200
    assert str(caught.value).isprintable()


FILES = {
    "UTF-16": ("a: 1".encode("utf-16"), 1, "is UTF-16, not UTF-8. Save the file as UTF-8"),
    "latin-1": (b"a: 1\nb: caf\xe9\n", 2, "is not UTF-8: byte 0xe9"),
    "cut UTF-8": (b"a: 1\nb: caf\xc3", 2, "is not UTF-8: byte 0xc3"),
    "overlong": (b"a: \xc0\xaf", 1, "is not UTF-8: byte 0xc0"),
}


@pytest.mark.parametrize(("content", "line", "words"), FILES.values(), ids=FILES)
def test_files_that_are_no_utf8(content: bytes, line: int, words: str, tmp_path: Path) -> None:
    path = tmp_path / "f.yml"
    path.write_bytes(content)
    with pytest.raises(DocumentError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert words in str(caught.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"absent\.yml: no such file\. Check the path"):
        load(tmp_path / "absent.yml")


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"is a directory\. Name a file in it"):
        load(tmp_path)


def test_a_name_that_no_file_has() -> None:
    with pytest.raises(DocumentError, match="cannot be read"):
        load("a\x00b.yml")


def test_a_huge_file_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "f.yml"
    path.touch()
    os.truncate(path, 3 * 1024**3)
    start = time.process_time()
    with pytest.raises(DocumentError, match="is larger than 8,388,608 bytes"):
        load(path)
    assert time.process_time() - start < 1.0


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless file here")
def test_an_endless_file_is_not_read_forever() -> None:
    with pytest.raises(DocumentError, match="is larger than"):
        load("/dev/zero")
