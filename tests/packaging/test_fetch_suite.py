"""scripts/fetch_suite.py: how a GitLab job that has only a component's YAML gets the suite."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
import threading
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ci_programs.archive_server import Server
from ci_programs.embedded_fetch import SCRIPT, TEMPLATES, carried, embedded
from ci_programs.suite import plain_environment, run

LAUNCHER = {"suite-1/scripts/launch.py": b"# the launcher\n"}


def archive(files: Mapping[str, bytes], **member: object) -> bytes:
    """A .tar.gz of files; `member` sets fields of the first entry."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for number, (name, data) in enumerate(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            if number == 0:
                for key, value in member.items():
                    setattr(entry, key, value)
            tar.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


ARCHIVE = archive(LAUNCHER)  # made once: gzip writes the time into it


@pytest.fixture
def server() -> Iterator[Server]:
    with Server({"/v1.0.0.tar.gz": ARCHIVE, "/main.tar.gz": ARCHIVE}) as served:
        yield served


def fetch(
    folder: Path, url: str, version: str = "v1.0.0", **more: str
) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    env = {
        "TRIAGE_ACTION_ARCHIVE": url,
        "TRIAGE_ACTION_VERSION": version,
        **more,
    }
    return run([sys.executable, "-I", str(SCRIPT)], plain_environment(**env), folder)


def test_it_prints_the_folder_of_the_suite(server: Server, tmp_path: Path) -> None:
    done = fetch(tmp_path, f"{server.url}/{{version}}.tar.gz")
    assert done.returncode == 0, done.stderr
    suite = Path(done.stdout)
    assert suite.parent == tmp_path / ".cache/triage-action"
    assert (suite / "scripts/launch.py").read_bytes() == LAUNCHER["suite-1/scripts/launch.py"]
    assert not (suite / "suite-1").exists()


@pytest.mark.parametrize(
    ("version", "digest", "times"),
    [
        pytest.param("v1.0.0", "", 1, id="a full version is kept"),
        pytest.param("main", "", 2, id="a branch moves, and is fetched again"),
        pytest.param("main", hashlib.sha256(ARCHIVE).hexdigest(), 1, id="a checksum is kept"),
    ],
)
def test_what_the_next_job_finds(
    server: Server, tmp_path: Path, version: str, digest: str, times: int
) -> None:
    for _ in range(2):
        done = fetch(
            tmp_path, f"{server.url}/{{version}}.tar.gz", version, TRIAGE_ACTION_SHA256=digest
        )
        assert done.returncode == 0, done.stderr
    assert len(server.asked) == times
    assert len(list((tmp_path / ".cache").glob("*/*"))) == 1
    assert (tmp_path / ".cache/triage-action").exists() == (times == 1)


def test_two_jobs_in_one_folder_do_not_disturb_each_other(server: Server, tmp_path: Path) -> None:
    url = f"{server.url}/{{version}}.tar.gz"
    first = fetch(tmp_path, url, "main")
    launcher = Path(first.stdout) / "scripts/launch.py"
    before = launcher.stat().st_ino
    done: list[subprocess.CompletedProcess[str]] = []
    threads = [
        threading.Thread(target=lambda: done.append(fetch(tmp_path, url, "main"))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.stdout for each in done] == [first.stdout] * 4, done
    assert launcher.stat().st_ino == before


def test_a_prebuilt_folder_needs_no_network(tmp_path: Path) -> None:
    (tmp_path / "in image/scripts").mkdir(parents=True)
    (tmp_path / "in image/scripts/launch.py").write_text("", encoding="utf-8")
    done = fetch(tmp_path, "unused", TRIAGE_ACTION_CHECKOUT=str(tmp_path / "in image"))
    assert done.stdout == str(tmp_path / "in image")


@pytest.mark.parametrize(
    ("server_url", "sent"),
    [
        pytest.param("{here}", True, id="the GitLab of the job"),
        pytest.param("https://gitlab.example", False, id="another host"),
    ],
)
def test_the_job_token_goes_to_its_own_gitlab_only(
    server: Server, tmp_path: Path, server_url: str, sent: bool
) -> None:
    here = server_url.format(here=server.url)
    env = {"CI_SERVER_URL": here, "CI_JOB_TOKEN": "job-token-1"}
    assert fetch(tmp_path, f"{server.url}/{{version}}.tar.gz", **env).returncode == 0
    assert [headers.get("job-token") for _, headers in server.asked] == [
        "job-token-1" if sent else None
    ]


def test_the_job_token_does_not_follow_a_redirect(server: Server, tmp_path: Path) -> None:
    with Server({"/v1.0.0.tar.gz": f"{server.url}/v1.0.0.tar.gz"}) as gitlab:
        env = {"CI_SERVER_URL": gitlab.url, "CI_JOB_TOKEN": "job-token-1"}
        assert fetch(tmp_path, f"{gitlab.url}/{{version}}.tar.gz", **env).returncode == 0
        assert gitlab.asked[0][1]["job-token"] == "job-token-1"
    assert "job-token" not in server.asked[0][1]


@pytest.mark.parametrize(
    ("url", "says"),
    [
        pytest.param("http://example.invalid/a.tar.gz", "is not https", id="plain http"),
        pytest.param("file:///etc/passwd", "is not https", id="a file"),
        pytest.param("{here}/none.tar.gz", "could not be read (HTTP Error 404", id="not there"),
        pytest.param("http://127.0.0.1:9/a.tar.gz", "could not be read", id="nobody answers"),
        pytest.param("https://x:port/a.tar.gz", "could not be read (nonnumeric port", id="a port"),
        pytest.param("{here}/v 1.tar.gz", "could not be read (URL can't contain", id="a space"),
        pytest.param("https://[x/a.tar.gz", "is no address (Invalid IPv6", id="no address"),
    ],
)
def test_addresses_that_are_refused(server: Server, tmp_path: Path, url: str, says: str) -> None:
    done = fetch(tmp_path, url.format(here=server.url))
    assert (done.returncode, done.stdout) == (1, "")
    assert says in done.stderr
    assert "`archive`" in done.stderr
    assert "Traceback" not in done.stderr


BAD_ARCHIVES = [
    pytest.param(archive({"suite-1/../../evil": b"x"}), "'suite-1/../../evil'", id="upwards"),
    pytest.param(archive({"/etc/evil": b"x"}), "'/etc/evil'", id="an absolute path"),
    pytest.param(archive({"s\\..\\evil": b"x"}), "evil", id="a path of another system"),
    pytest.param(
        archive({"s/scripts": b""}, type=tarfile.SYMTYPE, linkname="/etc"),
        "does not hold the suite",
        id="a link is left out",
    ),
    pytest.param(archive({"s/big": bytes(65 << 20)}), "cut off, or over", id="a bomb"),
    pytest.param(ARCHIVE[:-20], "cut off, or over", id="half of it"),
    pytest.param(b"<html>sign in</html>", "cannot be unpacked", id="a page"),
    pytest.param(zlib.compress(b"x", wbits=31), "cannot be unpacked", id="no tar"),
    pytest.param(archive({"s/README.md": b""}), "does not hold the suite", id="another project"),
]


@pytest.mark.parametrize(("data", "says"), BAD_ARCHIVES)
def test_archives_that_are_refused(data: bytes, says: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    with Server({"/a": data}) as served:
        done = fetch(project, f"{served.url}/a")
    assert done.returncode != 0
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["project"]
    assert not [
        path for path in project.rglob("*") if "unpacking" in path.name or path.is_symlink()
    ]


def test_a_checksum_that_differs(server: Server, tmp_path: Path) -> None:
    url = f"{server.url}/{{version}}.tar.gz"
    done = fetch(tmp_path, url, TRIAGE_ACTION_SHA256="sha256:" + "0" * 64)
    assert done.returncode == 1
    assert f"not {'0' * 64}. Not used. Correct `sha256`" in done.stderr
    assert not (tmp_path / ".cache").exists()


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.parent.name)
def test_a_template_carries_the_script_word_for_word(path: Path) -> None:
    text, script = path.read_text(encoding="utf-8"), SCRIPT.read_text(encoding="utf-8")
    assert carried(text) == [script]
    assert embedded(text, script) == text


def test_every_tool_has_a_template() -> None:
    assert [path.parent.name for path in TEMPLATES] == [
        "issue-triage",
        "pipeline-failure-report",
        "post-mortem-render",
    ]
