"""One service over HTTP: retries, rate limits, paging, downloads, and a token that stays put.

The token and every other header of a client go to the configured scheme, host and port only: a
redirect elsewhere (object storage) is followed without them, an address or a Link to another
host is refused. Plain http is for loopback. A .netrc is never read; proxies and CA bundles are
taken from the environment as requests does.

Retries use urllib3's `Retry` for what to repeat, how often, and the backoff. The loop around it
is here because the waits are capped and announced, a body cut short counts as a failure, GitHub
says "slow down" with 403 too, and a POST is repeated only after a look shows that it did not
land. (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api)

A client may be used from several threads. Errors are subclasses of `HttpError`.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urljoin, urlsplit

from ciops.errors import UsageError
from ciops.plumbing._http_replies import (
    UNTOLD_WAIT,
    ForbiddenError,
    ForeignHostError,
    GoneError,
    HttpError,
    InvalidError,
    Json,
    MovedError,
    NotFoundError,
    Rate,
    RateLimitedError,
    Reply,
    TooLargeError,
    UnauthorizedError,
    UnavailableError,
    is_rate_limit,
    rate_of,
    reason_of,
    refusal,
    wait_asked,
)
from ciops.plumbing._http_transfer import (
    BrokenBodyError,
    Download,
    OversizedBodyError,
    checked_base,
    origin_of,
    query_of,
    read_json,
    redirect_target,
    segment,
)

if TYPE_CHECKING:
    import requests
    from urllib3.util.retry import Retry

__all__ = [
    "Client",
    "Download",
    "ForbiddenError",
    "ForeignHostError",
    "GoneError",
    "HttpError",
    "InvalidError",
    "Json",
    "MovedError",
    "NotFoundError",
    "Rate",
    "RateLimitedError",
    "Reply",
    "TooLargeError",
    "UnauthorizedError",
    "UnavailableError",
    "segment",
]

TRIES: Final = 5
MAX_WAIT: Final = 120.0
MAX_REDIRECTS: Final = 5
POOL_SIZE: Final = 32
RETRIED_STATUSES: Final = frozenset({408, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524})
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})

Landed = Callable[[], object]
TRY_LATER: Final = "Try again later; a rerun takes up where this one stopped"


@dataclass(frozen=True, slots=True)
class _Trouble:
    """A failure that another try may mend: the error if it does not, the wait if one was asked.

    `sent` is False when the service certainly did not act on the request, `done` is True when it
    said that it had.
    """

    error: HttpError
    wait: float | None = None
    sent: bool = True
    done: bool = False


class Client:
    """A service at one base address; relative paths are below it.

    `auth="basic"` takes "user:secret" as token. `max_wait` bounds each wait in seconds: what
    asks for more raises RateLimitedError at once. `log` hears of every wait.
    """

    def __init__(
        self,
        service: str,
        base_url: str,
        token: str | None = None,
        *,
        auth: Literal["bearer", "basic"] = "bearer",
        headers: Mapping[str, str] | None = None,
        timeout: tuple[float, float] = (10.0, 60.0),
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
        log: Callable[[str], None] = lambda _: None,
        max_wait: float = MAX_WAIT,
    ) -> None:
        self.service = service
        self.base_url = checked_base(service, base_url)
        self.calls = 0
        self.rate = Rate(None, None, None)
        origin = origin_of(self.base_url)
        assert origin is not None  # checked_base saw to it
        self._origin = origin
        self._secrets: list[str] = []
        self._headers = {"Accept": "application/json", **(headers or {})}
        if token and token.strip():
            self._headers["Authorization"] = self._authorization(token.strip(), auth)
        self._timeout = timeout
        self._sleep = sleep
        self._now = now
        self._log = log
        self._max_wait = max_wait
        self._lock = threading.Lock()
        self._session = _new_session()

    def get(
        self, path: str, params: Mapping[str, object] | None = None, *, follow: bool = True
    ) -> Reply:
        """GET; with `follow` false a redirect raises MovedError."""
        return self._call("GET", path, params=params, follow=follow)

    def pages(self, path: str, params: Mapping[str, object] | None = None) -> Iterator[Reply]:
        """Every page of a list, one at a time, by the Link header."""
        reply = self.get(path, params)
        while True:
            yield reply
            following = _next_link(reply)
            if following is None:
                return
            if following == reply.url:
                call = _call_name("GET", following)
                raise UnavailableError(self.service, call, reply.status, "a page links to itself")
            reply = self.get(following)

    def items(
        self, path: str, params: Mapping[str, object] | None = None, key: str | None = None
    ) -> Iterator[Json]:
        """The elements of every page; `key` names the list where a page is an object."""
        for page in self.pages(path, params):
            rows = page.data if key is None else (page.data or {}).get(key)
            if not isinstance(rows, list):
                call = _call_name("GET", page.url)
                raise UnavailableError(self.service, call, page.status, "the page holds no list")
            yield from rows

    def post(self, path: str, body: Json, landed: Landed | None = None) -> Reply:
        """POST. After a lost or failed answer `landed` looks whether the service acted.

        It returns what came of the request (a Reply or its data), or None when nothing did: only
        then is the request sent again. Without `landed` it is never sent twice, unless the
        service surely did not act on it (rate limit, no connection).
        """
        return self._call("POST", path, body=body, landed=landed)

    def put(self, path: str, body: Json) -> Reply:
        """PUT, repeated as needed: it must be idempotent."""
        return self._call("PUT", path, body=body)

    def delete(self, path: str) -> Reply:
        """DELETE, repeated as needed: gone at a second try counts as done."""
        return self._call("DELETE", path)

    @contextmanager
    def download(self, path: str, offset: int = 0) -> Iterator[Download]:
        """A body as an iterator of chunks with `.status` and `.headers`; resumed where it broke."""
        url = self._url(path)
        call = _call_name("GET", url)
        tries: Retry | None = self._schedule()
        asked = {"Accept": "*/*", "Accept-Encoding": "identity"}

        def wait(words: str) -> None:
            nonlocal tries
            trouble = _Trouble(UnavailableError(self.service, call, 0, words))
            tries = self._pause(tries, trouble, call)
            if tries is None:
                raise trouble.error

        def open_at(position: int) -> requests.Response | None:
            if position:
                asked["Range"] = f"bytes={position}-"
            response = self._open(url, call, asked)
            if response is not None and _strong_tag(response):
                asked["If-Range"] = _strong_tag(response)
            return response

        transfer = Download(open_at, wait, offset)
        try:
            yield transfer
        finally:
            transfer.close()

    # --- one call, until it succeeds or is given up ---------------------------------------

    def _call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, object] | None = None,
        body: Json = None,
        landed: Landed | None = None,
        follow: bool = True,
    ) -> Reply:
        url = self._url(path)
        call = _call_name(method, url)
        tries: Retry | None = self._schedule()
        sent = False
        while True:
            try:
                outcome = self._once(method, url, call, query_of(params), body, follow)
            except NotFoundError:
                if method == "DELETE" and sent:
                    return Reply(204, {}, None, url)
                raise
            if isinstance(outcome, Reply):
                return outcome
            sent = sent or outcome.sent
            uncertain = method == "POST" and outcome.sent
            if uncertain and landed is None:
                raise outcome.error
            tries = self._pause(tries, outcome, call)
            if uncertain and landed is not None:
                found = _look(landed, outcome)
                if found is not None:
                    return found if isinstance(found, Reply) else Reply(200, {}, found, url)
            if tries is None or (uncertain and outcome.done):
                raise outcome.error

    def _once(
        self,
        method: str,
        url: str,
        call: str,
        query: list[tuple[str, str]],
        body: Json,
        follow: bool,
    ) -> Reply | _Trouble:
        import requests

        headers = {} if body is None else {"Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        try:
            with self._send(method, url, headers, query, data, follow) as response:
                return self._judged(call, response)
        except requests.RequestException as error:
            return self._no_answer(call, error)

    def _judged(self, call: str, response: requests.Response) -> Reply | _Trouble:
        """A good reply, or what stands in its way; raises what no other try will change."""
        status = response.status_code
        try:
            reply = Reply(status, response.headers, read_json(response), response.url)
        except BrokenBodyError as error:
            unavailable = UnavailableError(self.service, call, status, str(error))
            return _Trouble(unavailable, done=status < 300)
        except OversizedBodyError:
            reason = "its body is larger than 64 MiB"
            raise TooLargeError(self.service, call, status, reason) from None
        if status < 300:
            return reply
        if status in REDIRECTS:
            location = self._hidden(response.headers.get("location", "somewhere"))
            raise MovedError(self.service, call, status, location.split("?")[0])
        return self._failure(call, reply)

    def _failure(self, call: str, reply: Reply) -> _Trouble:
        reason = self._hidden(reason_of(reply.data))
        asked = wait_asked(reply.headers, self._now())
        if is_rate_limit(reply, reason):
            wait = UNTOLD_WAIT if asked is None else asked
            until = self._now() + wait
            error = RateLimitedError(self.service, call, reply.status, reason, until)
            return _Trouble(error, max(wait, 1.0), sent=False)
        if reply.status in RETRIED_STATUSES:
            unavailable = UnavailableError(self.service, call, reply.status, reason, TRY_LATER)
            return _Trouble(unavailable, asked)
        raise refusal(self.service, call, reply, reason)

    def _no_answer(self, call: str, error: requests.RequestException) -> _Trouble:
        """The words are ours: those of requests hold whole addresses, query and all."""
        import requests

        reason, next_step = "the connection broke", TRY_LATER
        if isinstance(error, requests.exceptions.SSLError):
            next_step = "If the certificate is your own, name its CA in REQUESTS_CA_BUNDLE"
            reason = "its TLS certificate cannot be verified"
            raise UnavailableError(self.service, call, 0, reason, next_step) from None
        if isinstance(error, requests.exceptions.ProxyError):
            reason, next_step = "the proxy does not answer", "Check HTTPS_PROXY and NO_PROXY"
        elif isinstance(error, requests.Timeout):
            reason = "it did not answer in time"
        elif not _was_sent(error):
            reason, next_step = "there is no connection", "Check the address and the network"
        unavailable = UnavailableError(self.service, call, 0, reason, next_step)
        return _Trouble(unavailable, sent=_was_sent(error))

    def _open(self, url: str, call: str, headers: dict[str, str]) -> requests.Response | None:
        """A streamed body; None where there are no bytes behind the asked position."""
        import requests

        tries: Retry | None = self._schedule()
        while True:
            try:
                response = self._send("GET", url, headers, [], None, follow=True)
            except requests.RequestException as error:
                outcome: Reply | _Trouble = self._no_answer(call, error)
            else:
                if response.status_code in (200, 206):
                    return response
                with response:
                    if response.status_code == 416 and "Range" in headers:
                        return None
                    outcome = self._judged(call, response)
            if isinstance(outcome, Reply):
                return None  # 204 and the like
            tries = self._pause(tries, outcome, call)
            if tries is None:
                raise outcome.error

    # --- the wire --------------------------------------------------------------------------

    def _send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        query: list[tuple[str, str]],
        data: bytes | None,
        follow: bool,
    ) -> requests.Response:
        """One request and the redirects that a GET may follow; the body is not read yet."""
        for _ in range(MAX_REDIRECTS):
            own = origin_of(url) == self._origin
            # On another host: nothing that we were given, so no token under any name.
            all_headers = {**self._headers, **headers} if own else {"Accept": "*/*", **headers}
            with self._lock:
                self.calls += 1
            response = self._session.request(
                method,
                url,
                params=query,
                data=data,
                headers=all_headers,
                timeout=self._timeout,
                allow_redirects=False,
                stream=True,
            )
            if own and response.status_code < 500:
                self.rate = rate_of(response.headers)
            location = response.headers.get("location")
            if response.status_code not in REDIRECTS or not location:
                return response
            if not follow or method != "GET":
                return response
            response.close()
            url, query = redirect_target(self._origin, response.url, location), []
        call = _call_name(method, url)
        raise UnavailableError(self.service, call, 0, f"more than {MAX_REDIRECTS} redirects")

    def _url(self, path: str) -> str:
        if "://" not in path:
            return f"{self.base_url}/{path.lstrip('/')}"
        if origin_of(path) != self._origin:
            raise ForeignHostError(
                f"{self.service}: an address on another host than {self._origin[1]} is not asked",
                "Only the configured host gets the token",
            )
        return path

    def _schedule(self) -> Retry:
        from urllib3.util.retry import Retry

        return Retry(total=TRIES - 1, backoff_factor=1.0, backoff_max=30.0, backoff_jitter=1.0)

    def _pause(self, tries: Retry | None, trouble: _Trouble, call: str) -> Retry | None:
        """Wait before the next try; None when there is none. Raises when asked to wait too long."""
        from urllib3.exceptions import MaxRetryError

        try:
            tries = tries.increment() if tries is not None else None
        except MaxRetryError:
            tries = None
        if tries is None:
            return None
        wait = tries.get_backoff_time() if trouble.wait is None else trouble.wait
        if wait > self._max_wait:
            raise trouble.error
        reason = trouble.error.reason or f"status {trouble.error.status}"
        self._log(f"{self.service}: {call}: {reason}; trying again in {wait:.0f} s")
        self._sleep(wait)
        return tries

    # --- secrets ---------------------------------------------------------------------------

    def _authorization(self, token: str, auth: str) -> str:
        if not token.isascii() or not token.isprintable():
            raise UsageError(
                f"{self.service}: the token holds a line break or a character that no token has",
                "Set it again",
            )
        self._secrets.append(token)
        if auth == "bearer":
            return f"Bearer {token}"
        packed = base64.b64encode(token.encode()).decode()
        self._secrets += [packed, token.partition(":")[2]]
        return f"Basic {packed}"

    def _hidden(self, text: str) -> str:
        for secret in filter(None, self._secrets):
            text = text.replace(secret, "***")
        return text


def _new_session() -> requests.Session:
    from http.cookiejar import DefaultCookiePolicy

    import requests
    from requests.adapters import HTTPAdapter

    session = requests.Session()
    session.auth = _as_it_is  # any auth at all keeps requests from reading a .netrc
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.headers.clear()
    session.headers.update({"User-Agent": "triage-action", "Accept-Encoding": "gzip, deflate"})
    for scheme in ("https://", "http://"):
        session.mount(scheme, HTTPAdapter(pool_maxsize=POOL_SIZE))
    return session


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _was_sent(error: requests.RequestException) -> bool:
    """Whether the request may have reached the service."""
    import requests
    from urllib3.exceptions import ConnectTimeoutError, MaxRetryError, NewConnectionError

    if isinstance(error, requests.ConnectTimeout | requests.exceptions.ProxyError):
        return False
    cause = error.args[0] if error.args else None
    reason = cause.reason if isinstance(cause, MaxRetryError) else None
    return not isinstance(reason, ConnectTimeoutError | NewConnectionError)


def _look(landed: Landed, trouble: _Trouble) -> object:
    try:
        return landed()
    except HttpError:
        raise trouble.error from None


def _call_name(method: str, url: str) -> str:
    """Method and path: a query may hold what nobody else should read."""
    return f"{method} {urlsplit(url).path}"


def _next_link(reply: Reply) -> str | None:
    from requests.utils import parse_header_links

    header = reply.headers.get("link", "")
    for link in parse_header_links(header) if header else []:
        if link.get("rel") == "next":
            return urljoin(reply.url, link["url"])
    return None


def _strong_tag(response: requests.Response) -> str:
    tag = response.headers.get("etag", "")
    return "" if tag.startswith("W/") else tag
