"""Run one of the tools with its locked packages, installing them when they are not there yet.

    python3 -I scripts/launch.py issue_triage run --sweep
    python3 -I scripts/launch.py issue_triage              # the command and its paths as inputs

The packages of `requirements.txt` land in a directory whose name is the hash of that lock, the
Python version and the platform. Such a directory is made aside and renamed, so it is whole
whenever it exists: the next start installs nothing. A CI job hands its inputs over as
`INPUT_<NAME>`; `INPUT_COMMAND` and `INPUT_PATHS` (one a line) are read here, the options by the
tool. Only the standard library is used. `-I` keeps the workspace's own modules (a `pip.py`, say)
out of the way.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent
LOCK = SCRIPTS.parent / "requirements.txt"
TOOLS = ("issue_triage", "pipeline_failure_report", "post_mortem_render")
OLDEST_PYTHON = (3, 11)
EXIT_USAGE = 2
EXIT_SERVICE = 4


def main(arguments: list[str]) -> int:
    """Start the tool named first; the rest is its command line."""
    if sys.version_info < OLDEST_PYTHON:
        version = sys.version.split()[0]
        step = "Install one, or name it in the job"
        return refused(f"triage-action needs Python 3.11 or newer, this is {version}. {step}.")
    tool = arguments[0].replace("-", "_") if arguments else ""  # pages call it issue-triage
    if tool not in TOOLS:
        return refused(f"Say which tool to run: {', '.join(TOOLS)}.")
    rest = arguments[1:] or from_inputs(dict(os.environ))
    try:
        os.environ["TRIAGE_ACTION_SITE"] = str(packages(cache_roots(dict(os.environ))))
    except CannotInstall as fault:
        step = "Check the network, a pip configuration or mirror, and TRIAGE_ACTION_CACHE"
        return refused(f"triage-action could not start: {fault}. {step}, then rerun.", EXIT_SERVICE)
    entry = SCRIPTS / f"{tool}.py"
    sys.argv = [str(entry), *rest]
    runpy.run_path(str(entry), run_name="__main__")
    return 0


def refused(sentence: str, status: int = EXIT_USAGE) -> int:
    """Say it where a person looks: on GitHub as an annotation, else on stderr."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        print("::error::" + sentence.replace("%", "%25").replace("\n", "%0A"))
    else:
        print(sentence, file=sys.stderr)
    return status


def from_inputs(environ: dict[str, str]) -> list[str]:
    """The command and the paths of a CI job's inputs: `policy check` and one path a line."""
    import glob

    arguments = environ.get("INPUT_COMMAND", "").split()
    for line in environ.get("INPUT_PATHS", "").splitlines():
        path = line.strip()
        path = f"./{path}" if path.startswith("-") else path  # no option, whatever it is called
        arguments += sorted(glob.glob(path, recursive=True)) or ([path] if path else [])  # noqa: PTH207
    return arguments


def cache_roots(environ: dict[str, str]) -> list[Path]:
    """Where package directories may live, best first: one's own, the runner's, this job's."""
    if environ.get("TRIAGE_ACTION_CACHE"):
        return [Path(environ["TRIAGE_ACTION_CACHE"]) / "triage-action"]
    if environ.get("GITLAB_CI"):
        project = Path(environ.get("CI_PROJECT_DIR", "."))
        project = project if project.is_dir() else Path.cwd()  # a local runner's is not there
        return [project.resolve() / ".cache" / "triage-action"]
    runner = [environ.get(name) for name in ("RUNNER_TOOL_CACHE", "RUNNER_TEMP")]
    homes = [Path(folder) for folder in runner if folder]
    if not homes:
        homes = [Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")]
    return [home / "triage-action" for home in homes]


def packages(roots: list[Path]) -> Path:
    """The directory that holds the lock's packages, installed in the first root that takes it."""
    name = site_name(LOCK.read_bytes())
    for root in roots:
        if os.path.isdir(root / name):  # noqa: PTH112 - False for what cannot be looked at, too
            return root / name
    problem = ""
    for root in roots:
        try:
            return install(root / name)
        except OSError as fault:  # a container's user may not write the runner's tool cache
            problem = f"{root} cannot be written ({fault.strerror})"
    raise CannotInstall(problem)


def site_name(lock: bytes) -> str:
    """What the directory of one lock on one Python, platform and C library is called."""
    from hashlib import sha256
    from importlib.machinery import EXTENSION_SUFFIXES
    from sysconfig import get_platform

    abi = EXTENSION_SUFFIXES[0].split(".")[1]  # tells musl from glibc; get_platform() does not
    return f"{get_platform()}-{abi}-{sha256(lock).hexdigest()[:16]}"


def install(site: Path) -> Path:
    """Install the lock into `site`: made aside, then renamed, so that it is never half there."""
    import shutil
    import tempfile

    site.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix="installing-", dir=site.parent))
    try:
        pip_install(aside)
        aside.chmod(0o755)
        aside.rename(site)
    except OSError:
        if not site.is_dir():  # else another job was quicker, and its directory is the same
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return site


class CannotInstall(Exception):  # noqa: N818 - it reads as a sentence where it is caught
    """The packages are not to be had; the words say why."""


def pip_install(target: Path) -> None:
    """Let pip put the hashed wheels of the lock into `target`."""
    import subprocess
    from importlib.util import find_spec

    if find_spec("pip") is None:
        raise CannotInstall(f"{sys.executable} has no pip (Debian: apt-get install python3-pip)")
    command = [sys.executable, "-I", "-m", "pip", "install", "--quiet", "--no-input", "--no-deps"]
    command += ["--root-user-action", "ignore", "--no-user"]
    command += ["--disable-pip-version-check", "--no-compile", "--only-binary", ":all:"]
    command += ["--require-hashes", "--target", str(target), "-r", str(LOCK)]
    # pip's words go to stderr: stdout belongs to the tool's own output.
    if subprocess.run(command, stdout=sys.stderr, check=False).returncode:  # noqa: S603
        raise CannotInstall("pip could not install the locked packages (its words are above)")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
