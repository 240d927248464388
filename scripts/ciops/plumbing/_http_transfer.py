"""Addresses, bodies and downloads: what moves over the wire, without retries or waits.

Callers import from `http`.
"""

from __future__ import annotations

import ipaddress
import json
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import quote, urljoin, urlsplit

from ciops.errors import UsageError
from ciops.plumbing._http_replies import ForeignHostError, Json, Reply

if TYPE_CHECKING:
    import requests

MAX_JSON_BYTES: Final = 64 * 1024 * 1024
MAX_BODY_SECONDS: Final = 300.0
CHUNK: Final = 256 * 1024
DEFAULT_PORTS: Final = {"https": 443, "http": 80}

_HOST: Final = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63}){0,9}\.?")

Origin: TypeAlias = tuple[str, str, int]


class BrokenBodyError(Exception):
    """A body that was cut short, is not JSON, or took too long; the words say which."""


class OversizedBodyError(Exception):
    """A body larger than MAX_JSON_BYTES, packed or unpacked."""


def segment(text: str | int) -> str:
    """A value as one segment of a path, whatever it holds; UsageError for "", "." and ".."."""
    plain = str(text)
    if plain in ("", ".", ".."):
        raise UsageError(f'"{plain}" cannot be part of an address', "Check the name")
    return quote(plain, safe="")


def origin_of(url: str) -> Origin | None:
    """Scheme, host and port; None for what parsers may read in different ways."""
    if not url.isascii() or re.search(r"[\s\\\x00-\x1f\x7f]", url):
        return None
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port or DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return None
    if port is None or "@" in parts.netloc or not (_HOST.fullmatch(host) or _is_ip6(host)):
        return None
    return parts.scheme, host, port


def _is_ip6(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).version == 6
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    """localhost, 127.0.0.0/8 or ::1, by name only."""
    return host in ("localhost", "::1") or bool(re.fullmatch(r"127(?:\.\d{1,3}){3}", host))


# Where the address of a service is given.
_ADDRESS: Final = {
    "GitHub": "GITHUB_API_URL",
    "GitLab": "--gitlab-url, GITLAB_URL or CI_SERVER_URL",
    "Jira": "JIRA_BASE_URL",
}


def checked_base(service: str, url: str) -> str:
    """A base address without its trailing slash; UsageError when a token must not go there."""
    url = url.strip().rstrip("/")
    origin = origin_of(url)
    if origin is None or urlsplit(url).query or urlsplit(url).fragment:
        step = f"Write {_ADDRESS.get(service, 'it')} as https://host/path"
        raise UsageError(
            f"{service}: the API address is not a plain http(s) URL",
            f"{step}, without user, password or query",
        )
    scheme, host, _ = origin
    if scheme == "http" and not is_loopback(host):
        raise UsageError(f"{service}: http://{host} would carry the token unencrypted", "Use https")
    return url


def redirect_target(base: Origin | None, url: str, location: str) -> str:
    """Where a redirect leads; ForeignHostError for what no API has a reason to name.

    Another host is allowed (object storage); a machine's own or link-local addresses are not,
    unless the service itself is on loopback.
    """
    target = joined(url, location)
    origin = origin_of(target)
    if origin is None:
        raise ForeignHostError("the service redirects to an address that is no plain http(s) URL")
    host = origin[1]
    if _is_inside(host) and not (base and is_loopback(base[1])):
        raise ForeignHostError(f"the service redirects to {host}, which is this machine or network")
    return target


def joined(url: str, reference: str) -> str:
    """The address that a reference leads to; ForeignHostError when no parser can tell."""
    try:
        return urljoin(url, reference)
    except ValueError:
        raise ForeignHostError("the service names an address that cannot be read") from None


def _is_inside(host: str) -> bool:
    """Whether a host is this machine or its link, in any spelling that needs no look-up."""
    name = host.rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:  # 127.1, 0x7f.1 and 2130706433 are 127.0.0.1 to those who connect
        address = ipaddress.ip_address(socket.inet_aton(name) if ":" not in name else name)
    except (OSError, ValueError):
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    address = mapped or address
    zero = address.version == 4 and address.packed[0] == 0
    return address.is_loopback or address.is_link_local or address.is_unspecified or zero


def read_json(response: requests.Response, clock: Callable[[], float] = time.monotonic) -> Json:
    """The parsed body, or its text when it is an error page; None when empty.

    Raises BrokenBodyError and OversizedBodyError.
    """
    body = _read_body(response, clock)
    if not body.strip():
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        if response.status_code >= 400:
            return body[:4096].decode("utf-8", errors="replace")
        kind = response.headers.get("content-type", "").split(";")[0] or "nothing"
        raise BrokenBodyError(f"its body is not JSON (content type {kind[:60]})") from None


def _read_body(response: requests.Response, clock: Callable[[], float]) -> bytes:
    from urllib3.exceptions import HTTPError

    announced = response.headers.get("content-length", "")
    if announced.isdigit() and int(announced[:15]) > MAX_JSON_BYTES:
        raise OversizedBodyError
    deadline = clock() + MAX_BODY_SECONDS
    parts: list[bytes] = []
    size = 0
    try:
        # By read1: read waits until a piece is full, and one byte a minute would go on for days.
        while part := response.raw.read1(CHUNK, decode_content=True):
            parts.append(part)
            size += len(part)
            if size > MAX_JSON_BYTES:
                raise OversizedBodyError
            if clock() > deadline:
                raise BrokenBodyError(f"its body took more than {MAX_BODY_SECONDS:.0f} seconds")
    except HTTPError:
        raise BrokenBodyError("its body was cut short") from None
    return b"".join(parts)


class Download:
    """A body in chunks of at most CHUNK bytes, taken up again where the connection broke.

    Iterate it once. `open_with(headers)` starts a request and answers None where there are no
    bytes behind the asked position; `wait(words, position)` waits before the next try or raises.
    """

    def __init__(
        self,
        open_with: Callable[[Mapping[str, str]], requests.Response | None],
        wait: Callable[[str, int], None],
        offset: int,
    ) -> None:
        self._open_with = open_with
        self._wait = wait
        self._position = offset
        self._is_packed = False
        self._tag = ""
        self._response = self._open()
        self.status = self._response.status_code if self._response is not None else 416
        self.headers: Mapping[str, str] = {} if self._response is None else self._response.headers

    def __iter__(self) -> Iterator[bytes]:
        while self._response is not None:
            try:
                for part in _stream(self._response, self._position):
                    self._position += len(part)
                    yield part
                return
            except BrokenBodyError as error:
                self.close()
                self._wait(f"{error} after {self._position:,} bytes", self._position)
                self._response = self._open()

    def close(self) -> None:
        """Let go of the connection."""
        if self._response is not None:
            self._response.close()

    def _open(self) -> requests.Response | None:
        headers = {"Accept": "*/*", "Accept-Encoding": "identity"}
        if self._position and not self._is_packed:
            headers["Range"] = f"bytes={self._position}-"
            headers |= {"If-Range": self._tag} if self._tag else {}
        response = self._open_with(headers)
        if response is None:
            return None
        tag = response.headers.get("etag", "")
        self._tag = "" if tag.startswith("W/") else tag
        # A server may pack all the same; positions are then those of the packed bytes.
        self._is_packed = response.headers.get("content-encoding", "identity") != "identity"
        if self._is_packed and response.status_code == 206:
            response.close()
            return self._open()
        return response


def _stream(response: requests.Response, start: int) -> Iterator[bytes]:
    """The bytes from position `start` on, which the reply may or may not begin at.

    By read1, which hands on what has come before it reports that the rest is missing.
    """
    from urllib3.exceptions import HTTPError

    skip = start - _first_position(response)
    if skip < 0:
        raise BrokenBodyError("the server left out bytes")
    try:
        while part := response.raw.read1(CHUNK, decode_content=True):
            if skip < len(part):
                yield part[skip:] if skip else part
            skip = max(0, skip - len(part))
    except HTTPError:
        raise BrokenBodyError("the download was cut short") from None


def _first_position(response: requests.Response) -> int:
    """Where in the whole the body begins: a server may ignore a Range and begin at 0."""
    if response.status_code != 206:
        return 0
    match = re.match(r"bytes (\d{1,15})-", response.headers.get("content-range", ""))
    return int(match.group(1)) if match else 0


def query_of(params: Mapping[str, object] | None) -> list[tuple[str, str]]:
    """Query pairs: None is left out, flags are true/false, a list repeats its key."""
    pairs: list[tuple[str, str]] = []
    for key, value in (params or {}).items():
        for item in value if isinstance(value, list | tuple) else [value]:
            if item is not None:
                text = str(item).lower() if isinstance(item, bool) else str(item)
                pairs.append((key, text))
    return pairs


def next_link(reply: Reply) -> str | None:
    """The address of the following page, by the Link header."""
    from requests.utils import parse_header_links

    header = reply.headers.get("link", "")
    for link in parse_header_links(header) if header else []:
        if link.get("rel") == "next":
            return joined(reply.url, link["url"])
    return None
