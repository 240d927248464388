"""The option tables of the documentation, made from the manifests.

A page holds `<!-- options: action issue-triage -->` and `<!-- /options -->` (also `component`,
`outputs` and `commands`); between them stands what the manifest, or the tool's --help, says.
`make manifests` writes the tables again.
"""

from __future__ import annotations

import re
from typing import Any

from ci_programs import command_lines, manifests
from ci_programs.suite import ROOT

PAGES = sorted([*ROOT.glob("README*.md"), *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"(<!-- options: (\w+) ([a-z-]+) -->\n)(.*?)(<!-- /options -->)", re.DOTALL)


def written(page: str) -> str:
    """The page with every table made anew."""
    return BLOCK.sub(lambda found: found[1] + table(found[2], found[3]) + found[5], page)


def table(kind: str, tool: str) -> str:
    """One table; KeyError for a kind that there is not."""
    head, fields = KINDS[kind](tool)
    rows = [f"| `{name}` | {' | '.join(cells)} |" for name, cells in fields.items()]
    return "\n".join([f"| {head} |", f"|{'---|' * (head.count('|') + 1)}", *rows]) + "\n"


Table = tuple[str, dict[str, list[str]]]


def _action(tool: str) -> Table:
    fields = manifests.action(tool)["inputs"]
    return "input | what it is | default", {
        name: [_text(field["description"]), _default(field)] for name, field in fields.items()
    }


def _outputs(tool: str) -> Table:
    fields = manifests.action(tool)["outputs"]
    return "output | what it is", {
        name: [_text(field["description"])] for name, field in fields.items()
    }


def _component(tool: str) -> Table:
    fields = manifests.component(tool).inputs
    return "input | what it is | type | default", {
        name: [
            _text(field["description"]),
            _type(field),
            _default(field) if "default" in field else "required",
        ]
        for name, field in fields.items()
    }


def _commands(tool: str) -> Table:
    about = command_lines.about(tool)
    return "command | what it does | takes", {
        name: [_text(words), f"`{_text(command_lines.usage(tool, name))}`"]
        for name, words in about.items()
    }


KINDS = {
    "action": _action,
    "component": _component,
    "outputs": _outputs,
    "commands": _commands,
}


def _type(field: dict[str, Any]) -> str:
    return ", ".join(field["options"]) if "options" in field else field.get("type", "string")


def _default(field: dict[str, Any]) -> str:
    value = field.get("default", "")
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{text}`" if text else ""


def _text(description: str) -> str:
    return description.replace("|", "\\|")


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
