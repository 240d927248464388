"""Check a policy: the schema, each rule's own examples, and the patterns.

The loader has refused what cannot be loaded; here is what a policy's author wants to know more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ciops.plumbing.pattern_trial import TOO_LONG, stalls_on
from ciops.plumbing.schema_check import schema_problems
from ciops.plumbing.yaml_file import Document, load, shown
from ciops.triage.anchor_index import is_tried_on_every_line
from ciops.triage.command_line import POLICY
from ciops.triage.inferred import (
    ELSEWHERE,
    LISTS_DIFFER,
    ON_ONE_RANK,
    RANKS_DIFFER,
    REPAIRED,
    WORKED_BEFORE,
)
from ciops.triage.pattern_lint import mending, unreadable
from ciops.triage.patterns import fold
from ciops.triage.policy import Policy, Signal
from ciops.triage.policy_file import policy_of
from ciops.triage.sayings import SayingIndex

INFERRED: Final = frozenset({"group:called_inside", ELSEWHERE, ON_ONE_RANK, REPAIRED})
COMPUTED: Final = (WORKED_BEFORE, LISTS_DIFFER, RANKS_DIFFER)
SCHEMA: Final = POLICY.with_name("policy.schema.json")


def check_policy(path: Path) -> tuple[Policy, list[str], list[str]]:
    """The policy, its problems, and hints; raises DocumentError for what cannot be loaded."""
    document = load(path)
    policy = policy_of(document)
    problems = [*schema_problems(document, SCHEMA), *_rules(document, policy)]
    problems += [*_unreadable(document, policy)] or [
        *_examples(document, policy),
        *_slow_patterns(document, policy),
    ]
    return policy, problems, list(_hints(document, policy))


def _all_signals(policy: Policy) -> Iterator[Signal]:
    yield from (signal for signal, *_ in _all_said(policy))


def _all_said(policy: Policy) -> Iterator[tuple[Signal, int, SayingIndex | None]]:
    """Every signal, with the index of sayings that knows it, and its number there."""
    for number, signal in enumerate(policy.signals):
        yield signal, number, policy.sayings
    for rule in policy.comments.values():
        for number, signal in enumerate(rule.equivalents):
            yield signal, number, rule.sayings


def _unreadable(document: Document, policy: Policy) -> Iterator[str]:
    """Patterns that are no regular expressions."""
    for signal in _all_signals(policy):
        for index, pattern in enumerate(signal.patterns):
            if fault := unreadable(pattern):
                where = (*signal.place, "patterns", index)
                said = f"pattern {shown(pattern)} {fault}"
                yield str(document.error(where, said, mending(fault)))


def _examples(document: Document, policy: Policy) -> Iterator[str]:
    """Every `matches` must match and every `near_misses` must not."""
    for signal, number, sayings in _all_said(policy):
        for key, examples, wanted in (
            ("matches", signal.matches, True),
            ("near_misses", signal.near_misses, False),
        ):
            for index, example in enumerate(examples):
                if _is_in(example, signal, number, sayings) is not wanted:
                    said = "is not matched" if wanted else "is matched"
                    where = (*signal.place, key, index)
                    yield str(document.error(where, f"{example!r} {said} by {signal.id}"))


def _is_in(text: str, signal: Signal, number: int, sayings: SayingIndex | None) -> bool:
    """Whether a signal, the how manieth of an index of sayings, is in a line."""
    if signal.search(text) is not None:
        return True
    if not signal.says or sayings is None:
        return False
    return any(x.owner == number for x in sayings.find(fold(text), min(signal.zones)))


def _slow_patterns(document: Document, policy: Policy) -> Iterator[str]:
    """Patterns that a line can make slow, tried."""
    for signal in _all_signals(policy):
        for index, pattern in enumerate(signal.patterns):
            piece = stalls_on(re.compile(pattern, re.ASCII | re.IGNORECASE))
            if piece:
                said = f"{shown(pattern)} takes over {TOO_LONG:g} s on repeated {shown(piece)}"
                where = (*signal.place, "patterns", index)
                yield str(document.error(where, said, "Bound its repeats more narrowly"))


def _rules(document: Document, policy: Policy) -> Iterator[str]:
    """Rules that name what is not there."""
    topics = {signal.topic for signal in policy.signals}
    known = {signal.id for signal in policy.signals}
    for index, override in enumerate(policy.overrides):
        for key, conditions in (("when", override.when), ("unless", override.unless)):
            for condition in (c.strip() for text in conditions for c in text.split(" or ")):
                if problem := _unknown(condition, known, topics, policy):
                    yield str(document.error(("overrides", index, key), problem))
    for family in (*policy.priorities, *policy.apart):
        for group in (*family.counts, *family.needs, *family.unless):
            for condition in (c.strip() for c in group.split(" or ")):
                if problem := _unknown(condition, known, topics, policy):
                    yield f"{document.name}: family {family.id}: {problem}"


def _unknown(condition: str, known: set[str], topics: set[str], policy: Policy) -> str | None:
    if condition.startswith("signal:"):
        name = condition[7:]
        computed = name.endswith(("_frames", "_file")) or name in COMPUTED
        return None if name in known or computed else f"there is no signal {name!r}"
    topic = condition.partition(".")[0]
    if topic.startswith("component:"):
        name = topic.removeprefix("component:")
        return (
            None if name in policy.components or name == "*" else f"there is no component {name!r}"
        )
    known_topic = topic in topics or topic in INFERRED
    return None if known_topic else f"there is no topic {topic!r}"


def _hints(document: Document, policy: Policy) -> Iterator[str]:
    """What works, but could be better: rules without examples, patterns that cost every line."""
    for signal in _all_signals(policy):
        line = document.line(signal.place)
        if signal.kind in ("words", "toggle") and not (signal.matches and signal.near_misses):
            yield f"line {line}: {signal.id} has no matches or no near_misses"
        for pattern in signal.patterns:
            if is_tried_on_every_line(pattern):
                why = "no word is in all that it matches, so it is tried on every line"
                yield f"line {line}: {signal.id}: {why}: {pattern[:60]!r}"
