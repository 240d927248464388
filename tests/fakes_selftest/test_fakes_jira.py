"""The fake Jira: comments, properties, tokens; Cloud and Data Center."""

from __future__ import annotations

import base64
from datetime import datetime
from typing import Any

import pytest

from fakes.jira import SCOPED, Account, FakeJira
from fakes.raw_client import Client, Connect

COMMENTS = "/issue/DBG-7/comment"


def doc(text: str) -> dict[str, Any]:
    paragraph = {"type": "paragraph", "content": [{"type": "text", "text": text}]}
    return {"type": "doc", "version": 1, "content": [paragraph]}


def basic(name: str, token: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{token}".encode()).decode()}


ME = basic("ann@example.com", "secret")


@pytest.fixture
def cloud() -> FakeJira:
    return FakeJira(issues={"DBG-7": {"summary": "Hang at exit"}})


def test_a_comment_is_kept_with_its_visibility_and_its_properties(
    connect: Connect, cloud: FakeJira
) -> None:
    body = {
        "body": doc("Found it."),
        "visibility": {"type": "role", "value": "Developers"},
        "properties": [{"key": "digest", "value": {"sha256": "1f"}}],
    }
    with cloud as jira:
        client = connect(jira, ME)
        made = client.post(COMMENTS, body)
        assert made.status_code == 201
        assert made.json()["author"]["accountId"] == "fake:ann@example.com"
        assert "properties" not in made.json()
        assert datetime.fromisoformat(made.json()["created"]).utcoffset() is not None
        assert jira.comments("DBG-7")[0]["visibility"] == body["visibility"]
        address = f"/comment/{made.json()['id']}/properties"
        assert client.get(address).json()["keys"][0]["key"] == "digest"
        assert client.get(f"{address}/digest").json()["value"] == {"sha256": "1f"}
        assert len(jira.writes) == 1


def test_comments_are_paged_newest_first_when_asked(connect: Connect) -> None:
    days = range(1, 6)
    comments = [{"body": doc(str(d)), "created": f"2026-01-0{d}T00:00:00.000+0000"} for d in days]
    with FakeJira(issues={"DBG-7": {"comments": comments}}, page_limit=3) as jira:
        client = connect(jira, ME)

        def days_of(query: str) -> list[str]:
            page = client.get(f"{COMMENTS}?{query}").json()
            assert page["total"] == 5
            return [part["created"][9] for part in page["comments"]]

        assert days_of("") == ["1", "2", "3"]
        assert days_of("startAt=3") == ["4", "5"]
        assert days_of("orderBy=-created&maxResults=2") == ["5", "4"]
        assert days_of("orderBy=%2Bcreated&startAt=4") == ["5"]
        assert days_of("startAt=9") == []


LONG = "x" * 33_000
BODIES = [
    pytest.param(doc("fine"), None, id="ADF"),
    pytest.param(doc(""), "Comment body is not valid!", id="an empty text node"),
    pytest.param({"type": "doc", "content": []}, "Comment body is not valid!", id="no version"),
    pytest.param("h1. wiki", "Comment body is not valid!", id="wiki markup"),
    pytest.param(None, "Comment body can not be empty!", id="nothing"),
    pytest.param(doc(LONG), "exceeds the allowed limit of 32,767 characters", id="too long"),
]


@pytest.mark.parametrize(("body", "problem"), BODIES)
def test_the_cloud_takes_valid_adf_of_a_fair_length(
    connect: Connect, cloud: FakeJira, body: Any, problem: str | None
) -> None:
    with cloud as jira:
        answer = connect(jira, ME).post(COMMENTS, {"body": body})
        assert answer.status_code == (201 if problem is None else 400)
        if problem is not None:
            assert answer.json()["errorMessages"] == []
            assert problem in answer.json()["errors"]["comment"]
            assert jira.comments("DBG-7") == []
            assert jira.refused_bodies == [body]


@pytest.mark.parametrize(("length_of", "status"), [("json", 400), ("text", 201)])
def test_what_is_counted_can_be_chosen(connect: Connect, length_of: str, status: int) -> None:
    markup = doc("x")
    markup["content"] *= 500
    with FakeJira(issues={"DBG-7": {}}, length_of=length_of) as jira:
        assert connect(jira, ME).post(COMMENTS, {"body": markup}).status_code == status


PROPERTIES = [
    pytest.param("digest", {"sha256": "1f"}, 201, id="an object"),
    pytest.param("digest", "text", 201, id="a text"),
    pytest.param("k" * 255, 1, 201, id="a key of 255 characters"),
    pytest.param("k" * 256, 1, 400, id="a key of 256"),
    pytest.param("digest", "", 400, id="an empty value"),
    pytest.param("digest", "x" * 32_768, 400, id="a value too long"),
]


@pytest.mark.parametrize(("key", "value", "status"), PROPERTIES)
def test_a_property_is_put_and_replaced(
    connect: Connect, key: str, value: Any, status: int
) -> None:
    with FakeJira(issues={"DBG-7": {"comments": [{"body": doc("x")}]}}) as jira:
        client, comment = connect(jira, ME), jira.comments("DBG-7")[0]["id"]
        address = f"/comment/{comment}/properties/{key}"
        assert client.get(address).status_code == 404
        assert client.put(address, value).status_code == status
        assert jira.properties(comment) == ({key: value} if status == 201 else {})
        if status == 201:
            assert client.put(address, {"other": True}).status_code == 200
            assert jira.properties(comment)[key] == {"other": True}


def test_the_project_s_type_is_told(connect: Connect) -> None:
    with FakeJira(issues={"SD-1": {"project_type": "service_desk"}}) as jira:
        client = connect(jira, ME)
        fields = client.get("/issue/SD-1?fields=project").json()["fields"]
        assert fields["project"]["projectTypeKey"] == "service_desk"
        assert "summary" not in fields
        assert client.get("/issue/SD-2").status_code == 404
        assert client.get("/myself").json()["displayName"] == "ann"


TOKENS = {
    "site": Account("ann@example.com"),
    "scoped": Account("bot@example.com", scopes=frozenset({SCOPED})),
    "mute": Account("ben@example.com", permissions={"comment": "none"}),
}
ACCESS = [
    pytest.param(basic("ann@example.com", "site"), "site", 201, id="a token at the site"),
    pytest.param(basic("ann@example.com", "site"), "scoped", 401, id="not at the scoped address"),
    pytest.param(basic("bot@example.com", "scoped"), "scoped", 201, id="a scoped token there"),
    pytest.param(basic("bot@example.com", "scoped"), "site", 401, id="and not at the site"),
    pytest.param(basic("ben@example.com", "mute"), "site", 400, id="without the permission"),
    pytest.param(basic("ann@example.com", "old"), "site", 401, id="an unknown token"),
    pytest.param({"Authorization": "Bearer site"}, "site", 401, id="a bearer token"),
    pytest.param({"Authorization": "Basic %%%"}, "site", 401, id="not even base64"),
    pytest.param({}, "site", 401, id="nobody"),
]


@pytest.mark.parametrize(("headers", "address", "status"), ACCESS)
def test_a_token_works_at_its_own_address(
    connect: Connect, headers: dict[str, str], address: str, status: int
) -> None:
    with FakeJira(issues={"DBG-7": {}}, tokens=TOKENS) as jira:
        client = connect(jira, headers)
        if address == "scoped":
            client.base = f"{jira.scoped_url}/rest/api/3"
        assert client.post(COMMENTS, {"body": doc("x")}).status_code == status
        assert len(jira.comments("DBG-7")) == int(status == 201)


@pytest.mark.parametrize(
    ("left_out", "retry_after"),
    [
        pytest.param({}, 4, id="all of them"),
        pytest.param({"X-RateLimit-Reset": ""}, None, id="some"),
    ],
)
def test_the_rate_limit_is_told_in_its_headers(
    connect: Connect, cloud: FakeJira, left_out: dict[str, str], retry_after: int | None
) -> None:
    with cloud as jira:
        jira.fail(429, retry_after=retry_after, headers=left_out)
        answer = connect(jira, ME).get("/myself")
        assert answer.status_code == 429
        assert answer.headers["RateLimit-Reason"] == "jira-burst-based"
        assert ("X-RateLimit-Reset" in answer.headers) is (not left_out)
        assert answer.headers.get("Retry-After") == (retry_after and str(retry_after))
        if not left_out:
            assert datetime.fromisoformat(answer.headers["X-RateLimit-Reset"])


def test_a_comment_that_landed_unheard_is_there_on_the_next_look(
    connect: Connect, cloud: FakeJira
) -> None:
    with cloud as jira:
        client = connect(jira, ME)
        jira.fail("reset-after", method="POST")
        with pytest.raises(OSError, match="reset"):
            client.post(COMMENTS, {"body": doc("x"), "properties": [{"key": "d", "value": 1}]})
        found = client.get(f"{COMMENTS}?orderBy=-created").json()["comments"][0]["id"]
        assert client.get(f"/comment/{found}/properties/d").json()["value"] == 1


@pytest.fixture
def data_center() -> FakeJira:
    return FakeJira(issues={"DBG-7": {}}, data_center=True, root="/jira")


def _bearer(connect: Connect, jira: FakeJira) -> Client:
    return connect(jira, {"Authorization": "Bearer pat"})


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param("h1. Summary", 201, id="wiki markup"),
        pytest.param(doc("x"), 400, id="ADF"),
        pytest.param("", 400, id="nothing"),
        pytest.param(LONG, 400, id="too long"),
    ],
)
def test_data_center_takes_wiki_markup(
    connect: Connect, data_center: FakeJira, body: Any, status: int
) -> None:
    with data_center as jira:
        answer = _bearer(connect, jira).post(COMMENTS, {"body": body})
        assert answer.status_code == status
        assert jira.api_url.endswith("/jira/rest/api/2")
        if status == 201:
            assert answer.json()["body"] == body
            assert "accountId" not in answer.json()["author"]
            assert answer.json()["author"]["name"] == "bot@example.com"


def test_data_center_wants_a_bearer_token(connect: Connect, data_center: FakeJira) -> None:
    with data_center as jira:
        assert connect(jira, ME).get("/myself").status_code == 401
        assert _bearer(connect, jira).get("/myself").ok
        assert jira.seen_tokens == {"pat"}
