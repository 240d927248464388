"""issue-triage against GitHub and GitLab: a sweep, named issues, and an undo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ciops.triage.run_file import read_run_file
from fakes.github import FakeGitHub
from fakes.gitlab import FakeGitLab
from faults.scenes import Command, Scene, Servers, run_here
from triage.small_world import (
    ELSEWHERE,
    NO_STEPS,
    QUEUE,
    REPO,
    SMALL,
    TO_APP,
    TO_DISK,
    URGENT,
    all_labels,
    comment,
    environment,
    forge_with,
    issue,
)

TOOL = "issue-triage"


def github() -> Servers:
    """Every kind of write, in a queue of five."""
    return (
        forge_with(
            issue(1, TO_DISK),
            issue(2, NO_STEPS, comments=[comment("me too")]),
            issue(3, ELSEWHERE),
            issue(4, URGENT),
            issue(5, TO_APP, labels=["team: app", "triaged-by-bot"]),
        ),
    )


def gitlab() -> Servers:
    asked = {"body": "hm", "author": "carol"}
    issues = [
        {"iid": 1, **_gitlab(TO_DISK)},
        {"iid": 2, **_gitlab(NO_STEPS), "notes": [asked]},
        {"iid": 3, **_gitlab(ELSEWHERE)},
    ]
    labels = [*all_labels(), QUEUE]
    return (FakeGitLab(projects=[{"id": 9, "path": REPO, "issues": issues, "labels": labels}]),)


def _gitlab(text: dict[str, str]) -> dict[str, Any]:
    own = {"title": text["title"], "description": text["body"]}
    return {"author": "reporter", "labels": [QUEUE], **own}


def github_state(servers: Servers, folder: Path) -> object:
    (forge,) = servers
    assert isinstance(forge, FakeGitHub)
    told = {n: (sorted(forge.labels(n)), forge.comments(n)) for n in range(1, 6)}
    return told, forge.created_labels


def gitlab_state(servers: Servers, folder: Path) -> object:
    (forge,) = servers
    assert isinstance(forge, FakeGitLab)
    project = forge.project(REPO)
    notes = {iid: [n["body"] for n in project.notes[iid] if not n["system"]] for iid in (1, 2, 3)}
    labels = {iid: sorted(project.issues[iid]["labels"]) for iid in (1, 2, 3)}
    return labels, notes, forge.created_labels


def every_write_is_recorded(servers: Servers, folder: Path) -> None:
    """Before it is sent, once for all its repetitions: what a run may have done can be undone."""
    record = folder / "out" / "run.json"
    entries = read_run_file(record).entries if record.exists() else ()
    sent = [entry for entry in entries if entry.state == "sent"]
    assert len(sent) >= len({str(write) for write in servers[0].writes})


def run(*which: str, forge: str = "github") -> Any:
    def command(servers: Servers, folder: Path) -> Command:
        given = ["run", "--repo", REPO, "--policy", str(SMALL), "--output", str(folder / "out")]
        if forge == "github":
            return Command([*given, *which], environment(servers[0].url))
        place = ["--forge", "gitlab", "--gitlab-url", servers[0].url]
        return Command([*given, *which, *place], {"GITLAB_TOKEN": "secret-token-of-the-test"})

    return command


def undo(servers: Servers, folder: Path) -> Command:
    given = ["undo", str(folder / "out" / "run.json"), "--output", str(folder / "undone")]
    return Command(given, environment(servers[0].url))


def reading(*which: str) -> Any:
    """A command that only reads."""

    def command(servers: Servers, folder: Path) -> Command:
        given = [*which, "--repo", REPO, "--policy", str(SMALL), "--output", str(folder / "out")]
        return Command(given, environment(servers[0].url))

    return command


def done(servers: Servers, folder: Path) -> None:
    run_here(NAMED, servers, folder)


def scene(name: str, servers: Any, command: Any, state: Any) -> Scene:
    return Scene(TOOL, name, servers, command, state, check=every_write_is_recorded)


NAMED = scene("run --issue", github, run("--issue", "2", "4"), github_state)
UNDO = Scene(TOOL, "undo", github, undo, github_state, prepare=done)
SCENES = [
    NAMED,
    scene("run --sweep", github, run("--sweep"), github_state),
    scene("run, GitLab", gitlab, run("--sweep", forge="gitlab"), gitlab_state),
    UNDO,
    Scene(TOOL, "explain", github, reading("explain", "--issue", "2"), github_state),
    Scene(TOOL, "backtest", github, reading("backtest", "--since", "2020-01-01"), github_state),
]
