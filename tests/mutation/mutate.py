"""Which small changes to the deciding modules no test notices.

    python tests/mutation/mutate.py [MODULE …] [--most N] [--seed S] [--tests FILE …]

It forks: Linux, macOS.

The tests of the tool run once, with a probe in every function: this tells which tests reach which
function, and how long each takes. Then each change is made in a process of its own, forked from one
that has everything loaded, and the tests that reach the changed function run, quick files first,
until one fails or their time is up. A change that none notices survived: it is printed with its
line. Some are equal to the original and are named in equivalent.yml; the others want a test.
`--most` takes so many of a module at random.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pickle
import random
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from mutation.mutants import Mutant, install, mutants, put_probes  # noqa: E402

DECIDING = (
    *("triage.decide", "triage.weighing", "triage.facets", "triage.plan"),
    *("failures.causes", "failures.buckets", "failures.assemble"),
    *("postmortem.prose", "postmortem.adf", "postmortem.gates"),
)
OPTIONS = (
    *("-s", "-m", "not tool", "-o", "addopts=--import-mode=importlib"),
    *("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:terminal"),
)
KNOWN = Path(__file__).with_name("equivalent.yml")
BUDGET = 8.0  # seconds of tests for one change, as they took without it
LONGEST = 2.0  # seconds; a test that takes longer judges no change
FAR = 3  # a change is noticed when its tests take so many times longer


@dataclass(frozen=True, slots=True)
class Ran:
    """How a test went without any change; `item` is its place among those collected."""

    item: int
    file: str
    passed: bool
    seconds: float
    reached: frozenset[tuple[str, str]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE", default=DECIDING)
    parser.add_argument("--most", type=int, default=0, help="changes of each module (0: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", nargs="+", metavar="FILE", help="default: those of the tool")
    given = parser.parse_args()
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    for tool in dict.fromkeys(name.partition(".")[0] for name in given.modules):
        names = [name for name in given.modules if name.startswith(f"{tool}.")]
        loop = Loop({name: choice(name, given.most, given.seed) for name in names})
        tests = given.tests or [str(ROOT / "tests" / tool)]
        in_a_child(partial(pytest.main, [*OPTIONS, f"--rootdir={ROOT}", *tests], plugins=[loop]))
    return 0


def choice(name: str, most: int, seed: int) -> list[Mutant]:
    found = list(mutants(module_of(name)))
    few = random.Random(seed).sample(found, most) if 0 < most < len(found) else found
    return sorted(few, key=lambda one: one.line)


def module_of(name: str) -> ModuleType:
    return importlib.import_module(f"ciops.{name}")


class Loop:
    """Instead of running the tests once: once with probes, then with each change."""

    def __init__(self, chosen: Mapping[str, Sequence[Mutant]]) -> None:
        self._chosen = chosen

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        began = time.perf_counter()
        ran = in_a_child(lambda: probed(session, [module_of(name) for name in self._chosen]))
        failed = [session.items[one.item].nodeid for one in ran if not one.passed]
        print(f"{len(ran)} tests, {time.perf_counter() - began:.0f} s", flush=True)
        for nodeid in failed:
            print(f"  left out, fails without any change: {nodeid}", flush=True)
        for name, chosen in self._chosen.items():
            report(session, ran, name, chosen)
        return True


def probed(session: pytest.Session, modules: Sequence[ModuleType]) -> list[Ran]:
    """Run every test once."""
    silence()
    reached: set[tuple[str, str]] = set()
    for module in modules:
        put_probes(module, reached)
    return [_ran(session, number, reached) for number in range(len(session.items))]


def _ran(session: pytest.Session, number: int, reached: set[tuple[str, str]]) -> Ran:
    reached.clear()
    failed, began = session.testsfailed, worked()
    run(session, session.items[number : number + 2])
    seconds, passed = worked() - began, session.testsfailed == failed
    return Ran(number, str(session.items[number].path), passed, seconds, frozenset(reached))


def worked() -> float:
    """Processor seconds of this process and of those that it started: others may be busy too."""
    return sum(os.times()[:4])


def run(session: pytest.Session, items: Sequence[pytest.Item]) -> None:
    """Run the first of some tests; the second is the one that comes next."""
    after = items[1] if len(items) > 1 else None
    items[0].ihook.pytest_runtest_protocol(item=items[0], nextitem=after)


def silence() -> None:
    """What tests print is of no interest here."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)


def report(
    session: pytest.Session, ran: Sequence[Ran], name: str, chosen: Sequence[Mutant]
) -> None:
    """Try every change; print the survivors and a line of figures."""
    began, ends, module = time.perf_counter(), Counter[str](), module_of(name)
    known = equivalents(name)
    for mutant in chosen:
        if (mutant.function, mutant.what, mutant.text) in known:
            ends["equivalent"] += 1
            continue
        tests = near(ran, (module.__name__, mutant.function))
        end = tried(session, module, mutant, tests)
        ends[end] += 1
        if end in ("survived", "not reached"):
            print(
                f"  {end}: {name}:{mutant.line} {mutant.function}: {mutant.what}\n    {mutant.text}"
            )
    noticed, asked = ends["noticed"] + ends["took too long"], ends.total() - ends["equivalent"]
    seconds = time.perf_counter() - began
    print(
        f"{name}: {noticed} of {asked} changes noticed, {dict(ends)}, {seconds:.0f} s", flush=True
    )


def equivalents(name: str) -> set[tuple[str, str, str]]:
    """Changes that are known to change nothing: function, change, line."""
    listed = yaml.safe_load(KNOWN.read_text("utf-8")).get(name, [])
    return {(one["function"], one["change"], one["line"]) for one in listed}


def near(ran: Sequence[Ran], function: tuple[str, str]) -> list[Ran]:
    """The tests that reach a function, quick files first, within the budget.

    Behind them those of the same files: they may hold what another test made by it.
    """
    files: dict[str, list[Ran]] = defaultdict(list)
    for one in ran:
        if one.passed and one.seconds <= LONGEST:
            files[one.file].append(one)
    reaching = [
        sorted(tests, key=lambda one: (function not in one.reached, one.seconds))
        for tests in files.values()
        if any(function in one.reached for one in tests)
    ]
    chosen, left = list[Ran](), BUDGET
    for tests in sorted(reaching, key=lambda tests: sum(one.seconds for one in tests)):
        for one in tests:
            if one.seconds <= left:
                chosen.append(one)
                left -= one.seconds
    return chosen


def tried(session: pytest.Session, module: ModuleType, mutant: Mutant, tests: Sequence[Ran]) -> str:
    """How the tests end with a change."""
    if not tests:
        return "not reached"
    seconds = 10 + FAR * sum(one.seconds for one in tests)
    items = [session.items[one.item] for one in tests]
    try:
        return in_a_child(lambda: _changed(session, module, mutant, items), seconds)
    except TimeoutError:
        return "took too long"


def _changed(
    session: pytest.Session, module: ModuleType, mutant: Mutant, items: Sequence[pytest.Item]
) -> str:
    silence()
    if not install(module, mutant):
        return "not installed"
    for number in range(len(items)):
        run(session, items[number : number + 2])
        if session.testsfailed:
            return "noticed"
    return "survived"


def in_a_child(work: Callable[[], Any], seconds: float = 0) -> Any:
    """What some work gives, done in a process of its own; TimeoutError after processor seconds."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        with os.fdopen(writing, "wb") as out:
            pickle.dump(work(), out)
        sys.stdout.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as found:
        told = found.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
        raise TimeoutError
    return pickle.loads(told)


if __name__ == "__main__":
    raise SystemExit(main())
