"""One row a failed job, for a spreadsheet: RFC 4180 in UTF-8 with a byte order mark.

Columns and codes are data and the same in every language. A cell that a spreadsheet would take for
a formula starts with an apostrophe (https://owasp.org/www-community/attacks/CSV_Injection).
"""

from __future__ import annotations

import csv
import io
import re
from typing import Final

from ciops.failures.report_findings import Outcome, outcome
from ciops.failures.report_model import Bucket, FailedJob, Report
from ciops.failures.report_text import one_line

BYTE_ORDER_MARK: Final = "\ufeff"
COLUMNS: Final = (
    *("job_id", "job_url", "log_url", "workload", "model", "first_causal_error", "bucket", "owner"),
    *("status", "outcome", "starting_pipeline", "terminal_pipeline", "via_bridge"),
)
_LONGEST_CELL: Final = 32_000  # a spreadsheet's cell ends at 32,767 characters
# Spreadsheets read full-width signs like their narrow forms.
_FORMULA: Final = re.compile(r"^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")
# Where ";" separates cells, as in many locales, a cell may be cut in two there.
_LATER_FORMULA: Final = re.compile(r"(;\s*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")


def to_csv(report: Report) -> str:
    """The whole file, its byte order mark included."""
    text = io.StringIO(newline="")
    text.write(BYTE_ORDER_MARK)
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    buckets = {job: bucket for bucket in report.buckets for job in bucket.jobs}
    for job in report.jobs:
        writer.writerow([cell(one) for one in _row(report, job, buckets.get(job.id))])
    return text.getvalue()


def _row(report: Report, job: FailedJob, bucket: Bucket | None) -> tuple[object, ...]:
    return (
        *(job.id, job.job_url, job.log_url, job.workload, job.model, job.text),
        *(bucket.name if bucket else job.bucket, bucket.owner if bucket else job.owner),
        bucket.status if bucket else job.status,
        _outcome(outcome(bucket)) if bucket else "",
        *(report.starting_pipeline, job.pipeline_id, job.via_bridge),
    )


def _outcome(done: Outcome) -> str:
    said = f"{done.kind}: {done.blocker}" if done.blocker else done.kind
    return f"{said} {done.url}".strip()


def cell(value: object) -> str:
    """A value as a cell that holds text or a plain number, never a formula."""
    if value is None:
        return ""
    if isinstance(value, int):
        return str(value)
    text = one_line(str(value), _LONGEST_CELL).replace("\t", " ")
    text = _LATER_FORMULA.sub(r"\1'", text)
    return f"'{text}" if _FORMULA.match(text) else text
