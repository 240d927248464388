"""`lint`: check the prose of documents that already exist."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ciops.errors import EXIT_DONE, EXIT_REFUSED
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.command_line import open_host, parse
from ciops.plumbing.yaml_file import read_text
from ciops.postmortem import command_line
from ciops.postmortem.document_lint import Passage, language_of, lint
from ciops.postmortem.prose_rules import Guide, load_guide
from ciops.postmortem.record import LANGUAGES, Language
from ciops.postmortem.sections import Names, load_names
from ciops.postmortem.wording import Words, load_words

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class Linted:
    """One file's findings, in its own language."""

    file: str
    words: Words
    passages: tuple[Passage, ...]


def parser() -> command_line.Parser:
    about = "Check the prose of Markdown documents: exit 0, or 3 with --strict and findings."
    built = command_line.Parser("lint", about, "docs/postmortems/*.md --format github")
    built.add_argument("files", nargs="+", type=Path, metavar="FILE.md", help="a document")
    built.add_argument("--language", choices=LANGUAGES, help="default: by the words of each file")
    built.add_argument(
        "--format", choices=("text", "json", "github"), default="text", help="default: text"
    )
    built.add_argument("--strict", action="store_true", help="exit 3 on findings")
    return built


def main(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    host = open_host(env)
    options = parse(parser(), arguments, host)
    names, guides = load_names(), dict[Language, Guide]()
    linted = [_lint(file, options.language, names, guides) for file in options.files]
    REPORTS[options.format](linted, host)
    found = any(each.passages for each in linted)
    return EXIT_REFUSED if options.strict and found else EXIT_DONE


def _lint(
    file: Path, language: Language | None, names: Names, guides: dict[Language, Guide]
) -> Linted:
    text = read_text(file)
    spoken = language or language_of(text)
    if spoken not in guides:
        guides[spoken] = load_guide(spoken)
    return Linted(str(file), load_words(spoken), tuple(lint(text, names, guides[spoken])))


def _text(linted: Sequence[Linted], host: CiHost) -> None:
    for each in linted:
        for passage in each.passages:
            finding = passage.finding
            host.say(f"{each.file}:{passage.line}: {finding.kind}: {finding.phrase}")
            host.say(f"    {each.words.say(f'prose.{finding.kind}')}")
        if not each.passages:
            host.say(f"{each.file}: ✓")


def _json(linted: Sequence[Linted], host: CiHost) -> None:
    files = [
        {
            "file": each.file,
            "language": each.words.language,
            "findings": [
                {
                    "kind": passage.finding.kind,
                    "field": passage.finding.field,
                    "line": passage.line,
                    "phrase": passage.finding.phrase,
                    "suggestion": each.words.say(f"prose.{passage.finding.kind}"),
                }
                for passage in each.passages
            ],
        }
        for each in linted
    ]
    data = json.dumps({"schema": SCHEMA, "files": files}, ensure_ascii=False)
    host.say(data.replace("##[", "#\\u0023["))


def _github(linted: Sequence[Linted], host: CiHost) -> None:
    """Annotations in GitHub Actions; elsewhere the same lines as a person reads them."""
    for each in linted:
        for passage in each.passages:
            finding = passage.finding
            advice = each.words.say(f"prose.{finding.kind}")
            host.warning(f'{finding.kind}: "{finding.phrase}". {advice}', each.file, passage.line)


REPORTS: Final = {"text": _text, "json": _json, "github": _github}
