"""A queue of issues, triaged for real over HTTP: the triage part of `make demo`.

    python examples/demo_triage.py [FOLDER]

The GitHub is on this machine, and `queue.json` is invented: fourteen issues as people write them,
among them one that gives the bot orders, one that a person has taken a label from, and one that is
in the wrong queue.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from ciops.triage.app import main  # noqa: E402
from fakes.github import FakeGitHub  # noqa: E402

QUEUE = ROOT / "examples" / "queue.json"


def run(folder: Path) -> int:
    """Sweep the queue twice: the second time there is nothing left to do."""
    with FakeGitHub.from_file(QUEUE) as forge:
        env = {"GITHUB_API_URL": forge.url, "GITHUB_TOKEN": "any"}
        repo = forge.repository.full_name
        status = main(["run", "--repo", repo, "--sweep", "--output", str(folder)], env)
        written = len(forge.writes)
        print("\nOnce more: what is done is left alone.")
        again = main(["run", "--repo", repo, "--sweep", "--output", str(folder / "again")], env)
        print(f"\n{written} writes, then {len(forge.writes) - written}.")
    return status or again


if __name__ == "__main__":
    raise SystemExit(run(Path(sys.argv[1] if len(sys.argv) > 1 else "out/demo/issue-triage")))
