"""What is pasted otherwise than as Python in a fence."""

from __future__ import annotations

import pytest

from ciops.triage.pasted_code import (
    as_python,
    is_printed,
    native_line,
    starts_other_code,
    unnumbered,
)

PRODUCT = ("/torch/",)
TOUCHES = frozenset({"torch"})


@pytest.mark.parametrize(
    ("lines", "python"),
    [
        pytest.param(["+a()", " b()", "-c()"], ["a()", "b()", ""], id="what is there after it"),
        pytest.param(
            ["--- a/t.py", "+++ b/t.py", "@@ -1 +1 @@", "+a()"], ["", "", "", "a()"], id="a file"
        ),
        pytest.param(
            ["--- a/torch/x.py", "+++ b/torch/x.py", "+a()", "+++ b/t.py", "+b()"],
            ["", "", "", "", "b()"],
            id="a file of the product, then one that is none",
        ),
        pytest.param(["diff --git a/torch/x.py b/torch/x.py", "+a()"], ["", ""], id="git's head"),
        pytest.param(["a()", "+b()"], ["a()", "+b()"], id="a line without a mark: no diff"),
        pytest.param([" a()", " b()"], [" a()", " b()"], id="nothing changed: no diff"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_a_diff_becomes_the_code_that_it_leaves(lines, python):
    assert as_python(lines, PRODUCT) == python


@pytest.mark.parametrize(
    ("lines", "bare"),
    [
        (["1 import torch", "2", "3   x()"], ["import torch", "", " x()"]),
        (["  9: a", " 10: b"], ["a", "b"]),
        (["1 a", "3 b"], ["1 a", "3 b"]),
        (["1 2 3", "2 3 4", "x", "y", "z"], ["1 2 3", "2 3 4", "x", "y", "z"]),
        (["a", "b"], ["a", "b"]),
        ([], []),
    ],
)
def test_a_listing_loses_its_numbers(lines, bare):
    assert unnumbered(lines) == bare


@pytest.mark.parametrize(
    ("lines", "printed"),
    [
        (["", "Net(", "  (fc): Linear(in_features=2)"], True),
        (["Net(", "  Linear(2, 2),", ")"], False),
        (["Net()"], False),
        ([], False),
    ],
)
def test_an_object_that_printed_itself(lines, printed):
    assert is_printed(lines) is printed


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("// x\n#include <torch/torch.h>\nint main() {}", 2),
        ('#include "torch/torch.h"\nTEST(A, b) {}', 1),
        ("#include <vector>\nint main() {}", None),
        ("#include <torch/torch.h>\nvoid A::f() {}", None),
        ("int main() {}", None),
    ],
)
def test_a_program_in_cpp_includes_the_product_and_has_an_entry(code, line):
    assert native_line(code, TOUCHES) == line


@pytest.mark.parametrize(
    ("line", "starts"),
    [
        ("#include <torch/torch.h>", True),
        ("diff --git a/x b/x", True),
        ("@@ -1,2 +1,2 @@", True),
        ("# include that one", False),
        ("--- output ---", False),
    ],
)
def test_the_head_of_other_code(line, starts):
    assert starts_other_code(line) is starts
