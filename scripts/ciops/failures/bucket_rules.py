"""Rules that name buckets: when they hold, who owns them, what they deserve and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ciops.plumbing.yaml_file import Reader

ACTIONABLE: Final = "actionable"
ISSUE_ONLY: Final = "issue-only"
BY_RULE: Final = "rule"
BY_MATCH: Final = "match"
BY_SIGNATURE: Final = "signature"
OWNER_OF_FRAME: Final = "frame"
BUCKET_NAME: Final = re.compile(r"^[\w.-]+(?:/[\w.-]+){2}$")
_CONDITIONS: Final = (
    *("text", "exception", "frame", "raised_in", "kinds", "observed", "evidence", "job_reason"),
    *("unreadable", "owned"),
)
_KEYS: Final = (
    *("name", "owner", "status", "reason", "when", "unless", "together", "hypothesis"),
    *("joins_weak", "matches", "near_misses"),
)


@dataclass(frozen=True, slots=True)
class Condition:
    """What must hold for a job. Every given part must hold; patterns search.

    `text` looks at the causal line and the lines that continue it, `frame` at every frame as
    `path:function`, `raised_in` at the innermost one, `observed` names observations of which one
    must hold, `job_reason` is GitLab's own reason, `unreadable` why there is no trace, `owned`
    whether a frame lies in owned code.
    """

    text: str = ""
    exception: str = ""
    frame: str = ""
    raised_in: str = ""
    kinds: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    evidence: str = ""
    job_reason: str = ""
    unreadable: str = ""
    owned: bool | None = None

    def is_empty(self) -> bool:
        """Whether it says nothing at all."""
        return self == Condition()


# What may stand in a hypothesis for what a job shows.
PLACES: Final = ("{text}", "{exception}", "{frame}", "{model}")


@dataclass(frozen=True, slots=True)
class BucketRule:
    """One rule.

    `owner` names an owner of the configuration, or `frame`: the owner of the innermost owned
    frame. `together` says which jobs it holds share a bucket: all (`rule`), those with equal
    named groups of `when.text` (`match`), or those of one signature. `joins_weak` lets jobs with
    weak evidence share it too.
    """

    name: str
    owner: str
    status: str
    reason: str
    when: Condition
    unless: tuple[Condition, ...]
    together: str
    hypothesis: str
    joins_weak: bool = False
    matches: tuple[str, ...] = ()
    near_misses: tuple[str, ...] = ()


def read_bucket_rules(items: Sequence[Reader]) -> tuple[BucketRule, ...]:
    """The rules of a `buckets` list; raises DocumentError at the entry that is wrong."""
    return tuple(_read(item) for item in items)


def _read(item: Reader) -> BucketRule:
    item.mapping(_KEYS)
    name = item.text("name")
    if not BUCKET_NAME.match(name):
        raise item.error(
            f"{name!r} is no bucket name", "Write it as repo/component/failure-mode", "name"
        )
    when = _condition(item.child("when"))
    if when.is_empty():
        raise item.error("the rule would hold for every job", "Say when it holds", "when")
    return BucketRule(
        name=name,
        owner=item.text("owner"),
        status=item.choice("status", (ACTIONABLE, ISSUE_ONLY)),
        reason=item.text("reason"),
        when=when,
        unless=tuple(_condition(child) for child in item.items("unless")),
        together=item.choice("together", (BY_RULE, BY_MATCH, BY_SIGNATURE), BY_SIGNATURE),
        hypothesis=item.text("hypothesis", ""),
        joins_weak=item.flag("joins_weak", False),
        matches=item.texts("matches", ()),
        near_misses=item.texts("near_misses", ()),
    )


def _condition(item: Reader) -> Condition:
    item.mapping(_CONDITIONS)
    return Condition(
        text=_pattern(item, "text"),
        exception=_pattern(item, "exception"),
        frame=_pattern(item, "frame"),
        raised_in=_pattern(item, "raised_in"),
        kinds=item.texts("kinds", ()),
        observed=item.texts("observed", ()),
        evidence=item.choice("evidence", ("strong", "weak"), ""),
        job_reason=_pattern(item, "job_reason"),
        unreadable=_pattern(item, "unreadable"),
        owned=item.flag("owned", None),
    )


def _pattern(item: Reader, key: str) -> str:
    return item.text(key, "")
