"""What is known of one issue: frozen facts that a decision is made from.

The shape is GitHub's REST shape (issue, comments, timeline events), whatever forge it came
from; a GitLab reader fills the same dataclasses, with the access level told as an association.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ciops.errors import UsageError

MAINTAINERS: Final = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
LABELED: Final = "labeled"
UNLABELED: Final = "unlabeled"


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody on the forge; `is_bot` follows the account type, not the name."""

    login: str
    is_bot: bool = False


NOBODY: Final = Account("ghost")


@dataclass(frozen=True, slots=True)
class CommentFacts:
    """One comment. `association` is GitHub's author_association; `created_at` is ISO 8601."""

    author: Account
    association: str
    body: str
    created_at: str = ""
    id: int = 0


@dataclass(frozen=True, slots=True)
class LabelChange:
    """One `labeled` or `unlabeled` event of the timeline, oldest first."""

    event: str
    label: str
    actor: Account
    created_at: str = ""


@dataclass(frozen=True, slots=True)
class IssueFacts:
    """Everything a decision may look at. `timeline` is None where it is not known."""

    id: str
    number: int
    title: str
    body: str
    labels: tuple[str, ...]
    author: Account = NOBODY
    association: str = "NONE"
    state: str = "open"
    locked: bool = False
    is_pull_request: bool = False
    thumbs_up: int = 0
    url: str = ""
    created_at: str = ""
    comments: tuple[CommentFacts, ...] = ()
    timeline: tuple[LabelChange, ...] | None = None


def from_rest(case: Mapping[str, Any]) -> IssueFacts:
    """Facts from `{"id", "issue": <REST issue>, "comments": [...], "timeline": [...]}`.

    Any other key is ignored; an absent or empty timeline means that none is known.
    Raises UsageError where the shape is wrong.
    """
    issue = _mapping(case.get("issue"), "issue")
    comments = _sequence(case.get("comments"), "comments")
    events = _sequence(case.get("timeline"), "timeline")
    number = issue.get("number")
    number = number if isinstance(number, int) else 0
    return IssueFacts(
        id=str(case.get("id") or number),
        number=number,
        title=_text(issue.get("title")),
        body=_text(issue.get("body")),
        labels=tuple(_label_name(label) for label in _sequence(issue.get("labels"), "labels")),
        author=_account(issue.get("user")),
        association=_text(issue.get("author_association")) or "NONE",
        state=_text(issue.get("state")) or "open",
        locked=issue.get("locked") is True,
        is_pull_request=issue.get("pull_request") is not None,
        thumbs_up=_thumbs_up(issue.get("reactions")),
        url=_text(issue.get("html_url")),
        created_at=_text(issue.get("created_at")),
        comments=tuple(comment_from_rest(comment) for comment in comments),
        timeline=tuple(_label_changes(events)) or None,
    )


def comment_from_rest(comment: object) -> CommentFacts:
    """One comment of the REST answer."""
    data = _mapping(comment, "comments")
    number = data.get("id")
    return CommentFacts(
        author=_account(data.get("user")),
        association=_text(data.get("author_association")) or "NONE",
        body=_text(data.get("body")),
        created_at=_text(data.get("created_at")),
        id=number if isinstance(number, int) else 0,
    )


def _label_changes(events: list[Any]) -> list[LabelChange]:
    changes = []
    for event in events:
        data = _mapping(event, "timeline")
        if data.get("event") in (LABELED, UNLABELED):
            name = _label_name(data.get("label"))
            actor = _account(data.get("actor"))
            changes.append(LabelChange(data["event"], name, actor, _text(data.get("created_at"))))
    return sorted(changes, key=lambda change: change.created_at)


def _label_name(label: object) -> str:
    if isinstance(label, Mapping):
        return _text(label.get("name"))
    return _text(label)


def _account(user: object) -> Account:
    if not isinstance(user, Mapping):
        return NOBODY  # a deleted account
    return Account(_text(user.get("login")) or NOBODY.login, user.get("type") == "Bot")


def _thumbs_up(reactions: object) -> int:
    count = reactions.get("+1") if isinstance(reactions, Mapping) else 0
    return count if isinstance(count, int) else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _mapping(value: object, name: str) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    kind = type(value).__name__
    raise UsageError(
        f'"{name}" is {kind}, not an object', "Give an issue as GitHub's REST API answers it"
    )


def _sequence(value: object, name: str) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, list):
        return value
    kind = type(value).__name__
    raise UsageError(
        f'"{name}" is {kind}, not a list', "Give an issue as GitHub's REST API answers it"
    )
