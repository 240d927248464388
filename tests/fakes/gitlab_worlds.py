"""Reads a `world.json`: pipelines, bridges and jobs of several projects, and their traces."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fakes.streams import Content, OnDisk

if TYPE_CHECKING:
    from fakes.gitlab import FakeGitLab

World = Mapping[str, Any]


def read_world(path: Path) -> tuple[World, Path]:
    """The world of a file or of a folder that holds one, and the folder of its traces."""
    file = path / "world.json" if path.is_dir() else path
    world: World = json.loads(file.read_text(encoding="utf-8"))
    return world, file.parent


def load_world(forge: FakeGitLab, world: World, folder: Path) -> None:
    """Fills the forge. Links to the world's own address lead to the fake instead.

    `projects` (id → path), `pipelines`, `bridges` and `jobs` by pipeline,
    `traces` by job (a file below `folder`, or the text itself as bytes),
    optional `forbidden_projects`, `trace_http` (job → status) and `http`
    (API path → status).
    """
    here = _moved(world, str(world.get("gitlab", "")).rstrip("/"), forge.url)
    for identity, project in here["projects"].items():
        if int(identity) not in forge.projects:
            forge.add_project(int(identity), project["path_with_namespace"])
    for pipeline in here["pipelines"]:
        key = str(pipeline["id"])
        project = forge.projects[pipeline["project_id"]]
        project.add_pipeline(pipeline, here["jobs"].get(key, ()), here["bridges"].get(key, ()))
        for job in project.jobs[pipeline["id"]]:
            content = world.get("traces", {}).get(str(job["id"]))
            if content is not None:
                project.traces[job["id"]] = _trace(content, folder)
            status = world.get("trace_http", {}).get(str(job["id"]))
            if status is not None:
                project.trace_status[job["id"]] = status
    forge.forbidden |= {int(identity) for identity in world.get("forbidden_projects", ())}
    forge.path_status |= world.get("http", {})


def _trace(content: str | bytes, folder: Path) -> Content:
    return content if isinstance(content, bytes) else OnDisk(folder / content)


def _moved(value: Any, old: str, new: str) -> Any:
    """The value with every link to `old` leading to `new`."""
    if isinstance(value, str):
        return new + value[len(old) :] if old and value.startswith(old) else value
    if isinstance(value, Mapping):
        return {key: _moved(item, old, new) for key, item in value.items()}
    return [_moved(item, old, new) for item in value] if isinstance(value, list) else value
