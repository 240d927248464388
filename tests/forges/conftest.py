"""One small world on each fake forge: three issues, talk, label events, and a look inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from ciops.forges.base import IssueQueue
from ciops.forges.github import HEADERS, GitHub
from ciops.forges.gitlab import GitLab
from ciops.plumbing.http import Client
from fakes.github import FakeGitHub
from fakes.gitlab import FakeGitLab

LABELS = ["queue", "Bug", "module: x", "triaged", "oncall: a, b"]


@dataclass
class World:
    """A fake, a forge on it, and what the project holds now in one form for both."""

    name: str
    fake: Any
    forge: Any
    queue: IssueQueue
    labels_of: Callable[[int], list[str]]
    comments_of: Callable[[int], list[str]]

    @property
    def writes(self) -> int:
        return len(self.fake.writes)


def client_for(service: str, url: str, token: str = "s3cret", **options: Any) -> Client:
    headers = HEADERS if service == "GitHub" else None
    return Client(service, url, token, headers=headers, sleep=lambda _: None, **options)


@pytest.fixture
def github() -> Iterator[World]:
    issues = [
        {
            "number": 1,
            "title": "Hang in all_reduce",
            "body": "It hangs <!-- sig:abc -->",
            "labels": ["queue", "Bug"],
            "user": "alice",
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-03-01T00:00:00Z",
        },
        {
            "number": 2,
            "title": "Crash",
            "body": "crash",
            "labels": ["queue"],
            "user": "bob",
            "created_at": "2026-01-02T00:00:00Z",
            "updated_at": "2026-02-01T00:00:00Z",
        },
        {"number": 3, "title": "Done", "body": "", "state": "closed", "locked": True},
    ]
    fake = FakeGitHub("o/r", issues, labels=LABELS, account="triage-bot")
    with fake:
        client = client_for("GitHub", fake.url)
        forge = GitHub(client)
        yield World("github", fake, forge, forge.queue("o/r"), fake.labels, fake.comments)
        client.close()


@pytest.fixture
def gitlab() -> Iterator[World]:
    issues = [
        {
            "iid": 1,
            "title": "Hang in all_reduce",
            "description": "It hangs <!-- sig:abc -->",
            "labels": ["queue", "Bug"],
            "author": "alice",
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-03-01T00:00:00Z",
        },
        {
            "iid": 2,
            "title": "Crash",
            "description": "crash",
            "labels": ["queue"],
            "author": "bob",
            "created_at": "2026-01-02T00:00:00Z",
            "updated_at": "2026-02-01T00:00:00Z",
        },
        {
            "iid": 3,
            "title": "Done",
            "description": "",
            "state": "closed",
            "discussion_locked": True,
        },
    ]
    fake = FakeGitLab(projects=[{"id": 7, "path": "o/r", "labels": LABELS, "issues": issues}])
    with fake:
        client = client_for("GitLab", fake.api_url)
        forge = GitLab(client, fake.url)

        def comments(number: int) -> list[str]:
            return [note["body"] for note in fake.project(7).notes[number] if not note["system"]]

        def labels(number: int) -> list[str]:
            return list(fake.project(7).issues[number]["labels"])

        yield World("gitlab", fake, forge, forge.queue("o/r"), labels, comments)
        client.close()


@pytest.fixture(params=["github", "gitlab"])
def world(request: pytest.FixtureRequest) -> World:
    found: World = request.getfixturevalue(request.param)
    return found
