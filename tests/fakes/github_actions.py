"""Workflow runs, their jobs, and logs that live on another host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fakes.filler import EPOCH, SHA
from fakes.github_code_shapes import repository_base
from fakes.github_shapes import number_of
from fakes.github_state import Json, Repository
from fakes.messages import Asked, Reply, Route

if TYPE_CHECKING:
    from fakes.github import FakeGitHub

Given = Mapping[str, Any]


def add_run(repository: Repository, given: Given) -> Json:
    """A workflow run; `jobs` are its jobs, whose `log` is kept for download."""
    identity = given["id"]
    shapes, repo = repository.shapes, repository.full_name
    url = f"{shapes.api}/repos/{repo}/actions/runs/{identity}"
    of_repository = shapes.filler.fill("minimal-repository", repository_base(repository))
    fields = {
        "name": "CI",
        "display_title": "CI",
        "head_branch": repository.default_branch,
        "head_sha": SHA,
        "event": "push",
        "status": "completed",
        "conclusion": "failure",
        "run_number": 1,
        "run_attempt": 1,
        "path": ".github/workflows/ci.yml",
        "created_at": EPOCH,
        "updated_at": EPOCH,
        "run_started_at": EPOCH,
        "actor": "ghost",
        **{key: value for key, value in given.items() if key != "jobs"},
        "url": url,
        "jobs_url": f"{url}/jobs",
        "logs_url": f"{url}/logs",
        "html_url": f"{shapes.web}/{repo}/actions/runs/{identity}",
        "repository": of_repository,
        "head_repository": of_repository,
    }
    fields["actor"] = shapes.user(fields["actor"])
    run = shapes.filler.fill("workflow-run", fields)
    repository.runs[identity] = run
    repository.jobs[identity] = [
        _job(repository, run, job) for job in given.get("jobs", ())
    ]  # `log` of a job is taken off on the way
    return run


def list_runs(forge: FakeGitHub, asked: Asked) -> Reply:
    repository, query = forge.repository_of(asked), asked.query
    query.get("exclude_pull_requests")  # runs here name none
    status = query.get("status")
    wanted = {
        "head_branch": query.get("branch"),
        "event": query.get("event"),
        "head_sha": query.get("head_sha"),
    }
    found = [
        run
        for run in repository.runs.values()
        if all(value in (None, run[key]) for key, value in wanted.items())
        and status in (None, run["status"], run["conclusion"])
        and query.get("actor") in (None, run["actor"]["login"])
    ]
    found.sort(key=lambda run: (run["created_at"], run["id"]), reverse=True)
    return forge.page(asked, repository, found, key="workflow_runs")


def get_run(forge: FakeGitHub, asked: Asked) -> Reply:
    asked.query.get("exclude_pull_requests")
    run = forge.repository_of(asked).runs.get(asked.path["run_id"])
    return forge.error(404, "Not Found") if run is None else Reply(body=run)


def list_jobs(forge: FakeGitHub, asked: Asked) -> Reply:
    """`filter=latest`, the default, hides the jobs of earlier attempts."""
    repository = forge.repository_of(asked)
    run = repository.runs.get(asked.path["run_id"])
    if run is None:
        return forge.error(404, "Not Found")
    every = asked.query["filter"] == "all"
    jobs = [
        job
        for job in repository.jobs[run["id"]]
        if every or job["run_attempt"] == run["run_attempt"]
    ]
    return forge.page(asked, repository, jobs, key="jobs")


def get_job(forge: FakeGitHub, asked: Asked) -> Reply:
    for jobs in forge.repository_of(asked).jobs.values():
        for job in jobs:
            if job["id"] == asked.path["job_id"]:
                return Reply(body=job)
    return forge.error(404, "Not Found")


def get_job_logs(forge: FakeGitHub, asked: Asked) -> Reply:
    """A redirect to the storage host, good for one minute there, for one job."""
    job = asked.path["job_id"]
    log = forge.repository_of(asked).logs.get(job)
    if log is None:
        return forge.error(404, "Not Found")
    location = forge.storage.put(f"/logs/{job}.txt", log)
    return Reply(302, headers={"Location": location})


def _job(repository: Repository, run: Json, given: Given) -> Json:
    identity = given.get("id", number_of(f"{run['id']} {given['name']}"))
    if "log" in given:
        repository.logs[identity] = given["log"]
    url = f"{repository.shapes.api}/repos/{repository.full_name}/actions/jobs/{identity}"
    fields = {
        "status": "completed",
        "conclusion": "failure",
        "run_attempt": run["run_attempt"],
        "created_at": run["created_at"],
        "started_at": run["created_at"],
        "completed_at": run["updated_at"],
        "labels": [],
        "steps": [],
        **{key: value for key, value in given.items() if key != "log"},
        "id": identity,
        "run_id": run["id"],
        "run_url": run["url"],
        "head_sha": run["head_sha"],
        "head_branch": run["head_branch"],
        "workflow_name": run["name"],
        "url": url,
        "html_url": f"{run['html_url']}/job/{identity}",
    }
    return repository.shapes.filler.fill("job", fields)


ROUTES: dict[str, Route] = {
    "GET /repos/{owner}/{repo}/actions/runs": list_runs,
    "GET /repos/{owner}/{repo}/actions/runs/{run_id}": get_run,
    "GET /repos/{owner}/{repo}/actions/runs/{run_id}/jobs": list_jobs,
    "GET /repos/{owner}/{repo}/actions/jobs/{job_id}": get_job,
    "GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs": get_job_logs,
}
