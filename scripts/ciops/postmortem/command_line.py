"""Options that the commands share: from the command line, and from `INPUT_<NAME>` below it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NoReturn

from ciops.errors import UsageError
from ciops.plumbing.ci_host import CiHost, detect
from ciops.plumbing.yaml_file import shown
from ciops.postmortem.record import LANGUAGES

TOKENS: Final = ("JIRA_API_TOKEN", "JIRA_PAT", "GITHUB_TOKEN", "GITLAB_TOKEN", "CI_JOB_TOKEN")
_YES: Final = frozenset({"true", "yes", "on", "1"})
_NO: Final = frozenset({"false", "no", "off", "0", ""})


class Parser(argparse.ArgumentParser):
    """A parser whose errors are sentences of ours, and which takes no shortened options."""

    def __init__(self, command: str, about: str, example: str) -> None:
        super().__init__(
            prog=f"post_mortem_render.py {command}",
            description=about,
            epilog=f"example:\n  post_mortem_render.py {command} {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"See {self.prog} --help")


def open_host(env: Mapping[str, str], folder: Path = Path("out")) -> CiHost:
    """The host of this run, which shows no token."""
    host = detect(env, folder)
    for name in TOKENS:
        if env.get(name):
            host.mask(env[name])
    return host


def add_record(parser: argparse.ArgumentParser) -> None:
    """The options of the commands that read a record."""
    parser.add_argument("record", type=Path, metavar="RECORD", help="the record, a YAML file")
    add_language(parser)
    parser.add_argument("--strict", action="store_true", help="exit 3 on findings as well")
    parser.add_argument(
        "--verify", action="store_true", help="look references up with the tokens that are set"
    )
    parser.add_argument(
        "--confirm-bug-fix",
        action="store_true",
        help="an incident's record is to become a post-mortem of the bug fix as well",
    )
    add_settings(parser)


def add_language(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--language",
        choices=LANGUAGES,
        default="en",
        help="of a record that does not name its own, default: en",
    )


def add_settings(parser: argparse.ArgumentParser) -> None:
    from ciops.postmortem.settings import DEFAULT

    about = f"default: {DEFAULT.name} of the suite"
    parser.add_argument("--settings", type=Path, metavar="FILE", default=DEFAULT, help=about)


def add_output(parser: argparse.ArgumentParser) -> None:
    about = "folder for the files, default: out"
    parser.add_argument("--output", type=Path, metavar="DIR", default=Path("out"), help=about)


def parse(
    parser: argparse.ArgumentParser, arguments: Sequence[str], host: CiHost
) -> argparse.Namespace:
    """The options; what the command line leaves open comes from the host's inputs."""
    return parser.parse_args([*_from_inputs(parser, arguments, host.inputs()), *arguments])


def _from_inputs(
    parser: argparse.ArgumentParser, arguments: Sequence[str], inputs: Mapping[str, str]
) -> Iterator[str]:
    given = {argument.partition("=")[0] for argument in arguments}
    positional = any(not argument.startswith("-") for argument in arguments[:1])
    for action in parser._actions:
        option = next((text for text in action.option_strings if text.startswith("--")), "")
        value = inputs.get((option or action.dest).removeprefix("--").replace("_", "-"), "")
        if not value or option in given or (not option and positional):
            continue
        if action.nargs == 0:
            if truth(value, option.removeprefix("--")):
                yield option
        elif action.nargs in ("+", "*"):
            yield from [option] if option else []
            yield from re.split(r"[\s,]+", value)
        elif option:
            yield f"{option}={value}"
        else:
            yield value


def truth(value: str, name: str) -> bool:
    """A yes or no; UsageError for anything else."""
    folded = value.strip().casefold()
    if folded in _YES:
        return True
    if folded in _NO:
        return False
    raise UsageError(f"input {name} is {shown(value)}", "Write true or false")
