"""How long a tool takes from its start to its first call of a service.

    python tests/bench/bench_start.py [--rounds N]

Cold: no package directory yet, so the lock is installed first. Warm: it is there. Each is started
as an action starts it; the clock stops when the server sees the connection. For comparison: Python
alone, and Python with requests, which is the least that can make such a call. Imports are the sum
of `-X importtime` up to the first call, in milliseconds, and how many modules that were.
"""

from __future__ import annotations

import argparse
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import DEVNULL
from typing import IO

ROOT = Path(__file__).resolve().parents[2]
START = ["sh", str(ROOT / "scripts/start.sh")]
RECORD = ROOT / "examples/post-mortem.yml"
TOOLS: Mapping[str, Sequence[str]] = {
    "issue-triage run": ["issue_triage", "run", "--repo", "o/r", "--issue", "7"],
    "pipeline-failure-report report": ["pipeline_failure_report", "report", "--pipeline", "7"],
    "post-mortem-render publish": ["post_mortem_render", "publish"],
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="the best of so many (7)")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        env = environment(Path(folder), server.getsockname()[1])
        cold = seconds([*START, "issue_triage", "run", "--help"], env)
        print(f"cold start (installs the lock)    {cold:6.2f} s")
        python = best(rounds, [sys.executable, "-I", "-c", ""], env)
        least = best(rounds, [sys.executable, "-c", "import requests"], env)
        print(f"python alone                      {python:6.3f} s")
        print(f"python with requests              {least:6.3f} s")
        for name, command in TOOLS.items():
            if name.endswith("publish"):
                command = [*command, *rendered(Path(folder), env)]
            warm = min(first_call([*START, *command], env, server) for _ in range(rounds))
            imports, modules = min(imported(command, env, server) for _ in range(rounds))
            print(
                f"{name:33} {warm:6.3f} s  {warm / least:4.1f} x requests, "
                f"imports {imports:4.0f} ms of {modules} modules"
            )
    return 0


def environment(folder: Path, port: int) -> dict[str, str]:
    """All services at one address, where nobody answers."""
    here = f"http://127.0.0.1:{port}"
    services = {"GITHUB_API_URL": here, "GITLAB_URL": here, "JIRA_BASE_URL": here}
    tokens = {"GITHUB_TOKEN": "x", "GITLAB_TOKEN": "x", "JIRA_PAT": "x"}
    kept = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    return {
        **kept,
        **services,
        **tokens,
        "PATH": path,
        "TRIAGE_ACTION_CACHE": str(folder / "cache"),
    }


def rendered(folder: Path, env: Mapping[str, str]) -> list[str]:
    """A payload and the approval of it."""
    out = folder / "out"
    command = [*START, "post_mortem_render", "render", str(RECORD), "--to", "jira-server"]
    done = subprocess.run(
        [*command, "--output", str(out)], env=env, capture_output=True, text=True, check=True
    )
    digest = next(word for word in done.stdout.split() if word.startswith("sha256:"))
    (payload,) = out.glob("*.json")
    return [str(payload), "--approve", digest]


def best(rounds: int, command: Sequence[str], env: Mapping[str, str]) -> float:
    return min(seconds(command, env) for _ in range(rounds))


def seconds(command: Sequence[str], env: Mapping[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, env=env, capture_output=True, check=True)
    return time.perf_counter() - began


def first_call(
    command: Sequence[str],
    env: Mapping[str, str],
    server: socket.socket,
    words: int | IO[bytes] = DEVNULL,
) -> float:
    """Seconds until the server sees a connection; the tool is ended then."""
    server.settimeout(30)
    began = time.perf_counter()
    with subprocess.Popen(command, env=env, stdout=DEVNULL, stderr=words) as tool:
        connection, _ = server.accept()
        taken = time.perf_counter() - began
        tool.kill()
        connection.close()
    return taken


def imported(
    command: Sequence[str], env: Mapping[str, str], server: socket.socket
) -> tuple[float, int]:
    """Milliseconds of all imports up to the first call, and how many there were."""
    python = [sys.executable, "-I", "-X", "importtime", str(ROOT / "scripts/launch.py")]
    with tempfile.TemporaryFile() as words:
        first_call([*python, *command], env, server, words)
        words.seek(0)
        times = re.findall(rb"import time:\s+(\d+) \|", words.read())
    return sum(map(int, times)) / 1000, len(times)


if __name__ == "__main__":
    raise SystemExit(main())
