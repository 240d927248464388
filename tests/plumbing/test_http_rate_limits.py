"""Rate limits: how long is waited for which answer, and when it is given up."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from ciops.plumbing.http import Client, ForbiddenError, RateLimitedError, UnavailableError
from plumbing.conftest import Answer, Clock, Server

OK = Answer(b'{"ok": 1}')
NOW = 1_700_000_000.0
SECONDARY = json.dumps(
    {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}
).encode()


def http_date(seconds: float) -> str:
    return format_datetime(datetime.fromtimestamp(NOW + seconds, UTC), usegmt=True)


def github(remaining: int, reset: float) -> dict[str, str]:
    return {
        "X-RateLimit-Limit": "5000",
        "X-RateLimit-Remaining": str(remaining),
        "X-RateLimit-Reset": str(int(NOW + reset)),
    }


LIMITS: dict[str, tuple[Answer, float]] = {
    "429 with Retry-After": (Answer(b"{}", 429, {"Retry-After": "7"}), 7),
    "429 with a date": (Answer(b"{}", 429, {"Retry-After": http_date(30)}), 30),
    "429 with a past date": (Answer(b"{}", 429, {"Retry-After": http_date(-3000)}), 1),
    "429 with 0": (Answer(b"{}", 429, {"Retry-After": "0"}), 1),
    "429 with a negative": (Answer(b"{}", 429, {"Retry-After": "-5"}), 1),
    "429 with a fraction": (Answer(b"{}", 429, {"Retry-After": "1.5"}), 1.5),
    "429 with nonsense": (Answer(b"{}", 429, {"Retry-After": "soon"}), 60),
    "429 with nothing": (Answer(b"{}", 429), 60),
    "429 as plain text": (Answer(b"Retry later\n", 429, {"Content-Type": "text/plain"}), 60),
    "429 with an empty body": (Answer(b"", 429), 60),
    "429 and GitLab's reset": (
        Answer(b"", 429, {"RateLimit-Remaining": "0", "RateLimit-Reset": str(int(NOW + 20))}),
        20,
    ),
    "429 and Jira's reset": (
        Answer(b"{}", 429, {"X-RateLimit-Reset": "2023-11-14T22:13:35Z"}),
        15,
    ),
    "primary limit": (Answer(b"{}", 403, github(0, 45)), 45),
    "primary limit, reset in the past": (Answer(b"{}", 403, github(0, -45)), 1),
    "secondary limit with Retry-After": (Answer(SECONDARY, 403, {"Retry-After": "9"}), 9),
    "secondary limit, requests left": (Answer(SECONDARY, 403, github(4000, 1800)), 60),
    "secondary limit as 429": (Answer(SECONDARY, 429, github(4000, 1800)), 60),
    "503 with Retry-After": (Answer(b"{}", 503, {"Retry-After": "11"}), 11),
}


@pytest.mark.parametrize(("limited", "wait"), LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("method", ["get", "post"])
def test_waits(
    server: Server,
    client: Client,
    clock: Clock,
    log: list[str],
    method: str,
    limited: Answer,
    wait: float,
) -> None:
    server.script(limited, OK)
    landed: list[int] = []
    if method == "get":
        client.get("/x")
    else:
        client.post("/x", {}, lambda: landed.append(1))
    assert clock.slept == [max(wait, 2) if limited.status == 503 and method == "post" else wait]
    assert f"trying again in {clock.slept[0]:.0f} s" in log[0]
    assert len(landed) == (method == "post" and limited.status == 503)


@pytest.mark.parametrize("skew", [-7200, -10, 10, 7200], ids=lambda skew: f"{skew} s")
@pytest.mark.parametrize(
    "limited",
    [
        Answer(b"{}", 403, github(0, 45)),
        Answer(b"{}", 429, {"Retry-After": http_date(45)}),
        Answer(b"", 429, {"RateLimit-Remaining": "0", "RateLimit-Reset": str(int(NOW + 45))}),
    ],
    ids=["reset", "a date", "GitLab's reset"],
)
def test_a_clock_that_is_wrong_waits_as_long_as_a_right_one(
    server: Server, client: Client, clock: Clock, limited: Answer, skew: int
) -> None:
    """A moment is of the service's clock, which its Date tells: ours may be of another day."""
    clock.time += skew
    server.script(replace(limited, headers={**limited.headers, "Date": http_date(0)}), OK)
    client.get("/x")
    assert clock.slept == [45]


def test_the_rate_is_told_by_our_clock(server: Server, client: Client, clock: Clock) -> None:
    clock.time += 7200
    server.script(Answer(b"{}", 200, {**github(3, 60), "Date": http_date(0)}))
    client.get("/x")
    assert client.rate.reset == clock.time + 60


@pytest.mark.parametrize("date", ["", "yesterday", "Thu, 99 Foo 2023 99:99:99 GMT"])
def test_a_date_that_is_none_is_not_gone_by(
    server: Server, client: Client, clock: Clock, date: str
) -> None:
    server.script(Answer(b"{}", 403, {**github(0, 45), "Date": date}), OK)
    client.get("/x")
    assert clock.slept == [45]


TOO_LONG = {
    "an hour": Answer(b"{}", 429, {"Retry-After": "3600"}),
    "forever": Answer(b"{}", 429, {"Retry-After": "999999999999999"}),
    "more digits than a number has": Answer(b"{}", 429, {"Retry-After": "9" * 14}),
    "primary limit for an hour": Answer(b"{}", 403, github(0, 3500)),
}


@pytest.mark.parametrize("limited", TOO_LONG.values(), ids=TOO_LONG)
def test_what_asks_for_too_long_a_wait_is_given_up(
    server: Server, client: Client, clock: Clock, limited: Answer
) -> None:
    server.script(limited)
    with pytest.raises(RateLimitedError) as caught:
        client.get("/x")
    assert clock.slept == []
    assert len(server.asked) == 1
    assert caught.value.retry_at > NOW + 3000
    assert "The rate limit ends " in str(caught.value)


def test_an_endless_run_of_digits_is_no_number(
    server: Server, client: Client, clock: Clock
) -> None:
    server.script(Answer(b"{}", 429, {"Retry-After": "9" * 6000}), OK)
    client.get("/x")
    assert clock.slept == [60]


def test_503_for_a_day_is_given_up(server: Server, client: Client, clock: Clock) -> None:
    server.script(Answer(b"{}", 503, {"Retry-After": "86400"}))
    with pytest.raises(UnavailableError):
        client.get("/x")
    assert clock.slept == []


def test_a_longer_wait_is_taken_where_it_is_allowed(
    server: Server, client_of: Callable[..., Client], clock: Clock
) -> None:
    server.script(TOO_LONG["an hour"], OK)
    client_of(server.url, max_wait=4000.0).get("/x")
    assert clock.slept == [3600]


def test_a_limit_that_does_not_end(server: Server, client: Client, clock: Clock) -> None:
    server.script(Answer(b"{}", 429, {"Retry-After": "10"}))
    with pytest.raises(RateLimitedError, match="The rate limit ends at 2023-11-14 22:14:10 UTC"):
        client.get("/x")
    assert clock.slept == [10, 10, 10, 10]


@pytest.mark.parametrize(
    "headers", [{}, github(4000, 100), {"X-RateLimit-Remaining": "many"}], ids=str
)
def test_an_ordinary_403_is_no_limit(
    server: Server, client: Client, headers: dict[str, str]
) -> None:
    server.script(Answer(b'{"message": "Resource not accessible by integration"}', 403, headers))
    with pytest.raises(ForbiddenError):
        client.get("/x")
    assert len(server.asked) == 1


def test_the_rate_is_heard(server: Server, client: Client) -> None:
    server.script(Answer(b"{}", 200, github(4321, 60)))
    assert client.rate.remaining is None
    client.get("/x")
    rate = client.rate
    assert (rate.remaining, rate.limit, rate.reset) == (4321, 5000, NOW + 60)
