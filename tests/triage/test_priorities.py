"""What is urgent, and what only sounds so."""

from __future__ import annotations

import pytest

from triage.issue_making import facets, fence, said

SCRIPT = fence(
    'import torch.distributed as dist\ndist.init_process_group("nccl")\ndist.barrier()', "python"
)
NODES = "Four nodes with 8 GPUs each."
WATCHDOG = fence("[Rank 9] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)")


@pytest.mark.parametrize(
    ("family", "title", "body"),
    [
        ("crash", "Segfault in destroy_process_group", SCRIPT),
        ("crash", "Rank 1 dies", fence("Signal 11 (SIGSEGV) received by PID 7") + SCRIPT),
        ("crash", "Rank 1 dies", fence("exitcode  : -11 (pid: 7)") + SCRIPT),
        (
            "crash",
            "all_reduce",
            fence("CUDA error: an illegal memory access was encountered") + SCRIPT,
        ),
        (
            "crash",
            "barrier",
            fence("*** Process received signal: Segmentation fault (core dumped)") + SCRIPT,
        ),
        ("crash", "FSDPとcompileでsegfaultする", "Segmentation fault になります。" + SCRIPT),
        ("silent_correctness", "all_reduce silently gives wrong results for bool", SCRIPT),
        ("silent_correctness", "Gradients are half of what they should be", SCRIPT),
        (
            "silent_correctness",
            "Parameters diverge between ranks",
            "They are not synchronized across ranks.",
        ),
        ("silent_correctness", "redistribute returns rows in the wrong order", SCRIPT),
        ("regression", "barrier hangs (2.5 OK, 2.6 fails)", SCRIPT),
        ("regression", "barrier fails", "It worked in 2.4. On 2.5 it fails.\n\n" + SCRIPT),
        ("regression", "Deadlock in barrier after upgrading to 2.7", SCRIPT),
        ("regression", "barrier fails", "Downgrading to 2.4 helps." + SCRIPT),
        (
            "regression",
            "barrier is broken in the nightly",
            "Since the last nightly every barrier fails.",
        ),
        ("regression", "DeviceMesh regression in 2.9.1", SCRIPT),
        ("regression", "barrier fails", "I bisected it to #123456." + SCRIPT),
        ("multinode_hang", "Training hangs", f"{NODES}\n\n{WATCHDOG}"),
        ("multinode_hang", "all_reduce never returns on 16 nodes", "No output."),
        (
            "multinode_hang",
            "Job is stuck",
            "`torchrun --nnodes=4 --nproc-per-node 8 a.py` sits forever.",
        ),
        ("multinode_hang", "两机16卡卡住", "两台机器都卡在 all_reduce。"),
        ("multinode_hang", "L'entraînement se bloque sur 6 nœuds", "Plus rien."),
        (
            "checkpoint_corruption",
            "dcp.load returns zeros",
            "`dcp.save(sd)`, then all zeros in the shards.",
        ),
        (
            "checkpoint_corruption",
            "DCP: corrupted checkpoint after async save",
            "`dcp.async_save(sd)`.",
        ),
        (
            "internal_assert",
            "all_reduce",
            fence('x INTERNAL ASSERT FAILED at "../c10d/Work.cpp":3') + SCRIPT,
        ),
        (
            "reach",
            "init_process_group broken on main",
            "Every distributed job fails to start." + SCRIPT,
        ),
    ],
)
def test_a_family(family, title, body):
    assert family in facets(title, body).high_priority


@pytest.mark.parametrize(
    ("title", "body"),
    [
        pytest.param(
            "DDP crashes", fence("ValueError: bad shape") + SCRIPT, id="an exception called a crash"
        ),
        pytest.param("Crash", "exit code -9, the OOM killer took rank 1." + SCRIPT, id="killed"),
        pytest.param(
            "DDP crash after upgrading to 2.5",
            fence("exitcode: -9") + SCRIPT,
            id="killed after upgrade",
        ),
        pytest.param(
            "barrier hangs", "On a single node with 4 GPUs." + SCRIPT, id="a hang on one host"
        ),
        pytest.param("No segfault any more", "Only slow." + SCRIPT, id="denied"),
        pytest.param(
            "barrier", fence("This can potentially cause a hang") + NODES, id="only possible"
        ),
        pytest.param("fp16 sums differ a bit", "I guess it's rounding noise." + SCRIPT, id="noise"),
        pytest.param("CP=4 loss drifts", "agrees to 1e-4, is this expected?", id="unproven drift"),
        pytest.param(
            "mixed precision is ignored",
            "On 2.3.0. It works on 2.4." + "\n\n### Versions\nPyTorch version: 2.3.0",
            id="fixed since",
        ),
        pytest.param(
            "barrier fails",
            "The same on 2.3 and 2.4 versions; not a regression." + SCRIPT,
            id="never worked",
        ),
        pytest.param("[RFC] avoid hangs on many nodes", "A proposal for 64 nodes.", id="a request"),
        pytest.param(
            "Corrupted image", "nn.Conv2d gives garbage on one GPU, one process.", id="out of scope"
        ),
        pytest.param(
            "frozen params", "FSDP all-gathers frozen params on 64 GPUs.", id="frozen is no hang"
        ),
        pytest.param(
            "No backend for mps",
            fence("RuntimeError: No backend type associated with device type mps") + SCRIPT,
            id="an error is raised",
        ),
    ],
)
def test_what_only_sounds_urgent(title, body):
    assert facets(title, body).high_priority == ()


def test_a_known_limitation_is_no_silent_failure():
    body = "Swapped data: the result is wrong." + SCRIPT
    known = said("Correct, that is a known limitation of the backend.", "MEMBER")
    assert facets("tag has no effect", body).high_priority
    assert facets("tag has no effect", body, known).high_priority == ()


def test_a_maintainers_question_makes_nothing_urgent():
    asked = said("Do you see wrong gradients or just a slower step?", "MEMBER")
    assert facets("DDP rebuilds buckets late", "From reading the code.", asked).high_priority == ()
