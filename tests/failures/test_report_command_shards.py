"""A report in parts on a job matrix, and the parts put together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ciops.failures.app import main
from failures.pipeline_worlds import (
    DOWNSTREAM,
    TOKEN,
    expected,
    fake_world,
    job,
    pipeline,
    report_on,
    saved,
    small_world,
)
from fakes.gitlab import FakeGitLab

FAILING = b"RuntimeError: shape of q is wrong in every stage\nERROR: Job failed: exit code 1\n"


def start_of(name: str) -> list[str]:
    identity = expected(name)["start"]["pipeline_id"]
    return ["--pipeline", str(identity)] if identity else []


def parts(fake: FakeGitLab, folder: Path, count: int, *options: str) -> list[Path]:
    """The folders of all parts."""
    places = [folder / f"part-{index}" for index in range(1, count + 1)]
    for index, place in enumerate(places, 1):
        report_on(fake, place, "--shard", f"{index}/{count}", *options)
    return places


def merge(folder: Path, *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    output = folder / "merged"
    given = [str(one) for one in arguments]
    status = main(["merge", *given, "--format", "json", "--output", str(output)], {})
    path = output / "report.json"
    return status, json.loads(path.read_text("utf-8")) if path.exists() else {}


@pytest.mark.parametrize(("name", "count"), [("dev1", 3), ("dev3", 1), ("dev3", 9)])
def test_the_parts_of_a_world_make_the_whole(tmp_path: Path, name: str, count: int) -> None:
    with fake_world(name) as fake:
        whole = report_on(fake, tmp_path / "whole", *start_of(name))
        places = parts(fake, tmp_path, count, *start_of(name))
    status, merged = merge(tmp_path, *[place / "out" for place in places])
    wanted = saved(whole)
    assert status == whole.status
    for report in (merged, wanted):
        del report["generated_at"]
    assert merged == wanted


def test_a_part_reads_its_own_jobs_only(tmp_path: Path) -> None:
    jobs = [job(number, trace=FAILING) for number in range(1, 8)]
    read: list[set[str]] = []
    reports = []
    for index in (1, 2, 3):
        with small_world(pipeline(500, DOWNSTREAM, jobs=jobs)) as fake:
            given = ("--pipeline", "500", "--shard", f"{index}/3")
            reports.append(saved(report_on(fake, tmp_path / str(index), *given)))
            read.append({one.path for one in fake.requests if "trace" in one.path})
    assert [len(paths) for paths in read] == [3, 2, 2]
    assert len(set.union(*read)) == 7
    for report, paths in zip(reports, read, strict=True):
        assert report["checksum"] == {"failed_jobs": len(paths), "bucket_sum": len(paths)}
    assert [report["shard"] for report in reports] == ["1/3", "2/3", "3/3"]


def test_a_workload_and_its_logs_in_different_parts_meet_again(tmp_path: Path) -> None:
    jobs = [
        job(1, "cov phi [1 logs_before]", trace=b"OSError: no such thing\n"),
        job(2, "cov phi [2 run]", trace=FAILING),
    ]
    with small_world(pipeline(500, DOWNSTREAM, jobs=jobs)) as fake:
        places = parts(fake, tmp_path, 2, "--pipeline", "500")
    _, merged = merge(tmp_path, *[place / "out" for place in places])
    (bucket,) = merged["buckets"]
    assert (bucket["jobs"], bucket["representative_job"]) == ([1, 2], 2)
    assert [one["supplementary"] for one in merged["jobs"]] == [True, False]


def four_jobs(tmp_path: Path) -> list[Path]:
    jobs = [job(number, trace=FAILING) for number in range(1, 5)]
    with small_world(pipeline(500, DOWNSTREAM, jobs=jobs)) as fake:
        return [place / "out" for place in parts(fake, tmp_path, 2, "--pipeline", "500")]


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    first, _ = four_jobs(tmp_path)
    status, merged = merge(tmp_path, first)
    assert status == 1
    assert merged["checksum"] == {"failed_jobs": 4, "bucket_sum": 4}
    assert {one["id"]: one["reason"] for one in merged["unreadable"]} == {
        2: "not read: part 2 of 2 is missing",
        4: "not read: part 2 of 2 is missing",
    }


def test_parts_are_found_below_a_folder_and_by_name(tmp_path: Path) -> None:
    first, second = four_jobs(tmp_path)
    second = second.rename(tmp_path / "part-1" / "two")
    first = first.rename(tmp_path / "part-1" / "one")
    assert merge(tmp_path, tmp_path / "part-1")[0] == 0
    assert merge(tmp_path, first / "part-1-of-2.json", second / "part-2-of-2.json")[0] == 0
    assert merge(tmp_path, first, first, second)[0] == 0


def test_formats_and_language_are_those_of_the_parts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = [job(1, trace=FAILING)]
    with small_world(pipeline(500, DOWNSTREAM, jobs=jobs)) as fake:
        parts(fake, tmp_path, 1, "--pipeline", "500", "--format", "csv", "--language", "fr")
    capsys.readouterr()
    output = tmp_path / "merged"
    assert main(["merge", str(tmp_path / "part-1" / "out"), "--output", str(output)], {}) == 0
    assert {path.name for path in output.iterdir()} == {"report.csv", "report.json"}
    assert "Rapport" in capsys.readouterr().out


def edited(path: Path, **fields: Any) -> None:
    data = json.loads(path.read_text("utf-8"))
    for key, value in fields.items():
        target, _, name = key.rpartition("__")
        (data[target] if target else data)[name] = value
    path.write_text(json.dumps(data), "utf-8")


FOREIGN = [
    pytest.param({"facts__starting_pipeline": 7}, "different starting pipelines", id="pipeline"),
    pytest.param({"facts__config": "other@1"}, "different configurations", id="configuration"),
    pytest.param({"count": 3}, "different numbers of parts", id="number of parts"),
    pytest.param({"schema": 9}, "cannot read", id="another version"),
    pytest.param({"index": 0}, "cannot read", id="an index that is none"),
    pytest.param({"evidence": 3}, "Part.evidence is a int", id="a wrong type"),
    pytest.param({"facts": []}, "Part.facts is no object", id="a wrong shape"),
]


@pytest.mark.parametrize(("fields", "words"), FOREIGN)
def test_parts_that_do_not_fit_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fields: dict[str, Any], words: str
) -> None:
    first, second = four_jobs(tmp_path)
    edited(second / "part-2-of-2.json", **fields)
    status, merged = merge(tmp_path, first, second)
    assert (status, merged) == (2, {})
    assert words in capsys.readouterr().err


BROKEN = [
    pytest.param(None, "no such folder", id="nothing there"),
    pytest.param("{", "is not JSON", id="no JSON"),
    pytest.param("[" * 100_000, "is not JSON", id="nested without end"),
    pytest.param("[]", "Part is no object", id="another shape"),
    pytest.param("{}", "Part.schema is missing", id="empty"),
]


@pytest.mark.parametrize(("text", "words"), BROKEN)
def test_a_broken_part_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, words: str
) -> None:
    if text is not None:
        (tmp_path / "part-1-of-1.json").write_text(text, "utf-8")
    place = tmp_path if text is not None else tmp_path / "nowhere"
    assert merge(tmp_path, place) == (2, {})
    assert words in capsys.readouterr().err


def test_a_folder_without_parts_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert merge(tmp_path, tmp_path) == (2, {})
    assert "there is no part of a report" in capsys.readouterr().err


def test_parts_of_another_configuration_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = four_jobs(tmp_path)
    other = tmp_path / "other.yml"
    other.write_text('name: mine\nversion: "2"\nowners: [{name: us}]\n', "utf-8")
    assert merge(tmp_path, *places, "--config", other) == (2, {})
    assert "--config is mine@2" in capsys.readouterr().err


def test_merging_needs_no_token_and_tracking_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = four_jobs(tmp_path)
    assert merge(tmp_path, *places)[0] == 0
    status, merged = merge(tmp_path, *places, "--track")
    assert status == 1
    assert "GITHUB_TOKEN is not set" in merged["remarks"][0]["detail"]
    assert TOKEN not in capsys.readouterr().out
