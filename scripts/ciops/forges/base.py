"""What the tools ask of a forge, by use, and the facts that come back.

Every fact is a frozen dataclass; times are ISO 8601 texts as the service writes them. Words are
GitHub's, whatever the forge: `open`/`closed`/`merged`, an access level as an association. Job and
pipeline statuses are GitLab's (`success`, `failed`, `canceled`, `skipped`, `running` …).

Labels compare without regard to case, as GitHub compares them: use `same_label`. (GitLab does not;
a queue whose `labels()` were read writes them as the project spells them.) A service that fails
raises an error of `ciops.plumbing.http`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from ciops.forges.timeline import LabelEvent as LabelEvent
from ciops.forges.timeline import Timeline as Timeline

if TYPE_CHECKING:
    from ciops.plumbing.http import Client, Download

Order = Literal["updated", "created"]
Confidence = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class Person:
    """An account. `id` is what the service asks for about its members; 0 when unknown."""

    login: str
    is_bot: bool = False
    id: int = 0


GHOST = Person("ghost")  # a deleted account
ACTIONS_LOGIN = "github-actions[bot]"  # with a job's own token on GitHub


@dataclass(frozen=True, slots=True)
class Viewer:
    """Whose token it is, and what it certainly lacks for triage (empty when nothing is known)."""

    login: str
    is_bot: bool
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue, or a pull request where a list mixes them. `association` is "" when not told."""

    number: int
    title: str
    body: str
    labels: tuple[str, ...]
    author: Person
    association: str
    state: Literal["open", "closed"]
    locked: bool
    is_pull_request: bool
    comments: int
    thumbs_up: int
    created_at: str
    updated_at: str
    url: str


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment by a person or a bot; never a system note."""

    id: int
    body: str
    author: Person
    association: str
    created_at: str
    url: str


@dataclass(frozen=True, slots=True)
class LabelAddition:
    """A label to add, with the evidence for it; `suggest` asks a person to confirm it."""

    name: str
    rationale: str = ""
    confidence: Confidence | None = None
    suggest: bool = False


@dataclass(frozen=True, slots=True)
class AddedLabels:
    """What came of `add_labels`.

    `labels` are all labels of the issue now. `plain` says that the service took names only;
    `not_suggested` are the suggestions that it could therefore not store: they were not added.
    """

    labels: tuple[str, ...]
    plain: bool = False
    not_suggested: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Project:
    id: int
    path: str
    url: str
    default_branch: str
    archived: bool


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A pipeline, or a workflow run."""

    id: int
    project_id: int
    ref: str
    sha: str
    status: str
    source: str
    name: str
    created_at: str
    updated_at: str
    url: str


@dataclass(frozen=True, slots=True)
class Downstream:
    """The pipeline that a bridge triggered."""

    id: int
    project_id: int
    status: str
    url: str


@dataclass(frozen=True, slots=True)
class Bridge:
    """A trigger job. `downstream` is None until it triggered, or without the right to see it."""

    id: int
    name: str
    stage: str
    status: str
    allow_failure: bool
    failure_reason: str
    url: str
    downstream: Downstream | None


@dataclass(frozen=True, slots=True)
class Job:
    """A job's latest attempt, or any with `include_retried`."""

    id: int
    name: str
    stage: str
    status: str
    allow_failure: bool
    failure_reason: str
    ref: str
    sha: str
    pipeline_id: int
    runner: str
    created_at: str
    started_at: str
    finished_at: str
    url: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit; `message` is whole, its first line the title."""

    sha: str
    message: str
    author: str
    date: str
    url: str


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull or merge request."""

    number: int
    title: str
    body: str
    state: Literal["open", "closed", "merged"]
    draft: bool
    author: Person
    labels: tuple[str, ...]
    head: str
    head_sha: str
    base: str
    merged_at: str
    merge_sha: str
    url: str


@dataclass(frozen=True, slots=True)
class Check:
    """A check run or commit status; `status` as for jobs."""

    name: str
    status: str
    url: str


class IssueQueue(Protocol):
    """The issues of one repository, for triage. Nothing here closes, assigns or replaces."""

    def viewer(self) -> Viewer: ...

    def labels(self) -> frozenset[str]:
        """Every label that the repository has."""

    def issue(self, number: int) -> Issue:
        """MovedError for a transferred issue, GoneError for a deleted one."""

    def issues(
        self,
        label: str = "",
        *,
        order: Order = "updated",
        creator: str = "",
        state: Literal["open", "closed", "all"] = "open",
        since: str = "",
    ) -> Iterator[Issue]:
        """100 a call; latest update first, or oldest first by creation, which never skips."""

    def comments(self, number: int) -> list[Comment]: ...

    def timeline(self, number: int) -> Timeline: ...

    def association_of(self, person: Person) -> str:
        """OWNER, MEMBER, COLLABORATOR or NONE, where comments do not tell it themselves."""

    def refuse_labels(self, wanted: Sequence[str], there: Sequence[str]) -> None:
        """RefusedError where adding labels would take others away, or would be refused."""

    def add_labels(self, number: int, additions: Sequence[LabelAddition]) -> AddedLabels:
        """Adds, in this order, in one call. The service makes labels that the project lacks."""

    def add_comment(self, number: int, body: str) -> Comment: ...

    def remove_label(self, number: int, label: str) -> bool:
        """Whether the label was there to be removed."""

    def delete_comment(self, number: int, comment_id: int) -> bool:
        """Whether the comment was there to be deleted."""

    def search(
        self,
        words: str,
        *,
        exact: bool = False,
        kind: Literal["issue", "pull"] = "issue",
        limit: int = 10,
    ) -> list[Issue]:
        """Open ones that hold the words, or with `exact` the phrase, in title or body."""


class Pipelines(Protocol):
    """Pipelines of any project that the token may see; a project is an id or a path."""

    def project(self, project: int | str) -> Project: ...

    def pipeline(self, project: int | str, pipeline_id: int) -> Pipeline: ...

    def pipelines(
        self, project: int | str, *, ref: str = "", source: str = "", before: str = ""
    ) -> Iterator[Pipeline]:
        """Newest first, page by page; on GitLab children only where `source` says so."""

    def bridges(self, project: int | str, pipeline_id: int) -> list[Bridge]: ...

    def jobs(
        self,
        project: int | str,
        pipeline_id: int,
        *,
        statuses: Sequence[str] = (),
        include_retried: bool = False,
    ) -> list[Job]:
        """Of these statuses, or all."""

    def trace(
        self, project: int | str, job_id: int, offset: int = 0
    ) -> AbstractContextManager[Download]:
        """The raw log in chunks; NotFoundError when there is none."""


class CodeHost(Protocol):
    """Code, commits and pull requests of one repository."""

    def project(self) -> Project: ...

    def file(self, path: str, ref: str = "") -> bytes | None:
        """The content at a branch, tag or commit; None when there is no such file."""

    def commits(
        self, path: str = "", *, ref: str = "", since: str = "", until: str = "", limit: int = 30
    ) -> list[Commit]:
        """Newest first; those that touched `path`."""

    def commit(self, sha: str) -> Commit | None: ...

    def checks(self, sha: str) -> list[Check]: ...

    def branch(self, name: str) -> str | None:
        """The commit that a branch points at; None when there is no such branch."""

    def pull(self, number: int) -> PullRequest | None: ...

    def open_pulls(self, head: str) -> list[PullRequest]:
        """Open ones from a branch; `owner:branch` for one in a fork."""

    def create_issue(self, title: str, body: str, labels: Iterable[str] = ()) -> Issue: ...
    def create_pull(
        self, title: str, body: str, *, head: str, base: str, draft: bool = False
    ) -> PullRequest: ...


class Forge(Protocol):
    """One service with one token; what it hands out shares its connection."""

    name: str
    client: Client
    web_url: str

    def queue(self, repo: str) -> IssueQueue: ...

    def code(self, repo: str) -> CodeHost: ...

    def pipelines(self) -> Pipelines: ...


def same_label(one: str, other: str) -> bool:
    """Whether two names are one label."""
    return one.casefold() == other.casefold()
