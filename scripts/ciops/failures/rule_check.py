"""Check a configuration: its shape, its patterns, and every example it shows.

A rule must know each of its `matches` and leave each of its `near_misses` alone. Lines are put to
the classifier as the reader would put them; excerpts of buckets are read like whole traces.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from ciops.failures.bucket_rules import PLACES, BucketRule, Condition
from ciops.failures.buckets import JobEvidence, holds
from ciops.failures.framing import clean
from ciops.failures.knowledge import Knowledge, too_slow
from ciops.failures.line_rules import Classifier, LineRule
from ciops.failures.prefixes import Peeled, peel
from ciops.failures.trace import TraceReader
from ciops.plumbing.pattern_trial import stalls_on
from ciops.plumbing.schema_check import schema_problems
from ciops.plumbing.yaml_file import Document, nearest, shown


def problems(knowledge: Knowledge, schema: Path) -> list[str]:
    """Everything that is wrong, as sentences; empty when the configuration is good."""
    found = [p for document in knowledge.documents for p in schema_problems(document, schema)]
    found += _twice(knowledge)
    unusable = list(_patterns(knowledge))
    found += unusable
    if unusable:
        return found  # examples cannot be tried with patterns that do not compile
    found += _line_problems(knowledge)
    found += _bucket_problems(knowledge)
    found += _unknown_owners(knowledge)
    found += _unknown_places(knowledge)
    return found


def _twice(knowledge: Knowledge) -> Iterator[str]:
    seen: set[str] = set()
    for rule in (*knowledge.lines, *knowledge.observations):
        if rule.id in seen:
            yield f"{_where(knowledge, rule.id)}rule {rule.id}: the id is used twice. Rename one"
        seen.add(rule.id)


def _where(knowledge: Knowledge, name: str) -> str:
    """`FILE:LINE: ` of the entry of that id or name."""
    wanted = re.compile(rf"(?m)^\s*- (?:id|name): [\"']?{re.escape(name)}[\"']?\s*$")
    for document in knowledge.documents:
        match = wanted.search(document.text)
        if match:
            return f"{document.name}:{_line_at(document, match.start() + 1)}: "
    return ""


def _line_at(document: Document, position: int) -> int:
    return document.text.count("\n", 0, position) + 1


def _patterns(knowledge: Knowledge) -> Iterator[str]:
    """Patterns that do not compile, or that take too long on some text."""
    for name, source in _sources(knowledge):
        problem = _pattern_problem(source)
        if problem:
            yield f"{_where(knowledge, name)}rule {name}: pattern {shown(source)} {problem}"


def _sources(knowledge: Knowledge) -> Iterator[tuple[str, str]]:
    for rule in (*knowledge.lines, *knowledge.observations):
        yield rule.id, rule.source
        if rule.below:
            yield rule.id, rule.below
    for bucket in knowledge.buckets:
        for condition in (bucket.when, *bucket.unless):
            yield from ((bucket.name, source) for source in _condition_sources(condition))


def _condition_sources(condition: Condition) -> list[str]:
    sources = (
        *(condition.text, condition.exception, condition.frame, condition.raised_in),
        *(condition.job_reason, condition.unreadable),
    )
    return [source for source in sources if source]


def _pattern_problem(source: str) -> str:
    try:
        pattern = re.compile(source)
    except re.error as error:
        return f"is no regular expression: {error}. Escape it or mend it"
    piece = stalls_on(pattern)
    return too_slow(piece) if piece else ""


def _line_problems(knowledge: Knowledge) -> Iterator[str]:
    for rule in knowledge.lines:
        yield from _example_problems(knowledge, rule, knowledge.hinter)
    for rule in knowledge.observations:
        yield from _example_problems(knowledge, rule, Classifier([rule]))


def _example_problems(
    knowledge: Knowledge, rule: LineRule, classifier: Classifier
) -> Iterator[str]:
    where = _where(knowledge, rule.id)
    if not rule.matches or not rule.near_misses:
        yield f"{where}rule {rule.id}: shows no match or no near miss. Add one of each"
    for line in rule.matches:
        problem = _match_problem(rule, _as_read(line), classifier)
        if problem:
            yield f"{where}rule {rule.id}: does not know its match {shown(line)}: {problem}"
    for line in rule.near_misses:
        said = classifier.say(*_as_read(line))
        if said is not None and said.rule is rule:
            yield f"{where}rule {rule.id}: knows its near miss {shown(line)}. Narrow the pattern"


def _as_read(line: str) -> tuple[str, str]:
    """The text and level under which the reader asks for a line."""
    peeled: Peeled = peel(clean(line))
    return peeled.text.strip(), peeled.level


def _match_problem(rule: LineRule, line: tuple[str, str], classifier: Classifier) -> str:
    text, level = line
    if not rule.compiled().search(text):
        return f"the pattern finds nothing in {shown(text)}"
    if rule.words and not any(word in text.lower() for word in rule.words):
        return "none of its words stands in the line. Put one that does into words"
    said = classifier.say(text, level)
    if said is not None and said.rule.role == rule.role:
        return ""
    return f"rule {said.rule.id} comes first" if said else "another level is asked for"


def _unknown_places(knowledge: Knowledge) -> Iterator[str]:
    for rule in knowledge.buckets:
        for name in re.findall(r"\{\w+\}", rule.hypothesis):
            if name not in PLACES:
                where = f"{_where(knowledge, rule.name)}bucket {rule.name}"
                step = f"Known are: {', '.join(PLACES)}"
                yield f"{where}: hypothesis: nothing stands for {name}. {step}"


def _bucket_problems(knowledge: Knowledge) -> Iterator[str]:
    for rule in knowledge.buckets:
        if rule.when.unreadable or rule.when.job_reason:
            continue  # facts of the job, which no excerpt shows
        where = _where(knowledge, rule.name)
        if not rule.matches or not rule.near_misses:
            yield f"{where}bucket {rule.name}: shows no match or no near miss. Add one of each"
        for excerpt in rule.matches:
            first = _first_rule(excerpt, knowledge)
            if first is None or first.name != rule.name:
                instead = f"{first.name} holds it" if first else "no rule holds it"
                yield f"{where}bucket {rule.name}: does not hold its match: {instead}"
        for excerpt in rule.near_misses:
            first = _first_rule(excerpt, knowledge)
            if first is not None and first.name == rule.name:
                yield f"{where}bucket {rule.name}: holds its near miss. Narrow its conditions"


def _first_rule(excerpt: str, knowledge: Knowledge) -> BucketRule | None:
    """The rule that holds an excerpt of a trace."""
    reader = TraceReader(knowledge)
    reader.feed(excerpt.encode())
    job = JobEvidence(0, "example", reader.finish())
    return next((rule for rule in knowledge.buckets if holds(rule, job)), None)


def _unknown_owners(knowledge: Knowledge) -> Iterator[str]:
    known = {owner.name for owner in knowledge.owners} | {"frame"}
    for rule in knowledge.buckets:
        if rule.owner not in known:
            where = f"{_where(knowledge, rule.name)}bucket {rule.name}"
            yield f"{where}: no owner {shown(rule.owner)}. {_step(rule.owner, known)}"
    around = knowledge.jobs.around
    if around and around not in known:
        yield f"jobs.around: there is no owner {shown(around)}. {_step(around, known)}"
    for component in knowledge.components:
        if component.owner not in known:
            where = f"component {component.name}"
            step = _step(component.owner, known)
            yield f"{where}: there is no owner {shown(component.owner)}. {step}"


def _step(name: str, known: Collection[str]) -> str:
    close = nearest(name, known)
    return f'Did you mean "{close}"?' if close else f"Known are: {', '.join(sorted(known))}"
