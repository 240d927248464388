"""Where a report starts: ids, URLs, the newest pipeline of the scope, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from ciops.errors import RefusedError, ServiceError, UsageError
from ciops.failures.scope import Benchmark, Scope
from ciops.failures.start import (
    Target,
    find,
    github_target,
    gitlab_target,
    newest,
    newest_failed,
    refuse_benchmark,
)
from ciops.failures.trigger import MOST_ASKED
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

SITE = "https://gitlab.example.com"

TARGETS = [
    pytest.param("90100060", Target(90100060), id="an id"),
    pytest.param(" #90100060 ", Target(90100060), id="an id as GitLab shows it"),
    pytest.param(f"{SITE}/a/b/-/pipelines/7", Target(7, "a/b"), id="a URL"),
    pytest.param(f"{SITE}/a/b/-/pipelines/7/builds", Target(7, "a/b"), id="its jobs"),
    pytest.param(f"{SITE}/a/b/-/pipelines/7/failures/", Target(7, "a/b"), id="its failures"),
    pytest.param(f"{SITE}/a/b/-/pipelines/7?ref=main#x", Target(7, "a/b"), id="query, fragment"),
    pytest.param(f"{SITE}/a/b/pipelines/7", Target(7, "a/b"), id="the address of old"),
    pytest.param(f"{SITE}/a/b/c/d/-/pipelines/7", Target(7, "a/b/c/d"), id="subgroups"),
    pytest.param(f"{SITE}:443/a/b/-/pipelines/7", Target(7, "a/b"), id="the default port"),
    pytest.param("HTTPS://GITLAB.example.com/a/b/-/pipelines/7", Target(7, "a/b"), id="case"),
]


@pytest.mark.parametrize(("text", "target"), TARGETS)
def test_a_pipeline_is_named(text: str, target: Target) -> None:
    assert gitlab_target(text, SITE) == target


def test_a_site_below_a_path_is_left_out_of_the_project() -> None:
    site = "https://ci.example.com/gitlab"
    assert gitlab_target(f"{site}/a/b/-/pipelines/7", site) == Target(7, "a/b")


FOREIGN = [
    pytest.param("https://gitlab.com/a/b/-/pipelines/7", id="another host"),
    pytest.param("https://gitlab.example.com.evil.net/a/b/-/pipelines/7", id="a longer host"),
    pytest.param("https://gitlab.example.com@evil.net/a/b/-/pipelines/7", id="host as user"),
    pytest.param("https://evil.net/gitlab.example.com/a/b/-/pipelines/7", id="host as path"),
    pytest.param("https://evil.net\\@gitlab.example.com/a/b/-/pipelines/7", id="a backslash"),
    pytest.param("https://gitlab.example.com:8443/a/b/-/pipelines/7", id="another port"),
    pytest.param("https://gitlab.example.com:x/a/b/-/pipelines/7", id="no port at all"),
    pytest.param("ftp://gitlab.example.com:443/a/b/-/pipelines/7", id="another scheme"),
    pytest.param("https://[::1/a/b/-/pipelines/7", id="a broken address"),
]


@pytest.mark.parametrize("url", FOREIGN)
def test_a_foreign_host_is_refused(url: str) -> None:
    with pytest.raises(RefusedError, match=r"not on gitlab\.example\.com") as caught:
        gitlab_target(url, SITE)
    assert caught.value.exit_status == 3


NO_PIPELINE = [
    pytest.param("latest", "no pipeline", id="a word"),
    pytest.param(f"{SITE}/a/b/-/jobs/7", "no pipeline's address", id="a job"),
    pytest.param(f"{SITE}/-/pipelines/7", "no pipeline's address", id="without a project"),
    pytest.param(f"{SITE}/a/../b/-/pipelines/7", "no pipeline's address", id="a way out"),
    pytest.param(f"{SITE}/a/%2e%2e/b/-/pipelines/7", "no pipeline's address", id="a hidden one"),
    pytest.param("٣٤", "no pipeline", id="digits of another script"),
]


@pytest.mark.parametrize(("text", "words"), NO_PIPELINE)
def test_what_names_no_pipeline_is_a_usage_error(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        gitlab_target(text, SITE)


RUNS = [
    pytest.param("12", Target(12), id="an id"),
    pytest.param("https://github.com/o/r/actions/runs/12", Target(12, "o/r"), id="a run"),
    pytest.param("https://github.com/o/r/actions/runs/12/job/3", Target(12, "o/r"), id="a job"),
    pytest.param("https://github.com/o/r/actions/runs/12/attempts/2", Target(12, "o/r"), id="try"),
]


@pytest.mark.parametrize(("text", "target"), RUNS)
def test_a_run_is_named(text: str, target: Target) -> None:
    assert github_target(text, "https://github.com") == target


def test_a_run_elsewhere_is_refused() -> None:
    with pytest.raises(RefusedError, match="GITHUB_SERVER_URL"):
        github_target("https://github.example.com/o/r/actions/runs/1", "https://github.com")


# --- by id ------------------------------------------------------------------------------------


def test_an_id_is_looked_for_upstream_then_downstream() -> None:
    with small_world(pipeline(10, UPSTREAM), pipeline(20, DOWNSTREAM)) as fake:
        pipelines = connected(fake).pipelines()
        above, below = (find(Target(n), scope(), pipelines) for n in (10, 20))
    assert (above.project, above.inside) == (UPSTREAM, False)
    assert (below.project, below.inside) == (DOWNSTREAM, True)


def test_a_url_names_any_project() -> None:
    with small_world(pipeline(30, ELSEWHERE)) as fake:
        pipelines = connected(fake).pipelines()
        found = find(Target(30, "lab/farm"), scope(), pipelines)
        assert (found.pipeline.id, found.inside) == (30, True)
        with pytest.raises(ServiceError, match="pipeline 30 is missing in ftp/infra"):
            find(Target(30), scope(), pipelines)


def test_a_missing_pipeline_is_named_with_where_it_was_looked_for() -> None:
    with small_world() as fake, pytest.raises(ServiceError) as caught:
        find(Target(404), scope(), connected(fake).pipelines())
    assert caught.value.exit_status == 4
    for word in ("404", "ftp/infra/autodeploy-dashboard", "dl/jet/ci", "not visible"):
        assert word in str(caught.value)


@pytest.mark.parametrize("status", [403, 404, 500])
def test_trouble_with_one_project_hides_no_other(status: int) -> None:
    with small_world(pipeline(20, DOWNSTREAM)) as fake:
        fake.path_status[f"/projects/{UPSTREAM}/pipelines/20"] = status
        assert find(Target(20), scope(), connected(fake).pipelines()).pipeline.id == 20


def test_trouble_everywhere_is_said() -> None:
    with small_world() as fake:
        fake.path_status[f"/projects/{UPSTREAM}/pipelines/20"] = 500
        with pytest.raises(ServiceError, match="answered 500"):
            find(Target(20), scope(), connected(fake).pipelines())


def test_an_id_without_any_project_is_a_usage_error() -> None:
    with small_world() as fake, pytest.raises(UsageError, match="no project is known"):
        find(Target(1), Scope("all"), connected(fake).pipelines())


# --- the newest -------------------------------------------------------------------------------

COVERAGE = "trigger-model-coverage"
NEWEST = [
    pytest.param([bridge(1, COVERAGE, (5, DOWNSTREAM, "failed"))], True, id="it ran and failed"),
    pytest.param([bridge(1, COVERAGE, (5, DOWNSTREAM, "success"), "success")], True, id="green"),
    pytest.param([bridge(1, COVERAGE, None)], True, id="the trigger was refused"),
    pytest.param([bridge(1, COVERAGE, None, "manual")], False, id="a manual one never ran"),
    pytest.param([bridge(1, COVERAGE, None, "skipped")], False, id="skipped"),
    pytest.param([bridge(1, COVERAGE, None, "canceled")], False, id="canceled before it ran"),
    pytest.param(
        [bridge(1, COVERAGE, (5, DOWNSTREAM, "running"), "running")], False, id="still running"
    ),
    pytest.param([bridge(1, "trigger-benchmark", (5, DOWNSTREAM, "failed"))], False, id="other"),
    pytest.param([bridge(1, "code-coverage", (5, DOWNSTREAM, "failed"))], False, id="namesake"),
    pytest.param([], False, id="no bridge"),
]


@pytest.mark.parametrize(("bridges", "taken"), NEWEST)
def test_the_newest_in_which_the_scope_ran(bridges: list[dict[str, Any]], taken: bool) -> None:
    older = pipeline(1, UPSTREAM, bridges=[bridge(9, COVERAGE, (3, DOWNSTREAM, "failed"))])
    with small_world(pipeline(2, UPSTREAM, bridges=bridges), older) as fake:
        found = newest(scope(), connected(fake).pipelines())
    assert found.pipeline.id == (2 if taken else 1)


def test_a_newer_one_that_cannot_be_read_is_named() -> None:
    ran = [bridge(9, COVERAGE, (3, DOWNSTREAM, "failed"))]
    with small_world(pipeline(2, UPSTREAM), pipeline(1, UPSTREAM, bridges=ran)) as fake:
        fake.path_status[f"/projects/{UPSTREAM}/pipelines/2/bridges"] = 403
        found = newest(scope(), connected(fake).pipelines())
    assert found.pipeline.id == 1
    assert "2: GitLab" in found.unread[0]


def test_no_pipeline_of_the_scope_is_an_error_with_a_next_step() -> None:
    with small_world(pipeline(1, UPSTREAM)) as fake, pytest.raises(ServiceError) as caught:
        newest(scope(), connected(fake).pipelines())
    assert "--pipeline" in str(caught.value)


def test_a_scope_without_upstream_needs_a_pipeline() -> None:
    with small_world() as fake, pytest.raises(UsageError, match="no upstream project"):
        newest(Scope("all"), connected(fake).pipelines())


def test_the_newest_run_that_failed_else_that_ended() -> None:
    runs = [pipeline(3, DOWNSTREAM, status="running"), pipeline(2, DOWNSTREAM, status="success")]
    with small_world(*runs, pipeline(1, DOWNSTREAM)) as fake:
        assert newest_failed("dl/jet/ci", connected(fake).pipelines()).pipeline.id == 1
    with small_world(*runs) as fake:
        assert newest_failed("dl/jet/ci", connected(fake).pipelines()).pipeline.id == 2
    with small_world(runs[0]) as fake, pytest.raises(ServiceError, match="has ended"):
        newest_failed("dl/jet/ci", connected(fake).pipelines())


# --- benchmarks -------------------------------------------------------------------------------

SAID: list[str] = []
PERF = [job(1, "perf/llama_tp1 [2 oci/run]"), job(2, "perf/phi_tp1 [2 oci/run]")]
PLAIN = [job(1, "ad-coverage_phi [2 oci/run]"), job(2, "ad-coverage_olmo [2 oci/run]")]


def triggered_by(
    bridge_name: str, jobs: list[dict[str, Any]], **fields: Any
) -> list[dict[str, Any]]:
    down = pipeline(20, DOWNSTREAM, jobs=jobs, **fields)
    return [
        pipeline(10, UPSTREAM, bridges=[bridge(1, bridge_name, (20, DOWNSTREAM, "failed"))]),
        down,
    ]


def through_a_child(name: str) -> list[dict[str, Any]]:
    child = pipeline(20, DOWNSTREAM, source="parent_pipeline", jobs=PLAIN)
    middle = pipeline(15, DOWNSTREAM, bridges=[bridge(2, "run", (20, DOWNSTREAM, "failed"))])
    up = pipeline(10, UPSTREAM, bridges=[bridge(1, name, (15, DOWNSTREAM, "failed"))])
    return [child, middle, up]


REFUSED = [
    pytest.param(triggered_by("x", PLAIN, name="jet: benchmark"), "its name is", id="its name"),
    pytest.param(triggered_by("trigger-benchmark", PLAIN), "triggered it", id="its bridge"),
    pytest.param(through_a_child("trigger-benchmark"), "triggered it", id="a bridge further up"),
    pytest.param([pipeline(20, DOWNSTREAM, jobs=PERF)], "its jobs are", id="its jobs"),
    pytest.param(
        [pipeline(20, DOWNSTREAM, jobs=[{**one, "status": "success"} for one in PERF])],
        "its jobs are",
        id="its jobs, all green",
    ),
]


@pytest.mark.parametrize(("pipelines", "why"), REFUSED)
def test_a_benchmark_pipeline_is_refused(pipelines: list[dict[str, Any]], why: str) -> None:
    with small_world(*pipelines) as fake:
        forge = connected(fake).pipelines()
        start = find(Target(20), scope(), forge)
        with pytest.raises(RefusedError, match="benchmark pipelines are not supported") as caught:
            refuse_benchmark(start, scope(), forge, SAID.append)
    assert why in str(caught.value)
    assert caught.value.exit_status == 3


ACCEPTED = [
    pytest.param(triggered_by("x", PERF, name="jet: model-coverage"), id="its name is the scope's"),
    pytest.param(triggered_by(COVERAGE, PERF), id="a bridge of the scope, whatever its jobs"),
    pytest.param(through_a_child(COVERAGE), id="a bridge of the scope further up"),
    pytest.param([pipeline(20, DOWNSTREAM, jobs=PLAIN)], id="nothing says so"),
    pytest.param([pipeline(20, DOWNSTREAM, jobs=[*PLAIN, PERF[0]])], id="one job of three"),
    pytest.param([pipeline(20, DOWNSTREAM)], id="no jobs"),
]


@pytest.mark.parametrize("pipelines", ACCEPTED)
def test_others_are_accepted(pipelines: list[dict[str, Any]]) -> None:
    with small_world(*pipelines) as fake:
        forge = connected(fake).pipelines()
        refuse_benchmark(find(Target(20), scope(), forge), scope(), forge, SAID.append)


def test_an_upstream_pipeline_that_triggers_benchmarks_only_is_refused() -> None:
    only = pipeline(10, UPSTREAM, bridges=[bridge(1, "trigger-benchmark", None, "manual")])
    both = [*only["bridges"], bridge(2, COVERAGE, None, "manual")]
    with small_world(only, pipeline(11, UPSTREAM, bridges=both)) as fake:
        forge = connected(fake).pipelines()
        refuse_benchmark(find(Target(11), scope(), forge), scope(), forge, SAID.append)
        with pytest.raises(RefusedError, match="it triggers nothing else"):
            refuse_benchmark(find(Target(10), scope(), forge), scope(), forge, SAID.append)


def test_without_benchmarks_in_the_configuration_nothing_is_asked() -> None:
    plain = Scope("all", downstream=("dl/jet/ci",))
    assert plain.benchmark == Benchmark()
    with small_world(pipeline(20, DOWNSTREAM, jobs=PERF)) as fake:
        forge = connected(fake).pipelines()
        start = find(Target(20), plain, forge)
        before = fake.request_count
        refuse_benchmark(start, plain, forge, SAID.append)
        assert fake.request_count == before


def crowded(between: int, project: int = UPSTREAM) -> list[dict[str, Any]]:
    """A benchmark that was triggered before so many other pipelines of a project began."""
    last = 1000
    others = [pipeline(11 + number, project) for number in range(between)]
    own = {"created_at": "2026-05-06T00:00:00.000Z"}
    trigger = bridge(1, "trigger-benchmark", (last, DOWNSTREAM, "failed"))
    return [
        pipeline(10, UPSTREAM, bridges=[trigger]),
        *others,
        pipeline(last, DOWNSTREAM, jobs=PLAIN, **own),
    ]


@pytest.mark.parametrize("project", [UPSTREAM, DOWNSTREAM])
def test_a_trigger_is_found_among_many_pipelines(project: int) -> None:
    said: list[str] = []
    with small_world(*crowded(60, project)) as fake:
        forge = connected(fake).pipelines()
        with pytest.raises(RefusedError, match="triggered it"):
            refuse_benchmark(find(Target(1000), scope(), forge), scope(), forge, said.append)
    assert said == []


def test_a_search_for_the_trigger_ends_and_says_so() -> None:
    said: list[str] = []
    with small_world(*crowded(MOST_ASKED + 5)) as fake:
        forge = connected(fake).pipelines()
        before = fake.request_count
        refuse_benchmark(find(Target(1000), scope(), forge), scope(), forge, said.append)
        assert fake.request_count - before < MOST_ASKED + 12
    assert [text for text in said if "gave up" in text and "1000" in text] == said
    assert said
