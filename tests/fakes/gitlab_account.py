"""Who asks, with which kind of token, and how often."""

from __future__ import annotations

import email.utils
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.messages import Account, Asked, Reply, Route
from fakes.wire import Incoming

if TYPE_CHECKING:
    from fakes.gitlab import FakeGitLab

MINUTE = 60
REVISION = "0a1b2c3d4e5"


@dataclass(slots=True)
class Throttle:
    """`limit` requests a minute; None: not throttled."""

    limit: int | None
    observed: int = 0
    reset_at: float = 0.0

    def count(self, now: float) -> bool:
        """Counts a request; whether it is still within the limit."""
        if now >= self.reset_at:
            self.observed, self.reset_at = 0, now + MINUTE
        self.observed += 1
        return self.limit is None or self.observed <= self.limit

    def headers(self) -> dict[str, str]:
        if self.limit is None:
            return {}
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Name": "throttle_authenticated_api",
            "RateLimit-Observed": str(self.observed),
            "RateLimit-Remaining": str(max(0, self.limit - self.observed)),
            "RateLimit-Reset": str(int(self.reset_at)),
            "RateLimit-ResetTime": email.utils.formatdate(self.reset_at, usegmt=True),
        }


def authenticate(forge: FakeGitLab, request: Incoming) -> Account | Reply | None:
    """`Authorization: Bearer` and `PRIVATE-TOKEN` are taken, and noted; a job token is not."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme:
        forge.seen_schemes.add(f"Authorization: {scheme}")
    elif "private-token" in request.headers:
        token = request.headers["private-token"]
        forge.seen_schemes.add("PRIVATE-TOKEN")
    elif "job-token" in request.headers:
        forge.seen_schemes.add("JOB-TOKEN")
        return forge.error(401, "401 Unauthorized")
    else:
        return forge.error(401, "401 Unauthorized")
    forge.seen_tokens.add(token)
    account = forge.account if forge.tokens is None else forge.tokens.get(token)
    refused = account is None or account.rejected or scheme.lower() not in ("", "bearer")
    return forge.error(401, "401 Unauthorized") if refused or not token else account


def allow(forge: FakeGitLab, asked: Asked) -> Reply | None:
    """404 for what cannot be seen, 403 for a token that may only read."""
    planned = forge.planned_status(asked)
    if planned is not None:
        return forge.error(planned, f"{planned} planned for this path")
    scopes = asked.account.scopes if asked.account else frozenset()
    needed = {"api"} if asked.operation.method != "GET" else {"api", "read_api"}
    if not scopes & needed:
        body = {
            "error": "insufficient_scope",
            "error_description": "The request requires higher privileges than provided by the "
            "access token.",
            "scope": " ".join(sorted(needed)),
        }
        return Reply(403, body)
    if "id" in asked.path and forge.find_project(asked.path["id"]) is None:
        return forge.error(404, "404 Project Not Found")
    return None


def get_version(forge: FakeGitLab, asked: Asked) -> Reply:
    return Reply(body={"version": forge.version, "revision": REVISION, "enterprise": True})


def get_user(forge: FakeGitLab, asked: Asked) -> Reply:
    return Reply(body=forge.shapes.current_user(forge.actor(asked)))


def get_member(forge: FakeGitLab, asked: Asked) -> Reply:
    project = forge.project_of(asked)
    for username, level in project.members.items():
        if project.shapes.user(username)["id"] == asked.path["user_id"]:
            return Reply(body=project.shapes.member(username, level))
    return forge.error(404, "404 Not found")


ROUTES: dict[str, Route] = {
    "GET /version": get_version,
    "GET /user": get_user,
    "GET /projects/{id}/members/all/{user_id}": get_member,
}
