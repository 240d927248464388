"""How much a line looks like the statement of a failure, where no rule knows the tool that says it.

Whoever reads such a log looks at what the command that failed printed last and passes over its
progress, hints, counts and usage. Signs of failure add up: what is not, what differs from what was
wanted, a place, the name of whoever says so, an exclamation. Nothing here is certain.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

# What speaks for a line and against it; each sign counts once.
_SIGNS: Final = tuple(
    (weight, re.compile(pattern))
    for weight, pattern in (
        # negation, whatever is negated
        (3, r"(?i)\b(?:not?|never|none|nothing|nobody|without|neither|\w+n't)\b"),
        (2, r"(?i)^(?:\S+: )?un(?!it|til|ion|i\b|der\b|pack|zip|install|load)\w{3,}\b"),
        # a comparison with what was wanted
        (
            2,
            r"(?i)\b(?:\w+er|more|less|other) than\b|\binstead\b|\bbut\b|!=|(?<!=)=> |==> "
            r"|\bdiff\w*|\bfrom \S+ to \S+|\bwould\b|\bstill\b|\balready\b|\bonly\b",
        ),
        (2, r"(?<=\w)!(?:\s|$)"),
        (1, r"^(?:\[[\w-]+\] )?[\w./@+-]+(?:\[\d+\]|\(\d+\))?: \S"),  # who says it
        (1, r"\S\.\w{1,10}(?::\d+|\(\d+|: line \d+)|(?i:\bline \d+)"),  # where
        # advice, and where to read on
        (
            -6,
            r"(?i)^\W*(?:hint|tip|note|info|debug|help|see|try|run|use|usage|did you mean|for more"
            r"|please|consider|you (?:can|may|might)|to (?!\d)\w+(?=[\w ]{0,40}[,:])|learn more"
            r"|more info\w*|visit|read|options|commands|flags|arguments)\b",
        ),
        (-6, r"https?://\S+\W{0,2}$|^\s+-{1,2}\w|^\s*\[-"),
        # progress, counts, how it ended
        (
            -6,
            r"(?i)^(?:\S+: )?(?!missing|noth|some|exist|conflict|refus|abort)\w+ing\b"
            r"|\.\.\.|\d ?%",
        ),
        (-6, r"(?i)\b(?:done|ok(?:ay)?|passed|success\w*|finished|completed?)\W*$|^\W*$"),
        (-6, r"(?i)^(?:\S+ ){0,2}\d+ (?:of|out of|/) \d+\b|^\W*\d+ \w+(?:, \d+ \w+)*\W*$"),
        (-4, r"^(?:\[Pipeline\]|\s+(?:at|from|in) \S)|(?i:\b(?:nothing|no files?) (?:was|were) )"),
    )
)
_USAGE: Final = re.compile(r"(?i)^\s*(?:usage|options|commands|flags|arguments)\b.{0,60}:?")
_ABOUT_AS_MUCH: Final = 1


def likeness(text: str) -> int:
    """How many signs of failure a line has, less those against it."""
    return sum(weight for weight, sign in _SIGNS if sign.search(text))


def likest(lines: Sequence[tuple[str, int]]) -> int | None:
    """The index of the line that looks most like a failure: of about equals the first.

    The lines are texts as they were printed, each with what else speaks for it (a rule's opinion).
    Where none has a sign of failure: the first of the last run of lines that nothing speaks
    against.
    """
    scores = [bias + likeness(text) for text, bias in lines]
    for at in _of_usage([text for text, _ in lines]):
        scores[at] = -1
    best = max(scores, default=-1)
    if best > 0:
        least = max(best - _ABOUT_AS_MUCH, 1)
        return next(at for at, score in enumerate(scores) if score >= least)
    return _start_of_last_run(scores)


def _of_usage(texts: Sequence[str]) -> list[int]:
    """The lines of a text on how to use a tool: its head, and what stands further right below."""
    found: list[int] = []
    for at, text in enumerate(texts):
        goes_on = bool(found) and found[-1] == at - 1 and (not text or text[0].isspace())
        if goes_on or _USAGE.match(text):
            found.append(at)
    return found


def _start_of_last_run(scores: Sequence[int]) -> int | None:
    found = None
    for at in range(len(scores) - 1, -1, -1):
        if scores[at] >= 0:
            found = at
        elif found is not None:
            break
    return found
