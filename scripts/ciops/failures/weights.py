"""How much an event weighs as the cause of a failure.

What an error was survived, retried or followed by decides, and how sure its rule is. Links of an
exception chain after its first, wrappers and fallout weigh little or nothing; why a job was
ended weighs as much as an error before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ciops.failures import line_rules as roles
from ciops.failures.events import FAILED, VERDICTS, Event
from ciops.failures.trace_facts import Facts

CERTAIN: Final = 100
LIKELY: Final = 92
NOISE: Final = 85
CARRIED: Final = 80
FAILED_TEST: Final = 75
SURVIVED: Final = 70
STATED: Final = 60
ANNOUNCED: Final = 50
CANCELLED: Final = 40
ALONE: Final = 30
OUTLIVED: Final = 20
GUESSED: Final = 10
SUMMED_UP: Final = 5
SUMMARY: Final = "summary"
"""The kind of a wrapper that only sums up: better than nothing where nothing else is said."""
_AFTERWARDS: Final = 50
_LATER: Final = 30
_CRASHED_AFTERWARDS: Final = 65

# Ordinary lines of the same process after which it has survived what it reported.
_ALIVE: Final = 20
_ALIVE_ELSEWHERE: Final = 8  # lines that say which process printed them
_ALIVE_AFTER_A_LINE: Final = 12
_ALIVE_AFTER_A_MENTION: Final = 5
_ALIVE_IN_TESTS: Final = 5
_ALIVE_THOUGH_TOLD: Final = 80
_NEAR_END: Final = 150

# Kinds of errors that a program reports and goes on: they stand however much is printed after.
_KERNEL: Final = "kernel"
_LASTING: Final = frozenset(
    ("test", "test-summary", "compile", "link", "lint", "crash", "configure")
)
# Kinds after which tools tidy up at length before they end.
_SLOW: Final = frozenset(("package", "packaging", "git", "runner", "hang", "kernel"))
# Kinds that scripts shrug off: an error of another kind is more likely the cause.
_NOISY: Final = frozenset(("shell",))


@dataclass(frozen=True, slots=True)
class Ends:
    """The runner's last verdict, after which it tidies up, and the first word of a cancellation.

    `concluded` is where it says that the build has failed, before steps that run in any case. 0
    stands for none.
    """

    concluded: int
    verdict: int
    cancelled: int

    @classmethod
    def of(cls, events: Sequence[Event]) -> Ends:
        """The ends that some events tell of; 0 where they tell of none."""
        wrappers = [e for e in events if e.role == roles.WRAPPER]
        concluded = [e.number for e in wrappers if e.kind == "concluded"]
        verdicts = [e.last for e in wrappers if e.kind in VERDICTS]
        cancels = [e.number for e in events if e.role == roles.CANCEL]
        return cls(min(concluded, default=0), max(verdicts, default=0), min(cancels, default=0))

    def discount(self, event: Event) -> int:
        """How much less an event weighs for coming afterwards: it is a consequence."""
        if 0 < self.verdict < event.number:
            return _AFTERWARDS
        if 0 < self.cancelled < event.number and event.role == roles.CAUSE:
            return _CRASHED_AFTERWARDS
        return _LATER if 0 < self.concluded < event.number else 0


def weight(event: Event, facts: Facts) -> int:
    """The weight of one event; 0 when it is no cause at all."""
    if event.recovered or _is_link(event):
        return 0
    if event.role == roles.CAUSE:
        return _of_cause(event, facts)
    if event.role == roles.STATED:
        return _of_statement(event, facts)
    return _of_others(event, facts)


def _of_statement(event: Event, facts: Facts) -> int:
    if event.passed_over:
        return GUESSED
    if _is_survived(event, facts):
        return _outlived(event, facts)
    return LIKELY if event.frames else STATED  # with a stack it was thrown


def _of_others(event: Event, facts: Facts) -> int:
    if event.role == roles.KILL:
        return CERTAIN
    if event.role == roles.WRAPPER:
        return _of_wrapper(event, facts)
    if event.role == roles.ANNOUNCEMENT:
        return FAILED_TEST if event.kind == "test" else ANNOUNCED
    if event.role == roles.FALLOUT and event.kind == "exception":
        return 0 if facts.is_told_before(event) else ALONE  # now and then the only evidence
    if event.role == roles.CANCEL:
        return 0 if facts.has_exited_before(event) else CANCELLED
    return 0


def _of_wrapper(event: Event, facts: Facts) -> int:
    if event.carried:
        return 0 if facts.tells(event.carried) else CARRIED
    return SUMMED_UP if event.kind == SUMMARY else 0


def _of_cause(event: Event, facts: Facts) -> int:
    if event.passed_over:
        return SURVIVED if event.sure and event.kind in _LASTING else GUESSED
    if facts.explains_a_test(event):
        return CERTAIN if event.sure else LIKELY
    if _is_survived(event, facts):
        return _outlived(event, facts) if event.bare else SURVIVED
    if _is_output_of_a_test(event, facts):
        return SURVIVED
    if event.kind in _NOISY:
        return NOISE
    return CERTAIN if event.sure else LIKELY


def _is_output_of_a_test(event: Event, facts: Facts) -> bool:
    """Whether tests went on after an exception, and one of them failed then, of its own."""
    if event.kind != "exception" or not facts.tests_fail_after(event):
        return False
    return event.alive >= _ALIVE_IN_TESTS or (event.bare and facts.is_far_above_tests(event))


def _is_survived(event: Event, facts: Facts) -> bool:
    """Whether its process went on as if nothing had happened."""
    if event.kind in _LASTING:
        return False
    if event.kind == _KERNEL:
        return event.alive >= _ALIVE_THOUGH_TOLD  # dumps are long
    enough = _ALIVE_ELSEWHERE if event.source else _ALIVE
    if event.role == roles.CAUSE and event.bare and event.kind not in _SLOW:
        enough = _ALIVE_AFTER_A_MENTION if event.mentioned else _ALIVE_AFTER_A_LINE
    return event.alive >= (_ALIVE_THOUGH_TOLD if facts.is_told_of(event) else enough)


def _outlived(event: Event, facts: Facts) -> int:
    """The weight of a single line that its process went on after.

    It counts only in a piece of a log that was cut before any verdict; a statement also above a
    verdict, though far above it is no more than a guess.
    """
    if not facts.ends_with_verdict(event):
        return OUTLIVED if facts.lines - event.last <= _NEAR_END else 0
    if event.role != roles.STATED:
        return 0
    return OUTLIVED if facts.is_followed_by_verdict(event) else GUESSED


def is_lively(event: Event) -> bool:
    """Whether the process that an event is about went on at length."""
    return event.alive >= _ALIVE


def is_outlived(event: Event, facts: Facts) -> bool:
    """Whether a log goes on after an event, and after all that says that something failed."""
    return (event.passed_over or event.alive >= _ALIVE_AFTER_A_LINE) and not any(
        other.last > event.number and other.role in FAILED and not _is_passing(other)
        for other in facts.events
    )


def _is_passing(event: Event) -> bool:
    """Whether a tool said that something failed, and the job went on at length."""
    return event.role == roles.WRAPPER and event.kind not in VERDICTS and is_lively(event)


def _is_link(event: Event) -> bool:
    """Whether an earlier exception of the chain is the cause."""
    link = event.chain
    while link is not None:
        if link.role == roles.CAUSE:
            return True
        link = link.chain
    return False


def is_shown(event: Event, facts: Facts) -> bool:
    """Whether the trace shows that the job failed, or at least ends with this event."""
    if facts.passed > event.number or facts.is_undone(event):
        return False
    if event.role in (roles.KILL, roles.CANCEL, roles.WRAPPER) or facts.ends_with_verdict(event):
        return True
    return facts.lines - event.last <= _NEAR_END
