"""Authored excerpts of logs with the first causal line marked, as tests read them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ciops.failures.knowledge import Knowledge, load_knowledge
from ciops.failures.scan_result import ScanResult
from ciops.failures.trace import TraceReader

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data/failures"
CONFIG = ROOT / "config/pipeline-failure-report/autodeploy.yml"


@dataclass(frozen=True)
class Excerpt:
    """A log, what is to be found in it, and the evidence that this is."""

    name: str
    evidence: str
    text: str
    line: int | None
    also: tuple[int, ...]


@cache
def shipped() -> Knowledge:
    """The configuration that comes with the project."""
    return load_knowledge(CONFIG)


def scan(text: str | bytes, chunk: int = 0) -> ScanResult:
    """Read a whole trace at once, or in chunks of some bytes."""
    data = text.encode() if isinstance(text, str) else text
    reader = TraceReader(shipped())
    step = chunk or max(len(data), 1)
    for at in range(0, len(data), step):
        reader.feed(data[at : at + step])
    return reader.finish()


def excerpts(path: Path) -> Iterator[Excerpt]:
    """The excerpts of a file: `#### name [evidence]`, `@@` and `@~` before lines that are right."""
    for block in path.read_text(encoding="utf-8").split("\n#### ")[1:]:
        head, _, body = block.partition("\n")
        name, _, evidence = head.removesuffix("]").partition(" [")
        lines = body.rstrip("\n").split("\n")
        right = [n for n, line in enumerate(lines, 1) if line.startswith("@@")]
        also = [n for n, line in enumerate(lines, 1) if line.startswith("@~")]
        text = "\n".join(line[2:] if line.startswith(("@@", "@~")) else line for line in lines)
        line = right[0] if right else None
        yield Excerpt(name, evidence or "strong", text + "\n", line, tuple(also))
