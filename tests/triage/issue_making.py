"""Issues for tests in a line or two, and the shipped policy loaded once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ciops.triage.decide import Decision, decide, judge_facts, profile_of
from ciops.triage.facets import Facets, Judgement
from ciops.triage.facts import Account, CommentFacts, IssueFacts, LabelChange, from_rest
from ciops.triage.policy import Policy
from ciops.triage.policy_file import load_policy

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "config" / "issue-triage"
POLICY_FILE = CONFIG / "pytorch-distributed.yml"
SECOND_FILE = CONFIG / "tide-tables.yml"
CASES = ROOT / "tests" / "data" / "triage" / "cases"
WRITTEN = ROOT / "tests" / "data" / "triage" / "written"
QUEUE = "oncall: distributed"
BOT = Account("pytorch-bot[bot]", is_bot=True)
PERSON = Account("dana")


@cache
def policy() -> Policy:
    return load_policy(POLICY_FILE)


def said(
    body: str, role: str = "NONE", login: str = "somebody", *, bot: bool = False
) -> CommentFacts:
    """A comment."""
    return CommentFacts(Account(login, bot), role, body)


def issue(title: str = "", body: str = "", *comments: CommentFacts, labels=(QUEUE,), **more: Any):
    """An issue of the queue."""
    return IssueFacts(
        "t", 1, title, body, tuple(labels), Account("reporter"), comments=comments, **more
    )


def labelled(label: str, by: Account, at: int = 1, *, event: str = "labeled") -> LabelChange:
    """A label put or removed at hour `at`."""
    return LabelChange(event, label, by, f"2026-01-01T{at:02}:00:00Z")


def judged_facts(facts: IssueFacts) -> Judgement:
    return judge_facts(facts, policy())


def judged(title: str = "", body: str = "", *comments: CommentFacts) -> Judgement:
    return judge_facts(issue(title, body, *comments), policy())


def facets(title: str = "", body: str = "", *comments: CommentFacts) -> Facets:
    return judged(title, body, *comments).facets


def decided(facts: IssueFacts, profile: str = "current", mode: str = "sweep") -> Decision:
    return decide(facts, policy(), profile_of(policy(), profile), mode)  # type: ignore[arg-type]


def fence(text: str, info: str = "") -> str:
    return f"```{info}\n{text}\n```"


def written_cases() -> list[dict[str, Any]]:
    """The issues written for this project, in the shape of the authored cases."""
    found = []
    for path in sorted(WRITTEN.glob("*.yml")):
        found.extend(_case(entry) for entry in yaml.safe_load(path.read_text(encoding="utf-8")))
    return found


def _case(entry: dict[str, Any]) -> dict[str, Any]:
    told = entry["facets"]
    comments = [
        {
            "user": {"login": c.get("by", "somebody"), "type": c.get("type", "User")},
            "author_association": c.get("role", "NONE"),
            "body": c["body"],
        }
        for c in entry.get("comments", [])
    ]
    return {
        "id": entry["id"],
        "issue": {
            "number": 1,
            "title": entry["title"],
            "body": entry["body"],
            "labels": [{"name": name} for name in entry["labels"]],
            "user": {"login": "reporter", "type": "User"},
        },
        "comments": comments,
        "facets": {
            "distributed": told.get("distributed", True),
            "sub_oncall": told["sub_oncall"],
            "modules": told["modules"],
            "modules_acceptable_extra": told.get("extra", []),
            "confidence": told["confidence"],
            "type": told["type"],
            "performance": told.get("performance", False),
            "high_priority": told["high"],
            "has_repro": told["repro"],
            "repro_expected": told["expected"],
        },
    }


def facts_of(case: dict[str, Any]) -> IssueFacts:
    return from_rest(case)
