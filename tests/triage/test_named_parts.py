"""Parts that people name in passing words: in a title after `with`, by module, in one version."""

from __future__ import annotations

import pytest

from triage.issue_making import facets, fence, judged

BUG = "### 🐛 Describe the bug\n\n"
TORCH_ONLY = fence("import torch\nnet = torch.nn.Linear(2, 2)\nnet(torch.ones(2)).sum()", "python")


def modules(title: str, body: str = "") -> set[str]:
    return {name.removeprefix("module: ") for name in facets(title, BUG + body).modules}


@pytest.mark.parametrize(
    ("title", "body", "part"),
    [
        ("Gradient norm is too small with FSDP2", "Eight cards.", "fsdp"),
        ("grad of a frozen bias is None with FSDP", "It should be a number.", "fsdp"),
        ("`clip_value_` breaks when using DDP", "Four ranks.", "ddp"),
        ("It raises", "When I call `fully_shard(net)` twice on 8 GPUs it raises.", "fsdp"),
        ("Uneven rows get lost in `local_map`", "", "dtensor"),
    ],
)
def test_the_only_part_that_is_named_is_what_it_is_about(title, body, part):
    assert modules(title, body) == {part}


@pytest.mark.parametrize(
    ("title", "body"),
    [
        pytest.param("Loss is NaN with FSDP", "Without FSDP it is NaN as well.", id="cleared"),
        pytest.param("It raises", "We train with DDP.", id="only what they train with"),
        pytest.param(
            "A convolution is wrong with DDP on my laptop",
            "One process, one GPU, `python train.py`.",
            id="another family explains it",
        ),
    ],
)
def test_one_that_is_only_named_is_not(title, body):
    assert modules(title, body) == set()


def test_where_two_are_named_neither_is_the_only_one():
    found = judged("The loss is odd with FSDP", f"{BUG}We save it by `dcp.save` at each step.")
    assert "only_part_named" not in {x.signal for x in found.weighed.evidence}


@pytest.mark.parametrize(
    ("text", "signal"),
    [
        (
            "`torch.distributed.distributed_c10d._abort_process_group` kills python",
            "c10d_identifier",
        ),
        ("`torch.distributed.distributed_c10d._some_helper` kills python", "c10d_module"),
        ("I patched torch.distributed.fsdp._fully_shard._some_helper here", "fsdp2_module"),
        ("torch.distributed.device_mesh._some_helper returns None", "device_mesh_module"),
        ("in torch/distributed/pipelining/some_file.py", "pipelining_file"),
    ],
)
def test_a_name_with_its_module_is_of_the_part(text, signal):
    assert signal in {x.signal for x in judged("It dies", text).weighed.evidence}


@pytest.mark.parametrize(
    "text",
    [
        "ends in torch.distributed.elastic.multiprocessing.errors.ChildFailedError",
        "torch.distributed.elastic.rendezvous.api.SomeError is raised",
        "started by torch.distributed.launch",
        "see https://docs.example.org/torch.distributed.fsdp.some.html",
        "torch.distributed.tensor",
        "torch.optim.lr_scheduler.StepLR",
    ],
)
def test_other_names_are_not(text):
    signals = {x.signal for x in judged("It dies", text).weighed.evidence}
    assert not [signal for signal in signals if signal.endswith("_module")]


@pytest.mark.parametrize(
    "text",
    [
        "Plain `nn.DataParallel` works on 2.6.0. On 2.7.1 the process never ends.",
        "`nn.DataParallel` is fine in torch 2.6, with 2.7 the process never ends.",
        "On PyTorch 2.6, `nn.DataParallel` works fine. On 2.7 the process never ends.",
    ],
)
def test_what_worked_in_one_version_is_not_cleared(text):
    found = facets("Two cards hang on 2.7", f"{BUG}{text}\n{TORCH_ONLY}")
    assert found.distributed
    assert found.modules == ("module: data parallel",)
    assert "regression" in found.high_priority


def test_a_backend_whose_alternative_works_is_not_said_to_fail_alike():
    body = "The allreduce of 2 machines hangs with NCCL if each has 1 GPU in it; gloo works."
    assert modules("NCCL allreduce hangs between two machines", body) == {"nccl"}


def test_what_is_not_initialized_rightly_is_not_cleared():
    body = "`mpirun -np 2 python t.py` prints rank -1. NCCL is fine."
    assert modules("The MPI backend is not initialized properly", body) == {"mpi"}
    assert "mpi" not in modules("Wrong rank", "The MPI backend is not initialized here.")


@pytest.mark.parametrize(
    ("title", "body", "distributed"),
    [
        ("A new tensor has a grad_fn", "With DDP and `find_unused_parameters=True`.", True),
        ("A new tensor has a grad_fn", "It came with the last change.", False),
        ("Data parallel error in `torch._C._broadcast_coalesced`", "Two cards.", True),
    ],
)
def test_a_plain_script_says_nothing_where_a_part_stands(title, body, distributed):
    assert facets(title, f"{BUG}{body}\n{TORCH_ONLY}").distributed is distributed


def test_an_import_of_a_wrapper_is_a_use_of_it():
    code = (
        "import torch\nfrom torch.nn.parallel import DistributedDataParallel\ntorch.ones(2).sum()"
    )
    assert facets("A tensor has a grad_fn", BUG + fence(code, "python")).distributed


@pytest.mark.parametrize(
    ("title", "body", "parts"),
    [
        ("DDP hangs in the second step", "Eight cards with the NCCL backend.", {"ddp"}),
        ("DDP hangs if GPU 0 is not used", "Two ranks, cards 2 and 3.", {"ddp"}),
        ("FSDP2 fails when the first layer is fine", "Four ranks.", {"fsdp"}),
        (
            "symmetric memory allocator is killed by default, nvshmem works",
            "Only the default backend of symmetric memory dies.",
            {"symm_mem"},
        ),
        ("DTensor fails, DTensor is fine on one rank", "Four ranks.", set()),
        ("DDP is great", "DDP never asks what the hardware is.", {"ddp"}),
        ("FSDP2 works great", "It is the loader that is slow.", set()),
        ("Wrong results of all-gather on mixed cards", "Two old and two new ones.", {"c10d"}),
    ],
)
def test_what_a_clause_says_of_another_thing_clears_no_part(title, body, parts):
    assert modules(title, body) == parts


@pytest.mark.parametrize(
    ("title", "body", "urgent"),
    [
        ("The Adam refactoring broke reloading in DCP", "`dcp.load` raises now.", True),
        ("DDP fails in backward", "We narrowed it down to this PR.", True),
        ("DDP fails in backward", "Bisecting it gave one commit.", True),
        ("DDP fails in backward", "A change of the batch size makes no difference.", False),
    ],
)
def test_a_change_that_broke_it_is_a_regression(title, body, urgent):
    assert ("regression" in facets(title, BUG + body).high_priority) is urgent


def test_a_title_that_says_bug_asks_for_nothing():
    title = "Potential bug: HYBRID_SHARD falls back to NO_SHARD"
    assert facets(title, BUG + "With a mesh of (8, 1).").kind == "bug"
    assert facets(title.removeprefix("Potential bug: "), "With a mesh.").kind == "enhancement"


@pytest.mark.parametrize(
    ("title", "body", "family"),
    [
        ("DDP on two servers freezes after the first epoch", "One server is fine.", "hang"),
        ("DDP on two servers freezes the first layers", "That is what we want.", None),
        ("Training over two hosts blocks in the DDP constructor", "No progress.", "hang"),
        ("all_reduce does not return between 2 hosts", "With one host it works.", "hang"),
        ("all_reduce does not return on 2 cards", "One host.", None),
        ("init_rpc blocks with workers on different machines", "For ever.", "hang"),
        ("Bug in DDP with 2.1", "All is well when I use 2.0.", "regression"),
        ("FSDP runs out of memory on 2.9", "2.8 is fine, CUDA out of memory.", "regression"),
        ("FSDP dies on 2.9", "2.8 is fine. The machine ran out of host memory.", None),
        ("scatter_object_list silently returns None", "On each rank but 0.", "silent"),
        ("init_process_group silently returns early", "Before the others came.", None),
    ],
)
def test_how_urgent_things_are_told(title, body, family):
    ids = {"hang": "multinode_hang", "silent": "silent_correctness"}
    wanted = (ids.get(family, family),) if family else ()
    assert facets(title, BUG + body).high_priority == wanted


def test_a_toggle_that_made_no_difference_did_not_help():
    trial = "Setting `NCCL_ALGO=Ring` made no difference."
    found = judged("Loss is odd", BUG + trial).weighed.evidence
    assert [x.role for x in found if x.signal == "nccl_env"] == ["against"]


def test_to_enhance_a_part_is_an_enhancement():
    form = "### 🚀 The feature, motivation and pitch\n\n"
    found = facets("Enhance DDP: know the hardware", form + "Steps would be faster.")
    assert (found.kind, found.performance) == ("enhancement", True)


@pytest.mark.parametrize(
    ("title", "body", "parts"),
    [
        pytest.param(
            "ncclCommAbort hangs with NCCL 2.25.1",
            "NCCL 2.26.2 fixes it.",
            {"nccl"},
            id="another version of it helps",
        ),
        pytest.param(
            "ncclCommAbort hangs in teardown",
            "A newer NCCL fixes it, the process group waits for good:\n"
            + fence("frame #3: 0x00007fb libtorch_cuda.so`c10d::ProcessGroupNCCL::abort() + 664"),
            {"nccl", "c10d"},
            id="a stack in the group's own teardown",
        ),
        pytest.param(
            "DISABLED test_flags (__main__.ProcessGroupNCCLGroupTest)",
            "Root cause: `shrink_group(...)` destroys the parent too early.",
            {"c10d"},
            id="a test of the process group, and the root cause",
        ),
        pytest.param("It hangs with gloo", "It hangs with NCCL as well.", set(), id="both alike"),
    ],
)
def test_a_library_of_the_scope_is_blamed_by_its_own_versions(title, body, parts):
    assert modules(title, body) == parts


def test_what_is_given_as_the_root_cause_weighs_more_than_an_opinion():
    traced = judged("It hangs", "Root cause: `shrink_group(pg)` destroys its parent.")
    thought = judged("It hangs", "We do not know the root cause. `shrink_group(pg)` was called.")
    assert [x.role for x in traced.weighed.evidence if x.signal == "c10d_identifier"] == ["root"]
    assert "root" not in [x.role for x in thought.weighed.evidence if "c10d" in x.signal]


CHECKPOINTED = "activation checkpointing"


@pytest.mark.parametrize(
    ("title", "body", "parts"),
    [
        pytest.param(
            "non-reentrant checkpoint inside fully_shard keeps activations alive", "",
            {"fsdp", CHECKPOINTED}, id="the wrapper is where it happens",
        ),
        pytest.param(
            "FSDP: all-gather runs twice in checkpointed blocks", "",
            {"fsdp", CHECKPOINTED}, id="blocks that are checkpointed",
        ),
        pytest.param(
            "checkpoint_sequential on a DDP model: grads are not reduced", "",
            {"ddp", CHECKPOINTED}, id="a function of it",
        ),
        pytest.param("DDP: the checkpoint of the layers is empty", "", {"ddp"}, id="what is saved"),
        pytest.param(
            "all_reduce hangs between two hosts", "nccl-tests all_reduce_perf hangs as well.",
            {"nccl"}, id="the library alone fails as well",
        ),
        pytest.param(
            "all_to_all_single has half the bandwidth", "nccl-tests pass at full speed.",
            {"c10d"}, id="the library alone does not",
        ),
    ],
)  # fmt: skip
def test_parts_that_go_with_another(title, body, parts):
    assert modules(title, body) == parts
