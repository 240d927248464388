"""Which failures share a bucket, who owns it, and what it deserves."""

from __future__ import annotations

import re

import pytest

from ciops.failures.buckets import Bucket, JobEvidence, bucket
from ciops.failures.scan_result import WEAK, ScanResult
from ciops.failures.trace import TraceReader
from failures.pipeline_worlds import knowledge

END = "ERROR: Job failed: exit code 1\n"
OURS = "/usr/lib/python3/dist-packages/tensorrt_llm/_torch/auto_deploy"


def scanned(text: str) -> ScanResult:
    reader = TraceReader(knowledge())
    reader.feed(text.encode())
    return reader.finish()


def raised(error: str, path: str = f"{OURS}/shard.py", function: str = "split") -> str:
    """The trace of a job that failed with an exception."""
    frame = f'  File "{path}", line 7, in {function}\n    work()\n'
    return f"Traceback (most recent call last):\n{frame}{error}\n{END}"


def failed(identity: int, text: str, name: str = "", **facts: str) -> JobEvidence:
    return JobEvidence(identity, name or f"cov-{identity} [2 run]", scanned(text), **facts)


def only(*jobs: JobEvidence) -> Bucket:
    found = bucket(jobs, knowledge())
    assert len(found) == 1, [(one.name, one.jobs) for one in found]
    return found[0]


def together(*traces: str) -> bool:
    jobs = [failed(number, text) for number, text in enumerate(traces, 1)]
    return len(bucket(jobs, knowledge())) == 1


SAME = [
    pytest.param(
        raised("RuntimeError: shapes cannot be multiplied (8192x8192 and 4096x2560)"),
        raised("RuntimeError: shapes cannot be multiplied (s1*s39x512 and 4096x81)"),
        id="shapes",
    ),
    pytest.param(
        raised("KeyError: 'layers.0.up'"), raised("KeyError: 'layers.31.up'"), id="layers"
    ),
    pytest.param(
        raised("OSError: Can't load tokenizer for 'a/b-7B'"),
        raised("OSError: Can't load tokenizer for 'c/d'", f"{OURS}/hf.py"),
        id="one rule",
    ),
]
APART = [
    pytest.param(
        raised("AssertionError: scale must be contiguous"),
        raised("AssertionError: scale must be contiguous", f"{OURS}/moe.py"),
        id="one sentence from two files",
    ),
    pytest.param(
        raised("RuntimeError: Could not run 'aten::mm'"),
        raised("RuntimeError: Could not run 'aten::bmm'"),
        id="two operators",
    ),
    pytest.param(
        raised("ModuleNotFoundError: No module named 'timm'"),
        raised("ModuleNotFoundError: No module named 'mamba_ssm'"),
        id="two packages of one rule",
    ),
    pytest.param(
        f"RuntimeError: Executor worker returned error\n{END}",
        f"RuntimeError: Executor worker returned error\n{END}",
        id="two traces with nothing but a wrapper",
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_failure(one: str, other: str) -> None:
    assert together(one, other)


@pytest.mark.parametrize(("one", "other"), APART)
def test_two_failures(one: str, other: str) -> None:
    assert not together(one, other)


def test_runner_failures_of_one_message_share_a_bucket() -> None:
    said = "ERROR: Job failed (system failure): prepare environment: exit status 1\n"
    assert only(failed(1, said), failed(2, said)).name == "infra/runner/system-failure"


LATE = "ERROR: Job failed: execution took longer than 2h0m0s seconds\n"
BEFORE = "nvidia-smi before start: GPU 0 used 71864 MiB / 81559 MiB (pid 7 user=other)\n"
OOM = raised("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 5 GiB.")
PLACES = [
    pytest.param(raised("KeyError: 'x'"), "TensorRT-LLM", "actionable", False, id="our frame"),
    pytest.param(
        raised("KeyError: 'x'", "/workspace/autodeploy-dashboard/coverage/urls.py"),
        *("autodeploy-dashboard", "actionable", False),
        id="the dashboard's frame",
    ),
    pytest.param(
        raised("KeyError: 'x'", "/usr/lib/python3/dist-packages/vendor/a.py"),
        *("TensorRT-LLM", "issue-only", True),
        id="nobody's frame",
    ),
    pytest.param(f"ran\n{END}", "TensorRT-LLM", "issue-only", True, id="only the verdict"),
    pytest.param(
        raised("requests.exceptions.HTTPError: 500 Server Error for url: http://localhost:8000/v1"),
        *("TensorRT-LLM", "actionable", False),
        id="a server of the job itself",
    ),
    pytest.param(
        raised("requests.exceptions.ConnectionError: HTTPSConnectionPool(host='a.example.com', "
               "port=443): Max retries exceeded with url: /x"),
        *("infra", "issue-only", False),
        id="a service outside",
    ),
    pytest.param(OOM, "TensorRT-LLM", "actionable", False, id="memory that the job took itself"),
    pytest.param(BEFORE + OOM, "infra", "issue-only", False, id="memory of another job"),
    pytest.param(
        "".join(f"case {n}0/99 done\n" for n in range(1, 6)) + LATE,
        *("infra", "issue-only", False),
        id="a limit that struck at work",
    ),
    pytest.param(
        f"still waiting for rank 3\n{LATE}", "TensorRT-LLM", "issue-only", True, id="a freeze"
    ),
    pytest.param(
        "".join(f"case {n}0/99 done\n" for n in range(1, 6)) + f"still waiting for rank 3\n{LATE}",
        *("TensorRT-LLM", "issue-only", True),
        id="a freeze after work",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "owner", "status", "assumed"), PLACES)
def test_who_owns_it_and_what_it_deserves(
    text: str, owner: str, status: str, assumed: bool
) -> None:
    one = only(failed(1, text))
    assert (one.owner, one.status, one.owner_assumed) == (owner, status, assumed)
    assert one.reason
    assert ("assumption" in one.reason) is assumed


AROUND = [
    pytest.param("cov [1 before]", "infra", id="before the workload"),
    pytest.param("cov [3 after]", "infra", id="after it"),
    pytest.param("cov [2 run]", "TensorRT-LLM", id="the workload"),
    pytest.param("cov", "TensorRT-LLM", id="a job of no parts"),
]


@pytest.mark.parametrize(("name", "owner"), AROUND)
def test_what_fails_around_a_workload_is_not_its_owners(name: str, owner: str) -> None:
    assert only(failed(1, f"tar: a.json: Cannot stat\n{END}", name)).owner == owner


def test_parts_go_with_their_failed_workload() -> None:
    workload = failed(1, raised("KeyError: 'x'"), "cov [2 run]")
    after = failed(2, f"tar: a.json: Cannot stat\n{END}", "cov [3 after]")
    elsewhere = failed(3, f"tar: a.json: Cannot stat\n{END}", "other [3 after]")
    found = {one.jobs for one in bucket([workload, after, elsewhere], knowledge())}
    assert found == {(1, 2), (3,)}


@pytest.mark.parametrize("why", ["empty", "HTTP 404", "HTTP 500"])
def test_traces_that_cannot_be_read_stay_apart(why: str) -> None:
    scan = ScanResult(evidence=WEAK, signature="no trace")
    found = bucket([JobEvidence(n, f"cov-{n}", scan, why) for n in (1, 2)], knowledge())
    assert [(one.size, one.owner, one.status) for one in found] == [(1, "infra", "issue-only")] * 2


LONG = [
    pytest.param("RuntimeError: " + " ".join(["unfathomable"] * 9), id="long words"),
    pytest.param("RuntimeError: " + "q" * 300, id="one endless word"),
    pytest.param("RuntimeError: <b>& | `x`\\n =1+1 @team ../..", id="hostile words"),
    pytest.param("RuntimeError: \u65e5\u672c\u8a9e", id="words without letters of a name"),
]


@pytest.mark.parametrize("error", LONG)
def test_a_name_is_short_and_ends_with_a_word(error: str) -> None:
    name = only(failed(1, raised(error))).name
    assert re.fullmatch(r"[\w.-]+(?:/[\w.-]+){2}", name)
    mode = name.rpartition("/")[2]
    assert len(mode) <= 60
    assert set(mode.split("-")) <= {"runtime", "error", "unfathomable", "team"} | {mode}


def test_buckets_of_one_name_get_names_of_their_own() -> None:
    said = "AssertionError: scale must be contiguous"
    traces = [raised(said, f"{OURS}/shard.py", function) for function in ("a", "b", "c")]
    jobs = [failed(n, text) for n, text in enumerate(traces)]
    names = [one.name for one in bucket(jobs, knowledge())]
    assert len(set(names)) == 3


VERDICTS = [
    END,
    f"srun: error: pool0-00412: task 0: Exited with exit code 1\n{END}",
    f"slurmstepd: error: *** STEP 7.0 ON pool0-00412 CANCELLED AT 2026-05-04T10:29:43 ***\n{END}",
]


@pytest.mark.parametrize("verdict", VERDICTS, ids=["the runner", "the launcher", "the scheduler"])
def test_an_exception_without_words_does_not_borrow_those_of_the_verdict(verdict: str) -> None:
    scan = scanned(raised("RuntimeError: ").replace(END, verdict))
    assert (scan.line, scan.text, scan.evidence) == (4, "RuntimeError:", "strong")


WORDS = "sharded operand has another reduction dimension than expected"
TOLD = f"RuntimeError: Failed to initialize executor on rank 0: {WORDS}\n{END}"
THERE, ELSEWHERE = (raised(f"ValueError: {WORDS}", f"{OURS}/{file}.py") for file in ("a", "b"))
WRAPPED = [
    pytest.param([THERE, TOLD], {(1, 2)}, id="where one place raised them"),
    pytest.param([TOLD, THERE], {(1, 2)}, id="in any order"),
    pytest.param([THERE, ELSEWHERE, TOLD], {(1,), (2,), (3,)}, id="apart where two places did"),
    pytest.param([THERE, TOLD.replace("operand", "tensor")], {(1,), (2,)}, id="apart with others"),
]


@pytest.mark.parametrize(("traces", "jobs"), WRAPPED)
def test_a_wrapper_that_repeats_words_goes_with_who_raised_them(
    traces: list[str], jobs: set[tuple[int, ...]]
) -> None:
    found = bucket([failed(number, text) for number, text in enumerate(traces, 1)], knowledge())
    assert {one.jobs for one in found} == jobs
    assert not any(one.owner_assumed for one in found if one.size > 1)
