"""What a page says that a command prints, the command prints."""

from __future__ import annotations

import contextlib
import io
from importlib import import_module
from itertools import pairwise

import pytest

from ci_programs import command_lines, pages
from ci_programs.pages import PAGES, Block, Command
from ci_programs.suite import ROOT

LEFT_OUT = "…"


def printed_by(block: Block) -> Command | None:
    """The command of the shell block right before a block of text: the last one in it."""
    both = pages.blocks(block.page, "sh", "text")
    before = next((one for one, other in pairwise(both) if other == block), None)
    if before is None or before.language != "sh":
        return None
    lines = before.text.splitlines()
    return ([None, *(one for line in lines for one in pages.started(line, str(before)))])[-1]


SHOWN = [
    (block, command)
    for page in PAGES
    for block in pages.blocks(page, "text")
    if (command := printed_by(block)) is not None
]


def output_of(command: Command) -> list[str]:
    main = import_module(f"ciops.{command_lines.TOOLS[command.tool]}.app").main
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(list(command.words), {}) == 0
    return printed.getvalue().splitlines()


@pytest.mark.parametrize(("block", "command"), SHOWN, ids=str)
def test_a_page_shows_what_is_printed(
    block: Block, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    printed = iter(output_of(command))
    for line in block.text.splitlines():
        assert line == LEFT_OUT or any(line == other for other in printed), line


def test_outputs_are_shown() -> None:
    assert {block.page.name for block, _ in SHOWN} >= {
        "writing-a-policy.md",
        "writing-bucket-rules.md",
    }
