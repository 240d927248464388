"""Code in which one rank alone makes a call that all must make: it waits, as it is meant to.

What such a call is, and what a condition on the first rank, the policy's groups say; here is only
whether the one lies in the body of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ciops.triage.evidence import Evidence
from ciops.triage.issue_text import Line, Reading

GUARD: Final = "group:first_rank_guard"
"""The topic of conditions on the first rank, in code."""
CALL: Final = "group:needs_all_ranks"
"""The topic of calls that every rank must make, in code."""


def called_on_one_rank(reading: Reading, found: Sequence[Evidence]) -> Line | None:
    """The line of a call of all ranks that the reporter's code makes on the first one alone."""
    guards = {(x.where, x.line) for x in found if x.topic == GUARD}
    calls = {(x.where, x.line) for x in found if x.topic == CALL} if guards else set()
    if not calls:
        return None
    code = [line for line in reading.lines if line.zone == "code" and line.turn == 0]
    for at, line in enumerate(code):
        if (line.where, line.number) not in guards:
            continue
        inside = next((x for x in _body(code, at) if (x.where, x.number) in calls), None)
        if inside is not None and not _is_made_by_the_rest(code, at, calls):
            return inside
    return None


def _body(code: Sequence[Line], at: int) -> Iterator[Line]:
    """The lines of a condition: its own, where something follows the colon, and its body."""
    head = code[at]
    if not head.text.rstrip().endswith(":"):
        yield head
        return
    for line in code[at + 1 :]:
        if line.block != head.block or (line.text.strip() and _depth(line) <= _depth(head)):
            return
        yield line


def _is_made_by_the_rest(code: Sequence[Line], at: int, calls: set[tuple[str, int]]) -> bool:
    """Whether the other ranks make such a call too: in an `else` of the condition."""
    for place, line in enumerate(code[at + 1 :], start=at + 1):
        if line.block != code[at].block or _depth(line) < _depth(code[at]):
            return False
        if _depth(line) == _depth(code[at]) and line.text.strip():
            other = line.text.lstrip().startswith(("else", "elif"))
            return other and any((x.where, x.number) in calls for x in _body(code, place))
    return False


def _depth(line: Line) -> int:
    return len(line.text) - len(line.text.lstrip())
