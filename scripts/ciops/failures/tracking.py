"""File what a report found, at most one issue for a bucket, and nothing that is there already.

`verdict` decides from the report alone; `Tracker` looks for duplicates and writes. A dry run does
everything but the write. What fails is a remark, and the other buckets go on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from ciops.errors import CiopsError, UsageError
from ciops.failures import report_model as model
from ciops.failures.duplicates import Duplicate, DuplicateSearch
from ciops.failures.issue_form import IssueForm, read_form
from ciops.failures.knowledge import Knowledge, Owner
from ciops.failures.report_model import Bucket, Remark, Report
from ciops.failures.tracking_rules import TrackingRules, home_of
from ciops.failures.tracking_text import PLAIN_FORM, Filing, issue, marker
from ciops.plumbing.interruption import StoppedError

if TYPE_CHECKING:
    from ciops.forges.base import CodeHost, Forge, IssueQueue

RECENT: Final = timedelta(days=2)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a bucket deserves an issue, and what stands in the way of a change."""

    file: bool
    blocker: str


def verdict(bucket: Bucket, owner: Owner, home: Owner | None) -> Verdict:
    """What the report alone decides: evidence, status, owner."""
    if bucket.evidence != "strong" or not bucket.causal_error:
        return Verdict(False, model.WEAK_EVIDENCE)
    if not owner.verified:
        return Verdict(home is not None, model.EXTERNAL_OR_INFRA)
    if bucket.status == model.ACTIONABLE:
        return Verdict(False, "")
    return Verdict(home is not None, model.NO_SINGLE_FIX)


def untracked(report: Report, knowledge: Knowledge) -> Report:
    """The report when filing was not asked for: every bucket says what stands in the way."""
    buckets = []
    for bucket in report.buckets:
        owner = knowledge.owner(bucket.owner)
        found = verdict(bucket, owner, home_of(owner, knowledge))
        buckets.append(replace(bucket, blocker=found.blocker or model.DUPLICATES_NOT_CHECKED))
    return replace(report, buckets=tuple(buckets))


OpenForge = Callable[[str], "Forge"]
"""A forge by name; UsageError when its token is not set."""


@dataclass(slots=True)
class _Home:
    """A tracker: its issues, its code, what labels it has, and its forms as they were read."""

    owner: Owner
    queue: IssueQueue
    code: CodeHost
    search: DuplicateSearch
    labels: frozenset[str]
    forms: dict[str, IssueForm]


class Tracker:
    """Tracks the buckets of one report. `planned` hears of every issue before it is filed."""

    def __init__(
        self,
        knowledge: Knowledge,
        rules: TrackingRules,
        open_forge: OpenForge,
        planned: Callable[[Filing], None],
        now: Callable[[], float],
    ) -> None:
        self._knowledge = knowledge
        self._rules = rules
        self._open_forge = open_forge
        self._planned = planned
        self._now = now
        self._homes: dict[str, _Home | CiopsError] = {}
        self._markers: dict[str, str] = {}

    def track(self, report: Report, *, dry_run: bool) -> Report:
        """The report with what became of each bucket."""
        done: list[Bucket] = []
        problems: list[Remark] = []
        for bucket in report.buckets:
            try:
                done.append(self._track(report, bucket, dry_run))
            except CiopsError as error:
                problems.append(Remark(model.TRACKING_FAILED, f"{bucket.name}: {error}"))
                done.append(replace(bucket, blocker=model.DUPLICATES_NOT_CHECKED))
            except StoppedError as stop:
                problems.append(Remark(model.STOPPED, f"{stop.reason} at {bucket.name}, tracking"))
                break
        left = report.buckets[len(done) :]
        done += [replace(one, blocker=model.DUPLICATES_NOT_CHECKED) for one in left]
        statuses = {bucket.name: bucket.status for bucket in done}
        return replace(
            report,
            buckets=tuple(done),
            jobs=tuple(replace(job, status=statuses[job.bucket]) for job in report.jobs),
            remarks=(*report.remarks, *problems),
            tracked=True,
            dry_run=dry_run,
        )

    def _track(self, report: Report, bucket: Bucket, dry_run: bool) -> Bucket:
        owner = self._knowledge.owner(bucket.owner)
        place = home_of(owner, self._knowledge)
        found = verdict(bucket, owner, place)
        if place is None or found.blocker == model.WEAK_EVIDENCE:
            return replace(bucket, blocker=found.blocker)
        home = self._home(place)
        duplicate = home.search.find(bucket)
        if duplicate is not None:
            return _covered(bucket, duplicate)
        if not found.file:
            return replace(bucket, blocker=found.blocker)
        same = self._markers.setdefault(marker(bucket), bucket.name)
        if same != bucket.name:  # it restates a bucket that this run filed
            return replace(bucket, blocker=found.blocker)
        return self._file(report, bucket, home, found.blocker, dry_run)

    def _file(
        self, report: Report, bucket: Bucket, home: _Home, blocker: str, dry_run: bool
    ) -> Bucket:
        form = self._form(home, self._rules.form_for(bucket.name))
        labels = _that_exist(form.labels, home.labels)
        filing = issue(report, bucket, form, self._rules, home.owner.repository, labels, blocker)
        self._planned(filing)
        if dry_run:
            return replace(bucket, tracking_state=model.PLANNED)
        filed = home.code.create_issue(filing.title, filing.body, filing.labels)
        return replace(bucket, tracking=filed.url, tracking_state=model.FILED)

    def _home(self, owner: Owner) -> _Home:
        """A tracker, opened once; the same error for every bucket that it cannot take."""
        known = self._homes.get(owner.name)
        if known is None:
            try:
                known = self._opened(owner)
            except CiopsError as error:
                known = error
            self._homes[owner.name] = known
        if isinstance(known, CiopsError):
            raise known
        return known

    def _opened(self, owner: Owner) -> _Home:
        forge = self._open_forge(owner.forge)
        queue = forge.queue(owner.repository)
        since = datetime.fromtimestamp(self._now(), UTC) - RECENT
        search = DuplicateSearch(queue, since.strftime("%Y-%m-%dT%H:%M:%SZ"))
        code = forge.code(owner.repository)
        return _Home(owner, queue, code, search, queue.labels(), {})

    def _form(self, home: _Home, path: str) -> IssueForm:
        """The tracker's own form; a plain one where it has none."""
        if path not in home.forms:
            content = home.code.file(path)
            home.forms[path] = (
                PLAIN_FORM if content is None else _read(content, f"{home.owner.repository}/{path}")
            )
        return home.forms[path]


def _read(content: bytes, name: str) -> IssueForm:
    try:
        return read_form(content.decode("utf-8-sig"), name)
    except UnicodeDecodeError:
        raise UsageError(f"{name}: is not UTF-8", "Name another form") from None


def _that_exist(wanted: tuple[str, ...], there: frozenset[str]) -> tuple[str, ...]:
    """The labels of a form that its repository has: filing must not make new ones."""
    known = {name.casefold(): name for name in there}
    return tuple(known[name.casefold()] for name in wanted if name.casefold() in known)


def _covered(bucket: Bucket, found: Duplicate) -> Bucket:
    """A bucket that something open covers deserves no second change."""
    covered = replace(bucket, tracking=found.url, tracking_state=model.EXISTING)
    if bucket.status != model.ACTIONABLE:
        return covered
    what = "pull request" if found.is_pull else "issue"
    reason = f"an open {what} covers it already; {bucket.reason}"
    return replace(covered, status=model.ISSUE_ONLY, reason=reason)
