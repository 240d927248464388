"""Run one of the tools with its locked packages, installing them when they are not there yet.

    python3 -I scripts/launch.py issue_triage run --sweep

The packages of `requirements.txt` land in a directory whose name is the hash of
that lock, the Python version and the platform. Such a directory is made aside
and renamed, so it is whole whenever it exists: the next start installs nothing.
Only the standard library is used here. `-I` keeps the workspace's own modules
(a `pip.py`, say) out of the way.
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


def cache_root(environ: dict[str, str]) -> Path:
    """Where package directories live: the tool cache of a runner or job, or one's own."""
    for variable in ("TRIAGE_ACTION_CACHE", "RUNNER_TOOL_CACHE"):
        if environ.get(variable):
            return Path(environ[variable]) / "triage-action"
    if environ.get("GITLAB_CI"):
        return Path(environ.get("CI_PROJECT_DIR", ".")).resolve() / ".cache" / "triage-action"
    return Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "triage-action"


def site_directory(root: Path, lock: bytes) -> Path:
    """The directory of one lock on one Python and platform."""
    from hashlib import sha256
    from sysconfig import get_platform

    key = sha256(lock).hexdigest()[:16]
    return root / f"{sys.implementation.cache_tag}-{get_platform()}-{key}"


def install(site: Path) -> None:
    """Install the lock into `site`: made aside, then renamed, so that it is never half there."""
    import shutil
    import tempfile

    try:
        site.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix="installing-", dir=site.parent))
    except OSError as fault:
        raise SystemExit(_cannot(f"{site.parent} cannot be written ({fault.strerror})")) from None
    try:
        _pip_install(aside)
        aside.chmod(0o755)
        aside.rename(site)
    except OSError:
        if not site.is_dir():  # else another job was quicker, and its directory is the same
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _pip_install(target: Path) -> None:
    import subprocess

    command = [sys.executable, "-I", "-m", "pip", "install", "--quiet", "--no-input", "--no-deps"]
    command += ["--disable-pip-version-check", "--no-compile", "--only-binary", ":all:"]
    command += ["--require-hashes", "--target", str(target), "-r", str(LOCK)]
    # pip's words go to stderr: stdout belongs to the tool's own output.
    if subprocess.run(command, stdout=sys.stderr, check=False).returncode:  # noqa: S603
        raise SystemExit(_cannot("pip could not install the locked packages (its words are above)"))


def _cannot(why: str) -> int:
    step = "Check the network, a pip configuration or mirror, and TRIAGE_ACTION_CACHE, then rerun."
    print(f"triage-action could not start: {why}. {step}", file=sys.stderr)
    return 4


def main(arguments: list[str]) -> int:
    """Start the tool named first; the rest is its command line."""
    if sys.version_info < OLDEST_PYTHON:
        print(
            "triage-action needs Python 3.11 or newer; this is "
            f"{sys.version.split()[0]}. Install one, or name it in the job.",
            file=sys.stderr,
        )
        return 2
    if not arguments or arguments[0] not in TOOLS:
        print(f"Say which tool to run: {', '.join(TOOLS)}.", file=sys.stderr)
        return 2
    site = site_directory(cache_root(dict(os.environ)), LOCK.read_bytes())
    if not site.is_dir():
        install(site)
    os.environ["TRIAGE_ACTION_SITE"] = str(site)
    entry = SCRIPTS / f"{arguments[0]}.py"
    sys.argv = [str(entry), *arguments[1:]]
    runpy.run_path(str(entry), run_name="__main__")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
