"""A GitHub repository from plain data, as a test or a queue file gives it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fakes.github_actions import add_run
from fakes.github_code_shapes import add_pull
from fakes.github_shapes import Shapes
from fakes.github_state import Commit, Given, Json, Repository


def load_repository(
    shapes: Shapes,
    repo: str,
    issues: Iterable[Given] = (),
    *,
    labels: Iterable[str | Given] = (),
    comments: Mapping[Any, Iterable[Given]] | None = None,
    timeline: Mapping[Any, Iterable[Given]] | None = None,
    pulls: Iterable[Given] = (),
    runs: Iterable[Given] = (),
    commits: Iterable[Given | Commit] = (),
    branches: Mapping[str, str] | None = None,
    files: Mapping[str, str | bytes] | None = None,
    check_runs: Mapping[str, list[Json]] | None = None,
    **fields: Any,
) -> Repository:
    """Issues are REST objects or cases (`{"issue", "comments", "timeline"}`).

    `comments` and `timeline` are keyed by issue number, `check_runs` by SHA,
    `branches` map a name to a SHA; `fields` are those of `Repository`
    (private, archived, default_branch, …). Labels that an issue carries are the
    repository's without being listed.
    """
    repository = Repository(repo, shapes, **fields)
    repository.branches.update(branches or {repository.default_branch: "f" * 40})
    for label in labels:
        repository.add_label(label)
    for commit in commits:
        repository.add_commit(commit if isinstance(commit, Commit) else _commit(commit))
    for issue in issues:
        repository.add_issue(issue)
    for pull in pulls:
        add_pull(repository, pull)
    for run in runs:
        add_run(repository, run)
    _add_talk(repository, comments or {}, timeline or {})
    repository.check_runs.update(check_runs or {})
    repository.files.update({path: _bytes(text) for path, text in (files or {}).items()})
    return repository


def _add_talk(
    repository: Repository,
    comments: Mapping[Any, Iterable[Given]],
    timeline: Mapping[Any, Iterable[Given]],
) -> None:
    for number, listed in comments.items():
        for comment in listed:
            repository.add_comment(int(number), comment)
    for number, listed in timeline.items():
        for event in listed:
            repository.add_event(int(number), event)


def _commit(given: Given) -> Commit:
    return Commit(**{**given, "paths": tuple(given.get("paths", ()))})


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content
