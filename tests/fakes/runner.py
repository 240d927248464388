"""What GitHub's runner makes of a job's output and files."""

from __future__ import annotations

import re
from pathlib import Path


def acting(lines: list[str]) -> list[str]:
    """What a runner would obey: commands outside of a stop-commands pair."""
    found = []
    token = ""
    for line in lines:
        stop = re.match(r"\s*::stop-commands::(.*)", line)
        if token:
            token = "" if line == f"::{token}::" else token
        elif stop:
            token = stop.group(1)
        elif re.match(r"\s*::", line) or "##[" in line:
            found.append(line)
    assert not token, "commands stay stopped"
    return found


def github_outputs(path: Path) -> dict[str, str]:
    """As the runner reads GITHUB_OUTPUT."""
    found: dict[str, str] = {}
    lines = path.read_text(encoding="utf-8").split("\n")
    while lines and lines[0]:
        name, delimiter = lines.pop(0).split("<<", 1)
        value = []
        while lines[0] != delimiter:
            value.append(lines.pop(0))
        lines.pop(0)
        found[name] = "\n".join(value)
    return found
