"""What the tools' own --help says: their commands, and the options of each."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module

TOOLS: Mapping[str, str] = {
    "issue-triage": "triage",
    "pipeline-failure-report": "failures",
    "post-mortem-render": "postmortem",
}


@cache
def commands(tool: str) -> tuple[str, ...]:
    """The commands of a tool, as in `run` or `policy check`."""
    return tuple(re.findall(r"^  ([a-z][a-z-]*(?: [a-z]+)?)  +\S", _help(tool, ()), re.MULTILINE))


@cache
def options(tool: str, command: str) -> frozenset[str]:
    """The options of one command, without their dashes; `help` left out."""
    named = re.findall(r"^  (?:-\w, )?--([a-z][a-z-]*)", _help(tool, tuple(command.split())), re.M)
    return frozenset(named) - {"help"}


def all_options(tool: str) -> frozenset[str]:
    return frozenset().union(*(options(tool, command) for command in commands(tool)))


def _help(tool: str, command: tuple[str, ...]) -> str:
    main = import_module(f"ciops.{TOOLS[tool]}.app").main
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main([*command, "--help"], {})
    return printed.getvalue()
