"""The texts that are filed: an issue through its repository's form, a change through its template.

Everything that comes from traces, jobs and models stands in code or is escaped, and is masked once
more as a whole. A hidden marker makes the next run find what this one filed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ciops.failures import report_model as model
from ciops.failures.issue_form import TEXTAREA, Field, IssueForm, fill
from ciops.failures.redaction import mask_secrets
from ciops.failures.report_model import Bucket, FailedJob, PipelineStep, Report
from ciops.failures.tracking_rules import TrackingRules
from ciops.plumbing.ci_host import cut_markdown
from ciops.plumbing.rendering import Templates, clean_text

TEMPLATES: Final = Path(__file__).resolve().parents[3] / "templates/pipeline-failure-report"
LONGEST_BODY: Final = 60_000  # GitHub takes 65,536 characters
LONGEST_TITLE: Final = 160
_CUT: Final = "> Cut here: {left:,} bytes are left out."
_MOST_JOBS: Final = 50
_MOST_MODELS: Final = 20
_MOST_EXCERPT: Final = 40
_LONGEST_LINE: Final = 400

# What the form of a failure asks, where its repository has no form.
PLAIN_FORM: Final = IssueForm(
    "",
    (),
    tuple(
        Field(TEXTAREA, name, label, required=True)
        for name, label in (
            ("system-info", "System info"),
            ("reproduction", "Reproduction"),
            ("expected-behavior", "Expected behavior"),
            ("actual-behavior", "Actual behavior"),
            ("additional-notes", "Additional notes"),
        )
    ),
)
_NAMED_BY: Final = {
    model.NAMED_BY_TRACE: "named by the trace",
    model.NAMED_BY_JOB: "the commit of the job",
    model.DEFAULT_BRANCH: "the default branch: neither trace nor job names a commit",
}
_WHY: Final = {
    model.WEAK_EVIDENCE: "the evidence is too weak to point at code",
    model.NO_SINGLE_FIX: "no single coherent fix is known",
    model.EXTERNAL_OR_INFRA: "the cause is owned outside the verified repositories",
    model.DUPLICATES_NOT_CHECKED: "duplicates were not looked for yet",
}


@dataclass(frozen=True, slots=True)
class Filing:
    """An issue as it would be filed."""

    repository: str
    title: str
    body: str
    labels: tuple[str, ...]


def marker(bucket: Bucket) -> str:
    """One word that identifies a bucket's failure from run to run."""
    identity = f"{bucket.owner}\n{bucket.signature or bucket.name}"
    return "failurebucket" + hashlib.sha256(identity.encode()).hexdigest()[:24]


MARKER: Final = re.compile(r"<!-- triage-action: (failurebucket[0-9a-f]{24}) -->")


def marked(body: str, bucket: Bucket) -> str:
    """A body without secrets, cut where a service would refuse it, with the hidden marker."""
    body = cut_markdown(mask_secrets(body), LONGEST_BODY, _CUT)
    return f"{body.rstrip()}\n\n<!-- triage-action: {marker(bucket)} -->\n"


def title_of(bucket: Bucket, prefix: str) -> str:
    """The form's prefix, the bucket, and the error in short."""
    error = " ".join(clean_text(bucket.causal_error or "").split())
    title = f"{prefix}{bucket.name}: {error}" if error else f"{prefix}{bucket.name}"
    return titled(title)


def titled(title: str) -> str:
    """A title without secrets, no longer than is shown."""
    title = mask_secrets(title)
    return title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1].rstrip() + "…"


def issue(
    report: Report,
    bucket: Bucket,
    form: IssueForm,
    rules: TrackingRules,
    repository: str,
    labels: Iterable[str],
    blocker: str,
) -> Filing:
    """An issue for a bucket, its form filled; `labels` are those that the repository has."""
    templates = Templates(TEMPLATES, "en")
    facts = _facts(report, bucket)
    facts["why_no_change"] = _WHY.get(blocker, bucket.reason)

    def answer(asked: Field) -> str:
        name = f"tracking/{asked.id}.md"
        if (TEMPLATES / f"{name}.j2").is_file() and re.fullmatch(r"[\w-]+", asked.id):
            return templates.render(name, **facts)
        return templates.render("tracking/other.md", **facts) if asked.required else ""

    body = marked(fill(form, answer, rules.answers), bucket)
    return Filing(repository, title_of(bucket, form.title), body, tuple(labels))


def change_body(report: Report, bucket: Bucket, validation: str) -> str:
    """The description of a change that fixes a bucket."""
    facts = _facts(report, bucket)
    facts["validation"] = [line.strip() for line in validation.splitlines() if line.strip()]
    facts["left_out"] = [one for one in report.buckets if one.name != bucket.name]
    body = Templates(TEMPLATES, "en").render("tracking/change.md", **facts)
    return marked(body, bucket)


def _facts(report: Report, bucket: Bucket) -> dict[str, object]:
    jobs = [report.jobs_by_id[key] for key in bucket.jobs if key in report.jobs_by_id]
    job = report.jobs_by_id[bucket.representative_job]
    start = report.pipelines_by_id.get(report.starting_pipeline)
    pipeline = report.pipelines_by_id.get(job.pipeline_id)
    return {
        "report": report,
        "bucket": bucket,
        "job": job,
        "jobs": jobs,
        "models": _distinct(one.model for one in jobs),
        "workloads": _distinct(one.workload or one.name for one in jobs),
        "start": start or PipelineStep(report.starting_pipeline),
        "pipeline": pipeline or PipelineStep(job.pipeline_id),
        "excerpt": excerpt_around(job),
        "named_by": _NAMED_BY.get(bucket.code.commit_source, "") if bucket.code else "",
        "most_jobs": _MOST_JOBS,
        "most_models": _MOST_MODELS,
    }


def _distinct(names: Iterable[str | None]) -> Sequence[str]:
    return list(dict.fromkeys(name for name in names if name))


def excerpt_around(job: FailedJob) -> str:
    """The lines of a job's excerpt nearest to the causal one."""
    lines = job.excerpt
    at = next((index for index, line in enumerate(lines) if line.number == job.line), 0)
    begin = max(0, min(at - _MOST_EXCERPT // 2, len(lines) - _MOST_EXCERPT))
    chosen = lines[begin : begin + _MOST_EXCERPT]
    return "\n".join(line.text[:_LONGEST_LINE] for line in chosen)
