"""Worlds of pipelines, bridges, jobs and traces on the fake GitLab."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests

from fakes.gitlab import FakeGitLab
from fakes.raw_client import Connect
from fakes.streams import OnDisk, Repeated

HOME = "https://gitlab.example.com"
LOG = b"line one\nValueError: bad shape\n"


def pipeline(identity: int, project: int, **fields: Any) -> dict[str, Any]:
    path = {4: "infra/dashboard", 7: "dl/ci"}[project]
    day = f"2026-05-0{identity}"
    return {
        "id": identity, "iid": identity, "project_id": project, "sha": "a" * 40, "ref": "main",
        "status": "failed", "source": "schedule", "created_at": f"{day}T10:00:00.000Z",
        "updated_at": f"{day}T11:00:00.000Z",
        "web_url": f"{HOME}/{path}/-/pipelines/{identity}", **fields,
    }  # fmt: skip


def bridge(identity: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": identity, "name": f"job {identity}", "stage": "jet", "status": "failed",
        "ref": "main", "tag": False, "allow_failure": False,
        "created_at": "2026-05-01T10:00:00.000Z", "failure_reason": "script_failure",
        "web_url": f"{HOME}/dl/ci/-/jobs/{identity}", **fields,
    }  # fmt: skip


def job(identity: int, **fields: Any) -> dict[str, Any]:
    return {**bridge(identity), "tag_list": [], **fields}


def world() -> dict[str, Any]:
    upstream, downstream = pipeline(1, 4), pipeline(2, 7, source="pipeline")
    hidden = {**pipeline(3, 7), "project_id": 9, "web_url": f"{HOME}/sec/ret/-/pipelines/3"}
    return {
        "gitlab": HOME,
        "projects": {
            "4": {"path_with_namespace": "infra/dashboard"},
            "7": {"path_with_namespace": "dl/ci"},
        },
        "pipelines": [downstream, upstream],
        "bridges": {
            "1": [
                bridge(11, name="coverage", downstream_pipeline=downstream, pipeline=upstream),
                bridge(12, name="refused", downstream_pipeline=None, pipeline=upstream),
                bridge(13, name="hidden", downstream_pipeline=hidden, pipeline=upstream),
            ],
            "2": [],
        },
        "jobs": {
            "1": [],
            "2": [
                job(21, pipeline=downstream),
                job(22, pipeline=downstream, retried=True),
                job(23, pipeline=downstream, status="success", failure_reason=None),
                job(24, pipeline=downstream),
                job(25, pipeline=downstream),
                job(26, pipeline=downstream),
            ],
        },
        "traces": {"21": "traces/21.log", "22": "traces/21.log", "24": "traces/24.log",
                   "26": "traces/21.log"},
        "forbidden_projects": ["9"],
        "trace_http": {"26": 403},
        "http": {"/projects/7/pipelines/2/bridges": 404},
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "world.json").write_text(json.dumps(world()), encoding="utf-8")
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "21.log").write_bytes(LOG)
    (tmp_path / "traces" / "24.log").write_bytes(b"")
    return tmp_path


READS = [
    pytest.param("/projects/4/pipelines/1", 200, id="a pipeline"),
    pytest.param("/projects/infra%2Fdashboard/pipelines/1", 200, id="by the project's path"),
    pytest.param("/projects/4/pipelines/2", 404, id="a pipeline of another project"),
    pytest.param("/projects/9/pipelines/3", 404, id="a forbidden project"),
    pytest.param("/projects/7/pipelines/2/bridges", 404, id="a status planned by the world"),
    pytest.param("/projects/dl%2Fci/pipelines/2/bridges", 404, id="also by the project's path"),
    pytest.param("/projects/7/pipelines/2/jobs", 200, id="and only for that path"),
    pytest.param("/projects/7/jobs/21", 200, id="a job"),
    pytest.param("/projects/4/jobs/11", 404, id="a bridge is no job"),
    pytest.param("/projects/7/jobs/21/trace", 200, id="a trace"),
    pytest.param("/projects/7/jobs/24/trace", 200, id="an empty trace"),
    pytest.param("/projects/7/jobs/25/trace", 404, id="no trace"),
    pytest.param("/projects/7/jobs/26/trace", 403, id="a trace whose status is planned"),
    pytest.param("/projects/4/jobs/11/trace", 404, id="a bridge has no trace"),
]


@pytest.mark.parametrize(("path", "status"), READS)
def test_a_world_is_read(connect: Connect, folder: Path, path: str, status: int) -> None:
    with FakeGitLab.from_world(folder) as forge:
        assert connect(forge).get(path).status_code == status


JOBS = [
    pytest.param("", [26, 25, 24, 23, 21], id="newest first, without earlier attempts"),
    pytest.param("include_retried=true", [26, 25, 24, 23, 22, 21], id="with earlier attempts"),
    pytest.param("scope=failed", [26, 25, 24, 21], id="one status"),
    pytest.param("scope[]=success&scope[]=canceled", [23], id="several"),
    pytest.param("per_page=2&page=3", [21], id="the third page"),
]


@pytest.mark.parametrize(("query", "expected"), JOBS)
def test_jobs_of_a_pipeline(
    connect: Connect, folder: Path, query: str, expected: list[int]
) -> None:
    with FakeGitLab.from_world(folder) as forge:
        found = connect(forge).get(f"/projects/7/pipelines/2/jobs?{query}").json()
        assert [part["id"] for part in found] == expected
        assert not any("retried" in part for part in found)
        assert [part["id"] for part in found if "failure_reason" not in part] == [
            part["id"] for part in found if part["status"] == "success"
        ]


PIPELINES = [
    pytest.param("", [3, 1], id="newest first, without children"),
    pytest.param("source=parent_pipeline", [4], id="children, when asked for"),
    pytest.param("status=success", [3], id="by status"),
    pytest.param("ref=next", [3], id="by branch"),
    pytest.param("sort=asc", [1, 3], id="oldest first"),
    pytest.param("updated_after=2026-05-02T00:00:00Z", [3], id="updated after"),
    pytest.param("scope=running", [], id="none is running"),
]


@pytest.mark.parametrize(("query", "expected"), PIPELINES)
def test_pipelines_of_a_project(connect: Connect, query: str, expected: list[int]) -> None:
    listed = [
        pipeline(1, 4),
        pipeline(3, 4, status="success", ref="next"),
        pipeline(4, 4, source="parent_pipeline"),
    ]
    with FakeGitLab(projects=[{"id": 4, "path": "g/p", "pipelines": listed}]) as forge:
        client = connect(forge)
        found = client.get(f"/projects/4/pipelines?{query}").json()
        assert [part["id"] for part in found] == expected
        assert client.get("/projects/4/pipelines/latest?ref=next").json()["id"] == 3


@pytest.mark.parametrize(("newer", "status"), [(True, 200), (False, 404)])
def test_an_older_server_only_knows_bridges(
    connect: Connect, folder: Path, newer: bool, status: int
) -> None:
    with FakeGitLab.from_world(folder, trigger_jobs=newer) as forge:
        client = connect(forge)
        assert client.get("/projects/4/pipelines/1/trigger_jobs").status_code == status
        bridges = client.get("/projects/4/pipelines/1/bridges?scope[]=failed").json()
        downstream = {part["name"]: part["downstream_pipeline"] for part in bridges}
        assert downstream["refused"] is None
        assert downstream["coverage"]["id"] == 2
        assert downstream["hidden"]["project_id"] == 9


def test_links_lead_to_the_fake(connect: Connect, folder: Path) -> None:
    with FakeGitLab.from_world(folder, root="/gitlab") as forge:
        assert forge.url.endswith("/gitlab")
        found = connect(forge).get("/projects/4/pipelines/1").json()
        assert found["web_url"] == f"{forge.url}/infra/dashboard/-/pipelines/1"
        assert forge.here(f"{HOME}/dl/ci/-/jobs/21", world()) == f"{forge.url}/dl/ci/-/jobs/21"


RANGES = [
    pytest.param({"trace_range": True}, "bytes=9-", 206, LOG[9:], id="from an offset"),
    pytest.param({"trace_range": True}, "bytes=0-3", 206, LOG[:4], id="a piece"),
    pytest.param({"trace_range": True}, "bytes=999-", 416, b"", id="behind the end"),
    pytest.param({"trace_range": True}, None, 200, LOG, id="whole"),
    pytest.param({}, "bytes=9-", 200, LOG, id="a server that knows no ranges sends all"),
    pytest.param({"trace_gzip": True}, None, 200, LOG, id="gzipped on the way"),
    pytest.param({"trace_redirect": 302}, "bytes=9-", 206, LOG[9:], id="object storage knows them"),
    pytest.param({"trace_redirect": 307}, None, 200, LOG, id="object storage, whole"),
]


@pytest.mark.parametrize(("options", "range_", "status", "body"), RANGES)
def test_a_trace_is_read_from_an_offset_where_the_server_can(
    connect: Connect,
    folder: Path,
    options: dict[str, Any],
    range_: str | None,
    status: int,
    body: bytes,
) -> None:
    with FakeGitLab.from_world(folder, **options) as forge:
        headers = {} if range_ is None else {"Range": range_}
        answer = connect(forge).get("/projects/7/jobs/21/trace", headers=headers)
        assert (answer.status_code, answer.content) == (status, body)
        assert answer.headers.get("Content-Encoding") == (
            "gzip" if options.get("trace_gzip") else None
        )


@pytest.mark.parametrize(
    ("headers", "secrets"),
    [
        pytest.param({"Authorization": "Bearer t"}, set(), id="a bearer token stays behind"),
        pytest.param({"PRIVATE-TOKEN": "t"}, {"private-token"}, id="the older header follows"),
    ],
)
def test_object_storage_sees_whether_a_token_followed(
    connect: Connect, folder: Path, headers: dict[str, str], secrets: set[str]
) -> None:
    with FakeGitLab.from_world(folder, trace_redirect=302) as forge:
        assert connect(forge, headers).get("/projects/7/jobs/21/trace").content == LOG
        assert forge.storage.seen_secrets == secrets
        assert len(forge.storage.received) == 1


@pytest.mark.parametrize("how", ["reset", "cut", "reset-in-body", "503"])
def test_object_storage_fails_on_demand(connect: Connect, folder: Path, how: str) -> None:
    with FakeGitLab.from_world(folder, trace_redirect=302) as forge:
        client = connect(forge)
        forge.storage.fail(how)
        try:
            assert client.get("/projects/7/jobs/21/trace").status_code == 503
        except requests.RequestException:
            assert how != "503"
        assert client.get("/projects/7/jobs/21/trace").content == LOG


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param("text", b"text", id="text"),
        pytest.param(b"bytes", b"bytes", id="bytes"),
        pytest.param(Repeated(b"abc", 50_000), b"abc" * 50_000, id="made up on the way"),
    ],
)
def test_a_trace_may_be_given_in_several_ways(
    connect: Connect, content: Any, expected: bytes
) -> None:
    jobs = [job(1, trace=content)]
    projects = [{"id": 7, "path": "g/p", "pipelines": [{**pipeline(1, 7), "jobs": jobs}]}]
    with FakeGitLab(projects=projects, trace_range=True) as forge:
        client = connect(forge)
        assert client.get("/projects/7/jobs/1/trace").content == expected
        tail = client.get("/projects/7/jobs/1/trace", headers={"Range": "bytes=2-"})
        assert tail.content == expected[2:]


def test_streams_read_any_part(tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    file.write_bytes(b"0123456789" * 20_000)
    for stream in (OnDisk(file), Repeated(b"0123456789", 20_000)):
        assert stream.size == 200_000
        assert b"".join(stream.chunks(99_995, 100_003)) == b"56789012"
        assert b"".join(stream.chunks(70_000, 200_000)) == file.read_bytes()[70_000:]


def test_all_connections_share_one_bandwidth() -> None:
    size, jobs, rate = 500_000, 8, 20e6
    listed = [job(n, trace=b"x" * size) for n in range(1, jobs + 1)]
    projects = [{"id": 7, "path": "g/p", "pipelines": [{**pipeline(1, 7), "jobs": listed}]}]
    with FakeGitLab(projects=projects, bandwidth=rate) as forge, ThreadPoolExecutor(4) as pool:
        start = time.monotonic()
        url = f"{forge.api_url}/projects/7/jobs/{{}}/trace"
        headers = {"Authorization": "Bearer t"}
        got = pool.map(
            lambda n: len(requests.get(url.format(n), headers=headers, timeout=10).content),
            range(1, jobs + 1),
        )
        assert sum(got) == size * jobs
        assert time.monotonic() - start >= 0.9 * size * jobs / rate
