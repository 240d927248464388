"""The comments that the bot leaves: from templates, in three languages, with a hidden marker.

What comes of the issue's text stands in them as code: it mentions nobody, and on GitLab no line
of it is a quick action.
"""

from __future__ import annotations

from collections.abc import Iterable

from ciops.forges.base import Viewer
from ciops.plumbing.rendering import Templates
from ciops.triage.decide import Decision
from ciops.triage.facts import CommentFacts
from ciops.triage.policy import Policy
from ciops.triage.rationale import quoted


def render_comment(template: str, decision: Decision, policy: Policy, words: Templates) -> str:
    """The text of a comment, its marker first. The same decision gives the same text."""
    reasons = (
        quoted(item.evidence, words)
        for item in decision.evidence
        if item.facet == "distributed" and item.evidence.points > 0
    )
    labels = policy.labels
    return words.render(
        f"{template}.md",
        marker=policy.comments[template].marker,
        queue=labels.queue,
        review=labels.review,
        reproduction=labels.reproduction,
        reason=next((quote for quote in reasons if not _passes_for_ours(quote, policy)), ""),
    ).strip()


def _passes_for_ours(quote: str, policy: Policy) -> bool:
    """Whether a quoted line would, in the bot's comment, be taken for what the bot says itself.

    A reporter could write the marker of another comment, or its words, to silence that one.
    """
    rules = policy.comments.values()
    if any(rule.marker in quote for rule in rules):
        return True
    return any(rule.is_said_in(quote) for rule in rules)


def own_comment(
    template: str, comments: Iterable[CommentFacts], viewer: Viewer, policy: Policy
) -> CommentFacts | None:
    """The same comment by this account, or by a bot's: a person's forged marker is none.

    Beyond `bot_logins`, which a decision goes by: a run with a token that no policy knows must
    not repeat itself either.
    """
    marker = policy.comments[template].marker
    for comment in comments:
        ours = comment.author.login.casefold() == viewer.login.casefold()
        if marker in comment.body and (ours or comment.author.is_bot):
            return comment
    return None
