"""What one line looks like: a traceback frame, a log record, a command, Python, a sentence.

Shapes are those of Python, of C++ backtraces, shells and log libraries; nothing here knows a
product. Every pattern is bounded, so a line costs a time in proportion to its length.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

Shape = Literal[
    "header", "frame", "chain", "stack", "cpp", "log", "error", "shell", "command", "other"
]

FRAME: Final = re.compile(
    r'^[ |>E]*File "(?P<path>[^"\n]{1,400})", line (?P<line>\d{1,7})(?:,? in (?P<name>.{1,200}))?'
)
"""A frame of a Python traceback; faulthandler leaves the comma out."""

ERROR: Final = re.compile(
    r"^(?:E +)?(?P<name>(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}"
    r"(?:Error|Exception|Exit|Interrupt|Timeout|Failure|Unsupported|Warning|Killed))"
    r"(?:$|:[ ]?(?P<message>.*))"
)
"""The last line of a traceback: `torch.distributed.DistBackendError: NCCL error …`."""

STACK_FRAME: Final = re.compile(
    r"^[ ]{0,8}(?P<name>[\w<>.]{1,80}) \((?P<path>[\w./<>-]{1,200}\.(?:py|cpp|cc|cu|c|h"
    r"|hpp)):\d{1,6}\)"
)
"""A frame as py-spy prints it: `wait (threading.py:331)`."""

_NATIVE: Final = (
    r"frame #\d{1,3}:|Exception raised from \S|C\+\+ (?:CapturedTraceback|stacktrace)"
    r"|#\d{1,3}:? +(?:0x[0-9a-f]|[\w:~<>]{2,200} ?(?:\(|from |const))"
)
_LOG: Final = (
    r"\[?[IWEF]\d{3,8}[ T]\d\d:\d\d|\[?[EWIF] [\w./]{3,60}\.(?:cpp|cc|cu|h|py):\d"
    r"|\[(?:INFO|WARNING|WARN|ERROR|DEBUG|CRITICAL|FATAL)\]|(?:INFO|WARNING|ERROR|DEBUG|CRITICAL):"
    r"|[\w.-]{1,60}:\d{1,8}:\d{1,8} \[\d{1,3}\] |\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
    r"|Signal \d{1,2} \(SIG|terminate called|what\(\):|\*{3} |={10,}|-{10,}"
    r"|(?:Fatal Python error|Segmentation fault|Bus error|Aborted|Killed)\b"
    r"|\[?[\w./-]{1,200}\.(?:cpp|cc|cu|cuh|c|h|hpp):\d{1,6}[\]:,) ]"
)
_SHELL: Final = (
    r"(?:\([\w.-]{1,40}\) ?)?(?:[\w.-]{1,40}@[\w.-]{1,60}[:~ ][^$#\n]{0,80})?[$%] \S"
    r"|root@\S{1,80}# \S"
)
_COMMAND: Final = (
    r"(?:[A-Z][A-Z0-9_]{1,60}=\S{0,200} ){0,12}"
    r"(?:sudo |time |env |nohup )?(?:[\w./~-]{0,120}/)?"
    r"(?:torchrun|python[\d.]{0,5}|pytest|pip[\d.]{0,4}|uv|conda|mamba|srun|sbatch|mpirun|mpiexec"
    r"|accelerate|deepspeed|docker|kubectl|git|cmake|make|ninja|bash|sh|export|cd|gdb|nsys|ldd|curl"
    r"|wget|ray|apt-get|unset|ulimit) +[-\w./$\"'<{~:=@]"
)

_SHAPE: Final = re.compile(
    r"(?P<header>[ |>E]*Traceback \(most recent call last\))"
    r'|(?P<frame>[ |>E]*File "[^"\n]{1,400}", line \d)'
    r"|(?P<chain>[ |]*(?:During handling of the above exception"
    r"|The above exception was the direct))"
    r"|(?P<stack>[ ]{0,8}[\w<>.]{1,80} \([\w./<>-]{1,200}\.(?:py|cpp|cc|cu|c|h|hpp):\d{1,6}\)"
    r"|(?:Current )?[Tt]hread (?:0x[0-9a-f]{1,16}|\d{1,9}) \()"
    rf"|(?P<cpp>[ ]{{0,8}}(?:{_NATIVE}))"
    rf"|(?P<error>{ERROR.pattern[1:].replace('?P<name>', '?:').replace('?P<message>', '?:')})"
    rf"|(?P<log>[ ]{{0,4}}(?:{_LOG}))"
    rf"|(?P<shell>[ ]{{0,4}}(?:{_SHELL}))"
    rf"|(?P<command>[ ]{{0,4}}(?:{_COMMAND}))"
)

_PYTHON: Final = re.compile(
    r"[ \t]{0,60}(?:>>> |\.\.\. |In \[\d{1,4}\]: ?)?(?:"
    r"from [\w.]{1,120} import |import [\w.]{1,120}(?: as \w{1,40})?(?:[,;#\s]|$)"
    r"|(?:async )?def \w{1,80}\(|class \w{1,80}\b.{0,200}:|@[\w.]{1,80}|(?:return|yield|raise"
    r"|assert|del)\b[ (]"
    r"|(?:with|for|if|while|elif|except)\b.{1,300}:(?:\s|$)|(?:else|try|finally):"
    r"|[\w.\[\]\"'(), *]{1,120} ?[-+*/|@]?= ?\S|[\w.]{1,120}\[[^\]\n]{1,120}\](?:\s|$|\.)"
    r"|[\w.\[\]\"']{1,120}\((?:[^ ].{0,400})?$|[\w.\[\]\"']{1,120}\(.{0,400}\)[\s;#.]|pass(?:\s"
    r"|$)|\.\.\.(?:\s|$)"
    r")"
)
_PYTHON_START: Final = re.compile(
    r"[ \t]{0,12}(?:>>> |In \[\d{1,4}\]: ?)?(?:from [\w.]{1,120} import \S"
    r"|import [\w.]{1,120}(?: as \w{1,40})?(?:[,;#]|\s*$)"
    r"|def \w{1,80}\(.{0,200}:|class \w{1,80}(?:\(.{0,120}\))?:\s*$|@[\w.]{1,80}(?:\(|\s*$)"
    r"|[\w.\[\]\"', ]{1,80} = [\w.]{1,80}[(\[]|[\w.]{3,80}\([^ ]?.{0,200}\)\s*(?:#.*)?$"
    r"|with [\w.]{1,80}\(.{0,200}:\s*$)"
)
_CONTINUED: Final = re.compile(r"^(?:[ \t]+\S|[)\]}]|#)")
_DUMP: Final = re.compile(
    r"^(?:\[(?:pip3?|conda|uv)\]|GPU \d|[\w()/. +-]{2,60}:(?: |$)|/\S{1,200}$|Flags: |\s*$|-{3,}"
    r"|\|)"
)


@lru_cache(maxsize=4096)
def shape_of(line: str) -> Shape:
    """The shape of a line that has lost its rank and time prefixes."""
    match = _SHAPE.match(line)
    return match.lastgroup if match else "other"  # type: ignore[return-value]


def looks_python(line: str) -> bool:
    """Whether a line inside a fence reads as Python."""
    return _PYTHON.match(line) is not None


def starts_python(line: str) -> bool:
    """Whether a line outside any fence is code beyond doubt, so that a run may start there."""
    return _PYTHON_START.match(line) is not None


def continues_python(line: str) -> bool:
    """Whether a line may go on with a run of code: indented, closing, a comment, or code."""
    return _CONTINUED.match(line) is not None or looks_python(line)


def looks_dumped(line: str) -> bool:
    """Whether a line reads as one of an environment dump: `key: value`, a package, a path."""
    return _DUMP.match(line) is not None
