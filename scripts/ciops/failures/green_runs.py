"""What a chain knows of runs: the commits on the way to a job, and its last green run before."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from ciops.failures.chain import Chain, ChainJob
from ciops.failures.report_model import PipelineStep

if TYPE_CHECKING:
    from ciops.forges.base import Job, Pipeline, Pipelines

GREEN: Final = "success"
LOOK_BACK: Final = 10
"""Earlier pipelines of a kind that are asked for their green jobs."""
_LISTED: Final = 100


class GreenRuns:
    """Asks each earlier pipeline once, for the names that failed in this report."""

    def __init__(self, pipelines: Pipelines, chain: Chain) -> None:
        self._pipelines = pipelines
        self._chain = chain
        self._names = {job.job.name for job in chain.jobs}
        self._earlier: dict[int, list[Pipeline]] = {}
        self._green: dict[int, dict[str, Job]] = {}

    def sha_in(self, project: str, one: ChainJob) -> str:
        """The commit that a pipeline on the way to a job ran at, if it is one of a project."""
        step: PipelineStep | None = one.step
        steps = {step.id: step for step in self._chain.steps}
        for _ in steps:
            if step is None or step.project.casefold() == project.casefold():
                break
            step = steps.get(step.parent or 0)
        return step.sha if step and step.project.casefold() == project.casefold() else ""

    def last(self, one: ChainJob) -> Job | None:
        """The newest green job of the same name before this one; raises HttpError."""
        for pipeline in self._before(one):
            if pipeline.id not in self._green:
                jobs = self._pipelines.jobs(one.project, pipeline.id, statuses=(GREEN,))
                self._green[pipeline.id] = {job.name: job for job in self._wanted(jobs)}
            found = self._green[pipeline.id].get(one.job.name)
            if found is not None:
                return found
        return None

    def _wanted(self, jobs: list[Job]) -> Iterator[Job]:
        return (job for job in jobs if job.name in self._names and job.status == GREEN)

    def _before(self, one: ChainJob) -> list[Pipeline]:
        """Earlier pipelines of the same project, branch, trigger and name."""
        key = one.step.id
        if key not in self._earlier:
            own = self._chain.pipelines[key]
            listed = self._pipelines.pipelines(
                one.project, ref=own.ref, source=own.source, before=own.created_at
            )
            older = (other for other in islice(listed, _LISTED) if _is_before(other, own))
            self._earlier[key] = list(islice(older, LOOK_BACK))
        return self._earlier[key]


def _is_before(other: Pipeline, own: Pipeline) -> bool:
    """Older, and not another kind by its name, where both have one."""
    named_apart = bool(other.name and own.name) and other.name != own.name
    return other.id < own.id and not named_apart
