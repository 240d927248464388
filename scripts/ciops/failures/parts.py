"""A report in parts: what one job of a matrix read, written to a file, and the parts put together.

A part holds the evidence, not buckets: those can only be made of all jobs at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeVar

from ciops.errors import UsageError
from ciops.failures.assemble import Facts, Looked
from ciops.failures.buckets import Bucket, JobEvidence
from ciops.failures.masking import masked
from ciops.failures.plain_data import PlainDataError, from_plain, to_plain
from ciops.failures.report_json import MAX_BYTES
from ciops.failures.trace_download import NOT_READ, unread
from ciops.plumbing.yaml_file import read_text

T = TypeVar("T")
SCHEMA: Final = 1
PATTERN: Final = "part-*-of-*.json"
_AGAIN: Final = "Name the folders that `report --shard` wrote"


@dataclass(frozen=True, slots=True)
class Part:
    """What part `index` of `count` found. `facts` are of the whole chain; `evidence` is its own.

    `looked` is what was found of code, by `code_key`; `formats` and `language` are those that the
    part was asked for.
    """

    schema: int
    index: int
    count: int
    facts: Facts
    evidence: tuple[JobEvidence, ...]
    looked: Mapping[str, Looked] = field(default_factory=dict)
    formats: tuple[str, ...] = ()
    language: str = "en"

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"part-{self.index}-of-{self.count}.json"


def code_key(bucket: Bucket) -> str:
    """What makes two buckets point at the same code, whoever is in them."""
    frame = bucket.frame
    return f"{frame.owner} {frame.path}:{frame.function}" if frame else ""


def part_json(part: Part) -> str:
    """The text of a part's file: ASCII, with the secrets in all texts masked."""
    return json.dumps(to_plain(masked(part)), separators=(",", ":")) + "\n"


def read_parts(places: Iterable[Path]) -> list[Part]:
    """The parts in folders or files, by their index; UsageError when they do not fit together."""
    parts = {}
    for path in dict.fromkeys(file for place in places for file in _files(place)):
        part = _read(path)
        parts[part.index] = part
    found = [parts[index] for index in sorted(parts)]
    if not found:
        raise UsageError("there is no part of a report", _AGAIN)
    for other in found[1:]:
        _refuse_foreign(found[0], other)
    return found


def _files(place: Path) -> list[Path]:
    if place.is_dir():
        return sorted([*place.glob(PATTERN), *place.glob(f"*/{PATTERN}")])
    if not place.exists():
        raise UsageError(f"{place}: no such folder", _AGAIN)
    return [place]


def _read(path: Path) -> Part:
    try:
        part = from_plain(Part, json.loads(read_text(path, MAX_BYTES)))
    except PlainDataError as error:
        raise UsageError(f"{path}: is no part of a report: {error}", _AGAIN) from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path}: is not JSON", _AGAIN) from None
    if part.schema != SCHEMA or not 1 <= part.index <= part.count:
        problem = f"{path}: is a part that this version cannot read"
        raise UsageError(problem, "Run the parts again with this version")
    return part


def _refuse_foreign(one: Part, other: Part) -> None:
    for what, here, there in (
        ("starting pipelines", one.facts.starting_pipeline, other.facts.starting_pipeline),
        ("configurations", one.facts.config, other.facts.config),
        ("scopes", one.facts.scope, other.facts.scope),
        ("numbers of parts", one.count, other.count),
    ):
        if here != there:
            problem = f"parts {one.name} and {other.name} have different {what}: {here}, {there}"
            raise UsageError(problem, "Merge the parts of one run")


def together(parts: Sequence[Part]) -> tuple[Facts, list[JobEvidence], dict[str, Looked]]:
    """The facts of all parts; a job whose part is missing counts as not read."""
    jobs = {one.job.id: one for part in parts for one in part.facts.jobs}
    evidence = {one.id: one for part in parts for one in part.evidence}
    count = parts[0].count
    missing = [str(i) for i in range(1, count + 1) if i not in {part.index for part in parts}]
    why = f"{NOT_READ}: part {', '.join(missing)} of {count} is missing" if missing else NOT_READ
    for identity, one in jobs.items():
        if identity not in evidence:
            evidence[identity] = unread(one, why)
    looked = {key: found for part in parts for key, found in part.looked.items()}
    first = parts[0].facts
    facts = replace(
        first,
        terminal_pipelines=_merged(part.facts.terminal_pipelines for part in parts),
        steps=_merged(part.facts.steps for part in parts),
        jobs=tuple(jobs[key] for key in sorted(jobs)),
        dead_ends=_merged(part.facts.dead_ends for part in parts),
        remarks=_merged(part.facts.remarks for part in parts),
        log_urls={key: url for part in parts for key, url in part.facts.log_urls.items()},
        beside={key: note for part in parts for key, note in part.facts.beside.items()},
        generated_at=max(part.facts.generated_at for part in parts),
        shard="",
    )
    return facts, [evidence[key] for key in sorted(evidence)], looked


def _merged(groups: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    """Every different item once, in the order in which it was met."""
    return tuple(dict.fromkeys(item for group in groups for item in group))
