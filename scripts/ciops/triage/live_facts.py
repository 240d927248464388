"""What a forge says of an issue, as the facts that a decision is made from.

An issue of a list may be minutes old when it is written to. Its timeline is read last, so what
came after the list is taken over from there: changes of labels, and that it was closed or locked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ciops.forges.base import Comment, Issue, LabelEvent, Person
from ciops.forges.timeline import StateEvent
from ciops.triage.facts import (
    LABELED,
    UNLABELED,
    Account,
    CommentFacts,
    IssueFacts,
    LabelChange,
)

AssociationOf = Callable[[Person], str]


def facts_of(issue: Issue) -> IssueFacts:
    """An issue as a list or a single call tells it: no comments, no timeline."""
    return IssueFacts(
        id=str(issue.number),
        number=issue.number,
        title=issue.title,
        body=issue.body,
        labels=issue.labels,
        author=_account(issue.author),
        association=issue.association or "NONE",
        state=issue.state,
        locked=issue.locked,
        is_pull_request=issue.is_pull_request,
        thumbs_up=issue.thumbs_up,
        url=issue.url,
        created_at=issue.created_at,
    )


def with_comments(
    facts: IssueFacts, comments: Sequence[Comment], association_of: AssociationOf
) -> IssueFacts:
    """With its comments. `association_of` is asked where the forge's comments do not tell."""
    return replace(facts, comments=tuple(_comment(part, association_of) for part in comments))


def with_newer_comments(
    facts: IssueFacts, told: Sequence[Comment], association_of: AssociationOf
) -> IssueFacts:
    """With comments that came since the others were read: another run's own may be one."""
    known = {part.id for part in facts.comments}
    newer = (_comment(part, association_of) for part in told if part.id not in known)
    return replace(facts, comments=(*facts.comments, *newer))


def with_timeline(facts: IssueFacts, events: Sequence[LabelEvent], read_at: str) -> IssueFacts:
    """With its timeline, and its labels as that tells them.

    `read_at` is the issue's `updated_at` when its labels were read: every change of a label
    moves it, so an event before it is in the labels already.
    """
    ordered = sorted(events, key=lambda event: event.created_at)
    labels = list(facts.labels)
    for event in ordered:
        if event.created_at >= read_at:
            labels = [name for name in labels if name.casefold() != event.label.casefold()]
            labels += [event.label] if event.action == "added" else []
    return replace(facts, labels=tuple(labels), timeline=tuple(map(_change, ordered)))


def with_states(facts: IssueFacts, events: Sequence[StateEvent], read_at: str) -> IssueFacts:
    """With what its timeline tells of since `read_at`: it may be closed or locked by now."""
    for event in sorted(events, key=lambda event: event.created_at):
        if event.created_at >= read_at:
            locked = facts.locked if event.locked is None else event.locked
            facts = replace(facts, state=event.state or facts.state, locked=locked)
    return facts


def comment_url(facts: IssueFacts, comment_id: int, forge: str) -> str:
    """The address of a comment, "" when the issue has none."""
    if not facts.url or not comment_id:
        return facts.url
    anchor = "note_" if forge == "gitlab" else "issuecomment-"
    return f"{facts.url}#{anchor}{comment_id}"


def _comment(comment: Comment, association_of: AssociationOf) -> CommentFacts:
    return CommentFacts(
        author=_account(comment.author),
        association=comment.association or association_of(comment.author),
        body=comment.body,
        created_at=comment.created_at,
        id=comment.id,
    )


def _account(person: Person) -> Account:
    return Account(person.login, person.is_bot)


def _change(event: LabelEvent) -> LabelChange:
    name = LABELED if event.action == "added" else UNLABELED
    return LabelChange(name, event.label, _account(event.actor), event.created_at)
