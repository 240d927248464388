"""A report on many failed jobs: every one read and counted, memory and files flat.

    python tests/soak/soak_report.py [--jobs 500] [--size 1.0]

The fake GitLab is another process; the traces are those of the bench, `--size` MB each. Exits with
1 when a figure is over its limit.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "scripts")]

from bench.bench_report import CONCURRENCY, PIPELINE  # noqa: E402
from soak.watching import Watch, problems  # noqa: E402

SLACK = 6.0  # MiB: the evidence of the jobs themselves
MOST_FILES = CONCURRENCY + 24


def soak(url: str, jobs: int, folder: Path) -> list[str]:
    """Everything that is not as it should be."""
    env = {**os.environ, "GITLAB_TOKEN": "t", "GITLAB_URL": url}
    command = [sys.executable, str(ROOT / "scripts/pipeline_failure_report.py"), "report"]
    command += ["--pipeline", str(PIPELINE), "--concurrency", str(CONCURRENCY)]
    command += ["--format", "json", "html", "md", "csv", "--output", str(folder)]
    watch, began = Watch(), time.perf_counter()
    with (folder / "log").open("wb") as log:
        child = subprocess.Popen(command, env=env, stdout=log, stderr=log)
        thread = watch.follow(child.pid)
        status = child.wait()
        thread.join()
    seconds = time.perf_counter() - began
    print(f"report on {jobs} jobs: exit {status}, {seconds:.1f} s, {watch}")
    if status:
        return [(folder / "log").read_text("utf-8")]
    report = json.loads((folder / "report.json").read_text("utf-8"))
    sums, strong = report["checksum"], [one["evidence"] for one in report["jobs"]].count("strong")
    print(f"checksum {sums['failed_jobs']} = {sums['bucket_sum']}, {strong} with a strong cause")
    complete = sums["failed_jobs"] == sums["bucket_sum"] == strong == jobs
    reading = watch.memory[: int(len(watch.memory) * 0.9)]  # what comes after is rendering
    return [
        *([] if complete else ["a job was lost"]),
        *problems(Watch(reading, watch.files), "report", SLACK, MOST_FILES),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=500)
    parser.add_argument("--size", type=float, default=1.0, help="MB a trace")
    given = parser.parse_args()
    serve = [sys.executable, str(ROOT / "tests/bench/bench_report.py"), "--serve"]
    serve += ["--jobs", str(given.jobs), "--size", str(given.size), "--bandwidth", "10000"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(serve, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server,
    ):
        assert server.stdout is not None
        assert server.stdin is not None
        found = soak(server.stdout.readline().strip(), given.jobs, Path(folder))
        server.stdin.close()
    for problem in found:
        print(f"FAILED: {problem}")
    return bool(found)


if __name__ == "__main__":
    raise SystemExit(main())
