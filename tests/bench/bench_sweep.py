"""Calls of a sweep against their lower bound, and the time an issue takes over HTTP.

    python tests/bench/bench_sweep.py [--issues 400]

The bound is what anybody needs who reads and writes the same: a list of 100 a call, the comments
of issues that have some, the timeline of issues that are written to, the writes, the label pages
and three more. `make soak` does the same for thousands of issues in shards.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from soak.soak_sweep import soak  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--issues", type=int, default=400)
    with tempfile.TemporaryDirectory() as folder:
        found = soak(parser.parse_args().issues, 1, Path(folder))
    for problem in found:
        print(f"FAILED: {problem}")
    return bool(found)


if __name__ == "__main__":
    raise SystemExit(main())
