"""The record of a fixed bug: what its author wrote, with the types checked and nothing filled in.

An absent, null or blank field is "" or an empty tuple. `None` stands only for a whole mapping that
the record does not have, where that differs from an empty one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Language = Literal["en", "ja", "fr"]
LANGUAGES: Final[tuple[Language, ...]] = ("en", "ja", "fr")
KINDS: Final = ("bug-fix", "incident", "trivial")
OUTCOMES: Final = ("deterministic", "rate")
STATUSES: Final = ("identified", "hypothesis")
CAUSES: Final = (
    "ci-gap",
    "latent-code",
    "workload-gap",
    "incomplete-earlier-fix",
    "review-miss",
    "no-good-reason",
)
RESULTS: Final = ("pass", "fail", "not-run")
ITEM_KINDS: Final = ("regression-test", "refactor", "ci-gap", "docs", "related")
SECTIONS: Final = (
    "summary",
    "symptom",
    "root_cause",
    "why_symptom",
    "fix",
    "discovery",
    "escape",
    "validation",
    "action_items",
)


@dataclass(frozen=True, slots=True)
class Owner:
    name: str = ""
    team: str = ""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """`outcome` is one of OUTCOMES or ""; `rate` is text such as "9/10"."""

    steps: str = ""
    outcome: str = ""
    rate: str = ""


@dataclass(frozen=True, slots=True)
class RootCause:
    status: str = ""
    mechanism: str = ""
    introduced_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    reference: str = ""
    shortfall: str = ""


@dataclass(frozen=True, slots=True)
class Fix:
    references: tuple[str, ...] = ()
    change: str = ""
    addresses_cause: str = ""
    earlier_attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True)
class Hypothesis:
    claim: str = ""
    rejected_because: str = ""
    confirmed_by: str = ""


@dataclass(frozen=True, slots=True)
class Discovery:
    made_deterministic: str = ""
    tools: str = ""
    hypotheses: tuple[Hypothesis, ...] = ()
    decisive_experiment: str = ""
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Escape:
    causes: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Rerun:
    """The original reproduction after the fix; `result` is one of RESULTS or ""."""

    result: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Workload:
    name: str = ""
    result: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Performance:
    metric: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Stress:
    kind: str = ""
    duration: str = ""
    scale: str = ""
    result: str = ""


@dataclass(frozen=True, slots=True)
class Validation:
    original_reproduction: Rerun = Rerun()
    workloads: tuple[Workload, ...] = ()
    performance: tuple[Performance, ...] = ()
    stress: tuple[Stress, ...] = ()
    other_configurations: tuple[str, ...] = ()
    not_tested: str = ""


@dataclass(frozen=True, slots=True)
class ActionItem:
    what: str = ""
    owner: str = ""
    artifact: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class RevisionRequest:
    section: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One record; every text is Markdown as its author wrote it."""

    ticket: str = ""
    title: str = ""
    owner: Owner = Owner()
    language: Language = "en"
    kind: str = ""
    summary: str = ""
    symptom: str = ""
    reproduction: Reproduction = Reproduction()
    root_cause: RootCause = RootCause()
    why_symptom: str = ""
    fix: Fix = Fix()
    discovery: Discovery = Discovery()
    escape: Escape = Escape()
    validation: Validation = Validation()
    action_items: tuple[ActionItem, ...] = ()
    revision: int = 1
    revision_request: RevisionRequest = RevisionRequest()

    def sections(self) -> tuple[str, ...]:
        """The ids of the sections that the document has, in its order."""
        optional = {
            "symptom": bool(self.symptom),
            "why_symptom": bool(self.why_symptom),
            "discovery": self.discovery != Discovery(),
            "escape": self.escape != Escape(),
        }
        return tuple(name for name in SECTIONS if optional.get(name, True))
