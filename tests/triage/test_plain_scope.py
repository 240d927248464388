"""In the queue or not, where nobody names a part: several devices in plain words."""

from __future__ import annotations

import pytest

from triage.issue_making import facets, fence, judged

CONV = fence("import torch\nnet = torch.nn.Conv2d(3, 8, 3)\nprint(net(torch.ones(1, 3, 8, 8)))")


def compiler(error: str) -> str:
    return fence(f"torch._dynamo.exc.Unsupported: {error}")


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("loss is nan", "fine on one card, on two cards it is nan"),
        ("NaN after 100 steps", "Single GPU: 0.3. 4x A100: nan."),
        ("freezes", "works with CUDA_VISIBLE_DEVICES=0, hangs with CUDA_VISIBLE_DEVICES=0,1"),
        ("stuck at once", "It is stuck when I use both gpus, with a single gpu it trains."),
        ("multi gpu loss not good", "with 1 gpu loss 0.3\nwith 8 gpu loss 1.9"),
        ("loss 不对", "单卡正常，8卡不行"),
        ("accuracy drops", "single GPU: 92 %; 2 GPUs: 90 %"),
        ("deadlock", "With 1 process it is fine; with 2 processes it stops."),
    ],
)
def test_one_device_set_against_several_is_in_scope(title, body):
    found = facets(title, body)
    assert found.distributed
    assert found.modules == ()


@pytest.mark.parametrize(
    ("title", "body"),
    [
        (
            "Conv2d returns NaN",
            f"A machine with 8 GPUs. Running on a single GPU it is NaN.\n{CONV}",
        ),
        ("Conv2d returns NaN", f"On a single GPU of our multi-GPU server.\n{CONV}"),
        ("Conv2d returns NaN", f"On two different GPUs, it is a single GPU script.\n{CONV}"),
        ("interpolate is slow", f"One GPU, no distributed training. 8 DataLoader workers.\n{CONV}"),
    ],
)
def test_several_that_are_only_there_are_not(title, body):
    assert not facets(title, body).distributed


@pytest.mark.parametrize(
    ("title", "error"),
    [
        ("torch.compile breaks the graph at all_reduce", "skipped function: all_reduce"),
        ("torch.compile: graph break on DTensor", "Tensor.redistribute() call"),
        ("compile: async_op=True is not supported for all_to_all_single", "async_op=True"),
    ],
)
def test_what_the_compiler_makes_of_a_part_is_the_parts_too(title, error):
    assert facets(title, compiler(error)).distributed


def test_what_the_compiler_makes_of_anything_else_is_not():
    assert not facets("torch.compile: unsupported op", compiler("aten.nonzero")).distributed


def test_an_operation_that_is_not_supported_is_no_conclusion_that_nothing_is_distributed():
    said = "The error says that `async_op` isn't supported for distributed collectives."
    found = judged("all_to_all_single in torch.compile", said + compiler("async_op=True"))
    assert found.facets.distributed
    assert "group:concluded_apart" not in found.weighed.total.scores


@pytest.mark.parametrize(
    ("title", "body", "distributed"),
    [
        pytest.param(
            "dcp.save leaves half a checkpoint",
            "OSError: [Errno 28] No space left on device\n\nThe `.metadata` is there all the same.",
            True,
            id="a checkpoint",
        ),
        pytest.param(
            "RCCL: no space left on device for /dev/shm in `split_group`",
            "The process group is not made, one rank of 8 dies.",
            True,
            id="shared memory",
        ),
        pytest.param(
            "linux / test (default, 1, 5) fails",
            "No space left on device, before a test starts",
            False,
            id="a machine of the CI",
        ),
    ],
)
def test_a_full_disk_is_the_machines_where_no_part_is_spoken_of(title, body, distributed):
    assert facets(title, body).distributed is distributed


def test_the_version_that_is_printed_puts_nothing_out_of_scope():
    body = fence('$ python -c "import torch; print(torch.__version__)"\n2.9.0', "bash")
    assert facets("FSDP hangs in step 3", f"On 8 GPUs.\n{body}").distributed


OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB."


@pytest.mark.parametrize(
    "body",
    [
        f"My computer has one RTX 3090, I start it like\n\npython ft.py --batch 8\n\n{OOM}\n\n"
        "In the future I want to do distributed but first it must fit on this one.",
        f"I only have one card and no second one yet. python run.py.\n\n{OOM}",
        f"PC with one GPU (RTX 3080). I run `python main.py`.\n\n{OOM}\n\nDistributed comes later.",
        f"There is one A100 in the server. {OOM} We switch to distributed training next year.",
        f"My system has only one GPU. {OOM}",
    ],
)
def test_a_single_card_is_not_distributed_whatever_is_planned(body):
    assert not facets("Distributed training out of memory", body).distributed


@pytest.mark.parametrize(
    "body",
    [
        f"8 GPUs, DDP. It fits on one GPU, with all 8 rank 0 has {OOM}",
        f"One GPU per node. torchrun --nproc-per-node 1 --nnodes 4. {OOM}",
        f"Each worker has one GPU. python -m torch.distributed.run --nproc_per_node=4 a.py. {OOM}",
        f"Each machine has one H100, torchrun --nnodes 2 ft.py on both. {OOM}",
    ],
)
def test_a_single_card_for_each_of_several_is(body):
    assert facets("Distributed training out of memory", body).distributed


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ('#error "Expected GLOO_USE_CUDA to be defined"', "compiling torch from source, always"),
        ("build stops in third_party/tensorpipe", "I compile from source on Debian."),
        ("Cannot compile gloo", "It stops at third_party/gloo/gloo/tcp.cc with error: no member"),
        ("Compilation with USE_MPI=1 fails", "No MPI_CXX."),
        ("NCCL does not compile", "pip install -e . : third_party/nccl/src/include: error"),
        ("gcc 13", "Compiling torch from source stops: fatal error: gloo/config.h"),
    ],
)
def test_a_build_that_stops_is_not_distributed(title, body):
    assert not facets(title, body).distributed


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("gloo: Connection closed by peer", "all_reduce on 2 hosts. I compiled torch from source."),
        ("ProcessGroupNCCL hangs", "compiled from source with NCCL 2.27, 2 nodes"),
        ("torchrun: error: unrecognized arguments", "torchrun --foo a.py, compiled from source"),
        ("all_reduce fails", "It compiles from source without errors, all_reduce on 2 ranks fails"),
    ],
)
def test_a_build_of_ones_own_that_runs_is(title, body):
    assert facets(title, body).distributed
