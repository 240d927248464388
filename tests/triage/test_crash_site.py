"""Where a process crashed: in the product, or in another package that was at work."""

from __future__ import annotations

import pytest

from triage.issue_making import facets, fence, judged

PACKAGES = "/opt/venv/lib/python3.11/site-packages"
HEADER = "Fatal Python error: Segmentation fault\n\n"
SOME = "Thread 0x00007f10 (most recent call first):\n"
CURRENT = "Current " + SOME[0].lower() + SOME[1:]
LMDB = f'  File "{PACKAGES}/lmdb/tool.py", line 31 in get\n'
STDLIB = '  File "/usr/lib/python3.11/threading.py", line 320 in wait\n'
MINE = '  File "/home/u/data.py", line 12 in load\n'
FETCH = f'  File "{PACKAGES}/torch/utils/data/_utils/fetch.py", line 52 in fetch\n'
C10D = f'  File "{PACKAGES}/torch/distributed/distributed_c10d.py", line 9 in all_reduce\n'


def crashed(stack):
    return facets("DDP: rank 2 dies with SIGSEGV", "With 4 ranks.\n\n" + fence(stack)).high_priority


@pytest.mark.parametrize(
    "stack",
    [
        pytest.param(HEADER + SOME + LMDB + MINE, id="faulthandler"),
        pytest.param(HEADER + CURRENT + LMDB + MINE + FETCH, id="under the data loader"),
        pytest.param(HEADER + SOME + STDLIB + LMDB, id="past the standard library"),
        pytest.param(HEADER + SOME + C10D + "\n" + CURRENT + LMDB, id="the current thread"),
        pytest.param(f"#0  0x00007f1 in mdb_get () from {PACKAGES}/lmdb/cpython.so", id="gdb"),
        pytest.param(
            "[gpu1:311] Signal: Segmentation fault (11)\n"
            "[gpu1:311] [ 0] /lib/x86_64-linux-gnu/libc.so.6(+0x42520)\n"
            f"[gpu1:311] [ 1] {PACKAGES}/lmdb/cpython.so(mdb_get+0x50)",
            id="signal handler",
        ),
    ],
)
def test_a_crash_in_another_package_is_not_urgent(stack):
    assert crashed(stack) == ()


@pytest.mark.parametrize(
    "stack",
    [
        pytest.param(HEADER + CURRENT + C10D + LMDB, id="called by another package"),
        pytest.param(HEADER + CURRENT + LMDB + C10D, id="called by the product"),
        pytest.param(HEADER + SOME + LMDB + "\n" + SOME + C10D, id="one thread of two"),
        pytest.param(HEADER + CURRENT + MINE + LMDB, id="in the script"),
        pytest.param(f"#0  0x0 in f () from {PACKAGES}/torch/lib/libtorch_cuda.so", id="gdb"),
        pytest.param(f"#0  0x0 in f () from {PACKAGES}/nvidia/nccl/lib/libnccl.so.2", id="nccl"),
        pytest.param(HEADER, id="no stack"),
    ],
)
def test_a_crash_that_may_be_the_products_stays_urgent(stack):
    assert crashed(stack) == ("crash",)


def test_the_frame_is_cited():
    found = judged(
        "DDP: SIGSEGV", "With 4 ranks.\n\n" + fence(HEADER + SOME + LMDB)
    ).weighed.evidence
    (cited,) = [item for item in found if item.topic == "group:elsewhere"]
    assert cited.text.strip() == LMDB.strip()
