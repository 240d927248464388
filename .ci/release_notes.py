"""Print what CHANGELOG.md says of one version: python3 .ci/release_notes.py v1.2.3

Exit status 2 when it says nothing: a release without notes is a mistake.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).resolve().parents[1] / "CHANGELOG.md"


def notes(changelog: str, version: str) -> str:
    """The text below `## 1.2.3 …`, up to the next version; "" when there is none."""
    number = re.escape(version.removeprefix("v"))
    found = re.search(rf"^## \[?v?{number}\]?(?: .*)?$\n(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    return found.group(1).strip() if found else ""


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("Name one version, as in v1.2.3.", file=sys.stderr)
        return 2
    text = notes(CHANGELOG.read_text(encoding="utf-8"), arguments[0])
    if not text:
        print(f"{CHANGELOG.name} has no section for {arguments[0]}. Write it.", file=sys.stderr)
        return 2
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
