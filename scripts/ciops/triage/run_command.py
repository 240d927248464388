"""`run`: triage the issues of an event, those that are named, or the whole queue."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast

from ciops.errors import EXIT_DONE, UsageError
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.command_line import open_host, parse
from ciops.plumbing.write_guards import held_back, refuse_strangers_file
from ciops.plumbing.yaml_file import shown
from ciops.triage.command_line import (
    POLICY,
    Parser,
    Place,
    add_language,
    add_output,
    add_place,
    add_policy,
    count,
    issue_number,
    place_of,
)
from ciops.triage.events import Target, target_of

if TYPE_CHECKING:
    from ciops.triage.interruption import Interruption
    from ciops.triage.rationale import Suggest

RunMode = Literal["apply", "dry-run", "shadow"]

ABOUT: Final = """Triage issues: decide, add labels, ask for a reproduction.

Without --issue and --sweep the event that started the job says which issues: on GitHub issues,
issue_comment, workflow_dispatch or schedule; on GitLab a webhook's payload or a schedule.
DRY_RUN=true in the environment keeps every run from writing."""
EXAMPLE: Final = "--repo OWNER/NAME --issue 7 --dry-run"


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `index` (from 1) of `count`: the issues whose number leaves that remainder."""

    index: int = 1
    count: int = 1

    def holds(self, number: int) -> bool:
        return number % self.count == self.index - 1

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


@dataclass(frozen=True, slots=True)
class Options:
    """What `run` was asked to do. `similar` is how many similar issues to list."""

    place: Place
    issues: tuple[int, ...]
    sweep: bool
    policy: Path
    profile: str | None
    mode: RunMode
    max_writes: int | None
    shard: Shard
    similar: int
    suggest: Suggest
    language: str
    output: Path


def main(
    arguments: Sequence[str], env: Mapping[str, str], interruption: Interruption | None = None
) -> int:
    """The command; its exit status. `interruption` does the waiting and hears the signals."""
    host = open_host(env)
    options = options_of(parse(_parser(), arguments, host), host)
    host.folder = options.output
    target = Target(options.issues, options.sweep)
    if not (options.issues or options.sweep):
        target = target_of(host.event(), options.place.repo)
    if options.mode == "apply":
        refuse_strangers_file("policy", options.policy, env, own=POLICY.parent)
    if target.reason:
        return say_left_alone(target, options, host, target.reason)
    from ciops.triage.interruption import Interruption
    from ciops.triage.run_start import start  # not worth loading for less

    return start(options, target, host, interruption or Interruption())


def say_left_alone(
    target: Target, options: Options, host: CiHost, reason: str, queue: str = ""
) -> int:
    """An event that asks for nothing: one sentence, and not one call."""
    from ciops.plumbing.rendering import code_span, link
    from ciops.triage.words import words_in

    words = words_in(options.language)
    why = words.message(f"skip.{reason}", queue=code_span(queue))
    sentence = words.message("headline.skipped", reason=why)
    name = f"#{target.issues[0]} {target.title}".strip() if target.issues else options.place.repo
    host.say(f"{name}: {sentence}")
    host.summary(f"{link(name, target.url)}: {sentence}")
    return EXIT_DONE


def options_of(given: argparse.Namespace, host: CiHost) -> Options:
    """The options as one value; UsageError where they contradict each other."""
    if given.issue and given.sweep:
        raise UsageError("--issue and --sweep exclude each other", "Give one of them")
    if given.dry_run and given.shadow:
        raise UsageError("--dry-run and --shadow exclude each other", "Give one of them")
    return Options(
        place=place_of(given, host),
        issues=tuple(dict.fromkeys(given.issue or ())),
        sweep=given.sweep,
        policy=given.policy,
        profile=given.profile,
        mode=_mode(given, host.env),
        max_writes=given.max_writes,
        shard=given.shard,
        similar=given.similar,
        suggest=cast("Suggest", given.suggest),
        language=given.language,
        output=given.output,
    )


def _mode(given: argparse.Namespace, env: Mapping[str, str]) -> RunMode:
    if given.shadow:
        return "shadow"
    return "dry-run" if given.dry_run or held_back(env) else "apply"


def _parser() -> Parser:
    parser = Parser("run", ABOUT, EXAMPLE)
    add_place(parser)
    parser.add_argument(
        "--issue", type=issue_number, nargs="+", action="extend", metavar="N", help="these issues"
    )
    parser.add_argument("--sweep", action="store_true", help="every open issue of the queue")
    add_policy(parser)
    parser.add_argument("--dry-run", action="store_true", help="print what would be written")
    parser.add_argument("--shadow", action="store_true", help="only log the plans, for a backtest")
    parser.add_argument("--max-writes", type=count, metavar="N", help="stop before more writes")
    parser.add_argument(
        "--shard", type=shard_of, default=Shard(), metavar="I/N", help="part I of N of the queue"
    )
    parser.add_argument("--similar", type=count, default=0, metavar="N", help="list similar issues")
    parser.add_argument(
        "--suggest",
        choices=("none", "low", "all"),
        default="none",
        help="labels as suggestions to people: those with low confidence, or all (GitHub)",
    )
    add_language(parser)
    add_output(parser)
    return parser


def shard_of(text: str) -> Shard:
    """`2/8`."""
    match = re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", text)
    if match is None or int(match[1]) > int(match[2]):
        raise argparse.ArgumentTypeError(f"{shown(text)} is no shard, such as 2/8")
    return Shard(int(match[1]), int(match[2]))
