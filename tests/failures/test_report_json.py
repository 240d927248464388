"""`report.json`: written with keys in order, read back tolerantly, and refused with a place."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ciops.errors import UsageError
from ciops.failures.report_json import from_json, load_report, to_data, to_json
from ciops.failures.report_model import (
    Bucket,
    Change,
    CodeReference,
    DeadEndBridge,
    FailedJob,
    PipelineStep,
    Remark,
    Report,
    Unreadable,
)
from ciops.failures.scan_result import NumberedLine
from failures.hostile_words import HOSTILE, poisoned
from failures.report_samples import usual

TOP = (
    *("schema", "config", "scope", "starting_pipeline", "terminal_pipelines"),
    *("failed_jobs_total", "checksum", "buckets", "jobs", "dead_end_bridges", "unreadable"),
)
BUCKET = (
    *("name", "status", "reason", "owner", "size", "representative_job", "jobs", "causal_error"),
    *("signature", "hypothesis", "recurring", "tracking", "blocker"),
)
JOB = (
    *("id", "name", "pipeline_id", "job_url", "log_url", "workload", "via_bridge"),
    *("allow_failure", "line", "text", "exception", "frame", "evidence", "signature", "bucket"),
    *("status", "owner", "wrappers", "model", "runtime_hints", "excerpt"),
)


def without(key: str) -> dict[str, Any]:
    data = to_data(usual())
    del data[key]
    return data


def test_keys_come_in_the_documented_order() -> None:
    data = json.loads(to_json(usual()))
    assert tuple(data)[: len(TOP)] == TOP
    assert tuple(data["buckets"][0])[: len(BUCKET)] == BUCKET
    assert tuple(data["jobs"][0])[: len(JOB)] == JOB
    assert list(data["dead_end_bridges"][0])[:5] == ["id", "name", "bucket", "status", "reason"]
    assert list(data["unreadable"][0]) == ["id", "reason"]
    assert list(data["jobs"][0]["wrappers"][0]) == ["line", "text"]


def test_what_it_says_of_the_usual_report() -> None:
    data = json.loads(to_json(usual()))
    assert data["schema"] == 1
    assert data["checksum"] == {"failed_jobs": 14, "bucket_sum": 14}
    first = data["buckets"][0]
    assert (first["size"], first["recurring"], first["tracking"]) == (4, False, None)
    job = data["jobs"][0]
    assert job["runtime_hints"]["yaml_extra"] == ["dashboard_default.yaml", "world_size_2.yaml"]
    assert job["excerpt"].split("\n")[job["excerpt_lines"].index(job["line"])] == job["text"]


def test_the_same_report_is_the_same_text() -> None:
    assert to_json(usual()) == to_json(usual())


texts = st.text(max_size=20).filter(lambda text: "\n" not in text)
ids = st.integers(0, 2**63)
numbered = st.tuples(st.builds(NumberedLine, st.integers(1, 10**9), texts.filter(bool)))
codes = st.builds(
    CodeReference, texts, texts, st.none() | st.integers(1, 99), texts, texts, texts, texts,
    st.none() | st.tuples(st.builds(Change, texts, texts, texts)),
)  # fmt: skip
buckets = st.builds(
    Bucket, texts, texts, texts, texts, ids, st.lists(ids, max_size=4).map(tuple),
    st.none() | texts, texts, texts, st.none() | st.booleans(), st.none() | texts, texts, texts,
    st.booleans(), texts, texts, st.none() | codes,
)  # fmt: skip
hints = st.dictionaries(
    texts,
    texts | st.integers(-9, 9) | st.booleans() | st.floats(-9, 9) | st.tuples(texts),
    max_size=3,
)
jobs = st.builds(
    FailedJob, ids, texts, ids, texts, texts, texts, st.none() | ids, st.booleans(),
    st.none() | st.integers(1, 9), st.none() | texts, st.none() | texts, st.none() | texts, texts,
    texts, texts, texts, texts, numbered, st.none() | texts, hints, numbered, texts, texts,
    st.booleans(),
)  # fmt: skip
optional_ids = st.none() | ids
reports = st.builds(
    Report, texts, texts, ids, st.lists(ids, max_size=3).map(tuple), ids,
    st.lists(buckets, max_size=3).map(tuple), st.lists(jobs, max_size=3).map(tuple),
    st.tuples(st.builds(DeadEndBridge, ids, texts, texts, texts, texts, texts, optional_ids)),
    st.tuples(st.builds(Unreadable, ids, texts)),
    st.tuples(st.builds(PipelineStep, ids, texts, texts, texts, texts, optional_ids, optional_ids,
                        texts, texts)),
    texts, texts, optional_ids, st.booleans(), st.booleans(), texts,
    st.tuples(st.builds(Remark, texts, texts, st.integers(0, 9))),
)  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(report=reports)
def test_any_report_comes_back_as_it_was(report: Report) -> None:
    assert from_json(to_json(report), "report.json") == report


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_words_are_only_words(text: str) -> None:
    report = poisoned(text.replace("\n", " ").encode(errors="replace").decode())
    assert from_json(to_json(report), "r").buckets == report.buckets


@pytest.mark.parametrize(
    "key", ["jobs", "unreadable", "dead_end_bridges", "pipelines", "remarks", "config", "tracked"]
)
def test_a_key_that_is_not_there_takes_its_default(key: str) -> None:
    read = from_json(json.dumps(without(key)), "report.json")
    assert read.starting_pipeline == 5060


def test_a_report_with_the_documented_keys_alone_is_read() -> None:
    whole = to_data(usual())
    data = {key: whole[key] for key in TOP}
    data["buckets"] = [{key: one[key] for key in BUCKET} for one in whole["buckets"]]
    data["jobs"] = [{key: one[key] for key in JOB} for one in whole["jobs"]]
    read = from_json(json.dumps(data), "report.json")
    assert [one.name for one in read.buckets] == [one.name for one in usual().buckets]
    assert read.jobs[0].text == usual().jobs[0].text
    assert [line.number for line in read.jobs[0].excerpt[:3]] == [1, 2, 3]


def test_unknown_keys_are_left_alone() -> None:
    data = to_data(usual()) | {"later": {"x": 1}}
    data["buckets"][0]["later"] = [1]
    assert from_json(json.dumps(data), "r").buckets == usual().buckets


def test_an_empty_excerpt_has_no_lines() -> None:
    report = replace(usual(), jobs=(replace(usual().jobs[0], excerpt=()),))
    assert from_json(to_json(report), "r").jobs[0].excerpt == ()


def edited(change: str, to: str) -> str:
    text = to_json(usual())
    assert change in text
    return text.replace(change, to, 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "r.json:1: is not JSON"),
        ('{"schema": 1,\n "buckets": [}', "r.json:2: is not JSON"),
        ("[]", "r.json: is no report"),
        ('{"schema": 1}', "r.json: is no report"),
        ('{"schema": 2, "buckets": []}', "r.json: schema: 2 is not a schema this version reads"),
        ('{"schema": "1", "buckets": []}', 'schema: "1" is not a schema'),
        ('{"schema": 1, "buckets": []}', 'key "starting_pipeline" is missing'),
        ("[" * 100_000, "r.json: is nested too deeply"),
        (edited('"starting_pipeline": 5060', '"starting_pipeline": "5060"'),
         'r.json:5: starting_pipeline: expected a whole number, found "5060"'),
        (edited('"representative_job": 311097', '"representative_job": null'),
         'buckets[0]: key "representative_job" is missing'),
        (edited("    311097,", '    "311097",'), "buckets[0].jobs[0]: expected a whole number"),
        (edited("    311097,", "    true,"), "buckets[0].jobs[0]: expected a whole number"),
        (edited('"recurring": false', '"recurring": "no"'), "buckets[0].recurring: expected true"),
        (edited('"name": "loom/autodeploy-sharding', '"name": 5, "x": "'), "buckets[0].name"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_place(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        from_json(text, "r.json")
    assert says in str(caught.value)
    assert caught.value.exit_status == 2


def test_a_file_is_read_with_or_without_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("\ufeff" + to_json(usual()), encoding="utf-8")
    assert load_report(path) == usual()


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_a_file_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"no such file|is a directory"):
        load_report(tmp_path / name)
