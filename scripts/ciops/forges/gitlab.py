"""GitLab: the connection, and issues for triage.

https://docs.gitlab.com/api/issues/ and /api/notes/. Pipelines are in `gitlab_pipelines`, code and
merge requests in `gitlab_code`. The token goes as `Authorization: Bearer`, which every kind of
token but a job token may (https://docs.gitlab.com/api/rest/authentication/).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from ciops.errors import RefusedError, UsageError
from ciops.forges import answers
from ciops.forges import gitlab_facts as facts
from ciops.forges.base import (
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
from ciops.forges.json_fields import child, flag, rows, same_text, text, whole
from ciops.plumbing.http import Client, Json, NotFoundError, UnavailableError, segment

if TYPE_CHECKING:
    from ciops.forges.gitlab_code import GitLabCode
    from ciops.forges.gitlab_pipelines import GitLabPipelines

WEB_URL: Final = "https://gitlab.com"
REPORTER: Final = 20
# https://docs.gitlab.com/api/access_requests/#valid-access-levels
ASSOCIATIONS: Final = ((50, "OWNER"), (30, "MEMBER"), (REPORTER, "COLLABORATOR"))


class GitLab:
    """One GitLab with one token."""

    name = "gitlab"

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
    ) -> GitLab:
        """By GITLAB_URL, else the job's own server, else gitlab.com; the token is GITLAB_TOKEN."""
        web_url, api_url = addresses(env, url)
        client = Client("GitLab", api_url, env.get("GITLAB_TOKEN"), log=log, sleep=sleep)
        return cls(client, web_url)

    def queue(self, repo: str) -> GitLabQueue:
        return GitLabQueue(self.client, repo)

    def code(self, repo: str) -> GitLabCode:
        from ciops.forges.gitlab_code import GitLabCode

        return GitLabCode(self.client, repo)

    def pipelines(self) -> GitLabPipelines:
        from ciops.forges.gitlab_pipelines import GitLabPipelines

        return GitLabPipelines(self.client)


def addresses(env: Mapping[str, str], url: str = "") -> tuple[str, str]:
    """The address of the site and of its API."""
    given = url or env.get("GITLAB_URL", "")
    own = env.get("CI_SERVER_URL", "")
    web_url = (given or own or WEB_URL).strip().rstrip("/").removesuffix("/api/v4")
    own_api = env.get("CI_API_V4_URL", "")
    if own_api and not given:
        return (own or own_api.removesuffix("/api/v4")).rstrip("/"), own_api
    return web_url, f"{web_url}/api/v4"


def project_path(project: int | str) -> str:
    """An id or a path as the path of its API; UsageError for anything else."""
    if not re.fullmatch(r"\d+|[\w.-]+(?:/[\w.-]+)+", str(project)):
        raise UsageError(f'"{project}" is not a GitLab project', "Write it as GROUP/NAME or its id")
    return f"/projects/{'%2F'.join(map(segment, str(project).split('/')))}"


class GitLabQueue:
    """The issues of one project."""

    def __init__(self, client: Client, repo: str) -> None:
        self._client = client
        self._path = project_path(repo)
        self._associations: dict[int, str] = {}
        self._spellings: dict[str, str] = {}
        self._viewer: Viewer | None = None

    def viewer(self) -> Viewer:
        """Two calls; a job token may not ask who it is."""
        user = self._client.get("/user").data
        project = self._client.get(self._path, follow=False).data
        granted = child(project, "permissions")
        levels = [
            whole(child(granted, kind), "access_level")
            for kind in ("project_access", "group_access")
        ]
        # No level at all proves nothing: a group may be shared with the project.
        lacks = 0 < max(levels) < REPORTER and not flag(user, "is_admin")
        missing = ("the Reporter role",) if lacks else ()
        person = answers.the_account(facts.person(user), "GitLab")
        self._viewer = Viewer(person.login, person.is_bot, missing)
        return self._viewer

    def labels(self) -> frozenset[str]:
        """Also what names are spelled by from then on: GitLab tells `Bug` from `bug`."""
        found = self._client.items(f"{self._path}/labels", {"per_page": 100})
        names = frozenset(text(label, "name") for label in found)
        self._spellings = {name.casefold(): name for name in names}
        return names

    def _spelled(self, label: str) -> str:
        return self._spellings.get(label.casefold(), label)

    def issue(self, number: int) -> Issue:
        found = facts.issue(self._client.get(self._issue_path(number), follow=False).data)
        return answers.the_issue(found, number, "GitLab")

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
            "state": {"open": "opened", "closed": "closed", "all": "all"}[state],
            "labels": _listed([self._spelled(label)]) if label else None,
            "author_username": creator or None,
            "updated_after": since or None,
            "order_by": f"{order}_at",
            "sort": "desc" if order == "updated" else "asc",
            "per_page": 100,
        }
        found = map(facts.issue, self._client.items(f"{self._path}/issues", query))
        return answers.only_issues(found, "GitLab")

    def comments(self, number: int) -> list[Comment]:
        return [self._vouched(facts.comment(note)) for note in self._notes(number, "asc")]

    def _vouched(self, comment: Comment) -> Comment:
        """Anybody may take a name like those of tokens' accounts, which are members."""
        author = comment.author
        if not facts.is_bot_name(author.login) or self.association_of(author) != "NONE":
            return comment
        return replace(comment, author=replace(author, is_bot=False))

    def _notes(self, number: int, sort: Literal["asc", "desc"]) -> Iterator[Json]:
        query = {
            "activity_filter": "only_comments",
            "order_by": "created_at",
            "sort": sort,
            "per_page": 100,
        }
        notes = self._client.items(f"{self._issue_path(number)}/notes", query)
        return (note for note in notes if not flag(note, "system"))

    def timeline(self, number: int) -> Timeline:
        """GitLab tells label events alone."""
        path = f"{self._issue_path(number)}/resource_label_events"
        events = map(facts.label_event, self._client.items(path, {"per_page": 100}))
        return Timeline(tuple(filter(None, events)))

    def association_of(self, person: Person) -> str:
        """By access level, own or inherited; asked once for each person."""
        if not person.id:
            return "NONE"
        if person.id not in self._associations:
            self._associations[person.id] = self._association(person.id)
        return self._associations[person.id]

    def _association(self, user_id: int) -> str:
        try:
            member = self._client.get(f"{self._path}/members/all/{user_id}").data
        except NotFoundError:
            return "NONE"
        level = whole(member, "access_level")
        return next((word for least, word in ASSOCIATIONS if level >= least), "NONE")

    def add_labels(self, number: int, additions: Sequence[LabelAddition]) -> AddedLabels:
        """Names only: GitLab stores no evidence and no suggestions."""
        suggested = tuple(addition.name for addition in additions if addition.suggest)
        wanted = [self._spelled(part.name) for part in additions if not part.suggest]
        if any("::" in name for name in wanted):
            self.refuse_labels(wanted, self.issue(number).labels)
        changed: Json = None
        if wanted:
            body = {"add_labels": _listed(wanted)}
            changed = self._client.put(self._issue_path(number), body).data
        issue = facts.issue(changed) if changed else self.issue(number)
        answers.labelled(wanted, issue.labels, number, "GitLab")
        return AddedLabels(issue.labels, plain=True, not_suggested=suggested)

    def refuse_labels(self, wanted: Sequence[str], there: Sequence[str]) -> None:
        """A scoped label takes the place of the one that stands in its scope."""
        held: dict[str, str] = {}
        for name in (*there, *wanted):
            scope = _scope(name)
            other = held.setdefault(scope, name) if scope else name
            if not same_label(name, other) and name in wanted:
                step = "Use labels without :: for what is added beside others"
                raise RefusedError(f'label "{name}" would replace "{other}"', step)

    def add_comment(self, number: int, body: str) -> Comment:
        path = f"{self._issue_path(number)}/notes"

        def landed() -> Json:
            there = self._notes(number, "desc")
            return next((note for note in there if self._is_own(note, body)), None)

        reply = self._client.post(path, {"body": body}, landed)
        if reply.status == 202:
            reason = "the text was taken for quick actions and no comment was made"
            raise UnavailableError("GitLab", f"POST {path}", reply.status, reason)
        return answers.made(facts.comment(reply.data), reply, "GitLab")

    def _is_own(self, note: Json, body: str) -> bool:
        """Whether a note is the one that was sent; a copy by somebody else is not."""
        ours = answers.is_by(self._viewer, facts.comment(note).author)
        return ours and same_text(text(note, "body"), body)

    def remove_label(self, number: int, label: str) -> bool:
        there = [name for name in self.issue(number).labels if same_label(name, label)]
        if there:
            self._client.put(self._issue_path(number), {"remove_labels": _listed(there)})
        return bool(there)

    def delete_comment(self, number: int, comment_id: int) -> bool:
        try:
            self._client.delete(f"{self._issue_path(number)}/notes/{int(comment_id)}")
        except NotFoundError:
            return False
        return True

    def search(
        self,
        words: str,
        *,
        exact: bool = False,  # noqa: ARG002 - GitLab has no phrase search
        kind: Literal["issue", "pull"] = "issue",
        limit: int = 10,
    ) -> list[Issue]:
        if not words.strip():
            return []
        query = {
            "search": words.strip(),
            "in": "title,description",
            "state": "opened",
            "per_page": limit,
        }
        subject = "issues" if kind == "issue" else "merge_requests"
        found = rows(self._client.get(f"{self._path}/{subject}", query).data)[:limit]
        return [facts.issue(row, is_pull_request=kind == "pull") for row in found]

    def _issue_path(self, number: int) -> str:
        return f"{self._path}/issues/{int(number)}"


def _listed(labels: Sequence[str]) -> str:
    for label in labels:
        if "," in label:
            raise UsageError(f'label "{label}" holds a comma, which GitLab takes for two labels')
    return ",".join(labels)


def _scope(label: str) -> str:
    """`a::b` of `a::b::c` (https://docs.gitlab.com/user/project/labels/#scoped-labels)."""
    return label.rpartition("::")[0].casefold()
