"""Counts, endings and single results of a run, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ciops.plumbing.rendering import Templates
from ciops.triage.issue_summary import outcome_lines, skip_reason_words
from ciops.triage.run_issue import Desk, Result
from ciops.triage.run_sweep import Ending

OUTCOMES: Final = ("written", "planned", "unchanged", "skipped", "held_back", "failed")


def totals(outcomes: Mapping[str, int], words: Templates) -> str:
    """`3 written to, 12 left alone`, "" for none."""
    counted = ((outcomes.get(name, 0), name) for name in OUTCOMES)
    told = (words.message(f"outcome.{name}", n=n) for n, name in counted if n)
    return words.message("list.between").join(told)


def skips(found: Mapping[str, int], words: Templates, queue: str) -> str:
    """`it is closed (2), it is locked (1)`."""
    ordered = sorted(found.items(), key=lambda item: -item[1])
    told = (f"{skip_reason_words(name, words, queue)} ({n})" for name, n in ordered)
    return words.message("list.between").join(told)


def result_line(result: Result, desk: Desk) -> str:
    """One issue on one line of the log: what was done, what would be."""
    look = result.look
    if look is None:
        return f"#{result.number}"
    if look.skip is not None:
        why = skip_reason_words(look.skip, desk.words, desk.policy.labels.queue)
        told = [desk.words.message("headline.skipped", reason=why)]
    else:
        told = list(outcome_lines(result, desk, plain=True))
    title = " ".join(look.facts.title.split())
    return f"#{result.number} {title}\n" + "\n".join(f"    {line}" for line in told)


def ending_words(
    ending: Ending, words: Templates, service: str, limit: int | None
) -> Iterator[str]:
    """Why a run stopped before its end, and what it left."""
    if not ending.why:
        return
    at = "" if ending.number else "_at_list"
    yield words.message(
        f"ending.{ending.why}{at}",
        number=ending.number,
        error=ending.error,
        service=service,
        limit=limit,
    )
    if ending.left is not None:
        yield words.message("ending.left", n=ending.left)
    elif ending.why != "failed":
        yield words.message("ending.rest")
