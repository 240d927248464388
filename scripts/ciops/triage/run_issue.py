"""One issue, from what the forge says of it to what is written: look, decide, plan, apply.

Reads are spared: what labels alone exclude is read no further, comments are read where there are
any, and in a sweep the timeline only of what is about to be written to. The timeline comes last,
and with it how the issue stands at that moment; then it is decided again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

from ciops.forges.base import Issue, IssueQueue, Person, Viewer
from ciops.plumbing.rendering import Templates
from ciops.triage.apply import Pen, Writes, Written, apply
from ciops.triage.comments import own_comment, render_comment
from ciops.triage.decide import Decision, decide
from ciops.triage.facts import IssueFacts
from ciops.triage.interruption import within
from ciops.triage.live_facts import (
    comment_url,
    facts_of,
    with_comments,
    with_newer_comments,
    with_states,
    with_timeline,
)
from ciops.triage.never import Case, refuse_breach
from ciops.triage.plan import Skip, skip_reason, standing_of
from ciops.triage.policy import Mode, Policy, Profile
from ciops.triage.rationale import Suggest, additions_of

Outcome = Literal["written", "planned", "unchanged", "skipped", "held_back", "failed"]
Deciding = Callable[[IssueFacts, Policy, Profile, Mode], Decision]

NOTHING: Final = Written()
DECIDING: Final = 60.0  # seconds, where a hundredth of one is usual

# What no timeline and no comment will change.
PLAIN_SKIPS: Final = ("pull_request", "closed", "locked", "not_in_queue")


@dataclass(frozen=True, slots=True)
class Desk:
    """What looking at an issue needs: where it is, who looks, and by which rules."""

    queue: IssueQueue
    forge: str
    viewer: Viewer
    policy: Policy
    profile: Profile
    words: Templates
    suggest: Suggest = "none"
    decide: Deciding = decide

    def association_of(self, person: Person) -> str:
        """Asked of the service where comments do not tell; never about a bot."""
        known = self.policy.bot_logins | self.policy.parent_bot_logins
        if person.is_bot or person.login.casefold() in known:
            return "NONE"
        return self.queue.association_of(person)


@dataclass(frozen=True, slots=True)
class Look:
    """An issue that has been looked at. `decision` is None where its labels said enough."""

    facts: IssueFacts
    skip: Skip | None
    decision: Decision | None
    writes: Writes
    similar: tuple[Issue, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one issue.

    `error` says what went wrong, `status` is then its exit status; with `ends_run` the whole run
    ends with it, and says so.
    """

    number: int
    outcome: Outcome
    look: Look | None = None
    written: Written = NOTHING
    error: str = ""
    status: int = 0
    ends_run: bool = False


def look_at(issue: Issue, desk: Desk, mode: Mode) -> Look:
    """Everything that is read and decided about an issue; nothing is written."""
    facts = facts_of(issue)
    skip = skip_reason(standing_of(facts, desk.policy), desk.profile, mode)
    if skip is not None and (mode == "sweep" or skip in PLAIN_SKIPS):
        return Look(facts, skip, None, Writes(issue.number))
    if issue.comments:
        comments = desk.queue.comments(issue.number)
        facts = with_comments(facts, comments, desk.association_of)
    if mode == "sweep":
        look = _decided(facts, desk, mode)
        if not look.writes.calls:
            return look
    return _decided(_as_it_stands(facts, issue, desk, mode), desk, mode)


def _as_it_stands(facts: IssueFacts, issue: Issue, desk: Desk, mode: Mode) -> IssueFacts:
    """By its timeline; an issue of a list is read again where a timeline does not tell enough."""
    told = desk.queue.timeline(issue.number)
    if told.states is None and mode == "sweep":
        issue = desk.queue.issue(issue.number)
        facts = replace(facts_of(issue), comments=facts.comments)
    facts = with_newer_comments(facts, told.comments, desk.association_of)
    facts = with_states(facts, told.states or (), issue.updated_at)
    return with_timeline(facts, told.labels, issue.updated_at)


def _decided(facts: IssueFacts, desk: Desk, mode: Mode) -> Look:
    with within(DECIDING, f"issue {facts.number}"):
        decision = desk.decide(facts, desk.policy, desk.profile, mode)
    refuse_breach(Case(decision.plan, facts, desk.policy, desk.profile))
    decision = _unrepeated(decision, facts, desk)
    writes = _planned(decision, facts, desk)
    desk.queue.refuse_labels([part.name for part in writes.labels], facts.labels)
    return Look(facts, decision.skip, decision, writes)


def _unrepeated(decision: Decision, facts: IssueFacts, desk: Desk) -> Decision:
    """With its comment suppressed where this account has made it before."""
    template = decision.plan.comment
    if template is None or decision.plan.comment_suppressed:
        return decision
    if not own_comment(template, facts.comments, desk.viewer, desk.policy):
        return decision
    return replace(decision, plan=replace(decision.plan, comment_suppressed=True))


def _planned(decision: Decision, facts: IssueFacts, desk: Desk) -> Writes:
    plan = decision.plan
    template = "" if plan.comment is None or plan.comment_suppressed else plan.comment
    text = render_comment(template, decision, desk.policy, desk.words) if template else ""
    labels = additions_of(decision, desk.policy, desk.words, desk.suggest)
    marker = desk.policy.comments[template].marker if template else ""
    return Writes(facts.number, template, marker, text, labels if plan.add_labels else ())


def write(look: Look, desk: Desk, pen: Pen) -> Result:
    """Apply what was planned."""
    number = look.facts.number
    written = apply(look.writes, pen)
    if written.comment_id and not written.comment_url:
        url = comment_url(look.facts, written.comment_id, desk.forge)
        written = replace(written, comment_url=url)
    return Result(number, "written", look, written)


def unwritten(look: Look, outcome: Outcome = "planned") -> Result:
    """The result of an issue to which nothing is written (now)."""
    if look.skip is not None:
        return Result(look.facts.number, "skipped", look)
    return Result(look.facts.number, outcome if look.writes.calls else "unchanged", look)
