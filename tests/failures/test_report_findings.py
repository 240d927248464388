"""What follows from a report: outcomes, what was filed, risks, validation owed, checksum."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciops.failures import report_model as model
from ciops.failures.report_findings import (
    checksum,
    code_at,
    code_place,
    headline,
    outcome,
    owed,
    path_to,
    risks,
    tracking,
)
from ciops.failures.report_model import Bucket, CodeReference, PipelineStep, Remark, Report
from ciops.failures.report_words import words_of
from failures.report_samples import big, empty, job, usual

EN = words_of("en")
URL = "https://gitlab.example.com/i/1"


def one_bucket(**facts: object) -> Bucket:
    usual_one = Bucket("a/b/c", model.ACTIONABLE, "because", "a", 1, (1,))
    return replace(usual_one, **facts)  # type: ignore[arg-type]


def report(*buckets: Bucket, **facts: object) -> Report:
    ids = [id for bucket in buckets for id in bucket.jobs]
    jobs = tuple(job(id, f"work-{id}", line=None, evidence="strong") for id in ids)
    whole = Report("c@1", "scope", 7, (7,), len(ids), buckets, jobs)
    return replace(whole, **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("facts", "says", "url"),
    [
        ({}, "awaits a pull request", ""),
        ({"status": model.ISSUE_ONLY}, "nothing filed", ""),
        ({"tracking": URL, "tracking_state": model.FILED}, "issue filed", URL),
        ({"tracking": URL, "tracking_state": model.EXISTING}, "already tracked", URL),
        ({"tracking": URL}, "already tracked", URL),
        ({"tracking_state": model.PLANNED}, "a dry run, would file an issue", ""),
        ({"tracking": URL, "blocker": model.NO_SINGLE_FIX}, "already tracked", URL),
        *(({"blocker": name}, f"nothing filed: {name}", "") for name in model.BLOCKERS),
        ({"blocker": "the moon"}, "nothing filed: the moon", ""),
    ],
)
def test_outcome(facts: dict[str, object], says: str, url: str) -> None:
    done = outcome(one_bucket(**facts))
    assert (done.say(EN), done.url) == (says, url)


@pytest.mark.parametrize(
    ("buckets", "says"),
    [
        ([], ""),
        ([{}], "No issue or pull request was filed."),
        (
            [{"blocker": model.EXTERNAL_OR_INFRA}, {"blocker": model.DUPLICATES_NOT_CHECKED}] * 2,
            "No issue or pull request was filed. Blockers: duplicates not checked (2 buckets), "
            "external or infra (2 buckets).",
        ),
        (
            [{"tracking": URL, "tracking_state": model.FILED}, {"blocker": model.WEAK_EVIDENCE}],
            "Tracked: issue filed (1 bucket). Blockers: evidence too weak for an owner (1 bucket).",
        ),
        (
            [{"tracking": URL, "blocker": model.NO_SINGLE_FIX}],
            "Tracked: already tracked (1 bucket).",
        ),
    ],
)
def test_what_was_filed_or_why_not(buckets: list[dict[str, object]], says: str) -> None:
    made = [one_bucket(jobs=(n,), **facts) for n, facts in enumerate(buckets)]
    assert tracking(report(*made), EN) == says


def test_a_dry_run_says_so() -> None:
    said = tracking(report(one_bucket(tracking_state=model.PLANNED), dry_run=True), EN)
    assert said.startswith("No issue or pull request was filed.")
    assert said.endswith("This was a dry run: nothing was written.")


def said_risks(of: Report) -> list[str]:
    return [finding.say(EN) for finding in risks(of)]


def test_a_report_without_doubts_has_no_risk() -> None:
    sure = one_bucket(code=CodeReference("o/r", "f.py", changes=()))
    assert said_risks(report(sure)) == []


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"failed_jobs_total": 2}, "The checksum does not hold: 2 failed jobs, 1 in buckets."),
        ({"shard": "2/4"}, "This is part 2/4 of a report; merge the parts."),
        ({"dead_end_bridges": usual().dead_end_bridges}, "Behind 1 failed bridge no failed job"),
        ({"unreadable": usual().unreadable}, "1 trace could not be read; its job"),
        ({"remarks": (Remark(model.STOPPED, "after 3 of 9 jobs"),)}, "stopped early: after 3 of 9"),
        ({"remarks": (Remark(model.JOBS_LIMIT, "5", 4),)}, "4 failed jobs were not read"),
        ({"remarks": (Remark("moonlight", "it was dark"),)}, "it was dark"),
        *(({"remarks": (Remark(kind),)}, "–") for kind in model.REMARKS),
    ],
)
def test_a_risk_is_named(facts: dict[str, object], says: str) -> None:
    found = said_risks(report(one_bucket(status=model.ISSUE_ONLY), **facts))
    assert any(says in one for one in found), found


def test_weak_evidence_counts_without_the_logs_around_a_failed_workload() -> None:
    weak = [job(1, "w"), job(2, "x"), job(3, "w", supplementary=True)]
    bucket = one_bucket(status=model.ISSUE_ONLY, jobs=(1, 2, 3))
    assert said_risks(report(bucket, jobs=tuple(weak))) == [
        "2 jobs have weak evidence: their cause is not in the log."
    ]


@pytest.mark.parametrize(
    ("remarks", "told"),
    [((), True), ((Remark(model.HISTORY_UNREADABLE, "403"),), False)],
    ids=["nobody looked", "a remark says why"],
)
def test_an_unknown_history_is_told_once(remarks: tuple[Remark, ...], told: bool) -> None:
    found = said_risks(report(one_bucket(), remarks=remarks))
    assert ("For 1 actionable bucket it is not known" in " ".join(found)) is told
    assert len(found) == 1


def test_validation_owed() -> None:
    four = one_bucket(name="a/b/many", jobs=(1, 2, 3, 4))
    single = one_bucket(name="a/b/one", jobs=(5,), representative_job=5)
    blocked = one_bucket(
        name="a/b/held", status=model.ISSUE_ONLY, jobs=(6,), blocker=model.DUPLICATES_NOT_CHECKED
    )
    assert [one.say(EN) for one in owed(report(four, single, blocked))] == [
        "Rerun work-1 with the fix, then all 4 jobs of a/b/many.",
        "Rerun work-5 with the fix of a/b/one.",
        "Look for duplicates of 1 bucket and file it (run again with --track).",
    ]


def test_weak_evidence_asks_for_a_reader() -> None:
    assert [one.say(EN) for one in owed(report(jobs=(job(1, "w"),)))] == [
        "Read the logs of jobs with weak evidence."
    ]


@pytest.mark.parametrize(
    ("of", "says"),
    [
        (empty(), "No failed job: 0 = 0"),
        (usual(), "14 failed jobs in 7 buckets: 2 actionable, 5 issue-only, 4 new"),
        (report(one_bucket()), "1 failed job in 1 bucket: 1 actionable"),
    ],
)
def test_headline(of: Report, says: str) -> None:
    assert headline(of, EN) == says


@pytest.mark.parametrize(
    ("jobs", "bucketed", "total", "holds"),
    [
        ((1, 2), ((1,), (2,)), 2, True),
        ((), (), 0, True),
        ((1, 2), ((1,),), 2, False),
        ((1, 2), ((1,), (1,)), 2, False),
        ((1, 2), ((1, 2), (2,)), 3, False),
        ((1, 2), ((1,), (3,)), 2, False),
        ((1, 2), ((1,), (2,)), 3, False),
    ],
    ids=["each in one", "none", "one in no bucket", "twice", "sums by chance", "unknown", "total"],
)
def test_checksum(
    jobs: tuple[int, ...], bucketed: tuple[tuple[int, ...], ...], total: int, holds: bool
) -> None:
    buckets = tuple(one_bucket(jobs=one) for one in bucketed)
    of = Report("c", "s", 1, (), total, buckets, tuple(job(id, "w") for id in jobs))
    assert of.checksum_holds is holds
    assert checksum(of) == (
        f"total failed jobs = {total}",
        f"sum of bucket sizes = {sum(map(len, bucketed))}",
    )


def test_the_big_sample_adds_up() -> None:
    assert big().checksum_holds
    assert big().failed_jobs_total == 500


def test_the_path_to_a_pipeline() -> None:
    assert [step.id for step in path_to(usual(), 5127)] == [5060, 5087, 5127]
    assert [step.id for step in path_to(usual(), 99)] == [99]


def test_a_circle_of_pipelines_ends() -> None:
    circle = (PipelineStep(1, parent=2), PipelineStep(2, parent=1))
    assert [step.id for step in path_to(report(pipelines=circle), 1)] == [2, 1]


@pytest.mark.parametrize(
    ("code", "place", "at"),
    [
        (CodeReference("o/r", "a/b.py", 7, "run", "", "abcdef0123456", model.NAMED_BY_TRACE),
         "a/b.py:7 (run)", "at abcdef0123, the commit the trace names"),
        (CodeReference("o/r", "a/b.py", None, "run", "", "v1", model.DEFAULT_BRANCH),
         "a/b.py (run)", "at v1, on the default branch"),
        (CodeReference("o/r", "a/b.py", 7, "", "", "", "guess"), "a/b.py:7", "at not known"),
    ],
)  # fmt: skip
def test_where_the_code_is(code: CodeReference, place: str, at: str) -> None:
    assert (code_place(code), code_at(code, EN)) == (place, at)
