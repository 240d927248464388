"""Speed and memory of scanning large traces, against grep and a bare loop over lines.

    python tests/bench/bench_scan.py [--size MB] [--rounds N] [--large MB]

Each kind of trace is written to a temporary folder and scanned by the command in a process of
its own, so that its peak memory is its own too. In the same round, `grep -cE 'Error|Exception'`
and a Python loop over the lines read the same file: the ratios hold on any machine. Printed are
megabytes a second, the ratios and the peak of memory.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
MB = 1_000_000
MOST_FRESH = 50 * MB
SCAN = [sys.executable, "-I", str(ROOT / "scripts" / "pipeline_failure_report.py"), "scan"]
GREP = ["grep", "-cE", "Error|Exception"]
LOOP = [
    sys.executable,
    "-c",
    "import sys\nn = 0\nfor line in open(sys.argv[1], 'rb'):\n    n += b'Error' in line\n",
]
END = b"RuntimeError: shapes cannot be multiplied\nERROR: Job failed: exit code 1\n"
_HEX = "0123456789abcdef"


class Run(NamedTuple):
    """One process: its seconds of work on a core and its peak of memory in megabytes."""

    seconds: float
    memory: float


def ordinary_line(rng: random.Random) -> str:
    """A line like those of a long job, green so far: most are of a kind that came before."""
    n = rng.randrange(10**6)
    sha = "".join(rng.choices(_HEX, k=12))
    return rng.choice(
        (
            f"2026-05-04 10:{n % 60:02}:{n % 59:02},{n % 999:03} INFO step {n} loss={n / 7:.4f}",
            f"{sha}: Pulling fs layer {n}",
            f"Downloading https://files.example.com/{sha}/pkg_{n % 300}-{n % 9}.1-py3-none-any.whl",
            f"[{n % 999}/4121] Building CXX object core/core.dir/ops/op_{n % 700}.cpp.o",
            f"tests/test_ops_{n % 90}.py::test_error_{n % 40}[bf16-{n % 64}] PASSED [ {n % 99}%]",
            f"health: gpu {n % 8} replay errors 0, recovery errors 0, temperature {n % 90} C",
            f"/src/op_{n % 700}.cpp:{n % 900}:3: warning: unused variable 'failed' [-Wunused]",
            f"Loaded shard {n % 40}/40 ({n % 4000} MiB) in {n / 1e5:.2f}s, checksum errors: 0",
            f"   {n % 100}%|{'#' * (n % 20):<20}| {n}/999999 [00:{n % 60:02}<00:11, 3.84it/s]",
            f"+ python3 -m tool.run --seed {n} --fail-on-error --out /tmp/{sha}/out",
        )
    )


def ordinary(rng: random.Random) -> Iterator[bytes]:
    """Blocks of an ordinary log."""
    while True:
        yield ("\n".join(ordinary_line(rng) for _ in range(2000)) + "\n").encode()


def stamped(rng: random.Random) -> Iterator[bytes]:
    """The same as GitLab's runner 17 writes it."""
    for block in ordinary(rng):
        lines = block.decode().splitlines()
        stamp = f"2026-05-04T10:11:{rng.randrange(60):02}.{rng.randrange(10**6):06}Z 01O "
        yield ("\n".join(stamp + line for line in lines) + "\n").encode()


def one_line(rng: random.Random) -> Iterator[bytes]:
    """A log without a newline that overwrites its progress."""
    for block in ordinary(rng):
        yield block.replace(b"\n", b"\r")


def wide(rng: random.Random) -> Iterator[bytes]:
    """Lines of 450 KB."""
    for block in ordinary(rng):
        yield (block.replace(b"\n", b" ") * 4)[:450_000] + b"\n"


def tracebacks(rng: random.Random) -> Iterator[bytes]:
    """A service that logs the same error again and again, and goes on."""
    for block in ordinary(rng):
        lines = block.split(b"\n")
        for index in range(0, len(lines), 20):
            frame = b'  File "/app/retry.py", line %d, in call\n    send()' % rng.randrange(400)
            lines[index] = b"Traceback (most recent call last):\n" + frame
            lines[index] += b"\nTimeoutError: attempt %d, retrying" % rng.randrange(9)
        yield b"\n".join(lines)


KINDS: dict[str, Callable[[random.Random], Iterator[bytes]]] = {
    "ordinary": ordinary,
    "fresh": ordinary,
    "stamped": stamped,
    "one-line": one_line,
    "wide": wide,
    "tracebacks": tracebacks,
}


def write(path: Path, kind: str, size: int) -> None:
    """A trace of one kind and size that ends with an error.

    Its blocks come again and again, but for the kind `fresh`, in which no digest comes twice.
    """
    blocks = KINDS[kind](random.Random(7))
    if kind == "fresh":
        size = min(size, MOST_FRESH)
    else:
        blocks = itertools.cycle(list(itertools.islice(blocks, 40)))
    written = 0
    with path.open("wb") as file:
        while written < size:
            written += file.write(next(blocks))
        file.write(b"\n" + END)


def run(command: list[str], path: Path) -> Run:
    """Run a command on a file; read it once before, so that the disk does not count."""
    with subprocess.Popen([*command, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.read()
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
    return Run(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def measure(path: Path, kind: str, rounds: int) -> None:
    size = path.stat().st_size / MB
    subprocess.run([*GREP, str(path)], stdout=subprocess.DEVNULL, check=False)
    scans, greps, loops = [], [], []
    for _ in range(rounds):
        scans.append(run(SCAN, path))
        greps.append(run(GREP, path).seconds)
        loops.append(run(LOOP, path).seconds)
    best = min(one.seconds for one in scans)
    print(
        f"{kind:<11}{size:7.0f} MB  {size / best:6.0f} MB/s  "
        f"1/{best / min(greps):4.1f} of grep  1/{best / min(loops):4.1f} of a loop  "
        f"peak {max(one.memory for one in scans):4.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", type=int, default=200, help="megabytes of each trace")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--large", type=int, default=1000, help="megabytes of the large trace, 0: none"
    )
    parser.add_argument("--kind", choices=KINDS, action="append")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.log")
        for kind in options.kind or KINDS:
            write(path, kind, options.size * MB)
            measure(path, kind, options.rounds)
        if options.large:
            write(path, "ordinary", options.large * MB)
            measure(path, "large", 1)


if __name__ == "__main__":
    main()
