"""Where things end: bugs, closed pipes, folders that are none, chains without end."""

from __future__ import annotations

from pathlib import Path

import pytest

from ciops.errors import UsageError
from ciops.failures import app
from ciops.failures import chain as chains
from ciops.failures.chain import Chain, follow
from ciops.failures.issue_form import Field, fill, read_form
from ciops.failures.plain_data import PlainDataError, from_plain, to_plain
from ciops.failures.report_model import PipelineStep, Remark
from ciops.failures.scope import Scope
from ciops.failures.start import Target, find
from ciops.plumbing.output_folder import OutputFolder, safe_name
from failures.pipeline_worlds import (
    DOWNSTREAM,
    ROOT,
    TOKEN,
    bridge,
    connected,
    pipeline,
    small_world,
)


def test_a_bug_is_a_report_that_can_be_pasted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(arguments: app.Arguments, env: app.Environment) -> int:
        raise ZeroDivisionError(f"with {env['GITLAB_TOKEN']} and password=hunter2-of-mine")

    monkeypatch.setitem(app.COMMANDS, "report", broken)
    assert app.main(["report"], {"GITLAB_TOKEN": TOKEN}) == 1
    printed = capsys.readouterr()
    assert "ZeroDivisionError" in printed.out
    assert "this is a bug in pipeline-failure-report" in printed.err
    assert TOKEN not in printed.out + printed.err
    assert "hunter2" not in printed.out + printed.err


def test_a_folder_that_is_a_file_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("here", "utf-8")
    with pytest.raises(UsageError, match=r"--output: .*out cannot be written"):
        OutputFolder(tmp_path / "out", "--output").write("report.json", "{}")


def test_a_file_that_cannot_be_put_in_place_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "report.json").mkdir()
    with pytest.raises(UsageError, match=r"report\.json cannot be written"):
        OutputFolder(tmp_path, "--output").write("report.json", "{}")
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "", ".."])
def test_only_plain_names_are_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="is no plain file name"):
        OutputFolder(tmp_path, "--output").write(name, "x")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path, "--output")
    folder.write("a.txt", "old")
    with pytest.raises(TypeError), folder.stream("a.txt") as file:
        file.writelines([b"half", None])  # type: ignore[list-item]
    assert (tmp_path / "a.txt").read_text("utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("text", ["", "...", "///", "日本"])
def test_a_text_without_letters_is_no_name(text: str) -> None:
    assert safe_name(text) == ""


def test_a_chain_that_a_service_invents_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "MOST_PIPELINES", 5)
    endless = [
        pipeline(n, DOWNSTREAM, bridges=[bridge(100 + n, "run", (n + 1, DOWNSTREAM, "failed"))])
        for n in range(1, 20)
    ]
    plain = Scope("all", downstream=("dl/jet/ci",))
    with small_world(*endless) as fake:
        forge = connected(fake)
        start = find(Target(1), plain, forge.pipelines())
        chain = Chain(start.pipeline, forge.web_url)
        follow(start, plain, forge.pipelines(), lambda _: None, chain)
    assert len(chain.steps) == 5
    assert "not looked into" in chain.remarks[-1].detail


def test_configured_answers_stand_for_what_only_a_project_knows() -> None:
    form = read_form((ROOT / "tests/data/failures/forms/06-bug-report.yml").read_text("utf-8"), "f")

    def none(_: Field) -> str:
        return ""

    body = fill(form, none, {"contact": "the infra channel", "information-tasks": "My own task"})
    assert "### How to reach you\n\nthe infra channel" in body
    assert "- [X] My own task" in body


def test_facts_come_back_from_plain_data() -> None:
    for fact in (PipelineStep(1, "https://x", parent=7), Remark("stopped", "SIGTERM", 3)):
        assert from_plain(type(fact), to_plain(fact)) == fact


WRONG = [
    pytest.param({"id": "1"}, "PipelineStep.id is a str", id="a text for a number"),
    pytest.param({"id": True}, "PipelineStep.id is a bool", id="a flag for a number"),
    pytest.param({"id": 1, "parent": "x"}, "PipelineStep.parent is a str", id="of an option"),
    pytest.param({}, "PipelineStep.id is missing", id="nothing"),
    pytest.param([], "PipelineStep is no object", id="a list"),
]


@pytest.mark.parametrize(("data", "words"), WRONG)
def test_plain_data_of_another_type_is_refused(data: object, words: str) -> None:
    with pytest.raises(PlainDataError, match=words):
        from_plain(PipelineStep, data)
