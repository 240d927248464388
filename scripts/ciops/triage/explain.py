"""`explain`: everything that decided one issue, or why it does not get a certain label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ciops.errors import EXIT_DONE
from ciops.forges.base import IssueQueue
from ciops.plumbing.command_line import open_host, parse
from ciops.plumbing.rendering import Templates, code_span, link, plain_text
from ciops.plumbing.yaml_file import nearest
from ciops.triage.command_line import (
    Parser,
    add_language,
    add_output,
    add_place,
    add_policy,
    issue_number,
    open_queue,
    place_of,
)
from ciops.triage.decide import Decision, decide, profile_of
from ciops.triage.evidence import Evidence
from ciops.triage.facts import IssueFacts
from ciops.triage.issue_summary import (
    FACETS,
    change_line,
    evidence_url,
    route_headline,
    skip_reason_words,
    spans,
)
from ciops.triage.live_facts import facts_of, with_comments, with_timeline
from ciops.triage.plan import standing_of
from ciops.triage.policy import Policy, Profile
from ciops.triage.policy_file import load_policy
from ciops.triage.rationale import evidence_for, shortened, subject_of
from ciops.triage.rationale import place_of as place_words
from ciops.triage.words import words_in
from ciops.triage.would_change import would_change

ABOUT: Final = "Say why an issue is decided as it is, or why it does not get a certain label."
SHOWN: Final = 8  # pieces of evidence for a label


@dataclass(frozen=True, slots=True)
class Explained:
    """An issue that was decided, and what the words about it need."""

    facts: IssueFacts
    decision: Decision
    policy: Policy
    profile: Profile
    forge: str
    words: Templates

    def say(self, key: str, **facts: object) -> str:
        return self.words.message(f"explain.{key}", **facts)


def main(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    """The command; its exit status."""
    host = open_host(env)
    parser = Parser("explain", ABOUT, '--repo OWNER/NAME --issue 7 --label "module: fsdp"')
    add_place(parser)
    parser.add_argument("--issue", type=issue_number, required=True, metavar="N", help="its number")
    parser.add_argument("--label", metavar="NAME", help="why, or why not, this label")
    add_policy(parser)
    add_language(parser)
    add_output(parser)
    given = parse(parser, arguments, host)
    host.folder = given.output
    policy = load_policy(given.policy)
    profile = profile_of(policy, given.profile)
    forge, queue = open_queue(place_of(given, host), host)
    facts = whole_facts(given.issue, queue)
    decision = decide(facts, policy, profile, "single")
    words = words_in(given.language)
    explained = Explained(facts, decision, policy, profile, forge.name, words)
    lines = why_label(given.label, explained) if given.label else why(explained)
    text = "\n".join([*_heading(explained), *lines])
    host.say(plain_text(text))
    host.summary(text)
    return EXIT_DONE


def whole_facts(number: int, queue: IssueQueue) -> IssueFacts:
    """An issue with all its comments and its timeline."""
    issue = queue.issue(number)
    comments = queue.comments(number) if issue.comments else []
    facts = with_comments(facts_of(issue), comments, queue.association_of)
    return with_timeline(facts, queue.timeline(number).labels, issue.updated_at)


def _heading(it: Explained) -> list[str]:
    title = link(f"#{it.facts.number} {it.facts.title}", it.facts.url)
    return [f"### {title}", "", route_headline(it.decision, it.policy, it.words), ""]


def why(it: Explained) -> Iterator[str]:
    """The plan, the evidence of each facet, the parts with their points."""
    plan = it.decision.plan
    if it.decision.skip is not None:
        reason = skip_reason_words(it.decision.skip, it.words, it.policy.labels.queue)
        yield "- " + it.words.message("headline.skipped", reason=reason)
    yield f"- {it.say('plan')}: {spans(plan.add_labels) or '–'}"
    yield from ("", f"#### {it.say('evidence')}", "")
    for facet in FACETS:
        name = it.words.message(f"facet.{facet}")
        found = (item.evidence for item in it.decision.evidence if item.facet == facet)
        yield from (f"- {name}: {_cited(item, it)}" for item in _by_line(found))
    for change in would_change(it.facts, it.decision, it.policy):
        told = change_line(change, it.words)
        yield f"- {it.words.message('line.would_change', change=told)}"
    yield from ("", f"#### {it.say('parts')}", "")
    for part in it.decision.judgement.routing.parts:
        points = it.say("points", points=f"{part.points:g}")
        yield f"- {code_span(part.name)} ({part.route}): {points}"


def why_label(label: str, it: Explained) -> Iterator[str]:
    """Why an issue gets a label or does not, with what speaks for and against it."""
    known = {name.casefold(): name for name in it.policy.allowed_labels(it.profile)}
    name = known.get(label.casefold())
    if name is None:
        close = nearest(label, known.values())
        yield it.say("unknown", label=code_span(label))
        if close:
            yield it.say("nearest", label=code_span(close))
        return
    yield _verdict(name, it)
    yield from ("", *_sides(name, it))


def _verdict(label: str, it: Explained) -> str:
    decision, named = it.decision, code_span(label)
    standing = standing_of(it.facts, it.policy)
    if standing.has(label):
        return it.say("there", label=named)
    if decision.skip is not None:
        reason = skip_reason_words(decision.skip, it.words, it.policy.labels.queue)
        return it.say("skipped", label=named, reason=reason)
    if label in decision.plan.add_labels:
        return it.say("adds", label=named)
    if standing.removed_by_person(label):
        return it.say("removed", label=named)
    return _shortfall(label, it)


def _shortfall(label: str, it: Explained) -> str:
    """Why a label that could be added is not called for."""
    named, subject = code_span(label), subject_of(label, it.policy)
    if subject == "route":
        routes = [route.label for route in it.policy.routes]
        standing = [name for name in it.facts.labels if name in routes]
        chosen = [name for name in it.decision.plan.add_labels if name in routes]
        if standing or chosen:
            return it.say("other_route", label=named, route=code_span((standing or chosen)[0]))
    if subject == "module" and label in it.decision.facets.modules:
        return it.say("unlabelled_route", label=named)
    found = any(_evidence(label, it))
    return it.say("weak" if found else "none", label=named)


def _sides(label: str, it: Explained) -> Iterator[str]:
    evidence = _by_line(_evidence(label, it))[:SHOWN]
    for key, side in (
        ("for", [item for item in evidence if item.points > 0]),
        ("against", [item for item in evidence if item.points <= 0]),
    ):
        if side:
            yield from (f"#### {it.say(key)}", "")
            yield from (f"- {_cited(item, it)}" for item in side)
            yield ""


def _by_line(evidence: Iterable[Evidence]) -> list[Evidence]:
    """The strongest of each line, the strongest line first."""
    best: dict[tuple[str, int], Evidence] = {}
    for item in sorted(evidence, key=lambda item: -abs(item.points)):
        best.setdefault((item.where, item.line), item)
    return list(best.values())


def _evidence(label: str, it: Explained) -> Iterator[Evidence]:
    """Of a module everything that was found for or against it; else what was cited."""
    if subject_of(label, it.policy) != "module":
        yield from evidence_for(label, it.decision, it.policy)
        return
    for part in it.decision.judgement.routing.parts:
        if part.label == label:
            yield from part.evidence


def _cited(item: Evidence, it: Explained) -> str:
    place = link(place_words(item, it.words), evidence_url(item, it.facts, it.forge))
    role = it.words.message(f"role.{item.role}")
    speaker = it.words.message(f"speaker.{item.speaker}")
    points = it.say("points", points=f"{item.points:g}")
    return f"{code_span(shortened(item.text))} ({place}, {speaker}): {role}, {points}"
