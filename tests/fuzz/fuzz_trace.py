"""Traces at random: any bytes are read, in time, the same in pieces of any size, and add up.

    .venv/bin/python tests/fuzz/fuzz_trace.py --seconds 600

What fails is printed as bytes, and the exit status is 1. A finding is kept as a case of
test_fuzz_findings.py.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests"), str(ROOT / "tests" / "fuzz")]

from campaign import campaign  # noqa: E402

from ciops.failures.knowledge import load_knowledge  # noqa: E402
from ciops.failures.plain_data import to_plain  # noqa: E402
from ciops.failures.redaction import mask_secrets  # noqa: E402
from ciops.failures.scan_result import NONE, STRONG, WEAK, ScanResult  # noqa: E402
from ciops.failures.trace import TraceReader  # noqa: E402

KNOWLEDGE = load_knowledge(ROOT / "config" / "pipeline-failure-report" / "autodeploy.yml")
DATA = ROOT / "tests" / "data" / "failures"
EXCERPTS = sorted(DATA.glob("*.txt"))
HELD = 32 * 1024  # bytes of a line that the reader is sure to hold at once
SECRET = "glpat-" + "Zq3vT9xLm2Kd8WfP4sYb"  # made up, and put together so that no scanner minds

PIECES: tuple[bytes, ...] = (
    *(b"Traceback (most recent call last):", b'  File "/a/b.py", line 3, in f', b"    return x"),
    *(b"RuntimeError: shape of q is wrong", b"torch.OutOfMemoryError: CUDA out of memory", b"ERROR: "),
    *(b"During handling of the above exception, another exception occurred:", b"Error: ", b"FAILED a.py"),
    *(b"2026-01-01T00:00:00.000000Z 00O ", b"2026-01-01T00:00:00.000000Z 00O+", b"2026-01-01T00:00:00.1Z "),
    *(b"section_start:1767225600:build\r\x1b[0K", b"section_end:1767225600:build\r\x1b[0K", b"##[error]"),
    *(b"[rank0]: ", b"[rank1]:", b"[1,0]<stderr>:", b"0: ", b"worker | ", b"[2026-01-01 00:00:00] [E] "),
    *(b"\r", b"\r\n", b"\n", b"\n\n", b"\x1b[31m", b"\x1b[0m", b"\x1b]8;;http://x\x07", b"\x00", b"\x9b"),
    *(b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\xef\xbb\xbf", "é".encode(), "分散".encode(), b"\xf0\x9f"),
    *(b"resolved workload config:", b"  model: org/name", b"  attn_backend: x", b"commit 0123456789abcdef"),
    *(b"srun: error: node7: task 3: Killed", b"slurmstepd: error: *** JOB 1 CANCELLED", b"exit code 137"),
    *(b"E   AssertionError: assert 1 == 2", b"=== FAILURES ===", b"--- Captured stderr ---", b"_ test_x _"),
    *(b"+ pip install x", b"$ make", b"make: *** [all] Error 2", b"cleaning up", b"Job failed: exit code 1"),
    *(b"terminate called after throwing an instance of 'std::runtime_error'", b"  what():  x", b"Aborted"),
    *(b"token=" + SECRET.encode(), b"password: hunter2", b"https://ci:pw@git.example.com/a.git", b"%", b"{"),
    *(b"(" * 40, b"a" * 300, b" " * 80, b"=" * 200, b"10%|#####     | 5/50 [00:01<00:09]", b"a/b/c.py:3: ", b"x"),
)  # fmt: skip


@dataclass(frozen=True)
class Trace:
    data: bytes
    cuts: tuple[int, ...]


@cache
def corpus() -> tuple[tuple[bytes, ...], ...]:
    return tuple(tuple(path.read_bytes().split(b"\n")) for path in EXCERPTS)


def trace(chance: random.Random) -> Trace:
    lines: list[bytes] = []
    for _ in range(chance.randint(1, 12)):
        kind = chance.random()
        if kind < 0.45:
            source = chance.choice(corpus())
            at = chance.randrange(len(source))
            lines += source[at : at + chance.randint(1, 30)]
        elif kind < 0.9:
            lines += pieces(chance)
        else:
            lines += [chance.choice(lines or [b"x"])] * chance.choice((2, 30, 800))
    data = chance.choice((b"\n", b"\n", b"\n", b"\r\n", b"\r")).join(spoiled(lines, chance))
    cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.choice((0, 1, 3, 40))))
    return Trace(data, tuple(cuts))


def pieces(chance: random.Random) -> list[bytes]:
    often = (1,) * 40 + (4, 200)
    made = []
    for _ in range(chance.randint(1, 10)):
        some = chance.choices(PIECES, k=chance.randint(1, 5))
        made.append(b"".join(piece * chance.choice(often) for piece in some))
    return made


def spoiled(lines: list[bytes], chance: random.Random) -> list[bytes]:
    if chance.random() < 0.3 and lines:
        at = chance.randrange(len(lines))
        lines[at] = lines[at][: chance.randrange(len(lines[at]) + 1)] + chance.randbytes(20)
    if chance.random() < 0.2:
        stamp = b"2026-01-01T00:00:00.000000Z 01%s "
        lines = [stamp % chance.choice((b"O", b"E", b"O+")) + line for line in lines]
    return lines


def read(*chunks: bytes) -> ScanResult:
    reader = TraceReader(KNOWLEDGE)
    for chunk in chunks:
        reader.feed(chunk)
    return reader.finish()


def attempt(made: Trace) -> None:
    found = read(made.data)
    ends = (0, *made.cuts, len(made.data))
    again = read(*(made.data[a:b] for a, b in pairwise(ends)))
    if max(map(len, made.data.split(b"\n"))) > HELD:  # such a line is shown from where it was cut
        found, again = replace(found, excerpt=()), replace(again, excerpt=())
    assert found == again, "other pieces, other result"
    assert found.size == len(made.data)
    whole = made.data.endswith(b"\n") or not made.data
    assert found.lines == made.data.count(b"\n") + (not whole)
    assert found.evidence in (STRONG, WEAK, NONE)
    assert (found.line is None) == (found.text is None)
    for number in (found.line, *(line.number for line in (*found.wrappers, *found.excerpt))):
        assert number is None or 1 <= number <= found.lines, number
    told = json.dumps(to_plain(found))
    assert SECRET not in told
    assert mask_secrets(SECRET) != SECRET


def allowed(made: Trace) -> float:
    """Linear in the bytes; each is read twice."""
    return 1.0 + len(made.data) * 12e-6


if __name__ == "__main__":
    raise SystemExit(campaign(str(__doc__), trace, attempt, allowed))
