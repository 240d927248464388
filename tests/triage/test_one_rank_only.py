"""Code that makes on one rank a call that all must make, and a question how it is meant."""

from __future__ import annotations

import pytest

from triage.issue_making import facets, fence, judged

GUARDED = [
    "if dist.get_rank() == 0:\n    out = model(x)",
    "if rank == 0:\n    with torch.no_grad():\n        print(model(x).argmax())",
    "if not rank:\n    dist.barrier()",
    "if rank == 0: dist.all_reduce(x)",
    "if accelerator.is_main_process:\n    ids = model.generate(prompt)",
    "def f():\n    if local_rank == 0:\n\n        y = d.full_tensor()\n    return y",
]
NOT_GUARDED = [
    "if rank == 0:\n    print(step)\ndist.barrier()",
    "dist.barrier()\nif rank == 0:\n    torch.save(sd, 'a.pt')\ndist.barrier()",
    "if rank == 0:\n    dist.broadcast(x, 0)\nelse:\n    dist.broadcast(y, 0)",
    "if rank == 1:\n    pass\nmodel(x)",
    "if step == 0:\n    model(x)",
    "model(x)",
]
TITLE = "FSDP hangs on 4 nodes"
ASKED = "Everything stands still on all nodes. Is it supposed to be like that?\n\n"


def is_on_one_rank(code):
    found = judged(TITLE, ASKED + fence(code, "python")).weighed.evidence
    return any(x.topic == "group:called_on_one_rank" for x in found)


@pytest.mark.parametrize("code", GUARDED)
def test_a_call_of_all_ranks_on_the_first_alone(code):
    assert is_on_one_rank(code)
    assert facets(TITLE, ASKED + fence(code, "python")).high_priority == ()


@pytest.mark.parametrize("code", NOT_GUARDED)
def test_what_all_ranks_call_or_none_must(code):
    assert not is_on_one_rank(code)
    assert facets(TITLE, ASKED + fence(code, "python")).high_priority == ("multinode_hang",)


def test_without_a_question_it_is_reported_as_a_hang():
    code = fence(GUARDED[0], "python")
    assert facets(TITLE, "The job hangs on all nodes.\n\n" + code).high_priority == (
        "multinode_hang",
    )
