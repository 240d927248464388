"""Whether an open issue or pull request covers a failure already.

First by the hidden marker that an earlier run left, then by a similar title. A service's search
lags behind what was filed a moment ago, so the issues touched lately are listed as well. What
carries the marker of another failure is no duplicate, however alike the titles are: one sentence
raised from two files is two failures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

from ciops.failures.report_model import Bucket
from ciops.failures.signature import mask
from ciops.failures.tracking_text import MARKER, marker

if TYPE_CHECKING:
    from ciops.forges.base import Issue, IssueQueue

Kind = Literal["issue", "pull"]
KINDS: Final[tuple[Kind, ...]] = ("issue", "pull")
MOST_RECENT: Final = 300
ALIKE: Final = 0.6
"""The share of the words that identify an error which a title must hold."""
_SEARCH_WORDS: Final = 3
_SHORTEST: Final = 3
_STOP: Final = frozenset(
    re.findall(
        r"\w+",
        "the and for with not bug issue error failed fails failure are was from this that but got"
        " has have its into when pipeline jobs job",
    )
)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """An open issue or pull request, and by what it was found: `marker` or `title`."""

    url: str
    by: str
    is_pull: bool


class DuplicateSearch:
    """Looks through one repository; what was touched lately is listed once."""

    def __init__(self, queue: IssueQueue, since: str) -> None:
        self._queue = queue
        self._since = since
        self._recent: list[Issue] | None = None

    def find(self, bucket: Bucket, kinds: Sequence[Kind] = KINDS) -> Duplicate | None:
        """What covers a bucket; raises HttpError when the search cannot be made."""
        if self._recent is None:
            listed = self._queue.issues(since=self._since) if self._since else iter(())
            self._recent = list(islice(listed, MOST_RECENT))
        own = marker(bucket)
        recent = [one for one in self._recent if _kind(one) in kinds]
        found = _marked(recent, own)
        for kind in kinds:
            found = found or _marked(self._queue.search(own, exact=True, kind=kind), own)
        return found or self._alike(bucket, own, recent, kinds)

    def _alike(
        self, bucket: Bucket, own: str, recent: Sequence[Issue], kinds: Sequence[Kind]
    ) -> Duplicate | None:
        words = _words(bucket.causal_error or "")
        if len(words) < _SHORTEST:
            return None
        query = " ".join(sorted(words, key=_telling)[:_SEARCH_WORDS])
        found = _similar(recent, words, own)
        for kind in kinds:
            found = found or _similar(self._queue.search(query, kind=kind, limit=20), words, own)
        return found


def _kind(one: Issue) -> Kind:
    return "pull" if one.is_pull_request else "issue"


def _marked(issues: Iterable[Issue], own: str) -> Duplicate | None:
    for one in issues:
        if one.state == "open" and own in MARKER.findall(one.body):
            return Duplicate(one.url, "marker", one.is_pull_request)
    return None


def _similar(issues: Iterable[Issue], words: frozenset[str], own: str) -> Duplicate | None:
    for one in issues:
        others = set(MARKER.findall(one.body)) - {own}
        if one.state == "open" and not others and _likeness(words, _words(one.title)) >= ALIKE:
            return Duplicate(one.url, "title", one.is_pull_request)
    return None


def _likeness(words: frozenset[str], others: frozenset[str]) -> float:
    """How much of an error's words a title holds; nothing for texts that say too little."""
    if min(len(words), len(others)) < _SHORTEST:
        return 0.0
    return len(words & others) / len(words)


def _words(text: str) -> frozenset[str]:
    """The words that identify an error: without what varies from run to run."""
    plain = re.sub(r"<[^>]*>|#", " ", mask(text))
    parts = re.findall(r"[A-Za-z][A-Za-z_]+", plain)
    return frozenset(
        word.lower() for word in parts if len(word) >= _SHORTEST and word.lower() not in _STOP
    )


def _telling(word: str) -> tuple[int, str]:
    """Long words first: they are the rare ones."""
    return -len(word), word
