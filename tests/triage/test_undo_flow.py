"""Undo: exactly what a run added goes, where nobody has built on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.github import FakeGitHub
from fakes.gitlab import FakeGitLab
from triage import test_run_gitlab as on_gitlab
from triage.small_world import (
    ELSEWHERE,
    NO_STEPS,
    QUEUE,
    TO_DISK,
    UNCLEAR,
    Ran,
    command,
    comment,
    forge_with,
    issue,
    run,
)


def undo(forge: FakeGitHub, folder: Path, *arguments: str) -> Ran:
    given = ["undo", str(folder / "run.json"), "--output", str(folder / "undo"), *arguments]
    return command(forge, folder / "undo", given)


def test_everything_that_was_added_goes(tmp_path: Path) -> None:
    others = comment("me too")
    with forge_with(
        issue(7, NO_STEPS, labels=["color: red"], comments=[others]), issue(8, ELSEWHERE)
    ) as forge:
        run(forge, tmp_path, "--issue", "7", "8")
        ran = undo(forge, tmp_path)
    assert ran.status == 0
    assert (forge.labels(7), forge.labels(8)) == ([QUEUE, "color: red"], [QUEUE])
    assert (forge.comments(7), forge.comments(8)) == (["me too"], [])
    assert "Removed `triaged-by-bot`, `needs steps`, `area: cache`, `team: app` from #7" in ran.said
    assert "Deleted the comment on #7" in ran.summary


def test_a_dry_run_says_it_and_does_nothing(tmp_path: Path) -> None:
    with forge_with(issue(7, NO_STEPS)) as forge:
        run(forge, tmp_path, "--issue", "7")
        before = len(forge.writes)
        ran = undo(forge, tmp_path, "--dry-run")
    assert (ran.status, len(forge.writes)) == (0, before)
    assert "Would remove `triaged-by-bot`" in ran.said
    assert "Would delete the comment on #7" in ran.said


def test_a_second_undo_finds_nothing(tmp_path: Path) -> None:
    with forge_with(issue(7, NO_STEPS)) as forge:
        run(forge, tmp_path, "--issue", "7")
        undo(forge, tmp_path)
        before = len(forge.writes)
        ran = undo(forge, tmp_path)
    assert (ran.status, len(forge.writes)) == (0, before)
    assert "There was nothing to take back." in ran.said


@pytest.mark.parametrize(
    ("added", "removed", "by", "kept"),
    [
        pytest.param(["color: red"], [], "alice", True, id="a person added a label"),
        pytest.param([], ["sorted"], "alice", True, id="a person took one away"),
        pytest.param(["color: red"], [], "stale[bot]", False, id="another bot added a label"),
        pytest.param([], [], "alice", False, id="nobody did anything"),
    ],
)
def test_labels_stay_where_people_have_changed_labels_since(
    added: list[str], removed: list[str], by: str, kept: bool, tmp_path: Path
) -> None:
    with forge_with(issue(7, TO_DISK)) as forge:
        run(forge, tmp_path, "--issue", "7")
        forge.person_labels(7, add=added, remove=removed, by=by)
        ran = undo(forge, tmp_path)
    assert ran.status == 0
    assert ("team: disk" in forge.labels(7)) is kept
    assert ("a person has changed labels since" in ran.said) is kept


def test_a_label_that_somebody_put_again_is_theirs(tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK)) as forge:
        run(forge, tmp_path, "--issue", "7")
        forge.person_labels(7, remove=["team: disk"], by="alice")
        forge.person_labels(7, add=["team: disk"], by="alice")
        ran = undo(forge, tmp_path)
    assert "team: disk" in forge.labels(7)
    assert "Kept `team: disk` on #7: it was not this run that put it there last" in ran.said


@pytest.mark.parametrize(
    ("by", "kept"), [("reporter", True), ("alice", True), ("stale[bot]", False)]
)
def test_a_comment_that_was_answered_stays(by: str, kept: bool, tmp_path: Path) -> None:
    with forge_with(issue(7, NO_STEPS)) as forge:
        run(forge, tmp_path, "--issue", "7")
        forge.person_comments(7, "here they are", by=by)
        ran = undo(forge, tmp_path)
    assert len(forge.comments(7)) == 1 + kept
    assert ("Kept the comment on #7: somebody has answered since" in ran.said) is kept


def test_labels_that_stood_before_are_not_in_the_record(tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK, labels=["team: disk"])) as forge:
        run(forge, tmp_path, "--issue", "7")
        undo(forge, tmp_path)
    assert forge.labels(7) == [QUEUE, "team: disk"]


def test_a_suggestion_cannot_be_taken_back(tmp_path: Path) -> None:
    with forge_with(issue(7, UNCLEAR)) as forge:
        run(forge, tmp_path, "--issue", "7", "--suggest", "low")
        ran = undo(forge, tmp_path)
    assert "Kept `team: app` on #7: a suggestion waits for a person" in ran.said
    assert forge.labels(7) == [QUEUE]


def test_an_older_run_is_not_undone_with_a_newer_record(tmp_path: Path) -> None:
    """A second run in the same folder keeps the record of the first one beside its own."""
    with forge_with(issue(7, TO_DISK), issue(8, TO_DISK)) as forge:
        run(forge, tmp_path, "--issue", "7")
        run(forge, tmp_path, "--issue", "8")
        undo(forge, tmp_path)
        assert (len(forge.labels(7)), forge.labels(8)) == (4, [QUEUE])
        earlier = next(path for path in tmp_path.glob("run-*.json"))
        ran = command(forge, tmp_path, ["undo", str(earlier), "--output", str(tmp_path / "u")])
    assert (ran.status, forge.labels(7)) == (0, [QUEUE])


def test_one_failing_issue_does_not_stop_it(tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK), issue(8, TO_DISK)) as forge:
        run(forge, tmp_path, "--issue", "7", "8")
        forge.fail(404, path=r"/issues/8$", times=None)
        ran = undo(forge, tmp_path)
    assert ran.status == 1
    assert forge.labels(7) == [QUEUE]
    assert "#8: GitHub: GET /repos/shelf/shelfd/issues/8 answered 404" in ran.said


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is not JSON"),
        ("[]", "is no record of issue-triage"),
        ('{"tool": "issue-triage"}', "has schema nothing, not 1"),
        ('{"tool": "issue-triage", "schema": 1}', "lacks or misstates"),
    ],
)
def test_what_is_no_record(content: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(content, encoding="utf-8")
    with forge_with(issue(7, TO_DISK)) as forge:
        ran = undo(forge, tmp_path)
    assert (ran.status, forge.request_count) == (2, 0)
    assert words in ran.said


def test_a_forged_record_takes_nothing_that_others_put(tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK)) as forge:
        run(forge, tmp_path, "--issue", "7")
        forge.person_labels(7, add=["color: red"], by="alice")
        record: dict[str, Any] = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
        record["writes"][-1]["labels"] = ["color: red", QUEUE]
        (tmp_path / "run.json").write_text(json.dumps(record), encoding="utf-8")
        undo(forge, tmp_path)
    assert {"color: red", QUEUE} <= set(forge.labels(7))


def test_on_gitlab(tmp_path: Path) -> None:
    with on_gitlab.forge_with(on_gitlab.issue(7, NO_STEPS)) as forge:
        on_gitlab.run(forge, tmp_path, "--issue", "7")
        ran = _undo_on_gitlab(forge, tmp_path)
        assert ran == 0
        assert on_gitlab.labels(forge, 7) == [QUEUE]
        assert on_gitlab.notes(forge, 7) == []


def _undo_on_gitlab(forge: FakeGitLab, folder: Path) -> int:
    from ciops.triage.app import main

    given = ["undo", str(folder), "--gitlab-url", forge.url, "--output", str(folder / "u")]
    return main(given, {"GITLAB_TOKEN": "any"})


def test_what_went_at_the_same_moment_is_not_called_removed(tmp_path: Path) -> None:
    with forge_with(issue(7, NO_STEPS)) as forge:
        run(forge, tmp_path, "--issue", "7")
        forge.fail(404, path=r"/issues/(7/labels/|comments/)", times=None)
        ran = undo(forge, tmp_path)
    assert ran.status == 0
    assert "Gone from #7 before it could be taken back: the comment" in ran.said
    assert "Gone from #7 before it could be taken back: `triaged-by-bot`" in ran.said
    assert "Removed" not in ran.said
    assert "Deleted" not in ran.said
