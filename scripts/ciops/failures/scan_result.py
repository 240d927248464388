"""What reading a trace yields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from ciops.failures.config_dump import HintValue
from ciops.failures.frames import Frame, OwnedFrame

STRONG: Final = "strong"
WEAK: Final = "weak"
NONE: Final = "none"


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A cleaned line of the trace, secrets masked; `number` is 1-based in the raw trace."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class ScanResult:
    """The first causal error of a trace, with its evidence; all texts have their secrets masked.

    `line` and `text` are None where the trace shows no cause. `exception` is the bare class.
    `frame` is the innermost frame in owned code, `frames` go from the outermost inwards. `message`
    holds lines that continue the error. `kind` and `rule` say how the line was known. `observed`
    names observations of the configuration that hold for the trace. `reason` says in words why
    the evidence is weak.
    """

    line: int | None = None
    text: str | None = None
    exception: str | None = None
    frame: OwnedFrame | None = None
    evidence: str = NONE
    signature: str = ""
    kind: str = ""
    rule: str = ""
    role: str = ""
    frames: tuple[Frame, ...] = ()
    message: tuple[str, ...] = ()
    wrappers: tuple[NumberedLine, ...] = ()
    excerpt: tuple[NumberedLine, ...] = ()
    model: str | None = None
    runtime_hints: Mapping[str, HintValue] = field(default_factory=lambda: MappingProxyType({}))
    commit: str | None = None
    observed: frozenset[str] = frozenset()
    lines: int = 0
    size: int = 0
    reason: str = ""
