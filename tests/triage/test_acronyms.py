"""Letters that an issue spells out as something else are not the part of that name."""

from __future__ import annotations

import pytest

from ciops.triage.acronyms import foreign_acronyms
from ciops.triage.issue_text import read_issue
from triage.issue_making import facets, issue, policy


def foreign(text: str) -> set[str]:
    return set(foreign_acronyms(read_issue(issue("x", text), policy().reading), policy()))


@pytest.mark.parametrize(
    ("text", "acronym"),
    [
        ("FSDP (Fast Sparse Dot Product) on one GPU", "fsdp"),
        ("our FSDP = fast sparse dot product", "fsdp"),
        ("a differentially driven pump (DDP) model", "ddp"),
        ("RPC here means remote process cache", "rpc"),
        ("RPC stands for the Reactor Power Control", "rpc"),
        ("TP (true positive) counts", "tp"),
    ],
)
def test_an_acronym_of_something_else_is_foreign(text, acronym):
    assert foreign(text) == {acronym}


@pytest.mark.parametrize(
    "text",
    [
        "DDP (Distributed Data Parallel) hangs",
        "FSDP = Fully Sharded Data Parallel",
        "distributed data parallel (DDP)",
        "NCCL (NVIDIA Collective Communications Library)",
        "DDP (the wrapper) hangs",
        "FSDP (2 nodes)",
        "DDPM (denoising diffusion probabilistic models)",
        "RPC = None",
        "",
    ],
)
def test_the_product_s_own_are_not(text):
    assert foreign(text) == set()


def test_a_foreign_acronym_labels_nothing():
    title, body = (
        "FSDP is slow",
        "FSDP here means fast sparse dot product, `FSDP(x)` of our package.",
    )
    assert facets(title, body).modules == ()
    assert facets(title, "`FSDP(x)` is slow on 8 GPUs.").modules == ("module: fsdp",)
