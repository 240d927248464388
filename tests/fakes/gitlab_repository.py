"""Project, files, commits, branches, merge requests and search."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

from fakes.filler import EPOCH
from fakes.gitlab_quick_actions import extract
from fakes.gitlab_shapes import Json, number_of
from fakes.gitlab_state import Project
from fakes.messages import Asked, Reply, Route
from fakes.moments import between

if TYPE_CHECKING:
    from fakes.gitlab import FakeGitLab


def get_project(forge: FakeGitLab, asked: Asked) -> Reply:
    project = forge.project_of(asked)
    fields = {"default_branch": project.default_branch, "visibility": "private"}
    return Reply(body=project.shapes.project(project.id, project.path, fields))


def get_branch(forge: FakeGitLab, asked: Asked) -> Reply:
    project, name = forge.project_of(asked), asked.path["branch"]
    sha = project.branches.get(name)
    if sha is None:
        return forge.error(404, "404 Branch Not Found")
    fields = {
        "name": name,
        "default": name == project.default_branch,
        "commit": project.shapes.commit(project.path, _commit(project, sha)),
        "web_url": f"{project.shapes.web}/{project.path}/-/tree/{name}",
    }
    return Reply(body=project.shapes.filler.fill("Branch", fields))


def list_commits(forge: FakeGitLab, asked: Asked) -> Reply:
    """Newest first; a path also finds what lies below it."""
    project, query = forge.project_of(asked), asked.query
    query.get("all"), query.get("first_parent")  # one line of history, no merges
    sha = project.resolve(query.get("ref_name", project.default_branch))
    if sha is None:
        return forge.error(404, "404 Not Found")
    path = query.get("path", "").strip("/")
    found = [
        commit
        for commit in _history(project, sha)
        if _touches(commit, path)
        and between(commit.get("date", EPOCH), query, "since", "until")
        and query.get("author", "") in commit.get("author", "")
    ]
    return forge.page(asked, [project.shapes.commit(project.path, commit) for commit in found])


def get_commit(forge: FakeGitLab, asked: Asked) -> Reply:
    project = forge.project_of(asked)
    asked.query.get("stats")
    sha = project.resolve(asked.path["sha"])
    if sha is None:
        return forge.error(404, "404 Commit Not Found")
    commit = project.shapes.commit(project.path, _commit(project, sha))
    stats = {"additions": 0, "deletions": 0, "total": 0}
    detail = {"status": None, "project_id": project.id, "last_pipeline": None, "stats": stats}
    return Reply(body={**commit, **detail})


def list_statuses(forge: FakeGitLab, asked: Asked) -> Reply:
    project, query = forge.project_of(asked), asked.query
    query.get("all")
    sha = project.resolve(asked.path["sha"])
    if sha is None:
        return forge.error(404, "404 Commit Not Found")
    found = [
        _status(project, sha, given)
        for given in project.statuses.get(sha, [])
        if query.get("name") in (None, given["name"])
    ]
    return forge.page(asked, found)


def get_file(forge: FakeGitLab, asked: Asked) -> Reply:
    project, path, ref = forge.project_of(asked), asked.path["file_path"], asked.query["ref"]
    files = project.files_of(ref)
    if files is None:
        return forge.error(404, "404 Commit Not Found")
    if path not in files:
        return forge.error(404, "404 File Not Found")
    content = files[path]
    sha = project.resolve(ref)
    fields = {
        "file_name": path.rsplit("/", 1)[-1],
        "file_path": path,
        "size": len(content),
        "encoding": "base64",
        "content": base64.b64encode(content).decode(),
        "content_sha256": hashlib.sha256(content).hexdigest(),
        "ref": ref,
        "blob_id": hashlib.sha1(content).hexdigest(),
        "commit_id": sha,
        "last_commit_id": sha,
        "execute_filemode": False,
    }
    return Reply(body=fields)


def list_merge_requests(forge: FakeGitLab, asked: Asked) -> Reply:
    project, query = forge.project_of(asked), asked.query
    query.get("scope")  # a project's merge requests are all of them
    same = {key: query.get(key) for key in ("source_branch", "target_branch")}
    author, iids = query.get("author_username"), query.get("iids[]")
    state, text, places = query.get("state", "all"), query.get("search"), query.get("in")
    found = [
        part
        for part in project.merge_requests.values()
        if state in ("all", part["state"])
        and all(value in (None, part[key]) for key, value in same.items())
        and author in (None, part["author"]["username"])
        and (iids is None or part["iid"] in iids)
        and forge.matches(part, text, places)
        and forge.within(part, query)
    ]
    key = query.get("order_by", "created_at")
    reverse = query.get("sort", "desc") == "desc"
    found.sort(key=lambda part: (part[key], part["id"]), reverse=reverse)
    return forge.page(asked, found)


def get_merge_request(forge: FakeGitLab, asked: Asked) -> Reply:
    found = forge.project_of(asked).merge_requests.get(asked.path["iid"])
    return forge.error(404, "404 Not found") if found is None else Reply(body=found)


def create_merge_request(forge: FakeGitLab, asked: Asked) -> Reply:
    """One open merge request a source branch; both branches must be there."""
    project, body = forge.project_of(asked), asked.body
    for key in ("source_branch", "target_branch"):
        if body[key] not in project.branches:
            return forge.error(400, f'{key} "{body[key]}" does not exist')
    for part in project.merge_requests.values():
        if part["state"] == "opened" and part["source_branch"] == body["source_branch"]:
            taken = "Another open merge request already exists for this source branch"
            return Reply(409, {"message": [f"{taken}: !{part['iid']}"]})
    text, actions = extract(body.get("description") or "")
    iid = max(project.merge_requests, default=0) + 1
    forge.quick_actions.extend((iid, action) for action in actions)
    body.get("remove_source_branch")
    given = {
        "iid": iid,
        "title": body["title"],
        "description": text,
        "source_branch": body["source_branch"],
        "target_branch": body["target_branch"],
        "author": forge.actor(asked),
        "created_at": forge.timestamp(),
        "sha": project.branches[body["source_branch"]],
    }
    return Reply(201, project.add_merge_request(given))


def search(forge: FakeGitLab, asked: Asked) -> Reply:
    """Issues, merge requests, or files that hold the text."""
    project, query = forge.project_of(asked), asked.query
    scope, text, state = query["scope"], query["search"], query.get("state", "all")
    if scope == "blobs":
        ref = query.get("ref", project.default_branch)
        return forge.page(asked, _blobs(project, text, ref))
    kinds = {"issues": project.issues, "merge_requests": project.merge_requests}
    if scope not in kinds:
        raise NotImplementedError(f"search in {scope}")
    places = ",".join(query.get("fields[]", ())) or None
    found = [
        part
        for part in kinds[scope].values()
        if forge.matches(part, text, places) and state in ("all", part["state"])
    ]
    reverse = query.get("sort", "desc") == "desc"
    found.sort(key=lambda part: (part["created_at"], part["id"]), reverse=reverse)
    return forge.page(asked, found)


def _commit(project: Project, sha: str) -> Json:
    """The commit of a SHA; one that only a branch or a pipeline names is made up."""
    return next((known for known in project.commits if known["sha"] == sha), {"sha": sha})


def _history(project: Project, sha: str) -> list[Json]:
    shas = [commit["sha"] for commit in project.commits]
    return project.commits[shas.index(sha) :] if sha in shas else [{"sha": sha, "paths": []}]


def _touches(commit: Json, path: str) -> bool:
    return not path or any(part == path or part.startswith(f"{path}/") for part in commit["paths"])


def _status(project: Project, sha: str, given: Json) -> Json:
    fields = {
        "id": number_of(f"{sha} {given['name']}"),
        "sha": sha,
        "ref": project.default_branch,
        "status": "success",
        "description": None,
        "target_url": None,
        "author": project.shapes.user("ghost"),
        **given,
    }
    return project.shapes.filler.fill("CommitStatus", fields)


def _blobs(project: Project, text: str, ref: str) -> list[Json]:
    found = []
    for path, content in (project.files_of(ref) or {}).items():
        lines = content.decode("utf-8", "replace").split("\n")
        for index, line in enumerate(lines):
            if text.lower() in line.lower():
                fields = {"path": path, "filename": path, "basename": path.rsplit(".", 1)[0]}
                place = {"data": line, "startline": index + 1, "ref": ref}
                found.append({**fields, **place, "id": None, "project_id": project.id})
                break
    return found


ROUTES: dict[str, Route] = {
    "GET /projects/{id}": get_project,
    "GET /projects/{id}/repository/branches/{branch}": get_branch,
    "GET /projects/{id}/repository/commits": list_commits,
    "GET /projects/{id}/repository/commits/{sha}": get_commit,
    "GET /projects/{id}/repository/commits/{sha}/statuses": list_statuses,
    "GET /projects/{id}/repository/files/{file_path}": get_file,
    "GET /projects/{id}/merge_requests": list_merge_requests,
    "POST /projects/{id}/merge_requests": create_merge_request,
    "GET /projects/{id}/merge_requests/{iid}": get_merge_request,
    "GET /projects/{id}/search": search,
}
