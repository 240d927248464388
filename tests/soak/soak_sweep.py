"""A long queue swept in shards and merged: calls against their bound, memory and files flat.

    python tests/soak/soak_sweep.py [--issues 5000] [--shards 4]

The queue repeats the cases of `tests/data/triage/cases`. Each shard is a process of its own; they
run at once, against one fake GitHub, and do not wait between writes. Exits with 1 when a figure is
over its limit.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "scripts")]

from ciops.triage.app import main as triage  # noqa: E402
from ciops.triage.command_line import POLICY  # noqa: E402
from ciops.triage.interruption import Interruption  # noqa: E402
from ciops.triage.policy_file import load_policy  # noqa: E402
from fakes.github import FakeGitHub  # noqa: E402
from soak.watching import Watch, problems  # noqa: E402

REPO = "pytorch/pytorch"
CASES = ROOT / "tests/data/triage/cases"
LABEL_PAGES = "GET /repos/{owner}/{repo}/labels"
SLACK = 12.0  # MiB: what a queue of thousands may leave behind in caches of a bounded size
MOST_FILES = 24


def queue(size: int) -> list[dict[str, Any]]:
    """Cases over and over, each with a number of its own."""
    cases = [json.loads(path.read_text("utf-8")) for path in sorted(CASES.glob("*.json"))]
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


def shard(url: str, folder: str, part: str) -> None:
    """In a process of its own."""
    from ciops.triage.run_command import main

    Path(folder).mkdir(parents=True)
    env = {"GITHUB_API_URL": url, "GITHUB_TOKEN": "x"}
    given = ["--repo", REPO, "--sweep", "--shard", part, "--output", folder]
    with Path(folder, "log").open("w") as log, redirect_stdout(log), redirect_stderr(log):
        raise SystemExit(main(given, env, Hurried()))


def soak(size: int, shards: int, folder: Path) -> list[str]:
    """Everything that is not as it should be."""
    policy = load_policy(POLICY)
    labels = policy.allowed_labels(policy.profiles[policy.default_profile])
    issues = queue(size)
    context = multiprocessing.get_context("spawn")
    places = [folder / f"shard-{part}" for part in range(1, shards + 1)]
    with FakeGitHub(REPO, issues, labels=labels, rate_limit=None, keep_requests=False) as forge:
        began, found = time.perf_counter(), []
        running = []
        for part, place in enumerate(places, 1):
            given = (forge.url, str(place), f"{part}/{shards}")
            process = context.Process(target=shard, args=given)
            process.start()
            watch = Watch()
            running.append((process, watch, watch.follow(process.pid or 0)))
        for part, (process, watch, thread) in enumerate(running, 1):
            process.join()
            thread.join()
            print(f"shard {part}/{shards}: exit {process.exitcode}, {watch}")
            if process.exitcode:
                found.append(f"shard {part} ended with {process.exitcode}")
            found += problems(watch, f"shard {part}", SLACK, MOST_FILES)
        seconds = time.perf_counter() - began
        print(f"{size} issues in {seconds:.1f} s ({1000 * seconds / size:.1f} ms an issue)")
        talked = sum(1 for case in issues if case["comments"])
        found += _calls(forge, size, shards, talked)
    label = policy.labels.queue
    listed = [case["issue"]["number"] for case in issues if _is_listed(case["issue"], label)]
    return found + _merged(places, folder / "merged", listed)


def _is_listed(issue: Mapping[str, Any], label: str) -> bool:
    names = [one if isinstance(one, str) else one["name"] for one in issue["labels"]]
    return issue.get("state", "open") == "open" and label in map(str.casefold, names)


def _calls(forge: FakeGitHub, size: int, shards: int, talked: int) -> list[str]:
    """Each shard lists the queue and the labels for itself; the rest they share."""
    written = len({write.path.split("/")[5] for write in forge.writes})
    lists = shards * (size / 100 + 3) + forge.calls[LABEL_PAGES]
    bound = lists + talked + written + len(forge.writes)
    print(
        f"{forge.request_count} calls, at most {bound:.0f} by the bound "
        f"({forge.request_count / bound:.2f}); {written} issues written to, "
        f"{len(forge.writes)} writes"
    )
    found = [f"labels were created: {forge.created_labels}"] if forge.created_labels else []
    return found + (["more calls than the bound"] if forge.request_count > bound else [])


def _merged(places: list[Path], output: Path, listed: list[int]) -> list[str]:
    """One summary of all shards, in which every issue was looked at once."""
    log = output.parent / "merge.log"
    with log.open("w") as out, redirect_stdout(out), redirect_stderr(out):
        status = triage(["merge", *map(str, places), "--output", str(output)], {})
    lines = [
        json.loads(line)["number"]
        for place in places
        for line in (place / "decisions.jsonl").read_text("utf-8").splitlines()
    ]
    print(f"merged: exit {status}, {len(lines)} decisions")
    once = sorted(lines) == listed
    return [
        *([] if status == 0 else [f"merge ended with {status}: {log.read_text('utf-8')}"]),
        *([] if once else ["an issue was left out or taken twice"]),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--issues", type=int, default=5000)
    parser.add_argument("--shards", type=int, default=4)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = soak(given.issues, given.shards, Path(folder))
    for problem in found:
        print(f"FAILED: {problem}")
    return bool(found)


if __name__ == "__main__":
    raise SystemExit(main())
