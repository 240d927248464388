"""pipeline-failure-report: a report, one that files issues, one on GitHub Actions, a change."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from failures.pipeline_worlds import (
    DOWNSTREAM,
    GITHUB_TOKEN,
    PATHS,
    TOKEN,
    UPSTREAM,
    bridge,
    job,
    pipeline,
    report_on,
    small_world,
)
from fakes.github import FakeGitHub
from fakes.gitlab import FakeGitLab
from faults.scenes import Command, Scene, Servers

TOOL = "pipeline-failure-report"
OWNER = "NVIDIA/TensorRT-LLM"
CODE = "tensorrt_llm/run.py"
BRANCH = "TRTLLM-4711-sharding"
END = b"ERROR: Job failed: exit code 1\n"
OWNED = (
    b"Traceback (most recent call last):\n"
    b'  File "/usr/lib/python3.12/dist-packages/tensorrt_llm/run.py", line 4, in go\n'
    b"    raise\nRuntimeError: sharded operand has another reduction dimension than expected\n"
    + END
)
UNOWNED = b"RuntimeError: kernel launch configuration is inconsistent across stages\n" + END
GATED = b"huggingface_hub.errors.GatedRepoError: 403 Client Error. Access to a/b is restricted\n"
FAILED = [job(1, trace=UNOWNED), job(2, trace=GATED + END)]
# What a report says, without the words that a fault may add to it.
BUCKET = ("name", "status", "reason", "owner", "size", "jobs", "causal_error", "hypothesis")
JOB = ("id", "name", "bucket", "line", "text", "status", "evidence", "outcome")


def worlds() -> Servers:
    """Two levels, a fork, and an earlier pipeline in which one job was green."""
    fork = [
        bridge(101, "model-coverage: [a]", (2, DOWNSTREAM, "failed")),
        bridge(102, "model-coverage: [b]", (3, DOWNSTREAM, "failed")),
    ]
    gitlab = small_world(
        pipeline(4, UPSTREAM, bridges=fork),
        pipeline(2, DOWNSTREAM, jobs=[job(21, "cov x", trace=OWNED), job(22, trace=UNOWNED)]),
        pipeline(3, DOWNSTREAM, jobs=[job(31, trace=GATED + END)]),
        pipeline(1, DOWNSTREAM, jobs=[job(11, "cov x", "success")]),
    )
    code = {CODE: "def go():\n    pass\n"}
    return gitlab, FakeGitHub(OWNER, files=code, labels=["bug"])


def two_buckets() -> Servers:
    """One for the tracker on GitHub, one for that on GitLab."""
    return small_world(pipeline(500, DOWNSTREAM, jobs=FAILED)), FakeGitHub(OWNER, labels=["bug"])


def report(*more: str) -> Any:
    def command(servers: Servers, folder: Path) -> Command:
        given = ["report", "--concurrency", "1", "--format", "json"]
        env = {"GITLAB_TOKEN": TOKEN, "GITLAB_URL": servers[0].url, "GITHUB_TOKEN": GITHUB_TOKEN}
        env |= {"GITHUB_API_URL": servers[1].url}
        return Command([*given, "--output", str(folder / "out"), *more], env)

    return command


def filed(servers: Servers, folder: Path) -> object:
    gitlab, github = servers
    assert isinstance(gitlab, FakeGitLab)
    assert isinstance(github, FakeGitHub)
    projects = [gitlab.project(key).issues.values() for key in PATHS]
    issues = [(one["title"], one["description"]) for project in projects for one in project]
    return issues, [(one["title"], one["body"]) for one in github.repository.issues.values()]


def reported(servers: Servers, folder: Path) -> object:
    path = folder / "out" / "report.json"
    found = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return {
        **{key: found.get(key) for key in ("checksum", "remarks", "unreadable")},
        "buckets": [{key: one.get(key) for key in BUCKET} for one in found.get("buckets", ())],
        "jobs": [{key: one.get(key) for key in JOB} for one in found.get("jobs", ())],
    }


@cache
def parts() -> list[tuple[str, str]]:
    """What the two jobs of a matrix left: name and text of each file."""
    found = []
    with TemporaryDirectory() as name, small_world(pipeline(500, DOWNSTREAM, jobs=FAILED)) as fake:
        for part in ("1", "2"):
            report_on(fake, Path(name), "--pipeline", "500", "--shard", f"{part}/2")
            (path,) = (Path(name) / "out").glob(f"part-{part}-of-2.json")
            found.append((path.name, path.read_text("utf-8")))
    return found


def in_parts(servers: Servers, folder: Path) -> None:
    for number, (name, text) in enumerate(parts(), 1):
        place = folder / str(number) / "out"
        place.mkdir(parents=True)
        (place / name).write_text(text, "utf-8")


def merge(servers: Servers, folder: Path) -> Command:
    parts = [str(folder / part / "out") for part in ("1", "2")]
    url, home = servers[0].url, servers[1].url
    env = {"GITLAB_TOKEN": TOKEN, "GITLAB_URL": url, "GITHUB_TOKEN": GITHUB_TOKEN}
    given = ["merge", *parts, "--track", "--format", "json", "--output", str(folder / "out")]
    return Command(given, {**env, "GITHUB_API_URL": home})


def every_job_is_in_a_bucket(servers: Servers, folder: Path) -> None:
    path = folder / "out" / "report.json"
    if path.exists():
        found = json.loads(path.read_text("utf-8"))
        sums = found["checksum"]
        assert sums["failed_jobs"] == sums["bucket_sum"] == len(found["jobs"])


# --- GitHub Actions ---------------------------------------------------------------------------


REPO = "acme/widgets"
GEAR = "src/gear.py"
CONFIG = f"""\
name: acme
version: "1"
extends: [ci-lines.yml]
owners:
  - name: widgets
    repository: {REPO}
    verified: true
    default: true
    roots: [{{pattern: '^/home/runner/work/widgets/widgets/'}}]
"""
LOG = """\
2026-05-04T10:11:12.1234567Z ##[group]Run pytest
2026-05-04T10:11:12.1234567Z ##[endgroup]
2026-05-04T10:11:12.1234567Z Traceback (most recent call last):
2026-05-04T10:11:12.1234567Z   File "/home/runner/work/widgets/widgets/src/gear.py", line 3, in turn
2026-05-04T10:11:12.1234567Z     raise ValueError
2026-05-04T10:11:12.1234567Z ValueError: teeth of gear and rack do not match
2026-05-04T10:11:12.1234567Z ##[error]Process completed with exit code 1.
"""


def runs() -> Servers:
    """A run with two failed jobs, and an older one that was green."""
    jobs = [{"id": 71, "name": "test (3.11)", "log": LOG}, {"id": 72, "name": "lint", "log": LOG}]
    green = {"id": 51, "name": "test (3.11)", "conclusion": "success"}
    now, old = {"head_sha": "a" * 40}, {"head_sha": "b" * 40, "conclusion": "success"}
    given = [
        {"id": 7, "jobs": jobs, "created_at": "2026-05-04T10:00:00Z", **now},
        {"id": 5, "jobs": [green], "created_at": "2026-05-02T10:00:00Z", **old},
    ]
    commits = [
        {
            "sha": "a" * 40,
            "message": "Fewer teeth",
            "paths": [GEAR],
            "date": "2026-05-03T00:00:00Z",
        },
        {"sha": "b" * 40, "message": "Start", "paths": [GEAR], "date": "2026-05-01T00:00:00Z"},
    ]
    files = {GEAR: "def turn():\n    raise ValueError\n"}
    return (FakeGitHub(REPO, runs=given, commits=commits, files=files),)


def configured(servers: Servers, folder: Path) -> None:
    (folder / "acme.yml").write_text(CONFIG, "utf-8")


def report_on_actions(servers: Servers, folder: Path) -> Command:
    (github,) = servers
    assert isinstance(github, FakeGitHub)
    config = str(folder / "acme.yml")
    given = ["report", "--source", "github-actions", "--pipeline", "7", "--config", config]
    given += ["--format", "json", "--concurrency", "1", "--output", str(folder / "out")]
    env = {"GITHUB_TOKEN": GITHUB_TOKEN, "GITHUB_API_URL": github.url}
    return Command(
        given, {**env, "GITHUB_SERVER_URL": github.shapes.web, "GITHUB_REPOSITORY": REPO}
    )


def nothing_written(servers: Servers, folder: Path) -> object:
    return [[write.path for write in server.writes] for server in servers]


# --- open-pr ----------------------------------------------------------------------------------


@cache
def one_bucket() -> str:
    """The report that the change is for."""
    failed = [job(number, trace=OWNED) for number in (1, 2)]
    with (
        TemporaryDirectory() as name,
        small_world(pipeline(500, DOWNSTREAM, jobs=failed)) as fake,
    ):
        report_on(fake, Path(name), "--pipeline", "500")
        return (Path(name) / "out" / "report.json").read_text("utf-8")


def owner_is(owner: str) -> Any:
    def prepare(servers: Servers, folder: Path) -> None:
        found = json.loads(one_bucket())
        found["buckets"][0]["owner"] = owner
        (folder / "report.json").write_text(json.dumps(found), "utf-8")

    return prepare


def open_pr(**env: str) -> Any:
    def command(servers: Servers, folder: Path) -> Command:
        path = folder / "report.json"
        (bucket,) = json.loads(path.read_text("utf-8"))["buckets"]
        given = ["open-pr", "--report", str(path), "--bucket", bucket["name"], "--head", BRANCH]
        url = servers[0].url
        known = {"GITHUB_API_URL": url, "GITHUB_TOKEN": GITHUB_TOKEN, "GITLAB_TOKEN": TOKEN}
        given += ["--validation", "pytest tests/unittest/test_sharding.py", "--gitlab-url", url]
        return Command(given, {**known, **env})

    return command


def at_github() -> Servers:
    branches = {"main": "f" * 40, BRANCH: "a" * 40}
    return (FakeGitHub(OWNER, branches=branches),)


def at_gitlab() -> Servers:
    fake = small_world()
    fake.project(UPSTREAM).branches[BRANCH] = "a" * 40
    return (fake,)


def pulls(servers: Servers, folder: Path) -> object:
    (github,) = servers
    assert isinstance(github, FakeGitHub)
    return [(one["title"], one["body"]) for one in github.repository.pulls.values()]


def merge_requests(servers: Servers, folder: Path) -> object:
    (gitlab,) = servers
    assert isinstance(gitlab, FakeGitLab)
    found = gitlab.project(UPSTREAM).merge_requests.values()
    return [(one["title"], one["description"]) for one in found]


DASHBOARD = "autodeploy-dashboard"
TRACK = report("--pipeline", "500", "--track")


def scene(name: str, servers: Any, command: Any, state: Any, **more: Any) -> Scene:
    return Scene(TOOL, name, servers, command, state, check=every_job_is_in_a_bucket, **more)


SCENES = [
    scene("report", worlds, report(), filed, left=reported),
    scene("report --track", two_buckets, TRACK, filed),
    scene("merge --track", two_buckets, merge, filed, prepare=in_parts),
    scene(
        *("report, Actions", runs, report_on_actions, nothing_written),
        **{"left": reported, "prepare": configured},
    ),
    scene("open-pr", at_github, open_pr(), pulls, prepare=owner_is("TensorRT-LLM")),
    scene("open-pr, GitLab", at_gitlab, open_pr(), merge_requests, prepare=owner_is(DASHBOARD)),
]
