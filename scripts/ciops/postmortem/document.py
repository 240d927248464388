"""The document of a record: the nine sections in their order, with only the record's facts in them.

Headings, labels and fixed sentences come from the words of the record's language; everything else
is the record's own Markdown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ciops.postmortem.blocks import Block, Blocks, Items, Paragraph, Table, parse_blocks
from ciops.postmortem.inline import (
    Code,
    Inline,
    Inlines,
    Styled,
    Text,
    merged,
    parse_inline,
    visible,
)
from ciops.postmortem.inline import Link as InlineLink
from ciops.postmortem.inline_tokens import is_cjk
from ciops.postmortem.record import (
    ActionItem,
    Hypothesis,
    Language,
    Record,
    Stress,
    Workload,
)
from ciops.postmortem.references import Links, link, read_reference
from ciops.postmortem.wording import Words


@dataclass(frozen=True, slots=True)
class Section:
    """`id` is one of `record.SECTIONS`."""

    id: str
    heading: str
    blocks: Blocks


@dataclass(frozen=True, slots=True)
class Document:
    """What every destination renders; only the markup around it differs."""

    ticket: str
    language: Language
    title: Inlines
    sections: tuple[Section, ...]


def build(record: Record, words: Words, links: Links) -> Document:
    """The document of a record that has passed its gates."""
    author = _Author(record, words, links)
    makers = {
        "summary": author.summary,
        "symptom": lambda: parse_blocks(record.symptom),
        "root_cause": author.root_cause,
        "why_symptom": lambda: parse_blocks(record.why_symptom),
        "fix": author.fix,
        "discovery": author.discovery,
        "escape": author.escape,
        "validation": author.validation,
        "action_items": author.action_items,
    }
    sections = tuple(
        Section(name, words.say(f"heading.{name}"), tuple(makers[name]()))
        for name in record.sections()
    )
    title = (Text(words.say("title.before", ticket=record.ticket)), *parse_inline(record.title))
    return Document(record.ticket, record.language, merged(list(title)), sections)


@dataclass(frozen=True, slots=True)
class _Author:
    """Writes the sections that are more than one text of the record."""

    record: Record
    words: Words
    links: Links

    def summary(self) -> Iterator[Block]:
        owner = self.record.owner
        name = owner.name
        if owner.team:
            name = self.words.say("mark.owner_of_team", name=owner.name, team=owner.team)
        facts: list[tuple[str, Inlines]] = [
            ("ticket", self.reference(self.record.ticket)),
            ("fix", self.references(self.record.fix.references)),
            ("owner", (Text(name),)),
        ]
        head = [(*self.label(key), *value) for key, value in facts]
        yield _paragraph(*self.joined(head, "mark.between_facts"))
        yield from parse_blocks(self.record.summary)

    def root_cause(self) -> Iterator[Block]:
        yield from parse_blocks(self.record.root_cause.mechanism)
        commits = self.record.root_cause.introduced_by
        if commits:
            yield _paragraph(*self.label("introduced_by"), *self.references(commits))

    def fix(self) -> Iterator[Block]:
        fix = self.record.fix
        yield from parse_blocks(fix.change)
        yield from self.labelled("addresses_cause", fix.addresses_cause)
        if fix.earlier_attempts:
            yield _paragraph(*self.label("earlier_attempts"))
            yield Items(
                tuple(
                    self.item(self.reference(attempt.reference), attempt.shortfall)
                    for attempt in fix.earlier_attempts
                )
            )
        yield _paragraph(*self.label("references"), *self.references(fix.references))

    def discovery(self) -> Iterator[Block]:
        found = self.record.discovery
        yield from self.labelled("made_deterministic", found.made_deterministic)
        yield from self.labelled("tools", found.tools)
        if found.hypotheses:
            yield _paragraph(*self.label("hypotheses"))
            yield Items(tuple(self.hypothesis(each) for each in found.hypotheses))
        yield from self.labelled("decisive_experiment", found.decisive_experiment)
        yield from self.labelled("notes", found.notes)

    def hypothesis(self, tried: Hypothesis) -> Blocks:
        blocks = list(parse_blocks(tried.claim))
        for key, text in (("rejected", tried.rejected_because), ("confirmed", tried.confirmed_by)):
            if text:
                blocks = _run_on(blocks, list(self.labelled(key, text)))
        return tuple(blocks) or (Paragraph(()),)

    def escape(self) -> Iterator[Block]:
        escape = self.record.escape
        if escape.causes:
            named = [(Text(self.words.say(f"cause.{cause}")),) for cause in escape.causes]
            yield _paragraph(*self.label("cause"), *self.joined(named, "mark.between_items"))
        yield from parse_blocks(escape.detail)

    def validation(self) -> Iterator[Block]:
        checked = self.record.validation
        yield from self.reproduction()
        rerun = checked.original_reproduction
        yield from self.result("result", rerun.result, rerun.evidence)
        if checked.workloads:
            yield _paragraph(*self.label("workloads"))
            yield Items(tuple(self.workload(each) for each in checked.workloads))
        yield from self.performance()
        if checked.stress:
            yield _paragraph(*self.label("stress"))
            yield Items(tuple(self.stress(each) for each in checked.stress))
        yield from self.scope()

    def reproduction(self) -> Iterator[Block]:
        tried = self.record.reproduction
        yield from self.labelled("reproduction", tried.steps)
        if tried.rate:
            outcome = self.words.say("outcome.rate", rate=tried.rate)
        else:
            outcome = self.words.say("outcome.deterministic")
        yield _paragraph(*self.label("outcome"), Text(outcome))

    def result(self, key: str, result: str, evidence: str) -> Iterator[Block]:
        said = (*self.label(key), Text(self.result_words(result)))
        yield from self.item(said, evidence)

    def result_words(self, result: str) -> str:
        """The words for a result of the closed list; another is the record's own text."""
        key = f"result.{result}"
        return self.words.say(key) if key in self.words.sentences else result

    def workload(self, workload: Workload) -> Blocks:
        name = list(parse_inline(workload.name))
        if workload.result:
            name += [Text(self.colon()), Text(self.result_words(workload.result))]
        return self.item(merged(name), workload.evidence)

    def performance(self) -> Iterator[Block]:
        rows = self.record.validation.performance
        if not rows:
            return
        yield _paragraph(*self.label("performance"))
        head = ("metric", "before", "after")
        header = tuple((Text(self.words.say(f"label.{key}")),) for key in head)
        cells = (tuple(parse_inline(getattr(row, key)) for key in head) for row in rows)
        yield Table(header, tuple(cells))

    def stress(self, stress: Stress) -> Blocks:
        parts = [parse_inline(text) for text in (stress.kind, stress.duration, stress.scale)]
        said = self.joined([part for part in parts if part], "mark.between_items")
        if stress.result:
            said = merged([*said, Text(self.colon()), *parse_inline(stress.result)])
        return (Paragraph(said),)

    def scope(self) -> Iterator[Block]:
        checked = self.record.validation
        names = [each.name for each in checked.workloads if each.name and each.result == "pass"]
        tested = [parse_inline(text) for text in (*names, *checked.other_configurations)]
        between = self.words.say("mark.between_configs").strip()
        if any(between in visible(each) for each in tested):
            yield _paragraph(*self.label("tested"))
            yield Items(tuple((Paragraph(each),) for each in tested))
        elif tested:
            yield _paragraph(*self.label("tested"), *self.joined(tested, "mark.between_configs"))
        if checked.not_tested:
            yield from self.labelled("not_tested", checked.not_tested)
        else:
            yield _paragraph(*self.label("not_tested"), Text(self.words.say("scope.no_more")))

    def action_items(self) -> Iterator[Block]:
        items = self.record.action_items
        if not items:
            yield _paragraph(Text(self.words.say("action_items.none")))
            return
        yield Items(tuple(self.action_item(item) for item in items))

    def action_item(self, item: ActionItem) -> Blocks:
        blocks = list(parse_blocks(item.what))
        if item.kind:
            blocks = _run_on([Paragraph(self.label(item.kind, "item"))], blocks)
        before, after = self.words.say("mark.brackets").split("|")
        comma = Text(self.words.say("mark.between_items"))
        where = self.reference(item.artifact)
        tail = Paragraph((Text(before + item.owner), comma, *where, Text(after)))
        return tuple(_run_on(blocks, [tail]))

    def item(self, lead: Sequence[Inline], text: str) -> Blocks:
        """A lead and its explanation, in one paragraph when the explanation begins with one."""
        more = parse_blocks(text)
        if not lead or not more:
            return more or (Paragraph(merged(list(lead))),)
        if isinstance(more[0], Paragraph):
            dash = Text(self.words.say("mark.dash"))
            return (Paragraph(merged([*lead, dash, *more[0].inlines])), *more[1:])
        return (Paragraph(merged(list(lead))), *more)

    def labelled(self, key: str, text: str) -> Iterator[Block]:
        """A text under its label, in one paragraph when the text begins with one."""
        if text:
            yield from _run_on([Paragraph(self.label(key))], list(parse_blocks(text)))

    def label(self, key: str, group: str = "label") -> Inlines:
        name = self.words.say(f"{group}.{key}")
        return (Styled("strong", (Text(name),)), Text(self.colon()))

    def colon(self) -> str:
        return self.words.say("mark.colon")

    def references(self, texts: Iterable[str]) -> Inlines:
        return self.joined([self.reference(text) for text in texts], "mark.between_items")

    def reference(self, text: str) -> Inlines:
        """A reference as a link where its address is known; a branch or a path as code."""
        text = text.strip()
        read = read_reference(text)
        address = link(read, self.links)
        if address and read.text == text:
            return (InlineLink((Text(text),), address),)
        if read.kind == "branch":
            return (Code(text),)
        return parse_inline(text)

    def joined(self, parts: Sequence[Sequence[Inline]], between: str) -> Inlines:
        separator = Text(self.words.say(between))
        out: list[Inline] = []
        for index, part in enumerate(parts):
            out.extend([separator, *part] if index else part)
        return merged(out)


def _paragraph(*inlines: Inline) -> Paragraph:
    """A paragraph that neither starts nor ends with a space."""
    nodes = list(merged(list(inlines)))
    if nodes and isinstance(nodes[-1], Text):
        nodes[-1] = Text(nodes[-1].text.rstrip(" "))
    return Paragraph(merged(nodes))


def _run_on(first: list[Block], more: list[Block]) -> list[Block]:
    """Two runs of blocks, the paragraphs where they meet made one."""
    if not first or not more:
        return first or more
    last, following = first[-1], more[0]
    if not isinstance(last, Paragraph):
        return [*first, *more]
    if not isinstance(following, Paragraph):
        return [*first[:-1], _paragraph(*last.inlines), *more]
    gap = "" if _touching(last.inlines, following.inlines) else " "
    joined = Paragraph(merged([*last.inlines, Text(gap), *following.inlines]))
    return [*first[:-1], joined, *more[1:]]


def _touching(before: Inlines, after: Inlines) -> bool:
    """Whether two texts join without a space: at an edge, at a space, or beside CJK."""
    left, right = visible(before)[-1:], visible(after)[:1]
    if not left or not right or left.isspace():
        return True
    return is_cjk(left) or is_cjk(right)
