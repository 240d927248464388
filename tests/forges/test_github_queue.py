"""GitHub alone: evidence with labels, moved issues, associations, search words."""

from __future__ import annotations

import pytest

from ciops.forges.base import LabelAddition
from ciops.forges.github import QUERY_LENGTH, GitHub
from ciops.plumbing.http import GoneError, InvalidError, MovedError, UnauthorizedError
from fakes.github import Account, FakeGitHub
from forges.conftest import World, client_for

EVIDENCE = [
    LabelAddition("module: x", "mentions all_reduce", "high"),
    LabelAddition("triaged"),
]


def test_labels_go_with_their_evidence(github: World) -> None:
    added = github.queue.add_labels(1, EVIDENCE)
    assert (added.plain, added.not_suggested) == (False, ())
    assert github.fake.writes[0].body == {
        "labels": [
            {"name": "module: x", "rationale": "mentions all_reduce", "confidence": "high"},
            {"name": "triaged"},
        ]
    }


def test_a_server_that_refuses_objects_gets_names_from_then_on(github: World) -> None:
    github.fake.plain_labels_only = True
    added = github.queue.add_labels(1, EVIDENCE)
    assert added.labels == ("queue", "Bug", "module: x", "triaged")
    assert added.plain
    before = github.fake.request_count
    github.queue.add_labels(2, EVIDENCE)
    assert github.fake.request_count == before + 1
    assert [write.body for write in github.fake.writes] == [
        {"labels": ["module: x", "triaged"]}
    ] * 2


def test_a_422_for_another_reason_is_not_hidden(github: World) -> None:
    with pytest.raises(InvalidError, match="too long"):
        github.queue.add_labels(1, [LabelAddition("x" * 60, "why")])
    assert github.queue.add_labels(1, EVIDENCE).plain is False


def test_suggestions_wait_for_a_person(github: World) -> None:
    github.queue.add_labels(1, [LabelAddition("triaged", "why", "low", suggest=True)])
    assert github.labels_of(1) == ["queue", "Bug"]
    assert [entry["name"] for entry in github.fake.suggestions(1)] == ["triaged"]


@pytest.mark.parametrize("plain", ["triaged", None])
def test_a_suggestion_never_becomes_a_label_by_itself(github: World, plain: str | None) -> None:
    """Where the server cannot keep it for a person, it is left out and told of."""
    github.fake.plain_labels_only = True
    additions = [LabelAddition("module: x", "why", "low", suggest=True)]
    additions += [LabelAddition(plain)] if plain else []
    added = github.queue.add_labels(1, additions)
    assert added.not_suggested == ("module: x",)
    assert github.labels_of(1) == ["queue", "Bug", *([plain] if plain else [])]
    assert added.labels == tuple(github.labels_of(1))


def test_a_transferred_issue_is_not_followed(github: World) -> None:
    github.fake.add_repository("o/other", [{"number": 9, "title": "t"}])
    github.fake.repository.transferred[1] = ("o/other", 9)
    with pytest.raises(MovedError, match="it has moved to http"):
        github.queue.issue(1)
    with pytest.raises(MovedError):
        github.queue.add_labels(1, [LabelAddition("triaged")])
    assert github.writes == 0


def test_a_deleted_issue(github: World) -> None:
    github.fake.repository.deleted.add(1)
    with pytest.raises(GoneError, match="It was deleted; there is nothing to do"):
        github.queue.issue(1)


def test_a_renamed_repository_is_named_at_the_start(github: World) -> None:
    github.fake.renamed["o/old"] = "o/r"
    with pytest.raises(MovedError, match="Name the new place"):
        github.forge.queue("o/old").viewer()


def test_issues_and_pull_requests_come_together(github: World) -> None:
    github.fake.repository.add_issue(
        {"number": 4, "title": "PR", "labels": ["queue"], "pull_request": {"merged_at": None}}
    )
    kinds = {issue.number: issue.is_pull_request for issue in github.queue.issues("queue")}
    assert kinds == {1: False, 2: False, 4: True}


def test_people_bots_and_deleted_accounts(github: World) -> None:
    repository = github.fake.repository
    for user, association in (("alice", "MEMBER"), ("stale[bot]", "NONE"), (None, "NONE")):
        given = {"body": "b", "user": user, "author_association": association}
        repository.add_comment(1, given)
    told = [(c.author.login, c.author.is_bot, c.association) for c in github.queue.comments(1)]
    assert told == [
        ("alice", False, "MEMBER"),
        ("stale[bot]", True, "NONE"),
        ("ghost", False, "NONE"),
    ]


def test_the_timeline_is_read_to_its_end(github: World) -> None:
    for number in range(230):
        name = f"l{number}"
        github.fake.person_labels(1, add=[name])
        github.fake.person_labels(1, remove=[name])
    events = github.queue.timeline(1).labels
    assert len(events) == 460
    assert [events[0].action, events[-1].action] == ["added", "removed"]


@pytest.mark.parametrize(
    ("account", "login", "is_bot", "missing"),
    [
        (Account("alice"), "alice", False, ()),
        (Account("github-actions[bot]"), "github-actions[bot]", True, ()),
        (Account("alice", permissions={"issues": "read"}), "alice", False, ("issues: write",)),
    ],
    ids=["person", "installation", "reader"],
)
def test_viewers(
    github: World, account: Account, login: str, is_bot: bool, missing: tuple[str, ...]
) -> None:
    github.fake.tokens = {"s3cret": account}
    viewer = github.queue.viewer()
    assert (viewer.login, viewer.is_bot, viewer.missing) == (login, is_bot, missing)


def test_a_token_that_is_not_taken(github: World) -> None:
    github.fake.tokens = {}
    with pytest.raises(UnauthorizedError, match="Check that the token is set"):
        github.queue.viewer()


def test_no_token_at_all(github: World) -> None:
    client = client_for("GitHub", github.fake.url, token="")
    with pytest.raises(UnauthorizedError):
        GitHub(client).queue("o/r").viewer()
    assert GitHub(client).queue("o/r").issue(1).number == 1
    client.close()


QUERIES = {
    "plain words": ("Hang in all_reduce", "Hang in all_reduce"),
    "operators": ("a OR b NOT c AND d", "a b c d"),
    "qualifiers": ("repo:other/x is:pr author:me", "repo other x is pr author me"),
    "quotes": ('"x" -y (z)', "x y z"),
    "CJK": ("日本語 の 検索", "日本語 の 検索"),
    "none": ("!!! ---", None),
}


@pytest.mark.parametrize(("words", "sent"), QUERIES.values(), ids=QUERIES)
def test_search_words_are_words(github: World, words: str, sent: str | None) -> None:
    github.queue.search(words)
    queries = [request.query["q"] for request in github.fake.requests]
    where = "repo:o/r is:open is:issue in:title,body "
    assert queries == ([] if sent is None else [where + sent])


def test_a_phrase_cannot_end_its_quotes(github: World) -> None:
    github.queue.search('a" repo:evil/x "b', exact=True, kind="pull")
    query = github.fake.requests[0].query["q"]
    assert query == 'repo:o/r is:open is:pr in:title,body "a  repo:evil/x  b"'


def test_a_long_search_is_cut_at_a_word(github: World) -> None:
    github.queue.search("word " * 200)
    query = github.fake.requests[0].query["q"]
    assert QUERY_LENGTH - 10 < len(query) <= QUERY_LENGTH
    assert query.endswith(" word")


def test_enterprise_server_has_its_own_base() -> None:
    fake = FakeGitHub("o/r", [{"number": 1, "title": "t"}], base_path="/api/v3", rate_limit=None)
    with fake:
        client = client_for("GitHub", fake.url)
        assert fake.url.endswith("/api/v3")
        assert GitHub(client).queue("o/r").issue(1).title == "t"
        assert client.rate.remaining is None
        client.close()


def test_a_comment_that_people_may_not_write(github: World) -> None:
    with pytest.raises(Exception, match="Unable to create comment because issue is locked"):
        github.queue.add_comment(3, "x")


def test_the_secondary_limit_is_obeyed() -> None:
    slept: list[float] = []
    now = [1_700_000_000.0]

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    issues = [{"number": 1, "title": "t"}]
    with FakeGitHub("o/r", issues, writes_per_minute=2, now=lambda: now[0]) as fake:
        client = client_for("GitHub", fake.url, now=lambda: now[0])
        client._sleep = sleep
        queue = GitHub(client).queue("o/r")
        for number in range(5):
            queue.add_comment(1, f"c{number}")
        assert fake.comments(1) == [f"c{number}" for number in range(5)]
        assert len(slept) == 2
        assert all(1 <= seconds <= 61 for seconds in slept)
        client.close()


@pytest.mark.parametrize(
    ("scopes", "missing"),
    [("repo, read:org", ()), ("public_repo", ()), ("read:org", ("scope public_repo",)), ("", None)],
)
def test_scopes_of_a_classic_token(
    github: World, scopes: str, missing: tuple[str, ...] | None
) -> None:
    get = github.fake.routes["GET /repos/{owner}/{repo}"]

    def with_scopes(fake: object, asked: object) -> object:
        reply = get(fake, asked)
        reply.headers["X-OAuth-Scopes"] = scopes
        return reply

    github.fake.routes = {**github.fake.routes, "GET /repos/{owner}/{repo}": with_scopes}
    expected = ("scope public_repo",) if missing is None else missing
    assert github.queue.viewer().missing == expected


@pytest.mark.parametrize("how", ["500", "reset-after"])
def test_a_suggestion_whose_answer_was_lost_is_sent_again(github: World, how: str) -> None:
    """It shows nowhere that could be looked at; the service keeps one of a name."""
    github.fake.fail(how, writes=True)
    github.queue.add_labels(1, [LabelAddition("triaged", "why", "low", suggest=True)])
    assert {entry["name"] for entry in github.fake.suggestions(1)} == {"triaged"}
    assert github.labels_of(1) == ["queue", "Bug"]


def test_another_refusal_of_evidence_is_not_taken_for_an_old_server(github: World) -> None:
    github.fake.fail("409", writes=True)
    with pytest.raises(InvalidError, match="answered 409"):
        github.queue.add_labels(1, EVIDENCE)
    assert github.queue.add_labels(1, EVIDENCE).plain is False
