"""The changes that a mutation run makes, on a small module."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
import yaml

from mutation.mutants import install, mutants, put_probes
from mutation.mutate import KNOWN, module_of

SOURCE = '''
from functools import cache
LIMIT = 3
def over(n):
    return n > 3
@cache
def both(a, b):
    return a and not b
class Shelf:
    @property
    def first(self):
        return min(n for n in (4, 2) if n)
def choice(flag):
    if flag:
        return 1
    return 2 if flag is None else 5
'''  # fmt: skip
CHANGES = [
    ("over", "Gt -> GtE", "over(3)", True),
    ("over", "3 -> 4", "over(4)", False),
    ("both", "And -> Or", "both(False, False)", True),
    ("both", "not dropped", "both(True, False)", False),
    ("Shelf.first", "min -> max", "Shelf().first", 4),
    ("choice", "condition negated", "choice(True)", 5),
    ("choice", "branches exchanged", "choice(None)", 5),
    ("choice", "Is -> IsNot", "choice(None)", 5),
]


@pytest.fixture
def module(tmp_path: Path) -> ModuleType:
    made = ModuleType("shelf")
    path = tmp_path / "shelf.py"
    path.write_text(SOURCE, encoding="utf-8")
    made.__file__ = str(path)
    exec(compile(SOURCE, str(path), "exec"), made.__dict__)
    return made


@pytest.mark.parametrize(("function", "what", "call", "value"), CHANGES)
def test_a_change_is_seen_by_who_holds_the_function(
    module: ModuleType, function: str, what: str, call: str, value: object
) -> None:
    held = dict(vars(module))  # as another module has it by `from shelf import …`
    (mutant,) = [one for one in mutants(module) if (one.function, one.what) == (function, what)]
    assert install(module, mutant)
    assert eval(call, held) == value


def test_every_change_is_in_a_function_and_once(module: ModuleType) -> None:
    found = [(one.function, one.line, one.what) for one in mutants(module)]
    assert len(set(found)) == len(found)
    assert {name for name, _, _ in found} == {"over", "both", "Shelf.first", "choice"}
    assert ("over", 5, "Gt -> GtE") in found
    assert ("Shelf.first", 12, "filter dropped") in found


def test_a_probe_notes_who_was_called(module: ModuleType) -> None:
    held, reached = dict(vars(module)), set[tuple[str, str]]()
    put_probes(module, reached)
    assert eval("over(5), Shelf().first", held) == (True, 2)
    assert reached == {("shelf", "over"), ("shelf", "Shelf.first")}


def test_each_change_that_wants_no_test_says_why() -> None:
    for name, listed in yaml.safe_load(KNOWN.read_text("utf-8")).items():
        module_of(name)
        assert all(set(one) == {"function", "change", "line", "why"} for one in listed)
