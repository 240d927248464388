"""A stateful GitLab on loopback.

    with FakeGitLab.from_world("tests/data/worlds/dev1") as forge:
        ...  # --gitlab-url forge.url, GITLAB_TOKEN=anything
    assert forge.writes == []

`python -m fakes.gitlab --data world.json --port 0` serves a world from a command line.
"""

from __future__ import annotations

import base64
import binascii
import json
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from fakes import gitlab_account, gitlab_issues, gitlab_pipelines, gitlab_repository
from fakes.command_line import serve
from fakes.contract import load
from fakes.gitlab_quick_actions import QuickAction
from fakes.gitlab_shapes import Given, Json, Shapes
from fakes.gitlab_state import Project, load_project
from fakes.gitlab_worlds import World, load_world, read_world
from fakes.messages import Account, Asked, Reply, Route
from fakes.moments import between, iso
from fakes.paging import link, page_of
from fakes.server import FakeServer
from fakes.storage import ObjectStorage
from fakes.streams import Bandwidth
from fakes.wire import Incoming

ROUTES: dict[str, Route] = {
    **gitlab_account.ROUTES,
    **gitlab_issues.ROUTES,
    **gitlab_pipelines.ROUTES,
    **gitlab_repository.ROUTES,
}
OFFSET_LIMIT = 50_000


class FakeGitLab(FakeServer):
    """One GitLab with several projects; README.md lists the switches.

    `url` is the instance (`--gitlab-url`), `api_url` its API (`CI_API_V4_URL`).
    """

    service = "GitLab"
    routes = ROUTES

    def __init__(
        self,
        world: World | None = None,
        *,
        folder: Path | None = None,
        projects: Iterable[Given] = (),
        tokens: Mapping[str, Account] | None = None,
        account: str = "triage-bot",
        version: str = "19.5.0-ee",
        trigger_jobs: bool = True,
        trace_range: bool = False,
        trace_redirect: int | None = None,
        trace_gzip: bool = False,
        total_limit: int = 10_000,
        rate_limit: int | None = None,
        bandwidth: float | None = None,
        root: str = "",
        port: int = 0,
        keep_requests: bool = True,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.base_path = f"{root}/api/v4"
        super().__init__(load("gitlab"), port=port, keep_requests=keep_requests, now=now)
        self.url = self.listener.origin + root
        self.api_url = self.listener.origin + self.base_path
        self.tokens = tokens
        self.account = Account(account)
        self.version = version
        self.trigger_jobs = trigger_jobs
        self.trace_range = trace_range
        self.trace_redirect = trace_redirect
        self.trace_gzip = trace_gzip
        self.total_limit = total_limit
        self.throttle = gitlab_account.Throttle(rate_limit)
        self.created_labels: list[str] = []
        self.quick_actions: list[tuple[int, QuickAction]] = []
        self.forbidden: set[int] = set()
        self.path_status: dict[str, int] = {}
        self.projects: dict[int, Project] = {}
        self.shapes = Shapes(self.url)
        self.storage = ObjectStorage(keep_requests=keep_requests)
        self.listener.bandwidth = self.storage.listener.bandwidth = Bandwidth(bandwidth)
        for project in projects:
            self.add_project(**project)
        if world is not None:
            load_world(self, world, folder or Path())

    @classmethod
    def from_world(cls, path: Path | str, **options: Any) -> Self:
        """Loads a `world.json`, or the one in a folder; its traces are read while they are sent."""
        world, folder = read_world(Path(path))
        return cls(world, folder=folder, **options)

    def add_project(self, id: int, path: str, **given: Any) -> Project:
        """Another project; `gitlab_state.load_project` lists what can be given."""
        self.projects[id] = load_project(self.shapes, id, path, **given)
        return self.projects[id]

    # What a test looks at and what other people do meanwhile

    def project(self, name: int | str) -> Project:
        """A project by id or path."""
        found = self.find_project(str(name))
        if found is None:
            raise KeyError(name)
        return found

    def here(self, url: str, world: World) -> str:
        """A link of the world's own address as the fake knows it."""
        return url.replace(str(world["gitlab"]).rstrip("/"), self.url, 1)

    def person_labels(
        self,
        project: int | str,
        iid: int,
        *,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        by: str = "alice",
    ) -> None:
        """A person adds and removes labels in the browser; the label events tell of it."""
        found = self.project(project)
        with self.lock:
            for name in add:
                found.add_label(name)
            gitlab_issues.put_labels(self, found, found.issues[iid], list(add), by)
            gitlab_issues.take_labels(self, found, found.issues[iid], list(remove), by)

    def person_comments(self, project: int | str, iid: int, body: str, by: str = "alice") -> Json:
        with self.lock:
            return self.add_note(self.project(project), iid, body, by, internal=False)

    # What the routes work with

    def find_project(self, name: str) -> Project | None:
        """A project that can be seen, by id or by path in any case."""
        for identity, project in self.projects.items():
            if name == str(identity) or name.lower() == project.path.lower():
                return None if identity in self.forbidden else project
        return None

    def project_of(self, asked: Asked) -> Project:
        return self.project(asked.path["id"])

    def actor(self, asked: Asked) -> str:
        return (asked.account or self.account).login

    def timestamp(self) -> str:
        return iso(self.now(), millis=True)

    def add_note(self, project: Project, iid: int, body: str, by: str, internal: bool) -> Json:
        when = self.timestamp()
        project.issues[iid]["updated_at"] = when
        given = {"body": body, "author": by, "created_at": when, "internal": internal}
        return project.add_note(iid, given)

    def planned_status(self, asked: Asked) -> int | None:
        """The status that the world wants for a path, named by the project's id or its path."""
        head, _, tail = asked.raw_path.removeprefix("/projects/").partition("/")
        project = next((p for p in self.projects.values() if p.path == asked.path.get("id")), None)
        by_id = f"/projects/{project.id if project else head}/{tail}"
        return self.path_status.get(asked.raw_path, self.path_status.get(by_id))

    def within(self, part: Json, query: Any) -> bool:
        """Whether the part was created and updated in the time asked for."""
        return all(
            between(part[f"{event}_at"], query, f"{event}_after", f"{event}_before")
            for event in ("created", "updated")
        )

    def matches(self, part: Json, text: str | None, places: str | None) -> bool:
        """Every word of the text stands in the title or the description."""
        listed = (places or "title,description").split(",")
        content = " ".join(part[place] or "" for place in listed).lower()
        return all(word in content for word in (text or "").lower().split())

    def page(self, asked: Asked, items: list[Json]) -> Reply:
        """A page by number; above the limit without totals and without `rel="last"`."""
        page = page_of(items, asked.query["page"], asked.query["per_page"])
        if (page.number - 1) * page.size >= OFFSET_LIMIT:
            return self.error(405, "Offset pagination has a maximum allowed offset of 50000")
        counted = page.total <= self.total_limit
        pages = {**page.neighbours(), "first": 1, **({"last": page.last} if counted else {})}
        around = page.neighbours()
        headers = {
            "X-Page": str(page.number),
            "X-Per-Page": str(page.size),
            "X-Next-Page": str(around.get("next", "")),
            "X-Prev-Page": str(around.get("prev", "")),
            "Link": link(self.api_url + asked.raw_path, asked.raw_query, pages),
        }
        if counted:
            headers |= {"X-Total": str(page.total), "X-Total-Pages": str(page.last)}
        return Reply(body=page.items, headers=headers)

    def keyset_page(self, asked: Asked, items: list[Json]) -> Reply:
        """A page by cursor: the items behind the one that the cursor names."""
        start = 0
        if asked.query.get("cursor") is not None:
            last = _decoded(asked.query["cursor"])
            identities = [item["id"] for item in items]
            if last not in identities:
                return self.error(400, "400 Bad request - cursor is invalid")
            start = identities.index(last) + 1
        asked.query.get("page")
        page = items[start : start + asked.query["per_page"]]
        headers = {"X-Per-Page": str(asked.query["per_page"])}
        if start + len(page) < len(items):
            query = asked.raw_query.split("&cursor=")[0] + f"&cursor={_cursor(page[-1]['id'])}"
            headers["Link"] = f'<{self.api_url}{asked.raw_path}?{query}>; rel="next"'
        return Reply(body=page, headers=headers)

    # What the server asks of the service

    def start(self) -> None:
        self.storage.start()
        super().start()

    def close(self) -> None:
        super().close()
        self.storage.close()

    def authenticate(self, request: Incoming) -> Account | Reply | None:
        return gitlab_account.authenticate(self, request)

    def allow(self, asked: Asked) -> Reply | None:
        return gitlab_account.allow(self, asked)

    def limit(self, request: Incoming, account: Account | None) -> Reply | None:
        if self.throttle.count(self.now()):
            return None
        wait = int(self.throttle.reset_at - self.now()) + 1
        return self.too_many({"Retry-After": str(wait)})

    def finish(self, request: Incoming, reply: Reply) -> None:
        reply.headers |= self.throttle.headers()
        reply.headers.setdefault("X-Request-Id", f"fake-{self.request_count}")

    def error(self, status: int, message: str, **headers: str) -> Reply:
        return Reply(status, {"message": message}, dict(headers))

    def too_many(self, headers: dict[str, str]) -> Reply:
        """Plain text, as the throttle in front of the application answers."""
        return Reply(429, "Retry later\n", headers, "text/plain")


def _cursor(identity: int) -> str:
    return base64.urlsafe_b64encode(json.dumps({"id": identity}).encode()).decode().rstrip("=")


def _decoded(cursor: str) -> int | None:
    try:
        identity = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))["id"]
    except (ValueError, KeyError, TypeError, binascii.Error):
        return None
    return int(identity)


__all__ = ["Account", "FakeGitLab", "Project"]

if __name__ == "__main__":
    serve("GitLab", FakeGitLab.from_world)
