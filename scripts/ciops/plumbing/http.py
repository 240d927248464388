"""One service over HTTP: retries, rate limits, paging, downloads, and a token that stays put.

The token and every other header of a client go to the configured scheme, host and port only: a
redirect elsewhere (object storage) is followed without them, an address or a Link to another
host is refused. Plain http is for loopback, which no proxy is asked for. A .netrc is never read;
other proxies and CA bundles are taken from the environment as requests does.

urllib3's `Retry` counts the tries and sets the backoff. The loop around it is here because waits
are capped and announced, a body cut short counts as a failure, GitHub says "slow down" with 403
too, and a POST is repeated only after a look shows that it did not land.
(https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api)

Errors are subclasses of `HttpError`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ciops.plumbing._http_replies import (
    TRY_LATER,
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
    Trouble,
    UnauthorizedError,
    UnavailableError,
    failure,
    no_answer,
    reason_of,
)
from ciops.plumbing._http_transfer import (
    BrokenBodyError,
    Download,
    OversizedBodyError,
    next_link,
    query_of,
    read_json,
    segment,
)
from ciops.plumbing._http_wire import REDIRECTS, Wire, call_name
from ciops.plumbing.interruption import doing

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
SETTLING: Final = 2.0  # seconds for a POST whose answer was lost to show, before looking for it

MAX_PAGES: Final = 10_000

PROGRESS: Final = 1024 * 1024  # bytes that earn a download its tries again

Landed = Callable[[], object]


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    url: str
    query: list[tuple[str, str]]
    data: bytes | None = None
    follow: bool = True

    @property
    def call(self) -> str:
        return call_name(self.method, self.url)


class Client:
    """A service at one base address; relative paths are below it. Safe in several threads.

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
        self._wire = Wire(service, base_url, token, auth, headers or {}, timeout, now)
        self._sleep = sleep
        self._now = now
        self._log = log
        self._max_wait = max_wait

        self.close = self._wire.close  # lets go of the connections that are kept for reuse

    @property
    def calls(self) -> int:
        """Requests sent so far, repeated ones and redirects included."""
        return self._wire.calls

    @property
    def rate(self) -> Rate:
        """The rate limit that the last reply told of."""
        return self._wire.rate

    def get(
        self, path: str, params: Mapping[str, object] | None = None, *, follow: bool = True
    ) -> Reply:
        """GET; with `follow` false a redirect raises MovedError."""
        return self._call(_Request("GET", self._wire.url(path), query_of(params), None, follow))

    def pages(
        self, path: str, params: Mapping[str, object] | None = None, *, follow: bool = True
    ) -> Iterator[Reply]:
        """Every page of a list, one at a time, by the Link header."""
        reply = self.get(path, params, follow=follow)
        seen = {reply.url}
        while True:
            yield reply
            following = next_link(reply)
            if following is None:
                return
            if following in seen or len(seen) >= MAX_PAGES:
                what = "its pages link in a circle" if following in seen else "it has no last page"
                raise self._unavailable(call_name("GET", reply.url), what)
            reply = self.get(following, follow=follow)
            seen.update((following, reply.url))

    def items(
        self,
        path: str,
        params: Mapping[str, object] | None = None,
        key: str | None = None,
        *,
        follow: bool = True,
    ) -> Iterator[Json]:
        """The elements of every page; `key` names the list where a page is an object."""
        for page in self.pages(path, params, follow=follow):
            rows = page.data.get(key) if key and isinstance(page.data, dict) else page.data
            if not isinstance(rows, list):
                raise self._unavailable(call_name("GET", page.url), "the page holds no list")
            yield from rows

    def post(self, path: str, body: Json, landed: Landed | None = None) -> Reply:
        """POST. After a lost or failed answer `landed` looks whether the service acted.

        It returns what came of the request (a Reply or its data), or None when nothing did: only
        then is the request sent again. Without `landed` it is never sent twice, unless the
        service surely did not act on it (rate limit, no connection).
        """
        return self._call(self._write("POST", path, body), landed)

    def put(self, path: str, body: Json) -> Reply:
        """PUT, repeated as needed: it must be idempotent."""
        return self._call(self._write("PUT", path, body))

    def delete(self, path: str) -> Reply:
        """DELETE, repeated as needed: gone at a later try counts as done."""
        return self._call(self._write("DELETE", path, None))

    @contextmanager
    def download(self, path: str, offset: int = 0) -> Iterator[Download]:
        """A body as an iterator of chunks with `.status` and `.headers`; resumed where it broke."""
        request = _Request("GET", self._wire.url(path), [])
        tries: Retry | None = self._schedule()
        reached = offset

        def wait(words: str, position: int) -> None:
            nonlocal tries, reached
            if position - reached >= PROGRESS:
                tries, reached = self._schedule(), position
            trouble = Trouble(self._unavailable(request.call, words))
            tries = self._pause(tries, trouble, request.call)
            if tries is None:
                raise trouble.error

        transfer = Download(lambda headers: self._open(request, headers), wait, offset)
        try:
            yield transfer
        finally:
            transfer.close()

    def _write(self, method: str, path: str, body: Json) -> _Request:
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        return _Request(method, self._wire.url(path), [], data)

    def _call(self, request: _Request, landed: Landed | None = None) -> Reply:
        with doing(f"{self.service}: {request.call}"):
            return self._repeated(request, landed)

    def _repeated(self, request: _Request, landed: Landed | None) -> Reply:
        """Until it succeeds, is refused, or there are no more tries."""
        tries: Retry | None = self._schedule()
        sent = False
        while True:
            try:
                outcome = self._once(request)
            except NotFoundError:
                if request.method == "DELETE" and sent:
                    return Reply(204, {}, None, request.url)
                raise
            if isinstance(outcome, Reply):
                return outcome
            sent = sent or outcome.sent
            uncertain = request.method == "POST" and outcome.sent
            if uncertain and landed is None:
                raise outcome.error
            tries = self._pause(tries, outcome, request.call, SETTLING if uncertain else 0.0)
            found = _look(landed, outcome) if uncertain and landed is not None else None
            if found is not None:
                return found if isinstance(found, Reply) else Reply(200, {}, found, request.url)
            if tries is None or (uncertain and outcome.done):
                raise outcome.error

    def _once(self, request: _Request) -> Reply | Trouble:
        import requests

        headers = {} if request.data is None else {"Content-Type": "application/json"}
        try:
            with self._send(request, headers) as response:
                return self._judged(request, response)
        except requests.RequestException as error:
            return no_answer(self.service, request.call, error)

    def _send(self, request: _Request, headers: Mapping[str, str]) -> requests.Response:
        asked = (request.method, request.url, headers, request.query, request.data)
        return self._wire.send(*asked, follow=request.follow)

    def _open(self, request: _Request, headers: Mapping[str, str]) -> requests.Response | None:
        """A streamed body; None where there are no bytes behind the asked position."""
        import requests

        tries: Retry | None = self._schedule()
        while True:
            try:
                response = self._send(request, headers)
            except requests.RequestException as error:
                outcome: Reply | Trouble = no_answer(self.service, request.call, error)
            else:
                if response.status_code in (200, 206):
                    return response
                with response:
                    if response.status_code in (204, 416):
                        return None
                    outcome = self._judged(request, response)
            if isinstance(outcome, Reply):
                return None
            tries = self._pause(tries, outcome, request.call)
            if tries is None:
                raise outcome.error

    def _judged(self, request: _Request, response: requests.Response) -> Reply | Trouble:
        """A good reply, or what stands in its way; raises what no other try will change."""
        status = response.status_code
        call = request.call
        try:
            reply = Reply(status, response.headers, read_json(response), response.url)
        except BrokenBodyError as error:
            reason = self._wire.hidden(str(error))
            return Trouble(self._unavailable(call, reason, status), done=status < 300)
        except OversizedBodyError:
            reason = "its body is larger than 64 MiB"
            raise TooLargeError(self.service, call, status, reason) from None
        if status < 300:
            lost = reply.data is None and status < 202 and request.method in ("GET", "POST")
            reason = "its body is empty"
            return Trouble(self._unavailable(call, reason, status), done=True) if lost else reply
        if status in REDIRECTS:
            location = response.headers.get("location", "somewhere else").split("?")[0]
            told = reason_of(location, self._wire.hidden)
            raise MovedError(self.service, call, status, told)
        reason = reason_of(reply.data, self._wire.hidden)
        return failure(self.service, call, reply, reason, self._now())

    def _unavailable(self, call: str, reason: str, status: int = 0) -> UnavailableError:
        return UnavailableError(self.service, call, status, reason, TRY_LATER)

    def _schedule(self) -> Retry:
        from urllib3.util.retry import Retry

        return Retry(total=TRIES - 1, backoff_factor=1.0, backoff_max=30.0, backoff_jitter=1.0)

    def _pause(
        self, tries: Retry | None, trouble: Trouble, call: str, least: float = 0.0
    ) -> Retry | None:
        """Wait before the next try; None when there is none. Raises when asked to wait too long."""
        from urllib3.exceptions import MaxRetryError

        try:
            tries = tries.increment() if tries is not None else None
        except MaxRetryError:
            tries = None
        if tries is None:
            return None
        wait = max(least, tries.get_backoff_time() if trouble.wait is None else trouble.wait)
        if wait > self._max_wait:
            raise trouble.error
        reason = trouble.error.reason or f"status {trouble.error.status}"
        when = f" in {wait:.0f} s" if wait >= 1 else ""
        self._log(f"{self.service}: {call}: {reason}; trying again{when}")
        self._sleep(wait)
        return tries


def _look(landed: Landed, trouble: Trouble) -> object:
    try:
        return landed()
    except HttpError:
        raise trouble.error from None
