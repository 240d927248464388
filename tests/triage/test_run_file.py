"""The record of a run: whole at every moment, and read back as it was written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from ciops.errors import PartialError, UsageError
from ciops.triage.run_file import Entry, Run, RunFile, read_run_file
from fakes.full_disk import room_for

RUN = Run(
    repo="o/r",
    forge="github",
    account="bot[bot]",
    policy="small@1",
    profile="own",
    queue="queue: storage",
    mode="apply",
    shard="1/1",
    started_at="2025-01-01T00:00:00Z",
)
SENT = Entry(7, "comment", "sent", "2025-01-01T00:00:01Z", template="x", marker="<!-- x -->")
DONE = Entry(7, "labels", "done", "2025-01-01T00:00:02Z", labels=("a", 'b"\n'), suggested=("c",))


def test_it_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    with RunFile(tmp_path, RUN) as record:
        for entry in (SENT, DONE):
            record.add(entry)
        record.finish({"status": 0})
    read = read_run_file(tmp_path / "run.json")
    assert (read.run, read.entries, read.result) == (RUN, (SENT, DONE), {"status": 0})


def test_it_is_whole_at_every_moment(tmp_path: Path) -> None:
    with RunFile(tmp_path, RUN) as record:
        for count in range(5):
            read = read_run_file(record.path)
            assert (len(read.entries), read.result) == (count, None)
            record.add(DONE)


def test_each_entry_is_one_write_to_the_file(tmp_path: Path) -> None:
    """A process that is killed between two system calls must not leave half an entry."""
    with RunFile(tmp_path, RUN) as record:
        before = record.path.read_text(encoding="utf-8")
        with patch.object(record, "_file", wraps=record._file) as file:
            record.add(SENT)
    (written,) = (call.args[0].decode() for call in file.write.call_args_list)
    head = before[: before.index("\n ],")]
    assert json.loads(head + written)["writes"][0]["issue"] == 7


@pytest.mark.parametrize("room", range(1, 300, 23))
def test_where_there_is_no_room_for_an_entry_the_record_is_as_it_was(
    room: int, tmp_path: Path
) -> None:
    """It raises, so that nothing is sent that no record tells of."""
    with RunFile(tmp_path, RUN) as record:
        record.add(SENT)
        size = record.path.stat().st_size
        long = replace(DONE, labels=("x" * 300,))
        with room_for(size + room):
            with pytest.raises(PartialError, match=r"run\.json cannot be written"):
                record.add(long)
            with pytest.raises(PartialError):
                record.finish({"told": "x" * 300})
        assert read_run_file(record.path).entries == (SENT,)
        record.add(long)
    assert read_run_file(record.path).entries == (SENT, long)


def test_an_earlier_record_with_writes_is_kept(tmp_path: Path) -> None:
    for _ in range(3):
        with RunFile(tmp_path, RUN) as record:
            record.add(SENT)
    kept = sorted(path.name for path in tmp_path.glob("run-*.json"))
    assert kept == ["run-20250101T000000Z-2.json", "run-20250101T000000Z.json"]


def test_an_earlier_record_without_writes_is_not(tmp_path: Path) -> None:
    for _ in range(2):
        with RunFile(tmp_path, RUN):
            pass
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_an_unreadable_earlier_record_is_kept(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{half of a rec", encoding="utf-8")
    with RunFile(tmp_path, RUN):
        pass
    assert (tmp_path / "run-unreadable.json").read_text(encoding="utf-8") == "{half of a rec"


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("untouched", encoding="utf-8")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "run.json").symlink_to(precious)
    with RunFile(folder, RUN) as record:
        record.add(SENT)
    assert precious.read_text(encoding="utf-8") == "untouched"
    assert not (folder / "run.json").is_symlink()


@pytest.mark.parametrize(
    "change",
    [
        {"repo": 7},
        {"writes": None},
        {"writes": [{"issue": "7", "kind": "labels", "state": "done", "at": ""}]},
        {"writes": [{"issue": 7, "kind": "assign", "state": "done", "at": ""}]},
        {"writes": [{"issue": 7, "kind": "labels", "state": "done", "at": "", "labels": [1]}]},
        {"writes": ["x"]},
    ],
    ids=str,
)
def test_misstated_records_are_refused(change: dict[str, object], tmp_path: Path) -> None:
    with RunFile(tmp_path, RUN) as record:
        record.finish({})
    data = json.loads(record.path.read_text(encoding="utf-8"))
    record.path.write_text(json.dumps({**data, **change}), encoding="utf-8")
    with pytest.raises(UsageError, match=r"Name the run\.json"):
        read_run_file(record.path)
