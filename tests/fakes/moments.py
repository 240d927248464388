"""Moments in time, as the services write them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any


def moment(text: str) -> datetime:
    """The moment of an ISO 8601 text, whatever its offset; a day alone is its midnight in UTC."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def between(text: str, query: Mapping[str, Any], first: str, last: str) -> bool:
    """Whether a moment lies in what the query keys `first` and `last`, if given, enclose."""
    start, end = query.get(first), query.get(last)
    if start is not None and moment(text) < moment(start):
        return False
    return end is None or moment(text) <= moment(end)


def iso(seconds: float, *, millis: bool = False, zone: str = "Z") -> str:
    """Seconds since the epoch in ISO 8601, in UTC."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds * 1000) % 1000:03}{zone}" if millis else whole + zone
