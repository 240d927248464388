"""What the logs beside a workload show, where its own shows no cause.

A workload is run as several jobs: one collects logs before it, one after it. Their logs are
supplementary: they say where to look, and the workload's evidence stays weak.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ciops.failures.buckets import JobEvidence
from ciops.failures.chain import ChainJob
from ciops.failures.job_names import is_workload, part_of
from ciops.failures.knowledge import Knowledge
from ciops.failures.scan_result import STRONG

if TYPE_CHECKING:
    from ciops.forges.base import Job, Pipelines

MOST_WORKLOADS: Final = 20
"""Workloads without a cause that are looked into; where there are more, the logs are at fault."""
_LONGEST: Final = 200
_ENDED: Final = ("failed", "success", "canceled")

Read = Callable[[Sequence[ChainJob]], Iterator[JobEvidence]]


def logs_beside(
    evidence: Iterable[JobEvidence],
    jobs: Sequence[ChainJob],
    pipelines: Pipelines,
    knowledge: Knowledge,
    read: Read,
) -> dict[int, str]:
    """By job: a sentence on the first causal error in a log beside it. Raises HttpError."""
    if knowledge.jobs.pattern is None:
        return {}
    known = {one.id: one for one in evidence}
    bare = [one for one in jobs if _shows_nothing(one, known, knowledge)][:MOST_WORKLOADS]
    siblings = dict(_siblings(bare, pipelines, knowledge))
    unread = [one for one, _ in siblings.values() if one.job.id not in known]
    known |= {found.id: found for found in read(unread)} if unread else {}
    notes: dict[int, str] = {}
    for identity in sorted(siblings):
        sibling, of = siblings[identity]
        found = known.get(identity)
        if found is not None and found.evidence == STRONG:
            notes.setdefault(of, _sentence(sibling.job, found))
    return notes


def _shows_nothing(one: ChainJob, known: dict[int, JobEvidence], knowledge: Knowledge) -> bool:
    """Whether a job ran a workload of several parts, and its own log names no cause."""
    part = part_of(one.job.name, knowledge.jobs)
    is_one = bool(part.part) and is_workload(part, knowledge.jobs)
    return is_one and one.job.id in known and known[one.job.id].evidence != STRONG


def _siblings(
    bare: Sequence[ChainJob], pipelines: Pipelines, knowledge: Knowledge
) -> Iterator[tuple[int, tuple[ChainJob, int]]]:
    """The other parts of each workload, by their id, with the workload's own id."""
    for pipeline in dict.fromkeys((one.project, one.step.id) for one in bare):
        of = {
            part_of(one.job.name, knowledge.jobs).workload: one
            for one in bare
            if one.step.id == pipeline[1]
        }
        for job in pipelines.jobs(*pipeline, statuses=_ENDED):
            part = part_of(job.name, knowledge.jobs)
            one = of.get(part.workload)
            if one is not None and part.part and not is_workload(part, knowledge.jobs):
                yield job.id, (ChainJob(job, one.project, one.step), one.job.id)


def _sentence(job: Job, found: JobEvidence) -> str:
    text = (found.scan.text or "")[:_LONGEST]
    return f"the log of {job.name} ({job.id}) shows at line {found.scan.line}: {text}"
