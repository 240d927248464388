"""Where a report starts: a pipeline by id or URL, or the newest one in which the scope ran."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, unquote, urlsplit

from ciops.errors import RefusedError, ServiceError, UsageError
from ciops.failures.scope import Benchmark, Scope
from ciops.failures.trigger import Say, TriggerSearch, bridges_of
from ciops.plumbing.http import ForbiddenError, HttpError, NotFoundError, UnauthorizedError
from ciops.plumbing.yaml_file import shown

if TYPE_CHECKING:
    from ciops.forges.base import Bridge, Job, Pipeline, Pipelines

LOOK_BACK: Final = 200
"""Upstream pipelines looked at, newest first, for one in which the scope ran."""

# A bridge in one of these never ran, or has not ended yet.
_NOT_RUN: Final = frozenset(
    {"created", "manual", "scheduled", "skipped", "pending", "preparing", "running", "canceling"}
    | {"waiting_for_resource", "waiting_for_callback"}
)
_PIPELINE_PATH: Final = re.compile(
    r"/(?P<project>[^/]+(?:/[^/]+)+?)(?:/-)?/pipelines/(?P<id>\d{1,18})(?:/.*)?", re.ASCII
)
_RUN_PATH: Final = re.compile(
    r"/(?P<project>[^/]+/[^/]+)/actions/runs/(?P<id>\d{1,18})(?:/.*)?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Target:
    """A pipeline as it was asked for: its id, and its project when a URL named it."""

    id: int
    project: str = ""


@dataclass(frozen=True, slots=True)
class Start:
    """A starting pipeline.

    `inside` says that every failed bridge of it is of the scope, which holds below the first
    bridge of the scope. `unread` are pipelines passed over because they could not be read.
    """

    pipeline: Pipeline
    project: int | str
    inside: bool
    unread: tuple[str, ...] = ()


def gitlab_target(text: str, web_url: str) -> Target:
    """An id or a pipeline's URL on the configured GitLab; RefusedError for another host."""
    return _target(text, web_url, _PIPELINE_PATH, "GitLab", "--gitlab-url")


def github_target(text: str, web_url: str) -> Target:
    """An id or a run's URL on the configured GitHub; RefusedError for another host."""
    return _target(text, web_url, _RUN_PATH, "GitHub", "GITHUB_SERVER_URL")


def _target(text: str, web_url: str, path: re.Pattern[str], service: str, setting: str) -> Target:
    text = text.strip()
    if re.fullmatch(r"#?\d{1,18}", text, re.ASCII):
        return Target(int(text.lstrip("#")))
    if "://" not in text:
        next_step = f"Name it by its id or by its URL on {web_url}"
        raise UsageError(f"--pipeline: {shown(text)} is no pipeline", next_step)
    given = _on_host(text, web_url, service, setting)
    root = urlsplit(web_url).path.rstrip("/")
    match = path.fullmatch(unquote(given.path).removeprefix(root))
    if match is None or not {"..", "-"}.isdisjoint(match["project"].split("/")):
        next_step = "Open the pipeline in the browser and copy its address"
        raise UsageError(f"--pipeline: {shown(text, 200)} is no pipeline's address", next_step)
    return Target(int(match["id"]), match["project"].strip("/"))


def _on_host(text: str, web_url: str, service: str, setting: str) -> SplitResult:
    """The parts of a URL; RefusedError when a token could leave for another host with it."""
    own = urlsplit(web_url)
    refusal = RefusedError(
        f"--pipeline: {shown(text, 200)} is not on {own.netloc}, the configured {service}",
        f"The token goes nowhere else; name the {service} by {setting} if it is another one",
    )
    try:
        given = urlsplit(text)
        same = (given.hostname, _port(given)) == (own.hostname, _port(own))
    except ValueError:
        raise refusal from None
    plain = not re.search(r"[\s\\@\x00-\x1f\x7f]", text.partition("?")[0])
    if not same or not plain or given.scheme not in ("http", "https"):
        raise refusal
    return given


def _port(parts: SplitResult) -> int:
    return parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)


def find(target: Target, scope: Scope, pipelines: Pipelines) -> Start:
    """The pipeline asked for; ServiceError when it is missing or not visible."""
    places = (target.project,) if target.project else scope.projects
    if not places:
        next_step = "Name it by its URL, or add the project to the scope of the configuration"
        raise UsageError(f"no project is known for pipeline {target.id}", next_step)
    trouble: HttpError | None = None
    for place in places:
        try:
            found = pipelines.pipeline(place, target.id)
        except UnauthorizedError:
            raise
        except (NotFoundError, ForbiddenError):
            continue
        except HttpError as error:  # it may be in another project all the same
            trouble = error
            continue
        return Start(found, found.project_id or place, inside=not _is_upstream(place, scope))
    raise trouble or ServiceError(
        f"pipeline {target.id} is missing in {' and '.join(places)}, or not visible to the token",
        "Check the id, name a pipeline of another project by its URL, or let the token read it",
    )


def find_run(target: Target, pipelines: Pipelines) -> Start:
    """The run asked for, of a source without bridges; ServiceError when it cannot be seen."""
    found = find(target, Scope(""), pipelines)
    return Start(found.pipeline, target.project, inside=True)


def _is_upstream(place: str, scope: Scope) -> bool:
    return bool(scope.bridges) and place.casefold() == scope.upstream.casefold()


def newest(scope: Scope, pipelines: Pipelines) -> Start:
    """The newest upstream pipeline in which the scope really ran."""
    if not scope.upstream:
        next_step = "Name a pipeline by --pipeline, or an upstream project in the configuration"
        raise UsageError(f"scope {scope.name} has no upstream project to look into", next_step)
    unread: list[str] = []
    for pipeline in islice(pipelines.pipelines(scope.upstream), LOOK_BACK):
        project = pipeline.project_id or scope.upstream
        try:
            bridges = pipelines.bridges(project, pipeline.id)
        except UnauthorizedError:
            raise
        except HttpError as error:
            unread.append(f"{pipeline.id}: {error.problem}")
            continue
        if any(_ran(bridge, scope) for bridge in bridges):
            inside = scope.bridges is None
            return Start(pipeline, project, inside=inside, unread=tuple(unread))
    raise ServiceError(
        f"{scope.upstream}: {scope.name} ran in none of the newest {LOOK_BACK} pipelines"
        + (f" ({len(unread)} could not be read)" if unread else ""),
        "Name a pipeline by --pipeline",
    )


def newest_failed(project: str, pipelines: Pipelines) -> Start:
    """The newest that failed, else that ended: where no bridge tells what is in scope."""
    ended = [one for one in islice(pipelines.pipelines(project), LOOK_BACK) if _has_ended(one)]
    if not ended:
        problem = f"{project}: none of the newest {LOOK_BACK} pipelines or runs has ended"
        raise ServiceError(problem, "Name one by --pipeline")
    newest_one = next((one for one in ended if one.status == "failed"), ended[0])
    return Start(newest_one, project, inside=True)


def _has_ended(pipeline: Pipeline) -> bool:
    return pipeline.status in ("failed", "success", "canceled")


def _ran(bridge: Bridge, scope: Scope) -> bool:
    """Whether the scope ran behind a bridge: to its end, and not just in name."""
    if not scope.has_bridge(bridge.name) or bridge.status in _NOT_RUN:
        return False
    return bridge.downstream is not None or bridge.status == "failed"


def refuse_benchmark(start: Start, scope: Scope, pipelines: Pipelines, say: Say) -> None:
    """RefusedError when the starting pipeline is a benchmark; never switches to another one.

    It is known by its name, else by the bridge that triggered it, else by the names of its jobs.
    `say` is told when the search for that bridge gave up.
    """
    pipeline, benchmark = start.pipeline, scope.benchmark
    if benchmark == Benchmark():
        return None
    if not start.inside:
        return _refuse_upstream(start, scope, pipelines)
    if scope.bridges is not None and scope.has_bridge(pipeline.name):
        return None
    if benchmark.pipelines.hold(pipeline.name):
        raise _refusal(pipeline, scope, f"its name is {shown(pipeline.name)}")
    bridge = TriggerSearch(scope, pipelines, say).bridge(pipeline, start.project)
    if bridge is not None and benchmark.bridges.hold(bridge.name):
        raise _refusal(pipeline, scope, f"bridge {shown(bridge.name)} triggered it")
    if bridge is None and _runs_benchmarks(start, scope, pipelines):
        raise _refusal(pipeline, scope, "its jobs are benchmarks")
    return None


def _refuse_upstream(start: Start, scope: Scope, pipelines: Pipelines) -> None:
    """An upstream pipeline triggers several scopes: it is a benchmark when only that is its own."""
    pipeline = start.pipeline
    named = scope.benchmark.pipelines.hold(pipeline.name)
    names = [bridge.name for bridge in bridges_of(pipelines, start.project, pipeline.id)]
    triggers = any(scope.benchmark.bridges.hold(name) for name in names)
    if (named or triggers) and not any(scope.has_bridge(name) for name in names):
        why = f"its name is {shown(pipeline.name)}" if named else "it triggers nothing else"
        raise _refusal(pipeline, scope, why)


def _refusal(pipeline: Pipeline, scope: Scope, why: str) -> RefusedError:
    return RefusedError(
        f"pipeline {pipeline.id} is a benchmark pipeline ({why}): "
        f"benchmark pipelines are not supported, the scope is {scope.name}",
        f"Name a pipeline of {scope.name}",
    )


def _runs_benchmarks(start: Start, scope: Scope, pipelines: Pipelines) -> bool:
    """Whether most jobs are named like benchmarks; the failed ones are asked first."""
    if scope.benchmark.jobs.pattern is None:
        return False
    names = _job_names(start, pipelines, ("failed",)) or _job_names(start, pipelines, ())
    return 2 * sum(scope.benchmark.jobs.hold(name) for name in names) > len(names)


def _job_names(start: Start, pipelines: Pipelines, statuses: Sequence[str]) -> list[str]:
    try:
        found: list[Job] = pipelines.jobs(start.project, start.pipeline.id, statuses=statuses)
    except HttpError:  # that they cannot be read is told when they are counted
        return []
    return [job.name for job in found]
