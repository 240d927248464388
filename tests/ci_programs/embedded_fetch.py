"""The text of scripts/fetch_suite.py inside each component template.

A component brings no file along but its YAML, so each template carries the script word for word.
`python tests/ci_programs/embedded_fetch.py` writes it into them again.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "fetch_suite.py"
TEMPLATES = sorted(ROOT.glob("templates/*/template.yml"))
MARK = "FETCH_SUITE"


def carried(template: str) -> list[str]:
    """The scripts that a template carries, as they will be run."""
    parts = template.split(f"<<'{MARK}'\n")[1:]
    return [textwrap.dedent(part.split(f"{MARK}\n")[0].rsplit("\n", 1)[0] + "\n") for part in parts]


def embedded(template: str, script: str) -> str:
    """The template with the script in each place that is marked for it."""
    head, *parts = template.split(f"<<'{MARK}'\n")
    for part in parts:
        old, rest = part.split(f"{MARK}\n", 1)
        indent = old.rsplit("\n", 1)[-1]
        head += f"<<'{MARK}'\n{textwrap.indent(script, indent)}{indent}{MARK}\n{rest}"
    return head


if __name__ == "__main__":
    for path in TEMPLATES:
        text = path.read_text(encoding="utf-8")
        path.write_text(embedded(text, SCRIPT.read_text(encoding="utf-8")), encoding="utf-8")
