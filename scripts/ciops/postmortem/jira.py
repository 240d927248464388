"""Jira's comments over REST: Cloud at its site or the scoped-token address, and Data Center.

Cloud takes ADF at `/rest/api/3`, wiki markup at `/rest/api/2`; Data Center has the latter alone.
https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-issue-comments/
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ciops.errors import RefusedError, ServiceError, UsageError
from ciops.plumbing.http import Client, Json, NotFoundError, segment
from ciops.postmortem.payload import Payload

SCOPED_API: Final = "https://api.atlassian.com"
PAGE: Final = 100
API_OF: Final[Mapping[type, str]] = {dict: "3", str: "2"}


@dataclass(frozen=True, slots=True)
class Jira:
    """One site; `scoped` is the path of a scoped token's address, else ""."""

    client: Client
    site: str
    is_cloud: bool
    scoped: str = ""

    def path(self, api: str, rest: str) -> str:
        return f"{self.scoped}/rest/api/{api}/{rest}"


@dataclass(frozen=True, slots=True)
class Posted:
    """A comment that is there: `fresh` when this run wrote it, `edited` when changed since."""

    id: str
    url: str
    fresh: bool
    edited: bool = False


def open_jira(
    env: Mapping[str, str],
    site: str,
    log: Callable[[str], None] = lambda _: None,
    sleep: Callable[[float], None] = time.sleep,
) -> Jira:
    """The site with the credentials that are set; raises UsageError when none are."""
    token, mail, pat = (env.get(name) for name in ("JIRA_API_TOKEN", "JIRA_EMAIL", "JIRA_PAT"))
    if token and mail:
        cloud = env.get("JIRA_CLOUD_ID", "")
        base = env.get("JIRA_SCOPED_API_URL", SCOPED_API) if cloud else site
        scoped = f"ex/jira/{segment(cloud)}" if cloud else ""
        client = Client("Jira", base, f"{mail}:{token}", auth="basic", log=log, sleep=sleep)
        return Jira(client, site, is_cloud=True, scoped=scoped)
    if pat:
        return Jira(Client("Jira", site, pat, log=log, sleep=sleep), site, is_cloud=False)
    problem = "no Jira credentials are set"
    step = "Set JIRA_EMAIL and JIRA_API_TOKEN (Cloud) or JIRA_PAT (Data Center)"
    raise UsageError(problem, step)


def has_credentials(env: Mapping[str, str]) -> bool:
    return bool(env.get("JIRA_PAT") or (env.get("JIRA_EMAIL") and env.get("JIRA_API_TOKEN")))


def project_type(jira: Jira, key: str) -> str:
    """The type of an issue's project ("software", "service_desk", …); raises NotFoundError."""
    api = "3" if jira.is_cloud else "2"
    reply = jira.client.get(jira.path(api, f"issue/{segment(key)}"), {"fields": "project"})
    project = _child(_child(reply.data, "fields"), "project")
    return str(project.get("projectTypeKey", ""))


def publish(jira: Jira, payload: Payload, digest: str, property_key: str) -> Posted:
    """Post the payload unless its comment is there already; look before every retry.

    Exactly one comment results, whatever answers are lost: the digest is a property of the comment,
    written in the same request.
    """
    api = _api_for(jira, payload)
    comments = jira.path(api, f"issue/{segment(payload.issue)}/comment")
    mark = {"digest": digest}

    def there() -> dict[str, Any] | None:
        return _find(jira, api, comments, property_key, mark)

    existing = there()
    if existing is not None:
        return _posted(jira, payload, existing, fresh=False)
    body: dict[str, Any] = {
        "body": payload.body,
        "properties": [{"key": property_key, "value": mark}],
    }
    if payload.visibility is not None:
        body["visibility"] = payload.visibility_data()
    reply = jira.client.post(comments, body, there)
    return _posted(jira, payload, _child({"": reply.data}, ""), fresh=True)


def _api_for(jira: Jira, payload: Payload) -> str:
    if isinstance(payload.body, dict) and not jira.is_cloud:
        problem = "this payload is ADF, and Data Center takes wiki markup"
        raise RefusedError(problem, "Render the record with --to jira-server and approve that")
    return API_OF[type(payload.body)]


def _find(
    jira: Jira, api: str, comments: str, property_key: str, mark: Mapping[str, str]
) -> dict[str, Any] | None:
    """The comment of this account that carries the digest, newest first."""
    me = _identity(jira.client.get(jira.path(api, "myself")).data)
    if not me:
        raise _nonsense("does not say whose account the token is")
    for comment in _newest(jira, comments):
        if _identity(comment.get("author")) != me:
            continue
        path = jira.path(api, f"comment/{segment(str(comment.get('id')))}/properties")
        try:
            found = jira.client.get(f"{path}/{segment(property_key)}").data
        except NotFoundError:
            continue
        if _child(found, "value") == dict(mark):
            return comment
    return None


def _newest(jira: Jira, comments: str) -> Iterator[dict[str, Any]]:
    """Each comment once, whatever the pages overlap; raises ServiceError for what is no page.

    An answer that cannot be read is not "no comment": posting on it could post twice.
    """
    start, seen = 0, set[str]()
    while True:
        query = {"orderBy": "-created", "startAt": start, "maxResults": PAGE}
        rows, total = _page(jira.client.get(comments, query).data)
        fresh = [row for row in rows if str(row.get("id")) not in seen]
        yield from fresh
        seen.update(str(row.get("id")) for row in fresh)
        start += len(rows)
        if not fresh or start >= total:
            return


def _page(data: Json) -> tuple[list[dict[str, Any]], int]:
    rows = data.get("comments") if isinstance(data, dict) else None
    total = data.get("total") if isinstance(data, dict) else None
    if not isinstance(rows, list) or not isinstance(total, int):
        raise _nonsense("is no page of comments")
    if not all(isinstance(row, dict) for row in rows):
        raise _nonsense("holds a comment that is none")
    return rows, total


def _nonsense(what: str) -> ServiceError:
    step = "Look whether JIRA_BASE_URL leads to Jira itself; nothing was posted after this answer"
    return ServiceError(f"Jira's answer {what}", step)


def _identity(person: Json) -> str:
    """The account id of Cloud, the key or name of Data Center."""
    known = person if isinstance(person, dict) else {}
    return str(known.get("accountId") or known.get("key") or known.get("name") or "")


def _child(data: Json, key: str) -> dict[str, Any]:
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, dict) else {}


def _posted(jira: Jira, payload: Payload, comment: Mapping[str, Any], *, fresh: bool) -> Posted:
    number = str(comment.get("id", ""))
    url = f"{jira.site}/browse/{payload.issue}"
    edited = comment.get("updated", comment.get("created")) != comment.get("created")
    return Posted(number, f"{url}?focusedCommentId={number}" if number else url, fresh, edited)
