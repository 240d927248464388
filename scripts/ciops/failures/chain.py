"""From a starting pipeline down its failed bridges to the pipelines that ran the failed jobs.

Level by level: a pipeline with failed jobs is terminal, and its failed bridges are followed all the
same. Above the first bridge of the scope only bridges of the scope count; below it every failed one
but benchmarks. What leads nowhere is kept as a dead end. No pipeline is visited twice.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ciops.errors import CiopsError, ServiceError
from ciops.failures import scope as scopes
from ciops.failures.report_model import (
    PIPELINE_UNREADABLE,
    DeadEndBridge,
    PipelineStep,
    Remark,
)
from ciops.failures.scope import Scope
from ciops.failures.start import Start
from ciops.forges.base import Bridge, Job, Pipeline
from ciops.plumbing.http import ForbiddenError, HttpError, NotFoundError

if TYPE_CHECKING:
    from ciops.forges.base import Pipelines

FAILED: Final = "failed"
FAILED_BELOW: Final = "downstream_pipeline_failed"
"""GitLab's reason of a bridge whose pipeline ran: it is there, even when it cannot be seen."""
MOST_PIPELINES: Final = 500
"""A chain is finite; this bounds one that a service invents."""


@dataclass(frozen=True, slots=True)
class ChainJob:
    """A failed job of a terminal pipeline, and what its service calls the project."""

    job: Job
    project: int | str
    step: PipelineStep


@dataclass(slots=True)
class Chain:
    """What was found while following the bridges; it grows while they are followed.

    `steps` are all visited pipelines, the starting one first; `terminal` those with failed jobs, in
    the order in which they were reached. `remarks` name what could not be read. `site` is the
    address of the service.
    """

    start: Pipeline
    site: str = ""
    steps: list[PipelineStep] = field(default_factory=list)
    pipelines: dict[int, Pipeline] = field(default_factory=dict)
    terminal: list[int] = field(default_factory=list)
    jobs: list[ChainJob] = field(default_factory=list)
    dead_ends: list[DeadEndBridge] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Visit:
    """A pipeline to look into, the bridge that led there, and the pipeline above."""

    id: int
    project: int | str
    inside: bool
    bridge: Bridge | None = None
    parent: Pipeline | None = None
    known: Pipeline | None = None


def follow(
    start: Start, scope: Scope, pipelines: Pipelines, say: Callable[[str], None], chain: Chain
) -> None:
    """Fill `chain`. ServiceError when not even the starting pipeline can be read."""
    chain.remarks.extend(Remark(PIPELINE_UNREADABLE, text) for text in start.unread)
    first = _Visit(start.pipeline.id, start.project, start.inside, known=start.pipeline)
    queue = deque([first])
    visited = {first.id}
    while queue:
        visit = queue.popleft()
        for below in _look_into(visit, scope, pipelines, chain):
            if below.id in visited:
                continue
            if len(visited) == MOST_PIPELINES:
                text = f"{below.id}: not looked into, after {MOST_PIPELINES} pipelines"
                chain.remarks.append(Remark(PIPELINE_UNREADABLE, text))
                return
            visited.add(below.id)
            queue.append(below)
        say(f"pipeline {visit.id}: failed jobs {len(chain.jobs)}, pipelines left {len(queue)}")


def _look_into(visit: _Visit, scope: Scope, pipelines: Pipelines, chain: Chain) -> list[_Visit]:
    """Note what a pipeline holds; the pipelines below it that are to be looked into."""
    pipeline = visit.known or _pipeline(visit, scope, pipelines, chain)
    if pipeline is None or _is_benchmark(visit, pipeline, scope):
        return []
    step = _step(visit, pipeline, chain.site)
    chain.steps.append(step)
    chain.pipelines[pipeline.id] = pipeline
    jobs = _failed_jobs(visit, pipelines)
    bridges = _failed_bridges(visit, scope, pipelines)
    errors = [part for part in (jobs, bridges) if isinstance(part, HttpError)]
    _note_unread(visit, errors, chain)
    found = jobs if isinstance(jobs, list) else []
    followed = bridges if isinstance(bridges, list) else []
    if found:
        chain.terminal.append(pipeline.id)
        chain.jobs.extend(ChainJob(job, visit.project, step) for job in found)
    elif not followed:
        kind = scopes.NOT_READ if errors else scopes.NO_FAILED_JOB
        why = errors[0].problem if errors else ""
        _note_dead_end(visit, kind, pipeline.status, scope, chain, why)
    return [below for bridge in followed for below in _below(bridge, visit, pipeline, scope, chain)]


def _pipeline(visit: _Visit, scope: Scope, pipelines: Pipelines, chain: Chain) -> Pipeline | None:
    """The pipeline behind a bridge; None, and a dead end, when it cannot be seen."""
    try:
        return pipelines.pipeline(visit.project, visit.id)
    except (NotFoundError, ForbiddenError) as error:
        kind = scopes.NOT_VISIBLE
        problem: CiopsError = error
    except HttpError as error:
        kind = scopes.NOT_READ
        problem = error
    chain.remarks.append(Remark(PIPELINE_UNREADABLE, f"{visit.id}: {problem.problem}"))
    _note_dead_end(visit, kind, FAILED, scope, chain, problem.problem)
    return None


def _is_benchmark(visit: _Visit, pipeline: Pipeline, scope: Scope) -> bool:
    """Whether a pipeline that a bridge of no telling name triggered is a benchmark by its own."""
    if visit.bridge is None or (scope.bridges is not None and scope.has_bridge(visit.bridge.name)):
        return False
    return scope.benchmark.pipelines.hold(pipeline.name)


def _failed_jobs(visit: _Visit, pipelines: Pipelines) -> list[Job] | HttpError:
    """The latest attempts that failed, oldest first."""
    try:
        found = pipelines.jobs(visit.project, visit.id, statuses=(FAILED,))
    except HttpError as error:
        return error
    failed = {job.id: job for job in found if job.status == FAILED}
    return [failed[key] for key in sorted(failed)]


def _failed_bridges(visit: _Visit, scope: Scope, pipelines: Pipelines) -> list[Bridge] | HttpError:
    """The failed bridges to follow, oldest first."""
    try:
        found = pipelines.bridges(visit.project, visit.id)
    except HttpError as error:
        return error
    # Names are unique among the latest attempts; an earlier attempt is no failure of the chain.
    latest = {bridge.name: bridge for bridge in sorted(found, key=lambda bridge: bridge.id)}
    failed = (bridge for bridge in latest.values() if _has_failed(bridge))
    wanted = (bridge for bridge in failed if _is_followed(bridge, visit.inside, scope))
    return sorted(wanted, key=lambda bridge: bridge.id)


def _has_failed(bridge: Bridge) -> bool:
    """Its own status, or that of its pipeline: a bridge that does not wait ends green.

    https://docs.gitlab.com/ci/yaml/#triggerstrategy
    """
    return bridge.status == FAILED or (
        bridge.downstream is not None and bridge.downstream.status == FAILED
    )


def _is_followed(bridge: Bridge, inside: bool, scope: Scope) -> bool:
    return (
        not scope.benchmark.bridges.hold(bridge.name) if inside else scope.has_bridge(bridge.name)
    )


def _below(
    bridge: Bridge, visit: _Visit, pipeline: Pipeline, scope: Scope, chain: Chain
) -> Sequence[_Visit]:
    """The pipeline that a bridge triggered, if it did."""
    down = bridge.downstream
    if down is not None:
        project = down.project_id or visit.project
        return (_Visit(down.id, project, inside=True, bridge=bridge, parent=pipeline),)
    above = _Visit(0, visit.project, inside=True, bridge=bridge, parent=pipeline)
    if bridge.failure_reason == FAILED_BELOW:
        unseen = f"what bridge {bridge.id} triggered failed, and is not visible to the token"
        chain.remarks.append(Remark(PIPELINE_UNREADABLE, unseen))
        _note_dead_end(above, scopes.NOT_VISIBLE, bridge.status, scope, chain)
    else:
        _note_dead_end(above, scopes.NOT_TRIGGERED, bridge.status, scope, chain)
    return ()


def _note_dead_end(
    visit: _Visit, kind: str, status: str, scope: Scope, chain: Chain, failure_reason: str = ""
) -> None:
    """A bridge that leads nowhere stands beside the checksum; the start has no bridge."""
    bridge = visit.bridge
    if bridge is None:
        return
    why = failure_reason or bridge.failure_reason or "no reason given"
    rule = scope.dead_end(kind, why)
    facts = {"{failure_reason}": why, "{pipeline}": str(visit.id), "{status}": status}
    reason = re.sub(r"\{\w+\}", lambda place: facts.get(place[0], place[0]), rule.reason)
    parent = visit.parent.id if visit.parent else None
    chain.dead_ends.append(
        DeadEndBridge(bridge.id, bridge.name, rule.bucket, rule.status, reason, bridge.url, parent)
    )


def _note_unread(visit: _Visit, errors: Sequence[HttpError], chain: Chain) -> None:
    """Say which lists could not be read; nothing at all of the start is an error."""
    if len(errors) == 2 and visit.bridge is None:
        problem = f"pipeline {visit.id} cannot be read: {errors[0].problem}"
        raise ServiceError(problem, errors[0].next_step)
    for error in errors:
        chain.remarks.append(Remark(PIPELINE_UNREADABLE, f"{visit.id}: {error.problem}"))


def _step(visit: _Visit, pipeline: Pipeline, site: str) -> PipelineStep:
    bridge = visit.bridge
    return PipelineStep(
        id=pipeline.id,
        url=pipeline.url,
        project=project_of(pipeline.url, site) or str(visit.project),
        ref=pipeline.ref,
        sha=pipeline.sha,
        parent=visit.parent.id if visit.parent else None,
        via_bridge=bridge.id if bridge else None,
        via_name=bridge.name if bridge else "",
        via_url=bridge.url if bridge else "",
    )


def project_of(url: str, site: str) -> str:
    """The path of the project in the address of a pipeline or run; "" when it is none."""
    path = url.removeprefix(site.rstrip("/")) if site else ""
    match = re.match(r"/(?P<path>.+?)(?:/-)?/(?:pipelines|actions/runs)/\d+", path)
    return match["path"] if match else ""
