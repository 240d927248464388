"""Answers held to what was asked: of another form, they are a fault of the service.

A proxy, a sign-in page or a bug may answer 200 with anything. Taken as it is, an issue without a
number would be a closed one, and an account without a name would be that of all deleted ones.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ciops.errors import RefusedError
from ciops.forges.base import GHOST, Comment, Issue, Person, Viewer, same_label
from ciops.plumbing.http import ForbiddenError, Reply, UnavailableError


class MadeAnewError(RefusedError):
    """A label that was there when the run began has just been made by adding it."""


_STEP: Final = "Check the address of the service, and what stands before it"


def the_issue(found: Issue, number: int, service: str) -> Issue:
    """The issue that was asked for."""
    if found.number != number:
        raise _wrong(service, f"issue {number}", "the answer is another one, or no issue")
    return found


def only_issues(found: Iterator[Issue], service: str) -> Iterator[Issue]:
    """The issues of a list, each with its number."""
    for issue in found:
        if issue.number <= 0:
            raise _wrong(service, "the list of issues", "it holds what is no issue")
        yield issue


def the_account(found: Person, service: str) -> Person:
    """The account of a token, which is never a deleted one."""
    if found == GHOST:
        raise _wrong(service, "the token's account", "the answer names none")
    return found


def made(comment: Comment, reply: Reply, service: str) -> Comment:
    """The comment that was posted."""
    if comment.id <= 0:
        reason = "the answer is no comment: whether one was made is not known"
        raise UnavailableError(service, "POST of a comment", reply.status, reason, _STEP)
    return comment


def labelled(wanted: Sequence[str], there: Sequence[str], number: int, service: str) -> None:
    """ForbiddenError where a service answers well and adds nothing, as some do without a right."""
    dropped = [name for name in wanted if not any(same_label(name, other) for other in there)]
    if dropped:
        listed = ", ".join(f'"{name}"' for name in dropped)
        step = "Check that the token's account may label issues"
        raise ForbiddenError(service, f"labels of issue {number}", 200, f"without {listed}", step)


def not_made_anew(before: Mapping[str, int], after: Mapping[str, int]) -> None:
    """MadeAnewError where a label, by name in lower case, has another id than `before`."""
    for name, identity in after.items():
        if before.get(name, identity) != identity:
            problem = (
                f'label "{name}" was renamed or deleted during the run: adding it made it anew'
            )
            raise MadeAnewError(problem, "Delete the new one, correct the policy and run again")


def file_content(packed: str, service: str) -> bytes:
    """The bytes of a file, which come as base64."""
    try:
        return base64.b64decode(packed)
    except ValueError:  # characters that base64 has not, or too few
        raise _wrong(service, "the content of a file", "the answer is not base64") from None


def is_by(viewer: Viewer | None, author: Person) -> bool:
    """Whether this account may have written it: of an installation only that it is a bot is known.

    Without a viewer nothing is known, and anybody may have.
    """
    if viewer is None or author.login.casefold() == viewer.login.casefold():
        return True
    return viewer.is_bot and author.is_bot


def _wrong(service: str, what: str, reason: str) -> UnavailableError:
    return UnavailableError(service, what, 0, reason, _STEP)
