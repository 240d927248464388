"""The reason for each label that is added, as GitHub's add-label call takes it.

https://docs.github.com/en/rest/issues/labels: `{name, rationale, confidence, suggest}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from ciops.forges.base import LabelAddition
from ciops.plumbing.rendering import Templates, code_span
from ciops.triage.decide import Decision
from ciops.triage.evidence import Evidence
from ciops.triage.policy import Policy
from ciops.triage.routing import Confidence

Suggest = Literal["none", "low", "all"]
Subject = Literal["route", "module", "type", "review", "reproduction", "marker"]

QUOTE: Final = 120
_COMPONENT: Final = "component:"


def additions_of(
    decision: Decision, policy: Policy, words: Templates, suggest: Suggest
) -> tuple[LabelAddition, ...]:
    """The labels of a plan, in its order, each with its strongest evidence."""
    return tuple(
        _addition(label, decision, policy, words, suggest) for label in decision.plan.add_labels
    )


def _addition(
    label: str, decision: Decision, policy: Policy, words: Templates, suggest: Suggest
) -> LabelAddition:
    subject = subject_of(label, policy)
    confidence = _confidence(subject, decision)
    pending = suggest == "all" or (suggest == "low" and confidence == "low")
    found = next(evidence_for(label, decision, policy), None)
    rationale = quoted(found, words) if found else words.message(f"rationale.{subject}")
    return LabelAddition(label, rationale, confidence, pending)


def subject_of(label: str, policy: Policy) -> Subject:
    """What a label of the policy speaks about."""
    labels = policy.labels
    if any(label == route.label for route in policy.routes):
        return "route"
    if label in policy.module_labels:
        return "module"
    if label in (*labels.types.values(), labels.performance):
        return "type"
    if label == labels.review:
        return "review"
    return "reproduction" if label == labels.reproduction else "marker"


def _confidence(subject: Subject, decision: Decision) -> Confidence:
    """Of what the text decides; that a person should look, or that a bot has, is certain."""
    doubtful = subject in ("route", "module", "type")
    if doubtful or (subject == "review" and not decision.facets.distributed):
        return decision.facets.confidence
    return "high"


def evidence_for(label: str, decision: Decision, policy: Policy) -> Iterator[Evidence]:
    """The evidence in favour of a label, the strongest first."""
    facets = _facets(label, decision, policy)
    guess = decision.facets.sub_oncall
    for item in decision.evidence:
        found = item.evidence
        if item.facet not in facets or found.points <= 0:
            continue
        if _speaks_for(found, label, guess, policy):
            yield found


def _facets(label: str, decision: Decision, policy: Policy) -> tuple[str, ...]:
    if label == policy.labels.performance:
        return ("performance",)
    if label == policy.labels.review:
        return ("high_priority",) if decision.facets.distributed else ("distributed",)
    by_subject = {"route": ("sub_oncall",), "module": ("modules",), "type": ("type",)}
    return by_subject.get(subject_of(label, policy), ())


def _speaks_for(evidence: Evidence, label: str, guess: str | None, policy: Policy) -> bool:
    """Evidence of a component is for that component's label alone; a guess for no other route."""
    if subject_of(label, policy) == "route":
        return any(route.label == label and route.id == guess for route in policy.routes)
    if label not in policy.module_labels or not evidence.topic.startswith(_COMPONENT):
        return True
    return policy.components[evidence.topic.removeprefix(_COMPONENT)].label == label


def quoted(evidence: Evidence, words: Templates) -> str:
    """A line of the issue as code, which mentions nobody, and where it stands."""
    return f"{code_span(shortened(evidence.text))} ({place_of(evidence, words)})"


def shortened(text: str, length: int = QUOTE) -> str:
    """Text on one line, cut between words."""
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    head = text[:length]
    return (head.rpartition(" ")[0] or head) + " …"


def place_of(evidence: Evidence, words: Templates) -> str:
    """`body, line 12` in the reader's language."""
    return place_in(evidence.where, evidence.line, words)


def place_in(where: str, line: int, words: Templates, last: int = 0) -> str:
    """A line of the title, the body or `comment 3`, or the lines up to `last`."""
    document, _, number = where.partition(" ")
    key = f"place.{document}_lines" if last > line and document != "title" else f"place.{document}"
    return words.message(key, n=number, line=line, last=last)
