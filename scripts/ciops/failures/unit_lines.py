"""What lines say of units: that a test, an environment or a probe begins, failed or ended well."""

from __future__ import annotations

import re
from typing import Final

from ciops.failures.event_log import EventLog
from ciops.failures.events import Event
from ciops.failures.line_rules import Said

# Kinds of lines; those of `ENDS` come even where something in the unit has failed.
_BEGINS: Final = "test-begins"
_PASSES: Final = "test-passes"
_PASSED: Final = "test-passed"
_ENDS: Final = "test-ends"
_LET_OFF: Final = "unit"
_TELLS: Final = "tells-what-passed"
_TELLS_NO_MORE: Final = "tells-what-failed"
# How a test framework names the thread of a test, after it.
_IN_A_TEST: Final = re.compile(r"::| - ")


def hear(said: Said, number: int, text: str, log: EventLog) -> None:
    """Take in an ordinary line, perhaps one in which a unit begins or ends."""
    kind = said.rule.kind
    if kind == _PASSED:
        log.pass_last(number)
    if kind not in (_BEGINS, _PASSES, _ENDS):
        return
    match = said.rule.compiled().search(text)  # what is known may be known of its like
    name = (match.groupdict().get("test") or "") if match else ""
    if kind == _BEGINS:
        log.units.begin(number, name)
    elif match is not None:
        log.pass_unit(number, name, strictly=kind == _PASSES)


def recover(said: Said, number: int, source: str, log: EventLog) -> None:
    """Take in that what was reported above is overcome, or that a whole unit is let off."""
    if said.rule.kind == _LET_OFF:
        log.pass_unit(number, said.group("test"))
    else:
        log.recover(number, source, said.rule.kind)


def tells(kind: str, log: EventLog) -> bool:
    """Whether a line heads a section of a summary, of what passed or of what failed."""
    if kind not in (_TELLS, _TELLS_NO_MORE):
        return False
    log.units.telling = kind == _TELLS
    return True


def name_unit(event: Event, said: Said, log: EventLog) -> None:
    """Note the unit that a line names as failed, or as the one that speaks."""
    if failed := said.group("failed"):
        log.failing.add(failed)
    if ended := said.group("unit"):
        log.units.end(event.number, ended, log.events)
    if begun := said.group("test"):
        log.units.begin(event.number, begun)
    speaks, name = said.group("speaks"), log.units.name
    known = name.endswith(speaks) or not _IN_A_TEST.search(speaks)
    event.unit = ended or begun or (name if known else speaks)
