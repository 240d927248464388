"""GitLab's pipelines, trigger jobs, jobs and traces.

https://docs.gitlab.com/api/pipelines/ and /api/jobs/. A job token gets 401 on trigger jobs: a
token with `read_api` is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Final

from ciops.forges import gitlab_facts as facts
from ciops.forges.base import Bridge, Job, Pipeline, Project
from ciops.forges.gitlab import project_path
from ciops.plumbing.http import Client, Download, NotFoundError

# Trigger jobs under their name of old, which newer servers call deprecated, and their new one.
BRIDGE_PATHS: Final = ("bridges", "trigger_jobs")


class GitLabPipelines:
    """The pipelines of any project that the token may see; a project is an id or a path."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._bridge_paths = BRIDGE_PATHS

    def project(self, project: int | str) -> Project:
        return facts.project(self._client.get(project_path(project)).data)

    def pipeline(self, project: int | str, pipeline_id: int) -> Pipeline:
        return facts.pipeline(self._client.get(_path(project, pipeline_id)).data)

    def pipelines(
        self, project: int | str, *, ref: str = "", source: str = "", before: str = ""
    ) -> Iterator[Pipeline]:
        """Children of other pipelines come only where `source` is `parent_pipeline`."""
        query = {
            "ref": ref or None,
            "source": source or None,
            "created_before": before or None,
            "order_by": "id",
            "sort": "desc",
            "per_page": 50,
        }
        path = f"{project_path(project)}/pipelines"
        return map(facts.pipeline, self._client.items(path, query))

    def bridges(self, project: int | str, pipeline_id: int) -> list[Bridge]:
        """By whichever of its two names the server answers to; it is asked for one from then on."""
        usual, other = self._bridge_paths
        try:
            return self._bridges(project, pipeline_id, usual)
        except NotFoundError as missing:
            try:
                found = self._bridges(project, pipeline_id, other)
            except NotFoundError:
                raise missing from None
            self._bridge_paths = (other, usual)
            return found

    def _bridges(self, project: int | str, pipeline_id: int, name: str) -> list[Bridge]:
        path = f"{_path(project, pipeline_id)}/{name}"
        return [facts.bridge(row) for row in self._client.items(path, {"per_page": 100})]

    def jobs(
        self,
        project: int | str,
        pipeline_id: int,
        *,
        statuses: Sequence[str] = (),
        include_retried: bool = False,
    ) -> list[Job]:
        query = {
            "scope[]": list(statuses),
            "include_retried": include_retried,
            "per_page": 100,
        }
        path = f"{_path(project, pipeline_id)}/jobs"
        return [facts.job(row) for row in self._client.items(path, query)]

    def trace(
        self, project: int | str, job_id: int, offset: int = 0
    ) -> AbstractContextManager[Download]:
        """May be a redirect to object storage, where the token does not go."""
        return self._client.download(f"{project_path(project)}/jobs/{int(job_id)}/trace", offset)


def _path(project: int | str, pipeline_id: int) -> str:
    return f"{project_path(project)}/pipelines/{int(pipeline_id)}"
