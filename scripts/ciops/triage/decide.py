"""The decision: facts and policy in, facets, plan and reasons out. A pure function."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from ciops.errors import UsageError
from ciops.triage.facets import FacetEvidence, Facets, Judgement, Weighed, conclude, weigh
from ciops.triage.facts import IssueFacts
from ciops.triage.issue_text import read_issue
from ciops.triage.plan import Plan, Skip, make_plan, skip_reason, standing_of
from ciops.triage.policy import Mode, Policy, Profile

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class Decision:
    """What the bot thinks of an issue and what it would do about it.

    Facets come from the text for every issue, also for a skipped one, whose plan is empty.
    """

    id: str
    policy: str
    profile: str
    skip: Skip | None
    facets: Facets
    existing_route: str | None
    plan: Plan
    judgement: Judgement

    @property
    def evidence(self) -> tuple[FacetEvidence, ...]:
        return self.judgement.evidence

    @property
    def sub_oncall_source(self) -> str | None:
        if self.existing_route is not None:
            return "existing"
        return "routed" if self.facets.distributed else None


def profile_of(policy: Policy, name: str | None = None) -> Profile:
    """A profile of the policy by name, its default without one; raises UsageError."""
    wanted = name or policy.default_profile
    if wanted not in policy.profiles:
        known = ", ".join(policy.profiles)
        raise UsageError(
            f'policy {policy.name} has no profile "{wanted}"', f"Choose one of: {known}"
        )
    return policy.profiles[wanted]


def judge_facts(facts: IssueFacts, policy: Policy) -> Judgement:
    """Read an issue and judge its text."""
    return conclude(weigh_facts(facts, policy), policy)


def weigh_facts(facts: IssueFacts, policy: Policy) -> Weighed:
    """Read an issue and weigh its text: all that `facets_of` needs."""
    return weigh(read_issue(facts, policy.reading, policy.bot_logins), policy)


def decide(facts: IssueFacts, policy: Policy, profile: Profile, mode: Mode = "sweep") -> Decision:
    """Decide one issue. `single` looks again at an issue that a marker says is processed."""
    judgement = judge_facts(facts, policy)
    if facts.is_pull_request:  # of a change nobody asks how to reproduce it
        asked = replace(judgement.facets, repro_expected=False)
        judgement = replace(judgement, facets=asked)
    standing = standing_of(facts, policy)
    skip = skip_reason(standing, profile, mode)
    plan = Plan() if skip else make_plan(facts, judgement.facets, policy, profile)
    routes = standing.routes
    return Decision(
        id=facts.id,
        policy=f"{policy.name}@{policy.version}",
        profile=profile.id,
        skip=skip,
        facets=judgement.facets,
        existing_route=routes[0].id if routes else None,
        plan=plan,
        judgement=judgement,
    )


def to_json(decision: Decision, would_change: Iterable[dict[str, Any]] = ()) -> dict[str, Any]:
    """The decision as one JSON object of schema 1."""
    facets, plan = decision.facets, decision.plan
    return {
        "schema": SCHEMA,
        "policy": decision.policy,
        "id": decision.id,
        "skip": decision.skip,
        "distributed": facets.distributed,
        "sub_oncall": facets.sub_oncall,
        "existing_route": decision.existing_route,
        "sub_oncall_source": decision.sub_oncall_source,
        "modules": list(facets.modules),
        "confidence": facets.confidence,
        "type": facets.type,
        "performance": facets.performance,
        "high_priority": list(facets.high_priority),
        "has_reproduction": facets.has_reproduction,
        "repro_expected": facets.repro_expected,
        "plan": {
            "add_labels": list(plan.add_labels),
            "comment": plan.comment,
            "comment_suppressed": plan.comment_suppressed,
        },
        "evidence": [_evidence_json(item) for item in decision.evidence],
        "would_change": list(would_change),
    }


def _evidence_json(item: FacetEvidence) -> dict[str, Any]:
    found = item.evidence
    return {
        "facet": item.facet,
        "signal": found.signal,
        "zone": found.zone,
        "where": found.where,
        "line": found.line,
        "text": found.text[:300],
        "role": found.role,
    }
