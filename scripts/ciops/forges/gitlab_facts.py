"""GitLab's JSON as facts (https://docs.gitlab.com/api/rest/)."""

from __future__ import annotations

import re
from typing import Final, Literal

from ciops.forges.base import (
    GHOST,
    Bridge,
    Check,
    Comment,
    Commit,
    Downstream,
    Issue,
    Job,
    Person,
    Pipeline,
    Project,
    PullRequest,
)
from ciops.forges.json_fields import child, flag, names, text, whole
from ciops.forges.timeline import LabelEvent
from ciops.plumbing.http import Json

# Lists of notes do not say who is a bot, but the accounts of access tokens have names of a form:
# https://docs.gitlab.com/user/project/settings/project_access_tokens/#bot-users-for-projects
_BOT: Final = re.compile(r"(?:project|group)_\d+_bot(?:_\w+)?")


def is_bot_name(login: str) -> bool:
    """Whether an account is called as those of access tokens are."""
    return bool(_BOT.fullmatch(login))


def person(data: Json) -> Person:
    """The account `ghost` stands for deleted ones."""
    login = text(data, "username")
    if not login:
        return GHOST
    is_bot = flag(data, "bot") or is_bot_name(login)
    return Person(login, is_bot, whole(data, "id"))


def issue(data: Json, *, is_pull_request: bool = False) -> Issue:
    state: Literal["open", "closed"] = "open" if text(data, "state") == "opened" else "closed"
    return Issue(
        number=whole(data, "iid"),
        title=text(data, "title"),
        body=text(data, "description"),
        labels=names(data, "labels"),
        author=person(child(data, "author")),
        association="",
        state=state,
        locked=flag(data, "discussion_locked"),
        is_pull_request=is_pull_request,
        comments=whole(data, "user_notes_count"),
        thumbs_up=whole(data, "upvotes"),
        created_at=text(data, "created_at"),
        updated_at=text(data, "updated_at"),
        url=text(data, "web_url"),
    )


def comment(data: Json) -> Comment:
    """A note; GitLab gives it no address of its own here."""
    return Comment(
        id=whole(data, "id"),
        body=text(data, "body"),
        author=person(child(data, "author")),
        association="",
        created_at=text(data, "created_at"),
        url="",
    )


def label_event(data: Json) -> LabelEvent | None:
    """A label event, or None when its label was deleted since."""
    label = text(child(data, "label"), "name")
    if not label:
        return None
    return LabelEvent(
        action="added" if text(data, "action") == "add" else "removed",
        label=label,
        actor=person(child(data, "user")),
        created_at=text(data, "created_at"),
    )


def project(data: Json) -> Project:
    return Project(
        id=whole(data, "id"),
        path=text(data, "path_with_namespace"),
        url=text(data, "web_url"),
        default_branch=text(data, "default_branch"),
        archived=flag(data, "archived"),
    )


def pipeline(data: Json) -> Pipeline:
    return Pipeline(
        id=whole(data, "id"),
        project_id=whole(data, "project_id"),
        ref=text(data, "ref"),
        sha=text(data, "sha"),
        status=text(data, "status"),
        source=text(data, "source"),
        name=text(data, "name"),
        created_at=text(data, "created_at"),
        updated_at=text(data, "updated_at"),
        url=text(data, "web_url"),
    )


def bridge(data: Json) -> Bridge:
    below = child(data, "downstream_pipeline")
    downstream = Downstream(
        id=whole(below, "id"),
        project_id=whole(below, "project_id"),
        status=text(below, "status"),
        url=text(below, "web_url"),
    )
    return Bridge(
        id=whole(data, "id"),
        name=text(data, "name"),
        stage=text(data, "stage"),
        status=text(data, "status"),
        allow_failure=flag(data, "allow_failure"),
        failure_reason=text(data, "failure_reason"),
        url=text(data, "web_url"),
        downstream=downstream if downstream.id else None,
    )


def job(data: Json) -> Job:
    of = child(data, "pipeline")
    return Job(
        id=whole(data, "id"),
        name=text(data, "name"),
        stage=text(data, "stage"),
        status=text(data, "status"),
        allow_failure=flag(data, "allow_failure"),
        failure_reason=text(data, "failure_reason"),
        ref=text(data, "ref"),
        sha=text(child(data, "commit"), "id") or text(of, "sha"),
        pipeline_id=whole(of, "id"),
        runner=text(child(data, "runner"), "description"),
        created_at=text(data, "created_at"),
        started_at=text(data, "started_at"),
        finished_at=text(data, "finished_at"),
        url=text(data, "web_url"),
    )


def commit(data: Json) -> Commit:
    return Commit(
        sha=text(data, "id"),
        message=text(data, "message"),
        author=text(data, "author_name"),
        date=text(data, "committed_date") or text(data, "created_at"),
        url=text(data, "web_url"),
    )


def check(data: Json) -> Check:
    return Check(text(data, "name"), text(data, "status"), text(data, "target_url"))


def merge_request(data: Json) -> PullRequest:
    word = text(data, "state")
    merged = word == "merged"
    return PullRequest(
        number=whole(data, "iid"),
        title=text(data, "title"),
        body=text(data, "description"),
        state="merged" if merged else "closed" if word == "closed" else "open",
        draft=flag(data, "draft"),
        author=person(child(data, "author")),
        labels=names(data, "labels"),
        head=text(data, "source_branch"),
        head_sha=text(data, "sha"),
        base=text(data, "target_branch"),
        merged_at=text(data, "merged_at"),
        merge_sha=(text(data, "merge_commit_sha") or text(data, "squash_commit_sha"))
        if merged
        else "",
        url=text(data, "web_url"),
    )
