"""The service fails at request k, for every k of every command that talks to one.

A fault that passes changes nothing; one that lasts is named, and the next run makes it good. No
state is doubled or lost by either. Each row strikes every write and every seventh of the reads, the
rows at different ones: a read is repeated in one place for all, while what a write may have done is
each command's own affair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from faults.all_scenes import EACH
from faults.scenes import Place, Ran, Scene, broken_files, run_here, undisturbed

READS = 7  # a row strikes one read of so many
PATIENCE = 0.25  # seconds that an answer may take where one is made slow


@dataclass(frozen=True, slots=True)
class Row:
    """A fault as the fake is told of it.

    `spoils` is of bodies, which a log cannot show; `spares` is the method that takes it for done.
    """

    how: str
    plan: Mapping[str, Any] = field(default_factory=dict)
    spoils: bool = False
    spares: str = ""
    patience: float = 60.0


PASSING = {
    "429": Row("429"),
    "429, Retry-After": Row("429", {"retry_after": 3}),
    "too fast": Row("secondary", {"retry_after": 7}),
    "500": Row("500"),
    "502": Row("502"),
    "503": Row("503"),
    "503, Retry-After": Row("503", {"retry_after": 3}),
    "reset": Row("reset"),
    "reset after": Row("reset-after"),
    "reset in body": Row("reset-in-body"),
    "cut": Row("cut"),
    "slow": Row("slow", {"seconds": 2 * PATIENCE}, patience=PATIENCE),
    "invalid JSON": Row("badjson", spoils=True),
    "HTML": Row("html", spoils=True),
    "empty": Row("empty", spoils=True),
}
LASTING = {
    "401": Row("401"),
    "403": Row("403"),
    "404": Row("404", spares="DELETE"),
    "429, for an hour": Row("429", {"retry_after": 3600}),
    "500": Row("500"),
    "reset": Row("reset"),
    "invalid JSON": Row("badjson", spoils=True),
}


def struck_by(row: str, rows: Mapping[str, Row], scene: Scene) -> list[Place]:
    """Every write, and the row's share of the reads."""
    number, fault = list(rows).index(row), rows[row]
    share = [
        place
        for index, place in enumerate(undisturbed(scene).places)
        if place.is_write or index % READS == number % READS
    ]
    return [
        place
        for place in share
        if place.method != fault.spares and not (place.is_text and fault.spoils)
    ]


@EACH
@pytest.mark.parametrize("row", PASSING)
def test_a_fault_that_passes(scene: Scene, row: str, tmp_path: Path) -> None:
    fault, whole = PASSING[row], undisturbed(scene)
    for number, place in enumerate(struck_by(row, PASSING, scene)):
        folder = tmp_path / str(number)
        with scene.opened(folder) as servers:
            servers[place.server].fail(fault.how, at=place.at, **fault.plan)
            first = run_here(scene, servers, folder, fault.patience)
            if first.status == whole.first.status:
                assert scene.settled(servers, folder) == whole.settled, place
                continue
            assert is_named(first), (place, first)
            assert made_good(scene, servers, folder), place


@EACH
@pytest.mark.parametrize("row", LASTING)
def test_a_fault_that_lasts(scene: Scene, row: str, tmp_path: Path) -> None:
    """From request k on nothing works at that service, until the next run."""
    fault = LASTING[row]
    for number, place in enumerate(struck_by(row, LASTING, scene)):
        folder = tmp_path / str(number)
        with scene.opened(folder) as servers:
            planned = servers[place.server].fail(fault.how, at=place.at, times=None, **fault.plan)
            first = run_here(scene, servers, folder)
            assert planned.fired, place
            scene.check(servers, folder)
            assert broken_files(folder) == [], place
            if (
                first.status == undisturbed(scene).first.status
            ):  # it is known to be done all the same
                assert scene.settled(servers, folder) == undisturbed(scene).settled, place
                continue
            assert is_named(first), (place, first)
            servers[place.server].faults.clear()
            assert made_good(scene, servers, folder), place


def is_named(ran: Ran) -> bool:
    """Done in part, or not at all: it is said whose doing that is, or what could not be read."""
    words = ("GitHub", "GitLab", "Jira", "could not be read", "not visible")
    return ran.status in (1, 4) and any(word in ran.said for word in words)


def made_good(scene: Scene, servers: Any, folder: Path) -> bool:
    """The next run leaves what an undisturbed one, or a second one, leaves."""
    whole = undisturbed(scene)
    again = run_here(scene, servers, folder)
    ends = (whole.first.status, whole.settled), (whole.again.status, whole.settled_again)
    return (again.status, scene.settled(servers, folder)) in ends
