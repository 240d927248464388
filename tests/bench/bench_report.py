"""A report on 200 failed jobs of 4 MB each, against only downloading their traces.

    python tests/bench/bench_report.py [--jobs N] [--rounds N] [--bandwidth MB/s]

The server is another process on this machine, limited to 60 MB/s for all connections together;
both sides use the same concurrency. Printed are seconds, their ratio, and the most memory that the
report took. The traces are what the worlds' traces print before they fail, with other digits in
every job, and one error at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from ciops.forges import open_forge  # noqa: E402
from failures.pipeline_worlds import DOWNSTREAM, expected, job, pipeline, small_world, world_of  # noqa: E402

MB = 1_000_000
CONCURRENCY = 8
PIPELINE = 500
_TELLING = (b"rror", b"ail", b"xcept", b"aceback", b"kill", b"ANCEL", b"File ")
TAIL = (
    b"Traceback (most recent call last):\n"
    b'  File "/opt/venv/lib/python3.12/site-packages/tensorrt_llm/bench/run.py", line 7, in go\n'
    b"    step(q)\nRuntimeError: a and b must have same reduction dim, but got [1, 2] X [3, 4]\n"
    b"ERROR: Job failed: exit code 1\n"
)


def ordinary_lines() -> list[bytes]:
    """What the worlds' traces print before they fail, a sample of it that has the size of one."""
    lines: list[bytes] = []
    for name in ("dev1", "dev2"):
        traces = world_of(name)["traces"]
        for one in expected(name)["jobs"]:
            before = traces[str(one["id"])].split(b"\n")[: one["causal_line_no"] - 100]
            lines += [line for line in before if not any(word in line for word in _TELLING)]
    return lines


def trace_of(lines: bytes, number: int, size: int) -> bytes:
    """The lines with the digits of one job, up to a size, and how it failed."""
    digits = bytes((ord("0") + (index + number) % 10) for index in range(10))
    body = (lines * (size // len(lines) + 1))[: size - len(TAIL)]
    whole = body[: body.rfind(b"\n") + 1]
    return whole.translate(bytes.maketrans(b"0123456789", digits)) + TAIL


def serve(jobs: int, size: int, bandwidth: float) -> None:
    """Serve until the input closes; the first line printed is the address."""
    lines = b"\n".join(ordinary_lines()) + b"\n"
    given = [
        job(number, f"cov-{number} [2 run]", trace=trace_of(lines, number, size))
        for number in range(1, jobs + 1)
    ]
    one = pipeline(PIPELINE, DOWNSTREAM, jobs=given)
    with small_world(one, bandwidth=bandwidth, keep_requests=False) as fake:
        print(fake.url, flush=True)
        sys.stdin.read()


def download_only(url: str, jobs: int) -> float:
    """Seconds to read every trace and keep nothing."""
    pipelines = open_forge("gitlab", {"GITLAB_TOKEN": "t", "GITLAB_URL": url}).pipelines()

    def drain(number: int) -> None:
        with pipelines.trace(DOWNSTREAM, number) as download:
            for _ in download:
                pass

    start = time.monotonic()
    with ThreadPoolExecutor(CONCURRENCY) as pool:
        list(pool.map(drain, range(1, jobs + 1)))
    return time.monotonic() - start


def report(url: str, jobs: int) -> tuple[float, float]:
    """Seconds of a whole `report`, its start included, and the most MB that it took."""
    env = {**os.environ, "GITLAB_TOKEN": "t", "GITLAB_URL": url}
    script = str(ROOT / "scripts/pipeline_failure_report.py")
    with tempfile.TemporaryDirectory() as folder:
        options = ["--pipeline", str(PIPELINE), "--concurrency", str(CONCURRENCY)]
        command = [sys.executable, script, "report", *options, "--format", "json"]
        start = time.monotonic()
        with (Path(folder) / "log").open("wb") as log:
            command += ["--output", folder]
            child = subprocess.Popen(command, env=env, stdout=log, stderr=log)
            _, status, used = os.wait4(child.pid, 0)
        seconds = time.monotonic() - start
        if status != 0:
            raise SystemExit((Path(folder) / "log").read_text("utf-8"))
        found = json.loads((Path(folder) / "report.json").read_text("utf-8"))
    lines = sum(one["evidence"] == "strong" for one in found["jobs"])
    if (found["failed_jobs_total"], lines) != (jobs, jobs):
        raise SystemExit(f"{jobs} jobs, {found['failed_jobs_total']} found, {lines} with a cause")
    return seconds, used.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--size", type=float, default=4.0, help="MB a trace")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--bandwidth", type=float, default=60.0, help="MB a second in total")
    parser.add_argument("--serve", action="store_true")
    given = parser.parse_args()
    size, bandwidth = int(given.size * MB), given.bandwidth * MB
    if given.serve:
        serve(given.jobs, size, bandwidth)
        return
    command = [sys.executable, __file__, "--serve", "--jobs", str(given.jobs)]
    command += ["--size", str(given.size), "--bandwidth", str(given.bandwidth)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        url = server.stdout.readline().strip()
        only, whole, memory = float("inf"), float("inf"), 0.0
        for _ in range(given.rounds):
            only = min(only, download_only(url, given.jobs))
            seconds, most = report(url, given.jobs)
            whole, memory = min(whole, seconds), max(memory, most)
        server.stdin.close()
    print(f"download only {only:6.2f} s  ({given.jobs * given.size / only:.1f} MB/s)")
    print(f"report        {whole:6.2f} s  ({memory:.0f} MB at most)")
    print(f"report / download only = {whole / only:.2f}   (at most 1.3; aim 1.2)")


if __name__ == "__main__":
    main()
