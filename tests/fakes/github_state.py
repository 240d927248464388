"""What one GitHub repository holds, loaded from plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fakes.filler import EPOCH
from fakes.github_shapes import Shapes, number_of
from fakes.streams import Content

Json = dict[str, Any]
Given = Mapping[str, Any]


@dataclass(slots=True)
class Commit:
    """A commit: who, when, and which paths it touched."""

    sha: str
    message: str = "A change"
    paths: tuple[str, ...] = ()
    date: str = EPOCH
    author: str = "ghost"
    pulls: tuple[int, ...] = ()


@dataclass(slots=True)
class Repository:
    """Everything is in REST shape. Labels are keyed in lower case, issues by number."""

    full_name: str
    shapes: Shapes
    private: bool = False
    archived: bool = False
    has_issues: bool = True
    default_branch: str = "main"
    labels: dict[str, Json] = field(default_factory=dict)
    issues: dict[int, Json] = field(default_factory=dict)
    comments: dict[int, list[Json]] = field(default_factory=dict)
    events: dict[int, list[Json]] = field(default_factory=dict)
    suggestions: dict[int, list[Json]] = field(default_factory=dict)
    transferred: dict[int, tuple[str, int]] = field(default_factory=dict)
    deleted: set[int] = field(default_factory=set)
    pulls: dict[int, Json] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    files_at: dict[str, dict[str, bytes]] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    commits: list[Commit] = field(default_factory=list)
    check_runs: dict[str, list[Json]] = field(default_factory=dict)
    runs: dict[int, Json] = field(default_factory=dict)
    jobs: dict[int, list[Json]] = field(default_factory=dict)
    logs: dict[int, Content] = field(default_factory=dict)

    @property
    def id(self) -> int:
        return number_of(self.full_name.lower())

    def add_label(self, given: str | Given) -> Json:
        """The label of that name, in any case; made when the repository lacks it."""
        label = self.shapes.label(self.full_name, given)
        return self.labels.setdefault(label["name"].lower(), label)

    def add_issue(self, given: Given) -> Json:
        """An issue from its REST shape, or from a case: {"issue", "comments", "timeline"}."""
        case: Given = given if "issue" in given else {"issue": given}
        fields: Given = case["issue"]
        number = fields["number"]
        if number in self.issues:
            raise ValueError(f"{self.full_name} has two issues {number}")
        labels = [self.add_label(label) for label in fields.get("labels", ())]
        issue = self.shapes.issue(self.full_name, {**fields, "labels": labels})
        self.issues[number] = issue
        self.comments[number] = []
        self.events[number] = []
        for comment in case.get("comments") or ():
            self.add_comment(number, comment)
        for event in case.get("timeline") or ():
            self.add_event(number, event)
        issue["comments"] = len(self.comments[number])
        return issue

    def add_comment(self, number: int, given: Given) -> Json:
        """Appends a comment and counts it."""
        serial = 1 + sum(len(comments) for comments in self.comments.values())
        fields = {"id": 3_000_000_000 + serial, **given}
        comment = self.shapes.comment(self.full_name, number, fields)
        self.comments[number].append(comment)
        self.issues[number]["comments"] = len(self.comments[number])
        return comment

    def add_event(self, number: int, given: Given) -> None:
        self.events[number].append(self.shapes.event(self.full_name, given))

    def add_commit(self, commit: Commit) -> None:
        """Commits are kept newest first; the default branch follows the newest."""
        self.commits.append(commit)
        self.commits.sort(key=lambda known: known.date, reverse=True)
        self.branches[self.default_branch] = self.commits[0].sha

    def label_names(self, number: int) -> list[str]:
        return [label["name"] for label in self.issues[number]["labels"]]

    def touch(self, number: int, when: str) -> None:
        self.issues[number]["updated_at"] = when

    def resolve(self, ref: str) -> str | None:
        """The commit that a branch, a tag or a (short) SHA names, or None."""
        if ref in self.branches:
            return self.branches[ref]
        known = [commit.sha for commit in self.commits] + list(self.files_at) + list(self.pull_shas)
        return next((sha for sha in known if len(ref) >= 7 and sha.startswith(ref)), None)

    @property
    def pull_shas(self) -> Iterable[str]:
        for pull in self.pulls.values():
            yield pull["head"]["sha"]
            if pull["merge_commit_sha"]:
                yield pull["merge_commit_sha"]

    def files_of(self, ref: str | None) -> dict[str, bytes] | None:
        """The files at a branch or commit (None: the default branch); None when there is none."""
        if ref is None or ref in self.files_at:
            return self.files if ref is None else self.files_at[ref]
        sha = self.resolve(ref)
        if sha is None:
            return None
        return self.files_at.get(sha, self.files)
