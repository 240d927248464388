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
def about(tool: str) -> dict[str, str]:
    """What each command is for, in the tool's own words."""
    lines = re.findall(r"^  ([a-z][a-z-]*(?: [a-z]+)?)  +(\S.*)$", _help(tool, ()), re.MULTILINE)
    return dict(lines)


@cache
def usage(tool: str, command: str) -> str:
    """The words behind a command, as in `[--repo OWNER/NAME] --issue N`; -h left out."""
    text = _help(tool, tuple(command.split())).partition("\n\n")[0]
    words = " ".join(text.split()).partition(f".py {command} ")[2]
    return words.removeprefix("[-h]").strip()


@cache
def options(tool: str, command: str) -> frozenset[str]:
    """The options of one command, without their dashes; `help` left out."""
    named = re.findall(r"^  (?:-\w, )?--([a-z][a-z-]*)", _help(tool, tuple(command.split())), re.M)
    return frozenset(named) - {"help"}


def help_of(tool: str, command: str) -> str:
    """What `--help` of a command prints; of the tool itself for ""."""
    return _help(tool, tuple(command.split()))


def all_options(tool: str) -> frozenset[str]:
    return frozenset().union(*(options(tool, command) for command in commands(tool)))


def _help(tool: str, command: tuple[str, ...]) -> str:
    main = import_module(f"ciops.{TOOLS[tool]}.app").main
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main([*command, "--help"], {})
    return printed.getvalue()
