"""Code, commits, statuses and merge requests of one GitLab project."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from ciops.forges import answers
from ciops.forges import gitlab_facts as facts
from ciops.forges.base import Check, Commit, Issue, Project, PullRequest
from ciops.forges.gitlab import project_path
from ciops.forges.json_fields import child, rows, same_text, text
from ciops.plumbing.http import Client, Json, NotFoundError, segment


class GitLabCode:
    """What lies in a project and what is proposed for it."""

    def __init__(self, client: Client, repo: str) -> None:
        self._client = client
        self._path = project_path(repo)

    def project(self) -> Project:
        return facts.project(self._client.get(self._path).data)

    def file(self, path: str, ref: str = "") -> bytes | None:
        address = f"{self._path}/repository/files/{segment(path.strip('/'))}"
        data = self._found(address, {"ref": ref or "HEAD"})
        return None if data is None else answers.file_content(text(data, "content"), "GitLab")

    def commits(
        self, path: str = "", *, ref: str = "", since: str = "", until: str = "", limit: int = 30
    ) -> list[Commit]:
        query = {
            "ref_name": ref or None,
            "path": path or None,
            "since": since or None,
            "until": until or None,
            "per_page": min(limit, 100),
        }
        found = self._client.items(f"{self._path}/repository/commits", query)
        return [facts.commit(row) for row in islice(found, limit)]

    def commit(self, sha: str) -> Commit | None:
        """By SHA, branch or tag."""
        data = self._found(f"{self._path}/repository/commits/{segment(sha)}")
        return None if data is None else facts.commit(data)

    def checks(self, sha: str) -> list[Check]:
        path = f"{self._path}/repository/commits/{segment(sha)}/statuses"
        return [facts.check(row) for row in self._client.items(path, {"per_page": 100})]

    def branch(self, name: str) -> str | None:
        data = self._found(f"{self._path}/repository/branches/{segment(name)}")
        return None if data is None else text(child(data, "commit"), "id")

    def pull(self, number: int) -> PullRequest | None:
        data = self._found(f"{self._path}/merge_requests/{int(number)}")
        return None if data is None else facts.merge_request(data)

    def open_pulls(self, head: str) -> list[PullRequest]:
        query = {"state": "opened", "source_branch": head, "per_page": 100}
        found = self._client.items(f"{self._path}/merge_requests", query)
        return [facts.merge_request(row) for row in found]

    def create_issue(self, title: str, body: str, labels: Iterable[str] = ()) -> Issue:
        path = f"{self._path}/issues"

        def landed() -> Json:
            query = {"state": "opened", "order_by": "created_at", "sort": "desc", "per_page": 30}
            for row in rows(self._client.get(path, query).data):
                same = text(row, "title") == title.strip()
                if same and same_text(text(row, "description"), body):
                    return row
            return None

        given = {"title": title, "description": body, "labels": list(labels)}
        return facts.issue(self._client.post(path, given, landed).data)

    def create_pull(
        self, title: str, body: str, *, head: str, base: str, draft: bool = False
    ) -> PullRequest:
        path = f"{self._path}/merge_requests"

        def landed() -> Json:
            query = {"state": "opened", "source_branch": head, "target_branch": base}
            return next(iter(rows(self._client.get(path, query).data)), None)

        given = {
            "title": f"Draft: {title}" if draft else title,
            "description": body,
            "source_branch": head,
            "target_branch": base,
        }
        return facts.merge_request(self._client.post(path, given, landed).data)

    def _found(self, path: str, query: dict[str, object] | None = None) -> Json:
        try:
            return self._client.get(path, query).data
        except NotFoundError:
            return None
