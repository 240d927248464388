"""GitHub and GitHub Enterprise Server: the connection, and issues for triage.

https://docs.github.com/en/rest/issues. Code and pull requests are in `github_code`, workflow
runs in `github_actions`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from ciops.errors import RefusedError, UsageError
from ciops.forges import answers
from ciops.forges import github_facts as facts
from ciops.forges.base import (
    ACTIONS_LOGIN,
    AddedLabels,
    Comment,
    Issue,
    LabelAddition,
    Order,
    Person,
    Timeline,
    Viewer,
    same_label,
)
from ciops.forges.json_fields import child, flag, names, rows, same_text, text, whole
from ciops.plumbing.http import Client, ForbiddenError, InvalidError, Json, NotFoundError, segment

if TYPE_CHECKING:
    from ciops.forges.github_actions import GitHubActions
    from ciops.forges.github_code import GitHubCode

API_URL: Final = "https://api.github.com"
WEB_URL: Final = "https://github.com"
HEADERS: Final = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
QUERY_LENGTH: Final = 256
LABELS_AN_ISSUE: Final = 100


class GitHub:
    """One GitHub with one token."""

    name = "github"

    def __init__(self, client: Client, web_url: str = WEB_URL) -> None:
        self.client = client
        self.web_url = web_url

    @classmethod
    def from_env(
        cls,
        env: Mapping[str, str],
        url: str = "",
        log: Callable[[str], None] = lambda _: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> GitHub:
        """By GITHUB_API_URL, GITHUB_SERVER_URL and GITHUB_TOKEN; `url` is another API address."""
        api_url = url or env.get("GITHUB_API_URL") or API_URL
        token = env.get("GITHUB_TOKEN")
        client = Client("GitHub", api_url, token, headers=HEADERS, log=log, sleep=sleep)
        return cls(client, (env.get("GITHUB_SERVER_URL") or WEB_URL).rstrip("/"))

    def queue(self, repo: str) -> GitHubQueue:
        return GitHubQueue(self.client, repo)

    def code(self, repo: str) -> GitHubCode:
        from ciops.forges.github_code import GitHubCode

        return GitHubCode(self.client, repo)

    def pipelines(self) -> GitHubActions:
        from ciops.forges.github_actions import GitHubActions

        return GitHubActions(self.client)


def repo_path(repo: int | str) -> str:
    """`owner/name` as the path of its API; UsageError for anything else."""
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", str(repo)):
        raise UsageError(f'"{repo}" is not a GitHub repository', "Write it as OWNER/NAME")
    owner, name = str(repo).split("/")
    return f"/repos/{segment(owner)}/{segment(name)}"


class GitHubQueue:
    """The issues of one repository."""

    def __init__(self, client: Client, repo: str) -> None:
        self._client = client
        self._repo = repo
        self._path = repo_path(repo)
        self._takes_names_only = False
        self._viewer: Viewer | None = None
        self._label_ids: dict[str, int] = {}

    def viewer(self) -> Viewer:
        """Two calls. An installation token may not ask who it is: its answer is assumed."""
        self._viewer = self._asked_viewer()
        return self._viewer

    def _asked_viewer(self) -> Viewer:
        repository = self._client.get(self._path, follow=False)
        try:
            user = self._client.get("/user").data
        except ForbiddenError:
            return Viewer(ACTIONS_LOGIN, is_bot=True)
        person = answers.the_account(facts.person(user), "GitHub")
        missing = _missing(child(repository.data, "permissions"), repository.headers)
        return Viewer(person.login, person.is_bot, missing)

    def labels(self) -> frozenset[str]:
        found = list(self._client.items(f"{self._path}/labels", {"per_page": 100}))
        self._label_ids = _ids(found)
        return frozenset(text(label, "name") for label in found)

    def issue(self, number: int) -> Issue:
        found = facts.issue(self._client.get(self._issue_path(number), follow=False).data)
        return answers.the_issue(found, number, "GitHub")

    def issues(
        self,
        label: str = "",
        *,
        order: Order = "updated",
        creator: str = "",
        state: Literal["open", "closed", "all"] = "open",
        since: str = "",
    ) -> Iterator[Issue]:
        query = {
            "state": state,
            "labels": _one_label(label) or None,
            "creator": creator or None,
            "since": since or None,
            "sort": order,
            "direction": "desc" if order == "updated" else "asc",
            "per_page": 100,
        }
        found = map(facts.issue, self._client.items(f"{self._path}/issues", query))
        return answers.only_issues(found, "GitHub")

    def comments(self, number: int) -> list[Comment]:
        path = f"{self._issue_path(number)}/comments"
        return [facts.comment(row) for row in self._parts(path)]

    def timeline(self, number: int) -> Timeline:
        return facts.timeline(list(self._parts(f"{self._issue_path(number)}/timeline")))

    def _parts(self, path: str) -> Iterator[Json]:
        """What an issue consists of; of one that was transferred nothing, or it were another's."""
        return self._client.items(path, {"per_page": 100}, follow=False)

    def association_of(self, person: Person) -> str:  # noqa: ARG002 - GitHub's comments tell it
        return "NONE"

    def refuse_labels(self, wanted: Sequence[str], there: Sequence[str]) -> None:
        """An issue has at most 100."""
        after = {name.casefold() for name in (*there, *wanted)}
        if len(after) > LABELS_AN_ISSUE and wanted:
            problem = (
                f"the issue would have {len(after)} labels, and GitHub takes {LABELS_AN_ISSUE}"
            )
            raise RefusedError(problem, "Take away some that it does not need")

    def add_labels(self, number: int, additions: Sequence[LabelAddition]) -> AddedLabels:
        """Each label goes with its evidence; a server that refuses that (422) gets names."""
        with_evidence = any(map(_has_more_than_a_name, additions))
        if with_evidence and not self._takes_names_only:
            try:
                return AddedLabels(self._post_labels(number, [_entry(part) for part in additions]))
            except InvalidError as error:
                if error.status != 422:
                    raise
        suggested = tuple(addition.name for addition in additions if addition.suggest)
        plain: list[Json] = [part.name for part in additions if not part.suggest]
        labels = self._post_labels(number, plain) if plain else self.issue(number).labels
        # The names alone went through, so it was the evidence that the server does not take.
        self._takes_names_only = self._takes_names_only or (with_evidence and bool(plain))
        return AddedLabels(labels, plain=with_evidence, not_suggested=suggested)

    def _post_labels(self, number: int, entries: list[Json]) -> tuple[str, ...]:
        path = f"{self._issue_path(number)}/labels"
        named = [{"name": entry} if isinstance(entry, str) else entry for entry in entries]
        wanted = [entry["name"] for entry in named if not entry.get("suggest")]
        pending = len(wanted) < len(named)

        def landed() -> Json:
            if pending:  # a suggestion does not show among the labels
                return None
            there = list(self._parts(path))
            missing = [name for name in wanted if not _among(name, names(there))]
            return None if missing else there

        told = self._client.post(path, {"labels": entries}, landed).data
        there = names(told)
        answers.not_made_anew(self._label_ids, _ids(rows(told)))
        answers.labelled(wanted, there, number, "GitHub")
        return there

    def add_comment(self, number: int, body: str) -> Comment:
        path = f"{self._issue_path(number)}/comments"

        def landed() -> Json:
            there = self._parts(path)
            return next((row for row in there if self._is_own(row, body)), None)

        reply = self._client.post(path, {"body": body}, landed)
        return answers.made(facts.comment(reply.data), reply, "GitHub")

    def _is_own(self, row: Json, body: str) -> bool:
        """Whether a comment is the one that was sent; a copy by somebody else is not."""
        ours = answers.is_by(self._viewer, facts.comment(row).author)
        return ours and same_text(text(row, "body"), body)

    def remove_label(self, number: int, label: str) -> bool:
        return self._deleted(f"{self._issue_path(number)}/labels/{segment(label)}")

    def delete_comment(self, number: int, comment_id: int) -> bool:  # noqa: ARG002
        return self._deleted(f"{self._path}/issues/comments/{int(comment_id)}")

    def search(
        self,
        words: str,
        *,
        exact: bool = False,
        kind: Literal["issue", "pull"] = "issue",
        limit: int = 10,
    ) -> list[Issue]:
        query = _search_query(self._repo, words, exact, kind)
        if not query:
            return []
        reply = self._client.get("/search/issues", {"q": query, "per_page": limit})
        return [facts.issue(row) for row in rows(reply.data, "items")[:limit]]

    def _issue_path(self, number: int) -> str:
        return f"{self._path}/issues/{int(number)}"

    def _deleted(self, path: str) -> bool:
        try:
            self._client.delete(path)
        except NotFoundError:
            return False
        return True


def _missing(permissions: Mapping[str, Json], headers: Mapping[str, str]) -> tuple[str, ...]:
    """What a person's token certainly lacks: a role, or a classic token's scope."""
    if "x-oauth-scopes" in headers:
        scopes = {scope.strip() for scope in headers["x-oauth-scopes"].split(",")}
        if not scopes & {"repo", "public_repo"}:
            return ("scope public_repo",)
    writes = any(flag(permissions, role) for role in ("triage", "push", "maintain", "admin"))
    return () if writes or not permissions else ("issues: write",)


def _ids(labels: Sequence[Json]) -> dict[str, int]:
    """By name in lower case."""
    return {text(label, "name").lower(): whole(label, "id") for label in labels}


def _one_label(label: str) -> str:
    if "," in label:
        raise UsageError(f'label "{label}" holds a comma, which no list of labels can', "Rename it")
    return label


def _has_more_than_a_name(addition: LabelAddition) -> bool:
    return bool(addition.rationale or addition.confidence or addition.suggest)


def _entry(addition: LabelAddition) -> dict[str, Json]:
    entry: dict[str, Json] = {"name": addition.name}
    if addition.rationale:
        entry["rationale"] = addition.rationale
    if addition.confidence:
        entry["confidence"] = addition.confidence
    if addition.suggest:
        entry["suggest"] = True
    return entry


def _among(name: str, there: Sequence[str]) -> bool:
    return any(same_label(name, other) for other in there)


def _search_query(repo: str, words: str, exact: bool, kind: str) -> str:
    """Words only: quotes, colons and the like would be operators of the search."""
    where = f"repo:{repo} is:open is:{'issue' if kind == 'issue' else 'pr'} in:title,body "
    if exact:
        return f'{where}"{words.replace(chr(34), " ").strip()}"' if words.strip() else ""
    found = [word for word in re.findall(r"\w+", words) if word not in ("AND", "OR", "NOT")]
    while found and len(where + " ".join(found)) > QUERY_LENGTH:
        found.pop()
    return where + " ".join(found) if found else ""
