"""Refuses every connection and name look-up of this process that leaves the machine.

By the interpreter's own audit events, so it holds below requests, urllib3 and http.client alike,
in threads too (https://docs.python.org/3/library/audit_events.html). What a test refuses is
remembered: code that swallows the error cannot hide that it asked.
"""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Iterator
from contextlib import contextmanager

LOCAL_NAMES = frozenset({"localhost", "", "0.0.0.0", "::"})
CONNECTING = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
LOOKING_UP = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})

_open: list[list[str]] = []
_installed: list[bool] = []


class LeftTheMachineError(OSError):
    """Something asked for a host that is not this machine."""


def is_local(host: object) -> bool:
    """Whether a host names this machine without asking anybody."""
    if host is None:
        return True
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    if name.lower() in LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _hear(event: str, given: tuple[object, ...]) -> None:
    if not _open or event not in CONNECTING | LOOKING_UP:
        return
    place = given[0] if event in LOOKING_UP else given[-1]
    host = place[0] if isinstance(place, tuple) else place
    local_socket = event in CONNECTING and not isinstance(place, tuple)  # AF_UNIX and the like
    if local_socket or is_local(host):
        return
    _open[-1].append(str(host))
    raise LeftTheMachineError(f"{event} {host!r}: tests stay on this machine")


@contextmanager
def fence() -> Iterator[list[str]]:
    """Refuse while it is open; gives the hosts that were asked for."""
    if not _installed:  # an audit hook stays for the life of the process
        sys.addaudithook(_hear)
        _installed.append(True)
    refused: list[str] = []
    _open.append(refused)
    try:
        yield refused
    finally:
        _open.pop()
