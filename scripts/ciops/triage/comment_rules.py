"""Has somebody said already what a comment of the bot would say?

The bot's own marker counts from the bot alone; words that ask or explain the same count from the
bot, any other bot, and maintainers. A stranger's comment counts for nothing.
"""

from __future__ import annotations

from ciops.triage.facts import MAINTAINERS, CommentFacts, IssueFacts
from ciops.triage.policy import CommentRule, Policy, Profile


def standing_comment(
    facts: IssueFacts, template: str, policy: Policy, profile: Profile
) -> CommentFacts | None:
    """The comment that makes another one needless, or None."""
    rule = policy.comments[template]
    for comment in facts.comments:
        if _is_marked(comment, rule, policy):
            return comment
        if profile.searches_comments and _says_the_same(comment, rule, policy):
            return comment
    return None


def _is_marked(comment: CommentFacts, rule: CommentRule, policy: Policy) -> bool:
    return comment.author.login.casefold() in policy.bot_logins and rule.marker in comment.body


def _says_the_same(comment: CommentFacts, rule: CommentRule, policy: Policy) -> bool:
    login = comment.author.login.casefold()
    trusted = (
        comment.author.is_bot
        or login in policy.bot_logins
        or login in policy.parent_bot_logins
        or comment.association in MAINTAINERS
    )
    if not trusted:
        return False
    lines = [line[:1000] for line in comment.body[:20_000].split("\n") if not line.startswith(">")]
    return any(map(rule.is_said_in, lines))
