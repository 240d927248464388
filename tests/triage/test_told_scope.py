"""What is told about scope, kind, reproduction and comments, in words of many kinds."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from triage.issue_making import BOT, decided, facets, fence, issue, said

LOCAL = fence("import torch\nx = torch.randn(4, device='cuda')\nprint(x.sum())", "python")
SHARED = fence(
    'import torch.distributed as dist\ndist.init_process_group("nccl")\ndist.barrier()', "python"
)


@pytest.mark.parametrize(
    ("title", "body"),
    [
        (
            "LICENSE.txt is not distributed any more",
            "It isn't distributed with the wheels since 2.8; it was there in 2.7.",
        ),
        (
            "header files are no longer distributed",
            "`torch/include` lacks them in the Linux wheel.",
        ),
        ("CMake config not distributed with the sdist", "It was in the 2.7 sdist."),
        (
            "Third-party notices missing",
            "They were distributed together with the wheel until 2.7: "
            "`torch-2.7.1.dist-info/NOTICE`.",
        ),
        (
            "linux-jammy / test (distributed, 1, 3) can't pull docker image",
            "Error response from daemon: toomanyrequests: Rate exceeded",
        ),
        (
            "test (distributed, 2, 3, g4dn) fails in setup-linux",
            "The runner pool is out of disk: No space left on device. No test was started.",
        ),
        (
            "win / test (distributed, 1, 2) red",
            "The self-hosted runner lost communication with the server before anything of "
            "the tests runs.",
        ),
        (
            "Trainer OOM, `distributed training: False`",
            "colab.\n"
            + fence(
                "Process rank: 0, device: cuda:0, n_gpu: 1, distributed training: "
                "False\ntorch.OutOfMemoryError: CUDA out of memory."
            )
            + "Should I use FSDP?",
        ),
        (
            "OOM after evaluation",
            fence("is_distributed: False\ntorch.OutOfMemoryError: CUDA out of memory.")
            + "One GPU. Would DeepSpeed or FSDP help?",
        ),
        (
            "Wishart: rsample is wrong",
            fence(
                "from torch.distributions import Wishart\nw = Wishart(df, c)\nprint(w.rsample())",
                "python",
            ),
        ),
        (
            "DataLoader worker killed by signal",
            "I added `import torch.distributed as dist` but never use it. One process.\n"
            + fence(
                "RuntimeError: DataLoader worker (pid 4) is killed by signal: Segmentation fault."
            ),
        ),
    ],
)
def test_out_of_scope(title, body):
    found = facets(title, body)
    assert not found.distributed
    assert found.high_priority == ()


@pytest.mark.parametrize(
    ("title", "body"),
    [
        (
            "test (distributed, 1, 3): test_barrier fails",
            "It hangs in `dist.barrier()`:\n" + SHARED,
        ),
        (
            "work is not distributed over the ranks",
            "`DistributedSampler` gives all ranks the same part.\n" + SHARED,
        ),
        ("OOM with distributed training", "torchrun with 4 GPUs.\n" + SHARED),
        (
            "FSDP: CUDA out of memory",
            fence("torchrun --nproc_per_node=4 train.py", "bash")
            + "`fully_shard(model)` needs too much.",
        ),
        (
            "wheels: init_process_group raises",
            "With the wheel of 2.8 every rank raises.\n" + SHARED,
        ),
        ("DataLoader with DDP", "Each of 4 ranks has 8 workers.\n" + SHARED),
        ("barrier fails only in CI", "On the runner it passes, in the job it fails.\n" + SHARED),
        ("`is_initialized()` is False after init", "On all ranks.\n" + SHARED),
    ],
)
def test_in_scope(title, body):
    assert facets(title, body).distributed


@pytest.mark.parametrize(
    ("title", "body", "kind"),
    [
        (
            "Will sharded checkpoints of 2.8 load in 2.10?",
            "Nothing is broken now, I ask beforehand.",
            "question",
        ),
        ("rpc_sync: when does it wait by design?", "I'd like to understand it.", "question"),
        ("barrier: does not return?", "It raises `RuntimeError`.\n" + SHARED, "bug"),
        ("Would DDP notice a removed rank?", "Just asking before we build on it.", "question"),
        (
            "FSDP2 tutorial: all links are 404",
            "### The doc issue\n\nNone of them exists. I can send a PR.",
            "docs",
        ),
        (
            "Docs of new_group",
            "### The doc issue\n\nThere is no example. It would be nice to have one.",
            "docs",
        ),
        (
            "Startup at 2048 GPUs looks like a hang but isn't",
            "### The feature, motivation and pitch\n\nIt's just slow. A tree barrier would "
            "make it faster.",
            "enhancement",
        ),
        (
            "init of 512 ranks",
            "### The feature, motivation and pitch\n\nIt works in the end but takes 12 "
            "minutes. Caching could make it faster.",
            "enhancement",
        ),
        (
            "Wishful thinking in barrier",
            "It raises `RuntimeError`, I expected none.\n" + SHARED,
            "bug",
        ),
        (
            "Requested timeout is not used by barrier",
            "It fails after 30 minutes.\n" + SHARED,
            "bug",
        ),
        ("Can provide some tutorials for Flight Recorder？", "How is it turned on？", "docs"),
        ("Any usage example of reshard_after_forward?", "I found none.", "docs"),
        ("Any example that uses DDP hangs", "It hangs.\n" + SHARED, "bug"),
        ("What should I use for a 3B model?", "I read of many kinds of parallelism.", "question"),
        ("Params differ between ranks after DDP", "The copy is needless, but harmless.", "bug"),
        ("reduce hangs on two ranks", "It never returns.\n" + SHARED, "bug"),
        ("torchrun: document exit codes", "No page lists them.", "docs"),
        ("FSDP2 checkpoint example wanted", "I found none.", "docs"),
        ("[FSDP] documented flag is ignored", "It raises.\n" + SHARED, "bug"),
        ("Is it expected that new_group is collective?", "Otherwise it hangs.", "question"),
        ("Why does FSDP all-gather twice?", "I'd like to understand it.", "question"),
        ("RPC: deprecation plan", "Is RPC still maintained? We'd build on it.", "question"),
        ("怎么保存 FSDP2 的 state", "看了文档没有找到。", "question"),
        (
            "FSDP: please remove the UserWarning on each forward",
            "### The feature, motivation and pitch\n\nIt is printed in each step.",
            "enhancement",
        ),
        ("Will not start on 4 ranks", "It raises.\n" + SHARED, "bug"),
        ("DDP docs say it works, it raises", "`RuntimeError` in the example.\n" + SHARED, "bug"),
        ("barrier is slow since 2.7", "12 ms, 2.6 had 1 ms.\n" + SHARED, "bug"),
        (
            "torchrun: write events to a file",
            "### The feature, motivation and pitch\n\nThere is no machine readable output of "
            "any sort.",
            "feature",
        ),
    ],
)
def test_kind(title, body, kind):
    assert facets(title, body).kind == kind


def test_slow_at_scale_is_about_performance():
    body = (
        "### The feature, motivation and pitch\n\nIt's just slow, 12 minutes in "
        "`_store_based_barrier`. A tree would make it faster."
    )
    found = facets("Startup at 2048 GPUs", body)
    assert (found.type, found.performance, found.sub_oncall) == ("enhancement", True, "infra")


GIST = "https://gist.github.com/someone/0123456789abcdef"


@pytest.mark.parametrize(
    ("words", "there"),
    [
        (f"The complete log is in this gist: {GIST}", False),
        (f"Log: {GIST}", False),
        (f"Traceback of all ranks: {GIST}", False),
        (f"{GIST} (12 MB log, careful)", False),
        (f"Output of `collect_env`: {GIST}", False),
        (f"Script: {GIST}", True),
        (f"I put the code at {GIST}", True),
        (f"Log and script are in {GIST}", True),
        (f"See {GIST}", True),
        (f"It logs too much. Reproduce with {GIST}", True),
    ],
)
def test_a_linked_log_is_no_reproduction(words, there):
    assert facets("barrier raises", f"All ranks fail.\n\n{words}").has_reproduction is there


UNSHOWN = ("DDP: memory grows", "With `DistributedDataParallel` it grows, it fails in the end.")


@pytest.mark.parametrize(
    ("words", "role", "suppressed"),
    [
        ("Paste me the shortest thing which grows, plus how you launch it.", "MEMBER", True),
        ("I'd like to run that myself. What is in train.py?", "MEMBER", True),
        ("Give us the smallest model that shows it.", "COLLABORATOR", True),
        ("Paste me the shortest thing which grows.", "NONE", False),
        ("Which accelerate version is it?", "MEMBER", False),
        ("I'd like to see a faster allocator here as well.", "MEMBER", False),
    ],
)
def test_a_request_in_other_words(words, role, suppressed):
    plan = decided(issue(*UNSHOWN, said(words, role, "m"))).plan
    assert plan.comment == "needs_distributed_reproduction"
    assert plan.comment_suppressed is suppressed


ELSEWHERE = ("torch.compile: wrong variance", "Single process, single GPU, `torch.compile(fn)`.")


@pytest.mark.parametrize(
    ("comment", "suppressed"),
    [
        (
            said(
                "Mis-routed, there is nothing distributed in here. Pure inductor.", "COLLABORATOR"
            ),
            True,
        ),
        (said("Should go to the compiler folks.", "MEMBER"), True),
        (said("Wrong team, no distributed code is used.", "MEMBER"), True),
        (said("Mis-routed, there is nothing distributed in here.", "NONE"), False),
        (said("A banner is shown on the HUD.", "NONE", BOT.login, bot=True), False),
        (said("Which GPU is it?", "MEMBER"), False),
    ],
)
def test_a_notice_in_other_words(comment, suppressed):
    plan = decided(issue(*ELSEWHERE, comment)).plan
    assert plan.comment == "not_distributed"
    assert plan.comment_suppressed is suppressed


LAUNCHER = fence(
    "Traceback (most recent call last):\n"
    '  File "/x/torch/distributed/elastic/agent/server/api.py", '
    "line 652, in _initialize_workers\n    self._rendezvous(worker_group)\n"
    "torch.distributed.DistNetworkError: The client socket has timed out after 60000ms"
)


@pytest.mark.parametrize(
    ("title", "body", "modules"),
    [
        ("torchrun --standalone fails without DNS", LAUNCHER, ("module: elastic",)),
        (
            "TCPStore: the client socket times out",
            "`TCPStore(h, p)` raises\n"
            + fence("DistNetworkError: The client socket has timed out after 60000ms"),
            ("module: c10d",),
        ),
        (
            "init never returns",
            "1020 ranks sit in `_store_based_barrier`, gloo.\n",
            ("module: c10d",),
        ),
    ],
)
def test_who_asked_the_store(title, body, modules):
    assert facets(title, body).modules == modules


def test_an_assert_about_the_communicator_is_of_the_library():
    assert_ = 'ncclComm != nullptr INTERNAL ASSERT FAILED at "/x/c10d/ProcessGroupNCCL.cpp":4043'
    assert "module: nccl" in facets("send raises", fence(f"RuntimeError: {assert_}")).modules


@pytest.mark.parametrize(
    ("body", "confidence"),
    [
        ("The self-hosted runner lost communication with the server.", "high"),
        ("No space left on device, before `distributed/fsdp/test_fsdp_core.py` runs.", "medium"),
        (
            "The self-hosted runner lost communication with the server.\n\n"
            "`distributed/fsdp/test_fsdp_core.py` and others did not get to run.",
            "medium",
        ),
    ],
)
def test_parts_that_are_named_make_out_of_scope_less_sure(body, confidence):
    found = facets("UNSTABLE linux / test (distributed, 2, 3)", body)
    assert (found.distributed, found.confidence) == (False, confidence)


def test_a_test_plan_is_no_reproduction():
    body = "Frees the handle.\n\n### Test plan\n`python test/distributed/test_c10d_nccl.py -k x`"
    assert not facets("[c10d] Free the handle", body).has_reproduction


def test_the_wrapper_of_the_code_is_sure_whatever_it_is_called():
    code = fence("ddp_net = torch.nn.DataParallel(net)\nddp_net(x)", "python")
    found = facets("DDP hides ops", "Most ops are not seen.\n\n" + code)
    assert (found.modules, found.confidence) == (("module: data parallel",), "high")


SEVERAL = Path(__file__).resolve().parents[1] / "data" / "triage" / "several.yml"


@pytest.mark.parametrize(
    "report", yaml.safe_load(SEVERAL.read_text(encoding="utf-8")), ids=lambda x: x["title"][:50]
)
def test_what_is_about_several_processes(report):
    assert facets(report["title"], report["body"]).distributed is report["distributed"]
