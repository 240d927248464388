"""Option tables in the documentation are what the manifests say."""

from __future__ import annotations

import pytest

from ci_programs import command_lines, manifests
from ci_programs.option_tables import BLOCK, KINDS, PAGES, table, written
from ci_programs.suite import ROOT

OPTIONS = ROOT / "docs/options.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_up_to_date(page: object) -> None:
    text = page.read_text(encoding="utf-8")
    assert written(text) == text, "run `make manifests`"


def test_the_options_page_has_every_table_of_inputs() -> None:
    found = {(kind, tool) for _, kind, tool, _, _ in BLOCK.findall(OPTIONS.read_text("utf-8"))}
    inputs = set(KINDS) - {"commands"}
    assert found == {(kind, tool) for kind in inputs for tool in command_lines.TOOLS}


@pytest.mark.parametrize("tool", command_lines.TOOLS)
def test_the_page_of_a_tool_has_its_commands(tool: str) -> None:
    text = (ROOT / f"docs/{tool}.md").read_text("utf-8")
    assert f"<!-- options: commands {tool} -->" in text
    for name in command_lines.commands(tool):
        assert f"| `{name}` |" in text


def test_a_table_that_says_something_else_is_made_anew() -> None:
    page = "a\n<!-- options: outputs issue-triage -->\nold\n<!-- /options -->\nz\n"
    made = written(page)
    assert "old" not in made
    assert made.startswith("a\n<!-- options: outputs issue-triage -->\n| output | what it is |\n")
    assert made.endswith("|\n<!-- /options -->\nz\n")
    assert written(made) == made


@pytest.mark.parametrize("tool", command_lines.TOOLS)
def test_a_row_for_every_input(tool: str) -> None:
    rows = table("action", tool).splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == list(manifests.action(tool)["inputs"])


@pytest.mark.parametrize(
    ("row", "tool"),
    [
        pytest.param(
            "| `record` | The record, a YAML file in the project. | string | required |",
            "post-mortem-render",
            id="required",
        ),
        pytest.param(
            "| `language` | Language of the report. | en, fr, ja | `en` |",
            "pipeline-failure-report",
            id="choices",
        ),
        pytest.param("| boolean | `false` |", "issue-triage", id="a type"),
    ],
)
def test_what_a_row_says(row: str, tool: str) -> None:
    assert row in table("component", tool)


def test_a_table_of_what_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        written("<!-- options: nothing issue-triage -->\n<!-- /options -->")
