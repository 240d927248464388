"""Which issues an event is about.

GitHub runs a workflow for `issues`, `issue_comment`, `workflow_dispatch` and `schedule`
(https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows).
GitLab has no pipeline for an issue: a schedule sweeps, and a webhook that triggers a pipeline
hands over its payload as a file variable
(https://docs.gitlab.com/ci/triggers/#use-a-webhook).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ciops.errors import RefusedError, UsageError
from ciops.plumbing.ci_host import Event
from ciops.plumbing.yaml_file import shown

Reason = Literal["", "pull_request", "closed", "locked", "gone", "not_an_issue"]
NAME_AN_ISSUE: Final = "Give --issue N or --sweep"
GONE: Final = ("deleted", "transferred")


@dataclass(frozen=True, slots=True)
class Target:
    """What to look at: these issues, or the whole queue; or nothing, for a `reason`.

    `labels` are those that the event tells of, None when it tells of none.
    """

    issues: tuple[int, ...] = ()
    sweep: bool = False
    reason: Reason = ""
    labels: tuple[str, ...] | None = None
    title: str = ""
    url: str = ""


def target_of(event: Event | None, repo: str) -> Target:
    """What an event asks for. RefusedError when it is another repository's."""
    if event is None:
        raise UsageError("nothing says which issues to look at", NAME_AN_ISSUE)
    reader = _READERS.get(event.name)
    if reader is None:
        known = ", ".join(_READERS)
        problem = f"event {shown(event.name)} is not about issues (known: {known})"
        raise UsageError(problem, NAME_AN_ISSUE)
    _refuse_foreign(event.payload, repo)
    return reader(event.payload)


def _refuse_foreign(payload: Mapping[str, Any], repo: str) -> None:
    told = _text(_child(payload, "repository"), "full_name")  # GitHub
    if not told:
        project = _child(payload, "project")  # GitLab, where a project may go by its id
        told = str(project.get("id")) if repo.isdigit() else _text(project, "path_with_namespace")
    if told and told.casefold() != repo.casefold():
        problem = f"the event is of {shown(told)}, the job is for {shown(repo)}"
        raise RefusedError(problem, "Run the job where the issue is, or correct --repo")


def _github_issue(payload: Mapping[str, Any]) -> Target:
    issue = _child(payload, "issue")
    number = _number(issue, "number", "issue.number")
    reason: Reason = ""
    if issue.get("pull_request") is not None:
        reason = "pull_request"
    elif payload.get("action") in GONE and "comment" not in payload:
        reason = "gone"
    elif issue.get("state") == "closed":
        reason = "closed"
    elif issue.get("locked") is True:
        reason = "locked"
    return Target(
        issues=(number,),
        reason=reason,
        labels=_labels(issue.get("labels"), "name"),
        title=_text(issue, "title"),
        url=_text(issue, "html_url"),
    )


def _github_dispatch(payload: Mapping[str, Any]) -> Target:
    """Inputs reach the job by its environment; those of a workflow that does not map them, here."""
    text = str(_child(payload, "inputs").get("issue") or "").strip()
    if not text:
        return Target(sweep=True)
    if not re.fullmatch(r"#?[1-9]\d{0,9}(?:[\s,]+#?[1-9]\d{0,9})*", text):
        problem = f"input issue is {shown(text)}, not the number of an issue"
        raise UsageError(problem, "Write it as 12, or leave it empty for the whole queue")
    return Target(issues=tuple(int(number) for number in re.findall(r"\d+", text)))


def _sweep(_: Mapping[str, Any]) -> Target:
    return Target(sweep=True)


def _gitlab_issue(payload: Mapping[str, Any]) -> Target:
    issue = _child(payload, "object_attributes")
    return _gitlab_target(issue, payload.get("labels"))


def _gitlab_note(payload: Mapping[str, Any]) -> Target:
    """A comment; on a merge request, a commit or a snippet it is none of ours."""
    if _text(_child(payload, "object_attributes"), "noteable_type") != "Issue":
        return Target(reason="not_an_issue")
    issue = _child(payload, "issue")
    return _gitlab_target(issue, issue.get("labels"))


def _gitlab_target(issue: Mapping[str, Any], labels: object) -> Target:
    number = _number(issue, "iid", "iid")
    reason: Reason = "closed" if issue.get("state") == "closed" else ""
    if issue.get("discussion_locked") is True:
        reason = reason or "locked"
    return Target(
        issues=(number,),
        reason=reason,
        labels=_labels(labels, "title"),
        title=_text(issue, "title"),
        url=_text(issue, "url"),
    )


_READERS: Final = {
    "issues": _github_issue,
    "issue_comment": _github_issue,
    "workflow_dispatch": _github_dispatch,
    "schedule": _sweep,
    "issue": _gitlab_issue,
    "note": _gitlab_note,
}


def _labels(value: object, key: str) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    return tuple(_text(label, key) for label in value if isinstance(label, dict))


def _child(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _number(data: Mapping[str, Any], key: str, name: str) -> int:
    value = data.get(key)
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise UsageError(f"the event holds no number of an issue ({name})", NAME_AN_ISSUE)
