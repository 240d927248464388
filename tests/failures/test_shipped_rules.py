"""The rules that are shipped, and the example of rules of one's own, hold what they show."""

from __future__ import annotations

from pathlib import Path

import pytest

from ciops.failures.knowledge import load_knowledge
from ciops.failures.rule_check import problems
from failures.pipeline_worlds import CONFIG, ROOT

FILES = [
    pytest.param(CONFIG, id="autodeploy"),
    pytest.param(ROOT / "examples/own-rules/failure-rules.yml", id="of one's own"),
    pytest.param(ROOT / "examples/smallest-rules/failure-rules.yml", id="the smallest"),
]


@pytest.mark.parametrize("path", FILES)
def test_every_example_is_as_it_should_be(path: Path) -> None:
    assert problems(load_knowledge(path), CONFIG.parent / "schema.json") == []


@pytest.mark.parametrize("path", FILES)
def test_infrastructure_is_known_to_every_configuration(path: Path) -> None:
    known = load_knowledge(path)
    names = {rule.name for rule in known.buckets}
    assert {"infra/filesystem/disk-full", "infra/runner/system-failure"} <= names
    assert known.owner("infra").home
    assert not known.owner("infra").verified


def test_the_buckets_that_are_promised() -> None:
    names = {rule.name for rule in load_knowledge(CONFIG).buckets}
    assert names >= {
        "infra/resource/oom",
        "infra/runtime/timeout-or-freeze",
        "infra/runtime/cancelled",
        "infra/filesystem/hf-lock-permission",
        "external/huggingface/access-forbidden",
        "external/huggingface/missing-revision",
        "external/huggingface/invalid-tokenizer-or-processor",
        "external/env/missing-python-package",
        "external/transformers/api-mismatch",
    }
