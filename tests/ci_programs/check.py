"""The files that people install and copy, read by the linters of their hosts.

PYTHONPATH=tests python -m ci_programs.check
"""

from __future__ import annotations

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
# What each published schema is for, by patterns below the repository.
SCHEMAS = {
    "config/issue-triage/policy.schema.json": [
        "config/issue-triage/*.yml",
        "examples/*/policy.yml",
    ],
    "config/pipeline-failure-report/schema.json": [
        "config/pipeline-failure-report/*.yml",
        "examples/*/failure-rules.yml",
    ],
    "config/post-mortem-render/prose.schema.json": ["config/post-mortem-render/prose.yml"],
    "config/post-mortem-render/prose-rules.schema.json": ["config/post-mortem-render/prose.??.yml"],
    "config/post-mortem-render/sections.schema.json": ["config/post-mortem-render/sections.yml"],
    "config/post-mortem-render/settings.schema.json": ["config/post-mortem-render/settings.yml"],
    "config/post-mortem-render/record.schema.json": ["examples/post-mortem*.yml"],
}


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
    """Policies, rules, settings and records against the schemas that editors use."""
    clean, left = True, set(ROOT.glob("config/*/*.yml"))
    for schema_file, patterns in SCHEMAS.items():
        files = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
        command = [BIN / "check-jsonschema", "--schemafile", ROOT / schema_file, *files]
        clean &= lint(schema_file, command)
        left -= set(files)
    for path in sorted(left):
        print(f"{path.relative_to(ROOT)}: no schema is for it")
    return clean and not left


if __name__ == "__main__":
    sys.exit(main())
