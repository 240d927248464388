"""`merge`: one report from the parts that a matrix of jobs wrote. Only --track needs a token."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from ciops.errors import UsageError
from ciops.failures import report_model as model
from ciops.failures.assemble import Looked, assemble, in_buckets
from ciops.failures.command_line import (
    Parser,
    add_config,
    add_gitlab_url,
    add_tracking,
    add_writing,
    chosen_formats,
    is_dry,
    refuse_strangers_rules,
)
from ciops.failures.knowledge import Knowledge, load_knowledge
from ciops.failures.parts import Part, code_key, read_parts, together
from ciops.failures.publishing import publish
from ciops.failures.report_formats import FORMATS
from ciops.failures.report_json import load_report
from ciops.failures.report_model import Remark, Report
from ciops.failures.sources import Forges
from ciops.failures.tracking import untracked
from ciops.failures.tracking_run import tracked
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.command_line import open_host, parse
from ciops.plumbing.interruption import Stop, StoppedError, stoppable
from ciops.plumbing.output_folder import OutputFolder

ABOUT: Final = """Put the parts of a report together that `report --shard I/N` wrote.

The formats and the language are those of the parts where none are given. A part that is missing
makes the jobs it would have read weak, and the exit status 1."""
EXAMPLE: Final = "out/part-1 out/part-2 --format md json"


def main(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    """The command; its exit status."""
    host = open_host(env)
    parser = Parser("merge", ABOUT, EXAMPLE)
    parser.add_argument("folders", metavar="DIR", nargs="+", type=Path, help="what each part left")
    add_config(parser)
    add_writing(parser)
    add_tracking(parser)
    add_gitlab_url(parser)
    given = parse(parser, arguments, host)
    host.folder = given.output
    refuse_strangers_rules(given, env)
    formats = chosen_formats(given.format, FORMATS)
    knowledge = load_knowledge(given.config)
    previous = load_report(given.previous) if given.previous else None
    parts = read_parts(given.folders)
    with stoppable() as stop:
        report = merged(parts, knowledge, previous)
        report = _tracked(report, given, knowledge, host, stop)
        language = given.language or parts[0].language
        folder = OutputFolder(given.output, "--output")
        return publish(report, formats or _formats(parts), folder, language, host)


def _tracked(
    report: Report, given: argparse.Namespace, knowledge: Knowledge, host: CiHost, stop: Stop
) -> Report:
    """Filed where that was asked for, as far as no signal came."""
    if not (given.track or given.dry_run):
        return untracked(report, knowledge)
    forges = Forges(host, given.gitlab_url, time.sleep)
    try:
        with stop.interruptible():
            return tracked(report, knowledge, forges, is_dry(given, host.env), host)
    except StoppedError as stopped:
        remark = Remark(model.STOPPED, f"{stopped.reason} before tracking")
        return replace(untracked(report, knowledge), remarks=(*report.remarks, remark))


def merged(parts: Sequence[Part], knowledge: Knowledge, previous: Report | None) -> Report:
    """The report of all parts; UsageError when they are of another configuration."""
    facts, evidence, looked = together(parts)
    own = f"{knowledge.name}@{knowledge.version}"
    if facts.config != own:
        problem = f"the parts were read by configuration {facts.config}, and --config is {own}"
        raise UsageError(problem, "Give --config the same file")
    buckets = in_buckets(evidence, knowledge)
    code = {bucket.name: looked.get(code_key(bucket), Looked()) for bucket in buckets}
    return assemble(facts, evidence, buckets, code, previous, knowledge)


def _formats(parts: Sequence[Part]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for part in parts for name in part.formats))
