"""Whose output an event is: the unit that was under way, named where it begins or where it ends."""

from __future__ import annotations

import pytest

from ciops.failures.events import Event
from ciops.failures.exit_traps import ExitTrap
from ciops.failures.units import Units, is_among, is_of


def said(number: int, unit: str = "", kind: str = "") -> Event:
    return Event(number, "error: x", "cause", unit=unit, kind=kind)


def test_what_a_unit_says_after_its_beginning_is_its_own() -> None:
    units = Units()
    units.begin(3, "a")
    before, within = said(2, "a"), said(4, "a")
    assert units.passed(5, "a", [before, within]) == [within]


def test_a_unit_without_a_name_is_the_one_that_is_under_way() -> None:
    units = Units()
    units.begin(1, "a")
    within = said(2, "a")
    assert units.passed(3, "", [within]) == [within]
    assert units.passed(4, "", [within]) == []


def test_a_unit_that_begins_again_at_once_is_tried_again() -> None:
    units = Units()
    units.begin(1, "a")
    first = said(2, "a")
    units.begin(3, "a")
    assert units.passed(4, "a", [first]) == [first]


def test_a_unit_of_the_same_name_later_does_not_pass_for_an_earlier_one() -> None:
    units = Units()
    units.begin(1, "a")
    first = said(2, "a")
    units.begin(3, "b")
    units.begin(4, "a")
    assert units.passed(5, "a", [first]) == []


def test_a_unit_that_is_named_at_its_end_owns_what_was_said_since_the_last_one() -> None:
    units, first, second = Units(), said(1), said(3)
    units.end(2, "nightly", [first])
    units.end(4, "unit", [first, second])
    assert (first.unit, second.unit) == ("nightly", "unit")
    assert units.passed(9, "nightly", [first, second]) == [first]


def test_what_passes_without_a_name_of_its_own_reaches_back_to_what_failed() -> None:
    units, failed, logged = Units(), said(1, kind="test"), said(2)
    assert units.unnamed(3, [failed, logged]) == [logged]
    assert units.unnamed(5, [failed, logged]) == []


def test_a_command_ends_every_unit() -> None:
    units = Units()
    units.begin(1, "a")
    units.telling = True
    units.step(2)
    assert (units.name, units.telling) == ("", False)


@pytest.mark.parametrize(
    ("unit", "name", "of"),
    [("TestA", "TestA", True), ("TestA/slow", "TestA", True), ("TestAB", "TestA", False)],
)
def test_a_part_of_a_unit_is_the_unit_s(unit: str, name: str, of: bool) -> None:
    assert is_of(unit, name) is of


@pytest.mark.parametrize(
    ("unit", "failed", "among"),
    [
        ("test_total", "tests/test_cart.py::test_total", True),
        ("TestCart.test_total", "tests/test_cart.py::TestCart::test_total", True),
        ("test_total", "tests/test_cart.py::test_totals", False),
        ("tests/test_cart.py::test_b", "tests/test_cart.py::test_total", False),
    ],
)
def test_a_unit_is_known_under_another_tool_s_name(unit: str, failed: str, among: bool) -> None:
    assert is_among(unit, frozenset((failed,))) is among


@pytest.mark.parametrize(
    ("trap", "commands", "sprung"),
    [
        ("+ trap 'rm -r stage' EXIT", ["+ make", "+ rm -r stage"], True),
        ("+ trap 'rm -r \"$PWD/stage\"' EXIT", ["+ rm -r /builds/stage"], True),
        ("+ trap 'rm -r \"$t\" && docker rm -f b' EXIT", ["+ rm -r /t", "+ docker rm -f b"], True),
        ("+ trap 'rm -r stage' EXIT", ["+ rm -r stage", "+ make"], False),
        ("+ trap 'rm -r stage' EXIT", ["+ rm -r dist"], False),
        ("+ trap cleanup EXIT", ["+ make", "+ cleanup", "+ docker rm -f b"], True),
        ("+ trap cleanup EXIT", ["+ make", "+ docker rm -f b"], False),
        ("+ trap 'echo $?' ERR", ["+ echo 1"], False),
        ("+ trap - EXIT", ["+ make"], False),
    ],
)
def test_a_trap_is_sprung_where_its_commands_come_last(
    trap: str, commands: list[str], sprung: bool
) -> None:
    heard = ExitTrap()
    for number, command in enumerate([trap, *commands]):
        heard.hear(number, command)
    assert (heard.since > 0) is sprung
