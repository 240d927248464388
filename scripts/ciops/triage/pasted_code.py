"""What is pasted otherwise than as Python in a fence: unfenced, numbered, a diff, C++, a repr."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ciops.triage import line_shapes

_HEADER: Final = re.compile(r"(?:diff --git |index [0-9a-f]|--- |\+\+\+ )")
_FILE: Final = re.compile(r"(?:diff --git a/\S{1,200} b|\+\+\+ (?:b(?=/))?)(?P<path>\S{1,200})")
_OF_A_DIFF: Final = ("+", "-", " ", "@", "\\")
_INCLUDE: Final = re.compile(r"^[ \t]{0,8}#[ \t]{0,4}include[ \t]{0,4}[<\"](\w{1,40})[/.]", re.M)
_ENTRY: Final = re.compile(
    r"^[ \t]{0,8}(?:(?:int|auto)[ \t]{1,4}main|TEST(?:_[FP])?)[ \t]?\(", re.M
)
_NUMBERED: Final = re.compile(r"[ ]{0,4}(?P<at>\d{1,4})(?:[:.|]?[ \t]{1,2}|$)")
_PART: Final = re.compile(r"[ \t]{1,12}\(\w{1,60}\): [A-Z]\w{0,80}\(")


def unnumbered(lines: Sequence[str]) -> list[str]:
    """Lines of a listing without their numbers, where nearly all of them have one."""
    first = [match for line in lines[:2] if (match := _NUMBERED.match(line))]
    if len(first) < 2 or int(first[1]["at"]) != int(first[0]["at"]) + 1:
        return list(lines)
    found = [_NUMBERED.match(line) for line in lines]
    if 10 * sum(match is not None for match in found) < 8 * len(lines):
        return list(lines)
    return [
        line[match.end() :] if match else line for line, match in zip(lines, found, strict=True)
    ]


def is_printed(lines: Sequence[str]) -> bool:
    """Whether an object printed itself and its parts: `Net(`, then `  (a): Linear(…)`."""
    first = [line for line in lines[:8] if line.strip()][:2]
    return len(first) == 2 and first[0].endswith("(") and _PART.match(first[1]) is not None


def starts_other_code(line: str) -> bool:
    """Whether a line includes a header, or is the head of a diff."""
    return line.startswith(("diff --git a/", "--- a/", "@@ -")) or (
        "#" in line and _INCLUDE.match(line) is not None
    )


def unfenced_code(lines: Sequence[str], shapes: Sequence[str]) -> set[int]:
    """Which lines belong to runs of at least three lines of Python that nobody fenced."""
    found: set[int] = set()
    end = 0
    for at, (line, shape) in enumerate(zip(lines, shapes, strict=True)):
        if at < end or shape != "other" or not line_shapes.starts_python(line):
            continue
        end = _code_end(lines, at)
        run = [k for k in range(at, end) if lines[k].strip()]
        if len(run) >= 3:
            found.update(run)
    return found


def _code_end(lines: Sequence[str], start: int) -> int:
    end = start + 1
    while end < len(lines):
        if lines[end].strip() and not line_shapes.continues_python(lines[end]):
            break
        if not lines[end].strip() and not _resumes(lines, end):
            break
        end += 1
    return end


def _resumes(lines: Sequence[str], at: int) -> bool:
    later = next((line for line in lines[at + 1 : at + 4] if line.strip()), "")
    return line_shapes.starts_python(later) or later.startswith(("    ", "\t"))


def as_python(lines: Sequence[str], product: Sequence[str]) -> list[str]:
    """Lines of code; of a diff what is there after it, without what it changes in the product.

    `product` are parts of the paths of the product's own source. As many lines as were given.
    """
    return list(_applied(lines, product)) if _is_diff(lines) else list(lines)


def _is_diff(lines: Sequence[str]) -> bool:
    """Whether every line has a diff's mark, and one of them is added or taken away."""
    shown = [line for line in lines if line.strip() and not _HEADER.match(line)]
    changed = any(line.startswith(("+", "-")) and line[1:].strip() for line in shown)
    return changed and all(line.startswith(_OF_A_DIFF) for line in shown)


def _applied(lines: Sequence[str], product: Sequence[str]) -> Iterator[str]:
    own = True
    for line in lines:
        if match := _FILE.match(line):
            path = f"/{match['path'].lstrip('/')}"
            own = not any(part in path for part in product)
        kept = own and line.startswith(("+", " ")) and not _HEADER.match(line)
        yield line[1:] if kept else ""


def native_line(code: str, touches: frozenset[str]) -> int | None:
    """The 1-based line where a whole program in C++ includes the product, or None."""
    if "#" not in code or not _ENTRY.search(code):
        return None
    found = next((x for x in _INCLUDE.finditer(code) if x[1] in touches), None)
    return code.count("\n", 0, found.start()) + 1 if found else None
