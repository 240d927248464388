"""What a Jira issue holds, loaded from plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fakes.jira import FakeJira

Json = dict[str, Any]


@dataclass(slots=True)
class Issue:
    """`project_type` is software, business or service_desk; comments are in order of writing.

    A stored comment is in REST shape with `properties` by key beside it.
    """

    key: str
    id: str
    summary: str = "An issue"
    project_type: str = "software"
    comments: list[Json] = field(default_factory=list)


def load_issue(jira: FakeJira, key: str, given: Mapping[str, Any]) -> Issue:
    """`summary`, `project_type`, and `comments` with `body`, `author`, `visibility`, …"""
    fields = {name: value for name, value in given.items() if name != "comments"}
    issue = Issue(key, str(20_000 + len(jira.issues)), **fields)
    for comment in given.get("comments", ()):
        add_comment(jira, issue, comment, comment.get("author", "ann@example.com"))
    return issue


def add_comment(jira: FakeJira, issue: Issue, given: Mapping[str, Any], author: str) -> Json:
    """Stores a comment; `properties` may be a mapping or the REST list of key and value."""
    identity = jira.next_comment_id()
    properties = given.get("properties") or {}
    if not isinstance(properties, Mapping):
        properties = {part["key"]: part["value"] for part in properties}
    comment = {
        "id": identity,
        "self": f"{jira.api_url}/issue/{issue.id}/comment/{identity}",
        "author": jira.user(author),
        "updateAuthor": jira.user(author),
        "body": given["body"],
        "created": given.get("created") or jira.timestamp(),
        "updated": given.get("created") or jira.timestamp(),
        "properties": dict(properties),
    }
    if given.get("visibility"):
        comment["visibility"] = dict(given["visibility"])
    issue.comments.append(comment)
    return comment


def shown(comment: Json) -> Json:
    """The comment as Jira shows it: its properties have an address of their own."""
    return {key: value for key, value in comment.items() if key != "properties"}
