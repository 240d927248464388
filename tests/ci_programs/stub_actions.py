"""What stands in for GitHub's own actions under act: artifacts and caches are folders."""

from __future__ import annotations

import re
from pathlib import Path

from ci_programs.manifests import WORKFLOWS
from ci_programs.suite import ROOT

STORE = """
name: stub
description: Stands in for {name}.
inputs:
  name: {{description: "-"}}
  pattern: {{description: "-"}}
  path: {{description: "-"}}
  key: {{description: "-"}}
runs:
  using: composite
  steps:
    - shell: bash
      env:
        NAME: ${{{{ inputs.name }}}}
        PATTERN: ${{{{ inputs.pattern }}}}
        FOLDER: ${{{{ inputs.path }}}}
      run: |
        {script}
"""
SCRIPTS = {
    "actions/upload-artifact": 'mkdir -p "$STORE/$NAME" && cp -r "$FOLDER/." "$STORE/$NAME/"',
    "actions/download-artifact": (
        'mkdir -p "$FOLDER" && if [ -n "$NAME" ]; then cp -r "$STORE/$NAME/." "$FOLDER/"; '
        'else cp -r "$STORE"/$PATTERN "$FOLDER/"; fi'
    ),
    "actions/cache/restore": 'if [ -d "$STORE/cache" ]; then cp -r "$STORE/cache" "$FOLDER"; fi',
    "actions/cache/save": 'rm -rf "$STORE/cache" && cp -r "$FOLDER" "$STORE/cache"',
}


def stand_ins(folder: Path) -> dict[str, Path]:
    """Folders of stand-ins by the references that the workflows pin."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    found: dict[str, Path] = {}
    for name, script in SCRIPTS.items():
        owner, repository, *below = name.split("/")
        (pin,) = set(re.findall(rf"uses: {name}@(\w+)", text))
        found[f"{owner}/{repository}@{pin}"] = folder / repository
        target = folder / repository / "/".join(below)
        target.mkdir(parents=True, exist_ok=True)
        text_of = STORE.format(name=name, script=script)
        (target / "action.yml").write_text(text_of, encoding="utf-8")
    return found


def runnable(name: str) -> str:
    """A reusable workflow as act can run it: it does not know `$/`, a path of the same commit."""
    text = (ROOT / ".github/workflows" / f"{name}.yml").read_text(encoding="utf-8")
    text = re.sub(r"uses: \$/\.$", "uses: org/triage-action@v1", text, flags=re.MULTILINE)
    return re.sub(
        r"uses: \$/([a-z-]+)$", r"uses: org/triage-action/\1@v1", text, flags=re.MULTILINE
    )
