"""Options that the commands share: from the command line, and from `INPUT_<NAME>` below it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from ciops.errors import UsageError
from ciops.plumbing.ci_host import CiHost, detect
from ciops.plumbing.yaml_file import shown

if TYPE_CHECKING:
    from ciops.forges.base import Forge, IssueQueue

ROOT: Final = Path(__file__).resolve().parents[3]
POLICY: Final = ROOT / "config" / "issue-triage" / "pytorch-distributed.yml"
LANGUAGES: Final = ("en", "ja", "fr")
TOKENS: Final = ("GITHUB_TOKEN", "GITLAB_TOKEN", "CI_JOB_TOKEN")

_YES: Final = frozenset({"true", "yes", "on", "1"})
_NO: Final = frozenset({"false", "no", "off", "0", ""})


class Parser(argparse.ArgumentParser):
    """A parser whose errors are sentences of ours, and which takes no shortened options."""

    def __init__(self, command: str, about: str, example: str) -> None:
        super().__init__(
            prog=f"issue_triage.py {command}",
            description=about,
            epilog=f"example:\n  issue_triage.py {command} {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"See {self.prog} --help")


@dataclass(frozen=True, slots=True)
class Place:
    """Which repository of which forge."""

    forge: str
    repo: str
    gitlab_url: str


def open_host(env: Mapping[str, str], folder: Path = Path("out")) -> CiHost:
    """The host of this run, which shows no token."""
    host = detect(env, folder)
    for name in TOKENS:
        if env.get(name):
            host.mask(env[name])
    return host


def add_place(parser: argparse.ArgumentParser) -> None:
    """The options that say where an issue is."""
    parser.add_argument("--repo", metavar="OWNER/NAME", help="default: where the job runs")
    parser.add_argument("--forge", choices=("github", "gitlab"), help="default: where it runs")
    parser.add_argument("--gitlab-url", metavar="URL", default="", help="address of the GitLab")


def add_policy(parser: argparse.ArgumentParser) -> None:
    """The options that say by which rules."""
    about = f"default: {POLICY.name} of the suite"
    parser.add_argument("--policy", metavar="FILE", type=Path, default=POLICY, help=about)
    parser.add_argument("--profile", metavar="NAME", help="default: the policy's default_profile")


def add_language(parser: argparse.ArgumentParser) -> None:
    about = "of comments and summary, default: en"
    parser.add_argument("--language", choices=LANGUAGES, default="en", help=about)


def add_output(parser: argparse.ArgumentParser) -> None:
    about = "folder for summary and records, default: out"
    parser.add_argument("--output", type=Path, default=Path("out"), metavar="DIR", help=about)


def place_of(options: argparse.Namespace, host: CiHost) -> Place:
    """Where to work; UsageError when nothing says which repository."""
    forge = options.forge or ("gitlab" if host.name == "gitlab" else "github")
    variable = "CI_PROJECT_PATH" if forge == "gitlab" else "GITHUB_REPOSITORY"
    repo = options.repo or host.env.get(variable, "")
    if not repo:
        raise UsageError("no repository is named", f"Give --repo OWNER/NAME or set {variable}")
    return Place(forge, repo, options.gitlab_url)


def open_queue(place: Place, host: CiHost) -> tuple[Forge, IssueQueue]:
    """The issues of a place, with the token that the environment gives."""
    from ciops.forges import open_forge

    forge = open_forge(place.forge, host.env, place.gitlab_url, log=host.say)
    return forge, forge.queue(place.repo)


def parse(parser: argparse.ArgumentParser, argv: Sequence[str], host: CiHost) -> argparse.Namespace:
    """The options; what the command line leaves open comes from the host's inputs."""
    return parser.parse_args([*_from_inputs(parser, argv, host.inputs()), *argv])


def _from_inputs(
    parser: argparse.ArgumentParser, argv: Sequence[str], inputs: Mapping[str, str]
) -> Iterator[str]:
    given = {argument.partition("=")[0] for argument in argv}
    named = bool(given & {"--issue", "--sweep"})  # one of them replaces the other's input
    for action in parser._actions:
        option = next((text for text in action.option_strings if text.startswith("--")), "")
        value = inputs.get(option.removeprefix("--"), "")
        if not value or option in given or (named and option in ("--issue", "--sweep")):
            continue
        if action.nargs == 0:
            if truth(value, option.removeprefix("--")):
                yield option
        elif action.nargs == "+":
            yield option
            yield from re.split(r"[\s,]+", value)
        else:
            yield f"{option}={value}"


def truth(value: str, name: str) -> bool:
    """A yes or no; UsageError for anything else."""
    folded = value.strip().casefold()
    if folded in _YES:
        return True
    if folded in _NO:
        return False
    raise UsageError(f"input {name} is {shown(value)}", "Write true or false")


def issue_number(text: str) -> int:
    """`7` or `#7`."""
    if not re.fullmatch(r"#?[1-9]\d{0,9}", text):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not the number of an issue")
    return int(text.lstrip("#"))


def count(text: str) -> int:
    """A whole number, 0 or more."""
    if not re.fullmatch(r"\d{1,9}", text):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a whole number")
    return int(text)


def expanded(text: str) -> list[Path]:
    """A path, or the paths that a pattern with * stands for: an action's inputs see no shell."""
    path = Path(text)
    if path.exists() or "*" not in text:
        return [path]
    return sorted(Path(path.anchor or ".").glob(str(path.relative_to(path.anchor))))
