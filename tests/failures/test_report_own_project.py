"""Rules that name no upstream project: a GitLab job reports on the pipelines of its own project."""

from __future__ import annotations

from pathlib import Path

import pytest

from failures.pipeline_worlds import (
    PATHS,
    ROOT,
    UPSTREAM,
    job,
    pipeline,
    report_on,
    saved,
    small_world,
)

RULES = str(ROOT / "examples/smallest-rules/failure-rules.yml")
TRACE = b"Traceback (most recent call last):\nIndexError: x\nERROR: Job failed: exit code 1\n"


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        pytest.param([], 3, id="the newest that failed"),
        pytest.param(["--pipeline", "2"], 2, id="an id"),
    ],
)
def test_it_looks_into_its_own_project(arguments: list[str], start: int, tmp_path: Path) -> None:
    failed = [pipeline(n, UPSTREAM, jobs=[job(20 + n, trace=TRACE)]) for n in (2, 3)]
    with small_world(*failed, pipeline(4, UPSTREAM, status="running")) as fake:
        here = {"CI_PROJECT_PATH": PATHS[UPSTREAM], "CI_SERVER_URL": fake.url}
        outcome = report_on(fake, tmp_path, "--config", RULES, *arguments, **here)
    report = saved(outcome)
    assert (report["starting_pipeline"], report["failed_jobs_total"]) == (start, 1)


@pytest.mark.parametrize(
    ("elsewhere", "arguments", "words"),
    [
        pytest.param("", [], "has no upstream project", id="on a laptop"),
        pytest.param("https://other.example.com", [], "no upstream project", id="another GitLab"),
        pytest.param("", ["--pipeline", "2"], "no project is known", id="an id on a laptop"),
    ],
)
def test_elsewhere_a_project_must_be_named(
    elsewhere: str, arguments: list[str], words: str, tmp_path: Path
) -> None:
    there = {"CI_PROJECT_PATH": PATHS[UPSTREAM], "CI_SERVER_URL": elsewhere} if elsewhere else {}
    with small_world(pipeline(2, UPSTREAM)) as fake:
        outcome = report_on(fake, tmp_path, "--config", RULES, *arguments, **there)
    assert outcome.status == 2
    assert words in outcome.error


def test_a_scope_that_names_its_upstream_keeps_it(tmp_path: Path) -> None:
    with small_world(pipeline(2, UPSTREAM, jobs=[job(21, trace=TRACE)])) as fake:
        here = {"CI_PROJECT_PATH": "somebody/else", "CI_SERVER_URL": fake.url}
        outcome = report_on(fake, tmp_path, "--pipeline", "2", **here)
    assert saved(outcome)["starting_pipeline"] == 2
