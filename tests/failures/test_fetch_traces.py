"""Traces several at once: what is read, what is not and why, broken downloads, kept copies."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ciops.errors import RefusedError
from ciops.failures.buckets import JobEvidence
from ciops.failures.chain import Chain, ChainJob, follow
from ciops.failures.report_model import PipelineStep
from ciops.failures.start import Target, find
from ciops.failures.trace_download import GIVE_UP_AFTER, Downloads, kept_name
from ciops.forges.base import Job
from ciops.plumbing.output_folder import OutputFolder
from failures.pipeline_worlds import (
    DOWNSTREAM,
    connected,
    expected,
    fake_world,
    job,
    knowledge,
    pipeline,
    scope,
    small_world,
    world_of,
)
from fakes.gitlab import FakeGitLab

FAILING = b"starting\nRuntimeError: shape of q is wrong\nERROR: Job failed: exit code 1\n"


def with_traces(traces: Sequence[bytes | None], **options: Any) -> FakeGitLab:
    """A pipeline whose failed jobs 1, 2, … have these traces."""
    jobs = [
        job(number, **({} if trace is None else {"trace": trace}))
        for number, trace in enumerate(traces, 1)
    ]
    return small_world(pipeline(500, DOWNSTREAM, jobs=jobs), **options)


def jobs_of(fake: FakeGitLab, start: int = 500) -> list[ChainJob]:
    forge = connected(fake)
    found = find(Target(start), scope(), forge.pipelines())
    chain = Chain(found.pipeline, forge.web_url)
    follow(found, scope(), forge.pipelines(), lambda _: None, chain)
    return chain.jobs


def read(fake: FakeGitLab, start: int = 500, **options: Any) -> dict[int, JobEvidence]:
    downloads = Downloads(connected(fake).pipelines(), knowledge(), **options)
    return {found.id: found for found in downloads.results(jobs_of(fake, start))}


def test_every_job_gets_its_own_trace() -> None:
    traces = [b"x\n" * number + FAILING for number in range(1, 31)]
    with with_traces(traces) as fake:
        found = read(fake, concurrency=7)
    assert {key: one.scan.line for key, one in found.items()} == {n: n + 2 for n in range(1, 31)}
    assert not any(one.unreadable for one in found.values())


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_traces_at_once_than_asked(concurrency: int) -> None:
    with with_traces([FAILING] * 12) as fake:
        at_once = AtOnce(connected(fake).pipelines())
        downloads = Downloads(at_once, knowledge(), concurrency=concurrency)  # type: ignore[arg-type]
        assert len(list(downloads.results(jobs_of(fake)))) == 12
    assert at_once.most == concurrency


class AtOnce:
    """Pipelines that count how many traces are open, and keep each open for a moment."""

    def __init__(self, pipelines: Any) -> None:
        self._pipelines = pipelines
        self._lock = threading.Lock()
        self._now = 0
        self.most = 0

    @contextmanager
    def trace(self, project: int | str, job_id: int, offset: int = 0) -> Any:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        threading.Event().wait(0.02)
        try:
            with self._pipelines.trace(project, job_id, offset) as download:
                yield download
        finally:
            with self._lock:
                self._now -= 1


BROKEN = [
    pytest.param("cut", True, id="cut, with Range"),
    pytest.param("cut", False, id="cut, without Range"),
    pytest.param("reset-in-body", True, id="reset, with Range"),
    pytest.param("reset-in-body", False, id="reset, without Range"),
    pytest.param("reset", False, id="reset before anything"),
    pytest.param("503", False, id="503"),
    pytest.param("429", False, id="429"),
    pytest.param("slow", False, id="slow"),
]


@pytest.mark.parametrize(("how", "ranges"), BROKEN)
def test_a_broken_download_ends_as_a_whole_one(how: str, ranges: bool, tmp_path: Path) -> None:
    trace = world_of("dev1")["traces"]["311000113"]
    with with_traces([trace], trace_range=ranges) as fake:
        whole = read(fake)[1]
        fault = fake.fail(how, path="trace", seconds=0.05)
        again = read(fake, keep=OutputFolder(tmp_path / "kept", "--keep-traces"))[1]
        assert fault.fired == 1
    assert again == whole
    assert whole.scan.line == 575
    assert (tmp_path / "kept" / "1-cov-1.log").read_bytes() == trace


def test_a_resumed_download_asks_for_the_rest_only() -> None:
    trace = b"line\n" * 400_000 + FAILING
    with with_traces([trace], trace_range=True) as fake:
        fake.fail("cut", path="trace")
        assert read(fake)[1].scan.lines == 400_003
        ranges = [one.headers.get("range") for one in fake.requests if "trace" in one.path]
    assert ranges == [None, f"bytes={len(trace) // 2}-"]


NOT_THERE = [
    pytest.param(404, "HTTP 404", id="none, or erased"),
    pytest.param(403, "HTTP 403", id="forbidden"),
    pytest.param(401, "HTTP 401", id="the token expired"),
    pytest.param(410, "HTTP 410", id="gone"),
    pytest.param(500, "HTTP 500", id="always broken"),
]


@pytest.mark.parametrize(("status", "reason"), NOT_THERE)
def test_a_trace_that_cannot_be_read_says_why(status: int, reason: str) -> None:
    with with_traces([FAILING, FAILING]) as fake:
        fake.projects[DOWNSTREAM].trace_status[1] = status
        found = read(fake)
    assert found[1].unreadable.startswith(f"{reason}: GitLab: GET ")
    assert (found[1].evidence, found[1].scan.line) == ("weak", None)
    assert (found[2].unreadable, found[2].scan.line) == ("", 2)


def test_a_trace_that_breaks_for_good_is_not_half_read() -> None:
    with with_traces([b"RuntimeError: early\n" * 3 + b"x\n" * 200_000]) as fake:
        fake.fail("cut", path="trace", times=None)
        found = read(fake)[1]
    assert found.unreadable.startswith("no answer")
    assert (found.evidence, found.scan.line) == ("weak", None)


def test_an_empty_trace_is_weak_and_named() -> None:
    with with_traces([b""]) as fake:
        found = read(fake)[1]
    assert found.unreadable.startswith("empty")
    assert found.evidence == "weak"


PAGES = [
    pytest.param(b"<!DOCTYPE html>\n<html><body>Sign in</body></html>", True, id="a sign-in"),
    pytest.param(b"\xef\xbb\xbf \n<HTML lang=en>" + b"x" * 9000, True, id="marks, blanks, case"),
    pytest.param(b"$ cat index.html\n<!DOCTYPE html>\n" + FAILING, False, id="a job prints one"),
    pytest.param(b"<html-report> begins\n" + FAILING, False, id="another word"),
]


@pytest.mark.parametrize(("answer", "refused"), PAGES)
def test_a_page_of_html_is_no_trace(answer: bytes, refused: bool, tmp_path: Path) -> None:
    with with_traces([answer]) as fake:
        found = read(fake, keep=OutputFolder(tmp_path, "--keep-traces"))[1]
    assert ("page of HTML" in found.unreadable) is refused
    assert (found.evidence == "weak") is refused
    assert (list(tmp_path.iterdir()) == []) is refused


def test_no_token_follows_to_object_storage() -> None:
    with with_traces([FAILING] * 3, trace_redirect=302) as fake:
        found = read(fake)
        assert len(fake.storage.received) == 3
        assert fake.storage.seen_secrets == set()
    assert [one.scan.line for one in found.values()] == [2, 2, 2]


TIRED = [
    pytest.param({"how": "500"}, id="it fails"),
    pytest.param({"how": "429", "retry_after": 3600}, id="it wants to be left alone for an hour"),
]


@pytest.mark.parametrize("fault", TIRED)
def test_a_service_that_stopped_answering_is_not_asked_for_the_rest(fault: dict[str, Any]) -> None:
    with with_traces([FAILING] * 60) as fake:
        fake.fail(path="trace", times=None, **fault)
        found = read(fake, concurrency=2)
        asked = {one.path for one in fake.requests if "trace" in one.path}
    assert len(found) == 60
    assert all(one.unreadable for one in found.values())
    assert GIVE_UP_AFTER <= len(asked) <= GIVE_UP_AFTER + 2
    assert sum("stopped answering" in one.unreadable for one in found.values()) >= 34


def test_missing_traces_in_a_row_are_no_sign_of_that() -> None:
    with with_traces([None] * (GIVE_UP_AFTER + 5) + [FAILING]) as fake:
        found = read(fake, concurrency=1)
    assert found[GIVE_UP_AFTER + 6].scan.line == 2


def test_closing_stops_the_threads() -> None:
    with with_traces([b"x\n" * 500_000] * 40, bandwidth=20e6) as fake:
        results = Downloads(connected(fake).pipelines(), knowledge()).results(jobs_of(fake))
        next(results)
        results.close()
        names = [thread for thread in threading.enumerate() if thread.name.startswith("trace ")]
        for thread in names:
            thread.join(10)
        assert not any(thread.is_alive() for thread in names)
        assert sum("trace" in one.path for one in fake.requests) < 20


def test_a_bug_in_the_reader_costs_one_trace() -> None:
    class Broken:
        def search(self, text: str) -> None:
            if "strange" in text:
                raise ZeroDivisionError(text)

    known = knowledge()
    broken = replace(known, hints=replace(known.hints, start=Broken()))  # type: ignore[arg-type]
    traces = [FAILING, FAILING.replace(b"shape of q", b"something strange")]
    with with_traces(traces) as fake:
        downloads = Downloads(connected(fake).pipelines(), broken)
        found = {one.id: one for one in downloads.results(jobs_of(fake))}
    assert found[1].scan.line == 2
    assert found[2].unreadable.startswith("not read: a bug of this tool: ZeroDivisionError at ")
    assert "strange" not in found[2].unreadable


# --- kept copies ------------------------------------------------------------------------------


def test_kept_traces_are_the_raw_bytes(tmp_path: Path) -> None:
    want = expected("dev2")
    with fake_world("dev2") as fake:
        read(fake, want["starting_pipeline"], keep=OutputFolder(tmp_path, "--keep-traces"))
    raw = world_of("dev2")["traces"]
    kept = {path.name.partition("-")[0]: path.read_bytes() for path in tmp_path.iterdir()}
    assert kept == {str(one["id"]): raw[str(one["id"])] for one in want["jobs"]}


NAMES = [
    pytest.param("ad-coverage_phi-4 [2 oci-hsg/run]", "7-ad-coverage_phi-4-2-oci-hsg-run.log"),
    pytest.param("../../etc/passwd", "7-etc-passwd.log"),
    pytest.param("/absolute", "7-absolute.log"),
    pytest.param("a\x00b\nc", "7-a-b-c.log"),
    pytest.param("..", "7-job.log"),
    pytest.param("日本語", "7-job.log"),
    pytest.param("con", "7-con.log"),
    pytest.param("x" * 300, f"7-{'x' * 80}.log"),
]


@pytest.mark.parametrize(("name", "file"), NAMES)
def test_names_of_kept_traces_are_safe(name: str, file: str) -> None:
    fields = ("", "failed", False, "", "main", "", 1, "", "", "", "", "")
    assert kept_name(ChainJob(Job(7, name, *fields), 1, PipelineStep(1))) == file


def test_a_kept_trace_replaces_a_link_and_does_not_follow_it(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine", "utf-8")
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "1-cov-1.log").symlink_to(precious)
    with with_traces([FAILING]) as fake:
        read(fake, keep=OutputFolder(folder, "--keep-traces"))
    assert precious.read_text("utf-8") == "mine"
    assert not (folder / "1-cov-1.log").is_symlink()
    assert (folder / "1-cov-1.log").read_bytes() == FAILING


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "kept").symlink_to(tmp_path / "elsewhere")
    folder = OutputFolder(tmp_path / "kept", "--keep-traces")
    with pytest.raises(RefusedError, match=r"--keep-traces: .* is a symbolic link"):
        folder.write("a.log", b"x")
    with with_traces([FAILING]) as fake:
        found = read(fake, keep=folder)
    assert "symbolic link" in found[1].unreadable
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_below_a_link_of_the_checkout_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")
    Path("build").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RefusedError, match="build is a symbolic link"):
        OutputFolder(Path("build/out"), "--output").write("a.log", b"x")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_trace_that_breaks_leaves_no_file(tmp_path: Path) -> None:
    with with_traces([FAILING * 1000]) as fake:
        fake.fail("cut", path="trace", times=None)
        read(fake, keep=OutputFolder(tmp_path, "--keep-traces"))
    assert list(tmp_path.iterdir()) == []
