"""Options from the command line, and below it from the inputs of a job (`INPUT_<NAME>`).

An input is data: whatever it holds, it becomes the value of its own option and never another one.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final, NoReturn

from ciops.errors import UsageError
from ciops.plumbing.ci_host import CiHost, detect
from ciops.plumbing.yaml_file import shown

TOKENS: Final = ("GITHUB_TOKEN", "GITLAB_TOKEN", "CI_JOB_TOKEN", "JIRA_API_TOKEN", "JIRA_PAT")
NO: Final = frozenset({"false", "no", "off", "0", ""})
_REQUIRED: Final = "the following arguments are required: "  # argparse's own words
_YES: Final = frozenset({"true", "yes", "on", "1"})


class Parser(argparse.ArgumentParser):
    """A parser whose errors are sentences of ours, and which takes no shortened options.

    A tool names its entry script. Of the options in `instead` one on the command line takes the
    place of the inputs of all. With `reads_positionals` inputs are read for these as well.
    """

    script: ClassVar[str]
    instead: ClassVar[frozenset[str]] = frozenset()
    reads_positionals: ClassVar[bool] = False

    def __init__(self, command: str, about: str, example: str) -> None:
        super().__init__(
            prog=f"{self.script} {command}",
            description=about,
            epilog=f"example:\n  {self.script} {command} {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        step = f"See {self.prog} --help"
        if message.startswith(_REQUIRED):
            names = message.removeprefix(_REQUIRED)
            message = f"{names} is not given"
            step = step if names.startswith("-") else f"For an action it is the input paths. {step}"
        raise UsageError(message, step)


def open_host(env: Mapping[str, str], folder: Path = Path("out")) -> CiHost:
    """The host of this run, which shows no token of any tool."""
    host = detect(env, folder)
    for name in TOKENS:
        host.mask(env.get(name, ""))
    return host


def parse(parser: Parser, argv: Sequence[str], host: CiHost) -> argparse.Namespace:
    """The options; what the command line leaves open comes from the host's inputs."""
    return parser.parse_args([*_from_inputs(parser, argv, host.inputs()), *argv])


def _from_inputs(parser: Parser, argv: Sequence[str], inputs: Mapping[str, str]) -> Iterator[str]:
    given = {argument.partition("=")[0] for argument in argv}
    if given & parser.instead:
        given |= parser.instead
    named = any(not argument.startswith("-") for argument in argv[:1])
    for action in parser._actions:
        option = next((text for text in action.option_strings if text.startswith("--")), "")
        value = inputs.get(option.removeprefix("--") or action.dest.replace("_", "-"), "")
        if not value or option in given:
            continue
        if option:
            yield from _as_option(option, action.nargs, value)
        elif parser.reads_positionals and not named:
            yield from map(_as_positional, _words(value) if action.nargs in ("+", "*") else [value])


def _as_option(option: str, nargs: int | str | None, value: str) -> Iterator[str]:
    if nargs == 0:
        if truth(value, option.removeprefix("--")):
            yield option
    elif nargs == "+":
        yield from (f"{option}={word}" for word in _words(value))
    else:
        yield f"{option}={value}"


def _as_positional(value: str) -> str:
    return f"./{value}" if value.startswith("-") else value  # no option, whatever it is called


def _words(value: str) -> list[str]:
    return [word for word in re.split(r"[\s,]+", value) if word]


def truth(value: str, name: str) -> bool:
    """A yes or no; UsageError for anything else."""
    folded = value.strip().casefold()
    if folded in _YES:
        return True
    if folded in NO:
        return False
    raise UsageError(f"input {name} is {shown(value)}", "Write true or false")
