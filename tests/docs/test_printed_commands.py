"""Commands that pages and --help print are ones that the tools take."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ci_programs import command_lines, pages
from ci_programs.pages import PAGES, Command
from ci_programs.suite import ROOT

PRINTED = [command for page in PAGES for command in pages.commands(page)]
OURS = re.compile(r"(?:examples|config|tests|docs|scripts)/[\w./-]*")
HELPS = [
    (tool, command)
    for tool in command_lines.TOOLS
    for command in ("", *command_lines.commands(tool))
]


def told_apart(command: Command) -> tuple[str, list[str]]:
    """The command and the words behind it; `policy check` is one of two words."""
    for known in command_lines.commands(command.tool):
        words = known.split()
        if list(command.words[: len(words)]) == words:
            return known, list(command.words[len(words) :])
    return "", list(command.words)


def wrong(command: Command) -> list[str]:
    """What a tool would not take of a command."""
    name, words = told_apart(command)
    if not name:
        return [f"{command.tool} has no command {words[0]}"]
    given = {word[2:].partition("=")[0] for word in words if word.startswith("--")}
    problems = [
        f"{name} has no --{one}" for one in given - command_lines.options(command.tool, name)
    ]
    return problems + [f"{word} is not there" for word in words if is_missing(word)]


def is_missing(word: str) -> bool:
    """A file or folder of this repository that is not there."""
    return bool(OURS.fullmatch(word)) and not (ROOT / word).exists()


@pytest.mark.parametrize("command", PRINTED, ids=str)
def test_a_printed_command_is_taken(command: Command) -> None:
    assert wrong(command) == []


def test_pages_print_every_command_that_people_type() -> None:
    printed = {(command.tool, told_apart(command)[0]) for command in PRINTED}
    by_ci_alone = {("issue-triage", "merge"), ("pipeline-failure-report", "merge")}
    all_of_them = {
        (tool, name) for tool in command_lines.TOOLS for name in command_lines.commands(tool)
    }
    assert all_of_them - by_ci_alone - printed == set()


@pytest.mark.parametrize(("tool", "command"), HELPS)
def test_help_ends_with_an_example_that_is_taken(tool: str, command: str) -> None:
    text = command_lines.help_of(tool, command)
    example = text.partition("example:")[2].replace("\\\n", " ")
    found = list(pages.started(" ".join(example.split()), "--help"))
    assert len(found) == 1
    assert wrong(found[0]) == []
    assert not command or told_apart(found[0])[0] == command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_has_what_a_page_asks_it_for(page: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    asked = re.findall(r"(?:`|^)make ([a-z]+)", page.read_text("utf-8"), re.MULTILINE)
    assert set(asked) <= targets


@pytest.mark.parametrize(
    ("line", "problems"),
    [
        ("issue_triage.py run --sweep --dry-run", []),
        ("issue_triage.py policy check config/issue-triage/pytorch-distributed.yml", []),
        ("issue_triage.py rum --sweep", ["issue-triage has no command rum"]),
        ("issue_triage.py decide x.json --sweep", ["decide has no --sweep"]),
        ("issue_triage.py policy check config/no.yml", ["config/no.yml is not there"]),
    ],
)
def test_what_is_wrong_with_a_command(line: str, problems: list[str]) -> None:
    (command,) = pages.started(line, "here")
    assert wrong(command) == problems
