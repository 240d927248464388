"""Jira answering what it should not: nothing is posted on an answer that says nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from ciops.errors import ServiceError, UsageError
from ciops.postmortem.jira import Jira, publish
from ciops.postmortem.payload import Payload, read_payload

BODY = Payload("https://j.example", "AB-1", None, {"version": 1, "type": "doc", "content": []})
DIGEST = f"sha256:{'0' * 64}"
ME = {"accountId": "me"}


@dataclass
class Answer:
    data: Any


@dataclass
class Odd:
    """A service of fixed answers by the end of the path; it counts what is posted."""

    answers: dict[str, Any]
    posted: list[Any] = field(default_factory=list)
    asked: int = 0

    def get(self, path: str, params: Any = None) -> Answer:
        self.asked += 1
        assert self.asked < 50, "asks without end"
        return Answer(next(each for end, each in self.answers.items() if path.endswith(end)))

    def post(self, path: str, body: Any, landed: Any) -> Answer:
        self.posted.append(body)
        return Answer({"id": "9"})


def comments(*rows: Any, total: Any = None) -> dict[str, Any]:
    return {"comments": list(rows), "total": len(rows) if total is None else total}


def attempt(**answers: Any) -> Odd:
    odd = Odd({"myself": ME, "comment": comments(), "mark": {}} | answers)
    publish(Jira(odd, "https://j.example", is_cloud=True), BODY, DIGEST, "mark")  # type: ignore[arg-type]
    return odd


@pytest.mark.parametrize(
    "answers",
    [
        {"myself": None},
        {"myself": []},
        {"myself": {}},
        {"myself": {"accountId": ""}},
        {"comment": None},
        {"comment": "a login page"},
        {"comment": []},
        {"comment": {}},
        {"comment": {"comments": []}},
        {"comment": {"comments": {"id": "1"}, "total": 1}},
        {"comment": comments(None)},
        {"comment": comments("1")},
        {"comment": comments(total="many")},
    ],
    ids=repr,
)
def test_nothing_is_posted_on_an_answer_that_says_nothing(answers):
    with pytest.raises(ServiceError, match="Jira's answer"):
        attempt(**answers)


def test_pages_that_repeat_come_to_an_end():
    """A service that ignores `startAt`, or a total that is never reached."""
    odd = attempt(comment=comments({"id": "1", "author": ME}, total=10**9), mark={"value": 1})
    assert len(odd.posted) == 1


@pytest.mark.parametrize(
    ("author", "value", "posts"),
    [
        (ME, {"digest": DIGEST}, 0),
        ({"accountId": "another"}, {"digest": DIGEST}, 1),
        ({}, {"digest": DIGEST}, 1),
        (None, {"digest": DIGEST}, 1),
        ("me", {"digest": DIGEST}, 1),
        (ME, {"digest": DIGEST, "more": 1}, 1),
        (ME, {"digest": f"sha256:{'1' * 64}"}, 1),
        (ME, DIGEST, 1),
        (ME, None, 1),
    ],
    ids=repr,
)
def test_only_our_own_comment_with_this_digest_counts(author, value, posts):
    """A property can be forged by whoever may write one; the author of a comment cannot."""
    odd = attempt(comment=comments({"id": "1", "author": author}), mark={"value": value})
    assert len(odd.posted) == posts


@pytest.mark.parametrize(
    "text",
    [
        '{"body":"x","issue":"AB-1","issue":"AB-2","site":null,"visibility":null}',
        '{"issue":"AB-1","body":"x","site":null,"visibility":null}',
        '{"body":"x", "issue":"AB-1","site":null,"visibility":null}',
        '{"body":"\\u0078","issue":"AB-1","site":null,"visibility":null}',
    ],
    ids=["a key twice", "another order", "spaces", "escapes"],
)
def test_a_payload_is_what_render_writes_to_the_byte(text):
    with pytest.raises(UsageError, match="as render writes it"):
        read_payload(text, "p.json")
