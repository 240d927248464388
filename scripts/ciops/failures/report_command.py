"""`report`: from a pipeline to the root causes of its failed jobs."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from ciops.errors import UsageError
from ciops.failures.command_line import (
    MISSING_TOKEN,
    Parser,
    add_config,
    add_gitlab_url,
    add_tracking,
    add_writing,
    chosen_formats,
    is_dry,
    positive,
    refuse_strangers_rules,
)
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.command_line import open_host, parse
from ciops.plumbing.yaml_file import shown

T = TypeVar("T")
GITLAB: Final = "gitlab"
GITHUB_ACTIONS: Final = "github-actions"
SOURCES: Final = (GITLAB, GITHUB_ACTIONS)
MOST_AT_ONCE: Final = 32
CHAT: Final = "chat"
ASKED: Final = (CHAT, "md", "csv")

ABOUT: Final = """Follow a failed pipeline to the jobs that failed, read every trace, put each job
into one bucket by its first causal error, and prove that none is left out.

Without --pipeline it takes the newest pipeline in which the scope of the configuration ran. Nothing
is written to any tracker without --track. Exit status: 0 done, 1 something could not be read and
is named, 2 usage, 3 refused, 4 the service failed."""
EXAMPLE: Final = "--pipeline https://gitlab.com/group/project/-/pipelines/1234 --format md html"


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `index` (from 1) of `count`."""

    index: int = 1
    count: int = 1

    def share(self, jobs: Sequence[T]) -> list[T]:
        """The jobs of this part: every job is in exactly one."""
        return list(jobs[self.index - 1 :: self.count])

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


@dataclass(frozen=True, slots=True)
class Options:
    """What `report` was asked to do; `jobs_limit` is None for no limit."""

    pipeline: str
    source: str
    gitlab_url: str
    config: Path
    formats: tuple[str, ...]
    output: Path
    previous: str
    track: bool
    dry_run: bool
    language: str
    jobs_limit: int | None
    concurrency: int
    keep_traces: Path | None
    shard: Shard | None

    @property
    def tracks(self) -> bool:
        """Whether to look for duplicates and to file, or to print what would be filed."""
        return (self.track or self.dry_run) and self.shard is None


def main(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    """The command; its exit status."""
    host = open_host(env)
    options = options_of(parse(parser(), arguments, host), env)
    host.folder = options.output
    require_token(options.source, env)
    if not options.formats and _may_ask(host):
        options = _with_formats(options, ask_format(host))
    from ciops.failures.report_run import run  # not worth loading for less

    return run(options, host)


def parser() -> Parser:
    """The options of `report`."""
    parser = Parser("report", ABOUT, EXAMPLE)
    parser.add_argument(
        "--pipeline",
        metavar="ID|URL",
        default="",
        help="default: the newest in which the scope ran",
    )
    parser.add_argument(
        "--source", choices=SOURCES, default=GITLAB, help="where it is, default: gitlab"
    )
    add_gitlab_url(parser)
    add_config(parser)
    add_writing(parser)
    add_tracking(parser)
    parser.add_argument("--jobs-limit", metavar="N", type=positive, help="read at most N traces")
    parser.add_argument(
        "--concurrency", metavar="N", type=positive, help="traces at once, default: 8"
    )
    parser.add_argument("--keep-traces", metavar="DIR", type=Path, help="keep the raw traces there")
    parser.add_argument("--shard", metavar="I/N", help="part I of N, for `merge` afterwards")
    return parser


def options_of(given: argparse.Namespace, env: Mapping[str, str]) -> Options:
    """The options as one value; UsageError where they contradict each other."""
    shard = shard_of(given.shard) if given.shard else None
    if shard is not None and given.track:
        problem = "--track and --shard exclude each other: a part does not see the others' buckets"
        raise UsageError(problem, "Give --track to merge")
    concurrency = given.concurrency or 8
    if concurrency > MOST_AT_ONCE:
        raise UsageError(f"--concurrency: {concurrency} is more than {MOST_AT_ONCE}", "Give less")
    refuse_strangers_rules(given, env)
    return Options(
        pipeline=given.pipeline.strip(),
        source=given.source,
        gitlab_url=given.gitlab_url.strip(),
        config=given.config,
        formats=formats_of(given.format),
        output=given.output,
        previous=given.previous or "",
        track=given.track,
        dry_run=is_dry(given, env),
        language=given.language or "en",
        jobs_limit=given.jobs_limit,
        concurrency=concurrency,
        keep_traces=given.keep_traces,
        shard=shard,
    )


def formats_of(given: Sequence[str] | None) -> tuple[str, ...]:
    """The formats asked for; UsageError for one that is not known."""
    if not given:
        return ()
    from ciops.failures.report_formats import FORMATS  # with their renderers, not needed before

    return chosen_formats(given, FORMATS)


def shard_of(text: str) -> Shard:
    """`2/4`; UsageError for anything else."""
    match = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text.strip(), re.ASCII)
    index, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= index <= count:
        raise UsageError(f"--shard: {shown(text)} is no part", "Write I/N with I from 1 to N")
    return Shard(index, count)


def require_token(source: str, env: Mapping[str, str]) -> None:
    """UsageError, before any call, when the token of the source is not set."""
    if source == GITLAB and not env.get("GITLAB_TOKEN", "").strip():
        raise UsageError(MISSING_TOKEN)
    if source == GITHUB_ACTIONS and not env.get("GITHUB_TOKEN", "").strip():
        raise UsageError("GITHUB_TOKEN is not set", "Set it to a token that may read the runs")


def _may_ask(host: CiHost) -> bool:
    """A person is at a terminal: in CI nobody would answer."""
    return host.name == "terminal" and sys.stdin.isatty() and sys.stdout.isatty()


def ask_format(host: CiHost) -> tuple[str, ...]:
    """Ask once; Enter, or the end of input, is chat."""
    host.say(f"Which output: {', '.join(ASKED)}? [{CHAT}]")
    answer = sys.stdin.readline().strip().lower()
    if answer and answer not in ASKED:
        host.say(f"There is no output {shown(answer)}: it is {CHAT}.")
    return (answer,) if answer in ASKED and answer != CHAT else ()


def _with_formats(options: Options, formats: tuple[str, ...]) -> Options:
    from dataclasses import replace

    return replace(options, formats=formats)
