"""The fake GitHub behaves as GitHub does, as far as the tools can tell."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from fakes.github import FakeGitHub
from fakes.raw_client import Client, Connect

R = "/repos/o/r"


def issue(number: int, **fields: Any) -> dict[str, Any]:
    return {"number": number, "title": f"Issue {number}", "body": "It hangs.", **fields}


def numbers(client: Client, query: str) -> list[int]:
    answer = client.get(f"{R}/issues?{query}")
    assert answer.ok, answer.text
    return [entry["number"] for entry in answer.json()]


QUEUE = [
    issue(1, labels=["Bug"], created_at="2026-01-01T00:00:00Z", user="ann"),
    issue(2, labels=["bug", "oncall: distributed"], created_at="2026-01-02T00:00:00Z",
          comments=0, user="ben"),
    issue(3, state="closed", created_at="2026-01-03T00:00:00Z"),
    issue(4, pull_request={}, created_at="2026-01-04T00:00:00Z"),
    issue(5, created_at="2026-01-05T00:00:00Z", updated_at="2026-03-01T00:00:00Z"),
]  # fmt: skip

LISTS = [
    pytest.param("", [5, 4, 2, 1], id="open ones, newest first, pull requests among them"),
    pytest.param("state=all", [5, 4, 3, 2, 1], id="all"),
    pytest.param("state=closed", [3], id="closed"),
    pytest.param("labels=BUG", [2, 1], id="a label in any case"),
    pytest.param("labels=bug,oncall%3A%20distributed", [2], id="both labels"),
    pytest.param("since=2026-02-01T00:00:00Z", [5], id="updated since"),
    pytest.param("since=2026-01-04T01:00:00%2B02:00", [5, 4], id="since, in another time zone"),
    pytest.param("creator=Ann", [1], id="by their author"),
    pytest.param("direction=asc", [1, 2, 4, 5], id="oldest first"),
    pytest.param("sort=updated&direction=asc", [1, 2, 4, 5], id="by update"),
    pytest.param("per_page=2&page=2", [2, 1], id="the second page"),
    pytest.param("per_page=2&page=9", [], id="a page behind the last"),
]


@pytest.mark.parametrize(("query", "expected"), LISTS)
def test_the_issues_list_filters_and_sorts(
    connect: Connect, query: str, expected: list[int]
) -> None:
    with FakeGitHub(issues=QUEUE) as forge:
        assert numbers(connect(forge), query) == expected


def test_pages_are_linked_by_the_repository_s_id_and_the_links_work(connect: Connect) -> None:
    with FakeGitHub(issues=[issue(n) for n in range(1, 251)]) as forge:
        client = connect(forge)
        answer = client.get(f"{R}/issues?per_page=300&state=open")
        sizes = [len(answer.json())]
        assert set(answer.links) == {"next", "last"}
        assert answer.links["last"]["url"].endswith("?per_page=300&state=open&page=3")
        while "next" in answer.links:
            url = answer.links["next"]["url"]
            assert "/repositories/" in url
            answer = client.get(url.removeprefix(forge.url))
            sizes.append(len(answer.json()))
        assert sizes == [100, 100, 50]
        assert set(answer.links) == {"prev", "first"}


def test_a_list_of_one_page_has_no_link(connect: Connect) -> None:
    with FakeGitHub(issues=QUEUE) as forge:
        assert "Link" not in connect(forge).get(f"{R}/issues").headers


def test_labels_are_added_in_any_case_once_and_made_silently(connect: Connect) -> None:
    with FakeGitHub(issues=[issue(7, labels=["bug"])], labels=["triaged"]) as forge:
        answer = connect(forge).post(
            f"{R}/issues/7/labels", {"labels": ["BUG", "Triaged", "triaged", "brand new"]}
        )
        assert [label["name"] for label in answer.json()] == ["bug", "triaged", "brand new"]
        assert forge.created_labels == ["brand new"]
        assert "brand new" in forge.repository.labels


def test_adding_what_is_there_changes_nothing(connect: Connect) -> None:
    with FakeGitHub(issues=[issue(7, labels=["bug"])]) as forge:
        assert connect(forge).post(f"{R}/issues/7/labels", {"labels": ["bug"]}).ok
        assert forge.writes == []
        assert forge.repository.events[7] == []


def test_a_label_comes_with_its_reason_and_a_suggestion_stays_apart(connect: Connect) -> None:
    entries = [
        {"name": "bug", "rationale": "A traceback.", "confidence": "high"},
        {"name": "feature", "suggest": True, "confidence": "low"},
    ]
    with FakeGitHub(issues=[issue(7)], labels=["bug", "feature"]) as forge:
        client = connect(forge)
        client.post(f"{R}/issues/7/labels", {"labels": entries})
        assert forge.labels(7) == ["bug"]
        assert forge.suggestions(7) == [entries[1]]
        event = client.get(f"{R}/issues/7/timeline").json()[0]
        assert event["event"] == "labeled"
        assert event["intent"] == {"rationale": "A traceback.", "confidence": "HIGH"}


def test_an_older_server_takes_plain_names_only(connect: Connect) -> None:
    with FakeGitHub(issues=[issue(7)], plain_labels_only=True) as forge:
        client = connect(forge)
        refused = client.post(f"{R}/issues/7/labels", {"labels": [{"name": "bug"}]})
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "name")
        assert client.post(f"{R}/issues/7/labels", {"labels": ["bug"]}).ok
        assert forge.labels(7) == ["bug"]


def test_a_label_is_removed_and_the_timeline_tells_who_did_it(connect: Connect) -> None:
    with FakeGitHub(issues=[issue(7, labels=["bug"])], account="triage[bot]") as forge:
        client = connect(forge)
        assert client.delete(f"{R}/issues/7/labels/BUG").json() == []
        assert client.delete(f"{R}/issues/7/labels/bug").status_code == 404
        forge.person_labels(7, add=["triaged"], by="alice")
        events = client.get(f"{R}/issues/7/events").json()
        told = [
            (event["event"], event["actor"]["login"], event["actor"]["type"], _app(event))
            for event in events
        ]
        assert told == [
            ("unlabeled", "triage[bot]", "Bot", "triage"),
            ("labeled", "alice", "User", None),
        ]


def _app(event: dict[str, Any]) -> str | None:
    app = event["performed_via_github_app"]
    return None if app is None else app["slug"]


@pytest.mark.parametrize(
    ("labels", "field"),
    [
        pytest.param(["x" * 51], "name", id="a name of 51 characters"),
        pytest.param([""], "name", id="no name"),
        pytest.param([f"label {n}" for n in range(101)], "labels", id="101 labels"),
    ],
)
def test_a_label_that_github_refuses_changes_nothing(
    connect: Connect, labels: list[str], field: str
) -> None:
    with FakeGitHub(issues=[issue(7)]) as forge:
        answer = connect(forge).post(f"{R}/issues/7/labels", {"labels": labels})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)
        assert forge.labels(7) == []
        assert forge.created_labels == []


def test_comments_are_written_read_edited_and_deleted(connect: Connect) -> None:
    with FakeGitHub(issues=[issue(7)], account="triage[bot]", now=lambda: 1_767_225_600) as forge:
        client = connect(forge)
        made = client.post(f"{R}/issues/7/comments", {"body": "one"})
        forge.person_comments(7, "two", by="alice")
        assert made.headers["Location"] == made.json()["url"]
        assert made.json()["user"]["login"] == "triage[bot]"
        assert made.json()["created_at"] == "2026-01-01T00:00:00Z"
        assert client.get(f"{R}/issues/7").json()["comments"] == 2
        own = f"{R}/issues/comments/{made.json()['id']}"
        assert client.send("PATCH", own, json={"body": "uno"}).json()["body"] == "uno"
        assert forge.comments(7) == ["uno", "two"]
        assert client.delete(own).status_code == 204
        assert client.get(own).status_code == 404
        assert forge.comments(7) == ["two"]


def test_the_timeline_shows_comments_and_events_in_order_and_events_only_events(
    connect: Connect,
) -> None:
    when = "2026-01-0{}T00:00:00Z"
    comment = {"body": "Me too", "user": {"login": "ann"}, "created_at": when.format(2)}
    event = {"event": "labeled", "label": {"name": "bug"}, "actor": {"login": "ben"}}
    case = {
        "id": "x",
        "issue": issue(7),
        "comments": [comment],
        "timeline": [
            {**event, "created_at": when.format(3)},
            {**event, "created_at": when.format(1)},
        ],
    }
    with FakeGitHub(issues=[case]) as forge:
        client = connect(forge)
        told = [entry["event"] for entry in client.get(f"{R}/issues/7/timeline").json()]
        assert told == ["labeled", "commented", "labeled"]
        assert len(client.get(f"{R}/issues/7/events").json()) == 2
        assert client.get(f"{R}/issues/7").json()["comments"] == 1


def _locked(forge: FakeGitHub) -> None:
    forge.issue(7)["locked"] = True


def _deleted(forge: FakeGitHub) -> None:
    forge.repository.deleted.add(7)
    del forge.repository.issues[7]


def _transferred(forge: FakeGitHub) -> None:
    forge.add_repository("o/elsewhere", [issue(70)])
    forge.repository.transferred[7] = ("o/elsewhere", 70)
    del forge.repository.issues[7]


def _without_issues(forge: FakeGitHub) -> None:
    forge.repository.has_issues = False


def _archived(forge: FakeGitHub) -> None:
    forge.repository.archived = True


GONE = [
    pytest.param(_locked, "POST", "/issues/7/comments", {"body": "x"}, 403, id="locked: comment"),
    pytest.param(_locked, "POST", "/issues/7/labels", {"labels": ["x"]}, 200, id="locked: label"),
    pytest.param(_deleted, "GET", "/issues/7", None, 410, id="deleted"),
    pytest.param(_deleted, "POST", "/issues/7/labels", {"labels": ["x"]}, 410, id="deleted: label"),
    pytest.param(_transferred, "GET", "/issues/7", None, 301, id="transferred"),
    pytest.param(_transferred, "POST", "/issues/7/labels", {"labels": ["x"]}, 301,
                 id="transferred: label"),
    pytest.param(_transferred, "POST", "/issues/7/comments", {"body": "x"}, 404,
                 id="transferred: comment"),
    pytest.param(_without_issues, "POST", "/issues", {"title": "x"}, 410, id="issues disabled"),
    pytest.param(_archived, "POST", "/issues/7/labels", {"labels": ["x"]}, 403, id="archived"),
    pytest.param(lambda forge: None, "GET", "/issues/8", None, 404, id="never was"),
]  # fmt: skip


@pytest.mark.parametrize(("happened", "method", "path", "body", "status"), GONE)
def test_an_issue_out_of_reach(
    connect: Connect, happened: Any, method: str, path: str, body: Any, status: int
) -> None:
    with FakeGitHub(issues=[issue(7)]) as forge:
        happened(forge)
        answer = connect(forge).send(method, R + path, json=body, allow_redirects=False)
        assert answer.status_code == status
        assert (forge.writes == []) is (status != 200)


def test_a_transferred_issue_leads_to_another_repository(connect: Connect) -> None:
    with FakeGitHub(issues=[issue(7)]) as forge:
        _transferred(forge)
        found = connect(forge).get(f"{R}/issues/7").json()
        assert found["number"] == 70
        assert found["repository_url"].endswith("/repos/o/elsewhere")


def test_a_renamed_repository_leads_to_its_new_name(connect: Connect) -> None:
    with FakeGitHub("o/new", [issue(7)]) as forge:
        forge.renamed["o/old"] = "o/new"
        client = connect(forge)
        assert client.get("/repos/o/old").json()["full_name"] == "o/new"
        assert client.get("/repos/O/New/issues/7").json()["number"] == 7


def test_new_issues_get_the_next_number_and_their_labels(connect: Connect) -> None:
    with FakeGitHub(issues=[issue(7)], labels=["bug"]) as forge:
        body = {"title": "Again", "body": "x", "labels": ["bug", {"name": "new"}]}
        made = connect(forge).post(f"{R}/issues", body).json()
        assert made["number"] == 8
        assert made["html_url"] == "https://github.com/o/r/issues/8"
        assert forge.labels(8) == ["bug", "new"]
        assert forge.created_labels == ["new"]


def test_a_queue_file_holds_whatever_a_repository_can_hold(
    connect: Connect, tmp_path: Path
) -> None:
    queue = {
        "repo": "o/r",
        "labels": ["bug", {"name": "triaged", "color": "00ff00"}],
        "issues": [issue(7, labels=["bug"])],
        "comments": {"7": [{"body": "Me too", "user": "ann"}]},
        "timeline": {"7": [{"event": "labeled", "label": {"name": "bug"}, "actor": "ben"}]},
        "repositories": [{"repo": "o/other", "issues": [issue(1)], "private": True}],
    }
    file = tmp_path / "queue.json"
    file.write_text(json.dumps(queue), encoding="utf-8")
    with FakeGitHub.from_file(file) as forge:
        client = connect(forge)
        assert [label["name"] for label in client.get(f"{R}/labels").json()] == ["bug", "triaged"]
        assert client.get(f"{R}/issues/7").json()["comments"] == 1
        assert client.get(f"{R}/issues/7/events").json()[0]["actor"]["login"] == "ben"
        assert client.get("/repos/o/other/issues/1").ok


def test_two_issues_of_one_number_are_refused() -> None:
    with FakeGitHub(issues=[issue(7)]) as forge, pytest.raises(ValueError, match="two issues 7"):
        forge.repository.add_issue(issue(7))


def test_a_sweep_over_five_thousand_issues_is_quick(connect: Connect) -> None:
    start = time.process_time()
    with FakeGitHub(issues=[issue(n, labels=["bug"]) for n in range(1, 5001)]) as forge:
        client = connect(forge)
        found = [n for page in range(1, 51) for n in numbers(client, f"per_page=100&page={page}")]
    assert len(set(found)) == 5000
    assert time.process_time() - start < 8, "1.5 s on an idle core"
