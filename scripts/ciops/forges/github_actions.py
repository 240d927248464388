"""GitHub Actions' runs, jobs and logs, as pipelines, jobs and traces.

https://docs.github.com/en/rest/actions. A run triggers no other run that the API would name, so
there are no bridges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from ciops.forges import github_facts as facts
from ciops.forges.base import Bridge, Job, Pipeline, Project
from ciops.forges.github import repo_path
from ciops.plumbing.http import Client, Download


class GitHubActions:
    """The runs of any repository that the token may see; a project is `owner/name`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def project(self, project: int | str) -> Project:
        return facts.project(self._client.get(repo_path(project)).data)

    def pipeline(self, project: int | str, pipeline_id: int) -> Pipeline:
        path = f"{repo_path(project)}/actions/runs/{int(pipeline_id)}"
        return facts.run(self._client.get(path).data)

    def pipelines(
        self,
        project: int | str,
        *,
        ref: str = "",
        source: str = "",
        before: str = "",  # noqa: ARG002 - newer runs are the caller's to pass over
    ) -> Iterator[Pipeline]:
        query = {"branch": ref or None, "event": source or None, "per_page": 100}
        path = f"{repo_path(project)}/actions/runs"
        return map(facts.run, self._client.items(path, query, key="workflow_runs"))

    def bridges(self, project: int | str, pipeline_id: int) -> list[Bridge]:  # noqa: ARG002
        return []

    def jobs(
        self,
        project: int | str,
        pipeline_id: int,
        *,
        statuses: Sequence[str] = (),
        include_retried: bool = False,
    ) -> list[Job]:
        path = f"{repo_path(project)}/actions/runs/{int(pipeline_id)}/jobs"
        query = {"filter": "all" if include_retried else "latest", "per_page": 100}
        found = map(facts.job, self._client.items(path, query, key="jobs"))
        return [job for job in found if not statuses or job.status in statuses]

    def trace(
        self, project: int | str, job_id: int, offset: int = 0
    ) -> AbstractContextManager[Download]:
        """A redirect to storage, valid for a minute and asked anew where it has to resume."""
        path = f"{repo_path(project)}/actions/jobs/{int(job_id)}/logs"
        return self._client.download(path, offset)
