"""Killed at any request, or failed at any request, and run again: the same end.

The queue is small but holds every kind of write. `SIGKILL` comes when the k-th request has been
applied and its answer is not yet sent, for every k of an undisturbed run.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ciops.triage.run_file import read_run_file
from fakes.github import FakeGitHub
from triage.small_world import (
    ELSEWHERE,
    NO_STEPS,
    ROOT,
    TO_APP,
    TO_DISK,
    URGENT,
    command,
    comment,
    forge_with,
    issue,
    run,
    small_policy,
)
from triage.sweep_process import sweep

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext

NUMBERS = (1, 2, 3, 4, 5)
FAULTS = (
    "429",
    "500",
    "502",
    "503",
    "reset",
    "reset-after",
    "cut",
    "badjson",
    "empty",
    "secondary",
)

State = list[tuple[list[str], list[str]]]


def small_queue() -> FakeGitHub:
    return forge_with(
        issue(1, TO_DISK),
        issue(2, NO_STEPS, comments=[comment("me too")]),
        issue(3, ELSEWHERE),
        issue(4, URGENT),
        issue(5, TO_APP, labels=["team: app", "triaged-by-bot"]),
    )


def state(forge: FakeGitHub) -> State:
    return [(sorted(forge.labels(number)), forge.comments(number)) for number in NUMBERS]


@cache
def undisturbed(folder: Path) -> tuple[State, int]:
    """What an undisturbed sweep leaves, and how many requests it takes."""
    with small_queue() as forge:
        run(forge, folder, "--sweep")
        return state(forge), forge.request_count


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[State, int]:
    return undisturbed(tmp_path_factory.mktemp("undisturbed"))


@pytest.fixture(scope="session")
def starter() -> Iterator[ForkServerContext]:
    """Starts processes that have everything loaded, from one without threads or sockets."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["triage.sweep_process"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "scripts"), str(ROOT / "tests")]))
        yield context


def start_to_be_killed(
    starter: ForkServerContext, forge: FakeGitHub, folder: Path, **when: Any
) -> multiprocessing.process.BaseProcess:
    """A sweep in a process of its own that is killed at a request."""
    process = starter.Process(target=sweep, args=(forge.url, str(folder)))
    forge.fail("call", callback=lambda: os.kill(process.pid or 0, signal.SIGKILL), **when)
    process.start()
    process.join(30)
    assert process.exitcode == -signal.SIGKILL, when
    return process


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_killed_at_any_request_and_run_again(
    whole: tuple[State, int], starter: ForkServerContext, tmp_path: Path
) -> None:
    expected, requests = whole
    for k in range(1, requests + 1):
        folder = tmp_path / str(k)
        with small_queue() as forge:
            start_to_be_killed(starter, forge, folder, at=k)
            _check_what_it_left(folder, forge, k)
            again = run(forge, folder, "--sweep")
            assert (again.status, state(forge)) == (0, expected), f"killed at request {k}"


def _check_what_it_left(folder: Path, forge: FakeGitHub, k: int) -> None:
    """Whole files, and in the record every write that happened."""
    record = folder / "run.json"
    if not record.exists():
        assert forge.writes == [], f"request {k}"
        return
    sent = [entry for entry in read_run_file(record).entries if entry.state == "sent"]
    assert len(sent) >= len(forge.writes), f"request {k}"
    for line in (folder / "decisions.jsonl").read_text(encoding="utf-8").splitlines():
        json.loads(line)


@pytest.mark.parametrize("how", FAULTS)
def test_a_fault_at_any_request_changes_nothing(
    how: str, whole: tuple[State, int], tmp_path: Path
) -> None:
    """Retried, looked after, or named: then the next run makes it good."""
    expected, requests = whole
    for k in range(1, requests + 1):
        with small_queue() as forge:
            fault = forge.fail(how, at=k, retry_after=3 if how == "429" else None)
            first = run(forge, tmp_path / f"{k}", "--sweep")
            if first.status:
                assert fault.fired == 1
                assert "GitHub" in first.said
            again = run(forge, tmp_path / f"{k}", "--sweep")
            assert (again.status, state(forge)) == (0, expected), f"{how} at request {k}"


@pytest.mark.parametrize("how", ["500", "reset", "badjson"])
def test_a_fault_that_stays_is_named(how: str, whole: tuple[State, int], tmp_path: Path) -> None:
    expected, requests = whole
    for k in range(1, requests + 1, 3):
        with small_queue() as forge:
            fault = forge.fail(how, at=k, times=6)
            first = run(forge, tmp_path / f"{k}", "--sweep")
            assert (first.status in (1, 4)) is (fault.fired > 0), f"{how} at request {k}"
            again = run(forge, tmp_path / f"{k}", "--sweep")
            if again.status:  # the fault outlived the first run
                again = run(forge, tmp_path / f"{k}", "--sweep")
            assert (again.status, state(forge)) == (0, expected), f"{how} at request {k}"


def test_undo_of_a_killed_run_takes_back_what_it_may_have_done(
    starter: ForkServerContext, tmp_path: Path
) -> None:
    """The comment of issue 2 was posted, but its id was never heard. A forged one stays."""
    with small_queue() as forge:
        marker = small_policy().comments["needs_distributed_reproduction"].marker
        forge.person_comments(2, f"{marker} it is me, the bot", by="mallory")
        before = state(forge)
        start_to_be_killed(starter, forge, tmp_path, method="POST", path=r"/issues/2/comments$")
        assert len(forge.comments(2)) == 3
        undone = command(forge, tmp_path, ["undo", str(tmp_path / "run.json")])
        assert (undone.status, state(forge)) == (0, before)
