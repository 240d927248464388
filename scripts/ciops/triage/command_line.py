"""Options that the commands of issue-triage share."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ciops.errors import UsageError
from ciops.plumbing import command_line
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.yaml_file import shown

if TYPE_CHECKING:
    from ciops.forges.base import Forge, IssueQueue

ROOT: Final = Path(__file__).resolve().parents[3]
POLICY: Final = ROOT / "config" / "issue-triage" / "pytorch-distributed.yml"
LANGUAGES: Final = ("en", "ja", "fr")


class Parser(command_line.Parser):
    """The parser of one command of issue-triage."""

    script = "issue_triage.py"
    instead = frozenset({"--issue", "--sweep"})


@dataclass(frozen=True, slots=True)
class Place:
    """Which repository of which forge."""

    forge: str
    repo: str
    gitlab_url: str


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
    forge = open_place(place, host, time.sleep)
    return forge, forge.queue(place.repo)


def open_place(place: Place, host: CiHost, sleep: Callable[[float], None]) -> Forge:
    """The forge of a place; UsageError where its address would be another forge's."""
    from ciops.forges import open_forge

    if place.gitlab_url and place.forge != "gitlab":
        problem = f"--gitlab-url is given, and the forge is {place.forge}"
        raise UsageError(problem, "Give --forge gitlab as well, or leave the address out")
    return open_forge(place.forge, host.env, place.gitlab_url, host.say, sleep)


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
