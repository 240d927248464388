"""Pipelines, bridges, jobs and traces: the routes that the failure report lives on."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fakes.gitlab_shapes import Json
from fakes.gitlab_state import Project
from fakes.messages import Asked, Reply, Route
from fakes.storage import ranged
from fakes.streams import Content, Stream, stream_of
from fakes.wire import Delivery

if TYPE_CHECKING:
    from fakes.gitlab import FakeGitLab

FINISHED = {"success", "failed", "canceled", "skipped"}


def list_pipelines(forge: FakeGitLab, asked: Asked) -> Reply:
    """Newest id first; child pipelines only show when their source is asked for."""
    project, query = forge.project_of(asked), asked.query
    same = {key: query.get(key) for key in ("status", "source", "ref", "sha", "name")}
    found = [
        pipeline
        for pipeline in project.pipelines.values()
        if all(value in (None, pipeline.get(key)) for key, value in same.items())
        and (same["source"] or pipeline["source"] != "parent_pipeline")
        and _in_scope(pipeline, query.get("scope"))
        and forge.within(pipeline, query)
    ]
    key = query.get("order_by", "id")
    reverse = query.get("sort", "desc") == "desc"
    found.sort(key=lambda pipeline: (pipeline[key], pipeline["id"]), reverse=reverse)
    return forge.page(asked, [project.shapes.pipeline_in_list(part) for part in found])


def get_latest_pipeline(forge: FakeGitLab, asked: Asked) -> Reply:
    project = forge.project_of(asked)
    ref = asked.query.get("ref", project.default_branch)
    found = [pipeline for pipeline in project.pipelines.values() if pipeline["ref"] == ref]
    if not found:
        return forge.error(404, "404 Not found")
    newest = max(found, key=lambda pipeline: int(pipeline["id"]))
    return Reply(body=project.shapes.pipeline(newest))


def get_pipeline(forge: FakeGitLab, asked: Asked) -> Reply:
    project = forge.project_of(asked)
    pipeline = project.pipelines.get(asked.path["pipeline_id"])
    if pipeline is None:
        return forge.error(404, "404 Not found")
    return Reply(body=project.shapes.pipeline(pipeline))


def list_jobs(forge: FakeGitLab, asked: Asked) -> Reply:
    """Newest first; earlier attempts only with `include_retried=true`."""
    project = forge.project_of(asked)
    jobs = project.jobs.get(asked.path["pipeline_id"])
    if jobs is None:
        return forge.error(404, "404 Not found")
    every = asked.query.get("include_retried", False)
    shown = [job for job in jobs if every or not job.get("retried")]
    return forge.page(asked, _listed(project, "Job", shown, asked))


def list_bridges(forge: FakeGitLab, asked: Asked) -> Reply:
    project = forge.project_of(asked)
    bridges = project.bridges.get(asked.path["pipeline_id"])
    if bridges is None:
        return forge.error(404, "404 Not found")
    return forge.page(asked, _listed(project, "Bridge", bridges, asked))


def list_trigger_jobs(forge: FakeGitLab, asked: Asked) -> Reply:
    """The newer name of bridges; an older server does not know it."""
    if forge.trigger_jobs:
        return list_bridges(forge, asked)
    asked.query.unread.clear()
    return Reply(404, {"error": "404 Not Found"})


def get_job(forge: FakeGitLab, asked: Asked) -> Reply:
    """A bridge is no job: its id answers 404."""
    project = forge.project_of(asked)
    job = _job(project, asked.path["job_id"])
    if job is None:
        return forge.error(404, "404 Not Found")
    return Reply(body=project.shapes.job("Job", job))


def get_trace(forge: FakeGitLab, asked: Asked) -> Reply:
    """The raw log: whole, from an offset, gzipped, or by way of object storage."""
    project, job_id = forge.project_of(asked), asked.path["job_id"]
    status = project.trace_status.get(job_id)
    if status is not None:
        return forge.error(status, f"{status} planned for this trace")
    content = project.traces.get(job_id)
    if content is None or _job(project, job_id) is None:
        return forge.error(404, "404 Not Found")
    if forge.trace_redirect is not None:
        location = forge.storage.put(f"/traces/{project.id}/{job_id}.log", content)
        return Reply(forge.trace_redirect, headers={"Location": location})
    return _trace_reply(forge, asked, content)


def _trace_reply(forge: FakeGitLab, asked: Asked, content: Content) -> Reply:
    headers = {"Content-Disposition": "inline"}
    if forge.trace_gzip and "gzip" in asked.request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        packed = Gzipped(stream_of(content))
        return Reply(200, packed, headers, "text/plain", paced=True, chunked=True)
    wanted = asked.request.headers.get("range") if forge.trace_range else None
    part = ranged(Delivery(200, headers, content), wanted)
    return Reply(part.status, part.content, part.headers, "text/plain", span=part.span, paced=True)


@dataclass(frozen=True, slots=True)
class Gzipped:
    """A stream packed while it is sent; only ever read whole, and its size is not known."""

    stream: Stream

    @property
    def size(self) -> int:
        return self.stream.size

    def chunks(self, start: int, stop: int) -> Iterator[bytes]:
        packer = zlib.compressobj(level=1, wbits=31)
        for piece in self.stream.chunks(start, stop):
            packed = packer.compress(piece)
            if packed:
                yield packed
        yield packer.flush()


def _job(project: Project, job_id: int) -> Json | None:
    for jobs in project.jobs.values():
        for job in jobs:
            if job["id"] == job_id:
                return job
    return None


def _listed(project: Project, schema: str, jobs: list[Json], asked: Asked) -> list[Json]:
    one = asked.query.get("scope")
    scopes = {*asked.query.get("scope[]", ()), *([one] if one else ())}
    shown = [job for job in jobs if not scopes or job["status"] in scopes]
    shown.sort(key=lambda job: int(job["id"]), reverse=True)
    return [project.shapes.job(schema, job) for job in shown]


def _in_scope(pipeline: Json, scope: Any) -> bool:
    if scope in ("running", "pending"):
        return bool(pipeline["status"] == scope)
    if scope == "finished":
        return pipeline["status"] in FINISHED
    return scope in (None, "branches")  # worlds have no tags


ROUTES: dict[str, Route] = {
    "GET /projects/{id}/pipelines": list_pipelines,
    "GET /projects/{id}/pipelines/latest": get_latest_pipeline,
    "GET /projects/{id}/pipelines/{pipeline_id}": get_pipeline,
    "GET /projects/{id}/pipelines/{pipeline_id}/jobs": list_jobs,
    "GET /projects/{id}/pipelines/{pipeline_id}/bridges": list_bridges,
    "GET /projects/{id}/pipelines/{pipeline_id}/trigger_jobs": list_trigger_jobs,
    "GET /projects/{id}/jobs/{job_id}": get_job,
    "GET /projects/{id}/jobs/{job_id}/trace": get_trace,
}
