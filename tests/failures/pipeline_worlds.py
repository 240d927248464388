"""GitLab worlds for the tests: the whole ones under tests/data, and small ones in a few lines."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ciops.errors import CiopsError
from ciops.failures.knowledge import Knowledge, load_knowledge
from ciops.failures.report_command import options_of, parser
from ciops.failures.report_run import run
from ciops.failures.scope import Scope, read_scope
from ciops.forges import open_forge
from ciops.forges.base import Forge
from ciops.plumbing.command_line import open_host, parse
from fakes.github import FakeGitHub
from fakes.gitlab import FakeGitLab

ROOT = Path(__file__).resolve().parents[2]
WORLDS = ROOT / "tests/data/failures/worlds"
CONFIG = ROOT / "config/pipeline-failure-report/autodeploy.yml"
TOKEN, GITHUB_TOKEN = "glpat-secret-of-the-test", "ghp_secretOfTheTest0123456789"
NAMES = ("dev1", "dev2", "dev3")
UPSTREAM, DOWNSTREAM, ELSEWHERE = 41, 77, 99
PATHS = {UPSTREAM: "ftp/infra/autodeploy-dashboard", DOWNSTREAM: "dl/jet/ci", ELSEWHERE: "lab/farm"}

_knowledge: list[Knowledge] = []


def knowledge() -> Knowledge:
    """The configuration that the worlds are of, read once."""
    if not _knowledge:
        _knowledge.append(load_knowledge(CONFIG))
    return _knowledge[0]


def scope() -> Scope:
    return read_scope(knowledge())


def expected(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((WORLDS / name / "expected.json").read_text("utf-8"))
    return found


def world_of(name: str) -> dict[str, Any]:
    """A world whose traces are bytes."""
    folder = WORLDS / name
    world: dict[str, Any] = json.loads((folder / "world.json").read_text("utf-8"))
    world["traces"] = {
        job: gzip.decompress((folder / f"{path}.gz").read_bytes())
        for job, path in world["traces"].items()
    }
    return world


def fake_world(name: str, **options: Any) -> FakeGitLab:
    return FakeGitLab(world_of(name), **options)


def connected(fake: FakeGitLab, sleeps: list[float] | None = None) -> Forge:
    """The fake as the tool sees it; waits are noted and not made."""
    heard = sleeps if sleeps is not None else []
    env = {"GITLAB_TOKEN": TOKEN, "GITLAB_URL": fake.url}
    return open_forge("gitlab", env, sleep=heard.append)


def job(identity: int, name: str = "", status: str = "failed", **fields: Any) -> dict[str, Any]:
    """A job; a failed one has a reason."""
    base: dict[str, Any] = {"id": identity, "name": name or f"cov-{identity}", "status": status}
    if status == "failed":
        base["failure_reason"] = "script_failure"
    return {**base, "stage": "jet", "created_at": "2026-05-04T10:00:00.000Z", **fields}


def bridge(
    identity: int, name: str, to: tuple[int, int, str] | None, status: str = "failed", **fields: Any
) -> dict[str, Any]:
    """A bridge to (pipeline, project, its status), or to nothing."""
    below = None if to is None else pipeline_fields(to[0], to[1], to[2])
    base = {"id": identity, "name": name, "stage": "trigger", "status": status}
    if status == "failed":
        base["failure_reason"] = "downstream_pipeline_failed" if to else "unknown_failure"
    created = {"created_at": "2026-05-04T10:00:00.000Z"}
    return {**base, **created, "downstream_pipeline": below, **fields}


def pipeline_fields(identity: int, project: int, status: str = "failed") -> dict[str, Any]:
    """A higher id is a later pipeline, a minute for each."""
    created = datetime(2026, 5, 4, tzinfo=UTC) + timedelta(minutes=identity)
    return {
        "id": identity,
        "project_id": project,
        "status": status,
        "sha": f"{identity:040x}",
        "ref": "main",
        "source": "schedule" if project == UPSTREAM else "pipeline",
        "created_at": created.isoformat().replace("+00:00", ".000Z"),
        "updated_at": (created + timedelta(hours=1)).isoformat().replace("+00:00", ".000Z"),
    }


def pipeline(
    identity: int,
    project: int,
    *,
    jobs: Sequence[Mapping[str, Any]] = (),
    bridges: Sequence[Mapping[str, Any]] = (),
    status: str = "failed",
    **fields: Any,
) -> dict[str, Any]:
    """A pipeline with its jobs and bridges, for `small_world`."""
    own = {**pipeline_fields(identity, project, status), "name": None, **fields}
    return {**own, "jobs": list(jobs), "bridges": list(bridges)}


def small_world(*pipelines: Mapping[str, Any], **options: Any) -> FakeGitLab:
    """A GitLab with these pipelines in the three projects, links and all."""
    fake = FakeGitLab(
        projects=[{"id": key, "path": path} for key, path in PATHS.items()], **options
    )
    for given in pipelines:
        project = fake.projects[given["project_id"]]
        path = f"{fake.url}/{project.path}/-"
        own = {key: value for key, value in given.items() if key not in ("jobs", "bridges")}
        project.add_pipeline(
            {"web_url": f"{path}/pipelines/{given['id']}", **own},
            [{"web_url": f"{path}/jobs/{one['id']}", **one} for one in given["jobs"]],
            [_linked(fake, path, one) for one in given["bridges"]],
        )
    return fake


def _linked(fake: FakeGitLab, path: str, one: Mapping[str, Any]) -> dict[str, Any]:
    found = {"web_url": f"{path}/jobs/{one['id']}", **one}
    below = one["downstream_pipeline"]
    if below is not None:
        place = f"{fake.url}/{PATHS[below['project_id']]}/-/pipelines/{below['id']}"
        found["downstream_pipeline"] = {"iid": 1, "web_url": place, **below}
    return found


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run of `report` left: its status, the error that ended it, and report.json."""

    status: int
    error: str
    report: dict[str, Any] | None


def report_on(
    fake: FakeGitLab, folder: Path, *arguments: str, github: FakeGitHub | None = None, **env: str
) -> Outcome:
    """A run of `report` in this process, with its waits left out."""
    known = {"GITLAB_TOKEN": TOKEN, "GITLAB_URL": fake.url, **env}
    if github is not None:
        known |= {"GITHUB_TOKEN": GITHUB_TOKEN, "GITHUB_API_URL": github.url}
    host = open_host(known)
    output = folder / "out"
    try:
        given = ["--format", "json", "--output", str(output), *arguments]
        options = options_of(parse(parser(), given, host), host.env)
        status, error = run(options, host, sleep=lambda _: None), ""
    except CiopsError as problem:
        status, error = problem.exit_status, str(problem)
    path = output / "report.json"
    return Outcome(status, error, json.loads(path.read_text("utf-8")) if path.exists() else None)


def saved(outcome: Outcome) -> dict[str, Any]:
    """The report of a run that must have left one."""
    assert outcome.report is not None, outcome.error
    return outcome.report
