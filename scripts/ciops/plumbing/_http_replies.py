"""What a service's reply means: an error with its next step, or a wait.

Callers import from `http`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ciops.errors import RefusedError, ServiceError
from ciops.plumbing._inert_text import clean_text

if TYPE_CHECKING:
    import requests

Json: TypeAlias = Any  # what json.loads gives: callers turn it into dataclasses

MESSAGE_LENGTH: Final = 300
RETRIED_STATUSES: Final = frozenset({408, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524})
TRY_LATER: Final = "Try again later; a rerun takes up where this one stopped"
UNTOLD_WAIT: Final = 60.0  # GitHub: "wait for at least one minute" when no header says how long
LONGEST_WAIT: Final = 366 * 86_400.0  # what is told of a wait beyond all reason
_LIMIT_WORDS: Final = re.compile(r"rate limit|abuse detection|too many requests", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `headers` are case-insensitive; `data` is parsed JSON, None for an empty body."""

    status: int
    headers: Mapping[str, str]
    data: Json
    url: str


@dataclass(frozen=True, slots=True)
class Rate:
    """A service's rate limit as last heard: requests left, requests in all, Unix time of reset."""

    remaining: int | None
    limit: int | None
    reset: float | None


class ForeignHostError(RefusedError):
    """An address on another host than the one that the token is for."""


class HttpError(ServiceError):
    """A call that did not succeed. `status` is 0 when there was no answer.

    `reason` is the service's own message, cut and cleaned. Nothing here holds a token or a query.
    """

    def __init__(
        self, service: str, call: str, status: int, reason: str, next_step: str = ""
    ) -> None:
        answer = f"answered {status}" if status else "failed"
        ending = f": {reason.rstrip('.')}" if reason else ""
        super().__init__(f"{service}: {call} {answer}{ending}", next_step)
        self.status = status
        self.reason = reason


class UnauthorizedError(HttpError):
    """401: no token, or one that the service does not take."""


class ForbiddenError(HttpError):
    """403: the token lacks a permission, which the error names where the service does."""


class NotFoundError(HttpError):
    """404: it is not there, or the token may not see it."""


class GoneError(HttpError):
    """410: it was deleted."""


class InvalidError(HttpError):
    """400, 409, 422 and the like: the service does not take the request as it is."""


class UnavailableError(HttpError):
    """No usable answer after every retry: 5xx, no connection, a body cut short."""


class TooLargeError(HttpError):
    """An answer larger than this module reads."""


class MovedError(HttpError):
    """301 and the like: a transferred issue, a renamed repository. `location` says where to."""

    def __init__(self, service: str, call: str, status: int, location: str) -> None:
        next_step = "Name the new place if that is what is meant"
        super().__init__(service, call, status, f"it has moved to {location}", next_step)
        self.location = location


class RateLimitedError(HttpError):
    """The service asks for a longer wait than allowed. `retry_at` is a Unix time."""

    def __init__(self, service: str, call: str, status: int, reason: str, retry_at: float) -> None:
        when = datetime.fromtimestamp(retry_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        super().__init__(
            service, call, status, reason, f"The rate limit ends at {when}; run again then"
        )
        self.retry_at = retry_at


@dataclass(frozen=True, slots=True)
class Trouble:
    """A failure that another try may mend: the error if it does not, the wait if one was asked.

    `sent` is False when the service certainly did not act on the request; `done` is True when it
    said that it had.
    """

    error: HttpError
    wait: float | None = None
    sent: bool = True
    done: bool = False


def failure(service: str, call: str, reply: Reply, reason: str, now: float) -> Trouble:
    """What an answer of 400 or more means; raises what no other try will change."""
    asked = _wait_asked(reply.headers, now)
    if _is_rate_limit(reply, reason):
        wait = min(LONGEST_WAIT, max(1.0, UNTOLD_WAIT if asked is None else asked))
        limited = RateLimitedError(service, call, reply.status, reason, now + wait)
        return Trouble(limited, wait, sent=False)
    if reply.status in RETRIED_STATUSES:
        return Trouble(UnavailableError(service, call, reply.status, reason, TRY_LATER), asked)
    raise _refusal(service, call, reply, reason)


def no_answer(service: str, call: str, error: requests.RequestException) -> Trouble:
    """In words of our own: those of requests hold whole addresses, query and all."""
    import requests

    reason, next_step = "the connection broke", TRY_LATER
    if isinstance(error, requests.exceptions.SSLError):
        reason = "its TLS certificate cannot be verified"
        next_step = "If the certificate is your own, name its CA in REQUESTS_CA_BUNDLE"
        raise UnavailableError(service, call, 0, reason, next_step) from None
    if isinstance(error, ValueError):  # an address, header or proxy setting of a wrong form
        reason, next_step = "the address or a proxy setting cannot be used", "Correct it"
        raise UnavailableError(service, call, 0, reason, next_step) from None
    if isinstance(error, requests.exceptions.ProxyError):
        reason, next_step = "the proxy does not answer", "Check HTTPS_PROXY and NO_PROXY"
    elif isinstance(error, requests.Timeout):
        reason = "it did not answer in time"
    elif not _was_sent(error):
        reason, next_step = "there is no connection", "Check the address and the network"
    unavailable = UnavailableError(service, call, 0, reason, next_step)
    return Trouble(unavailable, sent=_was_sent(error))


def _was_sent(error: requests.RequestException) -> bool:
    """Whether the request may have reached the service before it failed."""
    import requests
    from urllib3.exceptions import ConnectTimeoutError, MaxRetryError, NewConnectionError

    if isinstance(error, requests.ConnectTimeout | requests.exceptions.ProxyError):
        return False
    cause = error.args[0] if error.args else None
    reason = cause.reason if isinstance(cause, MaxRetryError) else None
    return not isinstance(reason, ConnectTimeoutError | NewConnectionError)


_BY_STATUS: Final[dict[int, tuple[type[HttpError], str]]] = {
    401: (
        UnauthorizedError,
        "Check that the token is set, is meant for this host and has not expired",
    ),
    404: (NotFoundError, "Check the name, and that the token may read it"),
    410: (GoneError, "It was deleted; there is nothing to do"),
}


def _refusal(service: str, call: str, reply: Reply, reason: str) -> HttpError:
    """The error for a reply that no retry will change."""
    if reply.status == 403:
        return ForbiddenError(service, call, 403, reason, _permission_wanted(reply.headers))
    kind, next_step = _BY_STATUS.get(reply.status, (InvalidError, ""))
    return kind(service, call, reply.status, reason, next_step)


def _permission_wanted(headers: Mapping[str, str]) -> str:
    """https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api"""
    if "required" in headers.get("x-github-sso", ""):
        return "Authorize the token for the organization's single sign-on"
    wanted = headers.get("x-accepted-github-permissions", "")
    if wanted:
        return f"The token lacks a permission: the service asks for {_printable(wanted, 200)}"
    wanted = headers.get("x-accepted-oauth-scopes", "")
    if wanted:
        return f"The token lacks a scope: the service takes any of {_printable(wanted, 200)}"
    return "Check the token's permissions for this repository or project"


def reason_of(data: Json, hide: Callable[[str], str]) -> str:
    """The service's message, from the shapes that GitHub, GitLab and Jira answer with.

    `hide` takes out the token before the text is cut: half of one must not stay behind.
    """
    if isinstance(data, str):
        return _printable(hide(re.sub(r"<[^>]*>", " ", clean_text(data))), MESSAGE_LENGTH)
    if not isinstance(data, dict):
        return ""
    parts: list[str] = []
    for key in ("message", "error", "error_description", "errorMessages", "errors"):
        parts.extend(_texts(data.get(key)))
    return _printable(hide(clean_text("; ".join(dict.fromkeys(parts)))), MESSAGE_LENGTH)


def _texts(value: Json, depth: int = 0) -> list[str]:
    if isinstance(value, str):
        return [value]
    if depth > 3:
        return []
    if isinstance(value, list):
        return [text for item in value[:10] for text in _texts(item, depth + 1)]
    if isinstance(value, dict):
        pairs = list(value.items())[:10]
        return [f"{key}: {text}" for key, item in pairs for text in _texts(item, depth + 1)]
    return []


def _printable(text: str, length: int) -> str:
    text = " ".join(clean_text(text[: 4 * length]).split())
    return text if len(text) <= length else text[:length] + "…"


def _is_rate_limit(reply: Reply, reason: str) -> bool:
    """429, or a 403 that speaks of a limit: GitHub's primary and secondary ones are 403 too."""
    if reply.status == 429:
        return True
    if reply.status != 403:
        return False
    spent = reply.headers.get("x-ratelimit-remaining", "").strip() == "0"
    return spent or "retry-after" in reply.headers or bool(_LIMIT_WORDS.search(reason))


def _wait_asked(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds until the service wants to be asked again, 0 or more; None when it does not say."""
    after = headers.get("retry-after")
    if after is not None:
        seconds = _retry_after(after.strip(), _served_at(headers, now))
        if seconds is not None:
            return seconds
    if headers.get("x-ratelimit-remaining", headers.get("ratelimit-remaining", "0")).strip() != "0":
        return None
    reset = rate_of(headers, now).reset
    return None if reset is None else max(0.0, reset - now)


def _retry_after(text: str, now: float) -> float | None:
    """Seconds or an HTTP date (https://www.rfc-editor.org/rfc/rfc9110#field.retry-after)."""
    number = _number(text)
    if number is not None:
        return max(0.0, number)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


def _served_at(headers: Mapping[str, str], now: float) -> float:
    """When the service says it answered: its moments are of its clock, which may not be ours."""
    try:
        return parsedate_to_datetime(headers.get("date", "")).timestamp()
    except (ValueError, TypeError, OverflowError):
        return now


def rate_of(headers: Mapping[str, str], now: float) -> Rate:
    """GitHub and Jira write x-ratelimit-*, GitLab ratelimit-*; Jira's reset is an ISO date.

    `now` is of our clock, and so is the reset that is returned.
    """

    def header(name: str) -> str:
        return headers.get(f"x-ratelimit-{name}", headers.get(f"ratelimit-{name}", "")).strip()

    remaining, limit = _number(header("remaining")), _number(header("limit"))
    reset = _reset_time(header("reset"))
    return Rate(
        None if remaining is None else int(remaining),
        None if limit is None else int(limit),
        None if reset is None else reset + now - _served_at(headers, now),
    )


def _reset_time(text: str) -> float | None:
    number = _number(text)
    if number is not None or not text:
        return number
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"-?\d{1,15}(?:\.\d{1,9})?", text) else None
