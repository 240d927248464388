"""Is there something somebody could run or follow to see the failure?

Code counts when a statement of it touches the product: fences are parsed (with tolerance), so a
log, a traceback, a configuration, the untouched template or an excerpt of the product's own
source do not count. So do commands that run code or name an upstream test, links, and steps.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from ciops.triage.evidence import Evidence
from ciops.triage.issue_text import Line, Reading
from ciops.triage.policy import Policy

_MAX_CODE: Final = 20_000
_MAX_REPAIRS: Final = 12
_PROMPT: Final = re.compile(r"^\s*(?:>>> ?|In \[\d+\]: ?)")
_CONTINUATION: Final = re.compile(r"^\.\.\. ?")
_MAGIC: Final = re.compile(r"^\s*[!%$]")
_ONE_LINER: Final = re.compile(r"python[\d.]{0,5} +-c +(?P<q>[\"'])(?P<code>.{3,600})(?P=q)")
_HEREDOC: Final = re.compile(r"<< ?-?[\"']?(?:EOF|PY|END)\b")
_INLINE: Final = re.compile(r"`([^`\n]{3,300})`")
_LAUNCH: Final = re.compile(
    r"\b(?:torchrun|mpirun|mpiexec|srun|python[\d.]{0,3}|accelerate launch) -|init_process_group\("
)
_LAUNCHER: Final = re.compile(
    r"^\s*(?:\w+=\S+ )*(?:torchrun|srun|mpirun|mpiexec|accelerate|deepspeed|python[\d.]{0,4})\b"
)
_ENOUGH: Final = re.compile(
    r"\b(?:reproduces?|is enough|suffices|shows? it|shows? the|triggers? (?:it|the)|to reproduce|repro)\b|(?:→|->|=>|\b(?:gives|raises|fails(?: with)?|dies(?: with)?|prints|throws)):?\s*$",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s")
_LIST_ITEM: Final = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)]|step \d+[:.)]?)[ \t]+(?P<text>\S.*)", re.IGNORECASE)
_CONCRETE: Final = re.compile(r"`[^`]+`|--\w|\b\w+\.(?:py|sh|yaml|toml|ipynb)\b|\$ |\d")

TOLD: Final = frozenset({"steps", "inline_code"})
"""Signs that are told rather than given: a request that describes a use has them as well."""


def find_reproduction(
    reading: Reading, found: Sequence[Evidence], policy: Policy
) -> list[Evidence]:
    """The evidence that a reproduction is there, best first; empty when there is none."""
    signs = [_sign(line, signal) for line, signal in _signs(reading, policy)]
    told = [item for item in found if item.topic == "reproduction:present" and item.points > 0]
    confirmed = [
        item
        for item in found
        if item.topic == "reproduction:confirmed" and item.speaker == "maintainer" and item.points > 0
    ]
    return [*signs, *told, *confirmed]


def touching_block(reading: Reading, policy: Policy) -> Line | None:
    """The first line of code that touches the product, in the report itself."""
    touches, template = policy.reproduction.touches, policy.reproduction.template_code
    for block in _code_blocks(reading):
        at = touching_line("\n".join(line.text for line in block), touches, template)
        if at is not None and block[0].turn == 0:
            return block[min(at, len(block)) - 1]
    return None


def _sign(line: Line, signal: str) -> Evidence:
    return Evidence(
        "reproduction:present", signal, "root", 4.0, line.zone, line.where, line.number, line.last,
        line.text, line.turn, line.speaker,
    )  # fmt: skip


def _signs(reading: Reading, policy: Policy) -> Iterator[tuple[Line, str]]:
    touches, template = policy.reproduction.touches, policy.reproduction.template_code
    yield from _job_scripts(reading)
    for block in _code_blocks(reading):
        code = "\n".join(line.text for line in block)
        at = touching_line(code, touches, template)
        if at is not None:
            yield block[min(at, len(block)) - 1], "code"
    for line in reading.lines:
        one_liner = _ONE_LINER.search(line.text) if "python" in line.text else None
        if one_liner and _one_liner_touches(one_liner["code"], touches):
            yield line, "command"
    yield from _inline_code(reading, touches)
    yield from _steps(reading)


def _job_scripts(reading: Reading) -> Iterator[tuple[Line, str]]:
    """A batch script that launches something: it may need a cluster, and counts all the same."""
    blocks: dict[tuple[int, int], list[Line]] = {}
    for line in reading.lines:
        if line.zone in ("shell", "code", "log"):
            blocks.setdefault((line.turn, line.block), []).append(line)
    for block in blocks.values():
        headed = any(line.text.startswith(("#!", "#SBATCH", "#PBS", "#BSUB")) for line in block)
        launch = next((line for line in block if _LAUNCHER.search(line.text)), None)
        if headed and launch is not None and len(block) >= 3:
            yield launch, "job_script"


def _code_blocks(reading: Reading) -> Iterator[list[Line]]:
    """The code of each fence; what it printed in between does not part it."""
    blocks: dict[tuple[int, int], list[Line]] = {}
    for line in reading.lines:
        if line.zone == "code":
            blocks.setdefault((line.turn, line.block), []).append(line)
    yield from blocks.values()


def _one_liner_touches(code: str, touches: frozenset[str]) -> bool:
    names = set(re.findall(r"\w+", code))
    return bool(names & touches)


def _inline_code(reading: Reading, touches: frozenset[str]) -> Iterator[tuple[Line, str]]:
    """A program told in code spans: calls that touch the product, and how it is started."""
    for turn in range(reading.turns + 1):
        calls: list[Line] = []
        launched = False
        for line in reading.lines:
            if line.turn != turn or line.zone not in ("prose", "steps", "shell"):
                continue
            launched = launched or bool(_LAUNCH.search(line.text))
            spans = _INLINE.findall(line.text) if "`" in line.text else ()
            calls.extend(line for span in spans if _is_call(span, touches))
            if _snippet_is_enough(line.text, touches):
                yield line, "inline_code"
        if launched and len(calls) >= 2:
            yield calls[0], "inline_code"


def _snippet_is_enough(text: str, touches: frozenset[str]) -> bool:
    """One call in a sentence that says that it shows the failure."""
    if "`" not in text:
        return False
    return any(
        _is_program(span, touches)
        or (_is_call(span, touches) and _ENOUGH.search(_INLINE.sub("", sentence)))
        for sentence in _SENTENCE.split(text)
        for span in _INLINE.findall(sentence)
    )


@lru_cache(maxsize=512)
def _is_program(span: str, touches: frozenset[str]) -> bool:
    """Whether a code span is a whole program in a line: `import x; x.f()`."""
    return "import " in span and ";" in span and touching_line(span, touches, ()) is not None


@lru_cache(maxsize=512)
def _is_call(span: str, touches: frozenset[str]) -> bool:
    """Whether a code span is a call with arguments, or an assignment of one."""
    if "(" not in span:
        return False
    try:
        tree = _syntax_tree(span.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return any(call.args or call.keywords for call in calls)


_STEP_VERB: Final = re.compile(
    r"^\W{0,4}(?:then |first,? |finally,? |next,? |and |now |on \w+ ?\w*[,:] )?(?:run|launch|start|clone|install|set|export|call|create|build|save|load|kill|restart|wait|train|open|use|execute|init\w*|wrap|apply|resume|download|checkout|add|replace|remove|change|make|compile|stop|send|submit|enable|disable|insert|construct|define|import|take|put|copy|edit|pass|do|ctrl|press|unplug|spawn|pip|conda|git|python|torchrun|srun|mpirun|cd|observe|see|watch|check|compare|trigger|configure|deploy|prepare|pick|write|interrupt|drop|repeat|shrink|scale)\b",
    re.IGNORECASE,
)


def _steps(reading: Reading) -> Iterator[tuple[Line, str]]:
    """At least two listed steps that tell somebody what to do, one of them concrete."""
    for turn in range(reading.turns + 1):
        steps = [
            line
            for line in reading.lines
            if line.turn == turn and line.zone in ("prose", "steps") and _is_step(line.text)
        ]
        told = next((x for x in reading.lines if x.turn == turn and _tells_steps(x)), None)
        if told is not None:
            yield told, "steps"
        if len(steps) >= 2 and sum(bool(_CONCRETE.search(_item(x.text))) for x in steps) >= 1:
            yield steps[0], "steps"


_TELLS: Final = re.compile(
    r"(?:^|[.!?] )\W{0,4}(?:steps?|to reproduce|repro(?:duction|ducer)?|how to reproduce|reproduce (?:with|by)"
    r"|(?:minimal |test )?script|minimal example)\b[^:\n]{0,30}:\s*(?P<told>\S.{20,600})",
    re.IGNORECASE,
)


def _tells_steps(line: Line) -> bool:
    """`Steps: do this, then that` in one sentence, with something concrete in it."""
    match = _TELLS.search(line.text) if line.zone in ("prose", "steps") else None
    if match is None:
        return False
    told = match["told"]
    return "`" in told or told.count(",") >= 2 or bool(_LAUNCH.search(told))


def _is_step(text: str) -> bool:
    match = _LIST_ITEM.match(text)
    if match is None:
        return False
    item = match["text"].lstrip("*")
    return item.startswith("`") or _STEP_VERB.match(item) is not None


def _item(text: str) -> str:
    match = _LIST_ITEM.match(text)
    return match["text"] if match else ""


@lru_cache(maxsize=256)
def touching_line(code: str, touches: frozenset[str], template: tuple[str, ...]) -> int | None:
    """The 1-based line of the first statement that touches the product, or None.

    Imports alone, definitions that nobody could run, statements of the issue form's own example
    and excerpts of a class's method (a `self` that nothing defines) do not count.
    """
    if match := _typed_import(code, touches):
        return match
    tree = _parsed(code[:_MAX_CODE])
    if tree is None:
        return None
    names = set(touches) | _imported(tree, touches)
    own = {_normal(line) for line in template}
    if _is_excerpt(tree):
        return None
    for node in _statements(tree):
        if _touches(node, names) and _normal(ast.unparse(node)) not in own:
            return node.lineno
    return None


def _typed_import(code: str, touches: frozenset[str]) -> int | None:
    """An import typed at a prompt was run, and may be all that it takes."""
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
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in touches:
                    names.add((alias.asname or alias.name).split(".")[0])
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in touches:
            names.update(alias.asname or alias.name for alias in node.names)
    return names


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements that run, definitions entered: theirs are what a caller would run."""
    todo: list[ast.stmt] = list(tree.body)
    while todo:
        node = todo.pop(0)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            todo = [*node.body, *todo]
        elif not isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node


def _touches(node: ast.stmt, names: Iterable[str]) -> bool:
    known = set(names)
    return any(
        isinstance(child, ast.Call)
        and (_root_name(child.func) in known or f".{_method(child.func)}" in known)
        for child in ast.walk(node)
    )


def _method(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ""


def _root_name(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_excerpt(tree: ast.Module) -> bool:
    """Part of somebody's class: `self` is used where nothing at this level defines it."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            continue
        if any(isinstance(child, ast.Name) and child.id == "self" for child in _shallow(node)):
            return True
    return False


def _shallow(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is below it, without the classes in it."""
    todo = [node]
    while todo:
        current = todo.pop()
        yield current
        todo.extend(
            child for child in ast.iter_child_nodes(current) if not isinstance(child, ast.ClassDef)
        )
