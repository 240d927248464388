"""Run the jobs for real against services on this machine, and say where to look.

    python examples/demo.py [JOB …]

Each job is a module beside this one with a `run(folder)` that returns an exit status. It prints
what it does and leaves its summary and other artifacts in `out/demo/JOB`.
"""

from __future__ import annotations

import importlib
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "examples")]

OUT: Final = Path("out") / "demo"
JOBS: Final = {
    "issue-triage": "demo_triage",
    "pipeline-failure-report": "demo_pipeline",
}


def main(names: Sequence[str]) -> int:
    """Run the named jobs, or all.

    A job that ends with 1 has done its work in part and named the rest, as it is to be shown.
    """
    unknown = [name for name in names if name not in JOBS]
    if unknown:
        print(f"There is no job {unknown[0]}. Jobs are: {', '.join(JOBS)}", file=sys.stderr)
        return 2
    failed = 0
    for name in names or JOBS:
        print(f"\n=== {name} ===\n")
        folder = OUT / name
        shutil.rmtree(folder, ignore_errors=True)
        started = time.perf_counter()
        status = importlib.import_module(JOBS[name]).run(folder)
        failed = max(failed, status if status > 1 else 0)
        print(f"\n{name} ended with {status} after {time.perf_counter() - started:.1f} s. It left:")
        for path in _left(folder):
            print(f"  {path}")
    return failed


def _left(folder: Path) -> Iterator[Path]:
    """What people look at first: the summary, then the rest."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    yield from sorted(files, key=lambda path: (path.name != "summary.md", str(path)))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
