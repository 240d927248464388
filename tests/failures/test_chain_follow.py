"""From a pipeline down its failed bridges: terminal pipelines, counted jobs, dead ends."""

from __future__ import annotations

from typing import Any

import pytest

from ciops.errors import ServiceError
from ciops.failures.chain import Chain, follow, project_of
from ciops.failures.scope import Scope
from ciops.failures.start import Target, find
from failures.pipeline_worlds import (
    DOWNSTREAM,
    ELSEWHERE,
    UPSTREAM,
    bridge,
    connected,
    job,
    pipeline,
    scope,
    small_world,
)
from fakes.gitlab import FakeGitLab

COVERAGE = "model-coverage"


def chain_of(fake: FakeGitLab, start: int, of: Scope | None = None) -> Chain:
    """What is found from a pipeline on."""
    forge = connected(fake)
    pipelines = forge.pipelines()
    found = find(Target(start), of or scope(), pipelines)
    chain = Chain(found.pipeline, forge.web_url)
    follow(found, of or scope(), pipelines, lambda _: None, chain)
    return chain


def ids(chain: Chain) -> list[int]:
    return [one.job.id for one in chain.jobs]


def dead_ends(chain: Chain) -> dict[int, str]:
    return {one.id: one.bucket for one in chain.dead_ends}


def test_a_chain_is_followed_across_projects() -> None:
    with small_world(
        pipeline(1, UPSTREAM, bridges=[bridge(101, COVERAGE, (2, DOWNSTREAM, "failed"))]),
        pipeline(2, DOWNSTREAM, bridges=[bridge(102, "run", (3, ELSEWHERE, "failed"))]),
        pipeline(3, ELSEWHERE, jobs=[job(31), job(32, status="success")]),
    ) as fake:
        chain = chain_of(fake, 1)
    assert chain.terminal == [3]
    assert ids(chain) == [31]
    assert [(step.id, step.project, step.parent, step.via_bridge) for step in chain.steps] == [
        (1, "ftp/infra/autodeploy-dashboard", None, None),
        (2, "dl/jet/ci", 1, 101),
        (3, "lab/farm", 2, 102),
    ]
    assert (chain.dead_ends, chain.remarks) == ([], [])


def test_a_fork_has_several_terminal_pipelines_level_by_level() -> None:
    with small_world(
        pipeline(
            1,
            UPSTREAM,
            bridges=[
                bridge(101, f"{COVERAGE}: [a100]", (2, DOWNSTREAM, "failed")),
                bridge(102, f"{COVERAGE}: [h100]", (3, DOWNSTREAM, "failed")),
            ],
        ),
        pipeline(2, DOWNSTREAM, bridges=[bridge(103, "run", (4, DOWNSTREAM, "failed"))]),
        pipeline(3, DOWNSTREAM, jobs=[job(31)]),
        pipeline(4, DOWNSTREAM, jobs=[job(41)]),
    ) as fake:
        chain = chain_of(fake, 1)
    assert chain.terminal == [3, 4]
    assert ids(chain) == [31, 41]
    assert [one.step.via_bridge for one in chain.jobs] == [102, 103]


def test_a_pipeline_with_failed_jobs_and_bridges_is_terminal_and_followed() -> None:
    below = bridge(101, COVERAGE, (2, DOWNSTREAM, "failed"))
    with small_world(
        pipeline(1, UPSTREAM, jobs=[job(11, "generate-workloads")], bridges=[below]),
        pipeline(2, DOWNSTREAM, jobs=[job(21)]),
    ) as fake:
        chain = chain_of(fake, 1)
    assert chain.terminal == [1, 2]
    assert ids(chain) == [11, 21]


COUNTED = [
    pytest.param(job(21), True, id="failed"),
    pytest.param(job(21, allow_failure=True), True, id="failed and allowed to"),
    pytest.param(job(21, "cov [1 logs_before]"), True, id="logs before"),
    pytest.param(job(21, "cov [3 logs_after]"), True, id="logs after"),
    pytest.param(job(21, retried=True), False, id="an earlier attempt"),
    pytest.param(job(21, status="canceled"), False, id="canceled"),
    pytest.param(job(21, status="skipped"), False, id="skipped"),
    pytest.param(job(21, status="success"), False, id="green"),
    pytest.param(job(21, status="running"), False, id="running"),
]


@pytest.mark.parametrize(("one", "counted"), COUNTED)
def test_which_jobs_count(one: dict[str, Any], counted: bool) -> None:
    with small_world(pipeline(2, DOWNSTREAM, jobs=[one])) as fake:
        chain = chain_of(fake, 2)
    assert ids(chain) == ([21] if counted else [])
    assert chain.terminal == ([2] if counted else [])


ABOVE = [
    pytest.param(bridge(101, COVERAGE, (2, DOWNSTREAM, "failed")), True, id="of the scope"),
    pytest.param(bridge(101, "nightly-docs", (2, DOWNSTREAM, "failed")), False, id="another"),
    pytest.param(bridge(101, "benchmark", (2, DOWNSTREAM, "failed")), False, id="a benchmark"),
    pytest.param(bridge(101, "coverage-benchmark", (2, DOWNSTREAM, "failed")), False, id="both"),
    pytest.param(
        bridge(101, COVERAGE, (2, DOWNSTREAM, "failed"), "success"), True, id="green, not waiting"
    ),
    pytest.param(
        bridge(101, COVERAGE, (2, DOWNSTREAM, "success"), "success"), False, id="all green"
    ),
    pytest.param(
        bridge(101, COVERAGE, (2, DOWNSTREAM, "failed"), allow_failure=True), True, id="allowed"
    ),
]


@pytest.mark.parametrize(("given", "followed"), ABOVE)
def test_above_the_scope_only_its_bridges_are_followed(
    given: dict[str, Any], followed: bool
) -> None:
    down = pipeline(2, DOWNSTREAM, jobs=[job(21)])
    with small_world(pipeline(1, UPSTREAM, bridges=[given]), down) as fake:
        assert ids(chain_of(fake, 1)) == ([21] if followed else [])


BELOW = [
    pytest.param(bridge(101, "jet-run", (3, DOWNSTREAM, "failed")), None, True, id="any name"),
    pytest.param(bridge(101, "jet-perf", (3, DOWNSTREAM, "failed")), None, False, id="benchmark"),
    pytest.param(bridge(101, "jet-run", (3, DOWNSTREAM, "failed")), "bench", False, id="by name"),
]


@pytest.mark.parametrize(("given", "name", "followed"), BELOW)
def test_below_the_scope_every_failed_bridge_but_benchmarks(
    given: dict[str, Any], name: str | None, followed: bool
) -> None:
    down = pipeline(3, DOWNSTREAM, jobs=[job(31)], name=name)
    with small_world(pipeline(2, DOWNSTREAM, bridges=[given]), down) as fake:
        assert ids(chain_of(fake, 2)) == ([31] if followed else [])


def test_an_earlier_attempt_of_a_bridge_is_not_followed() -> None:
    with small_world(
        pipeline(
            2,
            DOWNSTREAM,
            bridges=[
                bridge(101, "run", (3, DOWNSTREAM, "failed")),
                bridge(102, "run", (4, DOWNSTREAM, "failed")),
                bridge(103, "mended", None),
                bridge(104, "mended", (5, DOWNSTREAM, "success"), "success"),
            ],
        ),
        pipeline(3, DOWNSTREAM, jobs=[job(31)]),
        pipeline(4, DOWNSTREAM, jobs=[job(41)]),
    ) as fake:
        chain = chain_of(fake, 2)
    assert (ids(chain), chain.dead_ends) == ([41], [])


def test_without_a_scope_every_failed_bridge_is_followed() -> None:
    plain = Scope("all", downstream=("lab/farm",))
    with small_world(
        pipeline(1, ELSEWHERE, bridges=[bridge(101, "anything", (2, DOWNSTREAM, "failed"))]),
        pipeline(2, DOWNSTREAM, jobs=[job(21)]),
    ) as fake:
        assert ids(chain_of(fake, 1, plain)) == [21]


DEAD_ENDS = [
    pytest.param(
        bridge(101, COVERAGE, None, failure_reason="insufficient_bridge_permissions"),
        "infra/gitlab/trigger-permission-denied",
        0,
        id="not allowed to trigger",
    ),
    pytest.param(
        bridge(101, COVERAGE, None, failure_reason="downstream_pipeline_creation_failed"),
        "infra/gitlab/trigger-configuration-invalid",
        0,
        id="nothing could be created",
    ),
    pytest.param(
        bridge(101, COVERAGE, None, failure_reason="a_reason_of_tomorrow"),
        "infra/gitlab/trigger-failed",
        0,
        id="a reason nobody knows",
    ),
    pytest.param(
        bridge(101, COVERAGE, None, failure_reason="downstream_pipeline_failed"),
        "infra/gitlab/downstream-not-visible",
        1,
        id="it failed below, and is hidden",
    ),
    pytest.param(
        bridge(101, COVERAGE, (9, ELSEWHERE, "failed")),
        "infra/gitlab/downstream-not-visible",
        1,
        id="missing",
    ),
    pytest.param(
        bridge(101, COVERAGE, (2, DOWNSTREAM, "failed")),
        "infra/gitlab/downstream-failed-without-failed-jobs",
        0,
        id="no failed job in it",
    ),
]


@pytest.mark.parametrize(("given", "bucket", "unread"), DEAD_ENDS)
def test_a_bridge_that_leads_nowhere(given: dict[str, Any], bucket: str, unread: int) -> None:
    empty = pipeline(2, DOWNSTREAM, jobs=[job(21, status="canceled")])
    with small_world(pipeline(1, UPSTREAM, bridges=[given]), empty) as fake:
        chain = chain_of(fake, 1)
    assert dead_ends(chain) == {101: bucket}
    (found,) = chain.dead_ends
    assert found.status == "issue-only"
    assert found.pipeline_id == 1
    assert found.reason
    assert "{" not in found.reason
    assert len(chain.remarks) == unread
    assert chain.jobs == []


def test_a_pipeline_whose_only_failures_are_dead_ends_is_none_itself() -> None:
    with small_world(
        pipeline(1, UPSTREAM, bridges=[bridge(101, COVERAGE, (2, DOWNSTREAM, "failed"))]),
        pipeline(2, DOWNSTREAM, bridges=[bridge(102, "run", None)]),
    ) as fake:
        assert dead_ends(chain_of(fake, 1)) == {102: "infra/gitlab/trigger-failed"}


def test_a_start_without_failures_is_no_dead_end() -> None:
    with small_world(pipeline(2, DOWNSTREAM, jobs=[job(21, status="success")])) as fake:
        chain = chain_of(fake, 2)
    assert (chain.jobs, chain.dead_ends, chain.remarks) == ([], [], [])


def test_a_cycle_ends() -> None:
    with small_world(
        pipeline(2, DOWNSTREAM, bridges=[bridge(101, "run", (3, DOWNSTREAM, "failed"))]),
        pipeline(
            3,
            DOWNSTREAM,
            jobs=[job(31)],
            bridges=[
                bridge(102, "again", (2, DOWNSTREAM, "failed")),
                bridge(103, "itself", (3, DOWNSTREAM, "failed")),
            ],
        ),
    ) as fake:
        chain = chain_of(fake, 2)
    assert ids(chain) == [31]
    assert [step.id for step in chain.steps] == [2, 3]
    assert chain.dead_ends == []


def test_a_pipeline_reached_twice_counts_once() -> None:
    both = [bridge(n, f"run {n}", (3, DOWNSTREAM, "failed")) for n in (101, 102)]
    with small_world(
        pipeline(2, DOWNSTREAM, bridges=both), pipeline(3, DOWNSTREAM, jobs=[job(31)])
    ) as fake:
        chain = chain_of(fake, 2)
    assert ids(chain) == [31]
    assert chain.terminal == [3]


# --- what cannot be read ----------------------------------------------------------------------


def two_levels() -> list[dict[str, Any]]:
    below = bridge(102, "run", (3, DOWNSTREAM, "failed"))
    return [
        pipeline(1, UPSTREAM, bridges=[bridge(101, COVERAGE, (2, DOWNSTREAM, "failed"))]),
        pipeline(2, DOWNSTREAM, jobs=[job(21)], bridges=[below]),
        pipeline(3, DOWNSTREAM, jobs=[job(31)]),
    ]


UNREAD = [
    pytest.param("77/pipelines/2/bridges", 404, [21], {}, id="bridges of a middle one"),
    pytest.param("77/pipelines/2/jobs", 403, [31], {}, id="jobs of a middle one"),
    pytest.param("77/pipelines/3/jobs", 404, [21], {102: "not-read"}, id="jobs of the last"),
    pytest.param("77/pipelines/3", 403, [21], {102: "not-visible"}, id="the last itself"),
    pytest.param("77/pipelines/2", 500, [], {101: "not-read"}, id="a middle one itself"),
    pytest.param("41/pipelines/1/jobs", 500, [21, 31], {}, id="jobs of the start"),
    pytest.param("41/pipelines/1/bridges", 401, [], {}, id="bridges of the start"),
]


@pytest.mark.parametrize(("path", "status", "jobs", "dead"), UNREAD)
def test_what_cannot_be_read_is_named_and_the_rest_is_there(
    path: str, status: int, jobs: list[int], dead: dict[int, str]
) -> None:
    with small_world(*two_levels()) as fake:
        fake.path_status[f"/projects/{path}"] = status
        fake.path_status[f"/projects/{path.replace('bridges', 'trigger_jobs')}"] = status
        chain = chain_of(fake, 1)
    assert ids(chain) == jobs
    assert {
        key: name.rpartition("downstream-")[2] for key, name in dead_ends(chain).items()
    } == dead
    (remark,) = chain.remarks
    assert remark.kind == "pipeline-unreadable"
    assert str(status) in remark.detail
    assert remark.detail.startswith(path.split("/")[2])


def test_a_start_of_which_nothing_can_be_read_is_an_error() -> None:
    with small_world(*two_levels()) as fake:
        for name in ("jobs", "bridges", "trigger_jobs"):
            fake.path_status[f"/projects/41/pipelines/1/{name}"] = 403
        with pytest.raises(ServiceError, match="pipeline 1 cannot be read"):
            chain_of(fake, 1)


@pytest.mark.parametrize("gone", ["bridges", "trigger_jobs"])
def test_trigger_jobs_by_either_name(gone: str) -> None:
    with small_world(*two_levels()) as fake:
        for project, number in ((41, 1), (77, 2), (77, 3)):
            fake.path_status[f"/projects/{project}/pipelines/{number}/{gone}"] = 404
        chain = chain_of(fake, 1)
        asked = [one.path.rpartition("/")[2] for one in fake.requests]
    assert ids(chain) == [21, 31]
    assert asked.count(gone) <= 1
    assert chain.remarks == []


def test_a_site_below_a_path() -> None:
    with small_world(*two_levels(), root="/gitlab") as fake:
        chain = chain_of(fake, 1)
    assert chain.steps[1].project == "dl/jet/ci"
    assert ids(chain) == [21, 31]


PROJECTS = [
    pytest.param("https://h/a/b/-/pipelines/7", "a/b", id="GitLab"),
    pytest.param("https://h/a/b/pipelines/7", "a/b", id="GitLab of old"),
    pytest.param("https://h/o/r/actions/runs/7", "o/r", id="GitHub"),
    pytest.param("https://other/a/b/-/pipelines/7", "", id="elsewhere"),
    pytest.param("", "", id="none"),
]


@pytest.mark.parametrize(("url", "project"), PROJECTS)
def test_the_project_in_an_address(url: str, project: str) -> None:
    assert project_of(url, "https://h") == project
