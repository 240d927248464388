"""The fence around the suite refuses what it is there for, and nothing else."""

from __future__ import annotations

import socket
import threading
import urllib.request
from collections.abc import Callable
from contextlib import suppress

import pytest
import requests

from network_fence import fence, is_local


def look_up() -> object:
    return socket.getaddrinfo("api.github.com", 443)


def send() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"x", ("192.0.2.1", 53))


def connect() -> None:
    socket.create_connection(("192.0.2.1", 80), timeout=1)


LEAVING: dict[str, Callable[[], object]] = {
    "look-up": look_up,
    "datagram": send,
    "connection": connect,
    "requests": lambda: requests.get("https://api.github.com", timeout=1),
    "urllib": lambda: urllib.request.urlopen("http://192.0.2.1/", timeout=1),
    "by name": lambda: socket.gethostbyname("example.com"),
}


@pytest.mark.parametrize("leave", LEAVING.values(), ids=LEAVING)
def test_what_leaves_the_machine_is_refused_and_remembered(leave: Callable[[], object]) -> None:
    with fence() as refused, pytest.raises(OSError, match="tests stay on this machine"):
        leave()
    assert len(refused) == 1


def tried() -> None:
    with suppress(OSError):
        look_up()


def test_a_thread_does_not_get_out_either() -> None:
    with fence() as refused:
        thread = threading.Thread(target=tried)
        thread.start()
        thread.join()
    assert refused == ["api.github.com"]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", "127.9.9.9", "", None, b"::1"])
def test_this_machine_is_inside(host: object) -> None:
    assert is_local(host)


@pytest.mark.parametrize("host", ["localhost.evil.test", "10.0.0.1", "::ffff:8.8.8.8", "x"])
def test_another_machine_is_outside(host: str) -> None:
    assert not is_local(host)
