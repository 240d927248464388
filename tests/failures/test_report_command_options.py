"""The command line of `report`: tokens, formats, questions, files, exit statuses."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ciops.failures.app import main
from failures.pipeline_worlds import DOWNSTREAM, TOKEN, job, pipeline, small_world
from fakes.gitlab import FakeGitLab

MISSING = "Set GITLAB_TOKEN to a GitLab personal access token and rerun this skill."
FAILING = b"starting\nRuntimeError: shape of q is wrong\nERROR: Job failed: exit code 1\n"


@pytest.fixture
def fake() -> Iterator[FakeGitLab]:
    jobs = [job(number, trace=FAILING) for number in (1, 2)]
    with small_world(pipeline(500, DOWNSTREAM, jobs=jobs)) as server:
        yield server


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def report(fake: FakeGitLab | None, *arguments: str, **env: str) -> int:
    known = {"GITLAB_TOKEN": TOKEN} | ({"GITLAB_URL": fake.url} if fake else {})
    return main(["report", "--pipeline", "500", *arguments], {**known, **env})


def files(folder: str = "out") -> set[str]:
    return {path.name for path in Path(folder).iterdir()} if Path(folder).exists() else set()


# --- tokens -----------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [None, "", "  "])
def test_without_a_token_nothing_is_asked(
    fake: FakeGitLab, capsys: pytest.CaptureFixture[str], token: str | None
) -> None:
    env = {"GITLAB_URL": fake.url} | ({} if token is None else {"GITLAB_TOKEN": token})
    assert main(["report"], env) == 2
    assert fake.request_count == 0
    assert capsys.readouterr().err.strip() == f"error: {MISSING}"
    assert files() == set()


def test_runs_of_actions_need_the_other_token(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--source", "github-actions"], {"GITLAB_TOKEN": TOKEN}) == 2
    assert "GITHUB_TOKEN is not set" in capsys.readouterr().err


def test_a_foreign_host_is_refused_before_any_call(
    fake: FakeGitLab, capsys: pytest.CaptureFixture[str]
) -> None:
    url = "https://gitlab.com/a/b/-/pipelines/500"
    assert report(fake, "--pipeline", url) == 3
    assert fake.request_count == 0
    assert "is not on 127.0.0.1" in capsys.readouterr().err


def test_the_token_is_in_no_output(fake: FakeGitLab, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(fake, "--format", "md", "json", "html", "csv") == 0
    fake.fail("401", times=None)
    assert report(fake) == 4
    printed = capsys.readouterr()
    assert not any(TOKEN in path.read_text("utf-8") for path in Path("out").iterdir())
    assert TOKEN not in printed.out + printed.err
    assert fake.seen_tokens == {TOKEN}
    assert fake.seen_schemes == {"Authorization: Bearer"}


# --- where ------------------------------------------------------------------------------------

ADDRESSES = [
    pytest.param(["--gitlab-url", "HERE"], {"GITLAB_URL": "http://127.0.0.1:1"}, id="the option"),
    pytest.param(
        [], {"GITLAB_URL": "HERE", "CI_SERVER_URL": "http://127.0.0.1:1"}, id="GITLAB_URL"
    ),
    pytest.param([], {"CI_SERVER_URL": "HERE"}, id="CI_SERVER_URL"),
    pytest.param([], {"INPUT_GITLAB_URL": "HERE"}, id="an input"),
]


@pytest.mark.parametrize(("options", "env"), ADDRESSES)
def test_which_gitlab(fake: FakeGitLab, options: list[str], env: dict[str, str]) -> None:
    given = [text.replace("HERE", fake.url) for text in options]
    known = {key: text.replace("HERE", fake.url) for key, text in env.items()}
    assert report(None, *given, **known) == 0


# --- formats and files ------------------------------------------------------------------------

FORMATS = [
    pytest.param([], set(), id="chat is only printed"),
    pytest.param(["--format", "md"], {"report.md", "summary.md"}, id="md is the summary, too"),
    pytest.param(["--format", "csv"], {"report.csv"}, id="csv"),
    pytest.param(["--format", "json", "html"], {"report.json", "report.html"}, id="several"),
    pytest.param(["--format", "json", "--format", "csv"], {"report.json", "report.csv"}, id="each"),
    pytest.param(["--format", "json,csv"], {"report.json", "report.csv"}, id="between commas"),
    pytest.param(["--format", "chat"], {"report.chat"}, id="chat, when asked for"),
]


@pytest.mark.parametrize(("options", "written"), FORMATS)
def test_every_format_asked_for_is_written(
    fake: FakeGitLab, capsys: pytest.CaptureFixture[str], options: list[str], written: set[str]
) -> None:
    assert report(fake, *options) == 0
    assert files() == written
    printed = capsys.readouterr().out
    assert "total failed jobs = 2" in printed
    assert "sum of bucket sizes = 2" in printed


def test_the_output_folder(fake: FakeGitLab) -> None:
    assert report(fake, "--format", "json", "--output", "a/b") == 0
    assert files("a/b") == {"report.json"}


def test_inputs_stand_for_options(fake: FakeGitLab) -> None:
    env = {"INPUT_FORMAT": "md, json", "INPUT_OUTPUT": "there", "INPUT_TRACK": "false"}
    assert report(fake, **env) == 0
    assert {"report.md", "report.json"} <= files("there")
    assert report(fake, "--format", "csv", "--output", "own", **env) == 0
    assert files("own") == {"report.csv"}


def test_outputs_of_a_step(fake: FakeGitLab, tmp_path: Path) -> None:
    place, summary = tmp_path / "outputs", tmp_path / "summary"
    env = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_OUTPUT": str(place),
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    assert report(fake, "--format", "json", **env) == 0
    written = place.read_text("utf-8")
    for name, value in (("failed-jobs", "2"), ("buckets", "2"), ("report-file", "out/report.json")):
        assert f"{name}<<" in written
        assert f"\n{value}\n" in written
    assert "model-coverage" in summary.read_text("utf-8")


def test_languages(fake: FakeGitLab, capsys: pytest.CaptureFixture[str]) -> None:
    texts = set()
    for language in ("en", "fr", "ja"):
        assert report(fake, "--language", language) == 0
        texts.add(capsys.readouterr().out)
    assert len(texts) == 3


def test_nothing_failed(capsys: pytest.CaptureFixture[str]) -> None:
    green = pipeline(500, DOWNSTREAM, jobs=[job(1, status="success")], status="success")
    with small_world(green) as server:
        assert report(server, "--format", "md", "csv", "json", "html") == 0
    printed = capsys.readouterr().out
    assert "total failed jobs = 0\nsum of bucket sizes = 0" in printed
    assert json.loads(Path("out/report.json").read_text("utf-8"))["buckets"] == []


# --- the question -----------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


ANSWERS = [
    pytest.param("\n", set(), id="Enter is chat"),
    pytest.param("", set(), id="the end of input is chat"),
    pytest.param("chat\n", set(), id="chat"),
    pytest.param("md\n", {"report.md", "summary.md"}, id="md"),
    pytest.param(" CSV \n", {"report.csv"}, id="csv, however it is written"),
    pytest.param("pdf\n", set(), id="anything else is chat"),
]


@pytest.mark.parametrize(("answer", "written"), ANSWERS)
def test_a_person_is_asked_once(
    fake: FakeGitLab, monkeypatch: pytest.MonkeyPatch, answer: str, written: set[str]
) -> None:
    out = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys, "stdout", out)
    assert report(fake) == 0
    assert files() == written
    assert out.getvalue().count("Which output: chat, md, csv? [chat]") == 1


NOT_ASKED = [
    pytest.param(["--format", "json"], {}, True, id="a format is given"),
    pytest.param([], {"GITHUB_ACTIONS": "true"}, True, id="in GitHub Actions"),
    pytest.param([], {"GITLAB_CI": "true"}, True, id="in GitLab CI"),
    pytest.param([], {}, False, id="the output goes elsewhere"),
]


@pytest.mark.parametrize(("options", "env", "terminal"), NOT_ASKED)
def test_nobody_is_asked(
    fake: FakeGitLab,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    env: dict[str, str],
    terminal: bool,
) -> None:
    out = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stdin", Terminal("csv\n"))
    monkeypatch.setattr(sys, "stdout", out)
    assert report(fake, *options, **env) == 0
    assert "Which output" not in out.getvalue()
    assert "report.csv" not in files()


def test_the_token_is_asked_for_before_the_format(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal("csv\n"))
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["report"], {}) == 2
    assert "Which output" not in out.getvalue()


# --- usage ------------------------------------------------------------------------------------

USAGE: list[Any] = [
    pytest.param(["--format", "pdf"], 'no format "pdf"', id="an unknown format"),
    pytest.param(["--pipeline", "x"], "is no pipeline", id="no pipeline"),
    pytest.param(["--jobs-limit", "0"], "1 or more", id="no jobs at all"),
    pytest.param(["--concurrency", "500"], "more than 32", id="too many at once"),
    pytest.param(["--shard", "3/2"], "--shard", id="a part that is none"),
    pytest.param(["--shard", "0/2"], "--shard", id="parts count from one"),
    pytest.param(["--shard", "1/2", "--track"], "--track and --shard", id="a part cannot track"),
    pytest.param(["--config", "no.yml"], "no.yml: no such file", id="no configuration"),
    pytest.param(["--previous", "no.json"], "no.json: no such file", id="no earlier report"),
    pytest.param(["--language", "de"], "--language", id="an unknown language"),
    pytest.param(["--bogus"], "--bogus", id="an unknown option"),
]


@pytest.mark.parametrize(("options", "words"), USAGE)
def test_usage_errors_come_before_any_call(
    fake: FakeGitLab, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    assert report(fake, *options) == 2
    assert fake.request_count == 0
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_a_link_for_a_folder_is_refused(
    fake: FakeGitLab, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "elsewhere")
    assert report(fake, "--format", "json") == 3
    assert fake.request_count == 0
    assert "--output: out is a symbolic link" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--output", "--keep-traces"])
@pytest.mark.parametrize("folder", ["notes", "notes/deeper"])
def test_a_file_for_a_folder_is_refused_before_anything_is_read(
    fake: FakeGitLab,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    folder: str,
    option: str,
) -> None:
    (tmp_path / "notes").write_text("mine", "utf-8")
    assert report(fake, "--format", "json", option, folder) == 2
    assert fake.request_count == 0
    assert f"{option}: notes is a file, not a folder. Name another" in capsys.readouterr().err


def test_a_link_for_a_report_is_replaced(fake: FakeGitLab, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine", "utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.json").symlink_to(tmp_path / "precious")
    assert report(fake, "--format", "json") == 0
    assert (tmp_path / "precious").read_text("utf-8") == "mine"


COMMANDS = [
    pytest.param([], 2, "usage: pipeline_failure_report.py", id="none"),
    pytest.param(["--help"], 0, "usage: pipeline_failure_report.py", id="help"),
    pytest.param(["reprot"], 2, 'Did you mean "report"?', id="a mistyped one"),
]


@pytest.mark.parametrize(("arguments", "status", "words"), COMMANDS)
def test_commands(
    capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, words: str
) -> None:
    assert main(arguments, {}) == status
    printed = capsys.readouterr()
    assert words in printed.out + printed.err


@pytest.mark.parametrize("command", ["report", "merge", "open-pr"])
def test_every_command_explains_itself_with_an_example(
    capsys: pytest.CaptureFixture[str], command: str
) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"], {})
    printed = capsys.readouterr().out
    assert f"example:\n  pipeline_failure_report.py {command} " in printed


# --- limits -----------------------------------------------------------------------------------


def test_a_limit_reads_so_many_and_counts_all(tmp_path: Path) -> None:
    jobs = [job(number, trace=FAILING) for number in range(1, 8)]
    with small_world(pipeline(500, DOWNSTREAM, jobs=jobs)) as server:
        assert report(server, "--jobs-limit", "3", "--format", "json") == 1
        asked = [one.path for one in server.requests if one.path.endswith("/trace")]
    data = json.loads(Path("out/report.json").read_text("utf-8"))
    assert len(asked) == 3
    assert data["checksum"] == {"failed_jobs": 7, "bucket_sum": 7}
    assert [one["id"] for one in data["unreadable"]] == [4, 5, 6, 7]
    assert {one["reason"] for one in data["unreadable"]} == {"not read: --jobs-limit 3"}
    assert [one["kind"] for one in data["remarks"]] == ["jobs-limit"]


def test_a_limit_above_the_number_changes_nothing(fake: FakeGitLab) -> None:
    assert report(fake, "--jobs-limit", "2") == 0


def test_traces_are_kept_where_asked(fake: FakeGitLab) -> None:
    assert report(fake, "--keep-traces", "kept/here") == 0
    assert files("kept/here") == {"1-cov-1.log", "2-cov-2.log"}
    assert Path("kept/here/1-cov-1.log").read_bytes() == FAILING
