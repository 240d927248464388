"""The prose check of a record: hedging, blame, overclaiming, advocacy and vague mechanisms.

Findings are warnings. They never change whether a record may be rendered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from ciops.plumbing.yaml_file import Document, key_path
from ciops.postmortem.claims import Scope, overclaims
from ciops.postmortem.prose_rules import CODE, Guide, Kind, Rule
from ciops.postmortem.prose_view import Sentence, Span, name_pattern, sentences
from ciops.postmortem.record import Record

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Prose:
    """One text to check; `place` is one of those that `prose.yml` names."""

    path: Path
    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """`phrase` is the author's own words; `line` counts from 0 in the text of the field."""

    kind: Kind
    path: Path
    line: int
    phrase: str
    rule: str

    @property
    def field(self) -> str:
        return key_path(self.path)


def check_record(record: Record, guide: Guide) -> tuple[Finding, ...]:
    """The findings of a record, in its order."""
    return tuple(check(record_prose(record), persons(record), scope_of(record), guide))


def check(
    texts: Iterable[Prose], names: Iterable[str], scope: Scope, guide: Guide
) -> Iterator[Finding]:
    """The findings in some texts; `names` are the persons that they may speak of."""
    texts = tuple(prose for prose in texts if prose.text)
    written = [prose.text for prose in texts]
    pattern = name_pattern((*names, *named_persons(written, guide)))
    for prose, found in zip(texts, sentences(written, guide, pattern), strict=True):
        yield from _check(prose, found, scope, guide)


@dataclass(frozen=True, slots=True)
class _Hit:
    """A finding within one sentence."""

    kind: Kind
    start: int
    end: int
    rule: str


def _check(prose: Prose, found: list[Sentence], scope: Scope, guide: Guide) -> Iterator[Finding]:
    paragraphs: dict[int, str] = {}
    for sentence in found:
        paragraphs[sentence.paragraph] = paragraphs.get(sentence.paragraph, "") + sentence.text
    for sentence in found:
        hits = _hits(sentence, prose, paragraphs[sentence.paragraph], guide)
        if prose.place in guide.kinds["overclaim"]:
            claims = [_trimmed(sentence.text, span) for span in overclaims(sentence, scope, guide)]
            hits += [_Hit("overclaim", start, end, "overclaim") for start, end in claims]
        for hit in _distinct(hits):
            phrase = " ".join(sentence.phrase(hit.start, hit.end).split())
            line = sentence.line_of(hit.start)
            yield Finding(hit.kind, prose.path, line, phrase, hit.rule)


def _hits(sentence: Sentence, prose: Prose, paragraph: str, guide: Guide) -> list[_Hit]:
    hits: list[_Hit] = []
    for rule, pattern in guide.applicable(sentence.text, prose.place):
        for match in pattern.finditer(sentence.text):
            start, end = _trimmed(sentence.text, match.span())
            if start < end and not _exempt(rule, sentence, (start, end), paragraph, prose, guide):
                hits.append(_Hit(rule.kind, start, end, rule.id))
    return hits


def _trimmed(text: str, span: Span) -> Span:
    """A match without the white space and the punctuation around it."""
    words = text[slice(*span)].lstrip(" ,;:、。：；")
    start = span[1] - len(words)
    return start, start + len(words.rstrip(" ,;:.、。：；"))


def _exempt(
    rule: Rule, sentence: Sentence, span: Span, paragraph: str, prose: Prose, guide: Guide
) -> bool:
    """Whether a named exemption lets the sentence pass."""
    before, after = sentence.text[: span[0]], sentence.text[span[1] :]
    for name in rule.unless:
        if name in guide.before and guide.before[name].search(before):
            return True
        if name in guide.after and guide.after[name].match(after):
            return True
        if name in guide.later and guide.later[name].match(_from(sentence, span[0])):
            return True
        if name == "accompanied" and _is_accompanied(sentence, prose):
            return True
        if name == "concrete" and _is_concrete(sentence, guide):
            return True
        if name == "elaborated" and _is_elaborated(sentence, after, guide):
            return True
        text = paragraph if name == "verdict" and prose.place == "discovery" else sentence.text
        if name in guide.exemptions and guide.exemptions[name].search(text):
            return True
    return False


def _from(sentence: Sentence, start: int) -> str:
    """What a hit says and all that follows it, the next sentence included."""
    return f"{sentence.text[start:]} {sentence.after}"


def _is_accompanied(sentence: Sentence, prose: Prose) -> bool:
    """Is not all that the text says."""
    return sentence.spans[-1][1] - sentence.spans[0][0] < len(prose.text.strip())


def _is_concrete(sentence: Sentence, guide: Guide) -> bool:
    """Names its code: two identifiers, or one and a condition; or a sentence beside it does."""
    named = sentence.text.count(CODE)
    if max(named, sentence.before.count(CODE), sentence.after.count(CODE)) > 1:
        return True
    return named == 1 and bool(guide.exemptions["specific"].search(sentence.text))


def _is_elaborated(sentence: Sentence, after: str, guide: Guide) -> bool:
    """Goes on to say which code does what: "a timing issue: `poll()` returns before …"."""
    if CODE in after and guide.after["goes_on"].match(after):
        return True
    named = sentence.text.count(CODE)
    return named > 1 and bool(guide.exemptions["condition"].search(sentence.text))


# Of two findings in the same words, the one that says more.
_RANK: Final[dict[Kind, int]] = {
    "blame": 0,
    "overclaim": 1,
    "vague-mechanism": 2,
    "advocacy": 3,
    "hedge": 4,
}


# How far behind a proposal "…, I think" may stand.
_NEAR: Final = 12


def _distinct(hits: list[_Hit]) -> list[_Hit]:
    """In order: hits of one kind that touch as one, of two kinds in the same words the stronger."""
    out: list[_Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        last = out[-1] if out else None
        if last is None or hit.start > last.end + 1:
            out.append(hit)
        elif hit.kind == last.kind:
            out[-1] = replace(last, end=max(hit.end, last.end))
        elif hit.start >= last.end:
            out.append(hit)
        elif _RANK[hit.kind] < _RANK[last.kind]:
            out[-1] = hit
    return [hit for hit in out if not _frames_a_proposal(hit, out)]


def _frames_a_proposal(hit: _Hit, hits: list[_Hit]) -> bool:
    """Whether a hedge only says whose opinion a proposal is: "we think we should rewrite it"."""
    if hit.kind != "hedge":
        return False
    proposals = (other for other in hits if other.kind == "advocacy")
    return any(
        -1 <= hit.start - it.end <= _NEAR or -1 <= it.start - hit.end <= 1 for it in proposals
    )


def persons(record: Record) -> tuple[str, ...]:
    """Everybody the record names as a person."""
    names = [record.owner.name, *(item.owner for item in record.action_items)]
    return tuple(dict.fromkeys(re.sub(r"^@|\s*[（(].*$", "", name) for name in names if name))


def named_persons(texts: Iterable[str], guide: Guide) -> list[str]:
    """Who is named where only a person can stand: "approved by Mirela", "Pavel, who wrote it"."""
    whole = "\n".join(texts).replace("\n", " ")
    found = {hit["name"] for pattern in guide.named for hit in pattern.finditer(whole)}
    # A word that also stands in small letters is a word.
    words = set(re.findall(r"\w+", whole))
    return sorted(name for name in found if name.lower() not in words)


def scope_of(record: Record) -> Scope:
    """What the record says was tested and was not."""
    checked = record.validation
    tested = [
        *(f"{each.name} {each.evidence}" for each in checked.workloads if each.result == "pass"),
        *(f"{each.kind} {each.scale}" for each in checked.stress),
        *checked.other_configurations,
    ]
    return Scope("\n".join(tested), checked.not_tested, bool(checked.performance))


def record_prose(record: Record) -> Iterator[Prose]:
    """Every text of a record that is prose, in the order of the record."""
    yield Prose(("title",), "title", record.title)
    yield Prose(("summary",), "summary", record.summary)
    yield Prose(("symptom",), "symptom", record.symptom)
    yield Prose(("reproduction", "steps"), "steps", record.reproduction.steps)
    asserted = record.root_cause.status != "hypothesis"
    mechanism = Prose(("root_cause", "mechanism"), "mechanism", record.root_cause.mechanism)
    why = Prose(("why_symptom",), "why", record.why_symptom)
    # A record that says itself that it is a hypothesis is refused by its gate, not by its words.
    yield from (mechanism, why) if asserted else ()
    yield from _fix_prose(record)
    yield from _discovery_prose(record)
    yield Prose(("escape", "detail"), "escape", record.escape.detail)
    yield from _validation_prose(record)
    for index, item in enumerate(record.action_items):
        yield Prose(("action_items", index, "what"), "action", item.what)


def _fix_prose(record: Record) -> Iterator[Prose]:
    yield Prose(("fix", "change"), "fix", record.fix.change)
    yield Prose(("fix", "addresses_cause"), "fix", record.fix.addresses_cause)
    for index, attempt in enumerate(record.fix.earlier_attempts):
        path: Path = ("fix", "earlier_attempts", index, "shortfall")
        yield Prose(path, "attempt", attempt.shortfall)


def _discovery_prose(record: Record) -> Iterator[Prose]:
    found = record.discovery
    for key in ("made_deterministic", "tools"):
        yield Prose(("discovery", key), "discovery", getattr(found, key))
    for index, tried in enumerate(found.hypotheses):
        at: Path = ("discovery", "hypotheses", index)
        if not tried.rejected_because:
            yield Prose((*at, "claim"), "claim", tried.claim)
        yield Prose((*at, "rejected_because"), "rejected", tried.rejected_because)
        yield Prose((*at, "confirmed_by"), "discovery", tried.confirmed_by)
    yield Prose(("discovery", "decisive_experiment"), "discovery", found.decisive_experiment)
    yield Prose(("discovery", "notes"), "notes", found.notes)


def _validation_prose(record: Record) -> Iterator[Prose]:
    checked = record.validation
    root: Path = ("validation",)
    rerun = (*root, "original_reproduction", "evidence")
    yield Prose(rerun, "validation", checked.original_reproduction.evidence)
    for index, workload in enumerate(checked.workloads):
        yield Prose((*root, "workloads", index, "evidence"), "validation", workload.evidence)
    for index, stress in enumerate(checked.stress):
        yield Prose((*root, "stress", index, "result"), "validation", stress.result)
    for index, configuration in enumerate(checked.other_configurations):
        yield Prose((*root, "other_configurations", index), "validation", configuration)
    yield Prose((*root, "not_tested"), "untested", checked.not_tested)


def document_line(finding: Finding, document: Document) -> int | None:
    """The line of a finding in the record's file: where its words are, else where its field is."""
    start = document.line(finding.path)
    if start is None:
        return None
    lines = document.text.split("\n")
    at = start - 1 + finding.line
    near, field = range(at, at + 3), range(start - 1, at + 40)
    places: list[int] = [index for index in (*near, *field) if index < len(lines)]
    words = finding.phrase.split()
    for known in (words[:2], words[:1]):
        for index in places:
            if all(word in lines[index] for word in known):
                return index + 1
    return start
