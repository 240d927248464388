"""Wrong values that are only shown: by an example, a comparison, a table of hashes."""

from __future__ import annotations

import pytest

from triage.issue_making import facets, fence, said

GLOO = fence(
    'import torch, torch.distributed as dist\ndist.init_process_group("gloo")\n'
    "y = torch.empty(2, 3)\ndist.all_to_all_single(y, x)\nprint(y.tolist())",
    "python",
)
SHARDED = fence(
    "from torch.distributed.tensor import distribute_tensor, Shard\n"
    "d = distribute_tensor(x, mesh, [Shard(1)])\nprint(d.argmax(dim=1).full_tensor().tolist())",
    "python",
)
REDUCED = fence(
    'import torch.distributed as dist\ndist.init_process_group("gloo")\n'
    "dist.all_reduce(x)\nprint(x)",
    "python",
)


@pytest.mark.parametrize(
    ("title", "words", "script"),
    [
        (
            "all_to_all_single on gloo, the lines become exchanged",
            "The received lines are different from nccl. There is no error message.",
            GLOO,
        ),
        (
            "all_to_all_single exchanges rows",
            "What rank 0 receives is rank 1's. No message at all.",
            GLOO,
        ),
        (
            "strided input of all_to_all_single",
            "gloo rank 0: `[[0,1,2],[3,4,5]]`, nccl rank 0: `[[0,2,4],[1,3,5]]`",
            GLOO,
        ),
        (
            "gloo and nccl disagree for a transposed input",
            "Same program, the rows come in another order.",
            GLOO,
        ),
        (
            "DTensor.argmax(dim) gives small indices",
            "11 = 8+3, 30 = 24+6, i.e. what I see is the position inside the shard.",
            SHARDED,
        ),
        ("argmax on a sharded dim", "It returns local instead of global indices.", SHARDED),
        (
            "DTensor.argmax counts from the start of the shard",
            "The index is relative to the local shard, not to the tensor.",
            SHARDED,
        ),
        (
            "argmax of a Shard(1) tensor",
            "I get `[3, 6, 1]`, the plain tensor gives `[11, 30, 17]`.",
            SHARDED,
        ),
        ("all_reduce of a bool", "prints `False`, should print `True`", REDUCED),
        (
            "all_reduce(MAX) with negative numbers",
            "Output: `tensor([0.])`; expected `tensor([-3.])`.",
            REDUCED,
        ),
        (
            "gather swaps rank 1 and rank 2",
            "The second and the third element are swapped, nothing is raised.",
            REDUCED,
        ),
        (
            "the text of the model became rubbish since we shard the vocabulary",
            "Greedy sampling with `argmax` of a DTensor.",
            SHARDED,
        ),
    ],
)
def test_wrong_values_that_are_only_shown(title, words, script):
    assert "silent_correctness" in facets(title, f"{words}\n\n{script}").high_priority


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("all_reduce is slow on gloo", "12.3 ms on gloo, nccl: 0.4 ms"),
        (
            "all_reduce raises for a transposed input",
            "gloo: `Tensors must be contiguous`, nccl too",
        ),
        ("all_reduce prints twice", "The log line comes from rank 0 and rank 1."),
        (
            "all_to_all_single needs contiguous inputs",
            "It raises `ValueError`. nccl raises as well.",
        ),
        ("memory of all_reduce", "3 GB on rank 0, 1 GB on rank 1"),
        ("small indices are slow", "gather of small indices takes 3 s"),
        ("all_reduce of two groups", "group one: `[0, 1, 2, 3]`, group two: `[4, 5, 6, 7]`"),
        (
            "all_reduce after a reshape",
            "input shape `[2, 3, 4]`, output shape `[4, 3, 2]`, as documented",
        ),
        ("what each rank sends", "rank 0: `[0, 1, 2]`, rank 1: `[3, 4, 5]`, all of it arrives"),
        ("the ranks print in another order", "rank 1 prints before rank 0, is that so by design?"),
    ],
)
def test_figures_that_are_no_wrong_values(title, words):
    assert "silent_correctness" not in facets(title, f"{words}\n\n{REDUCED}").high_priority


@pytest.mark.parametrize(
    "words",
    [
        "That's not noise. From then on the contribution of the first micro batch is "
        "dropped. Nothing raises.",
        "I could reproduce it: rank 1 gets the sum without its own part, silently.",
        "Everybody with this combination has been training with 3/4 of the gradient.",
        "You are right, the reducer skips the first bucket, so the gradients are wrong on "
        "all ranks.",
    ],
)
def test_what_a_maintainer_finds_makes_a_modest_report_urgent(words):
    title = "accuracy a little lower with static_graph"
    body = (
        "It may well be on our side. `DistributedDataParallel(m, static_graph=True)`: 81.4 "
        "instead of 81.9, no errors."
    )
    assert "silent_correctness" in facets(title, body, said(words, "MEMBER", "m")).high_priority


@pytest.mark.parametrize(
    ("words", "urgent"),
    [
        ("No, that's not noise. The first micro batch is silently dropped.", True),
        ("More than the usual noise: half of the gradient is lost, nothing raises.", True),
        ("It's a bug, the first micro batch is silently dropped.", True),
        ("Yes, that is within noise.", False),
        ("It is not a bug, three seeds are few.", False),
    ],
)
def test_a_maintainer_settles_whether_it_is_noise(words, urgent):
    body = "`DistributedDataParallel(m, static_graph=True)`. Is that within the usual noise?"
    found = facets("accuracy a little lower", body, said(words, "MEMBER", "m")).high_priority
    assert ("silent_correctness" in found) is urgent


@pytest.mark.parametrize(
    ("one", "other", "wrong"),
    [
        (
            "Printed:\n\n[0.0, 10.0, 1.0]\n\nwhereas we had counted on\n\n",
            "[60.0, 70.0, 61.0]",
            True,
        ),
        ("What comes:\n[0, 1, 2]\n\nWhat should come:\n", "[0, 2, 1]", True),
        ("What comes:\n[0, 1, 2]\n\nWhat should come:\n", "[0, 1, 2]", False),
        ("rank 0:\n[0, 1, 2]\n\nrank 1:\n", "[3, 4, 5]", False),
        ("The mesh:\n[0, 1, 2]\n\na\n\nb\n\nc\n\nother ranks\n", "[3, 4, 5]", False),
    ],
    ids=["counted on", "should come", "the same", "of two ranks", "far apart"],
)
def test_a_list_is_what_the_line_above_it_says(one, other, wrong):
    found = facets("what all_gather returns", f"{one}{other}\n\n{REDUCED}").high_priority
    assert ("silent_correctness" in found) is wrong


SAVE = fence(
    "import torch.distributed.checkpoint as dcp\nfut = dcp.async_save(sd, checkpoint_id=p)\n"
    "dcp.load(sd, checkpoint_id=p)",
    "python",
)


@pytest.mark.parametrize(
    ("title", "words"),
    [
        (
            "async_save: hashes of what comes back",
            "sha256 at save and after load are not equal for the last layers.",
        ),
        (
            "async_save stores the next step",
            "The last layers in the checkpoint are those of the next step.",
        ),
        (
            "dcp.load: some tensors come back from another step",
            "layers.7 is that of step+1, no error.",
        ),
        ("before save and after load", "The checksums don't match for two of eight tensors."),
        ("dcp: values after loading", "The optimizer moments are zeros after `dcp.load`."),
        (
            "weights after dcp.load",
            "first rows old, rest new, compared with `torch.equal` row by row",
        ),
        (
            "resumed loss is higher with async_save",
            "After the load the weights differ from those that I saved.",
        ),
        (
            "dcp.load returns the rows of another rank",
            "Saved on 8, loaded on 4: the rows are swapped.",
        ),
        (
            "checkpoint content depends on when I look",
            "The saved tensors change while training goes on.",
        ),
        ("async_save", "What is on disk is a mixture of step 10 and step 11."),
    ],
)
def test_wrong_values_through_a_checkpoint_are_corruption(title, words):
    assert "checkpoint_corruption" in facets(title, f"{words}\n\n{SAVE}").high_priority


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("async_save is slow", "The save of step 10 takes as long as that of step 20."),
        ("dcp.load: KeyError", "The key of the next layer is missing: `KeyError: 'layers.7'`."),
        ("dcp: hash the files", "Please offer a sha256 of each file at save."),
        ("async_save keeps two copies", "Memory after load is 2x that at save."),
        (
            "async_save hashes agree",
            "All hashes at save and after load are equal, only the names differ.",
        ),
    ],
)
def test_a_checkpoint_that_is_only_slow_or_refused_is_not_corrupted(title, words):
    assert "checkpoint_corruption" not in facets(title, f"{words}\n\n{SAVE}").high_priority
