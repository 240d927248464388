"""One fuzzing campaign: inputs at random for some seconds, and what fails is printed.

What an attempt costs is its own work (the clock of the process), so that a busy machine is no
finding; what seems slow is tried twice more.
"""

from __future__ import annotations

import argparse
import itertools
import random
import time
import traceback
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
MOST_FAILURES = 10
SHOWN = 2000


def campaign(
    about: str,
    make: Callable[[random.Random], T],
    attempt: Callable[[T], None],
    allowed: Callable[[T], float],
) -> int:
    """Exit status 1 when anything failed. `allowed` is how many seconds an input may take."""
    options = argparse.ArgumentParser(description=about.splitlines()[0])
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--seed", type=int, default=None, help="default: by the clock")
    options.add_argument("--only", type=int, default=None, help="one input of a seed, whole")
    given = options.parse_args()
    seed = time.time_ns() if given.seed is None else given.seed
    end, tried, failed = time.monotonic() + given.seconds, 0, 0
    numbers = itertools.count() if given.only is None else [given.only]
    for number in numbers:
        if time.monotonic() > end or failed >= MOST_FAILURES:
            break
        made = make(random.Random(f"{seed} {number}"))
        tried += 1
        problem = problem_of(made, attempt, allowed(made))
        if problem:
            failed += 1
            shown = repr(made)[: None if given.only is not None else SHOWN]
            print(f"{'-' * 70}\n--seed {seed} --only {number}\n{shown}\n{problem}")
    print(f"{tried} inputs, {failed} failures, seed {seed}")
    return 1 if failed else 0


def problem_of(made: T, attempt: Callable[[T], None], allowed: float) -> str:
    """What went wrong with an attempt, "" when it succeeds in time."""
    took = []
    for _ in range(3):
        start = time.process_time()
        try:
            attempt(made)
        except Exception:
            return traceback.format_exc()
        took.append(time.process_time() - start)
        if took[-1] <= allowed:
            return ""
    return f"took {min(took):.2f} s, allowed are {allowed:.2f}"
