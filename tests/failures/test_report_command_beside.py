"""Logs before and after a workload: supplementary evidence, and only where its own has none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from failures.pipeline_worlds import (
    DOWNSTREAM,
    UPSTREAM,
    Outcome,
    bridge,
    job,
    pipeline,
    report_on,
    saved,
    small_world,
)

FAILING = b"RuntimeError: shape of q is wrong in every stage\nERROR: Job failed: exit code 1\n"
WRAPPER = b"ERROR: Job failed: exit code 1\n"
COLLECTED = b"collected worker.log:\n" + FAILING
GREEN = b"collected 3 files, 0 errors\nJob succeeded\n"


def report(
    folder: Path, *jobs: dict[str, Any], path_status: dict[str, int] | None = None
) -> tuple[Outcome, list[str]]:
    with small_world(pipeline(500, DOWNSTREAM, jobs=jobs)) as fake:
        fake.path_status.update(path_status or {})
        outcome = report_on(fake, folder, "--pipeline", "500")
        return outcome, [one.path.split("/")[4] for one in fake.requests if "trace" in one.path]


def workload(trace: bytes | None) -> dict[str, Any]:
    return job(2, "cov phi [2 run]", **({} if trace is None else {"trace": trace}))


def after(trace: bytes, status: str = "success", name: str = "cov phi [3 logs_after]") -> Any:
    return job(3, name, status, trace=trace)


BESIDE = [
    pytest.param(workload(WRAPPER), id="a wrapper only"),
    pytest.param(workload(b""), id="an empty trace"),
    pytest.param(workload(None), id="no trace"),
]


@pytest.mark.parametrize("own", BESIDE)
def test_what_a_log_beside_shows_is_said_and_stays_weak(tmp_path: Path, own: Any) -> None:
    outcome, _ = report(tmp_path, own, after(COLLECTED))
    (found,) = saved(outcome)["jobs"]
    assert (found["evidence"], found["line"], found["text"]) == ("weak", None, None)
    said = "the log of cov phi [3 logs_after] (3) shows at line 2: RuntimeError: shape of q"
    assert said in found["weak_reason"]


NOT_READ = [
    pytest.param(workload(FAILING), after(COLLECTED), ["2"], id="its own log says it"),
    pytest.param(workload(WRAPPER), after(COLLECTED, name="cov olmo [3 x]"), ["2"], id="another"),
    pytest.param(workload(WRAPPER), after(COLLECTED, "skipped"), ["2"], id="it did not run"),
    pytest.param(job(2, "cov phi", trace=WRAPPER), after(COLLECTED), ["2"], id="no parts"),
    pytest.param(workload(WRAPPER), after(GREEN), ["2", "3"], id="it shows nothing"),
]


@pytest.mark.parametrize(("own", "other", "traces"), NOT_READ)
def test_only_where_it_is_needed(tmp_path: Path, own: Any, other: Any, traces: list[str]) -> None:
    outcome, read = report(tmp_path, own, other)
    assert read == traces
    assert "the log of" not in saved(outcome)["jobs"][0]["weak_reason"]


def test_a_failed_one_is_not_read_twice(tmp_path: Path) -> None:
    outcome, read = report(tmp_path, workload(WRAPPER), after(COLLECTED, "failed"))
    assert sorted(read) == ["2", "3"]
    first, second = saved(outcome)["jobs"]
    assert "the log of cov phi [3 logs_after] (3)" in first["weak_reason"]
    assert first["bucket"] == second["bucket"]


def test_trouble_with_it_costs_nothing_else(tmp_path: Path) -> None:
    outcome, _ = report(
        tmp_path,
        workload(WRAPPER),
        after(COLLECTED),
        path_status={"/projects/77/jobs/3/trace": 404},
    )
    assert outcome.status == 0
    assert saved(outcome)["unreadable"] == []


def test_workloads_of_one_name_in_two_pipelines_are_kept_apart(tmp_path: Path) -> None:
    """A fork runs the same workloads twice; logs belong to the workload of their own pipeline."""
    both = [
        bridge(101, "model-coverage: [a]", (2, DOWNSTREAM, "failed")),
        bridge(102, "model-coverage: [b]", (3, DOWNSTREAM, "failed")),
    ]
    before = job(31, "cov phi [1 logs_before]", trace=b"OSError: [Errno 28] No space left\n")
    with small_world(
        pipeline(1, UPSTREAM, bridges=both),
        pipeline(2, DOWNSTREAM, jobs=[job(21, "cov phi [2 run]", trace=FAILING)]),
        pipeline(3, DOWNSTREAM, jobs=[before, job(32, "cov phi [2 run]", "skipped")]),
    ) as fake:
        report = saved(report_on(fake, tmp_path, "--pipeline", "1"))
    assert sorted(one["jobs"] for one in report["buckets"]) == [[21], [31]]
    assert [one["supplementary"] for one in report["jobs"]] == [False, False]
