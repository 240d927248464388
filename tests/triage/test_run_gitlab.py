"""The same flow on a fake GitLab: notes, added labels, label events, members, quick actions."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from ciops.triage import app, run_command
from fakes.gitlab import FakeGitLab
from triage.small_world import (
    ELSEWHERE,
    NO_STEPS,
    QUEUE,
    SMALL,
    TO_APP,
    TO_DISK,
    UNCLEAR,
    Hurried,
    Ran,
    all_labels,
)

PROJECT = "shelf/shelfd"
MEMBER = "GET /projects/{id}/members/all/{user_id}"


def issue(iid: int, text: Mapping[str, str], **fields: Any) -> dict[str, Any]:
    labels = [QUEUE, *fields.pop("labels", ())]
    words = {"title": text["title"], "description": text["body"]}
    return {"iid": iid, "author": "reporter", "labels": labels, **words, **fields}


def forge_with(*issues: Mapping[str, Any], **project: Any) -> FakeGitLab:
    given = {"labels": [*all_labels(), QUEUE], **project}
    return FakeGitLab(projects=[{"id": 9, "path": PROJECT, "issues": issues, **given}])


def run(forge: FakeGitLab, folder: Path, *arguments: str, env: Mapping[str, str] = {}) -> Ran:
    given = ["--repo", PROJECT, "--policy", str(SMALL), "--output", str(folder), *arguments]
    place = ["--forge", "gitlab", "--gitlab-url", forge.url]
    out, hurried = io.StringIO(), Hurried()
    commands = {"run": lambda arguments, env: run_command.main(arguments, env, hurried)}
    with redirect_stdout(out), redirect_stderr(out):
        environ = {"GITLAB_TOKEN": "secret-token-of-the-test", **env}
        status = app.main(["run", *given, *place], environ, {**app.COMMANDS, **commands})
    return Ran(status, out.getvalue(), folder, tuple(hurried.waits))


def labels(forge: FakeGitLab, iid: int) -> list[str]:
    found: list[str] = forge.project(PROJECT).issues[iid]["labels"]
    return found


def notes(forge: FakeGitLab, iid: int) -> list[str]:
    return [note["body"] for note in forge.project(PROJECT).notes[iid] if not note["system"]]


def test_labels_are_added_and_a_note_asks(tmp_path: Path) -> None:
    with forge_with(issue(7, NO_STEPS)) as forge:
        ran = run(forge, tmp_path, "--issue", "7")
        bodies = [write.body for write in forge.writes]
    assert ran.status == 0
    assert labels(forge, 7) == [QUEUE, "team: app", "area: cache", "needs steps", "triaged-by-bot"]
    assert bodies[1] == {"add_labels": "team: app,area: cache,needs steps,triaged-by-bot"}
    assert notes(forge, 7)[0].startswith("<!-- shelf: needs_distributed_reproduction -->")
    assert f"{forge.url}/{PROJECT}/-/issues/7#note_" in ran.said
    assert (forge.created_labels, forge.quick_actions) == ([], [])
    assert forge.seen_schemes == {"Authorization: Bearer"}


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    with forge_with(issue(7, NO_STEPS), issue(8, ELSEWHERE)) as forge:
        run(forge, tmp_path, "--issue", "7", "8")
        before = len(forge.writes)
        run(forge, tmp_path, "--issue", "7", "8")
    assert len(forge.writes) == before


def test_a_sweep_finds_the_queue_in_the_projects_spelling(tmp_path: Path) -> None:
    """GitLab tells labels apart by case; a policy does not."""
    shouted = [{**issue(7, TO_DISK), "labels": [QUEUE.upper()]}]
    with forge_with(*shouted, labels=[*all_labels(), QUEUE.upper()]) as forge:
        ran = run(forge, tmp_path, "--sweep")
    assert ran.status == 0
    assert "team: disk" in labels(forge, 7)


@pytest.mark.parametrize(
    ("level", "suppressed"),
    [
        pytest.param(None, False, id="a stranger"),
        pytest.param(10, False, id="a guest"),
        pytest.param(20, True, id="a reporter of the project"),
        pytest.param(30, True, id="a developer"),
    ],
)
def test_a_maintainers_words_count_by_access_level(
    level: int | None, suppressed: bool, tmp_path: Path
) -> None:
    members = {} if level is None else {"carol": level}
    asked = {"body": "how can we reproduce this?", "author": "carol"}
    with forge_with(issue(7, NO_STEPS, notes=[asked]), members=members) as forge:
        ran = run(forge, tmp_path, "--issue", "7")
        lookups = forge.calls[MEMBER]
    assert ran.status == 0
    assert len(notes(forge, 7)) == (1 if suppressed else 2)
    assert "needs steps" in labels(forge, 7)
    assert lookups == 1


def test_members_are_looked_up_once_and_only_where_it_matters(tmp_path: Path) -> None:
    by_carol = [{"body": "hm", "author": "carol"}] * 3
    closed = issue(8, TO_APP, notes=by_carol, state="closed")
    done = issue(9, TO_APP, notes=by_carol, labels=["team: app", "triaged-by-bot"])
    with forge_with(issue(7, TO_APP, notes=by_carol), closed, done) as forge:
        run(forge, tmp_path, "--sweep")
        assert forge.calls[MEMBER] == 1
    with forge_with(closed, done) as forge:
        run(forge, tmp_path, "--sweep")
        assert forge.calls[MEMBER] == 0


def test_the_webhook_names_the_issue(tmp_path: Path) -> None:
    payload = {
        "object_kind": "issue",
        "project": {"id": 9, "path_with_namespace": PROJECT},
        "object_attributes": {"iid": 7, "state": "opened"},
        "labels": [{"title": QUEUE}],
    }
    file = tmp_path / "payload"
    file.write_text(json.dumps(payload), encoding="utf-8")
    env = {"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "trigger", "TRIGGER_PAYLOAD": str(file)}
    with forge_with(issue(7, TO_DISK), issue(8, TO_DISK)) as forge:
        ran = run(forge, tmp_path, env=env)
    assert ran.status == 0
    assert "team: disk" in labels(forge, 7)
    assert labels(forge, 8) == [QUEUE]
    assert "RUN_FILE=" in (tmp_path / "outputs.env").read_text(encoding="utf-8")


def test_a_schedule_sweeps(tmp_path: Path) -> None:
    env = {"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "schedule"}
    with forge_with(issue(7, TO_DISK), issue(8, TO_APP)) as forge:
        ran = run(forge, tmp_path, env=env)
    assert ran.status == 0
    assert "team: disk" in labels(forge, 7)
    assert "team: app" in labels(forge, 8)


def test_no_line_of_an_issue_becomes_a_quick_action(tmp_path: Path) -> None:
    hostile = {"title": "/close it fails on my toaster", "body": "/label ~urgent\n/close"}
    with forge_with(issue(7, hostile)) as forge:
        run(forge, tmp_path, "--issue", "7")
        said = notes(forge, 7)
    assert len(said) == 1
    assert forge.quick_actions == []
    assert forge.project(PROJECT).issues[7]["state"] == "opened"


def test_suggestions_are_left_out(tmp_path: Path) -> None:
    with forge_with(issue(7, UNCLEAR)) as forge:
        ran = run(forge, tmp_path, "--issue", "7", "--suggest", "low")
    assert "team: app" not in labels(forge, 7)
    assert "Left out, since the service stores no suggestions: `team: app`" in ran.summary


def test_a_missing_label_is_never_created(tmp_path: Path) -> None:
    some = [name for name in all_labels() if name != "team: disk"]
    with forge_with(issue(7, TO_DISK), labels=[*some, QUEUE]) as forge:
        ran = run(forge, tmp_path, "--issue", "7")
    assert (ran.status, forge.writes, forge.created_labels) == (3, [], [])


def test_a_label_that_was_changed_meanwhile(tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK)) as forge:
        forge.fail(
            "call",
            method="GET",
            path=r"/issues/7$",
            callback=lambda: forge.person_labels(PROJECT, 7, add=["team: net"]),
        )
        run(forge, tmp_path, "--issue", "7")
    assert labels(forge, 7) == [QUEUE, "team: net", "triaged-by-bot"]
