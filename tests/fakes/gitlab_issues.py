"""Issues, notes, labels and label events, with quick actions that act."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fakes.gitlab_quick_actions import ACTING, QuickAction, extract
from fakes.gitlab_shapes import Json
from fakes.gitlab_state import Project
from fakes.messages import Asked, Reply, Route

if TYPE_CHECKING:
    from fakes.gitlab import FakeGitLab

PLANNER, REPORTER = 15, 20


def list_issues(forge: FakeGitLab, asked: Asked) -> Reply:
    project, query = forge.project_of(asked), asked.query
    query.get("scope")  # a project's issues are all of them
    found = [issue for issue in project.issues.values() if _wanted(forge, issue, asked)]
    key = query.get("order_by", "created_at")
    reverse = query.get("sort", "desc") == "desc"
    found.sort(key=lambda issue: (issue[key], issue["id"]), reverse=reverse)
    if query.get("with_labels_details"):
        found = [{**issue, "labels": _details(project, issue)} for issue in found]
    if query.get("pagination") == "keyset":
        return forge.keyset_page(asked, found)
    return forge.page(asked, found)


def get_issue(forge: FakeGitLab, asked: Asked) -> Reply:
    issue = _issue(forge, asked)
    return forge.error(404, "404 Not found") if issue is None else Reply(body=issue)


def create_issue(forge: FakeGitLab, asked: Asked) -> Reply:
    """Missing labels are made silently; quick actions of the description act."""
    project, body = forge.project_of(asked), asked.body
    text, actions = extract(body.get("description") or "")
    issue = project.add_issue(
        {
            "iid": max(project.issues, default=0) + 1,
            "title": body["title"],
            "description": text,
            "author": forge.actor(asked),
            "created_at": forge.timestamp(),
            "confidential": body.get("confidential", False),
            "issue_type": body.get("issue_type", "issue"),
        }
    )
    put_labels(forge, project, issue, _names(body.get("labels")), forge.actor(asked))
    _act(forge, project, issue, actions, forge.actor(asked))
    return Reply(201, issue)


def update_issue(forge: FakeGitLab, asked: Asked) -> Reply:
    project, issue = forge.project_of(asked), _issue(forge, asked)
    if issue is None:
        return forge.error(404, "404 Not found")
    body, by = asked.body, forge.actor(asked)
    if asked.account is not None and asked.account.access_level < PLANNER:
        return forge.error(403, "403 Forbidden")
    for key in ("title", "confidential", "discussion_locked", "issue_type"):
        if body.get(key) is not None:
            issue[key] = body[key]
    if body.get("description") is not None:
        text, actions = extract(body["description"])
        issue["description"] = text
        _act(forge, project, issue, actions, by)
    if body.get("labels") is not None:
        wanted = _names(body["labels"])
        take_labels(forge, project, issue, [n for n in issue["labels"] if n not in wanted], by)
        put_labels(forge, project, issue, wanted, by)
    put_labels(forge, project, issue, _names(body.get("add_labels")), by)
    take_labels(forge, project, issue, _names(body.get("remove_labels")), by)
    _set_state(forge, issue, body.get("state_event"), by)
    issue["updated_at"] = forge.timestamp()
    return Reply(body=issue)


def list_notes(forge: FakeGitLab, asked: Asked) -> Reply:
    """Newest first, system notes among them."""
    project, query = forge.project_of(asked), asked.query
    if _issue(forge, asked) is None:
        return forge.error(404, "404 Not found")
    system = {"only_comments": False, "only_activity": True}.get(query.get("activity_filter", ""))
    notes = [part for part in project.notes[asked.path["iid"]] if system in (None, part["system"])]
    key = query.get("order_by", "created_at")
    notes.sort(key=lambda note: (note[key], note["id"]), reverse=query.get("sort") != "asc")
    return forge.page(asked, notes)


def create_note(forge: FakeGitLab, asked: Asked) -> Reply:
    """A note of nothing but quick actions answers 202, and no note is there afterwards."""
    project, issue = forge.project_of(asked), _issue(forge, asked)
    if issue is None:
        return forge.error(404, "404 Not found")
    if issue["discussion_locked"] and asked.account and asked.account.access_level < REPORTER:
        return forge.error(403, "403 Forbidden")
    text, actions = extract(asked.body["body"])
    _act(forge, project, issue, actions, forge.actor(asked))
    if not text.strip():
        if not actions:
            return forge.error(400, '400 Bad request - Note {:note=>["can\'t be blank"]}')
        changes = {action.name: action.argument for action in actions}
        return Reply(202, {"commands_changes": changes, "summary": ["Applied."]})
    note = forge.add_note(
        project, issue["iid"], text, forge.actor(asked), asked.body.get("internal", False)
    )
    return Reply(201, note)


def delete_note(forge: FakeGitLab, asked: Asked) -> Reply:
    project, iid = forge.project_of(asked), asked.path["iid"]
    for note in project.notes.get(iid, []):
        if note["id"] == asked.path["note_id"]:
            project.remove_note(iid, note)
            return Reply(204)
    return forge.error(404, "404 Note Not Found")


def list_labels(forge: FakeGitLab, asked: Asked) -> Reply:
    project, query = forge.project_of(asked), asked.query
    query.get("include_ancestor_groups")  # projects here have no group labels
    sought = query.get("search", "").lower()
    labels = [label for name, label in project.labels.items() if sought in name.lower()]
    if query.get("with_counts"):
        none = {"open_issues_count": 0, "closed_issues_count": 0, "open_merge_requests_count": 0}
        labels = [{**label, **none} for label in labels]
    return forge.page(asked, sorted(labels, key=lambda label: str(label["name"])))


def list_label_events(forge: FakeGitLab, asked: Asked) -> Reply:
    if _issue(forge, asked) is None:
        return forge.error(404, "404 Not found")
    return forge.page(asked, forge.project_of(asked).label_events[asked.path["iid"]])


def put_labels(forge: FakeGitLab, project: Project, issue: Json, names: list[str], by: str) -> None:
    for name in names:
        if name not in project.labels:
            forge.created_labels.append(name)
        label = project.add_label(name)
        if name not in issue["labels"]:
            take_labels(forge, project, issue, _replaced(issue, name), by)
            issue["labels"] = [*issue["labels"], name]
            _tell(forge, project, issue, "add", label, by)


def take_labels(
    forge: FakeGitLab, project: Project, issue: Json, names: list[str], by: str
) -> None:
    for name in names:
        if name in issue["labels"]:
            issue["labels"] = [known for known in issue["labels"] if known != name]
            _tell(forge, project, issue, "remove", project.labels[name], by)


def _replaced(issue: Json, name: str) -> list[str]:
    """A scoped label, `scope::value`, takes the place of the others of its scope.

    https://docs.gitlab.com/user/project/labels/#scoped-labels
    """
    scope, separator, _ = name.rpartition("::")
    if not separator:
        return []
    return [known for known in issue["labels"] if known.rpartition("::")[0] == scope]


def _tell(
    forge: FakeGitLab, project: Project, issue: Json, action: str, label: Json, by: str
) -> None:
    when = forge.timestamp()
    event = {"action": action, "label": label, "user": by, "created_at": when}
    project.add_label_event(issue["iid"], event)
    issue["updated_at"] = when


def _act(
    forge: FakeGitLab, project: Project, issue: Json, actions: list[QuickAction], by: str
) -> None:
    forge.quick_actions.extend((issue["iid"], action) for action in actions)
    for action in actions:
        if action.name not in ACTING:
            continue
        if action.name in ("close", "reopen"):
            _set_state(forge, issue, action.name, by)
        elif action.name in ("label", "labels", "relabel"):
            _relabel(forge, project, issue, action, by)
        elif action.name in ("unlabel", "remove_label"):
            gone = action.labels or list(issue["labels"])
            take_labels(forge, project, issue, gone, by)
        elif action.name == "title":
            issue["title"] = action.argument
        elif action.name == "confidential":
            issue["confidential"] = True
        else:
            issue["discussion_locked"] = action.name == "lock"


def _relabel(
    forge: FakeGitLab, project: Project, issue: Json, action: QuickAction, by: str
) -> None:
    """`/label` takes only labels that exist; `/relabel` first removes all others."""
    known = [name for name in action.labels if name in project.labels]
    if action.name == "relabel":
        gone = [name for name in issue["labels"] if name not in known]
        take_labels(forge, project, issue, gone, by)
    put_labels(forge, project, issue, known, by)


def _set_state(forge: FakeGitLab, issue: Json, event: str | None, by: str) -> None:
    if event is None:
        return
    closing = event == "close"
    issue["state"] = "closed" if closing else "opened"
    issue["closed_at"] = forge.timestamp() if closing else None
    issue["closed_by"] = forge.shapes.user(by) if closing else None


def _issue(forge: FakeGitLab, asked: Asked) -> Json | None:
    return forge.project_of(asked).issues.get(asked.path["iid"])


def _wanted(forge: FakeGitLab, issue: Json, asked: Asked) -> bool:
    query = asked.query
    author, kind = query.get("author_username"), query.get("issue_type")
    iids, confidential = query.get("iids[]"), query.get("confidential")
    return (
        query.get("state", "all") in ("all", issue["state"])
        and _labelled(issue, query.get("labels"))
        and not set(_names(query.get("not[labels]"))) & set(issue["labels"])
        and author in (None, issue["author"]["username"])
        and kind in (None, issue["issue_type"])
        and confidential in (None, issue["confidential"])
        and (iids is None or issue["iid"] in iids)
        and forge.matches(issue, query.get("search"), query.get("in"))
        and forge.within(issue, query)
    )


def _labelled(issue: Json, wanted: str | None) -> bool:
    if wanted is None or wanted == "":
        return True
    if wanted.lower() in ("none", "any"):
        return bool(issue["labels"]) is (wanted.lower() == "any")
    return set(_names(wanted)) <= set(issue["labels"])


def _details(project: Project, issue: Json) -> list[Json]:
    return [project.shapes.label_basic(project.labels[name]) for name in issue["labels"]]


def _names(labels: Any) -> list[str]:
    """Label names of `"a,b"` or `["a", "b"]`."""
    listed = labels.split(",") if isinstance(labels, str) else labels or ()
    return [name.strip() for name in listed if name.strip()]


ROUTES: dict[str, Route] = {
    "GET /projects/{id}/issues": list_issues,
    "POST /projects/{id}/issues": create_issue,
    "GET /projects/{id}/issues/{iid}": get_issue,
    "PUT /projects/{id}/issues/{iid}": update_issue,
    "GET /projects/{id}/issues/{iid}/notes": list_notes,
    "POST /projects/{id}/issues/{iid}/notes": create_note,
    "DELETE /projects/{id}/issues/{iid}/notes/{note_id}": delete_note,
    "GET /projects/{id}/issues/{iid}/resource_label_events": list_label_events,
    "GET /projects/{id}/labels": list_labels,
}
