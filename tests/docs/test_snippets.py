"""Snippets that people copy: the linters of their hosts take them, and they call what is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci_programs import manifests, pages
from ci_programs.pages import PAGES, Block
from ci_programs.suite import BIN, ROOT, plain_environment, run

BLOCKS = [block for page in PAGES for block in pages.blocks(page, "yaml")]
GITHUB = [block for block in BLOCKS if re.search(r"^ {4}(?:runs-on|uses):", block.text, re.M)]
GITLAB = [block for block in BLOCKS if block.text.startswith("include:")]
# Pages whose snippets are parts of a file that the suite ships and checks.
EXAMPLES = {
    "writing-a-policy.md": ROOT / "examples/own-policy/policy.yml",
    "writing-bucket-rules.md": ROOT / "examples/own-rules/failure-rules.yml",
}
FRAGMENTS = [block for block in BLOCKS if block.page.name in EXAMPLES]
COMPONENT = re.compile(r"^\$CI_SERVER_FQDN/org/triage-action/([a-z-]+)@v1$")


def data_of(block: Block) -> Any:
    return yaml.load(block.text, manifests.Loader)


def workflow_of(block: Block) -> str:
    """A whole workflow around jobs; jobs that they wait for are made up."""
    needed = {name for job in data_of(block)["jobs"].values() for name in job.get("needs", [])}
    made_up = [f"  {name}:\n    runs-on: x\n    steps: [{{run: 'true'}}]\n" for name in needed]
    made_up = [text.replace("runs-on: x", "runs-on: ubuntu-24.04") for text in made_up]
    return f"on: workflow_dispatch\n{block.text}{''.join(made_up)}"


def test_the_readme_has_one_of_each_tool_and_host() -> None:
    readme = [block for block in [*GITHUB, *GITLAB] if block.page.name == "README.md"]
    assert len(readme) == 2 * len(pages.TOOLS)


def test_every_snippet_is_tried() -> None:
    assert {str(block) for block in BLOCKS} == {
        str(block) for block in [*GITHUB, *GITLAB, *FRAGMENTS]
    }


@pytest.mark.parametrize("block", GITHUB, ids=str)
class TestGitHub:
    def test_actionlint_takes_it(self, block: Block, tmp_path: Path) -> None:
        path = tmp_path / "snippet.yml"
        path.write_text(workflow_of(block), encoding="utf-8")
        done = run([str(BIN / "actionlint"), str(path)], plain_environment(), tmp_path)
        assert done.returncode == 0, done.stdout

    def test_it_gives_inputs_that_are_there(self, block: Block) -> None:
        for job in data_of(block)["jobs"].values():
            called = re.search(r"workflows/([a-z-]+)\.yml@v1$", job.get("uses", ""))
            if called:
                takes = manifests.workflow(called[1])["on"]["workflow_call"]["inputs"]
                assert set(job["with"]) <= set(takes)
            for step in job.get("steps", []):
                _action_has(step)

    def test_it_gives_the_least_permissions(self, block: Block) -> None:
        for job in data_of(block)["jobs"].values():
            assert isinstance(job["permissions"], dict)
        for line in block.text.splitlines():
            if re.fullmatch(r"      [a-z-]+: (?:read|write).*", line):
                assert " # " in line, f"say what it is for: {line.strip()}"


def _action_has(step: dict[str, Any]) -> None:
    found = re.fullmatch(r"org/triage-action(?:/([a-z-]+))?@v1", step["uses"])
    if found:
        assert set(step.get("with", {})) <= set(
            manifests.action(found[1] or "issue-triage")["inputs"]
        )
    else:
        assert re.search(r"@[0-9a-f]{40}$", step["uses"]), "pin the actions of others"


@pytest.mark.parametrize("block", GITLAB, ids=str)
def test_a_component_has_the_inputs_that_it_is_given(block: Block) -> None:
    for one in data_of(block)["include"]:
        found = COMPONENT.match(one["component"])
        assert found, one
        takes = manifests.component(found[1]).inputs
        assert set(one["inputs"]) <= set(takes)
        assert {name for name, field in takes.items() if "default" not in field} <= set(
            one["inputs"]
        )


def differences(part: Any, whole: Any, place: str = "") -> list[str]:
    """Where a snippet says something else than the file that it is taken from."""
    if isinstance(part, dict) and isinstance(whole, dict):
        missing = [f"{place}.{key}" for key in part if key not in whole]
        inside = (
            differences(part[key], whole[key], f"{place}.{key}") for key in part if key in whole
        )
        return missing + [one for found in inside for one in found]
    if isinstance(part, list) and isinstance(whole, list):
        return [f"{place}[{n}]" for n, item in enumerate(part) if not _among(item, whole)]
    return [] if part == whole else [place]


def _among(item: Any, whole: list[Any]) -> bool:
    return any(not differences(item, other) for other in whole)


@pytest.mark.parametrize("block", FRAGMENTS, ids=str)
def test_a_fragment_is_part_of_the_example(block: Block) -> None:
    (example,) = manifests.read(EXAMPLES[block.page.name])
    part = data_of(block)
    if set(part) == {"signals"}:
        parts = example["components"].values()
        assert any(not differences(part, one) for one in parts)
    else:
        assert differences(part, example) == []


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ({"a": [1]}, []),
        ({"a": [{"b": 2}]}, []),
        ({"a": [3]}, [".a[0]"]),
        ({"c": 1}, [".c"]),
        ({"d": {"e": 5}}, [".d.e"]),
    ],
)
def test_a_difference_is_seen(part: dict[str, Any], found: list[str]) -> None:
    whole = {"a": [1, {"b": 2, "x": 0}], "d": {"e": 4}}
    assert differences(part, whole) == found
