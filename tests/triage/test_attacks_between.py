"""What others do between the moment when a run reads an issue and the one when it writes to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes.github import FakeGitHub
from triage import test_run_gitlab as gitlab
from triage.small_world import (
    NO_STEPS,
    QUEUE,
    REPO,
    SMALL,
    TO_DISK,
    all_labels,
    comment,
    forge_with,
    issue,
    run,
)

# --- the issue itself -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "written"),
    [
        pytest.param(["closed"], False, id="closed"),
        pytest.param(["locked"], False, id="locked"),
        pytest.param(["closed", "reopened"], True, id="closed and opened again"),
        pytest.param(["locked", "unlocked"], True, id="locked and unlocked"),
        pytest.param(["locked", "closed", "reopened"], False, id="locked, closed, opened again"),
        pytest.param([], True, id="left alone"),
    ],
)
def test_a_sweep_writes_to_nothing_that_was_closed_or_locked_meanwhile(
    events: list[str], written: bool, tmp_path: Path
) -> None:
    with forge_with(issue(7, NO_STEPS), issue(8, TO_DISK)) as forge:

        def meanwhile() -> None:
            for event in events:
                forge.person_sets(7, event)

        forge.fail("call", method="GET", path=r"/issues$", callback=meanwhile)
        ran = run(forge, tmp_path, "--sweep")
        assert (ran.status, bool(forge.comments(7))) == (0, written)
        assert ("needs steps" in forge.labels(7)) is written
        assert "team: disk" in forge.labels(8)


@pytest.mark.parametrize("event", ["transferred", "converted_to_discussion"])
def test_a_sweep_writes_to_nothing_that_left_the_repository_meanwhile(
    event: str, tmp_path: Path
) -> None:
    left = {"event": event, "actor": "alice", "created_at": "2099-01-01T00:00:00Z"}
    with forge_with(issue(7, NO_STEPS, timeline=[left])) as forge:
        assert run(forge, tmp_path, "--sweep").status == 0
        assert forge.writes == []


def test_a_closing_of_long_ago_closes_nothing(tmp_path: Path) -> None:
    old = {"event": "closed", "actor": "alice", "created_at": "2019-01-01T00:00:00Z"}
    reopened = issue(7, NO_STEPS, timeline=[old], updated_at="2024-01-01T00:00:00Z")
    with forge_with(reopened) as forge:
        run(forge, tmp_path, "--sweep")
        assert len(forge.comments(7)) == 1


@pytest.mark.parametrize(
    ("change", "written"),
    [
        pytest.param({"state": "closed"}, [], id="closed"),
        pytest.param({"discussion_locked": True}, [], id="locked"),
        pytest.param({"labels": []}, [], id="out of the queue"),
        pytest.param({"title": TO_DISK["title"]}, ["team: disk"], id="another title"),
    ],
)
def test_on_gitlab_an_issue_is_read_again_before_a_sweep_writes_to_it(
    change: dict[str, Any], written: list[str], tmp_path: Path
) -> None:
    """Its label events tell of labels alone."""
    with gitlab.forge_with(gitlab.issue(7, NO_STEPS)) as forge:

        def meanwhile() -> None:
            forge.project(gitlab.PROJECT).issues[7].update(change)

        forge.fail("call", method="GET", path=r"/issues$", callback=meanwhile)
        ran = gitlab.run(forge, tmp_path, "--sweep")
        assert ran.status == 0
        assert [name for name in gitlab.labels(forge, 7) if name.startswith("team")] == written


@pytest.mark.parametrize("part", ["comments", "timeline"])
def test_nothing_of_another_repository_is_read_for_an_issue_that_went_there(
    part: str, tmp_path: Path
) -> None:
    """A list may still hold it; what it consists of is there by now, and is not followed."""
    talk = [comment("hm")]
    with forge_with(issue(7, NO_STEPS, comments=talk), issue(8, TO_DISK)) as forge:
        there = {"Location": f"{forge.url}/repos/{REPO}/issues/8/{part}"}
        forge.fail("301", path=f"/issues/7/{part}$", headers=there)
        ran = run(forge, tmp_path, "--sweep")
        assert ran.status == 1
        followed = [asked.path for asked in forge.requests if asked.path.endswith(f"8/{part}")]
        assert len(followed) == (part == "timeline")  # read once, for the other issue
        assert [write.path for write in forge.writes] == [f"/repos/{REPO}/issues/8/labels"]
    assert "#7: GitHub: GET " in ran.said
    assert "it has moved to" in ran.said


# --- a comment like the bot's -----------------------------------------------------------------


def own_words(folder: Path) -> str:
    """What the bot would say; anybody can read it on another issue."""
    with forge_with(issue(7, NO_STEPS)) as forge:
        run(forge, folder, "--issue", "7")
        return forge.comments(7)[0]


@pytest.mark.parametrize("fault", ["500", "reset", "429", "cut"])
def test_a_copy_by_a_stranger_is_not_taken_for_what_was_sent(fault: str, tmp_path: Path) -> None:
    """When an answer is lost, the run looks whether its comment is there: its own."""
    copy = comment(own_words(tmp_path / "other"), by="mallory")
    with forge_with(issue(7, NO_STEPS, comments=[copy])) as forge:
        forge.fail(fault, method="POST", path=r"/comments$")
        ran = run(forge, tmp_path / "own", "--issue", "7")
        assert (ran.status, len(forge.comments(7))) == (0, 2)
        assert ran.record["writes"][1]["id"] == forge.repository.comments[7][1]["id"]


@pytest.mark.parametrize("fault", ["500", "reset", "cut"])
def test_on_gitlab_neither(fault: str, tmp_path: Path) -> None:
    with gitlab.forge_with(gitlab.issue(7, NO_STEPS)) as forge:
        gitlab.run(forge, tmp_path / "other", "--issue", "7")
        (words,) = gitlab.notes(forge, 7)
    copy = [{"body": words, "author": "mallory"}]
    with gitlab.forge_with(gitlab.issue(7, NO_STEPS, notes=copy)) as forge:
        forge.fail(fault, method="POST", path=r"/notes$")
        assert gitlab.run(forge, tmp_path / "own", "--issue", "7").status == 0
        assert len(gitlab.notes(forge, 7)) == 2


# --- labels -----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [["--sweep"], ["--issue", "1", "2", "3", "4"]], ids=str)
def test_a_label_renamed_during_a_run_is_made_anew_once_at_most(
    way: list[str], tmp_path: Path
) -> None:
    with forge_with(*(issue(number, NO_STEPS) for number in range(1, 5))) as forge:

        def meanwhile() -> None:
            forge.person_renames_label("needs steps", "needs steps, please")

        forge.fail("call", method="POST", path=r"/issues/2/labels$", callback=meanwhile)
        ran = run(forge, tmp_path, *way)
        assert ran.status == 3
        assert [bool(forge.comments(number)) for number in range(1, 5)] == [True] * 3 + [False]
        assert forge.labels(4) == [QUEUE]
    assert 'label "needs steps" was renamed or deleted during the run' in ran.said
    assert "Delete the new one" in ran.summary


def dropping(forge: FakeGitHub) -> None:
    """The labels vanish as soon as they are added: as where an account may not label."""
    forge.put_label = lambda *_: None  # type: ignore[method-assign]


def test_labels_that_the_service_quietly_drops_are_an_error(tmp_path: Path) -> None:
    with forge_with(*(issue(number, NO_STEPS) for number in range(1, 5))) as forge:
        dropping(forge)
        ran = run(forge, tmp_path, "--sweep")
        assert ran.status == 4
        assert sum(len(forge.comments(number)) for number in range(1, 5)) == 1
    assert "Check that the token's account may label issues" in ran.said


@pytest.mark.parametrize(("others", "fits"), [(95, True), (96, False), (99, False)])
def test_labels_that_an_issue_has_no_room_for_are_refused_before_the_comment(
    others: int, fits: bool, tmp_path: Path
) -> None:
    many = [f"other {number}" for number in range(others)]
    with forge_with(issue(7, NO_STEPS, labels=many)) as forge:
        ran = run(forge, tmp_path, "--issue", "7")
        assert ran.status == (0 if fits else 3)
        assert (len(forge.comments(7)), len(forge.labels(7))) == (
            (1, 100) if fits else (0, others + 1)
        )


SCOPED = {
    "beside another of its scope": (["team::other"], []),
    "beside itself": (["team::app"], ["team::app"]),
    "in an empty scope": ([], ["team::app"]),
}


@pytest.mark.parametrize(("there", "after"), SCOPED.values(), ids=SCOPED)
def test_on_gitlab_a_scoped_label_is_refused_before_anything_is_written(
    there: list[str], after: list[str], tmp_path: Path
) -> None:
    """A comment that asks for something, and no label to show for it, would be half of a plan."""
    text = SMALL.read_text(encoding="utf-8").replace("team: ", "team::")
    (tmp_path / "policy.yml").write_text(text, encoding="utf-8")
    known = [name.replace("team: ", "team::") for name in all_labels()]
    labels = [*known, QUEUE, "team::other"]
    with gitlab.forge_with(gitlab.issue(7, NO_STEPS, labels=there), labels=labels) as forge:
        ran = gitlab.run(forge, tmp_path, "--policy", str(tmp_path / "policy.yml"), "--issue", "7")
        refused = there == ["team::other"]
        assert ran.status == (3 if refused else 0)
        assert (forge.writes == []) is refused
        assert [name for name in gitlab.labels(forge, 7) if name in after] == after
        assert ('"team::app" would replace "team::other"' in ran.said) is refused
