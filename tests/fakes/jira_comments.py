"""Comments, their properties, the issue and the account: all that a publish needs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fakes.contract import adf_check
from fakes.jira_state import Issue, add_comment, shown
from fakes.messages import Asked, Reply, Route, Watched

if TYPE_CHECKING:
    from fakes.jira import FakeJira

TEXT_LIMIT = 32_767
PROPERTY_KEY_LIMIT = 255
PROPERTY_LIMIT = 32_768
MISSING = "Issue does not exist or you do not have permission to see it."


def list_comments(jira: FakeJira, asked: Asked) -> Reply:
    """Oldest first unless asked otherwise; at most `page_limit` at once."""
    issue, query = _issue(jira, asked), asked.query
    if issue is None:
        return jira.error(404, MISSING)
    comments = sorted(issue.comments, key=lambda comment: (comment["created"], comment["id"]))
    if query.get("orderBy", "created").startswith("-"):
        comments.reverse()
    start, size = query["startAt"], min(query["maxResults"], jira.page_limit)
    page = [shown(comment) for comment in comments[start : start + size]]
    counts = {"startAt": start, "maxResults": size, "total": len(comments)}
    return Reply(body={"comments": page, **counts})


def create_comment(jira: FakeJira, asked: Asked) -> Reply:
    """Refuses a body that is no ADF (Cloud) or no text (Data Center), and one too long."""
    issue = _issue(jira, asked)
    if issue is None:
        return jira.error(404, MISSING)
    given = {key: asked.body.get(key) for key in ("body", "visibility", "properties")}
    if asked.account and (asked.account.permissions or {}).get("comment") == "none":
        return jira.error(400, "You do not have the permission to comment on this issue.")
    refusal = _body_problem(jira, given["body"]) or _property_problem(jira, given["properties"])
    if refusal is not None:
        jira.refused_bodies.append(given["body"])
        return refusal
    comment = add_comment(jira, issue, given, jira.actor(asked))
    return Reply(201, shown(comment), {"Location": comment["self"]})


def list_properties(jira: FakeJira, asked: Asked) -> Reply:
    comment_id = asked.path["commentId"]
    comment = jira.find_comment(comment_id)
    if comment is None:
        return jira.error(404, f"Can not find a comment for the id: {comment_id}.")
    url = f"{jira.api_url}/comment/{comment_id}/properties"
    return Reply(
        body={"keys": [{"key": key, "self": f"{url}/{key}"} for key in comment["properties"]]}
    )


def get_property(jira: FakeJira, asked: Asked) -> Reply:
    comment_id, key = asked.path["commentId"], asked.path["propertyKey"]
    properties = (jira.find_comment(comment_id) or {}).get("properties", {})
    if key not in properties:
        return jira.error(404, f"The property {key} does not exist.")
    return Reply(body={"key": key, "value": properties[key]})


def put_property(jira: FakeJira, asked: Asked) -> Reply:
    """201 for a new property, 200 for one that is replaced."""
    comment_id, key = asked.path["commentId"], asked.path["propertyKey"]
    comment = jira.find_comment(comment_id)
    if comment is None:
        return jira.error(404, f"Can not find a comment for the id: {comment_id}.")
    value = asked.body
    if isinstance(value, Watched):
        value.unread.clear()  # what it holds is the caller's own
        value = dict(value)
    refusal = _property_problem(jira, [{"key": key, "value": value}])
    if refusal is not None:
        return refusal
    new = key not in comment["properties"]
    comment["properties"][key] = value
    return Reply(201 if new else 200, {})


def get_issue(jira: FakeJira, asked: Asked) -> Reply:
    """The summary and the project, whose type tells a service project."""
    issue = _issue(jira, asked)
    if issue is None:
        return jira.error(404, MISSING)
    prefix = issue.key.split("-")[0]
    fields: dict[str, Any] = {
        "summary": issue.summary,
        "project": {
            "id": "10000",
            "key": prefix,
            "name": prefix,
            "projectTypeKey": issue.project_type,
            "self": f"{jira.api_url}/project/10000",
        },
    }
    wanted = {name for part in asked.query.get("fields", ()) for name in part.split(",")}
    kept = {name: fields[name] for name in fields if not wanted or {name, "*all"} & wanted}
    link = f"{jira.api_url}/issue/{issue.id}"
    return Reply(body={"id": issue.id, "key": issue.key, "self": link, "fields": kept})


def get_myself(jira: FakeJira, asked: Asked) -> Reply:
    return Reply(body=jira.user(jira.actor(asked)))


def _issue(jira: FakeJira, asked: Asked) -> Issue | None:
    wanted = asked.path["issueIdOrKey"]
    found = (issue for issue in jira.issues.values() if wanted in (issue.key, issue.id))
    return next(found, None)


def _body_problem(jira: FakeJira, body: Any) -> Reply | None:
    if not body:
        return jira.invalid("comment", "Comment body can not be empty!")
    if jira.data_center:
        if not isinstance(body, str):
            return jira.error(400, "Can not deserialize instance of java.lang.String")
        length = len(body)
    else:
        if not isinstance(body, dict) or adf_check()(body) is not None:
            return jira.invalid("comment", "Comment body is not valid!")
        length = len(json.dumps(body) if jira.length_of == "json" else _text(body))
    if length > TEXT_LIMIT:
        too_long = (
            "The entered text is too long. It exceeds the allowed limit of 32,767 characters."
        )
        return jira.invalid("comment", too_long)
    return None


def _property_problem(jira: FakeJira, properties: list[dict[str, Any]] | None) -> Reply | None:
    for part in properties or ():
        if not 0 < len(part["key"]) <= PROPERTY_KEY_LIMIT:
            return jira.error(400, "The property key must have 1 to 255 characters.")
        if part["value"] in (None, "") or len(json.dumps(part["value"])) > PROPERTY_LIMIT:
            return jira.error(400, "The property value must be non-empty JSON of at most 32768.")
    return None


def _text(node: dict[str, Any]) -> str:
    """The text of an ADF document."""
    return str(node.get("text", "")) + "".join(_text(part) for part in node.get("content", ()))


def routes(api: str) -> dict[str, Route]:
    """The same resources at `/rest/api/3` and `/rest/api/2`."""
    return {
        f"GET {api}/issue/{{issueIdOrKey}}/comment": list_comments,
        f"POST {api}/issue/{{issueIdOrKey}}/comment": create_comment,
        f"GET {api}/comment/{{commentId}}/properties": list_properties,
        f"GET {api}/comment/{{commentId}}/properties/{{propertyKey}}": get_property,
        f"PUT {api}/comment/{{commentId}}/properties/{{propertyKey}}": put_property,
        f"GET {api}/issue/{{issueIdOrKey}}": get_issue,
        f"GET {api}/myself": get_myself,
    }
