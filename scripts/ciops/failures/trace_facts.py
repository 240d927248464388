"""Everything a reader found out about a trace, and questions about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ciops.failures import line_rules as roles
from ciops.failures.config_dump import HintValue
from ciops.failures.events import FAILED, VERDICTS, Event
from ciops.failures.framing import Visible

_TOLD_WITHIN: Final = 30
_EXPLAINED_WITHIN: Final = 3
_VERDICT_WITHIN: Final = 60
_FAR: Final = 12


@dataclass(frozen=True, slots=True)
class Facts:
    """What happened in a trace.

    `lines` and `size` count lines and bytes; `script_end` is the line at which the runner began to
    tidy up (0 where it did not). `tail` holds the last lines; `failing` names what is said to have
    failed.
    """

    events: Sequence[Event]
    lines: int
    size: int
    script_end: int
    observed: frozenset[str]
    tail: Sequence[Visible]
    model: str | None
    hints: Mapping[str, HintValue]
    commit: str | None
    failing: frozenset[str] = frozenset()

    @property
    def passed(self) -> int:
        """The last line that says the job succeeded, 0 where none does."""
        return self._passed("")

    def _passed(self, kind: str) -> int:
        numbers = (e.last for e in self.events if e.role == roles.PASSED and e.kind == kind)
        return max(numbers, default=0)

    def is_undone(self, event: Event) -> bool:
        """Whether what was built or tested is said to be well in the end, after an event."""
        if event.number > max(self._passed("build"), self._passed("tests")):
            return False
        if any(other.role in FAILED and other.last > event.number for other in self.events):
            return self._ends_built(event)
        return self._passed("build") > event.number or not self._tests_failed(event)

    def _ends_built(self, event: Event) -> bool:
        """Whether a build is said to be well after the last word of failure, not the runner's."""
        later = [e for e in self.events if e.role in FAILED and e.last > event.number]
        if any(e.role != roles.WRAPPER or e.kind in VERDICTS for e in later):
            return False
        return self._passed("build") > max(e.last for e in later)

    def _tests_failed(self, event: Event) -> bool:
        """Whether a test is named that failed, so that other tests' success says nothing."""
        return (event.kind == "test" and event.sure) or any(
            (other.kind == "test" and other.role == roles.ANNOUNCEMENT)
            or other.kind == "test-summary"
            for other in self.events
            if not other.recovered
        )

    def ends_with_verdict(self, event: Event) -> bool:
        """Whether somebody says after an event that the job failed or passed."""
        return self.passed > event.number or any(
            other.last > event.number and other.role in FAILED for other in self.events
        )

    def is_followed_by_verdict(self, event: Event) -> bool:
        """Whether such a verdict stands not far below an event."""
        return any(
            0 < other.last - event.last <= _VERDICT_WITHIN
            for other in self.events
            if other.role in FAILED
        )

    def is_told_of(self, event: Event) -> bool:
        """Whether a command is said to have failed right after an event."""
        return any(
            0 < other.last - event.last <= _TOLD_WITHIN
            for other in self.events
            if other.role == roles.WRAPPER
        )

    def is_told_before(self, event: Event) -> bool:
        """Whether something was said to have failed before an event."""
        return any(
            other.number < event.start for other in self.events if other.role == roles.WRAPPER
        )

    def has_exited_before(self, event: Event) -> bool:
        """Whether a task had failed by itself shortly before: the launcher ends its siblings."""
        return any(
            0 < event.number - other.number <= _TOLD_WITHIN
            for other in self.events
            if other.role == roles.WRAPPER and other.kind == "exit"
        )

    def tests_fail_after(self, event: Event) -> bool:
        """Whether a failing test is reported later: what is printed before may be its output."""
        return any(
            other.kind == "test" and other.number > event.number
            for other in self.events
            if other.role == roles.CAUSE and not other.recovered
        )

    def is_far_above_tests(self, event: Event) -> bool:
        """Whether much was printed between an event and the first test that is said to fail."""
        tests = (
            one.start or one.number
            for one in self.events
            if one.kind == "test" and one.number > event.number and not one.recovered
        )
        return min(tests, default=0) - event.end > _FAR

    def explains_a_test(self, event: Event) -> bool:
        """Whether an exception stands right below the name of a test that failed."""
        return event.kind == "exception" and any(
            0 < event.start - other.number <= _EXPLAINED_WITHIN
            for other in self.events
            if other.kind == "test" and other.role == roles.ANNOUNCEMENT
        )

    def tells(self, carried: str) -> bool:
        """Whether some error says what a wrapper carries."""
        start = carried.strip()[:60]
        return any(
            start in other.text
            for other in self.events
            if other.role in (roles.CAUSE, roles.KILL) and not other.recovered
        )
