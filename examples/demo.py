"""Run the jobs for real against services on this machine, and say where to look.

    python3 examples/demo.py [JOB …]

The packages are those of the tools, found or installed as `scripts/launch.py` does it.
Each job is a module beside this one with a `run(folder)` that returns an exit status. It prints
what it does and leaves its summary and other artifacts in `out/demo/JOB`.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / name) for name in ("examples", "scripts")]

OUT: Final = Path("out") / "demo"


@dataclass(frozen=True, slots=True)
class Job:
    """A module to run, and what to look at first in its folder."""

    module: str
    look: Mapping[str, str]


ENDS: Final = ("done", "done in part, the rest is named", "usage", "refused", "a service failed")
SUMMARY: Final = "what the job summary shows"
JOBS: Final = {
    "issue-triage": Job(
        "demo_triage",
        {"summary.md": SUMMARY, "run.json": "every write, which `undo` takes back"},
    ),
    "pipeline-failure-report": Job(
        "demo_pipeline",
        {"summary.md": SUMMARY, "report.html": "the page: open it in a browser"},
    ),
    "post-mortem-render": Job(
        "demo_postmortem",
        {
            "docs/postmortems/JIRA-12345.md": "the document",
            "JIRA-12345.jira.json": "the ADF payload, as approved and posted",
        },
    ),
}


def main(names: Sequence[str]) -> int:
    """Run the named jobs, or all.

    A job that ends with 1 has done its work in part and named the rest, as it is to be shown.
    """
    unknown = [name for name in names if name not in JOBS]
    if unknown:
        print(f"There is no job {unknown[0]}. Jobs are: {', '.join(JOBS)}", file=sys.stderr)
        return 2
    chosen = list(names or JOBS)
    failed = max(map(_run, chosen))
    print("\n=== Where to look ===\n")
    for line in _places(chosen):
        print(line)
    return failed


def _run(name: str) -> int:
    """Run one job; its exit status where the demo itself failed, else 0."""
    print(f"\n=== {name} ===\n")
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    started = time.perf_counter()
    status = importlib.import_module(JOBS[name].module).run(folder)
    seconds = time.perf_counter() - started
    print(f"\n{name} ended with {status} ({ENDS[status]}) after {seconds:.1f} s.")
    return status if status > 1 else 0


def _places(names: Sequence[str]) -> Iterator[str]:
    found = [(OUT / name / path, what) for name in names for path, what in JOBS[name].look.items()]
    width = max(len(str(path)) for path, _ in found)
    for path, what in found:
        yield f"  {path!s:{width}}  {what}"


def _find_packages() -> int:
    """Put the locked packages behind what is importable; an exit status."""
    import launch

    try:
        site = launch.packages(launch.cache_roots(dict(os.environ)))
    except launch.CannotInstall as fault:
        return launch.refused(f"The demo could not start: {fault}.", launch.EXIT_SERVICE)
    sys.path.insert(0, str(site))
    return 0


if __name__ == "__main__":
    raise SystemExit(_find_packages() or main(sys.argv[1:]))
