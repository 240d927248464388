"""The fake GitLab behaves as GitLab does: tokens, projects, issues, notes."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.gitlab import Account, FakeGitLab
from fakes.gitlab_quick_actions import QuickAction, extract
from fakes.raw_client import Connect

P = "/projects/5"


def forge_with(*issues: dict[str, Any], **options: Any) -> FakeGitLab:
    project = {"id": 5, "path": "g/p", "issues": issues, "labels": ["bug", "triaged"]}
    project |= options.pop("project", {})
    return FakeGitLab(projects=[project], **options)


def issue(iid: int, **fields: Any) -> dict[str, Any]:
    return {"iid": iid, "title": f"Issue {iid}", "description": "It hangs.", **fields}


QUEUE = [
    issue(1, labels=["bug"], created_at="2026-01-01T00:00:00Z", author="ann"),
    issue(2, labels=["bug", "Bug"], created_at="2026-01-02T00:00:00Z"),
    issue(3, state="closed", created_at="2026-01-03T00:00:00Z", confidential=True),
    issue(4, created_at="2026-01-04T00:00:00Z", title="Crash", updated_at="2026-03-01T00:00:00Z"),
]

LISTS = [
    pytest.param("", [4, 3, 2, 1], id="all states, newest first"),
    pytest.param("state=opened", [4, 2, 1], id="opened"),
    pytest.param("labels=bug", [2, 1], id="a label"),
    pytest.param("labels=Bug", [2], id="labels tell cases apart"),
    pytest.param("labels=bug,Bug", [2], id="both labels"),
    pytest.param("labels=None", [4, 3], id="without any"),
    pytest.param("not%5Blabels%5D=Bug", [4, 3, 1], id="without that one"),
    pytest.param("updated_after=2026-02-01T00:00:00Z", [4], id="updated after"),
    pytest.param("search=crash&in=title", [4], id="a word of the title"),
    pytest.param("search=hangs", [4, 3, 2, 1], id="a word of the description"),
    pytest.param("author_username=ann", [1], id="by their author"),
    pytest.param("confidential=true", [3], id="confidential"),
    pytest.param("iids%5B%5D=1&iids%5B%5D=4", [4, 1], id="by number"),
    pytest.param("sort=asc&order_by=updated_at", [1, 2, 3, 4], id="sorted"),
    pytest.param("per_page=3&page=2", [1], id="the second page"),
]


@pytest.mark.parametrize(("query", "expected"), LISTS)
def test_the_issues_list_filters_and_sorts(
    connect: Connect, query: str, expected: list[int]
) -> None:
    with forge_with(*QUEUE) as forge:
        answer = connect(forge).get(f"{P}/issues?{query}")
        assert [entry["iid"] for entry in answer.json()] == expected


def test_pages_carry_links_and_totals(connect: Connect) -> None:
    with forge_with(*(issue(n) for n in range(1, 46))) as forge:
        answer = connect(forge).get(f"{P}/issues?page=2&state=opened")
        assert set(answer.links) == {"first", "prev", "next", "last"}
        assert answer.links["last"]["url"].endswith("/issues?state=opened&page=3")
        wanted = ("X-Page", "X-Per-Page", "X-Next-Page", "X-Prev-Page", "X-Total", "X-Total-Pages")
        assert [answer.headers[name] for name in wanted] == ["2", "20", "3", "1", "45", "3"]


def test_long_lists_have_no_totals_and_no_last_page(connect: Connect) -> None:
    with forge_with(*(issue(n) for n in range(1, 46)), total_limit=40) as forge:
        client = connect(forge)
        answer = client.get(f"{P}/issues")
        assert "X-Total" not in answer.headers
        assert "last" not in answer.links
        pages = 1
        while "next" in answer.links:
            answer = client.get(answer.links["next"]["url"].removeprefix(client.base))
            pages += 1
        assert pages == 3


def test_keyset_pages_are_followed_by_cursor(connect: Connect) -> None:
    with forge_with(*(issue(n) for n in range(1, 46))) as forge:
        client, found = connect(forge), []
        url = f"{client.base}{P}/issues?pagination=keyset&per_page=20&order_by=created_at"
        while url:
            answer = client.get(url.removeprefix(client.base))
            found += [entry["iid"] for entry in answer.json()]
            assert "X-Total" not in answer.headers
            url = answer.links.get("next", {}).get("url", "")
        assert sorted(found) == list(range(1, 46))
        assert client.get(f"{P}/issues?pagination=keyset&cursor=nonsense").status_code == 400


TOKENS = {
    "api": Account("writer"),
    "read": Account("reader", scopes=frozenset({"read_api"})),
    "guest": Account("guest", access_level=10),
    "revoked": Account("gone", rejected=True),
}
LABEL = ("PUT", f"{P}/issues/1", {"add_labels": "bug"})
READ = ("GET", f"{P}/issues/1", None)
ACCESS = [
    pytest.param({"Authorization": "Bearer api"}, LABEL, 200, "Authorization: Bearer",
                 id="a bearer token"),
    pytest.param({"PRIVATE-TOKEN": "api"}, LABEL, 200, "PRIVATE-TOKEN", id="the older header"),
    pytest.param({"JOB-TOKEN": "api"}, READ, 401, "JOB-TOKEN", id="a job token"),
    pytest.param({"Authorization": "Bearer read"}, READ, 200, None, id="read_api reads"),
    pytest.param({"Authorization": "Bearer read"}, LABEL, 403, None, id="read_api does not write"),
    pytest.param({"Authorization": "Bearer guest"}, LABEL, 403, None, id="a guest"),
    pytest.param({"Authorization": "Bearer revoked"}, READ, 401, None, id="a revoked token"),
    pytest.param({"Authorization": "Bearer unheard-of"}, READ, 401, None, id="an unknown token"),
    pytest.param({}, READ, 401, None, id="nobody"),
]  # fmt: skip


@pytest.mark.parametrize(("headers", "request_", "status", "scheme"), ACCESS)
def test_a_token_may_do_what_it_was_given(
    connect: Connect,
    headers: dict[str, str],
    request_: tuple[str, str, Any],
    status: int,
    scheme: str | None,
) -> None:
    with forge_with(issue(1), tokens=TOKENS) as forge:
        method, path, body = request_
        assert connect(forge, headers).send(method, path, json=body).status_code == status
        assert scheme is None or forge.seen_schemes == {scheme}


def test_a_token_that_may_only_read_is_told_the_scope_it_lacks(connect: Connect) -> None:
    with forge_with(issue(1), tokens=TOKENS) as forge:
        answer = connect(forge, {"PRIVATE-TOKEN": "read"}).put(f"{P}/issues/1", {"title": "x"})
        assert answer.json()["error"] == "insufficient_scope"
        assert answer.json()["scope"] == "api"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        pytest.param("/projects/5", 200, id="by number"),
        pytest.param("/projects/g%2Fp", 200, id="by path"),
        pytest.param("/projects/G%2FP", 200, id="by path in another case"),
        pytest.param("/projects/6", 404, id="unknown"),
        pytest.param("/projects/9", 404, id="forbidden"),
        pytest.param("/projects/sec%2Fret", 404, id="forbidden, by path"),
    ],
)
def test_a_project_that_cannot_be_seen_is_not_there(
    connect: Connect, path: str, status: int
) -> None:
    with forge_with() as forge:
        forge.add_project(9, "sec/ret")
        forge.forbidden.add(9)
        assert connect(forge).get(path).status_code == status


def test_labels_are_added_and_removed_and_made_when_they_are_missing(connect: Connect) -> None:
    with forge_with(issue(1, labels=["bug"]), account="triage-bot") as forge:
        client = connect(forge)
        body = {"add_labels": "triaged, brand new,bug", "remove_labels": ["bug"]}
        assert client.put(f"{P}/issues/1", body).json()["labels"] == ["triaged", "brand new"]
        assert forge.created_labels == ["brand new"]
        forge.person_labels("g/p", 1, remove=["triaged"], by="alice")
        events = client.get(f"{P}/issues/1/resource_label_events").json()
        told = [(e["action"], e["label"]["name"], e["user"]["username"]) for e in events]
        assert told == [
            ("add", "triaged", "triage-bot"),
            ("add", "brand new", "triage-bot"),
            ("remove", "bug", "triage-bot"),
            ("remove", "triaged", "alice"),
        ]


def test_the_labels_key_replaces_them_all(connect: Connect) -> None:
    with forge_with(issue(1, labels=["bug"])) as forge:
        assert connect(forge).put(f"{P}/issues/1", {"labels": "triaged"}).json()["labels"] == [
            "triaged"
        ]


@pytest.mark.parametrize(
    ("added", "left"),
    [
        pytest.param("state::done", ["bug", "state::done"], id="of the same scope"),
        pytest.param("kind::crash", ["bug", "state::open", "kind::crash"], id="of another scope"),
        pytest.param("state", ["bug", "state::open", "state"], id="without a scope"),
    ],
)
def test_a_scoped_label_takes_the_place_of_another(
    connect: Connect, added: str, left: list[str]
) -> None:
    with forge_with(issue(1, labels=["bug", "state::open"])) as forge:
        made = connect(forge).put(f"{P}/issues/1", {"add_labels": added})
        assert made.json()["labels"] == left


def test_labels_of_the_project_are_listed(connect: Connect) -> None:
    with forge_with(issue(1, labels=["of an issue"])) as forge:
        client = connect(forge)
        names = [label["name"] for label in client.get(f"{P}/labels").json()]
        assert names == ["bug", "of an issue", "triaged"]
        assert len(client.get(f"{P}/labels?search=tri").json()) == 1


def test_notes_are_newest_first_and_tell_what_the_system_wrote(connect: Connect) -> None:
    notes = [
        {"body": "one", "author": "ann", "created_at": "2026-01-01T00:00:00Z"},
        {"body": "closed", "author": "ann", "created_at": "2026-01-02T00:00:00Z", "system": True},
    ]
    with forge_with(issue(1, notes=notes)) as forge:
        client = connect(forge)
        client.post(f"{P}/issues/1/notes", {"body": "two"})
        forge.person_comments(5, 1, "three", by="ben")

        def bodies(query: str) -> list[str]:
            return [note["body"] for note in client.get(f"{P}/issues/1/notes?{query}").json()]

        assert bodies("") == ["three", "two", "closed", "one"]
        assert bodies("sort=asc&activity_filter=only_comments") == ["one", "two", "three"]
        assert client.get(f"{P}/issues/1").json()["user_notes_count"] == 3


def test_a_note_is_deleted_once(connect: Connect) -> None:
    with forge_with(issue(1, notes=[{"body": "one"}])) as forge:
        client = connect(forge)
        note = client.get(f"{P}/issues/1/notes").json()[0]["id"]
        statuses = [client.delete(f"{P}/issues/1/notes/{note}").status_code for _ in range(2)]
        assert statuses == [204, 404]


ACTIONS = [
    pytest.param("/close", 202, "closed", ["bug"], id="closes"),
    pytest.param("/CLOSE  ", 202, "closed", ["bug"], id="in any case"),
    pytest.param("Thanks\n/close\nbye", 201, "closed", ["bug"], id="on a line of its own"),
    pytest.param("Thanks\r\n/close\r\n", 201, "closed", ["bug"], id="with carriage returns"),
    pytest.param('/label ~triaged ~"not there"', 202, "opened", ["bug", "triaged"],
                 id="labels, only those that exist"),
    pytest.param('/unlabel ~"bug"', 202, "opened", [], id="unlabels"),
    pytest.param("/unlabel", 202, "opened", [], id="unlabels all"),
    pytest.param("/relabel ~triaged", 202, "opened", ["triaged"], id="relabels"),
    pytest.param("\\/close", 201, "opened", ["bug"], id="an escaped slash is text"),
    pytest.param(" /close", 201, "opened", ["bug"], id="an indented slash is text"),
    pytest.param("/closely related", 201, "opened", ["bug"], id="another word is text"),
    pytest.param("see /close", 201, "opened", ["bug"], id="behind a word it is text"),
    pytest.param("`/close`", 201, "opened", ["bug"], id="in a code span it is text"),
    pytest.param("```\n/close\n```", 201, "opened", ["bug"], id="in a fence it is text"),
    pytest.param("<pre>\n/close\n</pre>", 201, "opened", ["bug"], id="in HTML it is text"),
    pytest.param(">>>\n/close\n>>>", 201, "opened", ["bug"], id="in a quote it is text"),
    pytest.param("```\nx\n```\n/close", 201, "closed", ["bug"], id="behind a fence it acts"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status", "state", "labels"), ACTIONS)
def test_quick_actions_in_a_note_act(
    connect: Connect, body: str, status: int, state: str, labels: list[str]
) -> None:
    with forge_with(issue(1, labels=["bug"])) as forge:
        client = connect(forge)
        assert client.post(f"{P}/issues/1/notes", {"body": body}).status_code == status
        found = client.get(f"{P}/issues/1").json()
        assert (found["state"], found["labels"]) == (state, labels)
        acted = state == "closed" or labels != ["bug"]
        assert bool(forge.quick_actions) is acted


def test_quick_actions_in_a_description_act(connect: Connect) -> None:
    with forge_with() as forge:
        made = connect(forge).post(f"{P}/issues", {"title": "x", "description": "Hello\n/lock"})
        assert made.json()["description"] == "Hello"
        assert made.json()["discussion_locked"] is True
        assert forge.quick_actions == [(1, QuickAction("lock"))]


def test_actions_that_do_nothing_here_are_noted_all_the_same() -> None:
    text, actions = extract('Cause:\n/assign @alice\n/title "New"\nEnd.')
    assert text == "Cause:\nEnd."
    assert actions == [QuickAction("assign", "@alice"), QuickAction("title", '"New"')]


def test_a_locked_discussion_takes_notes_of_members_only(connect: Connect) -> None:
    with forge_with(issue(1, discussion_locked=True), tokens=TOKENS) as forge:
        statuses = [
            connect(forge, {"PRIVATE-TOKEN": token})
            .post(f"{P}/issues/1/notes", {"body": "x"})
            .status_code
            for token in ("api", "guest")
        ]
        assert statuses == [201, 403]


def test_members_are_found_by_their_id(connect: Connect) -> None:
    with forge_with(issue(1), project={"members": {"ann": 30}}) as forge:
        client = connect(forge)
        ann, ben = (forge.shapes.user(name)["id"] for name in ("ann", "ben"))
        assert client.get(f"{P}/members/all/{ann}").json()["access_level"] == 30
        assert client.get(f"{P}/members/all/{ben}").status_code == 404


def test_the_throttle_answers_in_plain_text_and_lets_go(connect: Connect) -> None:
    clock = [1000.0]
    with forge_with(issue(1), rate_limit=2, now=lambda: clock[0]) as forge:
        client = connect(forge)
        assert [client.get(f"{P}/labels").status_code for _ in range(3)] == [200, 200, 429]
        refused = client.get(f"{P}/labels")
        assert (refused.text, refused.headers["Content-Type"]) == ("Retry later\n", "text/plain")
        assert refused.headers["RateLimit-Remaining"] == "0"
        clock[0] += int(refused.headers["Retry-After"])
        assert client.get(f"{P}/labels").ok
