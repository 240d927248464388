"""What is urgent, and what only sounds so."""

from __future__ import annotations

import pytest

from ciops.triage.decide import judge_facts
from triage.issue_making import facets, fence, issue, policy, said

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


HANG = "All ranks hang in all_reduce on 4 nodes."


@pytest.mark.parametrize(
    ("title", "body", "comment", "role"),
    [
        pytest.param("Job hangs", HANG, "It was our firewall, sorry.", "NONE", id="withdrawn"),
        pytest.param("Job hangs", HANG, "I never had two machines in it.", "NONE", id="one host"),
        pytest.param(
            "Gradients differ between ranks with DDP", SCRIPT,
            "You are comparing them before the reduction.", "MEMBER", id="misread",
        ),
        pytest.param(
            "barrier raises in 2.9, in 2.8 it did not", SCRIPT,
            "That was changed on purpose, see the release notes.", "MEMBER", id="meant so",
        ),
    ],
)  # fmt: skip
def test_what_is_found_out_later_takes_the_urgency_away(title, body, comment, role):
    found = said(comment, role, "reporter" if role == "NONE" else "m")
    assert facets(title, body).high_priority
    assert facets(title, body, found).high_priority == ()


def test_a_maintainer_who_takes_it_on_withdraws_nothing():
    found = said("The order of these calls is ours to fix.", "MEMBER")
    assert facets("Job hangs", HANG, found).high_priority == ("multinode_hang",)


def test_a_failure_told_far_down_is_an_aside():
    much = "We tune the store and its timeouts for a service of many parts. " * 8
    body = f"The log level is wrong.\n\n{much}\n\nOn 4 nodes the old code could hang."
    assert facets("TCPStore logs too much", body).high_priority == ()


@pytest.mark.parametrize(("thumbs", "urgent"), [(9, False), (10, True)])
def test_many_who_agree_make_it_urgent(thumbs, urgent):
    facts = issue("init_process_group raises on Windows", SCRIPT, thumbs_up=thumbs)
    assert ("reach" in judge_facts(facts, policy()).facets.high_priority) is urgent


GATHERED = fence("out = torch.empty(8)\ndist.all_gather_into_tensor(out, x[4:])", "python")


@pytest.mark.parametrize(
    ("told", "urgent"),
    [
        pytest.param("I get\n\n[0.0, 1.0, 2.0, 3.0]\n\nand had expected\n\n[4.0, 5.0, 6.0, 7.0]",
                     True, id="numbers beside those expected"),
        pytest.param("I get\n\n[0.0, 1.0, 2.0, 3.0]", False, id="nothing was expected"),
        pytest.param("I get a RuntimeError, I had expected\n\n[4.0, 5.0, 6.0, 7.0]", False,
                     id="an error instead"),
    ],
)  # fmt: skip
def test_numbers_other_than_expected_are_a_silent_failure(told, urgent):
    found = facets("Question about all_gather_into_tensor", GATHERED + "\n" + told)
    assert ("silent_correctness" in found.high_priority) is urgent


@pytest.mark.parametrize(
    ("told", "urgent"),
    [
        pytest.param("The gradients should be the same as on one process.", True, id="checked"),
        pytest.param("The gradients should be equal, it raises a ValueError.", False, id="raised"),
    ],
)
def test_a_script_that_checks_values_tells_of_a_silent_failure(told, urgent):
    script = fence("m = DDP(net)\nm(x).sum().backward()\nprint(torch.allclose(g, ref))", "python")
    found = facets("DDP after one step", f"{told}\n{script}")
    assert ("silent_correctness" in found.high_priority) is urgent
