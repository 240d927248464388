"""One session to one origin, where it is decided what leaves for which host.

It neither retries nor waits.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from ciops.errors import UsageError
from ciops.plumbing._http_replies import ForeignHostError, Rate, UnavailableError, rate_of
from ciops.plumbing._http_transfer import (
    Origin,
    checked_base,
    is_loopback,
    origin_of,
    redirect_target,
)

if TYPE_CHECKING:
    import requests

MAX_REDIRECTS: Final = 5
POOL_SIZE: Final = 32
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
USER_AGENT: Final = "triage-action"


class Wire:
    """Sends requests; the token and all given headers go to the base address's origin alone."""

    def __init__(
        self,
        service: str,
        base_url: str,
        token: str | None,
        auth: str,
        headers: Mapping[str, str],
        timeout: tuple[float, float],
        now: Callable[[], float],
    ) -> None:
        self.service = service
        self.base_url = checked_base(service, base_url)
        self.calls = 0
        self.rate = Rate(None, None, None)
        self._origin = origin_of(self.base_url)
        self._headers = {"Accept": "application/json", **headers}
        self._secrets: list[str] = []
        if token and token.strip():
            self._headers["Authorization"] = self._authorization(token.strip(), auth)
        self._timeout = timeout
        self._now = now
        self._lock = threading.Lock()
        self._session = _new_session()

    def url(self, path: str) -> str:
        """A path below the base address, or an absolute address on its origin."""
        if "://" not in path:
            return f"{self.base_url}/{path.lstrip('/')}"
        if self._origin is None or origin_of(path) != self._origin:
            raise ForeignHostError(
                f"{self.service}: an address outside {self.base_url} is not asked",
                "Only the configured host gets the token",
            )
        return path

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        query: list[tuple[str, str]],
        data: bytes | None,
        *,
        follow: bool,
    ) -> requests.Response:
        """One request, and the redirects that a GET may follow; the body is not read yet."""
        for _ in range(MAX_REDIRECTS + 1):
            response = self._exchange(method, url, headers, query, data)
            location = response.headers.get("location")
            if response.status_code not in REDIRECTS or not location:
                return response
            if method != "GET" or not follow:
                return response
            response.close()
            url, query = redirect_target(self._origin, response.url, location), []
        call = call_name(method, url)
        raise UnavailableError(self.service, call, 0, f"more than {MAX_REDIRECTS} redirects")

    def _exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        query: list[tuple[str, str]],
        data: bytes | None,
    ) -> requests.Response:
        import requests

        origin = origin_of(url)
        own = origin == self._origin
        # On another host: nothing that was given to us, so no token under any name.
        everything = {**self._headers, **headers} if own else {"Accept": "*/*", **headers}
        with self._lock:
            self.calls += 1
        try:
            response = self._session.request(
                method,
                url,
                params=query,
                data=data,
                headers=everything,
                timeout=self._timeout,
                proxies=_without_proxy(origin),
                allow_redirects=False,
                stream=True,
            )
        except OSError as error:
            if isinstance(error, requests.RequestException):
                raise
            raise UsageError(
                f"{self.service}: REQUESTS_CA_BUNDLE names no file that is there", "Correct it"
            ) from None
        if own:
            self.rate = rate_of(response.headers, self._now())
        return response

    def close(self) -> None:
        self._session.close()

    def hidden(self, text: str) -> str:
        """Text without the token in any form that it was sent in."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def _authorization(self, token: str, auth: str) -> str:
        if not token.isascii() or not token.isprintable():
            raise UsageError(
                f"{self.service}: the token holds a line break or a character that no token has",
                "Set it again",
            )
        if auth != "basic":
            self._secrets = [token]
            return f"Bearer {token}"
        packed = base64.b64encode(token.encode()).decode()
        password = token.partition(":")[2]
        self._secrets = [secret for secret in (token, packed, password) if secret]
        return f"Basic {packed}"


def _new_session() -> requests.Session:
    from http.cookiejar import DefaultCookiePolicy

    import requests
    from requests.adapters import HTTPAdapter

    session = requests.Session()
    session.auth = _as_it_is  # any auth at all keeps requests from reading a .netrc
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.headers.clear()
    session.headers.update({"User-Agent": USER_AGENT, "Accept-Encoding": "gzip, deflate"})
    # Else requests reads the whole body of a redirect, which may have no end, and parses where to.
    session.get_redirect_target = _nowhere  # type: ignore[assignment, method-assign]
    for scheme in ("https://", "http://"):
        session.mount(scheme, HTTPAdapter(pool_maxsize=POOL_SIZE))
    return session


def _without_proxy(origin: Origin | None) -> dict[str, str] | None:
    """What is on this machine is asked directly: a proxy would see its token, and not reach it."""
    return {"no_proxy": origin[1]} if origin is not None and is_loopback(origin[1]) else None


def _nowhere(response: requests.Response) -> None:  # noqa: ARG001
    return None


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def call_name(method: str, url: str) -> str:
    """Method and path: a query may hold what nobody else should read."""
    return f"{method} {urlsplit(url).path}"
