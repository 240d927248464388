"""What a report still has to say once its buckets are listed: outcomes, risks, validation owed.

All of it follows from the model, so that every format says the same. A finding is a message with
its facts; the renderers put it into words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from ciops.failures import report_model as model
from ciops.failures.report_model import Bucket, CodeReference, FailedJob, PipelineStep, Report
from ciops.failures.report_words import Words

AWAITS_CHANGE: Final = "awaits-change"
NOT_FILED: Final = "not-filed"


@dataclass(frozen=True, slots=True)
class Finding:
    """A message of the group `risk` or `owed`; `n` chooses between its forms."""

    key: str
    n: int | None = None
    facts: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    def say(self, words: Words) -> str:
        """The finding in a language."""
        return words.say(self.key, self.n, **self.facts)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a bucket: one of the outcomes above, or of the model's tracking states."""

    kind: str
    url: str = ""
    blocker: str = ""

    def say(self, words: Words) -> str:
        """The outcome in a language, without its URL."""
        if self.blocker:
            return words.say("outcome.blocked", blocker=words.known("blocker", self.blocker))
        return words.known("outcome", self.kind)


def outcome(bucket: Bucket) -> Outcome:
    """What became of a bucket."""
    if bucket.tracking or bucket.tracking_state == model.PLANNED:
        return Outcome(bucket.tracking_state or model.EXISTING, bucket.tracking or "")
    if bucket.blocker:
        return Outcome(NOT_FILED, blocker=bucket.blocker)
    return Outcome(AWAITS_CHANGE if bucket.status == model.ACTIONABLE else NOT_FILED)


def counted(report: Report, words: Words) -> str:
    """How many failed jobs and buckets."""
    if not report.failed_jobs_total:
        return words.say("report.none")
    jobs = words.say("count.failed-jobs", report.failed_jobs_total)
    buckets = words.say("count.buckets", len(report.buckets))
    return words.say("report.headline", jobs=jobs, buckets=buckets)


def headline(report: Report, words: Words) -> str:
    """The same, with what the buckets deserve and how many are new."""
    said, buckets = counted(report, words), report.buckets
    sizes = Counter(bucket.status for bucket in buckets)
    parts = [words.say("count.of-status", n, status=one) for one, n in sorted(sizes.items())]
    if is_compared(report):
        parts.append(words.say("count.new", sum(one.recurring is False for one in buckets)))
    listed = words.say("report.and").join(parts)
    return words.say("report.with-parts", what=said, parts=listed) if parts else said


def is_compared(report: Report) -> bool:
    """Whether it is known of any bucket if it is new."""
    return any(bucket.recurring is not None for bucket in report.buckets)


def checksum(report: Report) -> tuple[str, str]:
    """The two lines that programs look for, the same in every language."""
    return (
        f"total failed jobs = {report.failed_jobs_total}",
        f"sum of bucket sizes = {report.bucket_sum}",
    )


def tracking(report: Report, words: Words) -> str:
    """What was filed, or that nothing was and why; "" without a bucket."""
    if not report.buckets:
        return ""
    said = [_filed(report, words), _blocked(report, words)]
    if report.dry_run:
        said.append(words.say("tracking.dry-run"))
    return words.say("report.between-sentences").join(filter(None, said))


def _filed(report: Report, words: Words) -> str:
    """How many buckets are tracked, by how."""
    found = Counter(outcome(bucket).kind for bucket in report.buckets)
    kinds = [kind for kind in (model.FILED, model.EXISTING, model.PLANNED) if found[kind]]
    if not found[model.FILED] and not found[model.EXISTING]:
        return words.say("tracking.nothing")
    parts = [_with_count(words, words.known("outcome", kind), found[kind]) for kind in kinds]
    return words.say("tracking.filed", what=words.say("report.and").join(parts))


def _blocked(report: Report, words: Words) -> str:
    """How many buckets each blocker holds back, in the order of `BLOCKERS`."""
    outcomes = [outcome(bucket) for bucket in report.buckets]
    found = Counter(done.blocker for done in outcomes if done.blocker)
    known = [name for name in model.BLOCKERS if name in found]
    names = [*known, *sorted(set(found) - set(known))]
    parts = [_with_count(words, words.known("blocker", name), found[name]) for name in names]
    return words.say("tracking.blocked", what=words.say("report.and").join(parts)) if parts else ""


def _with_count(words: Words, what: str, n: int) -> str:
    return words.say("report.bracketed", what=what, inside=words.say("count.buckets", n))


def risks(report: Report) -> list[Finding]:
    """What may be wrong or missing in the report."""
    return [*_broken(report), *_uncertain(report), *_remarks(report)]


def _broken(report: Report) -> Iterator[Finding]:
    if not report.checksum_holds:
        facts = {"total": report.failed_jobs_total, "sum": report.bucket_sum}
        yield Finding("risk.checksum", facts=facts)
    if report.shard:
        yield Finding("risk.shard", facts={"shard": report.shard})
    if report.dead_end_bridges:
        yield Finding("risk.dead-ends", len(report.dead_end_bridges))


def _uncertain(report: Report) -> Iterator[Finding]:
    if report.unreadable:
        yield Finding("risk.unreadable", len(report.unreadable))
    weak = sum(job.evidence != "strong" and not job.supplementary for job in report.jobs)
    if weak:
        yield Finding("risk.weak", weak)
    assumed = sum(bucket.owner_assumed for bucket in report.buckets)
    if assumed:
        yield Finding("risk.owner-assumed", assumed)
    unchecked = sum(
        bucket.status == model.ACTIONABLE and (bucket.code is None or bucket.code.changes is None)
        for bucket in report.buckets
    )
    unread = any(remark.kind == model.HISTORY_UNREADABLE for remark in report.remarks)
    if unchecked and not unread:  # the remark says it, and why
        yield Finding("risk.history", unchecked)


def _remarks(report: Report) -> Iterator[Finding]:
    for remark in report.remarks:
        known = remark.kind in model.REMARKS
        facts = {"detail": remark.detail or "–", "count": remark.count}
        yield Finding(f"remark.{remark.kind}" if known else "remark.unnamed", facts=facts)


def owed(report: Report) -> list[Finding]:
    """The validation that a person still owes."""
    found = [_rerun(report, bucket) for bucket in report.buckets if _is_open(bucket)]
    unsearched = sum(one.blocker == model.DUPLICATES_NOT_CHECKED for one in report.buckets)
    if unsearched:
        found.append(Finding("owed.duplicates", unsearched))
    if report.unreadable or any(job.evidence != "strong" for job in report.jobs):
        found.append(Finding("owed.read"))
    return found


def _is_open(bucket: Bucket) -> bool:
    return bucket.status == model.ACTIONABLE


def _rerun(report: Report, bucket: Bucket) -> Finding:
    job = report.jobs_by_id.get(bucket.representative_job)
    workload = (job.workload or job.name) if job else str(bucket.representative_job)
    facts = {"bucket": bucket.name, "workload": workload}
    if bucket.size == 1:
        return Finding("owed.rerun", facts=facts)
    return Finding("owed.rerun-all", bucket.size, facts)


def listed(findings: Sequence[Finding], words: Words, most: int = 20) -> list[str]:
    """The findings in words, at most so many lines of them: the last says how many are left."""
    if len(findings) <= most:
        return [finding.say(words) for finding in findings]
    shown = [finding.say(words) for finding in findings[: most - 1]]
    return [*shown, words.say("count.more", len(findings) - len(shown))]


def place_of(bucket: Bucket, job: FailedJob | None, words: Words) -> str:
    """Where the representative evidence stands: job and line."""
    line = job.line if job else None
    key = "report.job-line" if line else "report.job"
    return words.say(key, job=bucket.representative_job, line=line)


def code_place(code: CodeReference) -> str:
    """`path:line (function)`."""
    line = f":{code.line}" if code.line else ""
    return f"{code.path}{line} ({code.function})" if code.function else code.path + line


def code_at(code: CodeReference, words: Words) -> str:
    """At which commit the code was read, and who named it."""
    key = f"code.{code.commit_source}" if code.commit_source in model.COMMIT_SOURCES else "code.at"
    return words.say(key, commit=code.commit[:10] or words.say("report.not-known"))


def path_to(report: Report, pipeline: int) -> list[PipelineStep]:
    """The pipelines from the starting one to `pipeline`."""
    path: list[PipelineStep] = []
    step = report.pipelines_by_id.get(pipeline)
    while step is not None and step not in path:
        path.append(step)
        step = None if step.parent is None else report.pipelines_by_id.get(step.parent)
    return path[::-1] or [PipelineStep(pipeline)]


def start_of(report: Report) -> PipelineStep:
    """The starting pipeline."""
    start = report.starting_pipeline
    return report.pipelines_by_id.get(start, PipelineStep(start))
