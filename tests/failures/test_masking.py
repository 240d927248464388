"""One walk masks whatever a value holds; a secret at any place of a pipeline leaves nowhere."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, fields, is_dataclass, replace
from io import StringIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from ciops.failures.app import main
from ciops.failures.buckets import JobEvidence
from ciops.failures.masking import masked
from ciops.failures.report_model import Report
from ciops.failures.scan_result import NumberedLine, ScanResult
from ciops.failures.trace import TraceReader
from failures.pipeline_worlds import (
    DOWNSTREAM,
    GITHUB_TOKEN,
    TOKEN,
    UPSTREAM,
    bridge,
    job,
    knowledge,
    pipeline,
    small_world,
)
from fakes.github import FakeGitHub

# Put together here, so that no scanner takes this file for a leak.
STEM = "ZqvTxLmKdWfPsYbRtGh"
SECRET = "glpat-" + STEM


def filled(kind: Any, secret: str) -> Any:
    """A value of a type with the secret wherever it can hold a text."""
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        return kind(**{one.name: filled(hints[one.name], secret) for one in fields(kind)})
    origin, inner = get_origin(kind), get_args(kind)
    if origin is tuple:
        return (filled(inner[0], secret), filled(inner[0], secret))
    if origin is frozenset:
        return frozenset((filled(inner[0], secret),))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return MappingProxyType({filled(inner[0], secret): filled(inner[1], secret)})
    if inner:  # one of several types
        return filled(str if str in inner else inner[0], secret)
    return f"at {secret} end" if kind is str else kind()


@pytest.mark.parametrize("kind", [ScanResult, JobEvidence, Report])
def test_no_field_of_what_is_handed_on_is_forgotten(kind: type) -> None:
    found = filled(kind, SECRET)
    assert repr(found).count(STEM) > 10
    assert STEM not in repr(masked(found))
    assert repr(masked(found)) == repr(filled(kind, "[MASKED]"))


@dataclass(frozen=True)
class _Nested:
    inner: ScanResult
    names: tuple[str, ...]
    by_name: Mapping[str, tuple[str, ...]]
    number: int = 3
    nothing: str | None = None


@pytest.mark.parametrize(
    "value",
    [
        SECRET,
        (SECRET,),
        (1, SECRET, None),
        frozenset((SECRET,)),
        {SECRET: "x"},
        {"x": ({"y": SECRET},)},
        _Nested(ScanResult(text=SECRET), (SECRET, "b"), {SECRET: (SECRET,)}),
    ],
    ids=["text", "tuple", "mixed", "set", "key", "deep", "dataclass"],
)
def test_a_secret_is_masked_however_deep_it_is(value: Any) -> None:
    assert STEM not in repr(masked(value))
    assert "[MASKED]" in repr(masked(value))


@pytest.mark.parametrize("value", ["words", 7, None, (), (1, "a"), True, frozenset(("a",))])
def test_what_is_no_secret_stays(value: Any) -> None:
    assert masked(value) == value


def test_a_key_over_several_lines_is_masked_in_each() -> None:
    body = ["-----BEGIN RSA PRIVATE KEY-----", "abcd" * 16, "", "efgh" * 16]
    lines = tuple(NumberedLine(n, text) for n, text in enumerate([*body, "after", ""], 1))
    found = masked(lines)
    assert [one.number for one in found] == [1, 2, 3, 4, 5, 6]
    assert not any("abcd" in one.text or "efgh" in one.text for one in found)
    alone = masked(tuple(NumberedLine(n, text) for n, text in enumerate(["", "", "MII" + body[1]])))
    assert [one.text for one in alone] == ["", "", "[MASKED]"]


def test_a_line_is_cut_after_it_is_masked() -> None:
    line = NumberedLine(1, "x" * 20 + " " + SECRET)
    (found,) = masked((line,), shown=lambda text: text[:30])
    assert found.text == "x" * 20 + " [MASKED]"


# Where a trace can carry a secret: `{}` stands for it, and an error follows or is there.
PLACES = {
    "message": "RuntimeError: pipeline stages disagree at {}",
    "exception": 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n{}Error: x',
    "file": 'Traceback (most recent call last):\n  File "/w/{}/a.py", line 1, in f\nKeyError: 1',
    "function": 'Traceback (most recent call last):\n  File "/w/a.py", line 1, in {}\nKeyError: 1',
    "owned file": (
        'Traceback (most recent call last):\n  File "/venv/tensorrt_llm/{}/a.py", line 3, in f\n'
        "    g()\nValueError: no shape"
    ),
    "chained": "Traceback (most recent call last):\nKeyError: '{}'\n\nDuring handling of the above "
    "exception, another exception occurred:\n\nTraceback (most recent call last):\nOSError: 1",
    "above": "+ deploy --key {}\nRuntimeError: pipeline stages disagree",
    "below": "RuntimeError: pipeline stages disagree\nstate {}",
    "long line": "RuntimeError: " + "x" * 975 + " {} " + "y" * 3000,
    "section": "section_start:1700000000:step_{}\r\x1b[0KRunning {}\nRuntimeError: stages disagree",
    "address": "fatal: unable to access 'https://ci:{}@git.example.com/a.git/': refused",
    "environment": "export CI_JOB_TOKEN={}\nenv: AUTH={}\nRuntimeError: stages disagree",
    "branch": "Checking out {} as detached HEAD (ref is feature/{})...\nRuntimeError: disagree",
    "artifact": 'ERROR: Uploading artifacts as "logs-{}" to coordinator... 403 Forbidden',
    "wrapper": "RuntimeError: stages disagree\nsrun: error: node: task 0: Exited {} with code 1",
    "model": "resolved workload config:\n  model: org/{}\n  runtime: trtllm-{}\n\nRuntimeError: x",
    "commit": "resolved workload config:\n  model: m\n  llm_commit: {}\n\nRuntimeError: x",
    "rank": "[rank0]: RuntimeError: stages disagree at {}",
    "record": '{{"level":"error","msg":"stages disagree","token":"{}"}}',
    "only a wrapper": "working with {}",
    "compiler": "/src/{}/a.cpp:7:3: error: no member named 'b'",
}


def _told(place: str, secret: str) -> bytes:
    told = PLACES[place].replace("{}", secret).replace("{{", "{").replace("}}", "}")
    return f"working\n{told}\nERROR: Job failed: exit code 1\n".encode()


def _scan(place: str, secret: str) -> ScanResult:
    reader = TraceReader(knowledge())
    reader.feed(_told(place, secret))
    return reader.finish()


@pytest.mark.parametrize("place", PLACES)
def test_what_a_trace_carries_is_masked_when_its_result_is_made(place: str) -> None:
    found = _scan(place, SECRET)
    assert STEM not in repr(found)
    other = _scan(place, "glpat-" + STEM.swapcase())
    # Else who knows the words around a secret could try secrets until a checksum is right.
    assert replace(found, size=0) == replace(other, size=0)


def _names() -> dict[str, str]:
    """Names of jobs, one for each place, with a secret of its own in it."""
    return {place: f"cov {place} {SECRET}{n:02} [2 run]" for n, place in enumerate(PLACES)}


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """All that runs of every command left, by where; secrets stand at every place."""
    folder, printed = tmp_path_factory.mktemp("left"), StringIO()
    jobs = [
        job(20 + n, name, trace=_told(place, SECRET), failure_reason="script_failure")
        for n, (place, name) in enumerate(_names().items())
    ]
    jobs.append(job(90, f"no trace {SECRET}", trace=None))
    above = [
        bridge(11, f"model-coverage {SECRET}", (2, DOWNSTREAM, "failed")),
        bridge(12, f"coverage {SECRET}", None, failure_reason=f"unknown {SECRET}"),
    ]
    named = {"ref": f"feature/{SECRET}", "name": f"nightly {SECRET}"}
    github = FakeGitHub("NVIDIA/TensorRT-LLM", labels=["bug"])
    world = (pipeline(1, UPSTREAM, bridges=above), pipeline(2, DOWNSTREAM, jobs=jobs, **named))
    with small_world(*world) as fake, github, redirect_stdout(printed), redirect_stderr(printed):
        env = {
            **{"GITLAB_TOKEN": TOKEN, "GITLAB_URL": fake.url},
            **{"GITHUB_TOKEN": GITHUB_TOKEN, "GITHUB_API_URL": github.url},
        }
        given = ["report", "--pipeline", "1", "--format", "md", "csv", "json", "html", "chat"]
        kept = ["--keep-traces", str(folder / "kept")]
        main([*given, "--output", str(folder / "real"), "--track", *kept], env)
        main([*given, "--output", str(folder / "dry"), "--track", "--dry-run"], env)
        main([*given, "--output", str(folder / "part"), "--shard", "1/1"], env)
        main(["merge", str(folder / "part"), "--output", str(folder / "merged")], env)
        _scan_all(folder, env)
        writes = [str(write.body) for write in (*fake.writes, *github.writes)]
    return {"printed": printed.getvalue(), "writes": "\n".join(writes), **_texts(folder)}


def _scan_all(folder: Path, env: Mapping[str, str]) -> None:
    """Every trace is scanned too, and one that cannot be read is complained about."""
    logs = [folder / f"scanned-{n}.gz" for n in range(len(PLACES))]
    for log, place in zip(logs, PLACES, strict=True):
        log.write_bytes(gzip.compress(_told(place, SECRET)))
    for shape in ("jsonl", "text"):
        main(["scan", *map(str, logs), "--format", shape], env)
    main(["scan", str(folder / f"missing-token={SECRET}.log")], env)


def _texts(folder: Path) -> dict[str, str]:
    """What was written; the content of kept traces is whole by intention, their names are not."""
    found = {"names of files": "\n".join(str(path) for path in folder.rglob("*"))}
    for path in folder.rglob("*"):
        if path.is_file() and path.parent.name != "kept" and path.suffix != ".gz":
            found[str(path.relative_to(folder))] = path.read_text("utf-8-sig")
    return found


def test_a_secret_at_any_place_leaves_nowhere(left: dict[str, str]) -> None:
    assert {"printed", "writes", "real/report.html", "part/part-1-of-1.json"} <= set(left)
    assert left["writes"]
    for where, text in left.items():
        assert STEM not in text, where
        assert "[MASKED]" in text or where == "names of files", where
