"""Evidence that no single line gives: what was raised, and a script that stays in one process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from ciops.triage.crash_site import crashed_elsewhere
from ciops.triage.evidence import Evidence, evidence_of, points_of
from ciops.triage.frames import judge_tracebacks
from ciops.triage.issue_text import Line, Reading
from ciops.triage.one_rank_only import called_on_one_rank
from ciops.triage.policy import Policy
from ciops.triage.reproduction import touching_block
from ciops.triage.shown_lists import lists_that_differ
from ciops.triage.shown_ranks import ranks_that_differ
from ciops.triage.version_numbers import reported_version
from ciops.triage.version_trials import (
    Trial,
    earlier_that_fails,
    earlier_that_worked,
    later_that_works,
)
from ciops.triage.versions import trials_of
from ciops.triage.weighing import score_topics

WORKED_BEFORE: Final = "worked_before"
"""The signal of an earlier version that worked, in families that compare versions."""
ALIKE: Final = "group:no_regression"
"""The topic of an earlier version that fails like the later one: nothing was broken by it."""
REPAIRED: Final = "group:repaired"
"""The topic of a later version that works: what failed has been repaired."""
ELSEWHERE: Final = "group:elsewhere"
"""The topic of a stack that shows a crash in another package."""
ON_ONE_RANK: Final = "group:called_on_one_rank"
"""The topic of code in which one rank alone makes a call that all must make."""
LISTS_DIFFER: Final = "lists_differ"
"""The signal of lists of numbers that are shown and are not the same."""
RANKS_DIFFER: Final = "ranks_differ"
"""The signal of values of ranks that are shown to be the same no more."""
_COMPARISON: Final = "AssertionError"
_WARNING: Final = "Warning"
_ACTED: Final = ("ran", "machine")
_USED: Final = ("root", "api")
_ABOUT: Final = 2.0


def infer(reading: Reading, found: Sequence[Evidence], policy: Policy) -> Iterator[Evidence]:
    """Evidence from the issue as a whole."""
    yield from _raised(reading, policy)
    yield from _compared(reading, policy)
    yield from _shown_apart(reading, policy)
    yield from _crashed_elsewhere(reading, policy)
    yield from _called_on_one_rank(reading, found, policy)
    yield from _popular(reading, policy)
    yield from _called_inside(reading, policy)
    yield from _only_part_in_script(found, policy)
    yield from _only_part_named(found, policy)
    yield from _plain_script(reading, found, policy)


def _raised(reading: Reading, policy: Policy) -> Iterator[Evidence]:
    """An exception speaks against a family whose failures are silent."""
    raised = next(
        (
            source
            for source in reading.tracebacks
            if source.traceback.exception
            and not source.traceback.exception.endswith((_COMPARISON, _WARNING))
        ),
        None,
    )
    if raised is None:
        return
    for family in policy.priorities:
        if family.raised:
            text = f"{raised.traceback.exception}: {raised.traceback.message}"
            yield Evidence(
                f"priority:{family.id}", "exception_raised", "against", family.raised, "traceback",
                raised.where, raised.traceback.number, raised.traceback.number, text, raised.turn,
                raised.speaker,
            )  # fmt: skip


def _compared(reading: Reading, policy: Policy) -> Iterator[Evidence]:
    """What versions that worked say: an earlier one of a regression, a later one of a repair."""
    families = [family for family in policy.priorities if family.compares_versions]
    trials = trials_of(reading, policy.versions) if families else []
    if not trials:
        return
    works = any(trial.works for trial in trials)
    reported = reported_version(reading, policy.version_shapes) if works else None
    if (earlier := earlier_that_worked(trials, reported)) is not None:
        for family in families:
            yield _of_trial(earlier, f"priority:{family.id}", WORKED_BEFORE, policy)
    elif (alike := earlier_that_fails(trials)) is not None:
        yield _of_trial(alike, ALIKE, ALIKE.partition(":")[2], policy)
    if (later := later_that_works(trials, reported)) is not None:
        yield _of_trial(later, REPAIRED, REPAIRED.partition(":")[2], policy)


def _of_trial(trial: Trial, topic: str, signal: str, policy: Policy) -> Evidence:
    points = points_of(trial.line, "root", policy.scoring)
    return evidence_of(trial.line, topic, signal, "root", points)


def _shown_apart(reading: Reading, policy: Policy) -> Iterator[Evidence]:
    """Lists of numbers that differ are evidence for a family that looks at them."""
    for family in policy.priorities:
        unlike = family.lists_not_after
        if not unlike:
            continue
        points = round(policy.scoring.roles["api"] * policy.scoring.zones["prose"], 2)
        topic = f"priority:{family.id}"
        if line := lists_that_differ(reading, unlike):
            yield evidence_of(line, topic, LISTS_DIFFER, "api", points)
        if line := ranks_that_differ(reading, unlike):
            yield evidence_of(line, topic, RANKS_DIFFER, "api", points)


def _crashed_elsewhere(reading: Reading, policy: Policy) -> Iterator[Evidence]:
    """The innermost frame of a crash, where it lies in another package."""
    own = [pattern for family in policy.priorities for pattern in family.not_elsewhere]
    line = crashed_elsewhere(reading, own) if own else None
    if line is not None:
        signal, points = ELSEWHERE.partition(":")[2], policy.scoring.roles["root"]
        yield evidence_of(line, ELSEWHERE, signal, "root", points)


def _called_on_one_rank(
    reading: Reading, found: Sequence[Evidence], policy: Policy
) -> Iterator[Evidence]:
    line = called_on_one_rank(reading, found)
    if line is not None:
        signal, points = ON_ONE_RANK.partition(":")[2], policy.scoring.roles["root"]
        yield evidence_of(line, ON_ONE_RANK, signal, "root", points)


def _popular(reading: Reading, policy: Policy) -> Iterator[Evidence]:
    """That many people agree, or wrote, is evidence for a family that asks for it."""
    for family in policy.priorities:
        agree = 0 < family.thumbs_up <= reading.thumbs_up
        if agree or 0 < family.people <= reading.people:
            text = f"{reading.thumbs_up} thumbs-up, {reading.people} others wrote"
            yield Evidence(
                f"priority:{family.id}", "popular", "root", policy.scoring.roles["root"], "title",
                "title", 1, 1, text, 0, "reporter",
            )  # fmt: skip


def _called_inside(reading: Reading, policy: Policy) -> Iterator[Evidence]:
    """A traceback in which a part of the product made the failing call."""
    for verdict in judge_tracebacks(reading.tracebacks, policy):
        if verdict.called_inside:
            _, _, frame = verdict.findings[0]
            source = verdict.source
            yield Evidence(
                "group:called_inside", "called_inside", "root", policy.scoring.roles["root"],
                "traceback", source.where, frame.number, frame.number, frame.path, source.turn,
                source.speaker,
            )  # fmt: skip


def _only_part_in_script(found: Sequence[Evidence], policy: Policy) -> Iterator[Evidence]:
    """The one part that the reporter's code uses: the code shows the failure with it alone.

    Parts whose use in code is context where another is used (`when_alone`) yield to the others.
    """
    used: dict[str, Evidence] = {}
    for item in found:
        if item.zone == "code" and item.role in _USED and item.points > 0:
            component = policy.components.get(item.topic.removeprefix("component:"))
            if component and item.speaker != "other":
                used.setdefault(component.label or component.id, item)
    if len(used) > 1:
        used = {key: item for key, item in used.items() if key not in policy.when_alone}
    if len(used) == 1:
        (item,) = used.values()
        points = policy.scoring.roles["api"]
        yield replace(item, signal="only_part_in_script", role="api", points=points)


def _only_part_named(found: Sequence[Evidence], policy: Policy) -> Iterator[Evidence]:
    """The one part that an issue speaks of at all: named in its title, or as what was called."""
    told = [item for item in found if item.topic.startswith("component:") and item.points]
    names = (policy.components.get(item.topic.removeprefix("component:")) for item in told)
    labels = {part.label or part.id for part in names if part is not None}
    if len(labels) != 1 or any(item.points < 0 for item in told):
        return
    if any(x.topic.startswith("apart:") and x.role in _USED and x.points > 0 for x in found):
        return
    if any(score.stands for score in score_topics(told).values()):
        return
    spoken = [
        item
        for item in told
        if item.group in ("title", "spoken") and item.role == "api" and item.speaker == "reporter"
    ]
    if spoken:
        item = max(spoken, key=lambda item: item.points)
        yield replace(item, signal="only_part_named", points=policy.scoring.roles["api"])


def _plain_script(
    reading: Reading, found: Sequence[Evidence], policy: Policy
) -> Iterator[Evidence]:
    """A script or a traceback of the product, in an issue that names no part of the scope."""
    if any(_speaks_of_scope(item, policy) for item in found) or _is_about_scope(found, policy):
        return
    line = touching_block(reading, policy) or _product_frame(reading, policy)
    if line is None:
        return
    points = policy.scoring.roles["root"] * policy.scoring.zones["code"]
    for family in policy.apart:
        if family.plain_script:
            yield evidence_of(line, f"apart:{family.id}", "script_without_scope", "root", points)


def _speaks_of_scope(item: Evidence, policy: Policy) -> bool:
    """Evidence of the scope that was run or printed, or a part that the issue is about."""
    return proves_scope(item, policy) and (item.group in _ACTED or item.points >= _ABOUT)


def _is_about_scope(found: Sequence[Evidence], policy: Policy) -> bool:
    """Whether some part that only the scope has stands by all that is said of it."""
    topics = {item.topic for item in found if proves_scope(item, policy)} - {"in_scope"}
    scores = score_topics(item for item in found if item.topic in topics)
    return any(x.stands and x.points >= policy.scoring.minimum for x in scores.values())


def proves_scope(item: Evidence, policy: Policy) -> bool:
    """Whether evidence is of a kind that only the queue's scope explains."""
    if item.points <= 0 or item.role not in _USED:
        return False
    if item.topic == "in_scope":
        return True
    component = policy.components.get(item.topic.removeprefix("component:"))
    return component is not None and component.proves_scope


def _product_frame(reading: Reading, policy: Policy) -> Line | None:
    """The line of a traceback's innermost frame, where that is the product's own code."""
    for source in reading.tracebacks:
        frames = source.traceback.frames
        if not frames or not any(f in frames[-1].path for f in policy.product_frames):
            continue
        for line in reading.lines:
            if line.where == source.where and line.number == frames[-1].number:
                return line
    return None
