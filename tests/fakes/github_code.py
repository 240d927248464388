"""Repository, branches, commits, contents, pull requests and checks."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

from fakes import github_code_shapes as shapes
from fakes.github_state import Commit, Json, Repository
from fakes.messages import Asked, Reply, Route
from fakes.moments import between

if TYPE_CHECKING:
    from fakes.github import FakeGitHub


def get_repository(forge: FakeGitHub, asked: Asked) -> Reply:
    return Reply(body=shapes.full_repository(forge.repository_of(asked), asked.account))


def get_branch(forge: FakeGitHub, asked: Asked) -> Reply:
    repository, name = forge.repository_of(asked), asked.path["branch"]
    sha = repository.branches.get(name)
    if sha is None:
        return forge.error(404, "Branch not found")
    return Reply(body=shapes.branch(repository, name, _commit(repository, sha)))


def list_commits(forge: FakeGitHub, asked: Asked) -> Reply:
    """Newest first. A branch is the whole history up to its head; there are no merges."""
    repository, query = forge.repository_of(asked), asked.query
    start = query.get("sha")
    sha = repository.resolve(start or repository.default_branch)
    if sha is None:
        return forge.error(404, "Not Found")
    path = query.get("path", "").strip("/")
    found = [
        commit
        for commit in _history(repository, sha)
        if _touches(commit, path)
        and between(commit.date, query, "since", "until")
        and query.get("author") in (None, commit.author)
    ]
    return forge.page(asked, repository, [shapes.commit(repository, part) for part in found])


def get_commit(forge: FakeGitHub, asked: Asked) -> Reply:
    repository = forge.repository_of(asked)
    sha = repository.resolve(asked.path["ref"])
    if sha is None:
        return forge.error(422, f"No commit found for SHA: {asked.path['ref']}")
    asked.query.unread.clear()  # pages of a commit's files: every commit here fits on one
    commit = _commit(repository, sha)
    return Reply(body=shapes.commit_with_files(repository, commit))


def list_pulls_of_commit(forge: FakeGitHub, asked: Asked) -> Reply:
    """Pull requests that a commit came with: by its record, its merge or its head."""
    repository = forge.repository_of(asked)
    sha = repository.resolve(asked.path["commit_sha"])
    if sha is None:
        return forge.error(422, f"No commit found for SHA: {asked.path['commit_sha']}")
    listed = _commit(repository, sha).pulls
    found = [
        shapes.simple_pull(pull)
        for number, pull in repository.pulls.items()
        if number in listed or sha in (pull["merge_commit_sha"], pull["head"]["sha"])
    ]
    return forge.page(asked, repository, found)


def list_check_runs(forge: FakeGitHub, asked: Asked) -> Reply:
    repository, query = forge.repository_of(asked), asked.query
    sha = repository.resolve(asked.path["ref"])
    if sha is None:
        return forge.error(422, f"No commit found for SHA: {asked.path['ref']}")
    query.get("filter")  # every check here ran once
    name, status = query.get("check_name"), query.get("status")
    found = [
        run
        for given in repository.check_runs.get(sha, [])
        for run in [shapes.check_run(repository, sha, given)]
        if name in (None, run["name"]) and status in (None, run["status"])
    ]
    return forge.page(asked, repository, found, key="check_runs")


def get_contents(forge: FakeGitHub, asked: Asked) -> Reply:
    repository, path = forge.repository_of(asked), asked.path["path"].strip("/")
    ref = asked.query.get("ref")
    files = repository.files_of(ref)
    if files is None:
        return forge.error(404, f"No commit found for the ref {ref}")
    if path in files:
        return Reply(body=_file(repository, path, files[path]))
    inside = [name for name in files if name.startswith(f"{path}/")]
    if not inside:
        return forge.error(404, "Not Found")
    children = {f"{path}/{name[len(path) + 1 :].split('/')[0]}" for name in inside}
    return Reply(body=[_entry(repository, child, files.get(child)) for child in sorted(children)])


def list_pulls(forge: FakeGitHub, asked: Asked) -> Reply:
    repository, query = forge.repository_of(asked), asked.query
    head, base = query.get("head"), query.get("base")
    found = [
        pull
        for pull in repository.pulls.values()
        if query["state"] in ("all", pull["state"])
        and head in (None, pull["head"]["label"])
        and base in (None, pull["base"]["ref"])
    ]
    key = "updated_at" if query["sort"] == "updated" else "created_at"
    reverse = query.get("direction", "desc" if query["sort"] == "created" else "asc") == "desc"
    found.sort(key=lambda pull: (pull[key], pull["number"]), reverse=reverse)
    return forge.page(asked, repository, [shapes.simple_pull(pull) for pull in found])


def get_pull(forge: FakeGitHub, asked: Asked) -> Reply:
    pull = forge.repository_of(asked).pulls.get(asked.path["pull_number"])
    return forge.error(404, "Not Found") if pull is None else Reply(body=pull)


def create_pull(forge: FakeGitHub, asked: Asked) -> Reply:
    """Refuses a branch that is not there and a second pull request for one branch."""
    repository, body = forge.repository_of(asked), asked.body
    head = body["head"].rsplit(":", 1)[-1]
    owner = repository.full_name.split("/")[0]
    for field, branch in (("head", head), ("base", body["base"])):
        if branch not in repository.branches:
            return forge.invalid("PullRequest", field, code="invalid")
    for pull in repository.pulls.values():
        same = (pull["head"]["ref"], pull["base"]["ref"]) == (head, body["base"])
        if same and pull["state"] == "open":
            exists = f"A pull request already exists for {owner}:{head}."
            return forge.invalid("PullRequest", "", exists)
    given = {
        "number": forge.next_number(repository),
        "title": body.get("title", ""),
        "body": body.get("body"),
        "draft": body.get("draft", False),
        "user": forge.actor(asked),
        "created_at": forge.timestamp(),
        "head": head,
        "base": body["base"],
        "maintainer_can_modify": body.get("maintainer_can_modify", True),
    }
    pull = shapes.add_pull(repository, given)
    return Reply(201, pull, {"Location": pull["url"]})


def _commit(repository: Repository, sha: str) -> Commit:
    """The commit of a SHA; one that only a branch or a pull request names is made up."""
    known = (commit for commit in repository.commits if commit.sha == sha)
    return next(known, Commit(sha))


def _history(repository: Repository, sha: str) -> list[Commit]:
    shas = [commit.sha for commit in repository.commits]
    return repository.commits[shas.index(sha) :] if sha in shas else [Commit(sha)]


def _touches(commit: Commit, path: str) -> bool:
    return not path or any(part == path or part.startswith(f"{path}/") for part in commit.paths)


def _entry(repository: Repository, path: str, content: bytes | None) -> Json:
    """A file, or a folder (content None), as a folder lists it."""
    url = f"{repository.shapes.api}/repos/{repository.full_name}/contents/{path}"
    page = f"{repository.shapes.web}/{repository.full_name}/blob/{repository.default_branch}/{path}"
    is_file = content is not None
    return {
        "name": path.rsplit("/", 1)[-1],
        "path": path,
        "sha": hashlib.sha1(content or path.encode()).hexdigest(),
        "size": len(content or b""),
        "type": "file" if is_file else "dir",
        "url": url,
        "html_url": page,
        "git_url": f"{url}/git",
        "download_url": f"{url}/raw" if is_file else None,
        "_links": {"self": url, "html": page, "git": f"{url}/git"},
    }


def _file(repository: Repository, path: str, content: bytes) -> Json:
    entry = _entry(repository, path, content)
    entry["content"] = base64.encodebytes(content).decode()  # in lines, as GitHub sends it
    entry["encoding"] = "base64"
    return entry


ROUTES: dict[str, Route] = {
    "GET /repos/{owner}/{repo}": get_repository,
    "GET /repos/{owner}/{repo}/branches/{branch}": get_branch,
    "GET /repos/{owner}/{repo}/commits": list_commits,
    "GET /repos/{owner}/{repo}/commits/{ref}": get_commit,
    "GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls": list_pulls_of_commit,
    "GET /repos/{owner}/{repo}/commits/{ref}/check-runs": list_check_runs,
    "GET /repos/{owner}/{repo}/contents/{path}": get_contents,
    "GET /repos/{owner}/{repo}/pulls": list_pulls,
    "POST /repos/{owner}/{repo}/pulls": create_pull,
    "GET /repos/{owner}/{repo}/pulls/{pull_number}": get_pull,
}
