"""A pull or merge request for one bucket, from a branch that holds the fix.

Everything that a rule forbids is refused before anything is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ciops.errors import RefusedError, UsageError
from ciops.failures import report_model as model
from ciops.failures.duplicates import DuplicateSearch
from ciops.failures.knowledge import Knowledge, Owner
from ciops.failures.report_model import Bucket, Report
from ciops.failures.tracking_rules import TrackingRules
from ciops.failures.tracking_text import change_body, titled
from ciops.plumbing.rendering import clean_text
from ciops.plumbing.yaml_file import nearest, shown

if TYPE_CHECKING:
    from ciops.forges.base import CodeHost, Forge

NO_TICKET: Final = "None"
_BRANCH: Final = re.compile(r"(?:[A-Za-z0-9][\w.-]*:)?[\w][\w./+@=-]{0,200}")


@dataclass(frozen=True, slots=True)
class Change:
    """A change as it would be proposed."""

    repository: str
    title: str
    body: str
    head: str
    base: str


def chosen_bucket(report: Report, name: str) -> Bucket:
    """The bucket of a name; UsageError names the nearest one."""
    for bucket in report.buckets:
        if bucket.name == name:
            return bucket
    names = [bucket.name for bucket in report.buckets]
    close = nearest(name, names)
    known = f"Did you mean {shown(close)}?" if close else f"It holds: {', '.join(names) or 'none'}"
    raise UsageError(f"--bucket: the report has no bucket {shown(name)}", known)


def refuse_by_report(report: Report, bucket: Bucket, validation: str, head: str) -> None:
    """RefusedError for what the report or the arguments forbid."""
    name = shown(bucket.name, 200)
    if not validation.strip():
        problem = "--validation is empty: a change without a validation is not proposed"
        raise RefusedError(problem, "Say which test or command shows that the fix works")
    if bucket.status != model.ACTIONABLE:
        problem = f"bucket {name} is {bucket.status}: {bucket.reason}"
        raise RefusedError(problem, "Only actionable buckets deserve a change")
    job = report.jobs_by_id.get(bucket.representative_job)
    if job is None or not job.excerpt or job.evidence != "strong":
        problem = f"bucket {name} has no log excerpt that shows its cause"
        raise RefusedError(problem, "Read the log of its representative job first")
    if not bucket.hypothesis:
        problem = f"bucket {name} has no hypothesis in code"
        raise RefusedError(problem, "Find the code that fails first")
    if not _BRANCH.fullmatch(head) or ".." in head:
        raise UsageError(f"--head: {shown(head)} is no branch", "Write BRANCH or OWNER:BRANCH")


def owner_of(bucket: Bucket, knowledge: Knowledge, env: Mapping[str, str]) -> Owner:
    """The owner whose repository the change is for; RefusedError when that is not the target.

    The target is the repository in whose CI this runs, where it runs in one of the owner's forge.
    """
    owner = knowledge.owner(bucket.owner)
    if not owner.verified or not owner.repository:
        problem = f"bucket {shown(bucket.name)} is owned by {owner.name}"
        raise RefusedError(problem, "Changes go to verified repositories of the configuration only")
    target = env.get("GITHUB_REPOSITORY" if owner.forge == "github" else "CI_PROJECT_PATH", "")
    if target and target.casefold() != owner.repository.casefold():
        raise RefusedError(
            f"the target repository {target} is not {owner.repository}, which owns the bucket",
            "Run it for the owner's repository",
        )
    return owner


def planned(
    report: Report,
    bucket: Bucket,
    owner: Owner,
    rules: TrackingRules,
    forge: Forge,
    head: str,
    validation: str,
) -> Change:
    """The change, after a look at what is there; RefusedError when something covers it."""
    code = forge.code(owner.repository)
    base = code.project().default_branch or owner.branch
    _refuse_branch(code, owner, head, base)
    opened = code.open_pulls(head)
    if opened:
        problem = f"a pull request from {head} is open already: {opened[0].url}"
        raise RefusedError(problem, "Update that one")
    search = DuplicateSearch(forge.queue(owner.repository), "")
    found = search.find(bucket, kinds=("pull",))
    if found is not None:
        problem = f"an open pull request covers bucket {shown(bucket.name)}: {found.url}"
        raise RefusedError(problem, "Work on that one")
    body = change_body(report, bucket, validation)
    return Change(owner.repository, title_of(bucket, rules, head), body, head, base)


def _refuse_branch(code: CodeHost, owner: Owner, head: str, base: str) -> None:
    fork, _, branch = head.rpartition(":")
    if fork and fork.casefold() != owner.repository.partition("/")[0].casefold():
        return  # a branch of a fork: the service looks for it
    if branch == base:
        raise RefusedError(f"--head: {branch} is the branch to change", "Name the fix's own branch")
    if code.branch(branch) is None:
        raise RefusedError(
            f"--head: {owner.repository}, which owns the bucket, has no branch {shown(branch)}",
            "Push the fix there first",
        )


def title_of(bucket: Bucket, rules: TrackingRules, head: str) -> str:
    """`[ticket][type] description`; the ticket is None where the branch's name holds none."""
    match = rules.ticket.search(head) if rules.ticket else None
    ticket = match["ticket"].upper() if match and match["ticket"] else NO_TICKET
    error = " ".join(clean_text(bucket.causal_error or "").split())
    component, _, mode = bucket.name.partition("/")[2].partition("/")
    what = f"{component}: {error or mode.replace('-', ' ')}"
    return titled(f"[{ticket}][{rules.change_type}] {what}")
