"""`merge`: one summary, one record and one list of decisions from the shards of a sweep."""

from __future__ import annotations

import argparse
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ciops.errors import EXIT_DONE, EXIT_PARTIAL, UsageError
from ciops.plumbing.ci_host import SUMMARY_LIMIT
from ciops.plumbing.command_line import open_host, parse
from ciops.plumbing.output_folder import open_new
from ciops.plumbing.rendering import Templates, escape_markdown
from ciops.triage.command_line import (
    Parser,
    add_language,
    add_output,
    expanded,
)
from ciops.triage.journal import DECISIONS, FAILURES, SECTIONS
from ciops.triage.run_command import Shard, shard_of
from ciops.triage.run_file import NAME, Record, RunFile, read_run_file
from ciops.triage.run_words import skips, totals
from ciops.triage.words import words_in

ABOUT: Final = "One summary of the shards of a sweep, from the folders that they left."


@dataclass(frozen=True, slots=True)
class Part:
    """What one shard left behind."""

    folder: Path
    record: Record

    @property
    def shard(self) -> Shard:
        """UsageError where the record names none."""
        try:
            return shard_of(self.record.run.shard)
        except argparse.ArgumentTypeError as error:
            step = "Name the folders that the shards left"
            raise UsageError(f"{self.folder / NAME}: shard {error}", step) from None

    @property
    def calls(self) -> int:
        told = (self.record.result or {}).get("calls", 0)
        return told if isinstance(told, int) else 0


def main(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    """The command; its exit status: 1 when a shard is missing or was cut off."""
    host = open_host(env)
    parser = Parser("merge", ABOUT, "parts/*")
    parser.add_argument("folders", metavar="DIR", nargs="+", help="what each shard left")
    add_language(parser)
    add_output(parser)
    given = parse(parser, arguments, host)
    host.folder = given.output
    words = words_in(given.language)
    parts = read_parts(given.folders)
    gaps = list(_gaps(parts, words))
    endings = [*gaps, *_endings(parts)]
    _write(parts, given.output)
    host.summary(_summary(parts, endings, given.output, words))
    for ending in endings:
        host.warning(ending)
    host.say(totals(_outcomes(parts)[0], words))
    return EXIT_PARTIAL if gaps or any(map(_fell_short, parts)) else EXIT_DONE


def read_parts(folders: Sequence[str]) -> list[Part]:
    """The shards in order; UsageError for what belongs to no or to another sweep."""
    paths = [path for folder in folders for path in _records(folder)]
    parts = [Part(path.parent, read_run_file(path)) for path in paths]
    _refuse_strangers(parts)
    return sorted(parts, key=lambda part: part.shard.index)


def _records(folder: str) -> list[Path]:
    """The run files of a folder, or of the folders in it."""
    found: list[Path] = []
    for place in expanded(folder):
        own = place if place.name == NAME else place / NAME
        found.extend([own] if own.is_file() else sorted(place.glob(f"*/{NAME}")))
    if not found:
        raise UsageError(f"{folder} holds no {NAME}", "Name the folders that the shards left")
    return found


def _refuse_strangers(parts: Sequence[Part]) -> None:
    first = parts[0]
    for part in parts[1:]:
        for name in ("repo", "forge", "policy", "profile", "mode"):
            one, other = getattr(first.record.run, name), getattr(part.record.run, name)
            if one != other:
                problem = f"{part.folder} has {name} {other}, {first.folder} has {one}"
                raise UsageError(problem, "Merge only the shards of one sweep")
        if part.shard.count != first.shard.count or part.shard == first.shard:
            problem = f"{part.folder} is shard {part.shard}, {first.folder} is {first.shard}"
            raise UsageError(problem, "Merge only the shards of one sweep")


def _gaps(parts: Sequence[Part], words: Templates) -> Iterator[str]:
    """Shards that left nothing, or not everything."""
    there = {part.shard.index for part in parts}
    total = parts[0].shard.count
    for index in range(1, total + 1):
        if index not in there:
            yield words.message("merge.missing", shard=f"{index}/{total}")
    for part in parts:
        if part.record.result is None:
            yield words.message("merge.killed", shard=str(part.shard))


def _endings(parts: Sequence[Part]) -> Iterator[str]:
    """Why shards stopped before their end."""
    for part in parts:
        result = part.record.result or {}
        told = result.get("told") or result.get("error")
        if told:
            yield f"{part.shard}: {told}"


def _fell_short(part: Part) -> bool:
    result = part.record.result or {}
    return bool(result.get("error") or result.get("status"))


def _write(parts: Sequence[Part], output: Path) -> None:
    """What the shards left, as if one run had: `undo` takes the record."""
    outcomes, _, _ = _outcomes(parts)
    with RunFile(output, replace(parts[0].record.run, shard="1/1")) as record:
        for part in parts:
            for entry in part.record.entries:
                record.add(entry)
        record.finish({"outcomes": dict(outcomes), "merged": [str(part.shard) for part in parts]})
    for name in (DECISIONS, SECTIONS):
        _joined([part.folder / name for part in parts], output / name)


def _joined(sources: Sequence[Path], target: Path) -> None:
    """Through a file aside: the output may be one of the sources."""
    aside = target.with_name(f".{target.name}.new")
    with open_new(aside) as file:
        for source in filter(_is_plain_file, sources):
            with source.open("rb") as part:
                shutil.copyfileobj(part, file)
    aside.replace(target)


def _is_plain_file(path: Path) -> bool:
    """A link would bring a file of this machine into what is handed on."""
    return path.is_file() and not path.is_symlink()


def _outcomes(parts: Sequence[Part]) -> tuple[Counter[str], Counter[str], list[str]]:
    """How many issues had which outcome and were skipped why, and what failed."""
    outcomes: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    failures: list[str] = []
    for line in (line for part in parts for line in _lines(part.folder / DECISIONS)):
        outcomes[str(line.get("outcome"))] += 1
        if line.get("skip"):
            reasons[str(line["skip"])] += 1
        if line.get("error") and len(failures) < FAILURES:
            failures.append(f"#{_number(line)}: {escape_markdown(line['error'])}")
    return outcomes, reasons, failures


def _number(line: Mapping[str, Any]) -> int:
    number = line.get("number")
    return number if isinstance(number, int) else 0


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Every whole line: a run that was killed may have left half of one."""
    if not _is_plain_file(path):
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for text in file:
            try:
                line = json.loads(text)
            except (ValueError, RecursionError):
                continue
            if isinstance(line, dict):
                yield line


def _summary(parts: Sequence[Part], endings: Sequence[str], output: Path, words: Templates) -> str:
    run = parts[0].record.run
    outcomes, reasons, failures = _outcomes(parts)
    shards = ", ".join(str(part.shard) for part in parts)
    head = words.render(
        "run.md",
        repo=run.repo,
        mode=run.mode,
        policy=run.policy,
        profile=run.profile,
        account=run.account,
        shard=words.message("summary.shards", shards=shards),
        calls=sum(part.calls for part in parts),
        service=run.forge,
        looked_at=outcomes.total(),
        totals=totals(outcomes, words),
        skips=skips(reasons, words, run.queue),
        endings=[escape_markdown(ending) for ending in endings],
        failures=failures,
    )
    with (output / SECTIONS).open("rb") as file:
        return head + file.read(SUMMARY_LIMIT).decode("utf-8", errors="ignore")
