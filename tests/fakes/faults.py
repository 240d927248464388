"""Faults on demand: at the k-th request, or at the k-th one of a path."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from fakes.wire import Delivery, Ending

SECONDARY = "secondary"

# The request never reached the application: nothing was applied.
BEFORE = ("reset", SECONDARY)  # and any status: "401", "429", "500", "502", …
# The request was applied; this is how its answer fares.
ENDINGS: dict[str, Ending] = {
    "reset-after": "reset",
    "cut": "cut",
    "reset-in-body": "reset-in-body",
}
SPOILED: dict[str, tuple[str, bytes]] = {
    "badjson": ("application/json; charset=utf-8", b'{"message": "an answer that never en'),
    "html": ("text/html", b"<html><body><h1>Please wait</h1></body></html>"),
    "empty": ("application/json; charset=utf-8", b""),
}
AFTER = (*ENDINGS, *SPOILED, "slow", "call")


@dataclass(slots=True)
class Fault:
    """One planned fault. `fired` counts how often it struck.

    `at` counts the requests that match `method` and `path` (a regular
    expression, searched) from the moment the fault was planned; `times` is how
    many of them in a row it strikes, None for all that follow.
    """

    how: str
    at: int = 1
    times: int | None = 1
    method: str | None = None
    path: str | None = None
    writes: bool = False
    retry_after: int | str | None = None
    headers: Mapping[str, str] | None = None
    seconds: float = 0.5
    callback: Callable[[], object] | None = None
    fired: int = 0
    matched: int = 0

    def __post_init__(self) -> None:
        if self.how not in (*BEFORE, *AFTER) and not re.fullmatch(r"[345]\d\d", self.how):
            known = ", ".join((*BEFORE, *AFTER))
            raise ValueError(f"no fault {self.how!r}: a status from 300 to 599, or {known}")

    @property
    def answer_headers(self) -> dict[str, str]:
        """What the answer of a refusal carries beside the service's own headers."""
        waiting = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        return {**waiting, **(self.headers or {})}

    @property
    def before(self) -> bool:
        """Whether it strikes before the request is applied."""
        return self.how not in AFTER

    def strikes(self, method: str, path: str) -> bool:
        """Counts a request; whether the fault strikes it."""
        if self.method not in (None, method) or (self.writes and method == "GET"):
            return False
        if self.path is not None and not re.search(self.path, path):
            return False
        self.matched += 1
        last = None if self.times is None else self.at + self.times - 1
        if self.matched < self.at or (last is not None and self.matched > last):
            return False
        self.fired += 1
        return True


def spoil(delivery: Delivery, fault: Fault) -> Delivery:
    """The delivery of an applied request as the fault lets it arrive."""
    if fault.how in ENDINGS:
        return replace(delivery, ending=ENDINGS[fault.how])
    if fault.how in SPOILED:
        kind, content = SPOILED[fault.how]
        headers = {**delivery.headers, "Content-Type": kind}
        return replace(delivery, headers=headers, content=content, span=None, chunked=False)
    if fault.how == "slow":
        return replace(delivery, delay=fault.seconds)
    if fault.callback is not None:
        fault.callback()
    return delivery
