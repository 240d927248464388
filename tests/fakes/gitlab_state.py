"""What one GitLab project holds, loaded from plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fakes.gitlab_shapes import Given, Json, Shapes
from fakes.streams import Content


@dataclass(slots=True)
class Project:
    """Objects are in REST shape; pipelines, jobs and bridges keep their `retried` mark.

    Labels are keyed by name (GitLab tells cases apart), issues and merge
    requests by iid, jobs and bridges by pipeline, traces by job.
    """

    id: int
    path: str
    shapes: Shapes
    default_branch: str = "main"
    labels: dict[str, Json] = field(default_factory=dict)
    issues: dict[int, Json] = field(default_factory=dict)
    notes: dict[int, list[Json]] = field(default_factory=dict)
    label_events: dict[int, list[Json]] = field(default_factory=dict)
    merge_requests: dict[int, Json] = field(default_factory=dict)
    members: dict[str, int] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    files_at: dict[str, dict[str, bytes]] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    commits: list[Json] = field(default_factory=list)
    statuses: dict[str, list[Json]] = field(default_factory=dict)
    pipelines: dict[int, Json] = field(default_factory=dict)
    bridges: dict[int, list[Json]] = field(default_factory=dict)
    jobs: dict[int, list[Json]] = field(default_factory=dict)
    traces: dict[int, Content] = field(default_factory=dict)
    trace_status: dict[int, int] = field(default_factory=dict)

    def add_label(self, given: str | Given) -> Json:
        label = self.shapes.label(given)
        return self.labels.setdefault(label["name"], label)

    def add_issue(self, given: Given) -> Json:
        """An issue; `notes` and `label_events` beside its REST fields are its own."""
        iid = given["iid"]
        if iid in self.issues:
            raise ValueError(f"{self.path} has two issues {iid}")
        labels = [self.add_label(label)["name"] for label in given.get("labels", ())]
        apart = ("notes", "label_events")
        fields = {key: value for key, value in given.items() if key not in apart}
        issue = self.shapes.issue(self.path, self.id, {**fields, "labels": labels})
        self.issues[iid] = issue
        self.notes[iid] = []
        self.label_events[iid] = []
        for note in given.get("notes", ()):
            self.add_note(iid, note)
        for event in given.get("label_events", ()):
            self.add_label_event(iid, event)
        return issue

    def add_note(self, iid: int, given: Given) -> Json:
        serial = 1 + sum(len(notes) for notes in self.notes.values())
        note = self.shapes.note(self.issues[iid], {"id": 500_000 + serial, **given})
        self.notes[iid].append(note)
        self._count_notes(iid)
        return note

    def remove_note(self, iid: int, note: Json) -> None:
        self.notes[iid].remove(note)
        self._count_notes(iid)

    def add_label_event(self, iid: int, given: Given) -> None:
        serial = 1 + sum(len(events) for events in self.label_events.values())
        event = self.shapes.label_event(self.issues[iid], {"id": 700_000 + serial, **given})
        self.label_events[iid].append(event)

    def add_merge_request(self, given: Given) -> Json:
        merge_request = self.shapes.merge_request(self.path, self.id, given)
        self.merge_requests[given["iid"]] = merge_request
        return merge_request

    def add_commit(self, given: Given) -> None:
        """`sha`, `message`, `date`, `author`, and the `paths` it touched. Newest first."""
        known = {"paths": list(given.get("paths", ())), "date": "2026-01-01T00:00:00Z", **given}
        self.commits.append(known)
        self.commits.sort(key=lambda commit: str(commit["date"]), reverse=True)
        self.branches[self.default_branch] = self.commits[0]["sha"]

    def add_pipeline(
        self, pipeline: Given, jobs: Iterable[Given] = (), bridges: Iterable[Given] = ()
    ) -> None:
        """A pipeline with its jobs (a `trace` beside a job's fields is its log) and bridges."""
        fields = {"project_id": self.id, "iid": 1, "ref": self.default_branch, "source": "push"}
        filled = self.shapes.filler.fill("PipelineListItem", {**fields, **pipeline})
        self.pipelines[filled["id"]] = filled
        brief = {
            key: filled[key] for key in ("id", "project_id", "sha", "ref", "status", "web_url")
        }
        self.jobs[filled["id"]] = []
        for job in jobs:
            if "trace" in job:
                self.traces[job["id"]] = job["trace"]
            kept = {key: value for key, value in job.items() if key != "trace"}
            self.jobs[filled["id"]].append({"pipeline": brief, **kept})
        self.bridges[filled["id"]] = [{"pipeline": brief, **bridge} for bridge in bridges]

    def resolve(self, ref: str) -> str | None:
        """The commit that a branch, HEAD or a (short) SHA names, or None."""
        name = self.default_branch if ref == "HEAD" else ref
        if name in self.branches:
            return self.branches[name]
        known = [commit["sha"] for commit in self.commits] + list(self.files_at)
        known += [pipeline["sha"] for pipeline in self.pipelines.values()]
        return next((sha for sha in known if len(ref) >= 7 and sha.startswith(ref)), None)

    def files_of(self, ref: str) -> dict[str, bytes] | None:
        """The files at a branch or commit, or None when there is no such commit."""
        sha = self.resolve(ref)
        return None if sha is None else self.files_at.get(sha, self.files)

    def _count_notes(self, iid: int) -> None:
        told = [note for note in self.notes[iid] if not note["system"]]
        self.issues[iid]["user_notes_count"] = len(told)


def load_project(
    shapes: Shapes,
    identity: int,
    path: str,
    *,
    labels: Iterable[str | Given] = (),
    issues: Iterable[Given] = (),
    merge_requests: Iterable[Given] = (),
    commits: Iterable[Given] = (),
    branches: Mapping[str, str] | None = None,
    files: Mapping[str, str | bytes] | None = None,
    members: Mapping[str, int] | None = None,
    pipelines: Iterable[Given] = (),
    **fields: Any,
) -> Project:
    """`members` map a username to an access level; `pipelines` carry `jobs` and `bridges`."""
    project = Project(identity, path, shapes, **fields)
    project.branches.update(branches or {project.default_branch: "f" * 40})
    for label in labels:
        project.add_label(label)
    for issue in issues:
        project.add_issue(issue)
    for merge_request in merge_requests:
        project.add_merge_request(merge_request)
    for commit in commits:
        project.add_commit(commit)
    for pipeline in pipelines:
        own = {key: value for key, value in pipeline.items() if key not in ("jobs", "bridges")}
        project.add_pipeline(own, pipeline.get("jobs", ()), pipeline.get("bridges", ()))
    project.members.update(members or {})
    for name, content in (files or {}).items():
        project.files[name] = content.encode() if isinstance(content, str) else content
    return project
