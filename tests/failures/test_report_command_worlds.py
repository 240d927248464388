"""Whole GitLab worlds, from every start: the pipelines, the counts, the checksum, the dead ends.

How well causes and buckets are found is measured by `tests/measure/measure_worlds.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from failures.pipeline_worlds import NAMES, expected, fake_world, report_on, saved

DEAD_ENDS = [
    {
        "id": 313000015,
        "bucket": "infra/gitlab/trigger-permission-denied",
        "status": "issue-only",
    },
    {
        "id": 313000022,
        "bucket": "infra/gitlab/downstream-failed-without-failed-jobs",
        "status": "issue-only",
    },
    {"id": 313000026, "bucket": "infra/gitlab/downstream-not-visible", "status": "issue-only"},
]


def start_of(want: dict[str, Any]) -> list[str]:
    identity = want["start"]["pipeline_id"]
    return ["--pipeline", str(identity)] if identity else []


@dataclass(frozen=True)
class World:
    """What a world expects, the report on it, another of one job at a time, and its address."""

    want: dict[str, Any]
    report: dict[str, Any]
    again: dict[str, Any]
    home: str


@pytest.fixture(scope="module", params=NAMES)
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> World:
    want, folder = expected(request.param), tmp_path_factory.mktemp(request.param)
    with fake_world(request.param) as fake:
        first = report_on(fake, folder / "16", "--concurrency", "16", *start_of(want))
        again = report_on(fake, folder / "1", "--concurrency", "1", *start_of(want))
        assert fake.writes == []
    return World(want, saved(first), saved(again), fake.url)


def test_a_world_from_its_start(world: World) -> None:
    want, report = world.want, world.report
    assert report["scope"] == "model-coverage"
    assert report["config"] == "autodeploy@1"
    assert report["starting_pipeline"] == want["starting_pipeline"]
    assert report["terminal_pipelines"] == want["terminal_pipelines"]
    total = want["failed_jobs_total"]
    assert report["failed_jobs_total"] == total
    assert report["checksum"] == {"failed_jobs": total, "bucket_sum": total}
    assert sorted(job["id"] for job in report["jobs"]) == sorted(job["id"] for job in want["jobs"])
    visited = [step["id"] for step in report["pipelines"]]
    assert [number for number in visited if number in want["path"]] == want["path"]
    assert not set(visited) & set(want.get("ignored_pipelines", ()))


def test_every_job_of_a_world_says_where_it_is(world: World) -> None:
    want, report, home = world.want, world.report, world.home
    wanted = {job["id"]: job for job in want["jobs"]}
    for job in report["jobs"]:
        assert job["workload"] == wanted[job["id"]]["workload"]
        assert job["pipeline_id"] == wanted[job["id"]]["pipeline_id"]
        assert job["job_url"] == f"{home}/dl/jet/ci/-/jobs/{job['id']}"
        assert job["log_url"] == f"{job['job_url']}/raw"
        started_below = want["starting_pipeline"] == job["pipeline_id"]
        assert (job["via_bridge"] is None) == started_below


def test_every_job_of_a_world_is_in_one_bucket(world: World) -> None:
    report = world.report
    members = [job for bucket in report["buckets"] for job in bucket["jobs"]]
    assert sorted(members) == sorted(job["id"] for job in report["jobs"])
    by_job = {job: bucket for bucket in report["buckets"] for job in bucket["jobs"]}
    for job in report["jobs"]:
        bucket = by_job[job["id"]]
        same = ("bucket", "status", "owner")
        assert [job[key] for key in same] == [bucket[key] for key in ("name", *same[1:])]
    for bucket in report["buckets"]:
        assert bucket["size"] == len(bucket["jobs"])
        assert bucket["representative_job"] in bucket["jobs"]
        assert bucket["reason"]
        assert bucket["recurring"] is None
        assert bucket["tracking"] is None
        assert bucket["blocker"]


ALTERNATIVES = [
    pytest.param(name, one, id=f"{name} from {one['pipeline_id']}")
    for name in NAMES
    for one in expected(name)["alt_starts"]
]


@pytest.mark.parametrize(("name", "start"), ALTERNATIVES)
def test_a_world_from_another_start(tmp_path: Path, name: str, start: dict[str, Any]) -> None:
    with fake_world(name) as fake:
        outcome = report_on(fake, tmp_path, "--pipeline", str(start["pipeline_id"]))
    want = start.get("expect", "")
    if want.startswith("refuse"):
        assert (outcome.status, outcome.report) == (3, None)
        assert "benchmark pipelines are not supported" in outcome.error
    elif want.startswith("404"):
        assert (outcome.status, outcome.report) == (4, None)
        assert str(start["pipeline_id"]) in outcome.error
    elif want.startswith("no failed jobs"):
        report = saved(outcome)
        assert outcome.status == 0
        assert (report["failed_jobs_total"], report["buckets"], report["jobs"]) == (0, [], [])
        assert report["checksum"] == {"failed_jobs": 0, "bucket_sum": 0}
    else:
        report = saved(outcome)
        assert report["starting_pipeline"] == start["pipeline_id"]
        assert report["terminal_pipelines"] == start["expect_terminal"]
        assert report["failed_jobs_total"] == expected(name)["failed_jobs_total"]


@pytest.mark.parametrize("end", ["", "/builds", "/failures", "/test_report?job=1"])
def test_a_world_from_a_url(tmp_path: Path, end: str) -> None:
    with fake_world("dev3") as fake:
        url = f"{fake.url}/ftp/infra/autodeploy-dashboard/-/pipelines/90300027{end}"
        report = saved(report_on(fake, tmp_path, "--pipeline", url))
    assert report["terminal_pipelines"] == [90300093]


def test_dead_ends_and_unreadable_traces_stand_beside_the_checksum(tmp_path: Path) -> None:
    with fake_world("dev3") as fake:
        outcome = report_on(fake, tmp_path, "--pipeline", "90300027")
    report = saved(outcome)
    assert outcome.status == 1
    keys = ("id", "bucket", "status")
    assert [{key: one[key] for key in keys} for one in report["dead_end_bridges"]] == DEAD_ENDS
    assert all(one["reason"] and one["name"] for one in report["dead_end_bridges"])
    unread = {one["id"]: one["reason"] for one in report["unreadable"]}
    assert set(unread) == {313000103, 313000115}
    assert unread[313000103].startswith("HTTP 404")
    assert unread[313000115].startswith("empty")


def test_weak_evidence_never_shares_a_bucket(tmp_path: Path) -> None:
    with fake_world("dev3") as fake:
        report = saved(report_on(fake, tmp_path, "--pipeline", "90300027"))
    jobs = {job["id"]: job for job in report["jobs"]}
    weak = [job for job in jobs.values() if job["evidence"] == "weak" and not job["supplementary"]]
    sizes = {one: bucket["size"] for bucket in report["buckets"] for one in bucket["jobs"]}
    assert [sizes[job["id"]] for job in weak] == [1] * len(weak)
    assert jobs[313000137]["supplementary"]
    assert jobs[313000137]["evidence"] == "weak"
    assert jobs[313000137]["bucket"] == jobs[313000136]["bucket"]
    assert jobs[313000130]["allow_failure"]


def test_reports_of_a_world_are_the_same_from_run_to_run(world: World) -> None:
    first, again = (
        {key: value for key, value in report.items() if key != "generated_at"}
        for report in (world.report, world.again)
    )
    assert first == again
