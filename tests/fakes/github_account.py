"""Who asks, what they may do, and how often: tokens, permissions and limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fakes.github_state import Repository
from fakes.messages import Account, Asked, Reply, Route
from fakes.wire import Incoming

if TYPE_CHECKING:
    from fakes.github import FakeGitHub

MINUTE = 60
# https://docs.github.com/rest/authentication/permissions-required-for-fine-grained-personal-access-tokens
SUBJECTS = {
    "issues": ("issues", "issues={level}; pull_requests={level}"),
    "labels": ("issues", "issues={level}; pull_requests={level}"),
    "pulls": ("pull_requests", "pull_requests={level}"),
    "contents": ("contents", "contents={level}"),
    "commits": ("contents", "contents={level}"),
    "branches": ("contents", "contents={level}"),
    "actions": ("actions", "actions={level}"),
}


@dataclass(slots=True)
class Limits:
    """The primary rate limit: `limit` requests in `window` seconds; None: not enabled (GHES)."""

    limit: int | None
    window: float
    status: int
    used: int = 0
    reset_at: float = 0.0

    def count(self, now: float) -> bool:
        """Counts a request; whether it is still within the limit."""
        if now >= self.reset_at:
            self.used, self.reset_at = 0, now + self.window
        if self.limit is None:
            return True
        if self.used >= self.limit:
            return False
        self.used += 1
        return True

    def state(self, now: float) -> dict[str, int]:
        limit = self.limit or 0
        reset = self.reset_at if now < self.reset_at else now + self.window
        used = self.used if now < self.reset_at else 0
        return {"limit": limit, "used": used, "remaining": limit - used, "reset": int(reset) + 1}

    def headers(self, now: float, path: str) -> dict[str, str]:
        if self.limit is None:
            return {}
        resource = "search" if path.startswith("/search") else "core"
        numbers = self.state(now).items()
        shown = {f"X-RateLimit-{key.title()}": str(value) for key, value in numbers}
        return {**shown, "X-RateLimit-Resource": resource}


def authenticate(forge: FakeGitHub, request: Incoming) -> Account | Reply | None:
    """`Bearer` and the old `token` scheme are taken; without a header the caller is anonymous."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if not scheme:
        return None
    forge.seen_schemes.add(f"Authorization: {scheme}")
    forge.seen_tokens.add(token)
    if scheme.lower() not in ("bearer", "token") or not token:
        return forge.error(401, "Bad credentials")
    if forge.tokens is None:
        return forge.account
    account = forge.tokens.get(token)
    if account is None or account.rejected:
        return forge.error(401, "Bad credentials")
    return account


def allow(forge: FakeGitHub, asked: Asked) -> Reply | None:
    """What GitHub refuses before it looks at the request: 401, 403 or, for what is hidden, 404."""
    if "repo" not in asked.path:
        return None
    name = f"{asked.path['owner']}/{asked.path['repo']}".lower()
    if name in forge.renamed and "301" in asked.operation.responses:
        target = forge.repositories[forge.renamed[name].lower()]
        return forge.moved(f"/repositories/{target.id}" + _tail(asked))
    repository = forge.repositories.get(name)
    if repository is None or not forge.can_see(repository, asked.account):
        return forge.error(404, "Not Found")
    return _permitted(forge, repository, asked)


def _permitted(forge: FakeGitHub, repository: Repository, asked: Asked) -> Reply | None:
    writes = asked.operation.method != "GET"
    if writes and asked.account is None:
        return forge.error(401, "Requires authentication")
    if writes and repository.archived:
        return forge.error(403, "Repository was archived so is read-only.")
    segments = asked.operation.template.split("/")
    subject, header = SUBJECTS.get(segments[4] if len(segments) > 4 else "", ("metadata", ""))
    if segments[-1] == "check-runs":
        subject, header = "checks", "checks={level}"
    granted = None if asked.account is None else asked.account.permissions
    needed = "write" if writes else "read"
    if granted is None or subject == "metadata" or not (writes or repository.private):
        return None
    if granted.get(subject) == "write" or granted.get(subject) == needed:
        return None
    who = "integration" if asked.account and asked.account.is_app else "personal access token"
    reply = forge.error(403, f"Resource not accessible by {who}")
    reply.headers["X-Accepted-GitHub-Permissions"] = header.format(level=needed)
    return reply


def limit(forge: FakeGitHub, request: Incoming) -> Reply | None:
    """The primary limit, then, for writes, the secondary one."""
    if request.path == "/rate_limit":
        return None
    if not forge.limits.count(forge.now()):
        who = forge.account.login
        return forge.error(forge.limits.status, f"API rate limit exceeded for {who}.")
    if request.method == "GET" or forge.writes_per_minute is None:
        return None
    now, recent = forge.now(), forge.recent_writes
    while recent and recent[0] <= now - MINUTE:
        recent.popleft()
    if len(recent) >= forge.writes_per_minute:
        return forge.secondary_limit({"Retry-After": str(int(recent[0] + MINUTE - now) + 1)})
    recent.append(now)
    return None


def get_user(forge: FakeGitHub, asked: Asked) -> Reply:
    """An installation, such as Actions' own token, is no user and may not ask."""
    if asked.account is None:
        return forge.error(401, "Requires authentication")
    if asked.account.is_app:
        return forge.error(403, "Resource not accessible by integration")
    user = forge.shapes.user(asked.account.login)
    return Reply(body=forge.shapes.filler.fill("private-user", {**user, "name": None}))


def get_rate_limit(forge: FakeGitHub, asked: Asked) -> Reply:
    if forge.limits.limit is None:
        return forge.error(404, "Rate limiting is not enabled.")
    core = forge.limits.state(forge.now())
    search: dict[str, Any] = {**core, "limit": 30, "used": 0, "remaining": 30}
    return Reply(body={"resources": {"core": core, "search": search}, "rate": core})


def _tail(asked: Asked) -> str:
    parts = asked.raw_path.split("/", 4)
    return f"/{parts[4]}" if len(parts) > 4 else ""


ROUTES: dict[str, Route] = {
    "GET /user": get_user,
    "GET /rate_limit": get_rate_limit,
}
