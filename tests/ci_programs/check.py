"""The files that people install and copy, read by the linters of their hosts.

PYTHONPATH=tests python -m ci_programs.check
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from ci_programs import gitlab
from ci_programs.manifests import EXAMPLES, WORKFLOWS
from ci_programs.suite import BIN, ROOT, plain_environment, run

ACTIONS = [ROOT / "action.yml", *sorted(ROOT.glob("*/action.yml"))]
GITLAB_EXAMPLES = [ROOT / ".gitlab-ci.yml", *sorted((ROOT / "examples/gitlab").glob("*.yml"))]
EDITED = [ROOT / "config", ROOT / "examples", ROOT / ".github", ROOT / ".gitlab-ci.yml", *ACTIONS]
SCRIPTS = [ROOT / "scripts/start.sh", ROOT / ".ci/run"]
MODELINE = re.compile(r"^# yaml-language-server: \$schema=(\S+)$", re.MULTILINE)


def main() -> int:
    """Run every linter, say what each found, and fail if one found anything."""
    checks = [
        lint("actionlint", [BIN / "actionlint", *WORKFLOWS, *EXAMPLES]),
        lint("zizmor", [BIN / "zizmor", "--offline", "-q", "--persona=auditor", ".", *EXAMPLES]),
        schema("vendor.github-actions", ACTIONS),
        schema("vendor.github-workflows", [*WORKFLOWS, *EXAMPLES]),
        schema("vendor.dependabot", [ROOT / ".github/dependabot.yml"]),
        gitlab_files(),
        lint("yamllint", [BIN / "yamllint", "--strict", *EDITED]),
        lint("shellcheck", [BIN / "shellcheck", *SCRIPTS]),
        own_schemas(),
    ]
    return 0 if all(checks) else 1


def lint(name: str, command: list[Path | str]) -> bool:
    done = run([str(word) for word in command], plain_environment(NO_COLOR="1"), ROOT)
    print(f"{name}: {'clean' if done.returncode == 0 else 'see below'}")
    if done.returncode:
        print(done.stdout + done.stderr)
    return done.returncode == 0


def schema(name: str, files: Iterable[Path]) -> bool:
    """Files against a schema that check-jsonschema brings along."""
    return lint(name, [BIN / "check-jsonschema", "--builtin-schema", name, *files])


def gitlab_files() -> bool:
    """Each file as GitLab would merge it, components and nested files included."""
    clean = True
    with tempfile.TemporaryDirectory() as folder:
        remotes = gitlab.publish(Path(folder))
        for path in GITLAB_EXAMPLES:
            name = path.stem.split(".")[0] or "own"
            own = remotes / "org/triage-action.git"
            text = path.read_text(encoding="utf-8")
            project = (
                gitlab.Project(own, remotes)
                if name == "own"
                else gitlab.project(Path(folder) / name, remotes, text)
            )
            clean &= _merged_is_valid(project, name)
    return clean


def _merged_is_valid(project: gitlab.Project, name: str) -> bool:
    # The examples' own rules ask for changed files, which a fresh repository has not.
    preview = project.run("--preview", "--no-evaluate-rule-changes")
    if preview.returncode:
        print(f"gitlab-ci-local {name}: see below\n{preview.stdout}{preview.stderr}")
        return False
    merged = project.folder / "merged.yml"
    merged.write_text(preview.stdout, encoding="utf-8")
    command = [BIN / "check-jsonschema", "--builtin-schema", "vendor.gitlab-ci"]
    return lint(f"vendor.gitlab-ci {name}", [*command, "--data-transform", "gitlab-ci", merged])


def own_schemas() -> bool:
    """Policies, rules and records against the schema that their first line names for editors."""
    clean = True
    for path in sorted([*ROOT.glob("config/**/*.yml"), *ROOT.glob("examples/**/*.yml")]):
        named = MODELINE.search(path.read_text(encoding="utf-8"))
        if named:
            file = path.parent / named[1]
            command = [BIN / "check-jsonschema", "--schemafile", file, path]
            clean &= lint(f"{file.name} {path.name}", command)
    return clean


if __name__ == "__main__":
    sys.exit(main())
