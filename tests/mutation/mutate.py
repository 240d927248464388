"""Which small changes to the deciding modules no test notices.

    python tests/mutation/mutate.py [MODULE …] [--most N] [--seed S]     (Linux, macOS: it forks)

Each change is made in a process of its own, forked from one that has everything loaded, and the
tests of the module run until one fails. A change that none notices survived: it is printed with its
line. Some are equal to the original; the others want a test. `--most` takes so many of a module at
random.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from mutation.mutants import Mutant, install, mutants  # noqa: E402

# The tests nearest to a module, which notice most; those that are tried on what they let pass.
NEAR = {
    "triage.decide": ["plan", "offline_commands"],
    "triage.plan": ["plan", "plan_comments"],
    "triage.weighing": ["routes", "facts"],
    "triage.facets": ["priorities", "facts", "routes"],
    "failures.causes": ["scan_excerpts"],
    "failures.buckets": ["buckets"],
    "failures.assemble": ["report_command_assemble"],
    "postmortem.gates": ["pm_gates"],
    "postmortem.prose": ["pm_prose"],
    "postmortem.adf": ["pm_markup"],
}
WIDE = {
    "triage": ["judgement", "reproduction", "statements", "would_change", "never_written"],
    "failures": ["signature", "partition", "report_command_worlds", "report_command_hypothesis"],
    "postmortem": ["pm_cases", "pm_documents", "pm_commands"],
}
SECONDS = 60  # of processor time: a change that never ends is noticed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", choices=[[], *NEAR], help="default: all")
    parser.add_argument("--most", type=int, default=0, help="changes of each module (0: all)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    for name in given.modules or NEAR:
        module = importlib.import_module(f"ciops.{name}")
        chosen = list(mutants(module))
        if given.most and len(chosen) > given.most:
            chosen = random.Random(given.seed).sample(chosen, given.most)
        report(module, chosen, name)
    return 0


def tests_of(tool: str, files: Sequence[str]) -> list[str]:
    return [str(ROOT / "tests" / tool / f"test_{file}.py") for file in files]


def report(module: ModuleType, chosen: Sequence[Mutant], name: str) -> None:
    """Try every change; print the survivors and a line of figures."""
    began, ends = time.perf_counter(), Counter[str]()
    tool = name.partition(".")[0]
    near, wide = tests_of(tool, NEAR[name]), tests_of(tool, WIDE[tool])
    if tried(module, None, [*near, *wide]) != "survived":
        raise SystemExit(f"{module.__name__}: its tests fail without any change")
    for mutant in sorted(chosen, key=lambda one: one.line):
        end = tried(module, mutant, near)
        end = tried(module, mutant, wide) if end == "survived" else end
        ends[end] += 1
        if end == "survived":
            place = f"{Path(module.__file__ or '').name}:{mutant.line}"
            print(f"  {place} {mutant.function}: {mutant.what}", flush=True)
    noticed = sum(ends.values()) - ends["survived"] - ends["not installed"]
    print(
        f"{module.__name__}: {noticed} of {sum(ends.values())} changes noticed, {dict(ends)}, "
        f"{time.perf_counter() - began:.0f} s",
        flush=True,
    )


def tried(module: ModuleType, mutant: Mutant | None, tests: Sequence[str]) -> str:
    """How the tests end with a change: noticed, survived, took too long, not installed."""
    child = os.fork()
    if child == 0:
        os._exit(_in_child(module, mutant, tests))
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "took too long"
    return {0: "survived", 77: "not installed"}.get(os.waitstatus_to_exitcode(status), "noticed")


def _in_child(module: ModuleType, mutant: Mutant | None, tests: Sequence[str]) -> int:
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    if mutant is not None and not install(module, mutant):
        return 77
    with (
        Path(os.devnull).open("w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not tool"]
        return int(pytest.main([*options, f"--rootdir={ROOT}", *tests]))


if __name__ == "__main__":
    raise SystemExit(main())
