"""Options that the commands of post-mortem-render share."""

from __future__ import annotations

import argparse
from pathlib import Path

from ciops.plumbing import command_line
from ciops.postmortem.record import LANGUAGES


class Parser(command_line.Parser):
    """The parser of one command of post-mortem-render, whose record may be an input."""

    script = "post_mortem_render.py"
    reads_positionals = True


def add_record(parser: argparse.ArgumentParser) -> None:
    """The options of the commands that read a record."""
    parser.add_argument("record", type=Path, metavar="RECORD", help="the record, a YAML file")
    about = "of a record that does not name its own, default: en"
    parser.add_argument("--language", choices=LANGUAGES, help=about)
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


def add_language(parser: argparse.ArgumentParser, of: str) -> None:
    """The language of what has none of its own."""
    about = f"of {of}, default: en"
    parser.add_argument("--language", choices=LANGUAGES, default="en", help=about)


def add_settings(parser: argparse.ArgumentParser) -> None:
    from ciops.postmortem.settings import DEFAULT

    about = f"default: {DEFAULT.name} of the suite"
    parser.add_argument("--settings", type=Path, metavar="FILE", default=DEFAULT, help=about)


def add_output(parser: argparse.ArgumentParser) -> None:
    about = "folder for the files, default: out"
    parser.add_argument("--output", type=Path, metavar="DIR", default=Path("out"), help=about)
