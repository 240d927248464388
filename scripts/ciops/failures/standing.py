"""Which events the log's own verdicts leave standing: what the job may have failed for at all.

A log says what failed of it: the names of tests, the end of its script. What was said by something
else, or after the end, explains nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ciops.failures import line_rules as roles
from ciops.failures.events import Event
from ciops.failures.trace_facts import Facts
from ciops.failures.units import is_among

# How GitLab's runner begins what it says itself.
_OWN_WORDS: Final = ("ERROR: ", "FATAL: ", "WARNING: ", "prepare environment")
_ARTIFACTS: Final = "artifacts"


def left_standing(facts: Facts) -> Iterator[list[Event]]:
    """What may be the cause, in the order of what to ask first.

    Runners without sections may fail for what they do in the end; GitLab's does not.
    """
    events = _of_what_failed(facts)
    yield [event for event in events if not event.epilogue or _ends_job(event, facts)]
    if not facts.script_end:
        yield events


def _of_what_failed(facts: Facts) -> list[Event]:
    """Without what other tests than those that failed have said, where that is known."""
    known = [event for event in facts.events if event.unit]
    failed = [event for event in known if is_among(event.unit, facts.failing)]
    if not failed:
        return list(facts.events)
    others = {id(event) for event in known} - {id(event) for event in failed}
    return [event for event in facts.events if id(event) not in others]


def _ends_job(event: Event, facts: Facts) -> bool:
    """Whether the runner itself says it, after the script and its tidying up.

    What it hands over counts only when the script had succeeded.
    """
    if event.kind == _ARTIFACTS:
        return 0 < facts.passed < event.number
    own = event.kind == "runner" and event.text.startswith(_OWN_WORDS)
    return own or event.role in (roles.KILL, roles.CANCEL)
