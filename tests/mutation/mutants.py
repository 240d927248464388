"""Small changes to the functions of a module, one at a time, and how each is put in place.

Probes are put in the same way: functions that note that they were called.

A changed function keeps its identity: only its code object is exchanged, so every module that
imported it by name sees the change. What runs once at import (constants, patterns) is not changed.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

NOTE = "__reached__"  # the name by which a probe finds its set

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In},
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add},
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change in one function; `line` is that of the source, and `text` what stands there."""

    function: str
    line: int
    what: str
    code: CodeType
    text: str = ""


def mutants(module: ModuleType) -> Iterator[Mutant]:
    """Every single change of every function of a module."""
    source, number = inspect.getsource(module), 0
    while True:
        change = _Change(number)
        tree = ast.fix_missing_locations(change.visit(ast.parse(source)))
        if not change.what:
            return
        codes = _codes(compile(tree, module.__file__ or "", "exec", dont_inherit=True))
        code = next(code for code in codes if code.co_qualname == change.function)
        text = source.splitlines()[change.line - 1].strip()
        yield Mutant(change.function, change.line, change.what, code, text)
        number += 1


def put_probes(module: ModuleType, reached: set[tuple[str, str]]) -> None:
    """Have every function note (module, function) in a set whenever it is called."""
    tree = ast.parse(inspect.getsource(module))
    names = dict(_functions(tree, ""))
    for name, node in names.items():
        note = ast.parse(f"{NOTE}.add(({module.__name__!r}, {name!r}))").body
        node.body[:0] = note
    vars(module)[NOTE] = reached
    tree = ast.fix_missing_locations(tree)
    for code in _codes(compile(tree, module.__file__ or "", "exec", dont_inherit=True)):
        if code.co_qualname in names:
            install(module, Mutant(code.co_qualname, code.co_firstlineno, "probe", code))


def _functions(node: ast.AST, place: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions of a module and methods of its classes, none inside another function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield place + child.name, child
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{place}{child.name}.")


def install(module: ModuleType, mutant: Mutant) -> bool:
    """Exchange the code of the function; whether it was found."""
    target: Any = module
    for name in mutant.function.split("."):
        target = inspect.getattr_static(target, name, None)
    while target is not None and not isinstance(target, FunctionType):
        wrappers = ("__wrapped__", "fget", "__func__", "func")  # caches, properties, methods
        target = next((getattr(target, one) for one in wrappers if hasattr(target, one)), None)
    if target is None or target.__code__.co_freevars != mutant.code.co_freevars:
        return False
    target.__code__ = mutant.code
    return True


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


class _Change(ast.NodeTransformer):
    """Makes the change of a number; `what` stays empty when there are fewer."""

    def __init__(self, number: int) -> None:
        self._left = number
        self._place: list[str] = []
        self.function, self.line, self.what = "", 0, ""

    def visit(self, node: ast.AST) -> Any:
        if self.what:
            return node
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not self.function:
            return self._inside(node)
        if self.function:
            for what, new in _changes(node):
                if self._left == 0:
                    self.what, self.line = what, getattr(node, "lineno", self.line)
                    return ast.copy_location(new, node)
                self._left -= 1
        self.line = getattr(node, "lineno", self.line)
        return self.generic_visit(node)

    def _inside(self, node: ast.ClassDef | ast.FunctionDef) -> ast.AST:
        self._place.append(node.name)
        if isinstance(node, ast.FunctionDef):
            self.function = ".".join(self._place)
            node.body = [self.visit(part) for part in node.body]
            self.function = self.function if self.what else ""
        else:
            self.generic_visit(node)
        self._place.pop()
        return node


def _changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """What a node may be changed to, with words for it."""
    yield from _operators(node)
    yield from _branches(node)
    match node:
        case ast.Constant(value=bool() as value):
            yield f"{value} -> {not value}", ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield f"{value} -> {value + 1}", ast.Constant(value + 1)
        case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
            yield f"{name} -> {NAMES[name]}", ast.Name(NAMES[name], ast.Load())


def _operators(node: ast.AST) -> Iterator[tuple[str, Any]]:
    match node:
        case ast.Compare(left, [op], others) if type(op) in OPERATORS:
            new = OPERATORS[type(op)]()
            yield _named(op, new), ast.Compare(left, [new], others)
        case ast.BoolOp(op, values):
            yield _named(op, OPERATORS[type(op)]()), ast.BoolOp(OPERATORS[type(op)](), values)
        case ast.BinOp(left, ast.Add() | ast.Sub() as op, right):
            yield _named(op, OPERATORS[type(op)]()), ast.BinOp(left, OPERATORS[type(op)](), right)
        case ast.UnaryOp(ast.Not(), operand):
            yield "not dropped", operand


def _branches(node: ast.AST) -> Iterator[tuple[str, Any]]:
    match node:
        case ast.If(test, body, orelse) if not isinstance(test, ast.Compare):
            yield "condition negated", ast.If(_negated(test), body, orelse)
        case ast.IfExp(test, body, orelse):
            yield "branches exchanged", ast.IfExp(test, orelse, body)
        case ast.comprehension(target, source, [_, *_], is_async):
            yield "filter dropped", ast.comprehension(target, source, [], is_async)
        case ast.Continue():
            yield "continue -> break", ast.Break()


def _named(old: ast.AST, new: ast.AST) -> str:
    return f"{type(old).__name__} -> {type(new).__name__}"


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)
