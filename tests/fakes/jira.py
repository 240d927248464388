"""A stateful Jira on loopback: Cloud (REST v3, ADF) or Data Center (REST v2, wiki markup).

    with FakeJira(issues={"DBG-7": {"summary": "Hang at exit"}}) as jira:
        ...  # JIRA_BASE_URL=jira.url JIRA_EMAIL=a@example.com JIRA_API_TOKEN=anything
    assert jira.writes == []

`python -m fakes.jira --data FILE --port 0` serves it from a command line.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from fakes import jira_comments
from fakes.command_line import serve
from fakes.contract import load
from fakes.jira_data_center import contract as data_center_contract
from fakes.jira_state import Issue, Json, load_issue
from fakes.messages import Account, Asked, Reply, Route
from fakes.moments import iso
from fakes.server import FakeServer
from fakes.wire import Incoming

SCOPED = "scoped"
SCOPED_ADDRESS = re.compile(r"/ex/jira/([^/]+)(/.*)")


class FakeJira(FakeServer):
    """One Jira site. `url` is its address; README.md lists the switches."""

    service = "Jira"

    def __init__(
        self,
        issues: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        data_center: bool = False,
        cloud_id: str = "11111111-2222-3333-4444-555555555555",
        tokens: Mapping[str, Account] | None = None,
        account: str = "bot@example.com",
        length_of: str = "json",
        page_limit: int = 100,
        root: str = "",
        port: int = 0,
        keep_requests: bool = True,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.base_path = root
        spoken = data_center_contract() if data_center else load("jira")
        super().__init__(spoken, port=port, keep_requests=keep_requests, now=now)
        version = "2" if data_center else "3"
        self.routes = jira_comments.routes(f"/rest/api/{version}")
        self.data_center = data_center
        self.api_url = f"{self.url}/rest/api/{version}"
        self.cloud_id = cloud_id
        self.scoped_url = f"{self.url}/ex/jira/{cloud_id}"
        self.tokens = tokens
        self.account = Account(account)
        self.length_of = length_of
        self.page_limit = page_limit
        self.refused_bodies: list[Any] = []
        self.issues: dict[str, Issue] = {}
        self._comment_serial = 10_000
        for key, given in (issues or {}).items():
            self.issues[key] = load_issue(self, key, given)

    @classmethod
    def from_file(cls, path: Path | str, **options: Any) -> Self:
        """Loads a file of keyword arguments: `{"issues": {"KEY-1": {…}}, …}`."""
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        return cls(**{**data, **options})

    # What a test looks at

    def comments(self, key: str) -> list[Json]:
        """The comments of an issue in the order they were written, with `properties` beside."""
        return self.issues[key].comments

    def properties(self, comment_id: str) -> dict[str, Any]:
        """The properties of a comment by key."""
        found = self.find_comment(comment_id)
        return {} if found is None else found["properties"]

    # What the routes work with

    def find_comment(self, comment_id: str) -> Json | None:
        for issue in self.issues.values():
            for comment in issue.comments:
                if comment["id"] == comment_id:
                    return comment
        return None

    def next_comment_id(self) -> str:
        self._comment_serial += 1
        return str(self._comment_serial)

    def timestamp(self) -> str:
        """Jira leaves the colon out of the offset."""
        return iso(self.now(), millis=True, zone="+0000")

    def user(self, name: str) -> Json:
        """An account: by `accountId` in the Cloud, by `name` and `key` in Data Center."""
        shown = {"displayName": name.split("@")[0], "active": True, "timeZone": "UTC"}
        if self.data_center:
            return {**shown, "self": f"{self.api_url}/user?username={name}", "name": name,
                    "key": name}  # fmt: skip
        identity = f"fake:{name}"
        return {**shown, "self": f"{self.api_url}/user?accountId={identity}",
                "accountId": identity, "accountType": "atlassian"}  # fmt: skip

    def actor(self, asked: Asked) -> str:
        return (asked.account or self.account).login

    # What the server asks of the service

    def internal_path(self, path: str) -> str:
        """A scoped token's address, `/ex/jira/CLOUD_ID/rest/…`, leads to the same resources."""
        match = SCOPED_ADDRESS.fullmatch(path)
        return match[2] if match and match[1] == self.cloud_id else path

    def authenticate(self, request: Incoming) -> Account | Reply | None:
        """Basic with `email:token` in the Cloud, a Bearer token in Data Center."""
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        self.seen_schemes.add(f"Authorization: {scheme}" if scheme else "none")
        wanted = "bearer" if self.data_center else "basic"
        if scheme.lower() != wanted:
            return self.refused()
        name, token = (self.account.login, secret) if self.data_center else _basic(secret)
        self.seen_tokens.add(token)
        if self.tokens is None:
            return Account(name) if token else self.refused()
        account = self.tokens.get(token)
        return self.refused() if account is None or account.rejected else account

    def allow(self, asked: Asked) -> Reply | None:
        """A scoped token only works at the scoped address, any other only at the site's."""
        at_scoped = asked.request.path != asked.came_as
        scoped = asked.account is not None and SCOPED in asked.account.scopes
        return self.refused() if self.tokens is not None and scoped != at_scoped else None

    def refused(self) -> Reply:
        return self.error(401, "You are not authenticated. Authentication required.")

    def error(self, status: int, message: str, **headers: str) -> Reply:
        return Reply(status, {"errorMessages": [message], "errors": {}}, dict(headers))

    def invalid(self, field: str, message: str) -> Reply:
        """A 400 that names the field; `errorMessages` is empty then."""
        return Reply(400, {"errorMessages": [], "errors": {field: message}})

    def too_many(self, headers: dict[str, str]) -> Reply:
        """The documented headers; a planned fault can leave them out by an empty value."""
        documented = {
            "X-RateLimit-Limit": "350",
            "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset": iso(self.now() + 60),
            "X-RateLimit-NearLimit": "true",
            "RateLimit-Reason": "jira-burst-based",
        }
        sent = {name: value for name, value in {**documented, **headers}.items() if value}
        return self.error(429, "Rate limit exceeded.", **sent)


def _basic(secret: str) -> tuple[str, str]:
    try:
        name, _, token = base64.b64decode(secret, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return name, token


__all__ = ["Account", "FakeJira", "Route"]

if __name__ == "__main__":
    serve("Jira", FakeJira.from_file)
