"""Answers of another form than was asked for: an error, and never an empty fact."""

from __future__ import annotations

from typing import Any

import pytest

from ciops.forges import answers
from ciops.forges.base import GHOST, Comment, LabelAddition, Person, Viewer
from ciops.forges.github import GitHub
from ciops.forges.gitlab import GitLab
from ciops.plumbing.http import ForbiddenError, Reply, UnavailableError

ODD = [{}, [], "signed out", 5, {"number": None}, {"number": 8, "iid": 8}, {"id": 3}, [{"id": 3}]]


class OneAnswer:
    """A client whose service answers everything with the same."""

    def __init__(self, data: Any) -> None:
        self.reply = Reply(200, {}, data, "https://x")

    def get(self, *_: Any, **__: Any) -> Reply:
        return self.reply

    post = put = get

    def items(self, *_: Any, **__: Any) -> Any:
        return iter(self.reply.data if isinstance(self.reply.data, list) else [self.reply.data])


@pytest.fixture(params=[GitHub, GitLab], ids=["github", "gitlab"])
def forge(request: pytest.FixtureRequest) -> type[GitHub] | type[GitLab]:
    kind: type[GitHub] | type[GitLab] = request.param
    return kind


RIGHT: dict[str, list[Any]] = {
    "issue": [],
    "issues": [[], {"number": 8, "iid": 8}],
    "viewer": [],
    "comment": [{"id": 3}],
    "labels": [],
}
WRONG = [(ask, data) for ask, right in RIGHT.items() for data in ODD if data not in right]


@pytest.mark.parametrize(("ask", "data"), WRONG, ids=str)
def test_an_odd_answer_is_an_error(ask: str, data: Any, forge: Any) -> None:
    queue = forge(OneAnswer(data)).queue("o/r")
    asked = {
        "issue": lambda: queue.issue(7),
        "issues": lambda: list(queue.issues("q")),
        "viewer": queue.viewer,
        "comment": lambda: queue.add_comment(7, "text"),
        "labels": lambda: queue.add_labels(7, [LabelAddition("bug")]),
    }
    with pytest.raises((UnavailableError, ForbiddenError)):
        asked[ask]()


@pytest.mark.parametrize("content", ["a", "é", "\ud800", "A" * 5])
def test_a_file_that_is_not_base64(content: str, forge: Any) -> None:
    answer = {"type": "file", "encoding": "base64", "content": content}
    with pytest.raises(UnavailableError, match="is not base64"):
        forge(OneAnswer(answer)).code("o/r").file("a.yml")


@pytest.mark.parametrize(
    ("viewer", "author", "own"),
    [
        (Viewer("me", is_bot=False), Person("Me"), True),
        (Viewer("me", is_bot=False), Person("you"), False),
        (Viewer("me", is_bot=False), Person("some[bot]", is_bot=True), False),
        (Viewer("github-actions[bot]", is_bot=True), Person("my-app[bot]", is_bot=True), True),
        (Viewer("github-actions[bot]", is_bot=True), Person("mallory"), False),
        (Viewer("github-actions[bot]", is_bot=True), GHOST, False),
        (None, Person("mallory"), True),
    ],
)
def test_whose_comment_may_be_one_s_own(viewer: Viewer | None, author: Person, own: bool) -> None:
    assert answers.is_by(viewer, author) is own


def test_a_comment_without_an_id_was_not_made() -> None:
    comment = Comment(0, "", GHOST, "", "", "")
    with pytest.raises(UnavailableError, match="whether one was made is not known"):
        answers.made(comment, Reply(201, {}, {}, ""), "GitHub")
