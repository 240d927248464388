"""Where the code of a hypothesis was read, in words, and the hypothesis without them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ciops.failures import report_model as model

_SHOWN_CHANGES: Final = 3
_NAMED_BY: Final = {
    model.NAMED_BY_TRACE: "the commit that the trace names",
    model.NAMED_BY_JOB: "the commit of the job",
    model.DEFAULT_BRANCH: "the default branch, as no commit is named",
}


def seen(code: model.CodeReference) -> str:
    """Where the file was read, and who changed it since the job was green."""
    commit = code.commit[:12] if len(code.commit) >= 40 else code.commit
    where = f"{code.path} of {code.repository} at {commit}, {_NAMED_BY[code.commit_source]}"
    if code.changes is None:
        return where
    if not code.changes:
        return f"{where}; not changed since the last green run"
    shown = ", ".join(f"{one.sha[:10]} {one.title[:60]}" for one in code.changes[:_SHOWN_CHANGES])
    more = len(code.changes) - _SHOWN_CHANGES
    return f"{where}; changed since the last green run by {shown}" + (
        f" and {more} more" if more > 0 else ""
    )


def without_code(report: model.Report) -> model.Report:
    """The report for a view that shows code and changes in rows of their own."""
    return replace(report, buckets=tuple(map(_claim_alone, report.buckets)))


def _claim_alone(bucket: model.Bucket) -> model.Bucket:
    if bucket.code is None:
        return bucket
    claim = bucket.hypothesis.removesuffix(f" ({seen(bucket.code)})")
    return replace(bucket, hypothesis=claim)
