"""GitHub's REST objects, filled from what a test or a queue file says of them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from fakes.contract import document
from fakes.filler import EPOCH, Filler

Given = Mapping[str, Any]


def number_of(text: str) -> int:
    """A stable id for a name."""
    return zlib.crc32(text.encode()) + 1


class Shapes:
    """Builds the objects of one repository. URLs of the API start with `api`, pages with `web`."""

    def __init__(self, api: str, web: str) -> None:
        self.api = api
        self.web = web
        self.filler = Filler(document("github"), api)
        self._users: dict[str, dict[str, Any]] = {}

    def user(self, given: str | Given) -> dict[str, Any]:
        """A person or a bot; a login that ends in `[bot]` is a bot."""
        fields: Given = {"login": given} if isinstance(given, str) else given
        login = fields["login"]
        kind = fields.get("type", "Bot" if login.endswith("[bot]") else "User")
        known = self._users.get(f"{login} {kind}")
        if known is None:
            base = {"id": number_of(login), "html_url": f"{self.web}/{login}", "type": kind}
            known = self.filler.fill("simple-user", {**base, **fields, "gravatar_id": ""})
            self._users[f"{login} {kind}"] = known
        return known

    def person(self, given: str | Given | None) -> dict[str, Any] | None:
        """A user, or None for a deleted account."""
        return None if given is None else self.user(given)

    def label(self, repository: str, given: str | Given) -> dict[str, Any]:
        fields: Given = {"name": given} if isinstance(given, str) else given
        url = f"{self.api}/repos/{repository}/labels/{quote(fields['name'], safe='')}"
        base = {"id": number_of(f"{repository} {fields['name']}"), "url": url, "description": None}
        return self.filler.fill("label", {**base, **fields})

    def issue(self, repository: str, given: Given) -> dict[str, Any]:
        """An issue or, with a `pull_request` key, a pull request as the issues list shows it."""
        number = given["number"]
        url = f"{self.api}/repos/{repository}/issues/{number}"
        created = given.get("created_at", EPOCH)
        fields = {
            "author_association": "NONE",
            "body": None,
            "state": "open",
            "created_at": created,
            "updated_at": created,
            "id": 2_000_000_000 + number,
            **given,
            "url": url,
            "repository_url": f"{self.api}/repos/{repository}",
            "labels_url": f"{url}/labels{{/name}}",
            "comments_url": f"{url}/comments",
            "events_url": f"{url}/events",
            "timeline_url": f"{url}/timeline",
            "html_url": self._page(repository, number, "pull_request" in given),
            "user": self.person(given.get("user", "ghost")),
            "assignees": [self.user(login) for login in given.get("assignees", ())],
            "reactions": self.reactions(url, given.get("reactions", {})),
        }
        if "pull_request" in given:
            fields["pull_request"] = self._pull_link(repository, number, given["pull_request"])
        return self.filler.fill("issue", fields)

    def reactions(self, url: str, given: Given) -> dict[str, Any]:
        total = sum(value for value in given.values() if isinstance(value, int))
        base = {"url": f"{url}/reactions", "total_count": total}
        return self.filler.fill("reaction-rollup", {**base, **given})

    def comment(self, repository: str, number: int, given: Given) -> dict[str, Any]:
        issue_url = f"{self.api}/repos/{repository}/issues/{number}"
        page = self._page(repository, number, pull=False)
        created = given.get("created_at", EPOCH)
        fields = {
            "author_association": "NONE",
            "created_at": created,
            "updated_at": created,
            "performed_via_github_app": None,
            **given,
            "url": f"{self.api}/repos/{repository}/issues/comments/{given['id']}",
            "issue_url": issue_url,
            "html_url": f"{page}#issuecomment-{given['id']}",
            "user": self.person(given.get("user", "ghost")),
        }
        return self.filler.fill("issue-comment", fields)

    def event(self, repository: str, given: Given) -> dict[str, Any]:
        """An entry of a timeline: `labeled`, `unlabeled`, `closed`, `renamed`, …"""
        identity = given.get("id") or number_of(json.dumps(given, sort_keys=True, default=str))
        label = given.get("label")
        fields = {
            "commit_id": None,
            "commit_url": None,
            "created_at": EPOCH,
            "performed_via_github_app": None,
            **given,
            "id": identity,
            "url": f"{self.api}/repos/{repository}/issues/events/{identity}",
            "actor": self.person(given.get("actor", "ghost")),
            "node_id": f"LE_{identity}",
        }
        if label is not None:
            fields["label"] = {"name": label["name"], "color": label.get("color", "ededed")}
        return fields

    def comment_event(self, comment: Given) -> dict[str, Any]:
        """A comment as the timeline shows it."""
        user = comment["user"] or self.user("ghost")
        return {**comment, "event": "commented", "actor": user, "user": user}

    def app(self, login: str) -> dict[str, Any]:
        """The app behind a bot's account."""
        slug = login.removesuffix("[bot]")
        fields = {
            "id": number_of(slug),
            "slug": slug,
            "name": slug,
            "owner": self.user(slug),
            "html_url": f"{self.web}/apps/{slug}",
            "description": None,
            "permissions": {"issues": "write", "metadata": "read"},
            "events": [],
        }
        return self.filler.fill("integration", fields)

    def _page(self, repository: str, number: int, pull: bool) -> str:
        return f"{self.web}/{repository}/{'pull' if pull else 'issues'}/{number}"

    def _pull_link(self, repository: str, number: int, given: Given) -> dict[str, Any]:
        page = self._page(repository, number, pull=True)
        return {
            "merged_at": None,
            **given,
            "url": f"{self.api}/repos/{repository}/pulls/{number}",
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
        }
