"""`check`: whether a record may become a post-mortem, and what is missing."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.command_line import open_host, parse
from ciops.postmortem import command_line
from ciops.postmortem.examination import Examination, examine
from ciops.postmortem.verdict_report import annotate, as_json, as_text, exit_status
from ciops.postmortem.verification import Looked


def parser() -> command_line.Parser:
    about = (
        "Say whether a record may become a post-mortem: exit 0 if so, 3 if something is missing."
    )
    built = command_line.Parser("check", about, "PLUG-2218.yml --format json")
    command_line.add_record(built)
    built.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    return built


def main(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    host = open_host(env)
    options = parse(parser(), arguments, host)
    examination = examine(options)
    looked = looked_up(options, examination, host)
    if options.format == "json":
        host.say(as_json(examination, looked if options.verify else None))
    else:
        host.say(as_text(examination, looked))
        annotate(examination, host)
    host.output("verdict", examination.decision.verdict)
    return exit_status(examination, looked, options.strict)


def looked_up(
    options: argparse.Namespace, examination: Examination, host: CiHost
) -> tuple[Looked, ...]:
    """What `--verify` found; nothing without it."""
    if not options.verify or examination.reading.malformed:
        return ()
    from ciops.postmortem.services import services
    from ciops.postmortem.verification import verify

    return tuple(verify(examination.record, services(host), examination.words))
