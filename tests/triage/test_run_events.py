"""Which issues an event is about, and what an event costs that asks for nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ciops.errors import RefusedError, UsageError
from ciops.plumbing.ci_host import Event
from ciops.triage.events import target_of
from triage.small_world import QUEUE, REPO, TO_APP, TO_DISK, forge_with, issue, run

HERE = {"repository": {"full_name": REPO}}
GITLAB_HERE = {"project": {"id": 9, "path_with_namespace": REPO}}


def github(action: str = "labeled", **fields: Any) -> dict[str, Any]:
    return {"action": action, "issue": {"number": 7, "state": "open", **fields}, **HERE}


def gitlab(kind: str, **fields: Any) -> dict[str, Any]:
    return {"object_kind": kind, **GITLAB_HERE, **fields}


@pytest.mark.parametrize(
    ("name", "payload", "issues", "sweep"),
    [
        pytest.param("issues", github(), (7,), False, id="issue"),
        pytest.param("issue_comment", {**github(), "comment": {}}, (7,), False, id="comment"),
        pytest.param("workflow_dispatch", HERE, (), True, id="dispatch without inputs"),
        pytest.param(
            "workflow_dispatch", {"inputs": {"issue": ""}, **HERE}, (), True, id="dispatch, empty"
        ),
        pytest.param(
            "workflow_dispatch",
            {"inputs": {"issue": "#12, 13"}, **HERE},
            (12, 13),
            False,
            id="dispatch with issues",
        ),
        pytest.param("schedule", {"schedule": "0 4 * * *", **HERE}, (), True, id="schedule"),
        pytest.param("schedule", {}, (), True, id="schedule without a payload"),
        pytest.param(
            "issue", gitlab("issue", object_attributes={"iid": 7}), (7,), False, id="GitLab issue"
        ),
        pytest.param(
            "note",
            gitlab("note", object_attributes={"noteable_type": "Issue"}, issue={"iid": 7}),
            (7,),
            False,
            id="GitLab note",
        ),
    ],
)
def test_targets(name: str, payload: dict[str, Any], issues: tuple[int, ...], sweep: bool) -> None:
    target = target_of(Event(name, payload), REPO)
    assert (target.issues, target.sweep, target.reason) == (issues, sweep, "")


@pytest.mark.parametrize(
    ("name", "payload", "reason"),
    [
        pytest.param("issues", github(pull_request={}), "pull_request", id="pull request"),
        pytest.param("issues", github(state="closed"), "closed", id="closed"),
        pytest.param("issues", github(locked=True), "locked", id="locked"),
        pytest.param("issues", github("deleted"), "gone", id="deleted"),
        pytest.param("issues", github("transferred"), "gone", id="transferred"),
        pytest.param(
            "issue_comment", {**github("deleted"), "comment": {}}, "", id="a comment was deleted"
        ),
        pytest.param(
            "note",
            gitlab("note", object_attributes={"noteable_type": "MergeRequest"}),
            "not_an_issue",
            id="GitLab note on a merge request",
        ),
        pytest.param(
            "issue",
            gitlab("issue", object_attributes={"iid": 7, "state": "closed"}),
            "closed",
            id="GitLab closed",
        ),
    ],
)
def test_reasons_to_do_nothing(name: str, payload: dict[str, Any], reason: str) -> None:
    assert target_of(Event(name, payload), REPO).reason == reason


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (None, "nothing says which issues"),
        (Event("push", {}), 'event "push" is not about issues'),
        (Event("issues", {"issue": {}}), r"no number of an issue \(issue.number\)"),
        (Event("issues", {"issue": {"number": True}}), "no number of an issue"),
        (Event("issues", {"issue": {"number": -7}}), "no number of an issue"),
        (Event("issues", {"issue": "7"}), "no number of an issue"),
        (Event("workflow_dispatch", {"inputs": {"issue": "7; rm -rf"}}), "not the number"),
        (Event("issue", {"object_attributes": []}), r"no number of an issue \(iid\)"),
    ],
)
def test_unusable_events(event: Event | None, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        target_of(event, REPO)


@pytest.mark.parametrize(
    ("payload", "repo", "foreign"),
    [
        (HERE, REPO, False),
        (HERE, REPO.upper(), False),
        ({"repository": {"full_name": "shelf/other"}}, REPO, True),
        ({"repository": {"full_name": "evil/shelfd"}}, REPO, True),
        (GITLAB_HERE, REPO, False),
        (GITLAB_HERE, "9", False),
        (GITLAB_HERE, "8", True),
        ({"project": {"id": 8, "path_with_namespace": "evil/shelfd"}}, REPO, True),
    ],
)
def test_an_event_acts_on_its_own_repository_alone(
    payload: dict[str, Any], repo: str, foreign: bool
) -> None:
    event = Event("schedule", payload)
    if not foreign:
        assert target_of(event, repo).sweep
        return
    with pytest.raises(RefusedError, match="the job is for"):
        target_of(event, repo)


def env_of(name: str, payload: Mapping[str, Any], folder: Path) -> dict[str, str]:
    path = folder / "event.json"
    path.write_text(json.dumps(payload), encoding="utf-8")
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": name,
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_STEP_SUMMARY": str(folder / "step.md"),
    }


def queued(**fields: Any) -> dict[str, Any]:
    return github(title="PlatterError", labels=[{"name": QUEUE}], **fields)


def test_an_issue_event_is_triaged(tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK), issue(8, TO_DISK)) as forge:
        ran = run(forge, tmp_path, env=env_of("issues", queued(), tmp_path))
    assert ran.status == 0
    assert "team: disk" in forge.labels(7)
    assert forge.labels(8) == [QUEUE]
    assert "PlatterError on start" in (tmp_path / "step.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["workflow_dispatch", "schedule"])
def test_dispatch_and_schedule_sweep(name: str, tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK), issue(8, TO_APP)) as forge:
        ran = run(forge, tmp_path, env=env_of(name, HERE, tmp_path))
    assert ran.status == 0
    assert "team: disk" in forge.labels(7)
    assert "team: app" in forge.labels(8)


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        pytest.param(queued(pull_request={}), "it is a pull request", id="pull request"),
        pytest.param(queued(state="closed"), "it is closed", id="closed"),
        pytest.param(github(title="x", labels=[]), "it is not in the queue", id="other queue"),
    ],
)
def test_an_event_that_asks_for_nothing_costs_no_call(
    payload: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with forge_with(issue(7, TO_DISK)) as forge:
        ran = run(forge, tmp_path, env=env_of("issues", payload, tmp_path))
    assert (ran.status, forge.request_count) == (0, 0)
    assert words in ran.said
    assert words in (tmp_path / "step.md").read_text(encoding="utf-8")


def test_inputs_of_an_action_are_options(tmp_path: Path) -> None:
    env = {"INPUT_ISSUE": "#7, 8", "INPUT_DRY_RUN": "true", "INPUT_SWEEP": "false"}
    with forge_with(issue(7, TO_DISK), issue(8, TO_DISK)) as forge:
        ran = run(forge, tmp_path, env=env)
    assert (ran.status, forge.writes) == (0, [])
    assert [line["number"] for line in ran.decisions] == [7, 8]


def test_the_command_line_outweighs_the_inputs(tmp_path: Path) -> None:
    env = {"INPUT_ISSUE": "7", "INPUT_LANGUAGE": "fr", "INPUT_MAX_WRITES": "0"}
    with forge_with(issue(7, TO_DISK), issue(8, TO_DISK)) as forge:
        ran = run(forge, tmp_path, "--sweep", "--max-writes", "9", "--language=ja", env=env)
    assert ran.status == 0
    assert len(ran.decisions) == 2
    assert "トリアージ" in ran.summary


def test_an_input_that_is_no_yes_or_no(tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK)) as forge:
        ran = run(forge, tmp_path, "--issue", "7", env={"INPUT_DRY_RUN": "ture"})
    assert (ran.status, forge.writes) == (2, [])
    assert 'input dry-run is "ture". Write true or false' in ran.said


@pytest.mark.parametrize(
    ("value", "writes"),
    [("true", False), ("TRUE", False), ("1", False), ("ture", False), ("", True), ("false", True)],
)
def test_the_kill_switch_fails_safe(value: str, writes: bool, tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK)) as forge:
        run(forge, tmp_path, "--issue", "7", env={"DRY_RUN": value})
    assert bool(forge.writes) is writes


def test_two_jobs_of_a_matrix_do_not_do_the_same_issue(tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK)) as forge:
        for shard in ("1/2", "2/2"):
            env = env_of("issues", queued(), tmp_path)
            run(forge, tmp_path, "--shard", shard, env=env)
    assert len(forge.writes) == 1
