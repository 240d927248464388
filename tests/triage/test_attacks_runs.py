"""Whoever else can reach a run: a fork's files, another run, a hand-written record, odd labels."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ciops.triage.apply import missing_labels
from fakes.github import FakeGitHub
from triage import test_run_gitlab as gitlab
from triage.small_world import (
    BOT,
    NO_STEPS,
    QUEUE,
    REPO,
    SMALL,
    TO_DISK,
    Ran,
    all_labels,
    command,
    comment,
    forge_with,
    issue,
    run,
)

MARKER = "<!-- shelf: needs_distributed_reproduction -->"
OURS = "github-actions[bot]"

# --- two runs at once -----------------------------------------------------------------------


@pytest.mark.parametrize("which", [["--issue", "7"], ["--sweep"]], ids=["named", "sweep"])
def test_a_comment_made_while_the_issue_was_looked_at_is_not_repeated(
    which: list[str], tmp_path: Path
) -> None:
    with forge_with(issue(7, NO_STEPS)) as forge:

        def other_run() -> None:
            forge.person_comments(7, f"{MARKER}\nThanks", by=OURS)

        path = r"/issues/7$" if which[0] == "--issue" else r"/issues$"
        forge.fail("call", method="GET", path=path, callback=other_run)
        ran = run(forge, tmp_path, *which)
        assert ran.status == 0
        assert len(forge.comments(7)) == 1
        assert "needs steps" in forge.labels(7)


def test_two_runs_that_comment_in_the_same_moment_say_so(tmp_path: Path) -> None:
    """No service offers to comment only if none is there: what is left is seen and said."""
    with forge_with(issue(7, NO_STEPS)) as forge:

        def other_run() -> None:
            forge.person_comments(7, f"{MARKER}\nThanks", by=OURS)

        forge.fail("call", method="POST", path=r"/comments$", callback=other_run)
        ran = run(forge, tmp_path, "--issue", "7")
    assert "Another run made the same comment at the same time" in ran.summary
    assert "Another run made the same comment at the same time" in ran.said


def test_a_run_alone_says_nothing_of_another(tmp_path: Path) -> None:
    stranger = comment(f"{MARKER} as the bot writes", by="mallory")
    with forge_with(issue(7, NO_STEPS, comments=[stranger])) as forge:
        ran = run(forge, tmp_path, "--issue", "7")
        assert len(forge.comments(7)) == 2
    assert "Another run" not in ran.said


def test_the_second_look_may_fail(tmp_path: Path) -> None:
    with forge_with(issue(7, NO_STEPS)) as forge:
        forge.fail(404, method="GET", path=r"/comments$")
        ran = run(forge, tmp_path, "--issue", "7")
        assert ran.status == 0
        assert "needs steps" in forge.labels(7)


# --- a fork's policy --------------------------------------------------------------------------

PROPOSALS = {
    "pull_request": {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request"},
    "pull_request_target": {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request_target"},
    "merge request": {"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "merge_request_event"},
    "external": {"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "external_pull_request_event"},
}


@pytest.mark.parametrize("env", PROPOSALS.values(), ids=PROPOSALS)
@pytest.mark.parametrize("way", [["--issue", "7"], ["--sweep"]], ids=["named", "sweep"])
def test_a_policy_that_a_pull_request_brings_writes_nothing(
    env: dict[str, str], way: list[str], tmp_path: Path
) -> None:
    given = ["run", "--repo", REPO, "--policy", str(SMALL), "--output", str(tmp_path), *way]
    with forge_with(issue(7, TO_DISK)) as forge:
        ran = command(forge, tmp_path, [*given, "--forge", "github"], env)
        assert (ran.status, forge.request_count) == (3, 0)
    assert "may be the pull request's own" in ran.said


def test_a_policy_that_a_pull_request_brings_may_be_tried(tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK)) as forge:
        env = PROPOSALS["pull_request"] | {"GITHUB_STEP_SUMMARY": str(tmp_path / "step.md")}
        ran = run(forge, tmp_path, "--issue", "7", "--dry-run", env=env)
        assert (ran.status, forge.writes) == (0, [])


# --- records ----------------------------------------------------------------------------------


def undo(forge: FakeGitHub, folder: Path, *more: str, env: dict[str, str] | None = None) -> Ran:
    given = ["undo", str(folder / "run.json"), "--output", str(folder / "undo"), *more]
    return command(forge, folder / "undo", given, env)


@pytest.mark.parametrize(("value", "holds"), [("true", True), ("1", True), ("no", False)])
def test_the_switch_that_stops_all_writing_stops_undo(
    value: str, holds: bool, tmp_path: Path
) -> None:
    with forge_with(issue(7, NO_STEPS)) as forge:
        run(forge, tmp_path, "--issue", "7")
        before = len(forge.writes)
        ran = undo(forge, tmp_path, env={"DRY_RUN": value})
        assert ran.status == 0
        assert (len(forge.writes) == before) is holds
    assert ("Would delete" in ran.said) is holds


@pytest.mark.parametrize("env", PROPOSALS.values(), ids=PROPOSALS)
def test_a_record_that_a_pull_request_brings_undoes_nothing(
    env: dict[str, str], tmp_path: Path
) -> None:
    with forge_with(issue(7, NO_STEPS)) as forge:
        run(forge, tmp_path, "--issue", "7")
        before = len(forge.writes)
        ran = undo(forge, tmp_path, env=env)
        assert (ran.status, len(forge.writes)) == (3, before)
        assert "the record" in ran.said
        assert undo(forge, tmp_path, "--dry-run", env=env).status == 0


def tampered(path: Path, **changes: Any) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**data, **changes}), encoding="utf-8")


def test_a_job_undoes_no_other_repositorys_run(tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK)) as forge:
        run(forge, tmp_path, "--issue", "7")
        tampered(tmp_path / "run.json", repo="victim/place")
        forge.add_repository("victim/place", [issue(7, TO_DISK)])
        asked = forge.request_count
        here = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": REPO}
        ran = undo(forge, tmp_path, env=here)
        assert (ran.status, forge.request_count) == (3, asked)
    assert f'the record is of "victim/place", not of "{REPO}"' in ran.said


def test_undo_takes_the_repository_that_is_asked_for(tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK)) as forge:
        run(forge, tmp_path, "--issue", "7")
        assert undo(forge, tmp_path, "--repo", "shelf/other").status == 3
        assert "team: disk" in forge.labels(7)
        elsewhere = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "shelf/other"}
        assert undo(forge, tmp_path, "--repo", REPO.upper(), env=elsewhere).status == 0
        assert forge.labels(7) == [QUEUE]


RECORDS: dict[str, Callable[[dict[str, Any]], object]] = {
    "no list": lambda record: record.update(writes=7),
    "a list of numbers": lambda record: record.update(writes=[1, 2]),
    "an issue that is no number": lambda record: record["writes"][0].update(issue="7/../8"),
    "labels that are no list": lambda record: record["writes"][-1].update(labels="team: disk"),
    "a label that is no text": lambda record: record["writes"][-1].update(labels=[["x"]]),
    "a kind of its own": lambda record: record["writes"][0].update(kind="close"),
    "another forge": lambda record: record.update(forge="evil"),
    "a repository that climbs": lambda record: record.update(repo="../../user"),
    "a repository with a query": lambda record: record.update(repo="o/r?x=1"),
    "an id that is no number": lambda record: record["writes"][0].update(id="1"),
    "another schema": lambda record: record.update(schema=99),
    "another tool": lambda record: record.update(tool="rm"),
}


@pytest.mark.parametrize("change", RECORDS.values(), ids=RECORDS)
def test_a_tampered_record_is_refused_in_words(
    change: Callable[[dict[str, Any]], object], tmp_path: Path
) -> None:
    with forge_with(issue(7, NO_STEPS)) as forge:
        run(forge, tmp_path, "--issue", "7")
        path = tmp_path / "run.json"
        record = json.loads(path.read_text(encoding="utf-8"))
        change(record)
        path.write_text(json.dumps(record), encoding="utf-8")
        before = (forge.labels(7), forge.comments(7))
        ran = undo(forge, tmp_path)
        assert (forge.labels(7), forge.comments(7)) == before
    assert ran.status == 2
    assert "this is a bug" not in ran.said


CONTENTS = {
    "deep": b"[" * 100_000,
    "a huge number": b'{"tool": ' + b"9" * 10_000 + b"}",
    "not UTF-8": b'{"tool": "\xff"}',
    "empty": b"",
    "a list": b"[]",
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_a_record_that_is_none_is_refused_in_words(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(content)
    with forge_with() as forge:
        for given in (["undo", str(tmp_path)], ["merge", str(tmp_path)]):
            ran = command(forge, tmp_path, [*given, "--output", str(tmp_path / "o")])
            assert (ran.status, forge.request_count) == (2, 0)
            assert "run.json" in ran.said
            assert "this is a bug" not in ran.said


SHARDS: dict[str, tuple[str, Any]] = {
    "no shard": ("shard", "first"),
    "a shard beyond all": ("shard", "9/2"),
    "calls that are no number": ("result", {"calls": "many", "status": 0}),
    "words that are none": ("result", {"told": {"a": 1}, "status": 0}),
}


@pytest.mark.parametrize(("key", "value"), SHARDS.values(), ids=SHARDS)
def test_a_tampered_shard_is_no_bug(key: str, value: Any, tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK)) as forge:
        run(forge, tmp_path / "parts" / "1", "--sweep")
        tampered(tmp_path / "parts" / "1" / "run.json", **{key: value})
        out = str(tmp_path / "out")
        ran = command(forge, tmp_path / "out", ["merge", str(tmp_path / "parts"), "--output", out])
    assert ran.status in (0, 2)
    assert "this is a bug" not in ran.said


def test_merge_takes_no_file_of_the_machine_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text('{"outcome": "written", "key": "s3cret"}\n', encoding="utf-8")
    with forge_with(issue(7, TO_DISK)) as forge:
        run(forge, tmp_path / "parts" / "1", "--sweep")
        for name in ("issues.md", "decisions.jsonl"):
            (tmp_path / "parts" / "1" / name).unlink()
            (tmp_path / "parts" / "1" / name).symlink_to(tmp_path / "secret")
        out = tmp_path / "out"
        command(forge, out, ["merge", str(tmp_path / "parts"), "--output", str(out)])
    for path in out.iterdir():
        assert "s3cret" not in path.read_text(encoding="utf-8"), path.name


def test_lines_of_a_shard_are_data(tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK)) as forge:
        run(forge, tmp_path / "parts" / "1", "--sweep")
        lines = tmp_path / "parts" / "1" / "decisions.jsonl"
        hostile = {"outcome": "failed", "number": "1 @team", "error": "<b>@team</b> ::error::x"}
        lines.write_text(json.dumps(hostile) + "\n" + "[" * 100_000 + "\n", encoding="utf-8")
        out = tmp_path / "out"
        ran = command(forge, out, ["merge", str(tmp_path / "parts"), "--output", str(out)])
    assert ran.status == 0
    assert "@team" not in ran.summary
    assert "<b>" not in ran.summary


# --- labels -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("there", "lacks"),
    [
        ("team: disk", False),
        ("Team: DISK", False),
        ("team: diſk", True),
        ("team: dis\u212a", True),
        ("tеam: disk", True),
        ("team: disk ", True),
        (" team: disk", True),
        ("team:  disk", True),
        ("team: disk\u200b", True),
        ("team:\u00a0disk", True),
    ],
)
def test_a_label_that_only_looks_alike_is_missing(there: str, lacks: bool) -> None:
    """To take it for the one that is meant would make the service create a second one."""
    assert missing_labels(frozenset({"team: disk"}), frozenset({there})) == (
        ["team: disk"] if lacks else []
    )


@pytest.mark.parametrize("label", ["tеam: disk", "team: diſk", "team: disk\u200b", "x" * 51])
def test_an_odd_label_on_an_issue_changes_nothing(label: str, tmp_path: Path) -> None:
    labels = [*all_labels(), label]
    with forge_with(issue(7, TO_DISK, labels=[label]), labels=labels) as forge:
        assert run(forge, tmp_path, "--issue", "7").status == 0
        assert label in forge.labels(7)
        assert forge.created_labels == []


@pytest.mark.parametrize("queue", ["queue: storage2", "queue: storаge", "xqueue: storage", "queue"])
def test_a_queue_is_matched_as_a_whole(queue: str, tmp_path: Path) -> None:
    given = {**issue(7, TO_DISK)["issue"], "labels": [queue]}
    with forge_with({"issue": given}, labels=[*all_labels(), queue]) as forge:
        ran = run(forge, tmp_path, "--issue", "7")
        assert forge.writes == []
    assert "it is not in the queue `queue: storage`" in ran.said


# --- GitLab: accounts named like bots ---------------------------------------------------------


@pytest.mark.parametrize(
    ("login", "members", "suppressed"),
    [
        pytest.param(
            "project_9_bot_0a1b", {"project_9_bot_0a1b": 30}, True, id="the project's own"
        ),
        pytest.param("project_9_bot_0a1b", {}, False, id="a stranger called so"),
        pytest.param("group_1_bot", {}, False, id="a stranger called like a group's"),
    ],
)
def test_an_account_that_is_called_like_a_bot_is_one_where_it_is_a_member(
    login: str, members: dict[str, int], suppressed: bool, tmp_path: Path
) -> None:
    asked = {"body": "how can we reproduce this?", "author": login}
    with gitlab.forge_with(gitlab.issue(7, NO_STEPS, notes=[asked]), members=members) as forge:
        ran = gitlab.run(forge, tmp_path, "--issue", "7")
        made = [note for note in gitlab.notes(forge, 7) if MARKER in note]
    assert ran.status == 0
    assert (made == []) is suppressed


def test_a_comment_of_the_bot_by_name_is_not_forged_on_github(tmp_path: Path) -> None:
    with forge_with(issue(7, NO_STEPS, comments=[comment(MARKER, by="shelf-bot")])) as forge:
        run(forge, tmp_path, "--issue", "7")
        assert len(forge.comments(7)) == 2
    with forge_with(issue(7, NO_STEPS, comments=[comment(MARKER, by=BOT)])) as forge:
        run(forge, tmp_path, "--issue", "7")
        assert len(forge.comments(7)) == 1
