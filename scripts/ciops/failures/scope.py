"""Which pipelines a report is about: the scope of a configuration.

    scope:
      name: model-coverage
      upstream: group/dashboard           # whose pipelines trigger the scope
      downstream: [group/ci]              # where an id may belong to, too
      bridges: {pattern: ..., except: ...}
      benchmark: {bridges: ..., pipelines: ..., jobs: ...}    # refused, never followed
      dead_ends: [{kind: ..., failure_reason: ..., bucket: ..., reason: ...}]

A configuration without a scope follows every failed bridge. `dead_ends` are asked in order, those
of an extended configuration last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ciops.failures.bucket_rules import ACTIONABLE, BUCKET_NAME, ISSUE_ONLY
from ciops.failures.knowledge import Knowledge, compiled
from ciops.plumbing.yaml_file import Document, Reader

# Why a failed bridge leads nowhere.
NOT_TRIGGERED: Final = "not-triggered"
NOT_VISIBLE: Final = "not-visible"
NO_FAILED_JOB: Final = "no-failed-job"
NOT_READ: Final = "not-read"
DEAD_END_KINDS: Final = (NOT_TRIGGERED, NOT_VISIBLE, NO_FAILED_JOB, NOT_READ)

_KEYS: Final = ("name", "upstream", "downstream", "bridges", "benchmark", "dead_ends")


@dataclass(frozen=True, slots=True)
class Names:
    """Names of a kind: those that hold `pattern` and not `except_for`; none without a pattern."""

    pattern: re.Pattern[str] | None = None
    except_for: re.Pattern[str] | None = None

    def hold(self, name: str) -> bool:
        """Whether a name is of this kind."""
        if self.pattern is None or not self.pattern.search(name):
            return False
        return self.except_for is None or not self.except_for.search(name)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """How a benchmark pipeline is known: by its bridge, its name, or the names of its jobs."""

    bridges: Names = Names()
    pipelines: Names = Names()
    jobs: Names = Names()


@dataclass(frozen=True, slots=True)
class DeadEndRule:
    """What a failed bridge deserves that leads nowhere.

    `failure_reason` searches in what the service says of the bridge; `reason` is a sentence that
    may hold `{failure_reason}`, `{pipeline}` and `{status}`.
    """

    kind: str
    failure_reason: re.Pattern[str] | None
    bucket: str
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a report. Without bridges of its own, every bridge is of the scope."""

    name: str
    upstream: str = ""
    downstream: tuple[str, ...] = ()
    bridges: Names | None = None
    benchmark: Benchmark = Benchmark()
    dead_ends: tuple[DeadEndRule, ...] = ()

    @property
    def projects(self) -> tuple[str, ...]:
        """Where the pipeline of a bare id may be, the likeliest first."""
        return tuple(dict.fromkeys(name for name in (self.upstream, *self.downstream) if name))

    def has_bridge(self, name: str) -> bool:
        """Whether a bridge triggers the scope."""
        if self.benchmark.bridges.hold(name):
            return False
        return self.bridges is None or self.bridges.hold(name)

    def dead_end(self, kind: str, failure_reason: str) -> DeadEndRule:
        """The rule for a bridge that leads nowhere."""
        for rule in self.dead_ends:
            pattern = rule.failure_reason
            if rule.kind == kind and (pattern is None or pattern.search(failure_reason)):
                return rule
        return DeadEndRule(kind, None, f"infra/pipeline/{kind}", ISSUE_ONLY, _PLAIN[kind])


_PLAIN: Final = {
    NOT_TRIGGERED: "it triggered no pipeline ({failure_reason})",
    NOT_VISIBLE: "pipeline {pipeline} is missing or not visible to the token",
    NO_FAILED_JOB: "pipeline {pipeline} ({status}) holds no failed job",
    NOT_READ: "pipeline {pipeline} could not be read: {failure_reason}",
}


def read_scope(knowledge: Knowledge) -> Scope:
    """The scope of the first document that has one; raises DocumentError."""
    found = list(_scopes(knowledge.documents))
    for item in found:
        item.mapping(_KEYS)
    own = next((item for item in found if item.has("name")), None)
    dead_ends = tuple(rule for item in found for rule in _dead_ends(item))
    if own is None:
        return Scope(knowledge.name, dead_ends=dead_ends)
    return Scope(
        name=own.text("name"),
        upstream=own.text("upstream", ""),
        downstream=own.texts("downstream", ()),
        bridges=_names(own, "bridges") if own.has("bridges") else None,
        benchmark=_benchmark(own.child("benchmark")),
        dead_ends=dead_ends,
    )


def _scopes(documents: Sequence[Document]) -> Iterable[Reader]:
    for document in documents:
        reader = Reader(document)
        if reader.has("scope"):
            yield reader.child("scope")


def _names(item: Reader, key: str) -> Names:
    """`pattern` and `except` under a key; a text there is the pattern."""
    if not item.has(key):
        return Names()
    if isinstance(item.mapping()[key], str):
        return Names(compiled(item, key))
    child = item.child(key)
    child.mapping(("pattern", "except"))
    left_out = compiled(child, "except") if child.has("except") else None
    return Names(compiled(child, "pattern"), left_out)


def _benchmark(item: Reader) -> Benchmark:
    item.mapping(("bridges", "pipelines", "jobs"))
    return Benchmark(_names(item, "bridges"), _names(item, "pipelines"), _names(item, "jobs"))


def _dead_ends(item: Reader) -> Iterable[DeadEndRule]:
    for rule in item.items("dead_ends"):
        rule.mapping(("kind", "failure_reason", "bucket", "status", "reason"))
        bucket = rule.text("bucket")
        if not BUCKET_NAME.match(bucket):
            next_step = "Write it as repo/component/failure-mode"
            raise rule.error(f"{bucket!r} is no bucket name", next_step, "bucket")
        yield DeadEndRule(
            kind=rule.choice("kind", DEAD_END_KINDS),
            failure_reason=compiled(rule, "failure_reason") if rule.has("failure_reason") else None,
            bucket=bucket,
            status=rule.choice("status", (ACTIONABLE, ISSUE_ONLY), ISSUE_ONLY),
            reason=rule.text("reason"),
        )
