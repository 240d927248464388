"""Connections, faults on demand, records, and a clean end."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests

from fakes.faults import AFTER, BEFORE
from fakes.github import FakeGitHub
from fakes.gitlab import FakeGitLab
from fakes.jira import FakeJira
from fakes.raw_client import Connect

TESTS = Path(__file__).parent.parent
ISSUE = {"number": 7, "title": "Hang", "body": "It hangs."}
R = "/repos/o/r"
COMMENTS = f"{R}/issues/7/comments"


@pytest.mark.parametrize("status", ["401", "404", "429", "500", "502", "503"])
def test_a_planned_status_is_answered_once_and_nothing_is_applied(
    connect: Connect, status: str
) -> None:
    with FakeGitHub(issues=[ISSUE]) as forge:
        client = connect(forge)
        forge.fail(status)
        assert client.post(COMMENTS, {"body": "x"}).status_code == int(status)
        assert forge.comments(7) == []
        assert client.post(COMMENTS, {"body": "x"}).status_code == 201
        assert forge.comments(7) == ["x"]


@pytest.mark.parametrize(
    ("how", "applied"), [("reset", False), ("reset-after", True), ("cut", True), ("badjson", True)]
)
def test_the_client_hears_nothing_useful_and_the_state_tells_whether_it_landed(
    connect: Connect, how: str, applied: bool
) -> None:
    with FakeGitHub(issues=[ISSUE]) as forge:
        forge.fail(how)
        with pytest.raises((requests.RequestException, json.JSONDecodeError)):
            connect(forge).post(COMMENTS, {"body": "x"}).json()
        assert forge.comments(7) == (["x"] if applied else [])
        assert len(forge.writes) == int(applied)


def test_a_reset_is_a_reset_and_not_a_polite_end() -> None:
    with FakeGitHub() as forge:
        forge.fail("reset")
        with socket.create_connection((forge.listener.host, forge.listener.port)) as raw:
            raw.sendall(b"GET /rate_limit HTTP/1.1\r\nHost: x\r\n\r\n")
            with pytest.raises(ConnectionResetError):
                raw.recv(1)


def test_a_cut_body_announces_more_than_it_sends() -> None:
    with FakeGitHub() as forge:
        forge.fail("cut")
        with socket.create_connection((forge.listener.host, forge.listener.port)) as raw:
            raw.sendall(b"GET /rate_limit HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = b""
            while piece := raw.recv(65536):
                answer += piece
        head, _, body = answer.partition(b"\r\n\r\n")
        announced = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
        assert 0 < len(body) < announced


def test_a_slow_reply_is_slow(connect: Connect) -> None:
    with FakeGitHub() as forge:
        forge.fail("slow", seconds=0.2)
        start = time.monotonic()
        assert connect(forge).get("/rate_limit").ok
        assert time.monotonic() - start >= 0.2


def test_a_slow_reply_does_not_hold_up_the_others_nor_the_end(connect: Connect) -> None:
    start = time.monotonic()
    with FakeGitHub() as forge:
        forge.fail("slow", seconds=60)
        waiting = threading.Thread(target=_ask, args=(forge.url,))
        waiting.start()
        while forge.request_count == 0:
            time.sleep(0.005)
        assert connect(forge).get("/rate_limit").ok
    waiting.join()
    assert time.monotonic() - start < 30


def _ask(url: str) -> None:
    try:
        requests.get(f"{url}/rate_limit", timeout=10)
    except requests.RequestException:
        return


PLANS = [
    pytest.param({"at": 2}, [200, 500, 200, 200], id="the second"),
    pytest.param({"at": 2, "times": 2}, [200, 500, 500, 200], id="the second and the third"),
    pytest.param({"times": None}, [500, 500, 500, 500], id="all"),
    pytest.param({"path": r"/labels$"}, [200, 200, 500, 200], id="the first of a path"),
    pytest.param({"path": r"/issues", "at": 3}, [200, 200, 200, 500], id="the third of a path"),
    pytest.param({"method": "POST"}, [200, 200, 200, 200], id="another method"),
    pytest.param({"writes": True}, [200, 200, 200, 200], id="writes only"),
]


@pytest.mark.parametrize(("plan", "statuses"), PLANS)
def test_a_fault_strikes_where_it_was_planned(
    connect: Connect, plan: dict[str, Any], statuses: list[int]
) -> None:
    with FakeGitHub(issues=[ISSUE]) as forge:
        client = connect(forge)
        fault = forge.fail(500, **plan)
        asked = [f"{R}/issues", f"{R}/issues/7", f"{R}/labels", f"{R}/issues/7/events"]
        assert [client.get(path).status_code for path in asked] == statuses
        assert fault.fired == statuses.count(500)


def test_a_fault_counts_from_the_moment_it_was_planned(connect: Connect) -> None:
    with FakeGitHub() as forge:
        client = connect(forge)
        client.get("/rate_limit")
        forge.fail(503)
        assert client.get("/rate_limit").status_code == 503


def test_an_unknown_fault_names_the_known_ones() -> None:
    with FakeGitHub() as forge, pytest.raises(ValueError, match="no fault 'explode'") as caught:
        forge.fail("explode")
    for how in (*BEFORE, *AFTER):
        assert how in str(caught.value)


@pytest.mark.parametrize("retry_after", [None, 7, "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_retry_after_is_sent_as_planned(connect: Connect, retry_after: Any) -> None:
    with FakeGitHub() as forge:
        forge.fail(429, retry_after=retry_after)
        sent = connect(forge).get("/rate_limit").headers.get("Retry-After")
        assert sent == (None if retry_after is None else str(retry_after))


@pytest.mark.parametrize(
    ("forge", "kind", "body"),
    [
        pytest.param(FakeGitHub, "application/json; charset=utf-8", "rate limit", id="GitHub"),
        pytest.param(FakeGitLab, "text/plain", "Retry later\n", id="GitLab, in plain text"),
        pytest.param(FakeJira, "application/json; charset=utf-8", "Rate limit", id="Jira"),
    ],
)
def test_each_service_words_its_429(connect: Connect, forge: Any, kind: str, body: str) -> None:
    with forge() as server:
        server.fail(429)
        answer = connect(server).get({"Jira": "/myself"}.get(server.service, "/user"))
        assert answer.headers["Content-Type"] == kind
        assert body in answer.text


def test_kill_after_calls_back_when_the_request_was_applied_and_not_yet_answered(
    connect: Connect,
) -> None:
    with FakeGitHub(issues=[ISSUE]) as forge:
        client = connect(forge)
        seen: list[list[str]] = []
        forge.kill_after(2, lambda: seen.append(forge.comments(7)), writes=True)
        client.post(COMMENTS, {"body": "one"})
        client.get(f"{R}/labels")
        client.post(COMMENTS, {"body": "two"})
        assert seen == [["one", "two"]]


KILLED = """
import sys, requests
for body in ("one", "two", "three"):
    requests.post(sys.argv[1], json={"body": body}, headers={"Authorization": "Bearer t"})
"""


def test_a_killed_client_leaves_the_server_serving(connect: Connect) -> None:
    with FakeGitHub(issues=[ISSUE]) as forge:
        victims: list[int] = []
        started = threading.Event()

        def kill() -> None:
            started.wait(10)
            os.kill(victims[0], signal.SIGKILL)

        forge.kill_after(2, kill, writes=True)
        command = [sys.executable, "-c", KILLED, forge.url + COMMENTS]
        with subprocess.Popen(command) as client:
            victims.append(client.pid)
            started.set()
            assert client.wait(20) == -signal.SIGKILL
        assert forge.comments(7) == ["one", "two"]
        assert connect(forge).get(COMMENTS).ok


def test_a_request_that_was_only_half_sent_never_was_one() -> None:
    with FakeGitHub(issues=[ISSUE]) as forge:
        with socket.create_connection((forge.listener.host, forge.listener.port)) as raw:
            raw.sendall(f'POST {COMMENTS} HTTP/1.1\r\nContent-Length: 99\r\n\r\n{{"bo'.encode())
        assert connect_and_count(forge) == 1


def connect_and_count(forge: FakeGitHub) -> int:
    requests.get(f"{forge.url}/rate_limit", timeout=10)
    return forge.request_count


def test_requests_are_recorded_as_they_came(connect: Connect) -> None:
    with FakeGitHub(issues=[ISSUE]) as forge:
        client = connect(forge)
        client.get(f"{R}/issues?per_page=100&labels=oncall%3A%20distributed")
        client.post(COMMENTS, {"body": "x"})
        listed, posted = forge.requests
        assert (listed.number, listed.method, listed.path) == (1, "GET", f"{R}/issues")
        assert listed.query == {"per_page": "100", "labels": "oncall: distributed"}
        assert listed.headers["authorization"] == "Bearer a-token"
        assert (listed.operation, listed.status) == ("GET /repos/{owner}/{repo}/issues", 200)
        assert (posted.body, posted.status) == ({"body": "x"}, 201)
        assert [write.path for write in forge.writes] == [COMMENTS]
        assert forge.calls["GET /repos/{owner}/{repo}/issues"] == 1
        assert forge.request_count == 2


def test_a_connection_is_kept(connect: Connect) -> None:
    with FakeGitHub() as forge:
        client = connect(forge)
        for _ in range(5):
            client.get("/rate_limit")
        assert len(forge.listener._server._open) == 1


def test_connections_are_served_side_by_side(connect: Connect) -> None:
    with FakeGitHub() as forge, ThreadPoolExecutor(8) as pool:
        statuses = pool.map(
            lambda _: requests.get(f"{forge.url}/rate_limit").status_code, range(40)
        )
        assert set(statuses) == {200}
        assert forge.request_count == 40


def test_nothing_is_left_behind() -> None:
    threads = threading.active_count()
    files = _open_files()
    for _ in range(3):
        with FakeGitHub() as forge, requests.Session() as session:
            session.get(f"{forge.url}/rate_limit")
    gc.collect()  # an unclosed socket would warn, and warnings are errors here
    assert threading.active_count() == threads
    assert _open_files() <= files


def _open_files() -> int:
    """As far as the system tells."""
    descriptors = Path("/proc/self/fd")
    return sum(1 for _ in descriptors.iterdir()) if descriptors.exists() else 0


def test_a_fake_ends_at_once_while_clients_hold_their_connections() -> None:
    with requests.Session() as session:
        with FakeGitHub() as forge:
            session.get(f"{forge.url}/rate_limit")
            start = time.monotonic()
        assert time.monotonic() - start < 5  # it was not waited for


def test_memory_stays_flat_when_requests_are_not_kept(connect: Connect) -> None:
    with FakeGitHub(issues=[ISSUE], keep_requests=False) as forge:
        client = connect(forge)
        for _ in range(20):
            client.get(f"{R}/issues")
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(150):
            client.get(f"{R}/issues")
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        assert forge.requests == []
        assert grown < 60_000


@pytest.mark.parametrize(
    ("module", "data", "path"),
    [
        pytest.param(
            "fakes.github", {"repo": "a/b", "issues": [ISSUE]}, "/repos/a/b/issues/7", id="GitHub"
        ),
        pytest.param(
            "fakes.gitlab",
            {"projects": {"5": {"path_with_namespace": "g/p"}}, "pipelines": [], "bridges": {},
             "jobs": {}},
            "/api/v4/projects/5",
            id="GitLab",
        ),
        pytest.param(
            "fakes.jira", {"issues": {"DBG-7": {"summary": "x"}}}, "/rest/api/3/issue/DBG-7",
            id="Jira",
        ),
    ],
)  # fmt: skip
def test_a_fake_serves_from_a_command_line(
    tmp_path: Path, module: str, data: dict[str, Any], path: str
) -> None:
    file, writes = tmp_path / "data.json", tmp_path / "writes.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    command = [sys.executable, "-m", module, "--data", str(file), "--writes", str(writes)]
    with subprocess.Popen(
        command, cwd=TESTS, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        secret = ("a@example.com", "token") if module == "fakes.jira" else None
        headers = {} if secret else {"Authorization": "Bearer t"}
        answer = requests.get(url + path, headers=headers, auth=secret, timeout=10)
        server.terminate()
        assert server.wait(10) == 0
    assert answer.ok
    assert json.loads(writes.read_text(encoding="utf-8")) == []


def test_the_command_line_tells_of_a_broken_contract(tmp_path: Path) -> None:
    file = tmp_path / "queue.json"
    file.write_text("[]", encoding="utf-8")
    command = [sys.executable, "-m", "fakes.github", "--data", str(file)]
    with subprocess.Popen(
        command, cwd=TESTS, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        requests.get(f"{url}/nowhere", timeout=10)
        server.terminate()
        _, problem = server.communicate(timeout=10)
    assert server.returncode == 1
    assert "no path /nowhere" in problem
