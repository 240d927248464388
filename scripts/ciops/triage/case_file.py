"""Facts as a case file holds them: GitHub's REST shape, which `decide` and `backtest` read."""

from __future__ import annotations

from typing import Any

from ciops.triage.facts import Account, CommentFacts, IssueFacts, LabelChange


def to_case(facts: IssueFacts) -> dict[str, Any]:
    """`{"id", "issue", "comments", "timeline"}`; `facts.from_rest` reads it back."""
    return {
        "id": facts.id,
        "issue": _issue(facts),
        "comments": [_comment(comment) for comment in facts.comments],
        "timeline": [_event(change) for change in facts.timeline or ()],
    }


def _issue(facts: IssueFacts) -> dict[str, Any]:
    issue = {
        "number": facts.number,
        "title": facts.title,
        "body": facts.body,
        "state": facts.state,
        "locked": facts.locked,
        "labels": [{"name": name} for name in facts.labels],
        "user": _user(facts.author),
        "author_association": facts.association,
        "comments": len(facts.comments),
        "reactions": {"+1": facts.thumbs_up},
        "created_at": facts.created_at,
        "html_url": facts.url,
    }
    return {**issue, "pull_request": {}} if facts.is_pull_request else issue


def _comment(comment: CommentFacts) -> dict[str, Any]:
    return {
        "id": comment.id,
        "user": _user(comment.author),
        "author_association": comment.association,
        "body": comment.body,
        "created_at": comment.created_at,
    }


def _event(change: LabelChange) -> dict[str, Any]:
    return {
        "event": change.event,
        "label": {"name": change.label},
        "actor": _user(change.actor),
        "created_at": change.created_at,
    }


def _user(account: Account) -> dict[str, str]:
    return {"login": account.login, "type": "Bot" if account.is_bot else "User"}
