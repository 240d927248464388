"""`render`: the post-mortem of a record, written for its destinations."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from ciops.errors import EXIT_REFUSED
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.command_line import open_host, parse
from ciops.postmortem import command_line
from ciops.postmortem.check_command import looked_up
from ciops.postmortem.destinations import DESTINATIONS
from ciops.postmortem.destinations.contract import Destination, Target
from ciops.postmortem.document import build
from ciops.postmortem.examination import Examination, examine
from ciops.postmortem.gfm import render_gfm
from ciops.postmortem.output_folder import file_stem, write_file
from ciops.postmortem.payload import digest, issue_key, read_visibility
from ciops.postmortem.services import links, site_of
from ciops.postmortem.verdict_report import annotate, as_text, exit_status


def parser() -> command_line.Parser:
    about = "Write the post-mortem of a record whose gates are met. Nothing is posted."
    built = command_line.Parser("render", about, "PLUG-2218.yml --to jira file")
    command_line.add_record(built)
    built.add_argument(
        "--to",
        nargs="+",
        action="extend",
        choices=tuple(DESTINATIONS),
        metavar="DEST",
        help=f"one or more of {', '.join(DESTINATIONS)}, default: jira",
    )
    built.add_argument("--ticket", metavar="KEY", default="", help="in place of the record's")
    built.add_argument("--visibility", metavar="group:NAME|role:NAME", help="of a Jira comment")
    command_line.add_output(built)
    built.add_argument(
        "--handoff", type=Path, metavar="FILE", help="also write the document for a summary"
    )
    return built


def main(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    host = open_host(env)
    options = parse(parser(), arguments, host)
    host.folder = options.output
    examination = examine(options, options.ticket)
    looked = looked_up(options, examination, host)
    host.say(as_text(examination, looked))
    annotate(examination, host)
    status = exit_status(examination, looked, options.strict)
    host.output("verdict", examination.decision.verdict)
    if status == EXIT_REFUSED:
        host.summary(_for_summary(as_text(examination, looked)))
        return status
    _write_all(options, examination, host)
    return status


def _for_summary(text: str) -> str:
    """Lines as they are: whoever wrote the record wrote words in them, and none is markup."""
    from ciops.plumbing.rendering import (
        escape_markdown,
    )  # not worth loading where nothing is refused

    return "  \n".join(escape_markdown(line) for line in text.splitlines())


def _write_all(options: argparse.Namespace, examination: Examination, host: CiHost) -> None:
    words = examination.words
    where = links(host.env, examination.settings)
    document = build(examination.record, words, where)
    chosen = [DESTINATIONS[name] for name in dict.fromkeys(options.to or ["jira"])]
    rendered = [
        (each, each.render(document, _target(options, examination, host, each))) for each in chosen
    ]
    for destination, text in rendered:
        _deliver(destination, text, options.output, examination, host)
    host.summary(render_gfm(document, title_level=2))
    if options.handoff:
        handoff = write_file(options.handoff.parent, options.handoff.name, render_gfm(document))
        host.say(words.say("done.handoff", path=str(handoff)))
    else:
        host.say(words.say("done.handoff_offer"))


def _target(
    options: argparse.Namespace, examination: Examination, host: CiHost, destination: Destination
) -> Target:
    ticket = examination.record.ticket
    return Target(
        issue=issue_key(ticket) if destination.posted else ticket,
        site=site_of(host.env),
        visibility=read_visibility(options.visibility) if options.visibility else None,
        longest=examination.settings.longest_comment,
    )


def _deliver(
    destination: Destination, text: str, folder: Path, examination: Examination, host: CiHost
) -> None:
    """Print or write one rendering; a payload is shown with the digest that approves it."""
    words, ticket = examination.words, examination.record.ticket
    if not destination.path:
        host.say(text)
        return
    path = write_file(folder, destination.path.format(ticket=file_stem(ticket)), text)
    host.say(words.say("done.written", path=str(path)))
    if not destination.posted:
        return
    approval = digest(text)
    host.say(words.say("done.payload", issue=ticket))
    host.say(text)
    host.say(words.say("done.digest", digest=approval))
    if site_of(host.env):
        host.say(words.say("done.publish", path=str(path), digest=approval))
    else:
        host.say(words.say("done.no_site"))
    host.output("payload", str(path))
    host.output("digest", approval)
    host.summary(f"`{path.name}` `{approval}`")
