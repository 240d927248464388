"""action.yml, template.yml and the command line say the same."""

from __future__ import annotations

import re

import pytest

from ci_programs import command_lines, manifests
from ci_programs.suite import ROOT

TOOLS = tuple(command_lines.TOOLS)
# What a manifest has beyond the options: the command line's words, and credentials by their names.
WORDS = {"command", "paths"}
CREDENTIALS = {
    "token": "GITHUB_TOKEN",
    "gitlab-token": "GITLAB_TOKEN",
    "jira-base-url": "JIRA_BASE_URL",
    "jira-cloud-id": "JIRA_CLOUD_ID",
    "jira-email": "JIRA_EMAIL",
    "jira-api-token": "JIRA_API_TOKEN",
    "jira-pat": "JIRA_PAT",
}
# Of commands that work on files of a laptop, without network: no job of a CI runs them.
OFFLINE = {
    "issue-triage": {"decide"},
    "pipeline-failure-report": set(),
    "post-mortem-render": set(),
}
# What a component has beyond the options: where the job stands, and where the suite comes from.
PLACES = {"job-name", "stage", "image", "version", "archive", "sha256", "checkout", "shards"}


def variable(option: str) -> str:
    return f"INPUT_{option.upper().replace('-', '_')}"


@pytest.mark.parametrize("tool", TOOLS)
class TestActions:
    def test_every_option_is_an_input_and_every_input_an_option(self, tool: str) -> None:
        wanted = {
            option
            for command in command_lines.commands(tool)
            if command not in OFFLINE.get(tool, set())
            for option in command_lines.options(tool, command)
        }
        assert set(manifests.action(tool)["inputs"]) - WORDS - set(CREDENTIALS) == wanted

    def test_every_input_reaches_the_script_by_its_variable(self, tool: str) -> None:
        action = manifests.action(tool)
        env = action["runs"]["steps"][0]["env"]
        for name in action["inputs"]:
            assert f"inputs.{name}" in env[CREDENTIALS.get(name, variable(name))], name
        assert len(env) == len(action["inputs"])

    def test_every_input_and_output_is_described(self, tool: str) -> None:
        action = manifests.action(tool)
        for name, field in {**action["inputs"], **action["outputs"]}.items():
            assert field["description"].endswith("."), name
        for name, field in action["inputs"].items():
            assert "required" not in field, f"{name}: GitHub does not enforce it"

    def test_the_commands_are_the_tool_s(self, tool: str) -> None:
        described = manifests.action(tool)["inputs"]["command"]
        words = re.split(r", | or ", described["description"].partition(": ")[2].rstrip("."))
        assert set(words) == set(command_lines.commands(tool)) - OFFLINE.get(tool, set())
        assert described["default"] in words

    def test_nothing_is_spliced_into_a_shell(self, tool: str) -> None:
        for step in manifests.action(tool)["runs"]["steps"]:
            assert "${{" not in step["run"]
            assert step["shell"] == "bash"

    def test_the_outputs_come_from_the_step(self, tool: str) -> None:
        action = manifests.action(tool)
        for name, field in action["outputs"].items():
            assert field["value"] == f"${{{{ steps.run.outputs.{name} }}}}"

    def test_the_tool_writes_every_output(self, tool: str) -> None:
        package = ROOT / "scripts" / "ciops" / command_lines.TOOLS[tool]
        code = "\n".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
        written = set(re.findall(r'output\(\s*"([a-z-]+)"', code))
        assert set(manifests.action(tool)["outputs"]) == written

    def test_a_token_is_never_passed_as_an_option(self, tool: str) -> None:
        env = manifests.action(tool)["runs"]["steps"][0]["env"]
        secret = {name for name, value in env.items() if "token" in value or "-pat" in value}
        assert all(not name.startswith("INPUT_") for name in secret)


@pytest.mark.parametrize("tool", TOOLS)
class TestComponents:
    def test_every_input_is_an_option_or_a_place(self, tool: str) -> None:
        inputs = set(manifests.component(tool).inputs)
        extra = {"record", "environment"} if tool == "post-mortem-render" else set()
        assert inputs - PLACES - extra <= command_lines.all_options(tool)

    def test_every_option_of_its_command_is_an_input(self, tool: str) -> None:
        component = manifests.component(tool)
        command = component.main["variables"]["INPUT_COMMAND"]
        # On GitLab labels take no suggestions, the forge is where it runs, shards are a count.
        elsewhere = {"shard", "suggest", "forge", "gitlab-url"}
        wanted = command_lines.options(tool, command) - elsewhere
        assert wanted <= set(component.inputs)

    def test_every_input_reaches_the_script_by_its_variable(self, tool: str) -> None:
        component = manifests.component(tool)
        variables = component.main["variables"]
        options = set(component.inputs) & command_lines.all_options(tool)
        for name in options:
            assert variables[variable(name)] == f"$[[ inputs.{name} ]]", name

    def test_every_input_is_described_and_used(self, tool: str) -> None:
        component = manifests.component(tool)
        used = set(re.findall(r"\$\[\[ inputs\.([a-z0-9-]+) \]\]", str(component.jobs)))
        assert used == set(component.inputs)
        for name, field in component.inputs.items():
            assert field["description"].endswith("."), name
            assert "default" in field or name == "record"

    def test_the_choices_are_those_of_the_action(self, tool: str) -> None:
        described = manifests.action(tool)["inputs"]
        for name, field in manifests.component(tool).inputs.items():
            for choice in field.get("options", ()):
                assert choice in described[name]["description"], f"{name}: {choice}"

    def test_its_defaults_are_those_of_the_action(self, tool: str) -> None:
        action = manifests.action(tool)["inputs"]
        for name, field in manifests.component(tool).inputs.items():
            if name in action and name not in {"format", "to", "verify", "language"}:
                default = str(field["default"]).lower() if "default" in field else ""
                assert default == action[name].get("default", ""), name
