"""scripts/start.sh and scripts/launch.py: find Python, install the lock once, hand over."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import threading
import venv
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

import launch
from ci_programs.suite import Installed, copy_suite, plain_environment, run, start

LAUNCHER = ("scripts", "requirements.txt")
TOOLS = ("issue_triage", "pipeline_failure_report", "post_mortem_render")


def python(folder: Path, body: str) -> None:
    """A `python3` in `folder` that runs a shell script."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "python3").write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    (folder / "python3").chmod(0o755)


def test_a_first_start_installs_and_the_next_ones_find_it(
    suite: Path, installed: Installed, record_property: pytest.RecordProperty
) -> None:
    record_property("cold_install_seconds", round(installed.cold_seconds, 2))
    folders = list((installed.cache / "triage-action").iterdir())
    again = start(
        suite, "issue_triage", "--help", env={"TRIAGE_ACTION_CACHE": str(installed.cache)}
    )
    assert again.returncode == 0
    assert again.stdout.startswith("usage: issue_triage.py")
    assert list((installed.cache / "triage-action").iterdir()) == folders
    assert len(folders) == 1


def test_the_packages_come_from_the_lock_and_not_from_the_machine(
    suite: Path, installed: Installed, tmp_path: Path
) -> None:
    venv.create(tmp_path / "bare", with_pip=False)
    bare = tmp_path / "bare" / "bin" / "python"
    check = "import requests, yaml, jinja2, markdown_it, jsonschema; print(requests.__file__)"
    assert run([str(bare), "-I", "-c", check], plain_environment()).returncode != 0
    done = run(
        [str(bare), "-I", str(suite / "scripts/launch.py"), "issue_triage", "run", "--help"],
        plain_environment(TRIAGE_ACTION_CACHE=str(installed.cache)),
    )
    assert done.returncode == 0, done.stderr
    assert "--max-writes" in done.stdout


def test_modules_of_the_workspace_stay_out_of_the_way(
    suite: Path, installed: Installed, tmp_path: Path
) -> None:
    for name in ("pip", "json", "requests", "yaml", "http", "ciops"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('hijacked')", encoding="utf-8")
    cache = {"TRIAGE_ACTION_CACHE": str(installed.cache), "PYTHONPATH": str(tmp_path)}
    done = start(suite, "issue_triage", "run", "--help", env=cache, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_tool_is_known_by_the_name_that_pages_give_it(suite: Path, installed: Installed) -> None:
    cache = {"TRIAGE_ACTION_CACHE": str(installed.cache)}
    done = start(suite, "post-mortem-render", "check", "--help", env=cache)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param([], f"Say which tool to run: {', '.join(TOOLS)}.", id="no tool"),
        pytest.param(["triage"], "Say which tool to run", id="an unknown tool"),
        pytest.param(["../evil"], "Say which tool to run", id="a path"),
    ],
)
def test_a_tool_must_be_named(suite: Path, arguments: list[str], says: str) -> None:
    done = start(suite, *arguments, env={})
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


def test_on_github_a_refusal_is_an_annotation(suite: Path) -> None:
    done = start(suite, "triage", env={"GITHUB_ACTIONS": "true"})
    assert done.stdout.startswith("::error::Say which tool to run")


def test_an_old_python_is_told_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 4))
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert launch.main(["issue_triage"]) == 2
    assert "triage-action needs Python 3.11 or newer" in capsys.readouterr().err


class TestFindingPython:
    def test_none_that_is_new_enough(self, suite: Path, tmp_path: Path) -> None:
        python(tmp_path, "exit 1")
        path = {"PATH": f"{tmp_path}{os.pathsep}{_plain_tools(tmp_path)}"}
        done = start(suite, "issue_triage", env=path)
        assert (done.returncode, done.stdout) == (2, "")
        assert "needs Python 3.11 or newer, and this machine has none in PATH" in done.stderr

    def test_the_first_that_is_new_enough(self, suite: Path, tmp_path: Path) -> None:
        python(tmp_path / "old", "exit 1")
        python(tmp_path / "new", f'exec "{sys.executable}" "$@"')
        (tmp_path / "new" / "python3").rename(tmp_path / "new" / "python3.12")
        folders = [tmp_path / "old", tmp_path / "new", _plain_tools(tmp_path)]
        done = start(suite, "nothing", env={"PATH": os.pathsep.join(map(str, folders))})
        assert "Say which tool to run" in done.stderr

    def test_the_one_that_a_hosted_runner_keeps_beside_path(
        self, suite: Path, tmp_path: Path
    ) -> None:
        cache = tmp_path / "hosted tool cache"
        python(cache / "Python/3.10.4/x64/bin", "echo the old one; exit 0")
        python(cache / "Python/3.12.1/x64/bin", f'exec "{sys.executable}" "$@"')
        env = {"PATH": str(_plain_tools(tmp_path)), "RUNNER_TOOL_CACHE": str(cache)}
        done = start(suite, "nothing", env=env)
        assert "Say which tool to run" in done.stderr
        assert "the old one" not in done.stdout


def _plain_tools(folder: Path) -> Path:
    """A PATH with a shell and dirname, and no Python."""
    plain = folder / "plain"
    plain.mkdir(exist_ok=True)
    for name in ("sh", "dirname"):
        target = plain / name
        if not target.exists():
            target.symlink_to(
                Path("/bin") / name if Path("/bin", name).exists() else f"/usr/bin/{name}"
            )
    return plain


@pytest.mark.parametrize(
    ("inputs", "arguments"),
    [
        pytest.param({}, [], id="no command"),
        pytest.param({"INPUT_COMMAND": "run"}, ["run"], id="a command"),
        pytest.param(
            {"INPUT_COMMAND": "policy check", "INPUT_PATHS": "triage/policy.yml"},
            ["policy", "check", "triage/policy.yml"],
            id="a command of two words",
        ),
        pytest.param(
            {"INPUT_COMMAND": "merge", "INPUT_PATHS": "\n a part \r\n\nb; rm -rf x\n"},
            ["merge", "a part", "b; rm -rf x"],
            id="one path a line, spaces and all",
        ),
        pytest.param(
            {"INPUT_COMMAND": "lint", "INPUT_PATHS": "--output=/etc"},
            ["lint", "./--output=/etc"],
            id="a path is no option",
        ),
        pytest.param(
            {"INPUT_COMMAND": "merge", "INPUT_PATHS": "none-*\nno[t]hing"},
            ["merge", "none-*", "no[t]hing"],
            id="a pattern without a match is left for the tool to complain of",
        ),
    ],
)
def test_command_and_paths_come_from_inputs(inputs: dict[str, str], arguments: list[str]) -> None:
    assert launch.from_inputs(inputs) == arguments


def test_patterns_name_what_is_there_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("part-2", "part-10", "part-1", "other"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    inputs = {"INPUT_COMMAND": "merge", "INPUT_PATHS": "part-*"}
    assert launch.from_inputs(inputs) == ["merge", "part-1", "part-10", "part-2"]


ROOTS = [
    pytest.param(
        {"TRIAGE_ACTION_CACHE": "/own", "RUNNER_TOOL_CACHE": "/tool"}, ["/own"], id="one's own"
    ),
    pytest.param(
        {"RUNNER_TOOL_CACHE": "/tool", "RUNNER_TEMP": "/temp"}, ["/tool", "/temp"], id="a runner"
    ),
    pytest.param({"GITLAB_CI": "true", "CI_PROJECT_DIR": "/usr"}, ["/usr/.cache"], id="GitLab"),
    pytest.param(
        {"GITLAB_CI": "true", "CI_PROJECT_DIR": "/not/here"},
        [f"{Path.cwd()}/.cache"],
        id="GitLab's jobs on a local runner",
    ),
    pytest.param({"XDG_CACHE_HOME": "/xdg"}, ["/xdg"], id="a laptop"),
]


@pytest.mark.parametrize(("environ", "roots"), ROOTS)
def test_where_packages_live(environ: dict[str, str], roots: list[str]) -> None:
    assert launch.cache_roots(environ) == [Path(root) / "triage-action" for root in roots]


def test_another_lock_is_another_directory() -> None:
    assert launch.site_name(b"a") != launch.site_name(b"b")
    assert launch.site_name(b"a") == launch.site_name(b"a")


class TestInstalling:
    """The real pip on a lock of one small wheel, made here: no network."""

    @pytest.fixture
    def small(self, tmp_path: Path) -> Path:
        """A copy of the launcher whose lock is one local wheel, and whose tool imports it."""
        suite = copy_suite(tmp_path / "small suite", LAUNCHER)
        wheel = _wheel(tmp_path / "wheels")
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        lock = f"tiny @ {wheel.as_uri()} --hash=sha256:{digest}\n"
        (suite / "requirements.txt").write_text(lock, encoding="utf-8")
        tool = "import os, sys\nsys.path.insert(0, os.environ['TRIAGE_ACTION_SITE'])\n"
        tool += "import tiny\nprint(tiny.WORD, *sys.argv[1:])\nraise SystemExit(7)\n"
        (suite / "scripts/issue_triage.py").write_text(tool, encoding="utf-8")
        return suite

    def test_exit_status_and_arguments_pass_through(self, small: Path, tmp_path: Path) -> None:
        env = {"TRIAGE_ACTION_CACHE": str(tmp_path / "cache")}
        done = start(small, "issue_triage", "run", "a b", env=env)
        assert (done.returncode, done.stdout) == (7, "hello run a b\n"), done.stderr

    def test_two_at_once_both_run(self, small: Path, tmp_path: Path) -> None:
        env = {"TRIAGE_ACTION_CACHE": str(tmp_path / "cache")}
        done: list[subprocess.CompletedProcess[str]] = []
        threads = [
            threading.Thread(target=lambda: done.append(start(small, "issue_triage", env=env)))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [each.stdout for each in done] == ["hello\n", "hello\n"], done
        assert len(list((tmp_path / "cache/triage-action").iterdir())) == 1

    @pytest.mark.parametrize(
        ("digest", "becomes"),
        [
            pytest.param(r"[0-9a-f]{64}", "0" * 64, id="another wheel than the locked one"),
            pytest.param(r" --hash=\S+", "", id="a lock without hashes"),
        ],
    )
    def test_only_what_the_lock_names(
        self, small: Path, tmp_path: Path, digest: str, becomes: str
    ) -> None:
        lock = small / "requirements.txt"
        lock.write_text(re.sub(digest, becomes, lock.read_text("utf-8")), encoding="utf-8")
        cache = tmp_path / "cache"
        done = start(small, "issue_triage", env={"TRIAGE_ACTION_CACHE": str(cache)})
        assert done.returncode == 4
        assert "pip could not install the locked packages" in done.stderr
        assert list((cache / "triage-action").iterdir()) == []

    def test_the_job_folder_when_the_runner_folder_cannot_be_written(
        self, small: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "tool cache").write_text("a file where a folder should be", encoding="utf-8")
        env = {
            "RUNNER_TOOL_CACHE": str(tmp_path / "tool cache"),
            "RUNNER_TEMP": str(tmp_path / "temp"),
        }
        done = start(small, "issue_triage", env=env)
        assert done.stdout == "hello\n", done.stderr
        assert list((tmp_path / "temp/triage-action").iterdir())

    def test_a_python_without_pip(self, small: Path, tmp_path: Path) -> None:
        venv.create(tmp_path / "bare", with_pip=False)
        bare = str(tmp_path / "bare" / "bin" / "python")
        env = plain_environment(TRIAGE_ACTION_CACHE=str(tmp_path / "cache"))
        done = run([bare, "-I", str(small / "scripts/launch.py"), "issue_triage"], env)
        assert done.returncode == 4
        assert f"{bare} has no pip" in done.stderr

    def test_a_person_s_pip_settings_do_not_stand_in_the_way(
        self, small: Path, tmp_path: Path
    ) -> None:
        env = {"TRIAGE_ACTION_CACHE": str(tmp_path / "cache"), "PIP_USER": "1"}
        done = start(small, "issue_triage", env=env)
        assert done.stdout == "hello\n", done.stderr

    def test_no_folder_that_can_be_written(self, small: Path, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("", encoding="utf-8")
        done = start(small, "issue_triage", env={"TRIAGE_ACTION_CACHE": str(tmp_path / "file")})
        assert done.returncode == 4
        assert f"{tmp_path / 'file' / 'triage-action'} cannot be written" in done.stderr
        assert "Traceback" not in done.stderr


def _wheel(folder: Path) -> Path:
    """A wheel that holds one module."""
    folder.mkdir()
    files = {
        "tiny.py": b"WORD = 'hello'\n",
        "tiny-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        "tiny-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\n"
        b"Root-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},{_hash(data)},{len(data)}\n" for name, data in files.items())
    files["tiny-1.0.dist-info/RECORD"] = (record + "tiny-1.0.dist-info/RECORD,,\n").encode()
    path = folder / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, data in files.items():
            wheel.writestr(name, data)
    return path


def _hash(data: bytes) -> str:
    digest = urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"sha256={digest}"
