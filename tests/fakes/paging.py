"""Pages and their `Link` header."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list. `last` is at least 1, also for an empty list."""

    items: list[Any]
    number: int
    size: int
    total: int

    @property
    def last(self) -> int:
        return max(1, -(-self.total // self.size))

    def neighbours(self) -> dict[str, int]:
        """Page numbers by link relation, as far as such pages exist."""
        links = {"prev": self.number - 1, "next": self.number + 1}
        return {rel: page for rel, page in links.items() if 1 <= page <= self.last}


def page_of(items: Sequence[Any], number: int, size: int) -> Page:
    """Page `number` (1 is the first) with at most 100 items."""
    size = max(1, min(size, 100))
    number = max(1, number)
    start = (number - 1) * size
    return Page(list(items[start : start + size]), number, size, len(items))


def link(url: str, query: str, pages: dict[str, int]) -> str:
    """A `Link` header: the same query, with another page for each relation."""
    kept = [(key, value) for key, value in parse_qsl(query, True) if key != "page"]
    return ", ".join(
        f'<{url}?{urlencode([*kept, ("page", page)])}>; rel="{rel}"' for rel, page in pages.items()
    )
