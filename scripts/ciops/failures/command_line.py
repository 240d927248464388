"""Options that the commands of pipeline-failure-report share."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from ciops.errors import UsageError
from ciops.plumbing import command_line
from ciops.plumbing.write_guards import held_back, refuse_strangers_file
from ciops.plumbing.yaml_file import shown

ROOT: Final = Path(__file__).resolve().parents[3]
CONFIG: Final = ROOT / "config" / "pipeline-failure-report" / "autodeploy.yml"
LANGUAGES: Final = ("en", "fr", "ja")
MISSING_TOKEN: Final = "Set GITLAB_TOKEN to a GitLab personal access token and rerun this skill."  # noqa: S105


class Parser(command_line.Parser):
    """The parser of one command of pipeline-failure-report."""

    script = "pipeline_failure_report.py"


def add_config(parser: argparse.ArgumentParser) -> None:
    """The option that says by which rules."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        default=CONFIG,
        help=f"rules, default: {CONFIG.name} of the suite",
    )


def add_gitlab_url(parser: argparse.ArgumentParser) -> None:
    """The option that says where GitLab is."""
    parser.add_argument(
        "--gitlab-url",
        metavar="URL",
        default="",
        help="default: GITLAB_URL, else CI_SERVER_URL, else https://gitlab.com",
    )


def add_writing(parser: argparse.ArgumentParser) -> None:
    """The options that say what is written, where and in which language."""
    parser.add_argument(
        "--format",
        metavar="FORMAT",
        nargs="+",
        action="extend",
        help="chat, md, csv, json, html: written to DIR/report.FORMAT; chat is always printed",
    )
    about = "folder for the report files, default: out"
    parser.add_argument("--output", metavar="DIR", type=Path, default=Path("out"), help=about)
    parser.add_argument("--language", choices=LANGUAGES, help="of the report, default: en")
    parser.add_argument("--previous", metavar="FILE", help="an earlier report.json to compare with")


def add_tracking(parser: argparse.ArgumentParser) -> None:
    """The options that let it write to a tracker."""
    parser.add_argument("--track", action="store_true", help="file issues that are not there yet")
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would be filed, and file nothing"
    )


def is_dry(given: argparse.Namespace, env: Mapping[str, str]) -> bool:
    """Whether nothing may be written: by the option, or for a whole job by the variable.

    The variable only holds back what would be written; it asks for nothing.
    """
    return bool(given.dry_run or (held_back(env) and getattr(given, "track", True)))


def refuse_strangers_rules(given: argparse.Namespace, env: Mapping[str, str]) -> None:
    """RefusedError where a pull request's own rules would say what is filed, and where."""
    if getattr(given, "track", True) and not is_dry(given, env):
        refuse_strangers_file("configuration", given.config, env, own=CONFIG.parent)


def chosen_formats(given: Sequence[str] | None, known: Sequence[str]) -> tuple[str, ...]:
    """The formats asked for, each once; UsageError for one that is not known."""
    words = [word for text in given or () for word in re.split(r"[\s,]+", text) if word]
    for word in words:
        if word not in known:
            problem = f"--format: there is no format {shown(word)}"
            raise UsageError(problem, f"Formats are: {', '.join(known)}")
    return tuple(dict.fromkeys(words))


def positive(text: str) -> int:
    """A whole number, 1 or more."""
    if not re.fullmatch(r"0*[1-9]\d{0,8}", text):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a whole number of 1 or more")
    return int(text)
