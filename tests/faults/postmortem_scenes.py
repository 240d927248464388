"""post-mortem-render: publishing to Jira, looking facts up, and a record from a request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ciops.postmortem.app import main
from ciops.postmortem.payload import digest
from fakes.github import FakeGitHub
from fakes.jira import FakeJira
from faults.scenes import Command, Scene, Servers
from postmortem.records import changed

TOOL = "post-mortem-render"
KEY = "PLUG-2218"
MARK = "triage-action.post-mortem"
TALK = [
    {"body": {"type": "doc", "version": 1, "content": []}, "author": author}
    for author in ("bot@example.com", "someone@example.com")
]
# Little to check against the schema, which takes a second for a long one.
SHORT = {"ticket": KEY, "action_items": [], "symptom": "", "why_symptom": ""}
HEAD, MERGE = "4be1c07" + "a" * 33, "4be1c08" + "b" * 33


def cloud() -> Servers:
    return (FakeJira(issues={KEY: {"summary": "x", "comments": TALK}}),)


def data_center() -> Servers:
    return (FakeJira(issues={KEY: {"summary": "x"}}, data_center=True),)


def jira_env(servers: Servers) -> dict[str, str]:
    env = {"JIRA_BASE_URL": servers[-1].url}
    if isinstance(servers[-1], FakeJira) and servers[-1].data_center:
        return {**env, "JIRA_PAT": "secret-token"}
    return {**env, "JIRA_EMAIL": "bot@example.com", "JIRA_API_TOKEN": "secret-token"}


def rendered(destination: str) -> Any:
    def prepare(servers: Servers, folder: Path) -> None:
        path = folder / "short.yml"
        path.write_text(yaml.safe_dump(changed(**SHORT)), "utf-8")
        given = ["render", str(path), "--to", destination, "--output", str(folder)]
        assert main(given, jira_env(servers)) == 0

    return prepare


def approval_in(folder: Path) -> tuple[Path, str]:
    (path,) = folder.glob("*.json")
    return path, digest(path.read_text("utf-8"))


def publish(servers: Servers, folder: Path) -> Command:
    path, approval = approval_in(folder)
    return Command(["publish", str(path), "--approve", approval], jira_env(servers))


def comments(servers: Servers, folder: Path) -> object:
    """How many there are, and which of them carry the approved digest."""
    (jira,) = servers
    assert isinstance(jira, FakeJira)
    expected = {MARK: {"digest": approval_in(folder)[1]}}
    return [(c["body"], jira.properties(c["id"]) == expected) for c in jira.comments(KEY)]


# --- looked up --------------------------------------------------------------------------------


def forge_and_jira() -> Servers:
    """A merged request with green checks, an issue, a file, and a ticket."""
    pull = {"number": 977, "title": "Key on origin", "user": "priya", "head": "fix", "sha": HEAD}
    merged = {"merged_at": "2026-02-02T00:00:00Z", "merge_commit_sha": MERGE}
    commits = [
        {"sha": sha, "message": "Fix", "paths": ["a"], "date": "2026-01-01T00:00:00Z"}
        for sha in (HEAD, MERGE)
    ]
    green = [{"name": "build", "status": "completed", "conclusion": "success"}]
    github = FakeGitHub(
        "acme/host",
        [{"number": 12, "title": "Report"}],
        pulls=[{**pull, **merged, "body": "Fixes PLUG-2218"}],
        commits=commits,
        branches={"main": MERGE},
        files={"tests/test_reload.py": "x"},
        check_runs={MERGE: green},
    )
    return github, FakeJira(issues={"PLUG-9": {}})


def record(servers: Servers, folder: Path) -> None:
    items = [
        {"what": "Add it", "owner": "Marek", "artifact": artifact, "kind": "ci-gap"}
        for artifact in ("acme/host#12", "tests/test_reload.py", "PLUG-9")
    ]
    data = changed(fix__references=["acme/host#977", f"acme/host@{MERGE}"], action_items=items)
    (folder / "record.yml").write_text(yaml.safe_dump(data), "utf-8")


def forge_env(servers: Servers) -> dict[str, str]:
    own = {"GITHUB_API_URL": servers[0].url, "GITHUB_TOKEN": "s3cret"}
    return {**own, "GITHUB_REPOSITORY": "acme/host", **jira_env(servers)}


def verify(command: str, *more: str) -> Any:
    def given(servers: Servers, folder: Path) -> Command:
        arguments = [command, str(folder / "record.yml"), "--verify", *more]
        if command == "render":
            arguments += ["--output", str(folder / "out"), "--to", "file"]
        return Command(arguments, forge_env(servers))

    return given


def new(servers: Servers, folder: Path) -> Command:
    given = ["new", KEY, "--pr", "acme/host#977", "--output", str(folder / "out")]
    return Command(given, forge_env(servers))


def nothing_written(servers: Servers, folder: Path) -> object:
    return [[write.path for write in server.writes] for server in servers]


def files(servers: Servers, folder: Path) -> object:
    """What it wrote; a summary is added to by every run."""
    names = sorted((folder / "out").rglob("PLUG-*"))
    return {path.name: path.read_text("utf-8") for path in names}


SCENES = [
    Scene(TOOL, "publish", cloud, publish, comments, prepare=rendered("jira")),
    Scene(
        TOOL,
        "publish, Data Center",
        data_center,
        publish,
        comments,
        prepare=rendered("jira-server"),
    ),
    Scene(TOOL, "check --verify", forge_and_jira, verify("check"), nothing_written, prepare=record),
    Scene(
        TOOL, "render --verify", forge_and_jira, verify("render"), nothing_written, files, record
    ),
    Scene(TOOL, "new --pr", forge_and_jira, new, nothing_written, files),
]
