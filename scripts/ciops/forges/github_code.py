"""Code, commits, checks and pull requests of one GitHub repository."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from ciops.forges import answers
from ciops.forges import github_facts as facts
from ciops.forges.base import Check, Commit, Issue, Project, PullRequest
from ciops.forges.github import repo_path
from ciops.forges.json_fields import child, rows, same_text, text
from ciops.plumbing.http import (
    Client,
    InvalidError,
    Json,
    NotFoundError,
    TooLargeError,
    segment,
)


class GitHubCode:
    """What lies in a repository and what is proposed for it."""

    def __init__(self, client: Client, repo: str) -> None:
        self._client = client
        self._owner = repo.partition("/")[0]
        self._path = repo_path(repo)

    def project(self) -> Project:
        return facts.project(self._client.get(self._path).data)

    def file(self, path: str, ref: str = "") -> bytes | None:
        """At most 1 MB, which is what GitHub puts into this answer."""
        segments = "/".join(segment(part) for part in path.strip("/").split("/"))
        address = f"{self._path}/contents/{segments}"
        data = self._found(address, {"ref": ref or None})
        if not isinstance(data, dict) or text(data, "type") != "file":
            return None
        if text(data, "encoding") != "base64":
            raise TooLargeError("GitHub", f"GET {address}", 200, "the file is larger than 1 MB")
        return answers.file_content(text(data, "content"), "GitHub")

    def commits(
        self, path: str = "", *, ref: str = "", since: str = "", until: str = "", limit: int = 30
    ) -> list[Commit]:
        query = {
            "sha": ref or None,
            "path": path or None,
            "since": since or None,
            "until": until or None,
            "per_page": min(limit, 100),
        }
        found = self._client.items(f"{self._path}/commits", query)
        return [facts.commit(row) for row in islice(found, limit)]

    def commit(self, sha: str) -> Commit | None:
        """By SHA, branch or tag; GitHub answers 422 for a SHA that is not there."""
        data = self._found(f"{self._path}/commits/{segment(sha)}")
        return None if data is None else facts.commit(data)

    def checks(self, sha: str) -> list[Check]:
        path = f"{self._path}/commits/{segment(sha)}/check-runs"
        found = self._client.items(path, {"per_page": 100}, key="check_runs")
        return [facts.check(row) for row in found]

    def branch(self, name: str) -> str | None:
        data = self._found(f"{self._path}/branches/{segment(name)}")
        return None if data is None else text(child(data, "commit"), "sha")

    def pull(self, number: int) -> PullRequest | None:
        data = self._found(f"{self._path}/pulls/{int(number)}")
        return None if data is None else facts.pull(data)

    def open_pulls(self, head: str) -> list[PullRequest]:
        label = head if ":" in head else f"{self._owner}:{head}"
        query = {"state": "open", "head": label, "per_page": 100}
        return [facts.pull(row) for row in self._client.items(f"{self._path}/pulls", query)]

    def create_issue(self, title: str, body: str, labels: Iterable[str] = ()) -> Issue:
        path = f"{self._path}/issues"

        def landed() -> Json:
            query = {"state": "open", "sort": "created", "direction": "desc", "per_page": 30}
            for row in rows(self._client.get(path, query).data):
                if text(row, "title") == title.strip() and same_text(text(row, "body"), body):
                    return row
            return None

        given = {"title": title, "body": body, "labels": list(labels)}
        return facts.issue(self._client.post(path, given, landed).data)

    def create_pull(
        self, title: str, body: str, *, head: str, base: str, draft: bool = False
    ) -> PullRequest:
        path = f"{self._path}/pulls"
        label = head if ":" in head else f"{self._owner}:{head}"

        def landed() -> Json:
            query = {"state": "open", "head": label, "base": base, "per_page": 30}
            return next(iter(rows(self._client.get(path, query).data)), None)

        given = {"title": title, "body": body, "head": head, "base": base, "draft": draft}
        return facts.pull(self._client.post(path, given, landed).data)

    def _found(self, path: str, query: dict[str, object] | None = None) -> Json:
        try:
            return self._client.get(path, query).data
        except NotFoundError:
            return None
        except InvalidError as error:
            if error.status != 422:
                raise
            return None
