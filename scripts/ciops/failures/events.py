"""What happened in a trace: one event, and what its kind and its role mean for those beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from ciops.failures import line_rules as roles
from ciops.failures.frames import Frame
from ciops.failures.framing import Visible

LINES_BEFORE: Final = 24
LINES_AFTER: Final = 10
_NUMBERS: Final = re.compile(r"\d+|0x[0-9a-fA-F]+|[0-9a-f]{12,}")


@dataclass(slots=True)
class Event:
    """One thing that happened.

    `number` is the line that names it, `start` the line on which its block (a traceback) began,
    `end` its last line. `alive` counts ordinary lines that the same process printed soon after,
    `outlived` how often it lived on before it said so again. A `bare` event is one line without a
    traceback; one is `mentioned` where the line only tells of it ("tactic 3 failed: RuntimeError:
    …"), `shown` where a log is printed after the fact, `passed_over` where the script went on to
    its next command, and not `sure` where its rule is not. `unit` names the test, or its like, that
    said it; `indent` tells how far to the right, `spelt` whether all since stands further there.
    """

    number: int
    text: str
    role: str
    rule: str = ""
    kind: str = ""
    source: str = ""
    unit: str = ""
    exception: str = ""
    carried: str = ""
    start: int = 0
    end: int = 0
    frames: tuple[Frame, ...] = ()
    chain: Event | None = None
    bare: bool = False
    sure: bool = True
    mentioned: bool = False
    epilogue: bool = False
    shown: bool = False
    passed_over: bool = False
    indent: int = 0
    spelt: bool = True
    recovered: bool = False
    retried: bool = False
    repeats: int = 0
    last: int = 0
    alive: int = 0
    outlived: int = 0
    more: list[str] = field(default_factory=list)
    before: list[Visible] = field(default_factory=list)
    after: list[Visible] = field(default_factory=list)

    @property
    def key(self) -> str:
        """What stays the same when it happens again."""
        return f"{self.role}|{self.exception}|{self.unit}|{_NUMBERS.sub('#', self.text)[:300]}"


FINDINGS: Final = frozenset(("test", "compile", "link", "lint", "configure"))
"""Kinds of what tools find in code."""
FAILED: Final = frozenset((roles.WRAPPER, roles.KILL, roles.CANCEL))
"""Roles that say that the job, or something in it, failed."""
VERDICTS: Final = frozenset(("runner", "concluded"))
"""Kinds of wrappers by which the runner itself says that the job failed."""
ENDS_ITSELF: Final = re.compile(r"\+ (?:exit|return) [1-9]\d{0,2}$|\+ false$")
"""How a shell repeats the command by which a script ends itself as failed."""
