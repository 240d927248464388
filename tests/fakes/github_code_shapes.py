"""REST objects of repositories, commits, pull requests and checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakes.filler import EPOCH, SHA
from fakes.github_shapes import number_of
from fakes.github_state import Commit, Json, Repository
from fakes.messages import Account

Given = Mapping[str, Any]

# What a pull request has only when it is asked for alone.
DETAIL = (
    "additions",
    "changed_files",
    "comments",
    "commits",
    "deletions",
    "maintainer_can_modify",
    "mergeable",
    "mergeable_state",
    "merged",
    "merged_by",
    "rebaseable",
    "review_comments",
)


def repository_base(repository: Repository) -> Json:
    owner, name = repository.full_name.split("/")
    return {
        "id": repository.id,
        "name": name,
        "full_name": repository.full_name,
        "private": repository.private,
        "archived": repository.archived,
        "owner": repository.shapes.user(owner),
        "url": f"{repository.shapes.api}/repos/{repository.full_name}",
        "html_url": f"{repository.shapes.web}/{repository.full_name}",
        "default_branch": repository.default_branch,
        "has_issues": repository.has_issues,
    }


def full_repository(repository: Repository, account: Account | None) -> Json:
    """`permissions` are those of the account; an anonymous reader sees none."""
    fields = repository_base(repository)
    if account is not None:
        granted = account.permissions
        writes = granted is None or "write" in granted.values()
        fields["permissions"] = {
            "admin": False,
            "maintain": False,
            "push": writes,
            "triage": writes,
            "pull": True,
        }
    return repository.shapes.filler.fill("full-repository", fields)


def branch(repository: Repository, name: str, head: Commit) -> Json:
    url = f"{repository.shapes.api}/repos/{repository.full_name}/branches/{name}"
    page = f"{repository.shapes.web}/{repository.full_name}/tree/{name}"
    fields = {
        "name": name,
        "commit": commit(repository, head),
        "_links": {"self": url, "html": page},
        "protection": {"enabled": False},
        "protection_url": f"{url}/protection",
    }
    return repository.shapes.filler.fill("branch-with-protection", fields)


def commit(repository: Repository, given: Commit) -> Json:
    url = f"{repository.shapes.api}/repos/{repository.full_name}/commits/{given.sha}"
    person = {"name": given.author, "email": f"{given.author}@example.com", "date": given.date}
    user = repository.shapes.user(given.author)
    return {
        "sha": given.sha,
        "node_id": f"C_{given.sha}",
        "url": url,
        "html_url": f"{repository.shapes.web}/{repository.full_name}/commit/{given.sha}",
        "comments_url": f"{url}/comments",
        "author": user,
        "committer": user,
        "parents": [],
        "commit": {
            "url": url,
            "message": given.message,
            "author": person,
            "committer": person,
            "comment_count": 0,
            "tree": {"sha": given.sha, "url": url},
        },
    }


def commit_with_files(repository: Repository, given: Commit) -> Json:
    filler = repository.shapes.filler
    files = [
        filler.fill("diff-entry", {"filename": path, "status": "modified", "sha": given.sha})
        for path in given.paths
    ]
    stats = {"additions": 0, "deletions": 0, "total": 0}
    return {**commit(repository, given), "stats": stats, "files": files}


def add_pull(repository: Repository, given: Given) -> Json:
    """A pull request and the issue that the issues list shows for it.

    `head` and `base` are branches; `sha` is the head's commit; `merged_at` and
    `merge_commit_sha` make it a merged one.
    """
    number = given["number"]
    head, base = given.get("head", f"change-{number}"), given.get("base", repository.default_branch)
    sha = given.get("sha") or repository.branches.get(head, SHA)
    link = {"merged_at": given["merged_at"]} if given.get("merged_at") else {}
    only_pull = (*DETAIL, "head", "base", "sha", "merged_at", "merge_commit_sha")
    as_issue = {key: value for key, value in given.items() if key not in only_pull}
    merged = bool(given.get("merged_at"))
    issue = repository.add_issue(
        {"state": "closed" if merged else "open", **as_issue, "pull_request": link}
    )
    detail = {key: value for key, value in given.items() if key in DETAIL}
    fields = {
        **_of_issue(issue),
        "url": issue["pull_request"]["url"],
        "issue_url": issue["url"],
        "merged": merged,
        "merged_at": given.get("merged_at"),
        "merge_commit_sha": given.get("merge_commit_sha"),
        "mergeable_state": "unknown",
        "head": _side(repository, head, sha),
        "base": _side(repository, base, SHA),
        **detail,
    }
    repository.pulls[number] = repository.shapes.filler.fill("pull-request", fields)
    return repository.pulls[number]


def simple_pull(pull: Json) -> Json:
    """The pull request as lists show it."""
    return {key: value for key, value in pull.items() if key not in DETAIL}


def check_run(repository: Repository, sha: str, given: Given) -> Json:
    done = given.get("status", "completed") == "completed"
    identity = given.get("id", number_of(f"{sha} {given['name']}"))
    fields = {
        "id": identity,
        "head_sha": sha,
        "status": "completed",
        "conclusion": "success" if done else None,
        "started_at": EPOCH,
        "completed_at": EPOCH if done else None,
        "html_url": f"{repository.shapes.web}/{repository.full_name}/runs/{identity}",
        **given,
    }
    return repository.shapes.filler.fill("check-run", fields)


def _of_issue(issue: Json) -> Json:
    shared = (
        "id",
        "node_id",
        "number",
        "title",
        "body",
        "state",
        "locked",
        "user",
        "labels",
        "assignee",
        "assignees",
        "milestone",
        "created_at",
        "updated_at",
        "closed_at",
        "author_association",
        "comments",
        "comments_url",
        "draft",
    )
    links = {key: issue["pull_request"][key] for key in ("html_url", "diff_url", "patch_url")}
    return {**{key: issue[key] for key in shared if key in issue}, **links}


def _side(repository: Repository, ref: str, sha: str) -> Json:
    owner = repository.full_name.split("/")[0]
    return {
        "label": f"{owner}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": repository.shapes.user(owner),
        "repo": repository.shapes.filler.fill("repository", repository_base(repository)),
    }
