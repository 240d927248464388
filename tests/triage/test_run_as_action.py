"""The offline commands as an action starts them: options as inputs, patterns instead of a shell."""

from __future__ import annotations

from pathlib import Path

import pytest

from ciops.triage.app import main
from triage.small_world import REPO, ROOT, SMALL, TO_DISK, forge_with, issue, run

CASES = ROOT / "tests" / "data" / "triage" / "cases"


def test_backtest_of_a_repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    step = tmp_path / "step.md"
    with forge_with(issue(7, TO_DISK, labels=["team: disk"])) as forge:
        env = {
            "GITHUB_API_URL": forge.url,
            "GITHUB_TOKEN": "any",
            "GITHUB_REPOSITORY": REPO,
            "GITHUB_STEP_SUMMARY": str(step),
            "GITHUB_ACTIONS": "true",
            "INPUT_SINCE": "2020-01-01",
            "INPUT_POLICY": str(SMALL),
            "INPUT_OUTPUT": str(tmp_path),
        }
        assert main(["backtest"], env) == 0
    assert "| `disk`           | 1      |" in capsys.readouterr().out
    assert "| `disk`           | 1      |" in step.read_text(encoding="utf-8")


def test_patterns_stand_for_files(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["decide", str(CASES / "a-0*.json"), "--policy", str(SMALL)]
    assert main(given, {}) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(list(CASES.glob("a-0*.json")))


def test_a_policy_of_ones_own_by_input(capsys: pytest.CaptureFixture[str]) -> None:
    env = {"INPUT_POLICY": str(SMALL), "INPUT_FORMAT": "jsonl"}
    assert main(["decide", str(CASES / "a-01.json")], env) == 0
    assert '"policy": "small@1"' in capsys.readouterr().out


@pytest.mark.parametrize(
    "sources", [[], ["x.json", "--since", "2020-01-01"], ["x.json", "--repo", "o/r"]]
)
def test_backtest_takes_one_source(
    sources: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["backtest", *sources], {}) == 2
    assert "backtest needs one source" in capsys.readouterr().err


def test_a_run_leaves_no_file_outside_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with forge_with(issue(7, TO_DISK)) as forge:
        run(forge, tmp_path / "there", "--issue", "7")
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
