"""Where a tool ends: every error is one sentence, a bug can be pasted, no secret is in either."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from ciops.errors import PartialError, RefusedError, ServiceError, UsageError
from ciops.plumbing.entry import Arguments, Environment, Tool, run

SECRET = "s3cret-token"
ENV = {"GITHUB_TOKEN": SECRET}


def failing(error: BaseException) -> Callable[[Arguments, Environment], int]:
    def command(arguments: Arguments, env: Environment) -> int:
        raise error

    return command


def tool(error: BaseException | None = None, **more: object) -> Tool:
    command = (lambda arguments, env: 7) if error is None else failing(error)
    return Tool(
        "some-tool", "usage: some_tool.py COMMAND", {"go": command, "merge": command}, **more
    )  # type: ignore[arg-type]


def test_a_command_gets_the_rest_of_the_arguments() -> None:
    heard: list[tuple[Arguments, Environment]] = []
    told = Tool("t", "u", {"go": lambda arguments, env: heard.append((arguments, env)) or 3})
    assert run(told, ["go", "--x", "1"], {"A": "b"}) == 3
    assert heard == [(["--x", "1"], {"A": "b"})]


@pytest.mark.parametrize(
    ("given", "status"), [([], 2), (["-h"], 0), (["--help"], 0), (["help"], 0)]
)
def test_usage(given: list[str], status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tool(), given, {}) == status
    assert capsys.readouterr().out == "usage: some_tool.py COMMAND\n"


@pytest.mark.parametrize(
    ("name", "step"),
    [("mergee", 'Did you mean "merge"?'), ("zzz\x1b[31m\n::error::", "Commands are: go, merge")],
)
def test_an_unknown_command(name: str, step: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tool(), [name], {}) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: there is no command ")
    assert step in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "status"),
    [(PartialError, 1), (UsageError, 2), (RefusedError, 3), (ServiceError, 4)],
)
def test_an_error_is_one_sentence_and_its_status(
    error: type[UsageError], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tool(error(f"no {SECRET}", "Mend it")), ["go"], ENV) == status
    assert capsys.readouterr().err == "error: no ***. Mend it\n"


def test_a_bug_can_be_pasted_and_holds_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    told = tool(
        ZeroDivisionError(f"with {SECRET} and hunter2"), hide=lambda s: s.replace("hunter2", "…")
    )
    assert run(told, ["go"], ENV) == 1
    said = "".join(capsys.readouterr())
    assert "ZeroDivisionError: with *** and …" in said
    assert "this is a bug in some-tool. Please report it" in said
    assert SECRET not in said


def test_an_error_stands_in_the_job_summary_as_text(tmp_path: Path) -> None:
    env = {**ENV, "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "step.md")}
    run(tool(UsageError(f"<b>@team</b> {SECRET} x"), summarises=True), ["go"], env)
    assert (tmp_path / "step.md").read_text() == r"**\<b\>\@<!-- -->team\</b\> *** x**" + "\n\n"


def test_a_signal_ends_it_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    def command(arguments: Arguments, env: Environment) -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        return 0

    told = Tool("t", "u", {"go": command})
    assert run(told, ["go"], {}) == 1
    assert "SIGTERM: stopped before the end. Run it again" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
