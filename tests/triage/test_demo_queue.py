"""The queue of the demo, triaged as `make demo` does it: what a newcomer sees must be right."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from triage.small_world import ROOT

EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def decisions(tmp_path_factory: pytest.TempPathFactory) -> dict[int, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("demo")
    spec = importlib.util.spec_from_file_location("demo_triage", EXAMPLES / "demo_triage.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.run(folder) == 0
    lines = (folder / "decisions.jsonl").read_text(encoding="utf-8").splitlines()
    return {line["number"]: line for line in map(json.loads, lines)}


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        pytest.param(4101, {"oncall: distributed parallelisms", "module: fsdp"}, id="FSDP"),
        pytest.param(4107, {"oncall: distributed infra", "triage review"}, id="a hang"),
        pytest.param(4112, {"oncall: distributed infra", "triaged"}, id="torchrun"),
        pytest.param(
            4118, {"oncall: distributed checkpointing", "triage review"}, id="a lost shard"
        ),
        pytest.param(4125, {"triage review", "bot-triaged"}, id="in the wrong queue"),
        pytest.param(4131, {"module: ddp", "needs reproduction"}, id="no reproduction"),
        pytest.param(4139, {"enhancement", "module: performance"}, id="a request"),
        pytest.param(4144, {"bot-triaged", "triaged"}, id="done by people"),
        pytest.param(4156, {"module: dtensor", "triage review"}, id="orders to the bot"),
        pytest.param(4163, {"needs reproduction"}, id="asked already"),
        pytest.param(4176, {"triage review", "bot-triaged"}, id="two routes"),
    ],
)
def test_labels(number: int, expected: set[str], decisions: dict[int, dict[str, Any]]) -> None:
    added = set(decisions[number]["added"])
    assert expected <= added
    assert "high priority" not in added


@pytest.mark.parametrize(
    ("number", "skip"),
    [(4150, "human_removed_label"), (4170, "pull_request"), (4181, "already_processed")],
)
def test_left_alone(number: int, skip: str, decisions: dict[int, dict[str, Any]]) -> None:
    assert decisions[number]["skip"] == skip


def test_two_comments_and_none_where_somebody_asked(decisions: dict[int, dict[str, Any]]) -> None:
    said = [number for number, line in decisions.items() if "comment_url" in line]
    assert said == [4125, 4131]


def test_the_queue_is_plain_data() -> None:
    data = json.loads(Path(EXAMPLES / "queue.json").read_text(encoding="utf-8"))
    assert len(data["issues"]) == len({case["issue"]["number"] for case in data["issues"]})
