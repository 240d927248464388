"""GitLab's REST objects, filled from what a test or a world says of them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from fakes.contract import document
from fakes.filler import EPOCH, Filler

Given = Mapping[str, Any]
Json = dict[str, Any]

BASIC_PIPELINE = (
    "id", "iid", "project_id", "sha", "ref", "status", "source", "created_at", "updated_at",
    "web_url",
)  # fmt: skip


def number_of(text: str) -> int:
    """A stable id for a name."""
    return zlib.crc32(text.encode()) + 1


class Shapes:
    """Builds objects whose links start with `web`, the address of the instance."""

    def __init__(self, web: str) -> None:
        self.web = web
        self.filler = Filler(document("gitlab"), web)
        self._users: dict[str, Json] = {}

    def user(self, given: str | Given) -> Json:
        fields: Given = {"username": given} if isinstance(given, str) else given
        name = fields["username"]
        if name not in self._users:
            base = {"id": number_of(name), "name": name, "state": "active", "avatar_url": None}
            links = {"web_url": f"{self.web}/{name}"}
            self._users[name] = self.filler.fill("UserBasic", {**base, **links, **fields})
        return self._users[name]

    def current_user(self, username: str) -> Json:
        fields = {**self.user(username), "bot": username.startswith("project_")}
        return self.filler.fill("CurrentUser", {**fields, "created_at": EPOCH})

    def label(self, given: str | Given) -> Json:
        fields: Given = {"name": given} if isinstance(given, str) else given
        base = {"id": number_of(fields["name"]), "color": "#6699cc", "text_color": "#FFFFFF"}
        return self.filler.fill("Label", {**base, "is_project_label": True, **fields})

    def label_basic(self, label: Given) -> Json:
        keys = ("id", "name", "description", "color", "text_color")
        return {key: label[key] for key in keys}

    def project(self, identity: int, path: str, given: Given) -> Json:
        namespace, name = path.rsplit("/", 1)
        url = f"{self.web}/{path}"
        space = {"id": number_of(namespace), "path": namespace, "full_path": namespace}
        fields = {
            "id": identity,
            "name": name,
            "path": name,
            "path_with_namespace": path,
            "name_with_namespace": path.replace("/", " / "),
            "description": None,
            "web_url": url,
            "http_url_to_repo": f"{url}.git",
            "issues_enabled": True,
            "namespace": self.filler.fill(
                "Namespace", {**space, "name": namespace, "kind": "group"}
            ),
            **given,
        }
        return self.filler.fill("Project", fields)

    def pipeline_in_list(self, pipeline: Given) -> Json:
        fields = {key: pipeline[key] for key in (*BASIC_PIPELINE, "name") if key in pipeline}
        return self.filler.fill("PipelineListItem", fields)

    def pipeline(self, given: Given) -> Json:
        detail = {"started_at": given.get("created_at"), "finished_at": given.get("updated_at")}
        return self.filler.fill("Pipeline", {**detail, **given})

    def job(self, schema: str, given: Given) -> Json:
        """A `Job` or a `Bridge`; whether it was retried is not told."""
        fields = {key: value for key, value in given.items() if key != "retried"}
        if fields.get("failure_reason", "") is None:
            del fields["failure_reason"]  # only failed jobs have one
        base = {"project": {"ci_job_token_scope_enabled": False}, "queued_duration": None}
        return self.filler.fill(schema, {**base, **fields})

    def issue(self, path: str, project_id: int, given: Given) -> Json:
        iid = given["iid"]
        created = given.get("created_at", EPOCH)
        fields = {
            "id": project_id * 10_000 + iid,
            "project_id": project_id,
            "description": None,
            "state": "opened",
            "created_at": created,
            "updated_at": created,
            "discussion_locked": None,
            "issue_type": "issue",
            **given,
            "author": self.user(given.get("author", "ghost")),
            "assignees": [self.user(name) for name in given.get("assignees", ())],
            "web_url": f"{self.web}/{path}/-/issues/{iid}",
        }
        fields["assignee"] = fields["assignees"][0] if fields["assignees"] else None
        return self.filler.fill("Issue", fields)

    def note(self, issue: Given, given: Given) -> Json:
        created = given.get("created_at", EPOCH)
        fields = {
            "created_at": created,
            "updated_at": created,
            "noteable_id": issue["id"],
            "noteable_iid": issue["iid"],
            "noteable_type": "Issue",
            "project_id": issue["project_id"],
            "system": False,
            "internal": False,
            "confidential": False,
            "resolvable": False,
            **given,
            "author": self.user(given.get("author", "ghost")),
        }
        return self.filler.fill("Note", fields)

    def label_event(self, issue: Given, given: Given) -> Json:
        label = given.get("label")
        fields = {
            "created_at": EPOCH,
            "resource_type": "Issue",
            "resource_id": issue["id"],
            **given,
            "user": self.user(given.get("user", "ghost")),
            "label": None if label is None else self.label_basic(self.label(label)),
        }
        return self.filler.fill("ResourceLabelEvent", fields)

    def merge_request(self, path: str, project_id: int, given: Given) -> Json:
        iid = given["iid"]
        created = given.get("created_at", EPOCH)
        fields = {
            "id": project_id * 10_000 + iid,
            "project_id": project_id,
            "source_project_id": project_id,
            "target_project_id": project_id,
            "source_branch": f"change-{iid}",
            "target_branch": "main",
            "description": None,
            "state": "opened",
            "created_at": created,
            "updated_at": created,
            "labels": [],
            **given,
            "author": self.user(given.get("author", "ghost")),
            "web_url": f"{self.web}/{path}/-/merge_requests/{iid}",
        }
        return self.filler.fill("MergeRequest", fields)

    def commit(self, path: str, given: Given) -> Json:
        """`sha`, and what else is known: message, date, author."""
        sha, date = given["sha"], given.get("date", EPOCH)
        message, author = given.get("message", "A change"), given.get("author", "ghost")
        return {
            "id": sha,
            "short_id": sha[:8],
            "title": message.split("\n", 1)[0],
            "message": message,
            "parent_ids": [],
            "created_at": date,
            "authored_date": date,
            "committed_date": date,
            "author_name": author,
            "committer_name": author,
            "author_email": f"{author}@example.com",
            "committer_email": f"{author}@example.com",
            "web_url": f"{self.web}/{path}/-/commit/{sha}",
        }

    def member(self, username: str, level: int) -> Json:
        user = self.user(username)
        shown = {key: user[key] for key in ("id", "username", "name", "state")}
        return {**shown, "access_level": level}
