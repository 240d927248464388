"""Secrets and hostile texts planted in a pipeline: none leaves, none acts."""

from __future__ import annotations

import re
import socket
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from ciops.failures.app import main
from failures.pipeline_worlds import (
    DOWNSTREAM,
    GITHUB_TOKEN,
    TOKEN,
    UPSTREAM,
    bridge,
    job,
    pipeline,
    report_on,
    small_world,
)
from fakes.github import FakeGitHub

# Put together here, so that no scanner takes this file for a leak.
SECRETS = {
    "a GitLab token": "glpat-" + "Zq3vT9xLm2Kd8WfP4sYb",
    "a GitHub token": "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8",
    "a hub token": "hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNm123456",
    "an AWS key": "AKIA" + "Z7Q4MB2L6X9TN3PD",
    "a password": "hunter2-Correct-Horse",
    "a bearer": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJlLW9mLWl0",
    "a URL's password": "s3cr3t-of-the-proxy",
}
OWN = (TOKEN, GITHUB_TOKEN)
BIDI, ESCAPE = "\u202e", "\x1b]0;owned\x07"
HOSTILE = (
    f"::set-output name=x::{BIDI}owned",
    "##[add-mask]x",
    "::add-mask::a",
    "/close",
    "/label ~bug",
    "@everyone <img src=x onerror=alert(1)> [x](javascript:alert(1))",
    '=HYPERLINK("http://evil.test","x")',
    f"{ESCAPE} ``` ~~~ <!-- -->",
)


def trace(error: str) -> bytes:
    """Every secret and every hostile text stands near the error, and some in it."""
    lines = [
        "resolved workload config:",
        f"  model: org/{SECRETS['a hub token']}",
        f"  runtime: token={SECRETS['a password']}",
        "done",
        f"git clone https://ci:{SECRETS['a URL' + chr(39) + 's password']}@git.example.com/a.git",
        f"curl -H 'Authorization: Bearer {SECRETS['a bearer']}' https://x.example.com",
        f"export AWS_ACCESS_KEY_ID={SECRETS['an AWS key']} password={SECRETS['a password']}",
        *HOSTILE,
        f"RuntimeError: {error} token {SECRETS['a GitLab token']} {HOSTILE[5]}",
        *(f"::error::{SECRETS['a GitHub token']}", *HOSTILE),
        "ERROR: Job failed: exit code 1",
    ]
    return ("\n".join(lines) + "\n").encode()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Everything that a run and its tracking left, by where."""
    tmp_path, printed = tmp_path_factory.mktemp("run"), StringIO()
    name = f"cov {SECRETS['a GitHub token']} @all {BIDI} ::warning::x [2 run]"
    gated = trace("x").replace(b"RuntimeError: x", b"huggingface_hub.errors.GatedRepoError: 403")
    jobs = [job(21, name, trace=trace("pipeline stages disagree")), job(22, trace=gated)]
    odd = f"coverage {SECRETS['a GitLab token']} ::error::x"
    above = [
        bridge(11, "model-coverage", (2, DOWNSTREAM, "failed")),
        bridge(12, odd, None, failure_reason=f"token={SECRETS['a password']}"),
    ]
    places: dict[str, str] = {}
    github = FakeGitHub("NVIDIA/TensorRT-LLM", labels=["bug"])
    with (
        small_world(
            pipeline(1, UPSTREAM, bridges=above), pipeline(2, DOWNSTREAM, jobs=jobs)
        ) as fake,
        github,
        redirect_stdout(printed),
        redirect_stderr(printed),
    ):
        env = {
            **{"GITLAB_TOKEN": TOKEN, "GITLAB_URL": fake.url},
            **{"GITHUB_TOKEN": GITHUB_TOKEN, "GITHUB_API_URL": github.url},
            **{"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")},
            "GITHUB_OUTPUT": str(tmp_path / "outputs"),
        }
        given = ["report", "--pipeline", "1", "--format", "md", "csv", "json", "html", "chat"]
        for folder, more in (("dry", ["--track", "--dry-run"]), ("real", ["--track"])):
            main([*given, "--output", str(tmp_path / folder), *more], env)
        main([*given, "--output", str(tmp_path / "part"), "--shard", "1/1"], env)
        main(["merge", str(tmp_path / "part"), "--output", str(tmp_path / "merged")], env)
        writes = [*fake.writes, *github.writes]
        assert len(writes) == 2
        assert fake.quick_actions == []
        assert fake.project(UPSTREAM).issues[1]["state"] == "opened"
        places["writes"] = str([write.body for write in writes])
        places["bodies"] = "\n".join(
            str(write.body.get("body") or write.body.get("description")) for write in writes
        )
    places["printed"] = printed.getvalue()
    for path in tmp_path.rglob("*"):
        if path.is_file():
            places[str(path.relative_to(tmp_path))] = path.read_text("utf-8-sig")
    return places


def test_no_secret_leaves_anywhere(run: dict[str, str]) -> None:
    assert {"writes", "printed", "real/report.html", "part/part-1-of-1.json", "summary.md"} <= set(
        run
    )
    for where, text in run.items():
        for what, secret in SECRETS.items():
            assert secret not in text, (what, where)
        own = text.replace(f"::add-mask::{TOKEN}", "").replace(f"::add-mask::{GITHUB_TOKEN}", "")
        for token in OWN:
            assert token not in own, where


def test_only_the_configured_hosts_are_connected_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a trace names: the two services and the storage that one of them redirects to."""
    asked: set[tuple[str, int]] = set()
    connect = socket.socket.connect

    def watched(self: socket.socket, address: tuple[str, int]) -> None:
        asked.add(address[:2])
        connect(self, address)

    jobs = [job(21, trace=trace("pipeline stages disagree")), job(22, trace=b"")]
    github = FakeGitHub("NVIDIA/TensorRT-LLM", labels=["bug"])
    one = pipeline(2, DOWNSTREAM, jobs=jobs)
    with small_world(one, trace_redirect=302) as fake, github:
        monkeypatch.setattr(socket.socket, "connect", watched)
        outcome = report_on(fake, tmp_path, "--pipeline", "2", "--track", github=github)
        monkeypatch.undo()
        servers = (fake.listener, fake.storage.listener, github.listener)
        assert asked == {(one.host, one.port) for one in servers}
        assert fake.storage.seen_secrets == set()
    assert outcome.report is not None


def test_the_words_around_a_secret_stay(run: dict[str, str]) -> None:
    assert "pipeline stages disagree" in run["printed"]
    assert "[MASKED]" in run["real/report.json"]
    assert not any("[MASKED]]" in text for text in run.values())  # masked again and again


def test_nothing_printed_is_a_command(run: dict[str, str]) -> None:
    """Only what the tool itself says to GitHub stands outside of stop-commands."""
    resumed = ""
    for line in run["printed"].splitlines():
        if resumed:
            resumed = "" if line == f"::{resumed}::" else resumed
            continue
        if line.startswith("::stop-commands::"):
            resumed = line.removeprefix("::stop-commands::")
            continue
        known = r"::(?:group|endgroup|add-mask|error|warning|notice)\b"
        assert not line.lstrip().startswith("::") or re.match(known, line), line
        assert not re.search(r"^\s*::(?:set-output|add-mask::a$|warning::x)", line), line
        assert "##[" not in line, line
    assert not resumed


def test_no_control_or_bidi_character_leaves(run: dict[str, str]) -> None:
    for where, text in run.items():
        assert BIDI not in text, where
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]", text), where
        plain = re.sub("\x1b\\[[0-9;]*m", "", text)
        assert "\x1b" not in plain, where


def test_a_filed_body_pings_nobody_and_closes_nothing(run: dict[str, str]) -> None:
    outside = re.sub(r"(?ms)^ ?(`{3,}).*?^ ?\1`*$", "", run["bodies"])
    outside = re.sub(r"(`+).*?\1", "", outside)
    assert not re.search(r"(?<![\\\w])@[a-z]", outside)
    assert not re.search(r"(?m)^/\w", outside)
    assert not re.search(r"<(?!!-- triage-action: )\w", outside)
    assert outside.replace("<!-- -->", "").count("<!--") == 2  # the markers


def test_a_sheet_computes_nothing(run: dict[str, str]) -> None:
    import csv
    import io

    for row in csv.reader(io.StringIO(run["real/report.csv"])):
        assert not any(cell[:1] in ("=", "+", "-", "@", "\t", "\r") for cell in row), row
