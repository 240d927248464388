"""The rules that are shipped, and the example of rules of one's own, hold what they show."""

from __future__ import annotations

from pathlib import Path

import pytest

from ciops.errors import UsageError
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


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "ci-line.yml",
            r'mine\.yml:3: extends: "ci-line\.yml" is neither .* mean "ci-lines\.yml"\?',
        ),
        ("of-nobody.yml", r"neither beside this file nor one of the suite\. Check its name"),
        ("mine.yml", "extends itself"),
    ],
)
def test_a_file_that_cannot_be_extended_is_named(name: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yml"
    path.write_text(f"name: mine\nversion: '1'\nextends: [{name}]\n", encoding="utf-8")
    with pytest.raises(UsageError, match=words):
        load_knowledge(path)


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
