"""Which buckets an earlier report had already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ciops.failures.report_model import Bucket, FailedJob, Report

_Key = tuple[str, ...]


def recurring(
    buckets: Sequence[Bucket], jobs: Iterable[FailedJob], previous: Report | None
) -> Iterator[Bucket]:
    """The buckets, marked new or recurring; unmarked without an earlier report."""
    if previous is None:
        yield from buckets
        return
    names = {job.id: job.name for job in jobs}
    names_before = {job.id: job.name for job in previous.jobs}
    known = {key for one in previous.buckets for key in _keys(one, names_before)}
    for one in buckets:
        yield replace(one, recurring=any(key in known for key in _keys(one, names)))


def _keys(one: Bucket, names: dict[int, str]) -> Iterator[_Key]:
    """What identifies a bucket from run to run.

    The signature does, with its owner; where the evidence is weak it says next to nothing, so the
    same job must have failed as weakly.
    """
    if one.evidence == "strong":
        yield ("strong", one.owner, one.signature or one.name)
        return
    for job in one.jobs:
        yield ("weak", one.rule or one.name.rpartition("/")[0], names.get(job, str(job)))
