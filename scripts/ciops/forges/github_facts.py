"""GitHub's JSON as facts (https://docs.github.com/en/rest/issues and /pulls, /commits)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from ciops.forges.base import (
    GHOST,
    Check,
    Comment,
    Commit,
    Issue,
    Job,
    Person,
    Pipeline,
    Project,
    PullRequest,
)
from ciops.forges.json_fields import child, flag, names, text, whole
from ciops.forges.timeline import LabelEvent, StateEvent, Timeline
from ciops.plumbing.http import Json

# A conclusion, or for what still runs a status, in GitLab's words; any other stays as it is.
STATUSES: Final = {
    "failure": "failed",
    "startup_failure": "failed",
    "timed_out": "failed",
    "cancelled": "canceled",
    "stale": "canceled",
    "neutral": "success",
    "action_required": "manual",
    "in_progress": "running",
    "queued": "pending",
    "waiting": "pending",
    "requested": "pending",
}


def person(data: Json) -> Person:
    """GitHub answers null for a deleted account."""
    login = text(data, "login")
    return Person(login, text(data, "type") == "Bot", whole(data, "id")) if login else GHOST


def issue(data: Json) -> Issue:
    state: Literal["open", "closed"] = "closed" if text(data, "state") == "closed" else "open"
    return Issue(
        number=whole(data, "number"),
        title=text(data, "title"),
        body=text(data, "body"),
        labels=names(data, "labels"),
        author=person(child(data, "user")),
        association=text(data, "author_association") or "NONE",
        state=state,
        locked=flag(data, "locked"),
        is_pull_request=bool(child(data, "pull_request")),
        comments=whole(data, "comments"),
        thumbs_up=whole(child(data, "reactions"), "+1"),
        created_at=text(data, "created_at"),
        updated_at=text(data, "updated_at"),
        url=text(data, "html_url"),
    )


def comment(data: Json) -> Comment:
    return Comment(
        id=whole(data, "id"),
        body=text(data, "body"),
        author=person(child(data, "user")),
        association=text(data, "author_association") or "NONE",
        created_at=text(data, "created_at"),
        url=text(data, "html_url"),
    )


def label_event(data: Json) -> LabelEvent | None:
    """A timeline event, or None when it is about something else."""
    event = text(data, "event")
    if event not in ("labeled", "unlabeled"):
        return None
    return LabelEvent(
        action="added" if event == "labeled" else "removed",
        label=text(child(data, "label"), "name"),
        actor=person(child(data, "actor")),
        created_at=text(data, "created_at"),
    )


def timeline(told: Sequence[Json]) -> Timeline:
    """The entries of a timeline that triage goes by."""
    labels = filter(None, map(label_event, told))
    states = filter(None, map(state_event, told))
    comments = (comment(row) for row in told if text(row, "event") == "commented")
    return Timeline(tuple(labels), tuple(comments), tuple(states))


def state_event(data: Json) -> StateEvent | None:
    """A timeline event, or None when the issue stands as before.

    https://docs.github.com/en/rest/using-the-rest-api/issue-event-types
    """
    at = text(data, "created_at")
    match text(data, "event"):
        case "closed" | "transferred" | "converted_to_discussion":
            return StateEvent(at, state="closed")
        case "reopened":
            return StateEvent(at, state="open")
        case "locked" | "unlocked" as event:
            return StateEvent(at, locked=event == "locked")
    return None


def project(data: Json) -> Project:
    return Project(
        id=whole(data, "id"),
        path=text(data, "full_name"),
        url=text(data, "html_url"),
        default_branch=text(data, "default_branch"),
        archived=flag(data, "archived"),
    )


def commit(data: Json) -> Commit:
    inner = child(data, "commit")
    author = child(inner, "author")
    return Commit(
        sha=text(data, "sha"),
        message=text(inner, "message"),
        author=text(author, "name"),
        date=text(child(inner, "committer"), "date") or text(author, "date"),
        url=text(data, "html_url"),
    )


def pull(data: Json) -> PullRequest:
    merged_at = text(data, "merged_at")
    closed = text(data, "state") == "closed"
    return PullRequest(
        number=whole(data, "number"),
        title=text(data, "title"),
        body=text(data, "body"),
        state="merged" if merged_at else "closed" if closed else "open",
        draft=flag(data, "draft"),
        author=person(child(data, "user")),
        labels=names(data, "labels"),
        head=text(child(data, "head"), "ref"),
        head_sha=text(child(data, "head"), "sha"),
        base=text(child(data, "base"), "ref"),
        merged_at=merged_at,
        merge_sha=text(data, "merge_commit_sha") if merged_at else "",
        url=text(data, "html_url"),
    )


def _status(data: Json) -> str:
    word = text(data, "conclusion") or text(data, "status")
    return STATUSES.get(word, word)


def check(data: Json) -> Check:
    return Check(text(data, "name"), _status(data), text(data, "html_url"))


def run(data: Json) -> Pipeline:
    """A workflow run as a pipeline."""
    return Pipeline(
        id=whole(data, "id"),
        project_id=whole(child(data, "repository"), "id"),
        ref=text(data, "head_branch"),
        sha=text(data, "head_sha"),
        status=_status(data),
        source=text(data, "event"),
        name=text(data, "name"),
        created_at=text(data, "created_at"),
        updated_at=text(data, "updated_at"),
        url=text(data, "html_url"),
    )


def job(data: Json) -> Job:
    """A job of a workflow run; its stage is the workflow."""
    conclusion = text(data, "conclusion")
    return Job(
        id=whole(data, "id"),
        name=text(data, "name"),
        stage=text(data, "workflow_name"),
        status=_status(data),
        allow_failure=False,
        failure_reason=conclusion if STATUSES.get(conclusion) == "failed" else "",
        ref=text(data, "head_branch"),
        sha=text(data, "head_sha"),
        pipeline_id=whole(data, "run_id"),
        runner=text(data, "runner_name"),
        created_at=text(data, "created_at"),
        started_at=text(data, "started_at"),
        finished_at=text(data, "completed_at"),
        url=text(data, "html_url"),
    )
