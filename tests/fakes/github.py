"""A stateful GitHub on loopback.

    with FakeGitHub(repo="o/r", issues=[{"number": 7, "title": "Hang", "body": "…"}]) as forge:
        ...  # GITHUB_API_URL=forge.url GITHUB_TOKEN=anything
    assert forge.writes == []

`python -m fakes.github --data FILE --port 0` serves a queue file from a command line.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from fakes import github_account, github_actions, github_code, github_issues, github_search
from fakes.command_line import serve
from fakes.contract import load
from fakes.github_loading import load_repository
from fakes.github_shapes import Shapes
from fakes.github_state import Commit, Given, Json, Repository
from fakes.messages import Account, Asked, Reply, Route
from fakes.moments import iso
from fakes.paging import link, page_of
from fakes.server import FakeServer
from fakes.storage import ObjectStorage
from fakes.wire import Incoming

ROUTES: dict[str, Route] = {
    **github_account.ROUTES,
    **github_issues.ROUTES,
    **github_search.ROUTES,
    **github_code.ROUTES,
    **github_actions.ROUTES,
}


class FakeGitHub(FakeServer):
    """One GitHub with one or more repositories; README.md lists the switches."""

    service = "GitHub"
    routes = ROUTES

    def __init__(
        self,
        repo: str = "o/r",
        issues: Iterable[Given] = (),
        *,
        tokens: Mapping[str, Account] | None = None,
        account: str = "github-actions[bot]",
        plain_labels_only: bool = False,
        rate_limit: int | None = 5000,
        rate_window: float = 3600,
        limited_status: int = 403,
        writes_per_minute: int | None = None,
        base_path: str = "",
        web_url: str = "https://github.com",
        port: int = 0,
        keep_requests: bool = True,
        now: Callable[[], float] = time.time,
        **repository: Any,
    ) -> None:
        self.base_path = base_path
        super().__init__(load("github"), port=port, keep_requests=keep_requests, now=now)
        self.tokens = tokens
        self.account = Account(account)
        self.plain_labels_only = plain_labels_only
        self.limits = github_account.Limits(rate_limit, rate_window, limited_status)
        self.writes_per_minute = writes_per_minute
        self.recent_writes: deque[float] = deque()
        self.created_labels: list[str] = []
        self.renamed: dict[str, str] = {}
        self.shapes = Shapes(self.url, web_url)
        self.storage = ObjectStorage(keep_requests=keep_requests)
        self.repositories: dict[str, Repository] = {}
        self.repository = self.add_repository(repo, issues, **repository)

    @classmethod
    def from_file(cls, path: Path | str, **options: Any) -> Self:
        """Loads a queue file: keyword arguments of `FakeGitHub`, or a list of issues."""
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        given = {"issues": data} if isinstance(data, list) else data
        others = given.pop("repositories", ())
        forge = cls(**{**given, **options})
        for other in others:
            forge.add_repository(**other)
        return forge

    def add_repository(self, repo: str, issues: Iterable[Given] = (), **given: Any) -> Repository:
        """Another repository; `github_loading.load_repository` lists what can be given."""
        repository = load_repository(self.shapes, repo, issues, **given)
        self.repositories[repo.lower()] = repository
        return repository

    # What a test looks at and what other people do meanwhile

    def issue(self, number: int) -> Json:
        return self.repository.issues[number]

    def labels(self, number: int) -> list[str]:
        return self.repository.label_names(number)

    def comments(self, number: int) -> list[str]:
        return [comment["body"] for comment in self.repository.comments[number]]

    def suggestions(self, number: int) -> list[Json]:
        return self.repository.suggestions.get(number, [])

    def person_labels(
        self, number: int, *, add: Iterable[str] = (), remove: Iterable[str] = (), by: str = "alice"
    ) -> None:
        """A person adds and removes labels in the browser; the timeline tells of it."""
        with self.lock:
            for name in add:
                self.repository.add_label(name)
                self.put_label(self.repository, number, name, by)
            for name in remove:
                self.take_label(self.repository, number, name, by)

    def person_comments(self, number: int, body: str, by: str = "alice") -> Json:
        with self.lock:
            return self.add_comment(self.repository, number, body, by)

    def person_sets(self, number: int, event: str, by: str = "alice") -> None:
        """A person closes, reopens, locks or unlocks an issue: `event` as the timeline names it."""
        with self.lock:
            issue, when = self.repository.issues[number], self.timestamp()
            if event in ("locked", "unlocked"):
                issue["locked"] = event == "locked"
            else:
                issue["state"] = "closed" if event == "closed" else "open"
                issue["closed_at"] = when if event == "closed" else None
            self.repository.add_event(number, {"event": event, "actor": by, "created_at": when})
            self.repository.touch(number, when)

    def person_renames_label(self, name: str, new: str) -> None:
        """A person renames a label, which keeps its id and stays on its issues."""
        with self.lock:
            label = self.repository.labels.pop(name.lower())
            label["name"] = new
            self.repository.labels[new.lower()] = label

    # What the routes work with

    def repository_of(self, asked: Asked) -> Repository:
        return self.repositories[f"{asked.path['owner']}/{asked.path['repo']}".lower()]

    def can_see(self, repository: Repository, account: Account | None) -> bool:
        if not repository.private:
            return True
        if account is None:
            return False
        only = account.repositories
        return only is None or repository.full_name.lower() in only

    def actor(self, asked: Asked) -> str:
        """The login behind a write."""
        return (asked.account or self.account).login

    def timestamp(self) -> str:
        return iso(self.now())

    def next_number(self, repository: Repository) -> int:
        return max(repository.issues.keys() | repository.transferred.keys() | {0}) + 1

    def known_label(self, repository: Repository, name: str) -> Json:
        """The label, which GitHub makes silently when the repository lacks it."""
        if name.lower() in repository.labels:
            return repository.add_label(name)
        self.created_labels.append(name)
        return repository.add_label({"name": name, "id": 10**9 + len(self.created_labels)})

    def put_label(
        self, repository: Repository, number: int, name: str, by: str, intent: Json | None = None
    ) -> None:
        issue = repository.issues[number]
        label = self.known_label(repository, name)
        if label not in issue["labels"]:
            issue["labels"] = [*issue["labels"], label]
            self._tell(repository, number, "labeled", label, by, {"intent": intent})

    def take_label(self, repository: Repository, number: int, name: str, by: str) -> bool:
        issue = repository.issues[number]
        gone = [label for label in issue["labels"] if label["name"].lower() == name.lower()]
        issue["labels"] = [label for label in issue["labels"] if label not in gone]
        for label in gone:
            self._tell(repository, number, "unlabeled", label, by, {})
        return bool(gone)

    def add_comment(self, repository: Repository, number: int, body: str, by: str) -> Json:
        when = self.timestamp()
        account = next((a for a in (self.tokens or {}).values() if a.login == by), self.account)
        comment = repository.add_comment(
            number,
            {
                "body": body,
                "user": by,
                "created_at": when,
                "author_association": account.association if account.login == by else "NONE",
                "performed_via_github_app": self._app(by),
            },
        )
        repository.touch(number, when)
        return comment

    def page(
        self,
        asked: Asked,
        repository: Repository | None,
        items: list[Json],
        *,
        key: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Reply:
        """A page of a list, or of the list under `key` beside its `total_count`."""
        page = page_of(items, asked.query["page"], asked.query["per_page"])
        pages = page.neighbours()
        if page.number < page.last:
            pages["last"] = page.last
        if page.number > 1:
            pages["first"] = 1
        body: Any = page.items
        if key is not None:
            body = {"total_count": page.total, key: page.items, **(extra or {})}
        url = self.url + self._public_path(asked, repository)
        headers = {"Link": link(url, asked.raw_query, pages)} if pages else {}
        return Reply(body=body, headers=headers)

    def _public_path(self, asked: Asked, repository: Repository | None) -> str:
        """GitHub's own links name a repository by its id."""
        if repository is None:
            return asked.raw_path
        tail = asked.raw_path.split("/", 4)[4:]
        return "/".join([f"/repositories/{repository.id}", *tail])

    def _tell(
        self, repository: Repository, number: int, event: str, label: Json, by: str, extra: Json
    ) -> None:
        when = self.timestamp()
        serial = len(repository.events[number])
        repository.add_event(
            number,
            {
                "id": 4_000_000_000 + number * 1000 + serial,
                "event": event,
                "label": label,
                "actor": by,
                "created_at": when,
                "performed_via_github_app": self._app(by),
                **extra,
            },
        )
        repository.touch(number, when)

    def _app(self, login: str) -> Json | None:
        return self.shapes.app(login) if login.endswith("[bot]") else None

    # What the server asks of the service

    def start(self) -> None:
        self.storage.start()
        super().start()

    def close(self) -> None:
        super().close()
        self.storage.close()

    def authenticate(self, request: Incoming) -> Account | Reply | None:
        return github_account.authenticate(self, request)

    def allow(self, asked: Asked) -> Reply | None:
        return github_account.allow(self, asked)

    def limit(self, request: Incoming, account: Account | None) -> Reply | None:
        return github_account.limit(self, request)

    def finish(self, request: Incoming, reply: Reply) -> None:
        reply.headers |= self.limits.headers(self.now(), request.path)
        reply.headers["X-GitHub-Media-Type"] = "github.v3; format=json"

    def error(self, status: int, message: str, **headers: str) -> Reply:
        body = {"message": message, "documentation_url": "https://docs.github.com/rest"}
        if status != 422:
            body["status"] = str(status)
        return Reply(status, body, dict(headers))

    def invalid(self, resource: str, field: str, message: str = "", code: str = "custom") -> Reply:
        """A 422 that names the field."""
        reply = self.error(422, "Validation Failed")
        fault = {"resource": resource, "field": field, "code": code}
        reply.body["errors"] = [{**fault, "message": message} if message else fault]
        return reply

    def moved(self, path: str) -> Reply:
        reply = self.error(301, "Moved Permanently")
        reply.body["url"] = self.url + path
        reply.body.pop("status")
        reply.headers["Location"] = self.url + path
        return reply

    def too_many(self, headers: dict[str, str]) -> Reply:
        return self.error(429, "API rate limit exceeded", **headers)

    def secondary_limit(self, headers: dict[str, str]) -> Reply:
        message = "You have exceeded a secondary rate limit. Please wait a few minutes."
        return self.error(self.limits.status, message, **headers)

    def internal_path(self, path: str) -> str:
        """`/repositories/ID/…`, which links and redirects use, is `/repos/OWNER/NAME/…`."""
        parts = path.split("/", 3)
        if len(parts) < 3 or parts[1] != "repositories":
            return path
        for repository in self.repositories.values():
            if str(repository.id) == parts[2]:
                return "/".join([f"/repos/{repository.full_name}", *parts[3:]])
        return path


__all__ = ["Account", "Commit", "FakeGitHub"]

if __name__ == "__main__":
    serve("GitHub", FakeGitHub.from_file)
