"""What was tried with which version, and whether an earlier one worked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from ciops.triage.issue_text import Line
from ciops.triage.version_numbers import NEWEST, Version, precedes

Basis = Literal["follows", "told", "alike", "mended"]


class Trial(NamedTuple):
    """A version and whether it worked: `None` where it is only spoken of.

    `certain` where the words say that it was so once, and not only that it is. `basis`: it only
    follows from what is so since a version, or it is told, or told to be like another one, or to
    be mended in it.
    """

    version: Version
    works: bool | None
    certain: bool
    line: Line
    basis: Basis = "told"


def earlier_that_worked(trials: Sequence[Trial], reported: Version | None) -> Trial | None:
    """The trial of a version that worked before one that fails, or None."""
    bad = [trial for trial in trials if trial.works is False]
    good = [trial for trial in trials if trial.works and not _is_taken_back(trial, bad)]
    reported = reported or _of_the_title(trials)
    for trial in good:
        if any(precedes(trial.version, other.version) for other in bad):
            return trial
        if reported is not None and precedes(trial.version, reported):
            return trial
        if trial.certain and reported is None and not bad and trial.version != NEWEST:
            return trial
    for trial in trials:
        beside = (x for x in trials if x.line is trial.line and precedes(trial.version, x.version))
        if trial.works is None and any(x.works is False for x in beside):
            return trial
        if trial.works and any(x.works is None for x in beside):
            return trial
    return None


def earlier_that_fails(trials: Sequence[Trial]) -> Trial | None:
    """The trial of a version that is told to fail like a later one, or None."""
    bad = [trial.version for trial in trials if trial.works is not True]
    alike = (trial for trial in trials if trial.works is False and trial.basis == "alike")
    return next((x for x in alike if any(precedes(x.version, version) for version in bad)), None)


def later_that_works(trials: Sequence[Trial], reported: Version | None = None) -> Trial | None:
    """The trial of a version that works again after all that fail, or None.

    Where no version is told to fail, those named are the reported ones, and one that somebody finds
    to work afterwards, or to mend it, repairs them.
    """
    bad = [trial.version for trial in trials if trial.works is False]
    good = [trial for trial in trials if trial.works]
    if not bad:
        good = [trial for trial in good if trial.line.later or trial.basis == "mended"]
        working = {NEWEST, *(trial.version for trial in good)}
        bad = [trial.version for trial in trials if trial.version not in working]
        bad += [reported] if reported is not None and reported not in working else []
    if not bad:
        good = [trial for trial in good if trial.version == NEWEST or trial.basis == "mended"]
    return next((x for x in good if all(_repairs(x, version) for version in bad)), None)


def _repairs(trial: Trial, version: Version) -> bool:
    """Whether a version that works came after one; one that mends it may be a patch of it."""
    if precedes(version, trial.version):
        return True
    patched = version != trial.version and not precedes(trial.version, version)
    return trial.basis == "mended" and patched


def _of_the_title(trials: Sequence[Trial]) -> Version | None:
    """The version that a title names without an outcome: what is reported is of that one."""
    named = (x.version for x in trials if x.works is None and x.line.zone == "title")
    return max((version for version in named if version != NEWEST), default=None)


def _is_taken_back(trial: Trial, bad: Sequence[Trial]) -> bool:
    """Whether it was found that the version fails all the same.

    That some older version worked only follows: it is taken back where one is told to fail alike.
    """
    if trial.basis == "follows":
        began = [other.version for other in bad if other.basis == "follows"]
        alike = (other.version for other in bad if other.basis == "alike")
        return any(precedes(x, max(began)) and not precedes(min(began), x) for x in alike)
    width = len(trial.version)
    return any(
        other.line.later and not trial.line.later and other.version[:width] == trial.version
        for other in bad
    )
