"""Small edits of an issue's text: take lines away, or add one. Applied by machine, read by people.

An edit reads `remove body:12 "…"`, `remove comment 2:3-5 "…"`, `add to body as log: …` or
`add to title: …`; `parse_edit` reads that back, whatever the quoted words are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, cast

from ciops.errors import UsageError
from ciops.triage.evidence import Evidence, superseded
from ciops.triage.facets import Weighed, weigh
from ciops.triage.facts import Account, CommentFacts, IssueFacts
from ciops.triage.issue_text import Line, Reading
from ciops.triage.policy import Policy
from ciops.triage.reading_rules import Zone
from ciops.triage.weighing import retallied

_REMOVE: Final = re.compile(
    r'remove (?P<where>title|body|comment \d+):(?P<first>\d+)(?:-(?P<last>\d+))?(?: ".*")?$'
)
_ADD: Final = re.compile(r"add to (?P<where>title|body)(?: as (?P<zone>\w+))?: (?P<text>.+)$")
_SAY: Final = re.compile(r"add a maintainer's comment: (?P<text>.+)$")
_SHOWN: Final = 80

MAINTAINER: Final = "maintainer"


@dataclass(frozen=True, slots=True)
class Edit:
    """`first` to `last` (1-based) of a document go, or `text` comes as a line of a zone.

    With `where` = "maintainer" the text comes as a maintainer's comment.
    """

    where: str
    first: int = 0
    last: int = 0
    zone: str = ""
    text: str = ""

    @property
    def removes(self) -> bool:
        return self.first > 0


def describe(edit: Edit) -> str:
    """The edit as words."""
    if edit.where == MAINTAINER:
        return f"add a maintainer's comment: {edit.text}"
    if edit.removes:
        lines = f"{edit.first}-{edit.last}" if edit.last > edit.first else str(edit.first)
        quoted = " ".join(edit.text.split())
        short = quoted if len(quoted) <= _SHOWN else quoted[: _SHOWN - 1] + "…"
        return f'remove {edit.where}:{lines} "{short}"'
    zone = "" if edit.where == "title" else f" as {edit.zone}"
    return f"add to {edit.where}{zone}: {edit.text}"


def parse_edit(words: str) -> Edit:
    """The edit that `describe` put into words; raises UsageError."""
    if match := _REMOVE.match(words):
        first = int(match["first"])
        return Edit(match["where"], first, int(match["last"] or first))
    if match := _ADD.match(words):
        return Edit(match["where"], zone=match["zone"] or "title", text=match["text"])
    if match := _SAY.match(words):
        return Edit(MAINTAINER, text=match["text"])
    raise UsageError(f"{words!r} is no edit", "Write `remove body:3` or `add to body as log: …`")


def apply_edit(facts: IssueFacts, edit: Edit) -> IssueFacts:
    """The issue as it would be with the edit."""
    if edit.where == MAINTAINER:
        said = CommentFacts(Account("a-maintainer"), "MEMBER", edit.text)
        return replace(facts, comments=(*facts.comments, said))
    change = _without(edit) if edit.removes else _with(edit)
    if edit.where == "title":
        return replace(facts, title=change(facts.title))
    if edit.where == "body":
        return replace(facts, body=change(facts.body))
    index = int(edit.where.split()[1]) - 1
    comments = list(facts.comments)
    comments[index] = replace(comments[index], body=change(comments[index].body))
    return replace(facts, comments=tuple(comments))


def apply_words(facts: IssueFacts, words: str) -> IssueFacts:
    """The issue with the edits of a `change`: one or more, joined by "; "."""
    for part in re.split(r"; (?=remove |add )", words):
        facts = apply_edit(facts, parse_edit(part))
    return facts


def edited_evidence(weighed: Weighed, edits: Iterable[Edit], policy: Policy) -> Weighed:
    """What an issue's evidence would be with the edits, without reading it again.

    Nearly: a line that goes may change what its neighbours are read as.
    """
    for edit in edits:
        weighed = _less(weighed, edit) if edit.removes else _more(weighed, edit, policy)
    return weighed


def _less(weighed: Weighed, edit: Edit) -> Weighed:
    gone = {x.topic for x in weighed.evidence if _is_on(x, edit)}
    evidence = tuple(x for x in weighed.evidence if not _is_on(x, edit))
    signs = tuple(x for x in weighed.signs if not _is_on(x, edit))
    total = retallied(weighed.total, evidence, gone)
    return replace(weighed, evidence=evidence, total=total, signs=signs)


def _is_on(item: Evidence, edit: Edit) -> bool:
    """Whether evidence is on one of the lines that an edit takes away."""
    if item.where != edit.where:
        return False
    return item.line <= edit.last and max(item.line, item.last) >= edit.first


def _more(weighed: Weighed, edit: Edit, policy: Policy) -> Weighed:
    turn = weighed.reading.turns + 1 if edit.where == MAINTAINER else 0
    said = _said(edit, turn, policy)
    evidence = (*weighed.evidence, *said.evidence)
    touched = {item.topic for item in said.evidence}
    if any(item.conclusion for item in said.evidence):  # it outweighs all parts before it
        evidence = tuple(superseded(evidence, policy.scoring))
        touched |= {item.topic for item in evidence}
    total = retallied(weighed.total, evidence, touched)
    return replace(weighed, evidence=evidence, total=total, signs=(*weighed.signs, *said.signs))


@lru_cache(maxsize=512)
def _said(edit: Edit, turn: int, policy: Policy) -> Weighed:
    """What a line that is added says for itself."""
    zone = cast(Zone, edit.zone or "prose")
    where = f"comment {turn}" if turn else edit.where
    speaker = "maintainer" if turn else "reporter"
    line = Line(edit.text, zone, where, 0, 0, turn, speaker, 0)  # type: ignore[arg-type]
    return weigh(Reading((line,), (), turn), policy)


def _without(edit: Edit) -> Callable[[str], str]:
    def change(text: str) -> str:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for at in range(edit.first - 1, min(edit.last, len(lines))):
            lines[at] = ""
        return "\n".join(lines)

    return change


def _with(edit: Edit) -> Callable[[str], str]:
    def change(text: str) -> str:
        if edit.where == "title":
            return f"{text} {edit.text}"
        return f"{_as_block(edit)}\n\n{text}"

    return change


def _as_block(edit: Edit) -> str:
    """The line in the Markdown that gives it its zone."""
    fences = {"code": "python", "shell": "bash", "log": "", "traceback": "", "cpp": ""}
    if edit.zone in fences:
        return f"```{fences[edit.zone]}\n{edit.text}\n```"
    return edit.text
