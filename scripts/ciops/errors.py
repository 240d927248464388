"""Errors that carry an exit status and a next step.

Every error a person can act on is one of these. The entry point prints
`str(error)` as one sentence and exits with `error.exit_status`; anything else
that escapes is a bug and is reported as one.

Exit statuses (all tools): 0 done, 1 done in part, 2 usage or unreadable input,
3 refused by a rule, 4 a service failed after retries.
"""

from __future__ import annotations

from typing import ClassVar

EXIT_DONE = 0
EXIT_PARTIAL = 1
EXIT_USAGE = 2
EXIT_REFUSED = 3
EXIT_SERVICE = 4


class CiopsError(Exception):
    """An error with words for a person: what was wrong, then what to do."""

    exit_status: ClassVar[int] = EXIT_PARTIAL

    def __init__(self, problem: str, next_step: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.next_step = next_step

    def __str__(self) -> str:
        if not self.next_step:
            return self.problem
        return f"{self.problem.rstrip('.')}. {self.next_step}"


class PartialError(CiopsError):
    """Part of the work was done; what was not is named."""

    exit_status = EXIT_PARTIAL


class UsageError(CiopsError):
    """Bad arguments, or a policy, configuration or input file that cannot be read."""

    exit_status = EXIT_USAGE


class RefusedError(CiopsError):
    """A rule says no: a gate, a scope, a foreign host, a missing label or approval."""

    exit_status = EXIT_REFUSED


class ServiceError(CiopsError):
    """A service failed after retries; nothing further was done."""

    exit_status = EXIT_SERVICE
