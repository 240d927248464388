"""From hits and tracebacks to evidence: who says what about which part, with what weight.

Points are role x zone x speaker (x hedge), so that a person can follow them. The rules: a
maintainer's conclusion outweighs a reporter's guess; a call that only passes through a part is no
evidence against it; an argument check blames its caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from ciops.triage.acronyms import foreign_acronyms
from ciops.triage.evidence import Evidence, echoes_aside, evidence_of, misnamed_aside, superseded
from ciops.triage.frames import FrameVerdict, frame_evidence, judge_tracebacks
from ciops.triage.issue_text import Reading
from ciops.triage.matching import Hit, find_hits
from ciops.triage.named_code import named_code
from ciops.triage.policy import Policy, Role, Scoring
from ciops.triage.reading_rules import MACHINE, SPOKEN
from ciops.triage.statements import Mention, is_aside, judge_event, judge_mention, judge_toggle

_COMMAND: Final = re.compile(r"\W{0,4}(?:python[\d.]{0,4} -m )?")
_ASKING: Final = frozenset({"kind:feature", "kind:enhancement", "kind:question"})
_PLACES: Final = ("apart:", "in_scope")
"""Topics that tell where something ran, and not what happened there."""
_WITHDRAWN: Final = "group:withdrawn"
"""The topic of what takes a report back: to ask whether it should be takes nothing back."""
_LEAD: Final = 60
_TRACED: Final = re.compile(
    r"\broot[- ]cause(?: analysis)?\W{0,4}(?:\b(?:is|was|lies in|sits in)\b|[:=—–-])[^.\n]{0,24}$",
    re.IGNORECASE,
)
_TRIAL: Final = 1.3
_ALIKE: Final = ("same", "fails_with")


def gather(reading: Reading, policy: Policy) -> list[Evidence]:
    """All evidence of an issue, strongest first within a topic."""
    hits = _of_this_product(find_hits(reading, policy), reading, policy)
    verdicts = judge_tracebacks(reading.tracebacks, policy)
    mentions = {at: _mention(hit) for at, hit in enumerate(hits) if _is_mention(hit)}
    mentions |= _asides(hits, mentions)
    mentions |= _variants(hits, mentions)
    weighed = (_weigh(hit, mentions.get(at), policy, verdicts) for at, hit in enumerate(hits))
    found = [item for item in weighed if item is not None]
    found.extend(_by_trial(hits, mentions, found, policy))
    found.extend(list(named_code(reading, found, policy)))
    found.extend(frame_evidence(verdicts, _told_apart(hits), policy))
    found = echoes_aside(found, hits)
    found = misnamed_aside(found, policy)
    return superseded(found, policy.scoring)


def _of_this_product(hits: Sequence[Hit], reading: Reading, policy: Policy) -> Sequence[Hit]:
    """Without acronyms of a part that the issue spells out as something else."""
    foreign = foreign_acronyms(reading, policy)
    if not foreign:
        return hits
    return [
        hit
        for hit in hits
        if not hit.signal.topic.startswith("component:")
        or hit.line.text[hit.start : hit.end].strip("(`' ").lower() not in foreign
    ]


def _told_apart(hits: Sequence[Hit]) -> list[tuple[str, int, str]]:
    """Error messages that name their own part: (where, line, topic)."""
    return [
        (hit.line.where, hit.line.number, hit.signal.topic)
        for hit in hits
        if hit.signal.role == "root" and hit.line.zone in MACHINE
        if hit.signal.topic.startswith("component:")
        if not (hit.signal.yields or hit.signal.secondary)
    ]


def _is_mention(hit: Hit) -> bool:
    return hit.line.zone in SPOKEN and hit.signal.topic.startswith("component:")


def _mention(hit: Hit) -> Mention:
    return judge_mention(hit.line.text, hit.start, hit.end)


def _asides(hits: Sequence[Hit], mentions: dict[int, Mention]) -> dict[int, Mention]:
    """Mentions of a title outside its main clause, where that clause is about another part."""
    titled = [at for at in mentions if hits[at].line.zone == "title"]
    apart = {at for at in titled if is_aside(hits[at].line.text, hits[at].start)}
    main = {hits[at].signal.topic for at in titled if at not in apart}
    return {at: replace(mentions[at], aside=True) for at in apart if main - {hits[at].signal.topic}}


def _variants(hits: Sequence[Hit], mentions: dict[int, Mention]) -> dict[int, Mention]:
    """Clearings of one of a part's names in a title that is about another of them.

    `The part fails by default, its new backend works` clears a variant and not the part.
    """
    about = {
        (hits[at].signal.topic, _words(hits[at]))
        for at, mention in mentions.items()
        if hits[at].line.zone == "title" and mention.stance not in ("cleared", "passed")
    }
    topics = {topic for topic, _ in about}
    return {
        at: replace(mention, stance="context", outcome=None)
        for at, mention in mentions.items()
        if hits[at].line.zone == "title" and mention.stance == "cleared"
        if hits[at].signal.topic in topics
        and (hits[at].signal.topic, _words(hits[at])) not in about
    }


def _words(hit: Hit) -> str:
    return hit.line.text[hit.start : hit.end].strip("`' ").lower()


def _weigh(
    hit: Hit, mention: Mention | None, policy: Policy, verdicts: Sequence[FrameVerdict]
) -> Evidence | None:
    if mention is not None:
        return _spoken(hit, mention, policy.scoring, verdicts)
    if hit.line.zone in SPOKEN:
        return _event(hit, policy.scoring)
    return _plain(hit, _machine_role(hit, verdicts), policy.scoring)


def _machine_role(hit: Hit, verdicts: Sequence[FrameVerdict]) -> Role:
    if hit.signal.yields and any(verdict.called_inside for verdict in verdicts):
        return "path"
    return hit.signal.role


def _plain(hit: Hit, role: Role, scoring: Scoring, factor: float = 1.0) -> Evidence:
    line, signal = hit.line, hit.signal
    points = scoring.roles[role] * scoring.zones[line.zone] * scoring.speakers[line.speaker]
    return evidence_of(line, signal.topic, signal.id, role, round(points * factor, 2))


def _event(hit: Hit, scoring: Scoring) -> Evidence | None:
    """A signal that is not about a part: something that happened, or is asked for."""
    event = judge_event(hit.line.text, hit.start, hit.end)
    if event.asked and hit.line.speaker == "maintainer":
        return None
    if hit.signal.topic == _WITHDRAWN and (event.asked or event.supposed):
        return None
    if hit.signal.trial and judge_toggle(hit.line.text, hit.start, hit.end) == "works":
        return None
    if event.denied:
        return _plain(hit, "against", scoring, 0.5) if hit.signal.role != "against" else None
    happened = not hit.signal.topic.startswith(_PLACES)
    doubtful = event.possible or event.asked or (happened and event.background)
    doubtful = doubtful and hit.signal.topic not in _ASKING
    factor = scoring.hedged if doubtful else 1.0
    if happened and _is_far_down(hit):
        factor *= scoring.aside
    return _plain(hit, hit.signal.role, scoring, factor)


def _is_far_down(hit: Hit) -> bool:
    """Whether a failure is only mentioned, far from where people say what an issue is about."""
    return (
        not hit.line.lead
        and hit.signal.role in ("root", "api", "weak")
        and (hit.signal.topic.startswith("priority:") or hit.signal.topic == "group:hang")
    )


def _spoken(
    hit: Hit, mention: Mention, scoring: Scoring, verdicts: Sequence[FrameVerdict]
) -> Evidence:
    """A part in what somebody says: its names and its other words."""
    if hit.signal.kind == "toggle":
        return _toggled(hit, mention, scoring)
    if hit.signal.kind != "words":
        return _named(hit, mention, scoring)
    role = _machine_role(hit, verdicts)
    if mention.stance in ("passed", "cleared"):
        return _plain(hit, role if role == "against" else "path", scoring)
    if mention.stance == "blamed" and role in ("api", "weak") and not mention.asked:
        return _conclusion(hit, mention, scoring)
    if mention.stance == "blamed" and role == "root":
        return _plain(hit, role, scoring, _TRIAL)
    if hit.line.speaker == "maintainer" and (mention.asked or role != "root"):
        return _plain(hit, "weak", scoring)
    asked = mention.asked and hit.line.zone != "title"
    return _plain(hit, role, scoring, scoring.hedged if asked else 1.0)


def _toggled(hit: Hit, mention: Mention, scoring: Scoring) -> Evidence:
    """A flag or variable: what setting it did."""
    outcome = judge_toggle(hit.line.text, hit.start, hit.end)
    factor = scoring.hedged if mention.guessed else 1.0
    if outcome == "works":
        return _plain(hit, "root" if not mention.guessed else "api", scoring, factor)
    if outcome is not None and hit.line.zone != "title":  # a title names what it is about
        return _plain(hit, "against", scoring, 0.5 * factor)
    return _plain(hit, hit.signal.role, scoring, factor)


def _named(hit: Hit, mention: Mention, scoring: Scoring) -> Evidence:
    """A part called by its name: what is said of it decides its weight."""
    line = hit.line
    if mention.stance == "cleared":
        if hit.signal.kind == "identifier" and mention.outcome:
            return _plain(hit, "path", scoring)
        return _cleared(hit, mention, scoring)
    if mention.asked and line.zone != "title":
        return _plain(hit, "weak", scoring, scoring.hedged)
    if mention.stance == "blamed" or _is_traced(hit):
        return _conclusion(hit, mention, scoring)
    if mention.stance == "subject":
        return _plain(hit, "api", scoring, scoring.hedged if mention.guessed else 1.0)
    if hit.signal.kind == "background" and _is_heading(hit):
        return _plain(hit, "api", scoring)
    if hit.signal.kind == "background" or mention.stance == "passed":
        return _plain(hit, "path", scoring)
    if line.zone == "title":
        aside = mention.asked and _is_asked_aside(line.text, hit.start)
        passing = mention.stance == "context" and hit.signal.kind != "identifier"
        doubtful = passing or aside or mention.aside
        return _plain(hit, "api", scoring, 0.5 if doubtful else 1.0)
    return _plain(hit, "weak", scoring, 1.0 if mention.stance == "named" else 0.5)


def _is_asked_aside(title: str, start: int) -> bool:
    """Whether a thing is in what a title only asks beside: `Y fails (X not working?)`."""
    if title.rstrip().endswith("?"):
        return False
    asking = title.find("?", start)
    opening = title.rfind("(", 0, asking) if asking >= 0 else -1
    return opening < start  # not where only a bracket after it asks


def _is_heading(hit: Hit) -> bool:
    """Whether a title begins with it and a colon: `the tool: crash on start`."""
    text = hit.line.text
    led = _COMMAND.fullmatch(text[: hit.start]) is not None
    return hit.line.zone == "title" and led and text[hit.end :].startswith(":")


def _cleared(hit: Hit, mention: Mention, scoring: Scoring) -> Evidence:
    factor = scoring.hedged if mention.guessed or mention.asked else 1.0
    factor *= _TRIAL if mention.outcome else 1.0
    found = _plain(hit, "against", scoring, factor)
    return replace(found, conclusion=hit.line.speaker == "maintainer")


def _conclusion(hit: Hit, mention: Mention, scoring: Scoring) -> Evidence:
    """Somebody says that this part is at fault: found out, tried, or only an opinion."""
    line = hit.line
    factor = scoring.hedged if mention.guessed else 1.0
    found = line.speaker == "maintainer" or (line.turn > 0 and line.speaker == "reporter")
    tried = mention.outcome is not None and hit.signal.kind == "name"
    certain = (found or tried or _is_traced(hit)) and not mention.guessed
    evidence = _plain(hit, "root" if certain else "api", scoring, factor)
    return replace(evidence, conclusion=certain and found)


def _is_traced(hit: Hit) -> bool:
    """Whether it is what a report gives as the root cause."""
    lead = hit.line.text[max(0, hit.start - _LEAD) : hit.start]
    return "ause" in lead and _TRACED.search(lead) is not None


def _by_trial(
    hits: Sequence[Hit], mentions: dict[int, Mention], found: Sequence[Evidence], policy: Policy
) -> Iterator[Evidence]:
    """What a trial with one part says of its alternatives.

    Fails with X as with Y: neither is the cause. Works with X: its alternative in play may be.
    """
    in_play = {item.topic for item in found if item.points > 0}
    spared = _told_apart_by_trial(hits, mentions, policy)
    for at, mention in mentions.items():
        hit = hits[at]
        if mention.outcome is None or mention.without or mention.asked or hit.signal.kind != "name":
            continue
        if mention.outcome in _ALIKE and hit.signal.topic in spared:
            continue
        factor = policy.scoring.hedged if mention.guessed else 1.0
        role: Role = "api" if mention.outcome == "works" else "against"
        topics = _spoken_for(hit.signal.topic, mention, policy) & in_play
        if mention.outcome == "fails_with" and len(topics) < 2:
            continue
        for topic in sorted(topics):
            yield replace(_plain(hit, role, policy.scoring, factor), topic=topic)


def _told_apart_by_trial(
    hits: Sequence[Hit], mentions: dict[int, Mention], policy: Policy
) -> set[str]:
    """Parts of which another that stands in for them works: what fails with them is not alike."""
    works = {
        hits[at].signal.topic.removeprefix("component:")
        for at, mention in mentions.items()
        if mention.stance == "cleared" and mention.outcome == "works"
    }
    return {
        f"component:{name}"
        for group in policy.interchangeable
        if group & works
        for name in group - works
    }


def _spoken_for(topic: str, mention: Mention, policy: Policy) -> set[str]:
    """The topics that a trial speaks of: for (it works without them), or against (fails alike)."""
    name = topic.removeprefix("component:")
    if mention.outcome in _ALIKE:
        return {
            f"component:{x}" for group in policy.interchangeable if name in group for x in group
        }
    if mention.stance != "cleared" or mention.outcome != "works":
        return set()
    return {
        f"component:{x}" for group in policy.alternatives if name in group for x in group - {name}
    }
