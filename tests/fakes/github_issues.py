"""Issues, comments, labels, events: the routes that issue-triage lives on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fakes.github_shapes import number_of
from fakes.github_state import Json, Repository
from fakes.messages import Asked, Reply, Route
from fakes.moments import between

if TYPE_CHECKING:
    from fakes.github import FakeGitHub

COMMENT_LIMIT = 65_536
LABELS_AN_ISSUE = 100
LABEL_NAME_LIMIT = 50


def list_issues(forge: FakeGitHub, asked: Asked) -> Reply:
    """Issues and pull requests, as GitHub mixes them."""
    repository = forge.repository_of(asked)
    if not repository.has_issues:
        return forge.error(404, "Not Found")
    query = asked.query
    wanted = {name.strip().lower() for name in query.get("labels", "").split(",") if name.strip()}
    found = [
        issue
        for issue in repository.issues.values()
        if query["state"] in ("all", issue["state"])
        and wanted <= {label["name"].lower() for label in issue["labels"]}
        and between(issue["updated_at"], query, "since", "")
        and _by(issue["user"], query.get("creator"))
    ]
    key = {"created": "created_at", "updated": "updated_at", "comments": "comments"}[query["sort"]]
    reverse = query["direction"] == "desc"
    found.sort(key=lambda issue: (issue[key], issue["number"]), reverse=reverse)
    return forge.page(asked, repository, found)


def get_issue(forge: FakeGitHub, asked: Asked) -> Reply:
    return _gone(forge, asked) or Reply(body=_issue(forge, asked))


def create_issue(forge: FakeGitHub, asked: Asked) -> Reply:
    """Labels that the repository lacks are made silently, as GitHub does."""
    repository = forge.repository_of(asked)
    if not repository.has_issues:
        return forge.error(410, "Issues has been disabled in this repository.")
    number = forge.next_number(repository)
    author = forge.actor(asked)
    wanted = asked.body.get("labels", ())
    labels = [label if isinstance(label, str) else label["name"] for label in wanted]
    for name in labels:
        forge.known_label(repository, name)
    issue = repository.add_issue(
        {
            "number": number,
            "title": str(asked.body["title"]),
            "body": asked.body.get("body"),
            "user": author,
            "labels": labels,
            "assignees": asked.body.get("assignees", ()),
            "created_at": forge.timestamp(),
        }
    )
    return Reply(201, issue, {"Location": issue["url"]})


def list_comments(forge: FakeGitHub, asked: Asked) -> Reply:
    gone = _gone(forge, asked)
    if gone is not None:
        return gone
    repository, number = forge.repository_of(asked), asked.path["issue_number"]
    comments = [
        part
        for part in repository.comments[number]
        if between(part["updated_at"], asked.query, "since", "")
    ]
    return forge.page(asked, repository, comments)


def create_comment(forge: FakeGitHub, asked: Asked) -> Reply:
    gone = _gone(forge, asked)
    if gone is not None:
        return gone
    if _issue(forge, asked)["locked"]:
        return forge.error(403, "Unable to create comment because issue is locked.")
    body = asked.body["body"]
    if not body.strip():
        return forge.invalid("IssueComment", "body", "body can't be blank")
    if len(body) > COMMENT_LIMIT:
        too_long = "body is too long (maximum is 65536 characters)"
        return forge.invalid("IssueComment", "body", too_long)
    repository, number = forge.repository_of(asked), asked.path["issue_number"]
    comment = forge.add_comment(repository, number, body, forge.actor(asked))
    return Reply(201, comment, {"Location": comment["url"]})


def get_comment(forge: FakeGitHub, asked: Asked) -> Reply:
    found = _comment(forge, asked)
    return forge.error(404, "Not Found") if found is None else Reply(body=found[1])


def update_comment(forge: FakeGitHub, asked: Asked) -> Reply:
    found = _comment(forge, asked)
    if found is None:
        return forge.error(404, "Not Found")
    found[1]["body"] = asked.body["body"]
    found[1]["updated_at"] = forge.timestamp()
    return Reply(body=found[1])


def delete_comment(forge: FakeGitHub, asked: Asked) -> Reply:
    found = _comment(forge, asked)
    if found is None:
        return forge.error(404, "Not Found")
    number, comment = found
    repository = forge.repository_of(asked)
    repository.comments[number].remove(comment)
    repository.issues[number]["comments"] -= 1
    return Reply(204)


def list_labels(forge: FakeGitHub, asked: Asked) -> Reply:
    repository = forge.repository_of(asked)
    return forge.page(asked, repository, list(repository.labels.values()))


def list_issue_labels(forge: FakeGitHub, asked: Asked) -> Reply:
    gone = _gone(forge, asked)
    labels = [] if gone else _issue(forge, asked)["labels"]
    return gone or forge.page(asked, forge.repository_of(asked), labels)


def add_labels(forge: FakeGitHub, asked: Asked) -> Reply:
    """Adds in any case, makes what is missing, and keeps suggestions apart."""
    gone = _gone(forge, asked)
    if gone is not None:
        return gone
    wanted = (asked.body or {}).get("labels", [])
    if forge.plain_labels_only and any(not isinstance(label, str) for label in wanted):
        return forge.invalid("Label", "name", "name is invalid")
    entries = [{"name": label} if isinstance(label, str) else label for label in wanted]
    repository, number = forge.repository_of(asked), asked.path["issue_number"]
    if any(not 0 < len(entry["name"]) <= LABEL_NAME_LIMIT for entry in entries):
        return forge.invalid("Label", "name", "name is too long (maximum is 50 characters)")
    suggested = [entry for entry in entries if entry.get("suggest")]
    added = _missing(repository, number, [part for part in entries if not part.get("suggest")])
    if len(repository.issues[number]["labels"]) + len(added) > LABELS_AN_ISSUE:
        return forge.invalid("Label", "labels", "an issue has at most 100 labels")
    repository.suggestions.setdefault(number, []).extend(dict(entry) for entry in suggested)
    for entry in added:
        forge.put_label(repository, number, entry["name"], forge.actor(asked), _intent(entry))
    labels = repository.issues[number]["labels"]
    return Reply(body=labels, changed=bool(added or suggested))


def remove_label(forge: FakeGitHub, asked: Asked) -> Reply:
    gone = _gone(forge, asked)
    if gone is not None:
        return gone
    repository, number = forge.repository_of(asked), asked.path["issue_number"]
    if not forge.take_label(repository, number, asked.path["name"], forge.actor(asked)):
        return forge.error(404, "Label does not exist")
    return Reply(body=repository.issues[number]["labels"])


def list_events(forge: FakeGitHub, asked: Asked) -> Reply:
    """Events without comments and cross-references, which only the timeline shows."""
    gone = _gone(forge, asked)
    if gone is not None:
        return gone
    repository, number = forge.repository_of(asked), asked.path["issue_number"]
    hidden = ("commented", "cross-referenced")
    events = [event for event in repository.events[number] if event["event"] not in hidden]
    return forge.page(asked, repository, events)


def list_timeline(forge: FakeGitHub, asked: Asked) -> Reply:
    gone = _gone(forge, asked)
    if gone is not None:
        return gone
    repository, number = forge.repository_of(asked), asked.path["issue_number"]
    comments = [forge.shapes.comment_event(part) for part in repository.comments[number]]
    entries = repository.events[number] + comments
    entries.sort(key=lambda entry: str(entry["created_at"]))
    return forge.page(asked, repository, entries)


def _issue(forge: FakeGitHub, asked: Asked) -> Json:
    return forge.repository_of(asked).issues[asked.path["issue_number"]]


def _gone(forge: FakeGitHub, asked: Asked) -> Reply | None:
    """The answer for an issue that is not there: moved, deleted, or never was."""
    repository, number = forge.repository_of(asked), asked.path["issue_number"]
    if number in repository.transferred and "301" in asked.operation.responses:
        target, new_number = repository.transferred[number]
        return forge.moved(f"/repositories/{number_of(target.lower())}/issues/{new_number}")
    if number in repository.deleted and "410" in asked.operation.responses:
        return forge.error(410, "This issue was deleted")
    return None if number in repository.issues else forge.error(404, "Not Found")


def _comment(forge: FakeGitHub, asked: Asked) -> tuple[int, Json] | None:
    for number, comments in forge.repository_of(asked).comments.items():
        for comment in comments:
            if comment["id"] == asked.path["comment_id"]:
                return number, comment
    return None


def _missing(repository: Repository, number: int, entries: list[Json]) -> list[Json]:
    """The entries whose label the issue does not have yet, each once."""
    present = {name.lower() for name in repository.label_names(number)}
    first = {entry["name"].lower(): entry for entry in reversed(entries)}
    order = dict.fromkeys(entry["name"].lower() for entry in entries)
    return [first[name] for name in order if name not in present]


def _intent(entry: Mapping[str, Any]) -> Json | None:
    """What an event tells of the reason for a label."""
    if not entry.keys() & {"rationale", "confidence"}:
        return None
    confidence = entry.get("confidence")
    return {"rationale": entry.get("rationale"), "confidence": confidence and confidence.upper()}


def _by(user: Json | None, creator: str | None) -> bool:
    return creator is None or (user is not None and user["login"].lower() == creator.lower())


ROUTES: dict[str, Route] = {
    "GET /repos/{owner}/{repo}/issues": list_issues,
    "POST /repos/{owner}/{repo}/issues": create_issue,
    "GET /repos/{owner}/{repo}/issues/{issue_number}": get_issue,
    "GET /repos/{owner}/{repo}/issues/{issue_number}/comments": list_comments,
    "POST /repos/{owner}/{repo}/issues/{issue_number}/comments": create_comment,
    "GET /repos/{owner}/{repo}/issues/comments/{comment_id}": get_comment,
    "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}": update_comment,
    "DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}": delete_comment,
    "GET /repos/{owner}/{repo}/labels": list_labels,
    "GET /repos/{owner}/{repo}/issues/{issue_number}/labels": list_issue_labels,
    "POST /repos/{owner}/{repo}/issues/{issue_number}/labels": add_labels,
    "DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}": remove_label,
    "GET /repos/{owner}/{repo}/issues/{issue_number}/events": list_events,
    "GET /repos/{owner}/{repo}/issues/{issue_number}/timeline": list_timeline,
}
