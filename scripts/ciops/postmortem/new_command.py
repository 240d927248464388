"""`new`: write a commented record to fill in, with what is known already in it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ciops.errors import EXIT_DONE, RefusedError
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.command_line import open_host, parse
from ciops.plumbing.yaml_file import read_text
from ciops.postmortem import command_line
from ciops.postmortem.draft import Known, draft, from_parts, title_in
from ciops.postmortem.output_folder import file_stem, write_file
from ciops.postmortem.wording import Words, load_words


def parser() -> command_line.Parser:
    about = "Write a record for a ticket: the questions of each field, and nothing made up."
    built = command_line.Parser("new", about, "PLUG-2218 --pr acme/hostlib#977")
    built.add_argument("ticket", metavar="TICKET", help="its key, as in PLUG-2218")
    built.add_argument("--pr", metavar="REF", help="OWNER/REPO#N: fill in what the forge knows")
    built.add_argument(
        "--notes", type=Path, metavar="FILE", help="a debugging ledger, verbatim into the notes"
    )
    built.add_argument(
        "--from-markdown", type=Path, metavar="FILE", help="an existing post-mortem to start from"
    )
    command_line.add_language(built, "the record and its guidance")
    command_line.add_output(built)
    return built


def main(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    host = open_host(env)
    options = parse(parser(), arguments, host)
    host.folder = options.output
    words = load_words(options.language)
    text = draft(_known(options, host), words)
    path = options.output / f"{file_stem(options.ticket)}.yml"
    if path.exists() and read_text(path) != text:
        raise RefusedError(f"{path} is there and holds something else", "Move it, or give --output")
    written = write_file(options.output, path.name, text)
    host.say(text)
    host.notice(words.say("done.written", path=str(written)))
    host.output("record", str(written))
    _summarise(text, options.ticket, words, host)
    return EXIT_DONE


def _known(options: argparse.Namespace, host: CiHost) -> Known:
    known = Known(options.ticket, options.language)
    if options.from_markdown:
        from ciops.postmortem.sections import load_names, split_sections

        text = read_text(options.from_markdown)
        parts = list(split_sections(text, load_names()))
        texts, items, hints = from_parts(parts)
        title = title_in(text, options.ticket)
        known = replace(known, title=title, texts=texts, items=items, hints=hints)
    if options.pr:
        from ciops.postmortem.forge_facts import with_request
        from ciops.postmortem.services import services

        known = with_request(known, options.pr, services(host))
    if options.notes:
        notes = {**known.texts, "discovery.notes": read_text(options.notes)}
        known = replace(known, texts=notes)
    return known


def _summarise(text: str, ticket: str, words: Words, host: CiHost) -> None:
    from ciops.plumbing.rendering import fenced

    title = words.say("draft.title", ticket=ticket)
    host.summary(f"{title}\n\n{fenced(text, 'yaml')}")
