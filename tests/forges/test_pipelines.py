"""Pipelines, bridges, jobs and traces; workflow runs as a second source of the same facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ciops.errors import UsageError
from ciops.forges.base import Downstream
from ciops.forges.github import GitHub
from ciops.forges.gitlab import GitLab
from ciops.forges.gitlab_pipelines import GitLabPipelines
from ciops.plumbing.http import NotFoundError, UnauthorizedError
from fakes.github import FakeGitHub
from fakes.gitlab import Account, FakeGitLab
from forges.conftest import client_for

TRACE = b"line one\n" + b"x" * 1_000_000 + b"\nERROR: Job failed\n"


def job(identity: int, status: str = "failed", **more: Any) -> dict[str, Any]:
    return {"id": identity, "name": f"job {identity}", "stage": "test", "status": status, **more}


BELOW = {
    "id": 200,
    "iid": 1,
    "project_id": 8,
    "status": "failed",
    "sha": "b" * 40,
    "ref": "main",
    "source": "pipeline",
    "created_at": "2026-05-04T10:00:00.000Z",
    "updated_at": "2026-05-04T11:00:00.000Z",
    "web_url": "https://gitlab.example.com/g/down/-/pipelines/200",
}
UPSTREAM = {
    "id": 100,
    "status": "failed",
    "ref": "main",
    "sha": "a" * 40,
    "source": "schedule",
    "web_url": "https://gitlab.example.com/g/sub/up/-/pipelines/100",
    "bridges": [
        job(
            501,
            name="[2 workload] coverage",
            allow_failure=True,
            failure_reason="downstream_pipeline_creation_failed",
            downstream_pipeline=BELOW,
        ),
        job(502, "manual", downstream_pipeline=None),
    ],
}
DOWNSTREAM = {
    "id": 200,
    "status": "failed",
    "source": "pipeline",
    "jobs": [
        job(601, allow_failure=True, failure_reason="script_failure", trace=TRACE),
        job(602, "success"),
        job(603, retried=True),
        job(604, "canceled"),
        job(605, trace=b""),
    ],
}


@pytest.fixture
def fake() -> Iterator[FakeGitLab]:
    projects = [
        {"id": 7, "path": "g/sub/up", "pipelines": [UPSTREAM, {"id": 90, "status": "success"}]},
        {"id": 8, "path": "g/down", "pipelines": [DOWNSTREAM]},
    ]
    with FakeGitLab(projects=projects) as server:
        yield server


@pytest.fixture
def open_pipelines() -> Iterator[Callable[[FakeGitLab], GitLabPipelines]]:
    clients = []

    def start(fake: FakeGitLab) -> GitLabPipelines:
        clients.append(client_for("GitLab", fake.api_url))
        return GitLab(clients[-1], fake.url).pipelines()

    yield start
    for client in clients:
        client.close()


@pytest.fixture
def pipelines(
    fake: FakeGitLab, open_pipelines: Callable[[FakeGitLab], GitLabPipelines]
) -> GitLabPipelines:
    return open_pipelines(fake)


@pytest.mark.parametrize("project", [7, "7", "g/sub/up"])
def test_a_project_by_id_or_path(pipelines: GitLabPipelines, project: int | str) -> None:
    found = pipelines.project(project)
    assert (found.id, found.path) == (7, "g/sub/up")
    assert pipelines.pipeline(project, 100).id == 100


def test_a_pipeline(pipelines: GitLabPipelines) -> None:
    found = pipelines.pipeline(7, 100)
    assert (found.status, found.ref, found.sha) == ("failed", "main", "a" * 40)
    assert (found.source, found.project_id) == ("schedule", 7)
    assert found.url == "https://gitlab.example.com/g/sub/up/-/pipelines/100"


def test_pipelines_newest_first_and_no_more_pages_than_wanted(
    fake: FakeGitLab, pipelines: GitLabPipelines
) -> None:
    project = fake.project(7)
    for number in range(1000, 1120):
        project.add_pipeline({"id": number, "status": "success", "ref": "dev"})
    found = pipelines.pipelines(7)
    assert [next(found).id for _ in range(3)] == [1119, 1118, 1117]
    assert fake.request_count == 1
    assert [part.id for part in pipelines.pipelines(7, source="schedule")] == [100]
    assert len(list(pipelines.pipelines(7, ref="dev"))) == 120


def test_bridges(pipelines: GitLabPipelines) -> None:
    by_id = {bridge.id: bridge for bridge in pipelines.bridges(7, 100)}
    triggered, waiting = by_id[501], by_id[502]
    assert triggered.name == "[2 workload] coverage"
    assert (triggered.status, triggered.allow_failure) == ("failed", True)
    assert triggered.failure_reason == "downstream_pipeline_creation_failed"
    assert triggered.downstream == Downstream(200, 8, "failed", BELOW["web_url"])
    assert (waiting.status, waiting.downstream) == ("manual", None)
    assert pipelines.bridges(8, 200) == []


@pytest.mark.parametrize("gone", ["bridges", "trigger_jobs", None])
def test_bridges_under_whichever_name_the_server_has(
    fake: FakeGitLab, pipelines: GitLabPipelines, gone: str | None
) -> None:
    if gone:
        fake.fail("404", path=f"/{gone}$", times=None)
    for _ in range(3):
        assert len(pipelines.bridges(7, 100)) == 2
    assert fake.request_count == (4 if gone == "bridges" else 3)


def test_bridges_of_a_pipeline_that_is_not_there(
    fake: FakeGitLab, pipelines: GitLabPipelines
) -> None:
    with pytest.raises(NotFoundError, match="/pipelines/999/bridges answered 404"):
        pipelines.bridges(7, 999)
    assert len(pipelines.bridges(7, 100)) == 2


def test_jobs_without_earlier_attempts(pipelines: GitLabPipelines) -> None:
    assert sorted(job.id for job in pipelines.jobs(8, 200)) == [601, 602, 604, 605]
    assert sorted(job.id for job in pipelines.jobs(8, 200, include_retried=True)) == [
        601,
        602,
        603,
        604,
        605,
    ]
    failed = {job.id: job for job in pipelines.jobs(8, 200, statuses=["failed"])}
    assert sorted(failed) == [601, 605]
    assert failed[601].allow_failure
    assert failed[601].failure_reason == "script_failure"
    assert failed[601].pipeline_id == 200
    assert failed[601].stage == "test"
    assert failed[605].failure_reason in ("", "unknown_failure")
    both = pipelines.jobs(8, 200, statuses=["failed", "canceled"])
    assert sorted(job.id for job in both) == [601, 604, 605]


def test_many_jobs(fake: FakeGitLab, pipelines: GitLabPipelines) -> None:
    fake.total_limit = 100
    fake.project(8).add_pipeline(
        {"id": 300, "status": "failed"}, [job(n) for n in range(1000, 1450)]
    )
    assert len(pipelines.jobs(8, 300)) == 450
    assert fake.request_count == 5


@pytest.mark.parametrize("option", [{}, {"trace_range": True}, {"trace_redirect": 302}])
@pytest.mark.parametrize("how", [None, "cut", "reset", "reset-in-body", "500", "429"])
def test_traces(fake: FakeGitLab, pipelines: GitLabPipelines, option: Any, how: str | None) -> None:
    for name, value in option.items():
        setattr(fake, name, value)
    if how:
        at_storage = option.get("trace_redirect") and how in ("cut", "reset-in-body")
        (fake.storage if at_storage else fake).fail(how)
    with pipelines.trace(8, 601) as trace:
        assert b"".join(trace) == TRACE
    assert not fake.storage.seen_secrets


def test_a_trace_from_an_offset(fake: FakeGitLab, pipelines: GitLabPipelines) -> None:
    for ranges in (True, False):
        fake.trace_range = ranges
        with pipelines.trace(8, 601, offset=500) as trace:
            assert b"".join(trace) == TRACE[500:]


def test_an_empty_trace(pipelines: GitLabPipelines) -> None:
    with pipelines.trace(8, 605) as trace:
        assert list(trace) == []


@pytest.mark.parametrize("job_id", [602, 501, 9999], ids=["no trace", "a bridge", "no job"])
def test_a_trace_that_is_not_there(pipelines: GitLabPipelines, job_id: int) -> None:
    with pytest.raises(NotFoundError), pipelines.trace(8, job_id):
        pass


def test_a_job_token_may_not_list_bridges(fake: FakeGitLab, pipelines: GitLabPipelines) -> None:
    fake.tokens = {"s3cret": Account("job", rejected=True)}
    with pytest.raises(UnauthorizedError):
        pipelines.bridges(7, 100)


def test_a_project_that_may_not_be_seen(fake: FakeGitLab, pipelines: GitLabPipelines) -> None:
    fake.forbidden.add(8)
    with pytest.raises(NotFoundError, match="404 Project Not Found"):
        pipelines.jobs(8, 200)


# --- GitHub Actions --------------------------------------------------------------------------

LOG = "2026-05-04T10:11:12.1234567Z ##[error]Process completed with exit code 1.\n" * 1000
RUN = {
    "id": 300,
    "name": "CI",
    "head_branch": "main",
    "head_sha": "c" * 40,
    "event": "push",
    "jobs": [
        {"id": 801, "name": "build", "conclusion": "failure", "log": LOG},
        {"id": 802, "name": "test", "conclusion": "timed_out", "runner_name": "r1"},
        {"id": 803, "name": "lint", "conclusion": "cancelled"},
        {"id": 804, "name": "docs", "conclusion": "success"},
        {"id": 805, "name": "slow", "status": "in_progress", "conclusion": None},
    ],
}


@pytest.fixture
def actions() -> Iterator[tuple[FakeGitHub, Any]]:
    other = {"id": 200, "conclusion": "success", "head_branch": "dev", "event": "schedule"}
    with FakeGitHub("o/r", runs=[RUN, other]) as fake:
        client = client_for("GitHub", fake.url)
        yield fake, GitHub(client).pipelines()
        client.close()


def test_a_run_is_a_pipeline(actions: tuple[FakeGitHub, Any]) -> None:
    run = actions[1].pipeline("o/r", 300)
    assert (run.id, run.status, run.ref, run.sha) == (300, "failed", "main", "c" * 40)
    assert (run.source, run.name) == ("push", "CI")
    assert run.url.endswith("/o/r/actions/runs/300")
    assert actions[1].project("o/r").path == "o/r"


def test_runs(actions: tuple[FakeGitHub, Any]) -> None:
    assert {run.id for run in actions[1].pipelines("o/r")} == {200, 300}
    assert [run.id for run in actions[1].pipelines("o/r", source="schedule")] == [200]
    assert [run.id for run in actions[1].pipelines("o/r", ref="dev")] == [200]


def test_jobs_of_a_run(actions: tuple[FakeGitHub, Any]) -> None:
    jobs = {job.id: job for job in actions[1].jobs("o/r", 300)}
    assert {identity: job.status for identity, job in jobs.items()} == {
        801: "failed",
        802: "failed",
        803: "canceled",
        804: "success",
        805: "running",
    }
    assert (jobs[802].failure_reason, jobs[804].failure_reason) == ("timed_out", "")
    assert (jobs[801].stage, jobs[801].pipeline_id, jobs[802].runner) == ("CI", 300, "r1")
    failed = actions[1].jobs("o/r", 300, statuses=["failed"], include_retried=True)
    assert [job.id for job in failed] == [801, 802]
    assert actions[1].bridges("o/r", 300) == []


def test_a_log_comes_from_storage_without_the_token(actions: tuple[FakeGitHub, Any]) -> None:
    fake, source = actions
    fake.storage.fail("cut")
    with source.trace("o/r", 801) as trace:
        assert b"".join(trace) == LOG.encode()
    assert not fake.storage.seen_secrets
    assert len(fake.storage.received) == 2


@pytest.mark.parametrize("project", [7, "r", "https://github.com/o/r", "o/r/x"])
def test_what_is_no_repository_of_github(actions: tuple[FakeGitHub, Any], project: Any) -> None:
    with pytest.raises(UsageError, match="is not a GitHub repository"):
        actions[1].pipeline(project, 1)
