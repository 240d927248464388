"""A sweep: what it reads, in which order, where it stops, and what never stops it."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from fakes.github import Account, FakeGitHub
from triage.small_world import (
    ELSEWHERE,
    NO_STEPS,
    QUEUE,
    TO_APP,
    TO_DISK,
    UNCLEAR,
    URGENT,
    comment,
    forge_with,
    issue,
    run,
)

LIST = "GET /repos/{owner}/{repo}/issues"
TIMELINE = "GET /repos/{owner}/{repo}/issues/{issue_number}/timeline"
READ_COMMENTS = "GET /repos/{owner}/{repo}/issues/{issue_number}/comments"
LABEL_PAGES = "GET /repos/{owner}/{repo}/labels"
TEXTS = (TO_DISK, TO_APP, NO_STEPS, UNCLEAR, ELSEWHERE, URGENT)


def queue(size: int, **every: Any) -> list[dict[str, Any]]:
    """Issues of every kind, one a minute; every third has comments."""
    return [
        issue(
            number,
            TEXTS[number % len(TEXTS)],
            created_at=f"2025-01-01T{number // 60:02}:{number % 60:02}:00Z",
            comments=[comment("me too")] if number % 3 == 0 else [],
            **every,
        )
        for number in range(1, size + 1)
    ]


def bound(forge: FakeGitHub, size: int, with_comments: int) -> float:
    """What the calls of a sweep may be at most."""
    written = len({write.path.split("/")[5] for write in forge.writes})
    return size / 100 + with_comments + written + len(forge.writes) + forge.calls[LABEL_PAGES] + 3


def test_calls_are_within_the_bound(tmp_path: Path) -> None:
    with forge_with(*queue(230)) as forge:
        ran = run(forge, tmp_path, "--sweep")
        calls, most = forge.request_count, bound(forge, 230, 76)
    assert ran.status == 0
    assert len(ran.decisions) == 230
    assert calls <= most
    assert forge.calls[LIST] == 3
    assert forge.created_labels == []
    operations = {write.operation.rpartition("/")[2] for write in forge.writes}
    assert operations == {"comments", "labels"}
    assert {write.method for write in forge.writes} == {"POST"}


def test_a_queue_that_is_done_costs_the_list_alone(tmp_path: Path) -> None:
    done = {"labels": ["team: disk", "triaged-by-bot"]}
    with forge_with(*queue(150, **done)) as forge:
        ran = run(forge, tmp_path, "--sweep")
        calls = forge.request_count
    assert ran.decisions[0]["skip"] == "already_processed"
    assert calls == 2 + 1 + 2  # account, labels, list
    assert "150 issues were looked at: 150 left alone." in ran.summary
    assert "it has been processed (150)" in ran.summary


def test_a_timeline_is_read_only_of_what_is_written_to(tmp_path: Path) -> None:
    complete = issue(2, TO_DISK, labels=["team: disk", "triaged-by-bot", "sorted"])
    with forge_with(issue(1, TO_DISK), complete) as forge:
        run(forge, tmp_path, "--sweep")
    read = [request.path for request in forge.requests if request.operation == TIMELINE]
    assert read == ["/repos/shelf/shelfd/issues/1/timeline"]


def test_oldest_first_and_each_once_while_writing_moves_them(tmp_path: Path) -> None:
    """Every write makes an issue the last updated one: an order by update would skip others."""
    with forge_with(*queue(120)) as forge:
        ran = run(forge, tmp_path, "--sweep")
    assert [line["number"] for line in ran.decisions] == list(range(1, 121))


def test_issues_that_come_while_paging_are_seen_too(tmp_path: Path) -> None:
    with forge_with(*queue(100)) as forge:

        def another() -> None:
            forge.repository.add_issue({**issue(500, TO_DISK, created_at="2026-01-01T00:00:00Z")})

        forge.fail("call", path="/issues/1/labels", method="POST", callback=another)
        forge.repository.add_issue(issue(101, TO_DISK, created_at="2025-12-01T00:00:00Z"))
        ran = run(forge, tmp_path, "--sweep")
    assert [line["number"] for line in ran.decisions][-2:] == [101, 500]


@pytest.mark.parametrize(
    ("limit", "done", "left"),
    [(0, 0, 5), (1, 1, 4), (2, 2, 3), (4, 3, 2), (5, 4, 1), (99, 5, 0)],
)
def test_the_limit_of_writes_holds_whole_issues_back(
    limit: int, done: int, left: int, tmp_path: Path
) -> None:
    """Each issue takes one write, the third takes two: half of them would be worse than none."""
    texts = [TO_DISK, TO_DISK, NO_STEPS, TO_DISK, TO_DISK]
    with forge_with(*(issue(n, text) for n, text in enumerate(texts, start=1))) as forge:
        ran = run(forge, tmp_path, "--sweep", "--max-writes", str(limit))
    touched = {write.path.split("/")[5] for write in forge.writes}
    assert (ran.status, len(touched)) == (0, done)
    assert len(forge.writes) <= limit
    if left:
        words = f"{left} issue is left" if left == 1 else f"{left} issues are left"
        assert f"Stopped at the limit of {limit} writes, before #{done + 1}." in ran.summary
        assert words in ran.summary
        assert f"#{done + 1} " in ran.said
        assert "Held back" in ran.said


def test_near_the_rate_limit_it_stops_and_says_what_is_left(tmp_path: Path) -> None:
    with forge_with(*queue(60), rate_limit=90) as forge:
        ran = run(forge, tmp_path, "--sweep")
        used = forge.request_count
    assert ran.status == 1
    assert "Stopped near the rate limit of GitHub, at #" in ran.summary
    assert "the next run goes on with it" in ran.summary
    assert 55 < used <= 90, "some requests are left to others who share the token"
    assert ran.record["result"]["ending"] == "rate_limit"


def test_a_limit_that_ends_soon_is_waited_for(tmp_path: Path) -> None:
    with forge_with(*queue(60), rate_limit=90, rate_window=30) as forge:
        ran = run(forge, tmp_path, "--sweep")
    assert 0 < max(ran.waits) <= 32


def test_a_secondary_limit_is_obeyed(tmp_path: Path) -> None:
    with forge_with(issue(1, TO_DISK), issue(2, TO_DISK)) as forge:
        forge.fail("secondary", at=1, method="POST", retry_after=45)
        ran = run(forge, tmp_path, "--sweep")
    assert ran.status == 0
    assert 45 in [round(wait) for wait in ran.waits]
    assert "team: disk" in forge.labels(2)


def test_one_failing_issue_never_stops_it(tmp_path: Path) -> None:
    with forge_with(*queue(8)) as forge:
        forge.fail(502, path="/issues/3/timeline", times=None)
        forge.fail(410, path="/issues/5/labels", times=None)
        ran = run(forge, tmp_path, "--sweep")
    assert ran.status == 1
    outcomes = {line["number"]: line["outcome"] for line in ran.decisions}
    assert [number for number, what in outcomes.items() if what == "failed"] == [3, 5]
    assert "Not done:" in ran.summary
    assert "#3: " in ran.summary
    assert "#5: " in ran.summary
    assert all(len(forge.labels(number)) > 1 for number in (1, 2, 4, 6, 7, 8))


def test_an_issue_that_is_locked_meanwhile_never_stops_it(tmp_path: Path) -> None:
    with forge_with(issue(1, NO_STEPS), issue(2, NO_STEPS), issue(3, TO_DISK)) as forge:

        def lock() -> None:
            forge.issue(2)["locked"] = True

        forge.fail("call", path="/issues/1/labels", method="POST", callback=lock)
        ran = run(forge, tmp_path, "--sweep")
    assert ran.status == 1
    assert forge.labels(2) == [QUEUE]
    assert "team: disk" in forge.labels(3)


def test_when_everything_fails_it_gives_up(tmp_path: Path) -> None:
    with forge_with(*queue(20)) as forge:
        forge.fail(503, path="/timeline", times=None)
        ran = run(forge, tmp_path, "--sweep")
    assert ran.status == 4
    assert len(ran.decisions) == 5
    assert "Stopped at #5" in ran.summary


def test_a_token_that_may_not_write_ends_it_at_once(tmp_path: Path) -> None:
    only_reads = {"secret-token-of-the-test": Account("x[bot]", permissions={"issues": "read"})}
    with forge_with(*queue(20), tokens=only_reads) as forge:
        ran = run(forge, tmp_path, "--sweep")
        posts = [request for request in forge.requests if request.method == "POST"]
    assert (ran.status, len(posts)) == (4, 1)
    assert "issues=write" in ran.said


def test_a_list_that_breaks_off_is_named(tmp_path: Path) -> None:
    with forge_with(*queue(150)) as forge:
        forge.fail(500, at=2, path=r"/issues$", times=None)
        ran = run(forge, tmp_path, "--sweep")
    assert ran.status == 1
    assert len(ran.decisions) == 100
    assert "Stopped while the queue was being listed" in ran.summary


@pytest.mark.parametrize("shards", [1, 2, 3])
def test_shards_share_the_queue(shards: int, tmp_path: Path) -> None:
    seen: list[int] = []
    with forge_with(*queue(30)) as forge:
        for index in range(1, shards + 1):
            ran = run(forge, tmp_path / str(index), "--sweep", "--shard", f"{index}/{shards}")
            seen += [line["number"] for line in ran.decisions]
    assert sorted(seen) == list(range(1, 31))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(
    ("path", "method"), [("/issues/3/timeline", "GET"), ("/issues/3/labels", "POST")]
)
def test_a_cancelled_job_leaves_a_whole_record(
    number: signal.Signals, path: str, method: str, tmp_path: Path
) -> None:
    """What only reads is left at once; a write under way is let finish and is recorded."""
    with forge_with(*queue(8)) as forge:
        forge.fail("call", path=path, method=method, callback=lambda: _signal_main_thread(number))
        ran = run(forge, tmp_path, "--sweep")
    assert ran.status == 1
    assert "because the job was told to end" in ran.summary
    assert ran.record["result"]["ending"] == "stopped"
    done = [entry for entry in ran.record["writes"] if entry["state"] == "done"]
    assert len(done) == len(forge.writes)
    assert (len(forge.labels(3)) > 1) is (method == "POST")
    assert forge.labels(5) == [QUEUE]


def _signal_main_thread(number: signal.Signals) -> None:
    signal.pthread_kill(threading.main_thread().ident or os.getpid(), number)


def test_a_cancelled_wait_is_left(tmp_path: Path) -> None:
    """Told to end while it waits for a limit to pass, it does not wait on."""
    from ciops.plumbing.interruption import StoppedError
    from ciops.triage.interruption import Interruption

    with Interruption() as interruption:
        timer = threading.Timer(0.1, _signal_main_thread, [signal.SIGTERM])
        timer.start()
        with pytest.raises(StoppedError), interruption.writing():
            interruption.sleep(60)
        timer.join()


def test_many_writes_are_paced(tmp_path: Path) -> None:
    with forge_with(*(issue(n, NO_STEPS) for n in range(1, 36))) as forge:
        ran = run(forge, tmp_path, "--sweep")
    assert len(forge.writes) == 70, "comments count as labels do"
    assert 50 < max(ran.waits) <= 60


def test_a_queue_label_that_the_repository_lacks(tmp_path: Path) -> None:
    with forge_with() as forge:
        ran = run(forge, tmp_path, "--sweep")
    assert ran.status == 0
    assert "The repository has no label queue: storage, so its queue is empty" in ran.said


def test_the_summary_of_a_long_sweep_shows_what_was_written(tmp_path: Path) -> None:
    with forge_with(*queue(12), issue(50, TO_DISK, state="closed")) as forge:
        ran = run(forge, tmp_path, "--sweep")
    assert "12 issues were looked at: 12 written to." in ran.summary
    assert ran.summary.count("\n### ") == 12
