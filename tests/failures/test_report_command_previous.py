"""New or recurring, against an earlier report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from failures.pipeline_worlds import (
    DOWNSTREAM,
    expected,
    fake_world,
    job,
    pipeline,
    report_on,
    saved,
    small_world,
)

SHAPE = b"RuntimeError: shape of %s is wrong in every stage\nERROR: Job failed: exit code 1\n"
WRAPPER = b"ERROR: Job failed: exit code 1\n"


def report(folder: Path, jobs: list[dict[str, Any]], *more: str) -> dict[str, Any]:
    with small_world(pipeline(500, DOWNSTREAM, jobs=jobs)) as fake:
        return saved(report_on(fake, folder, "--pipeline", "500", *more))


def compared(tmp_path: Path, before: list[dict[str, Any]], now: list[dict[str, Any]]) -> Any:
    report(tmp_path / "before", before)
    earlier = str(tmp_path / "before" / "out" / "report.json")
    return report(tmp_path / "now", now, "--previous", earlier)


CASES = [
    pytest.param(SHAPE % b"q", SHAPE % b"q", True, id="the same error"),
    pytest.param(SHAPE % b"7", SHAPE % b"9", True, id="with another number"),
    pytest.param(SHAPE % b"q", SHAPE % b"mask", False, id="another error"),
    pytest.param(WRAPPER, SHAPE % b"q", False, id="weak before"),
]


@pytest.mark.parametrize(("before", "now", "recurring"), CASES)
def test_new_or_recurring(tmp_path: Path, before: bytes, now: bytes, recurring: bool) -> None:
    found = compared(tmp_path, [job(1, trace=before)], [job(2, "other", trace=now)])
    (bucket,) = found["buckets"]
    assert bucket["recurring"] is recurring
    assert found["previous_pipeline"] == 500


WEAK = [
    pytest.param("cov a", "cov a", True, id="the same job"),
    pytest.param("cov a", "cov b", False, id="another job: weak evidence says nothing"),
]


@pytest.mark.parametrize(("before", "now", "recurring"), WEAK)
def test_weak_evidence(tmp_path: Path, before: str, now: str, recurring: bool) -> None:
    found = compared(tmp_path, [job(1, before, trace=WRAPPER)], [job(2, now, trace=WRAPPER)])
    assert found["buckets"][0]["recurring"] is recurring


def test_without_an_earlier_report_it_is_not_known(tmp_path: Path) -> None:
    found = report(tmp_path, [job(1, trace=SHAPE % b"q")])
    assert found["buckets"][0]["recurring"] is None
    assert found["previous_pipeline"] is None


@pytest.mark.parametrize("name", ["dev2", "dev3"])
def test_a_world_recurs_as_a_whole(tmp_path: Path, name: str) -> None:
    identity = expected(name)["start"]["pipeline_id"]
    start = ["--pipeline", str(identity)] if identity else []
    with fake_world(name) as fake:
        saved(report_on(fake, tmp_path, *start))
        earlier = tmp_path / "before.json"
        (tmp_path / "out" / "report.json").rename(earlier)
        again = saved(report_on(fake, tmp_path, *start, "--previous", str(earlier)))
    assert all(bucket["recurring"] for bucket in again["buckets"])


def test_a_report_of_another_hand_will_do(tmp_path: Path) -> None:
    now = report(tmp_path / "now", [job(1, trace=SHAPE % b"q")])
    (bucket,) = now["buckets"]
    kept = {key: bucket[key] for key in ("name", "owner", "signature", "representative_job")}
    least = {"schema": 1, "starting_pipeline": 3, "buckets": [{**kept, "jobs": [9]}]}
    earlier = tmp_path / "least.json"
    earlier.write_text(json.dumps(least), "utf-8")
    again = report(tmp_path / "again", [job(1, trace=SHAPE % b"q")], "--previous", str(earlier))
    assert again["buckets"][0]["recurring"] is True
    assert again["previous_pipeline"] == 3
