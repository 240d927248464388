"""Put every failed job into exactly one bucket, and say what each bucket deserves.

Rules of the configuration name buckets; a job that no rule holds for gets a bucket from its own
signature, so nothing is "other". Jobs share a bucket only when owner and signature agree. A
job with weak evidence stands alone, except where a rule joins such jobs, and the logging jobs
around a failed workload, which belong to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ciops.failures import bucket_rules as rules
from ciops.failures import scan_result as results
from ciops.failures.bucket_rules import BucketRule, Condition
from ciops.failures.frames import OwnedFrame
from ciops.failures.job_names import is_workload, part_of
from ciops.failures.knowledge import Knowledge
from ciops.failures.line_rules import WRAPPER
from ciops.failures.scan_result import ScanResult
from ciops.failures.signature import mask, raised_at, words_of

_MODE_WORDS: Final = 6
_LONGEST_PART: Final = 60
_LONGEST_NAME: Final = 120


@dataclass(frozen=True, slots=True)
class JobEvidence:
    """What is known about a failed job.

    `unreadable` says why there is no trace (empty when it was read); `job_reason` is GitLab's
    `failure_reason`; `pipeline` tells apart workloads of one name in several pipelines.
    """

    id: int
    name: str
    scan: ScanResult
    unreadable: str = ""
    job_reason: str = ""
    pipeline: int = 0

    @property
    def evidence(self) -> str:
        """`strong` or `weak`: a failed job whose log shows no failure is weak."""
        return results.STRONG if self.scan.evidence == results.STRONG else results.WEAK


@dataclass(frozen=True, slots=True)
class Bucket:
    """Failures of one cause. `jobs` are ids in the order given; `hypothesis` may hold `{frame}`."""

    name: str
    status: str
    reason: str
    owner: str
    owner_assumed: bool
    signature: str
    jobs: tuple[int, ...]
    representative: int
    hypothesis: str
    rule: str = ""
    frame: OwnedFrame | None = None
    causal_error: str | None = None
    evidence: str = results.STRONG

    @property
    def size(self) -> int:
        """How many failed jobs it holds."""
        return len(self.jobs)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A job with the key of its bucket."""

    job: JobEvidence
    key: tuple[str, ...]
    rule: BucketRule | None
    owner: str
    assumed: bool


def bucket(jobs: Sequence[JobEvidence], knowledge: Knowledge) -> list[Bucket]:
    """The buckets of some failed jobs, the biggest first; their sizes add up to the jobs."""
    siblings = _siblings(jobs, knowledge)
    placed = {job.id: _place(job, knowledge) for job in jobs if job.id not in siblings}
    placed = _joined(placed)
    groups: dict[tuple[str, ...], list[_Placed]] = {}
    for job in jobs:
        sibling = siblings.get(job.id)
        if sibling is None:
            member = placed[job.id]
        else:
            member = replace(placed[sibling], job=_supplementary(job))
        groups.setdefault(member.key, []).append(member)
    ordered = sorted(groups.values(), key=lambda group: (-len(group), group[0].job.id))
    return _named([_bucket(group, knowledge) for group in ordered])


def _joined(placed: dict[int, _Placed]) -> dict[int, _Placed]:
    """Put jobs whose only evidence is a wrapper's words beside those that raised these words.

    Where they were raised at several places, nothing says which: they stay apart.
    """
    homes: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for one in placed.values():
        if one.rule is None and one.job.scan.frames:
            homes.setdefault((one.owner, words_of(one.job.scan.signature)), set()).add(one.key)
    joined = {}
    for job, one in placed.items():
        home = homes.get((one.owner, one.job.scan.signature), set())
        alone = one.rule is None and one.job.scan.role == WRAPPER and len(home) == 1
        joined[job] = replace(one, key=next(iter(home)), assumed=False) if alone else one
    return joined


def supplementary(jobs: Sequence[JobEvidence], knowledge: Knowledge) -> frozenset[int]:
    """The jobs that belong to a failed workload of the same name: their own error is weak."""
    return frozenset(_siblings(jobs, knowledge))


def _siblings(jobs: Sequence[JobEvidence], knowledge: Knowledge) -> dict[int, int]:
    """By logging job: the failed workload of its name that the same pipeline ran."""
    parts = {job.id: part_of(job.name, knowledge.jobs) for job in jobs}
    workloads: dict[tuple[int, str], int] = {}
    for job in jobs:
        part = parts[job.id]
        if part.part and is_workload(part, knowledge.jobs):
            workloads.setdefault((job.pipeline, part.workload), job.id)
    return {
        job.id: workloads[job.pipeline, parts[job.id].workload]
        for job in jobs
        if not is_workload(parts[job.id], knowledge.jobs)
        and (job.pipeline, parts[job.id].workload) in workloads
    }


def _supplementary(job: JobEvidence) -> JobEvidence:
    return replace(job, scan=replace(job.scan, evidence=results.WEAK))


def _place(job: JobEvidence, knowledge: Knowledge) -> _Placed:
    rule = next((rule for rule in knowledge.buckets if holds(rule, job)), None)
    owner, assumed = _owner(job, rule, knowledge)
    weak = job.evidence == results.WEAK
    if rule is None:
        key: tuple[str, ...] = (owner, job.scan.signature)
        return _Placed(job, (*key, str(job.id)) if weak else key, None, owner, assumed)
    key = (owner, rule.name, *_shared(rule, job))
    if weak and not rule.joins_weak:
        key = (*key, str(job.id))
    return _Placed(job, key, rule, owner, assumed)


def _shared(rule: BucketRule, job: JobEvidence) -> tuple[str, ...]:
    """What jobs of one rule must have in common to share a bucket."""
    if rule.together == rules.BY_RULE:
        return ()
    if rule.together == rules.BY_MATCH:
        return _matched(rule, job) or (job.scan.signature,)
    return (job.scan.signature,)


def _matched(rule: BucketRule, job: JobEvidence) -> tuple[str, ...]:
    """The named groups that the rule found in the words of the failure."""
    match = re.search(rule.when.text, _words(job.scan))
    values = match.groupdict().values() if match else ()
    return tuple(value.strip().lower().replace("-", "_") for value in values if value)


def _owner(job: JobEvidence, rule: BucketRule | None, knowledge: Knowledge) -> tuple[str, bool]:
    """Who owns a failure, and whether that is an assumption."""
    if rule is not None and rule.owner != rules.OWNER_OF_FRAME:
        return rule.owner, job.evidence == results.WEAK
    if job.scan.frame is not None:
        return job.scan.frame.owner, False
    names = knowledge.jobs
    if names.around and not is_workload(part_of(job.name, names), names):
        return names.around, True
    return knowledge.default_owner.name, True


def holds(rule: BucketRule, job: JobEvidence) -> bool:
    """Whether a rule holds for a job."""
    return _met(rule.when, job) and not any(_met(unless, job) for unless in rule.unless)


def _met(condition: Condition, job: JobEvidence) -> bool:
    scan = job.scan
    frames = [f"{frame.path}:{frame.function}" for frame in scan.frames]
    return (
        _found(condition.text, [_words(scan)])
        and _found(condition.exception, [scan.exception or ""])
        and _found(condition.frame, frames)
        and _found(condition.raised_in, frames[-1:])
        and _found(condition.job_reason, [job.job_reason])
        and _found(condition.unreadable, [job.unreadable])
        and (not condition.kinds or scan.kind in condition.kinds)
        and (not condition.observed or not scan.observed.isdisjoint(condition.observed))
        and (not condition.evidence or job.evidence == condition.evidence)
        and (condition.owned is None or condition.owned == (scan.frame is not None))
    )


def _found(pattern: str, texts: Sequence[str]) -> bool:
    return not pattern or any(re.search(pattern, text) for text in texts if text)


def _words(scan: ScanResult) -> str:
    """The causal line and what continues it."""
    return "\n".join((scan.text or "", *scan.message))


def _bucket(group: Sequence[_Placed], knowledge: Knowledge) -> Bucket:
    first = next((m for m in group if m.job.evidence == results.STRONG), group[0])
    scan, rule = first.job.scan, first.rule
    status, reason = _status(first, knowledge)
    if first.assumed:
        reason = f"{reason}; the owner is an assumption"
    return Bucket(
        name=rule.name if rule else _name(first, knowledge),
        status=status,
        reason=reason,
        owner=first.owner,
        owner_assumed=first.assumed,
        signature="|".join(first.key[1:]) if rule else scan.signature,
        jobs=tuple(member.job.id for member in group),
        representative=first.job.id,
        hypothesis=rule.hypothesis if rule else _hypothesis(scan),
        rule=rule.name if rule else "",
        frame=scan.frame,
        causal_error=scan.text,
        evidence=first.job.evidence,
    )


def _status(placed: _Placed, knowledge: Knowledge) -> tuple[str, str]:
    if placed.rule is not None:
        return placed.rule.status, placed.rule.reason
    scan, owner = placed.job.scan, knowledge.owner(placed.owner)
    if placed.job.evidence == results.WEAK:
        return rules.ISSUE_ONLY, f"evidence too weak: {scan.reason or 'the trace shows no cause'}"
    if not owner.verified:
        return rules.ISSUE_ONLY, f"owned by {owner.name}, outside the verified repositories"
    if scan.frame is None:
        return rules.ISSUE_ONLY, "the error names no code of a verified repository"
    return rules.ACTIONABLE, f"one code path fails: {scan.frame} of {owner.name}"


def _hypothesis(scan: ScanResult) -> str:
    if scan.frame is None:
        return ""
    return f"The error comes out of {scan.frame}: {scan.text or ''}"


def _name(placed: _Placed, knowledge: Knowledge) -> str:
    scan = placed.job.scan
    return "/".join((_slug(placed.owner, keep=True), _component(scan, knowledge), _mode(scan)))


def _component(scan: ScanResult, knowledge: Knowledge) -> str:
    if scan.frame is not None:
        path = scan.frame.path
        for component in knowledge.components:
            if component.owner == scan.frame.owner and component.pattern.search(path):
                return component.name
        return _slug(path.rpartition("/")[2].partition(".")[0]) or "code"
    return _slug(scan.kind) or "unknown"


def _mode(scan: ScanResult) -> str:
    """A short name of how it failed, from the exception and the words that identify it."""
    if scan.text is None:
        return _slug(scan.reason) or "no-evidence"
    words = re.sub(r"<[^>]*>|#", " ", mask(scan.text))
    words = words.replace(scan.exception or "\0", " ")
    kept = [word for word in re.findall(r"[A-Za-z][A-Za-z_]+", words) if len(word) > 2]
    name = _kebab(scan.exception or "")
    return _slug("-".join([name, *kept[:_MODE_WORDS]])) or "error"


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name)


def _slug(text: str, keep: bool = False) -> str:
    slug = re.sub(r"[^A-Za-z0-9.]+" if not keep else r"[^A-Za-z0-9._-]+", "-", text).strip("-.")
    return _cut(slug if keep else slug.lower(), _LONGEST_PART)


def _cut(slug: str, longest: int) -> str:
    """A slug of bounded length that ends with a whole word, if more than one word fits."""
    if len(slug) <= longest:
        return slug
    whole = slug[: longest + 1].rpartition("-")[0]
    return (whole or slug[:longest]).rstrip("-.")


def _named(buckets: list[Bucket]) -> list[Bucket]:
    """Give buckets of one name names of their own; the first, the biggest, keeps it."""
    taken: set[str] = set()
    named = []
    for one in buckets:
        name = one.name
        if name in taken:
            where = _slug(raised_at(one.signature)) or str(one.representative)
            name = _cut(f"{name}-{where}", _LONGEST_NAME)
        if name in taken:
            name = f"{one.name}-{one.representative}"
        taken.add(name)
        named.append(replace(one, name=name))
    return named
