"""Does a piece of Python, as people paste it, run something of the product?"""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Set
from functools import lru_cache
from typing import Final, NamedTuple

_MAX_CODE: Final = 20_000
_MAX_REPAIRS: Final = 12
_BODIES: Final = ("body", "orelse", "finalbody", "handlers", "cases")
_PROMPT: Final = re.compile(r"^\s*(?:>>> ?|In \[\d+\]: ?)")
_CONTINUATION: Final = re.compile(r"^\.\.\. ?")
_OF_A_TEST: Final = frozenset({"rank", "world_size", "device", "device_type"})
_MAGIC: Final = re.compile(r"^\s*[!%$]")


@lru_cache(maxsize=512)
def is_call(span: str) -> bool:
    """Whether a code span is a call with arguments, or an assignment of one.

    One with a `...` among them only says how something is called.
    """
    if "(" not in span:
        return False
    try:
        tree = _syntax_tree(span.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    calls = _calls_in(tree)
    return any(call.args or call.keywords for call in calls) and not any(map(_is_elided, calls))


@lru_cache(maxsize=512)
def is_closed_call(span: str) -> bool:
    """Whether a code span is a call that builds what it is given: it needs nothing else to run."""
    if not is_call(span):
        return False
    calls = _calls_in(_syntax_tree(span.strip()))
    given = [value for call in calls for value in (*call.args, *(x.value for x in call.keywords))]
    return len(calls) > 1 and not any(isinstance(value, (ast.Name, ast.Starred)) for value in given)


def _calls_in(tree: ast.Module) -> list[ast.Call]:
    return [node for node in _all_nodes(tree) if isinstance(node, ast.Call)]


def _is_elided(call: ast.Call) -> bool:
    return any(isinstance(x, ast.Constant) and x.value is ... for x in call.args)


@lru_cache(maxsize=512)
def is_program(span: str, touches: frozenset[str]) -> bool:
    """Whether a code span is a whole program in a line: `import x; x.f()`."""
    return "import " in span and ";" in span and touching_line(span, touches, ()) is not None


def runs_in_a_line(code: str, touches: frozenset[str], template: tuple[str, ...]) -> bool:
    """Whether `python -c CODE` runs something of the product, or imports it and no more."""
    code = code.replace('\\"', '"')
    if touching_line(code, touches, template) is not None:
        return True
    tree = _parsed(code)
    if tree is None:
        return bool(touches & set(re.findall(r"\w+", code)))
    imports = all(isinstance(node, (ast.Import, ast.ImportFrom)) for node in tree.body)
    return imports and bool(_imported(tree, touches))


@lru_cache(maxsize=256)
def touching_line(code: str, touches: frozenset[str], template: tuple[str, ...]) -> int | None:
    """The 1-based line of the first statement that touches the product, or None.

    Imports alone, definitions that nobody could run, statements of the issue form's own example,
    or that use nothing but its variables, and excerpts of a class's method (a `self` that nothing
    defines) do not count.
    """
    if match := _typed_import(code, touches):
        return match
    tree = _parsed(code[:_MAX_CODE])
    if tree is None:
        return None
    names = touches | _imported(tree, touches)
    if "self" in code and _is_excerpt(tree):
        return None
    own = _example(template)
    of_example: set[str] = set()
    for statement in _statements(tree):
        nodes = _all_nodes(statement)
        if own.holds(statement, nodes):
            of_example |= _names_in(nodes, ast.Store)
        elif _touches(nodes, names) and not _names_in(nodes, ast.Load) <= of_example:
            return statement.lineno
    return None


_CHECKS: Final = re.compile(
    r"^[ \t]*(?:assert|print)\b|#[^\n]*\b(?:fails?|raises?|errors?|wrong|hangs?)\b", re.M
)
_IMPORTS: Final = re.compile(r"^[ \t]*(?:from|import) (\w+)", re.M)


def shows_outcome(code: str, touches: frozenset[str]) -> bool:
    """Whether code imports the product, and checks or prints what came of it."""
    found = _CHECKS.search(code) is not None
    return found and any(name in touches for name in _IMPORTS.findall(code))


class _Example(NamedTuple):
    """The issue form's own example: its lines without blanks, and the words in them."""

    lines: frozenset[str]
    words: frozenset[str]

    def holds(self, statement: ast.stmt, nodes: Iterable[ast.AST]) -> bool:
        """Whether a statement is one of its lines. To write one out is slow, so first its names."""
        if not self.lines or not all(x.id in self.words for x in nodes if type(x) is ast.Name):
            return False
        return _normal(ast.unparse(statement)) in self.lines


@lru_cache(maxsize=8)
def _example(template: tuple[str, ...]) -> _Example:
    words = re.findall(r"\w+", "\n".join(template))
    return _Example(frozenset(map(_normal, template)), frozenset(words))


def _all_nodes(tree: ast.AST, without: type[ast.AST] = ast.Module) -> list[ast.AST]:
    """A statement or module and all in it, `without` those of a kind and what they hold.

    `ast.walk` takes three times as long.
    """
    found: list[ast.AST] = [tree]
    for node in found:  # which grows meanwhile
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                kept = [x for x in value if isinstance(x, ast.AST) and not isinstance(x, without)]
                found += kept
            elif isinstance(value, ast.AST) and name != "ctx":
                found.append(value)
    return found


def _names_in(nodes: Iterable[ast.AST], use: type[ast.expr_context]) -> set[str]:
    return {x.id for x in nodes if isinstance(x, ast.Name) and isinstance(x.ctx, use)}


def _typed_import(code: str, touches: frozenset[str]) -> int | None:
    """An import typed at a prompt was run, and may be all that it takes."""
    if ">>>" not in code:
        return None
    for number, line in enumerate(code.split("\n"), start=1):
        match = re.match(r"\s*>>> ?(?:import|from) (\w+)", line)
        if match and match[1] in touches:
            return number
    return None


def _normal(code: str) -> str:
    return re.sub(r"\s+", "", code)


def _parsed(code: str) -> ast.Module | None:
    """A syntax tree, after dropping the lines that Python cannot read."""
    lines = [_plain(line) for line in textwrap.dedent(code).split("\n")]
    for _ in range(min(_MAX_REPAIRS, 1 + _MAX_CODE * 2 // (len(code) + 1))):
        try:
            return _syntax_tree("\n".join(lines))
        except SyntaxError as error:
            at = (error.lineno or 0) - 1
            if not 0 <= at < len(lines) or not _blank_out(lines, at, error.msg or ""):
                return None
        except (ValueError, RecursionError, MemoryError):
            return None
    return None


def _syntax_tree(code: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an invalid escape in somebody's code is no news
        return ast.parse(code)


def _plain(line: str) -> str:
    line = _CONTINUATION.sub("", _PROMPT.sub("", line))
    if _MAGIC.match(line):
        return ""
    return line.rstrip().replace("\u00a0", " ")


def _blank_out(lines: list[str], at: int, message: str) -> bool:
    """Repair one line: an empty body gets `pass`, anything else goes. False if nothing changed."""
    if message.startswith("expected an indented block"):
        above = next((k for k in range(at - 1, -1, -1) if lines[k].strip()), None)
        if above is not None and not lines[above].rstrip().endswith("pass"):
            lines[above] = lines[above].split("#")[0].rstrip() + " pass"
            return True
    if message.startswith(("unexpected indent", "unindent")):
        lines[at] = lines[at].strip()
        return True
    if not lines[at].strip():
        return False
    lines[at] = ""
    return True


def _imported(tree: ast.Module, touches: frozenset[str]) -> set[str]:
    names: set[str] = set()
    for node in _nested(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in touches:
                    names.add((alias.asname or alias.name).split(".")[0])
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in touches:
            names.update(alias.asname or alias.name for alias in node.names)
    return names | _called_from_nowhere(tree) if "*" in names else names


def _called_from_nowhere(tree: ast.Module) -> set[str]:
    """What is called by a name that nothing here defines: after `import *`, the product's."""
    nodes = _all_nodes(tree)
    called = {x.func.id for x in nodes if isinstance(x, ast.Call) and isinstance(x.func, ast.Name)}
    defined = {x.name for x in nodes if isinstance(x, (ast.FunctionDef, ast.ClassDef))}
    return called - defined - _names_in(nodes, ast.Store) - vars(builtins).keys()


def _nested(tree: ast.AST) -> Iterator[ast.AST]:
    """Every statement at any depth; expressions, which are most of a tree, hold none."""
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        for name in _BODIES:
            todo.extend(getattr(node, name, ()))


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements that run, definitions entered: theirs are what a caller would run."""
    todo: list[ast.stmt] = list(tree.body)
    while todo:
        node = todo.pop(0)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            todo = [*node.body, *todo]
        elif not isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node


def _touches(nodes: Iterable[ast.AST], known: Set[str]) -> bool:
    return any(
        isinstance(node, ast.Call)
        and (_root_name(node.func) in known or f".{_method(node.func)}" in known)
        for node in nodes
    )


def _method(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ""


def _root_name(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_excerpt(tree: ast.Module) -> bool:
    """Part of somebody's class: `self` is used where nothing at this level defines it.

    What a test case has anyway (`self.rank`, `self.assertEqual(…)`) makes its body no excerpt.
    """
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            continue
        nodes = _all_nodes(node, ast.ClassDef)
        used = [x for x in nodes if isinstance(x, ast.Name) and x.id == "self"]
        if len(used) > sum(map(_is_of_a_test, nodes)):
            return True
    return False


def _is_of_a_test(node: ast.AST) -> bool:
    """`self.rank`, `self.world_size`, `self.device_type`, `self.assertEqual`: of a test's base."""
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
        and (node.attr in _OF_A_TEST or node.attr.startswith("assert"))
    )
