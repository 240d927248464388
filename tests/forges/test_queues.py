"""What every forge does for triage, on its fake: the same calls, the same facts."""

from __future__ import annotations

import pytest

from ciops.errors import UsageError
from ciops.forges.base import LabelAddition, LabelEvent, Person, same_label
from ciops.plumbing.http import ForbiddenError, NotFoundError, RateLimitedError
from fakes.github import Account, FakeGitHub
from fakes.gitlab import FakeGitLab
from forges.conftest import World, client_for

FAULTS = [
    "429",
    "500",
    "502",
    "503",
    "secondary",
    "reset",
    "reset-after",
    "cut",
    "reset-in-body",
    "badjson",
    "html",
    "empty",
]


def add(world: World, number: int, *names: str) -> tuple[str, ...]:
    return world.queue.add_labels(number, [LabelAddition(name) for name in names]).labels


def talk(world: World, number: int, body: str, by: str) -> None:
    if world.name == "github":
        world.fake.person_comments(number, body, by=by)
    else:
        world.fake.person_comments(7, number, body, by=by)


def person_labels(world: World, number: int, **change: list[str] | str) -> None:
    place = (number,) if world.name == "github" else (7, number)
    world.fake.person_labels(*place, **change)


def test_whose_token_it_is(world: World) -> None:
    viewer = world.queue.viewer()
    assert (viewer.login, viewer.is_bot, viewer.missing) == ("triage-bot", False, ())
    assert world.fake.request_count == 2


def test_labels_of_the_repository(world: World) -> None:
    assert {"queue", "Bug", "module: x", "triaged"} <= world.queue.labels()


def test_an_issue(world: World) -> None:
    issue = world.queue.issue(1)
    assert (issue.number, issue.title) == (1, "Hang in all_reduce")
    assert issue.body == "It hangs <!-- sig:abc -->"
    assert issue.labels == ("queue", "Bug")
    assert issue.author.login == "alice"
    assert (issue.state, issue.locked, issue.is_pull_request) == ("open", False, False)
    assert issue.updated_at.startswith("2026-03-01T00:00:00")
    assert issue.url.startswith("http")
    closed = world.queue.issue(3)
    assert (closed.state, closed.locked, closed.body) == ("closed", True, "")


def test_an_issue_that_is_not_there(world: World) -> None:
    with pytest.raises(NotFoundError, match="answered 404"):
        world.queue.issue(99)


def test_a_queue_by_label_and_order(world: World) -> None:
    numbers = [issue.number for issue in world.queue.issues("queue")]
    assert numbers == [1, 2]
    assert [issue.number for issue in world.queue.issues("queue", order="created")] == [1, 2]
    person_labels(world, 2, add=["triaged"])
    assert [issue.number for issue in world.queue.issues("queue")] == [2, 1]
    assert [issue.number for issue in world.queue.issues("queue", order="created")] == [1, 2]
    assert [issue.number for issue in world.queue.issues("triaged")] == [2]


def test_a_queue_by_creator_state_and_time(world: World) -> None:
    assert [issue.number for issue in world.queue.issues(creator="bob")] == [2]
    assert [issue.number for issue in world.queue.issues(state="closed")] == [3]
    assert len(list(world.queue.issues(state="all"))) == 3
    since = world.queue.issues("queue", since="2026-02-15T00:00:00Z")
    assert [issue.number for issue in since] == [1]


def test_labels_are_written_in_the_spelling_of_the_repository(world: World) -> None:
    world.queue.labels()
    assert [issue.number for issue in world.queue.issues("QUEUE")] == [1, 2]
    add(world, 2, "bug", "Triaged")
    assert world.labels_of(2) == ["queue", "Bug", "triaged"]
    assert world.fake.created_labels == []


@pytest.mark.parametrize("name", ["github", "gitlab"])
def test_a_long_queue_is_a_hundred_a_call(name: str) -> None:
    numbers = range(1, 251)
    if name == "github":
        fake = FakeGitHub("o/r", [{"number": n, "labels": ["q"], "title": "t"} for n in numbers])
        service, url = "GitHub", "url"
    else:
        issues = [{"iid": n, "labels": ["q"], "title": "t"} for n in numbers]
        fake = FakeGitLab(projects=[{"id": 7, "path": "o/r", "issues": issues}])
        service, url = "GitLab", "api_url"
    with fake:
        from ciops.forges.github import GitHub
        from ciops.forges.gitlab import GitLab

        client = client_for(service, getattr(fake, url))
        queue = (GitHub if name == "github" else GitLab)(client).queue("o/r")
        assert sorted(issue.number for issue in queue.issues("q")) == list(numbers)
        assert client.calls == 3
        client.close()


def test_comments_are_told_oldest_first_and_without_system_notes(world: World) -> None:
    talk(world, 1, "first", "alice")
    person_labels(world, 1, add=["triaged"])
    talk(world, 1, "second @bob", "bob")
    comments = world.queue.comments(1)
    assert [(comment.body, comment.author.login) for comment in comments] == [
        ("first", "alice"),
        ("second @bob", "bob"),
    ]
    assert world.queue.comments(2) == []


def test_who_put_and_removed_labels(world: World) -> None:
    person_labels(world, 1, add=["triaged"], by="alice")
    add(world, 1, "module: x")
    person_labels(world, 1, remove=["triaged"], by="bob")
    events = world.queue.timeline(1).labels
    assert all(isinstance(event, LabelEvent) for event in events)
    assert [(event.action, event.label, event.actor.login) for event in events] == [
        ("added", "triaged", "alice"),
        ("added", "module: x", "triage-bot"),
        ("removed", "triaged", "bob"),
    ]


def test_labels_are_added_in_order_in_one_call_and_nothing_is_taken(world: World) -> None:
    before = world.fake.request_count
    assert add(world, 1, "triaged", "module: x") == ("queue", "Bug", "triaged", "module: x")
    assert world.labels_of(1) == ["queue", "Bug", "triaged", "module: x"]
    assert world.fake.request_count == before + 1
    assert world.writes == 1
    assert world.fake.created_labels == []


def test_adding_what_is_there_or_nothing_changes_nothing(world: World) -> None:
    assert add(world, 1, "Bug") == ("queue", "Bug")
    assert add(world, 1) == ("queue", "Bug")
    assert world.labels_of(1) == ["queue", "Bug"]


@pytest.mark.parametrize("how", FAULTS)
def test_labels_arrive_once_whatever_fails(world: World, how: str) -> None:
    fault = world.fake.fail(how, writes=True)
    assert set(add(world, 1, "triaged", "module: x")) == {"queue", "Bug", "triaged", "module: x"}
    assert fault.fired == 1
    assert world.labels_of(1) == ["queue", "Bug", "triaged", "module: x"]
    assert len(world.queue.timeline(1).labels) == 2


@pytest.mark.parametrize("how", FAULTS)
def test_a_comment_arrives_once_whatever_fails(world: World, how: str) -> None:
    talk(world, 1, "Hello", "alice")
    fault = world.fake.fail(how, writes=True)
    comment = world.queue.add_comment(1, "Hello <!-- m:1 -->\n\nthere\n")
    assert fault.fired == 1
    assert comment.id
    assert comment.author.login == "triage-bot"
    assert [text.strip() for text in world.comments_of(1)] == [
        "Hello",
        "Hello <!-- m:1 -->\n\nthere",
    ]


@pytest.mark.parametrize("how", FAULTS)
def test_reads_survive(world: World, how: str) -> None:
    talk(world, 1, "x", "alice")
    world.fake.fail(how)
    assert world.queue.issue(1).title == "Hang in all_reduce"
    world.fake.fail(how)
    assert len(world.queue.comments(1)) == 1


@pytest.mark.parametrize("how", [None, *FAULTS])
def test_undoing(world: World, how: str | None) -> None:
    comment = world.queue.add_comment(1, "to go")
    add(world, 1, "triaged")
    if how:
        world.fake.fail(how, writes=True)
        world.fake.fail(how, writes=True, at=2 if how not in ("429", "secondary") else 3)
    assert world.queue.remove_label(1, "TRIAGED") is True
    assert world.queue.delete_comment(1, comment.id) is True
    assert world.labels_of(1) == ["queue", "Bug"]
    assert world.comments_of(1) == []


def test_undoing_what_is_gone_already(world: World) -> None:
    assert world.queue.remove_label(1, "triaged") is False
    assert world.queue.delete_comment(1, 12345) is False
    assert world.writes == 0


def test_a_long_wait_is_not_waited_for(world: World) -> None:
    world.fake.fail("429", retry_after=3600)
    with pytest.raises(RateLimitedError):
        world.queue.issue(1)


def test_a_search(world: World) -> None:
    found = world.queue.search("hang all_reduce")
    assert [issue.number for issue in found] == [1]
    assert [issue.number for issue in world.queue.search("sig:abc", exact=True)] == [1]
    assert world.queue.search("nowhere") == []
    assert world.queue.search("hang", kind="pull") == []
    assert world.queue.search("  ") == []


def test_a_label_with_a_comma_is_two(world: World) -> None:
    with pytest.raises(UsageError, match="holds a comma"):
        list(world.queue.issues("oncall: a, b"))


def test_a_repository_that_is_not_there(world: World) -> None:
    with pytest.raises(NotFoundError, match="Check the name, and that the token may read it"):
        world.forge.queue("o/absent").viewer()


@pytest.mark.parametrize(
    "repo", ["", "o", "o/", "/r", "../r", "o/..", "o r/x", "o/r?x", "https://x/o/r", "o/r\n"]
)
def test_what_is_no_repository(world: World, repo: str) -> None:
    with pytest.raises(UsageError):
        world.forge.queue(repo).labels()
    assert world.fake.request_count == 0


def test_a_token_that_may_only_read(world: World) -> None:
    world.fake.tokens = {
        "s3cret": Account(
            "triage-bot",
            permissions={"issues": "read"},
            scopes=frozenset({"read_api"}),
            access_level=10,
        )
    }
    assert world.queue.issue(1).title
    with pytest.raises(ForbiddenError) as caught:
        add(world, 1, "triaged")
    assert "s3cret" not in str(caught.value)
    if world.name == "github":
        assert "issues=write; pull_requests=write" in str(caught.value)
    assert world.labels_of(1) == ["queue", "Bug"]


def test_the_token_travels_as_bearer_only(world: World) -> None:
    world.queue.issue(1)
    assert world.fake.seen_schemes == {"Authorization: Bearer"}
    assert world.fake.seen_tokens == {"s3cret"}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("Bug", "bug", True), ("ÉTÉ", "été", True), ("bug", "bugs", False), ("a", "a ", False)],
)
def test_same_labels(one: str, other: str, same: bool) -> None:
    assert same_label(one, other) is same


def test_nobody_is_nothing_in_the_project(world: World) -> None:
    assert world.queue.association_of(Person("ghost")) == "NONE"
