"""A sweep of a long queue over a fake GitHub: calls against their bound, memory, time.

    .venv/bin/python tests/measure/measure_sweep.py [ISSUES …]

The queue repeats the cases of `tests/data/triage/cases`. The sweep runs in a process of its own and
does not wait between writes. Its memory at the end is told for each length, so that growth shows.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import redirect_stdout
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "scripts")]

from ciops.triage.command_line import POLICY  # noqa: E402
from ciops.triage.interruption import Interruption  # noqa: E402
from ciops.triage.policy_file import load_policy  # noqa: E402
from fakes.github import FakeGitHub  # noqa: E402

REPO = "pytorch/pytorch"
CASES = ROOT / "tests" / "data" / "triage" / "cases"


def queue(size: int) -> list[dict[str, Any]]:
    """Cases over and over, each with a number of its own."""
    cases = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(CASES.glob("*.json"))]
    kept = ("issue", "comments", "timeline")
    found = []
    for number in range(1, size + 1):
        case = {key: value for key, value in cases[number % len(cases)].items() if key in kept}
        fields = {**case["issue"], "number": number, "html_url": ""}
        found.append({**case, "issue": fields, "comments": _renumbered(case, number)})
    return found


def _renumbered(case: Mapping[str, Any], number: int) -> list[dict[str, Any]]:
    comments = case.get("comments") or ()
    return [{**part, "id": number * 100 + at} for at, part in enumerate(comments)]


class Hurried(Interruption):
    """Waits for nothing."""

    def sleep(self, seconds: float) -> None:
        self.check()


def sweep(url: str, folder: str, answer: Connection) -> None:
    """In a process of its own: status, seconds, and the most memory it took (MiB)."""
    from ciops.triage.run_command import main

    env = {"GITHUB_API_URL": url, "GITHUB_TOKEN": "x"}
    started = time.perf_counter()
    with Path(folder, "log").open("w") as log, redirect_stdout(log):
        status = main(["--repo", REPO, "--sweep", "--output", folder], env, Hurried())
    seconds = time.perf_counter() - started
    answer.send((status, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def measure(size: int) -> None:
    policy = load_policy(POLICY)
    labels = policy.allowed_labels(policy.profiles[policy.default_profile])
    options = {"labels": labels, "rate_limit": None, "keep_requests": False}
    issues = queue(size)
    context = multiprocessing.get_context("spawn")
    with (
        FakeGitHub(REPO, issues, **options) as forge,
        tempfile.TemporaryDirectory() as folder,
    ):
        talked = sum(1 for case in issues if case["comments"])
        here, there = context.Pipe()
        process = context.Process(target=sweep, args=(forge.url, folder, there))
        process.start()
        status, seconds, memory = here.recv()
        process.join()
        _tell(forge, size, talked, status, seconds, memory)
        if forge.created_labels:
            raise SystemExit(f"labels were created: {forge.created_labels}")


def _tell(
    forge: FakeGitHub, size: int, talked: int, status: int, seconds: float, memory: float
) -> None:
    written = len({write.path.split("/")[5] for write in forge.writes})
    pages = forge.calls["GET /repos/{owner}/{repo}/labels"]
    bound = size / 100 + talked + written + len(forge.writes) + pages + 3
    print(
        f"{size:6} issues: exit {status}, {forge.request_count} calls (bound {bound:.0f}), "
        f"{written} written to by {len(forge.writes)} writes, {memory:.0f} MiB, "
        f"{seconds:.1f} s ({1000 * seconds / size:.1f} ms an issue)"
    )


if __name__ == "__main__":
    for given in sys.argv[1:] or ("200", "2000"):
        measure(int(given))
