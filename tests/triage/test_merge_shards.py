"""Merging the shards of a sweep: one summary, one record, and what is missing is named."""

from __future__ import annotations

import json
from pathlib import Path

from fakes.github import FakeGitHub
from triage.small_world import (
    NO_STEPS,
    QUEUE,
    TO_DISK,
    Ran,
    command,
    forge_with,
    issue,
    run,
)


def queue() -> FakeGitHub:
    texts = [TO_DISK, NO_STEPS, TO_DISK, TO_DISK]
    done = issue(9, TO_DISK, labels=["team: disk", "triaged-by-bot"])
    return forge_with(*(issue(n, text) for n, text in enumerate(texts, start=1)), done)


def shards(forge: FakeGitHub, folder: Path, total: int, *indices: int) -> None:
    for index in indices:
        run(forge, folder / "parts" / str(index), "--sweep", "--shard", f"{index}/{total}")


def merge(forge: FakeGitHub, folder: Path, *parts: str) -> Ran:
    given = parts or (str(folder / "parts" / "*"),)
    return command(forge, folder / "out", ["merge", *given, "--output", str(folder / "out")])


def test_one_summary_of_all_shards(tmp_path: Path) -> None:
    with queue() as forge:
        shards(forge, tmp_path, 2, 1, 2)
        ran = merge(forge, tmp_path)
    assert ran.status == 0
    assert "5 issues were looked at: 4 written to, 1 left alone." in ran.summary
    assert "it has been processed (1)" in ran.summary
    assert "Shards 1/2, 2/2 of the queue." in ran.summary
    assert [f"issues/{number})" in ran.summary for number in (1, 2, 3, 4, 9)] == [True] * 4 + [
        False
    ]
    assert len(ran.decisions) == 5


def test_undo_takes_the_merged_record(tmp_path: Path) -> None:
    with queue() as forge:
        shards(forge, tmp_path, 2, 1, 2)
        merge(forge, tmp_path)
        command(forge, tmp_path, ["undo", str(tmp_path / "out"), "--output", str(tmp_path / "u")])
        assert [forge.labels(number) for number in (1, 2, 3, 4)] == [[QUEUE]] * 4


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    with queue() as forge:
        shards(forge, tmp_path, 3, 1, 3)
        ran = merge(forge, tmp_path)
    assert ran.status == 1
    assert "No record of shard 2/3." in ran.summary


def test_a_shard_that_was_cut_off_is_named(tmp_path: Path) -> None:
    with queue() as forge:
        shards(forge, tmp_path, 2, 1, 2)
    record = tmp_path / "parts" / "2" / "run.json"
    data = json.loads(record.read_text(encoding="utf-8"))
    record.write_text(json.dumps({**data, "result": None}), encoding="utf-8")
    lines = tmp_path / "parts" / "2" / "decisions.jsonl"
    lines.write_text(lines.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    with queue() as forge:
        ran = merge(forge, tmp_path)
    assert ran.status == 1
    assert "Shard 2/2 did not come to its end." in ran.summary
    assert "4 issues were looked at" in ran.summary


def test_why_a_shard_stopped_is_told(tmp_path: Path) -> None:
    with queue() as forge:
        run(forge, tmp_path / "parts" / "1", "--sweep", "--max-writes", "1")
        ran = merge(forge, tmp_path)
    assert ran.status == 0, "a limit that somebody set is no failure"
    assert "1/1: Stopped at the limit of 1 writes, before #2. 4 issues are left" in ran.said
    assert "1/1: Stopped at the limit of 1 writes" in ran.summary


def test_a_shard_that_failed_makes_the_whole_partial(tmp_path: Path) -> None:
    with queue() as forge:
        forge.fail(410, path="/issues/1/labels", times=None)
        shards(forge, tmp_path, 2, 1, 2)
        ran = merge(forge, tmp_path)
    assert ran.status == 1
    assert "#1: " in ran.summary


def test_shards_of_different_sweeps_do_not_merge(tmp_path: Path) -> None:
    with queue() as forge:
        shards(forge, tmp_path, 2, 1)
        run(forge, tmp_path / "parts" / "2", "--sweep", "--shard", "2/2", "--dry-run")
        ran = merge(forge, tmp_path)
    assert ran.status == 2
    assert "has mode dry-run" in ran.said


def test_the_same_shard_twice(tmp_path: Path) -> None:
    with queue() as forge:
        shards(forge, tmp_path, 2, 1)
        run(forge, tmp_path / "parts" / "again", "--sweep", "--shard", "1/2")
        ran = merge(forge, tmp_path)
    assert ran.status == 2
    assert "Merge only the shards of one sweep" in ran.said


def test_a_folder_of_folders_will_do(tmp_path: Path) -> None:
    with queue() as forge:
        shards(forge, tmp_path, 2, 1, 2)
        ran = merge(forge, tmp_path, str(tmp_path / "parts"))
    assert ran.status == 0
    assert len(ran.decisions) == 5


def test_a_folder_without_a_record(tmp_path: Path) -> None:
    with queue() as forge:
        ran = merge(forge, tmp_path, str(tmp_path / "nothing"))
    assert ran.status == 2
    assert "holds no run.json" in ran.said
