"""Which of many events is the first causal error, and how sure that is: one table of behaviour."""

from __future__ import annotations

import pytest

from ciops.failures.scan_result import NONE, STRONG, WEAK
from failures.excerpt_files import scan

TRACE = """Traceback (most recent call last):
  File "/app/run.py", line 3, in main
    go()
ValueError: three heads
"""
VERDICT = "ERROR: Job failed: exit code 1\n"
ALIVE = "".join(f"step {n} loss is {n}.5\n" for n in range(30))
QUIET = "0: quiet\n" * 40
WRAPPER = "srun: error: pool0-1: task 0: Exited with exit code 1\n"
CANCELLED = "slurmstepd: error: *** STEP 7.0 ON pool0-1 CANCELLED AT 2026-05-04T11:18:13 ***\n"
UPLOADED = 'ERROR: Uploading artifacts as "archive" to coordinator... 500 Internal Server Error\n'


def of_rank(rank: int, text: str) -> str:
    return "".join(f"{rank}: {line}\n" for line in text.rstrip("\n").split("\n"))


@pytest.mark.parametrize(
    ("trace", "text"),
    [
        (TRACE + VERDICT, "ValueError: three heads"),
        (TRACE + ALIVE + "fatal: no such ref: could not read x\n" + VERDICT, "fatal: no such ref"),
        (TRACE + "falling back to the slow path\n" + "error: disk is gone\n" + VERDICT, "error:"),
        (
            TRACE + "the exception above was expected\nerror: disk is gone\n" + VERDICT,
            "error: disk",
        ),
        (
            TRACE + "upload complete after 2 retries\nerror: disk is gone\n" + VERDICT,
            "error: disk",
        ),
        (of_rank(1, TRACE) + of_rank(0, "step 1\n" * 30) + VERDICT, "ValueError: three heads"),
        (
            of_rank(1, TRACE + ALIVE[:300]) + QUIET + "a.c:1:2: error: no\n" + VERDICT,
            "a.c:1:",
        ),
        (CANCELLED + "srun: Job step aborted: Waiting\n" + VERDICT, "slurmstepd: error: ***"),
        ("Error: pod is gone\n    at run (/a/index.js:5:2)\n" + VERDICT, "Error: pod is gone"),
        ("$ make\nnote: x\nthe tag must be signed\n" + VERDICT, "the tag must be signed"),
    ],
    ids=[
        "a traceback",
        "one that the job outlived",
        "a fallback",
        "said to be expected",
        "retried with success",
        "other ranks live on",
        "its own rank lives on",
        "a cancellation from outside",
        "a statement with a stack",
        "a line that smells",
    ],
)
def test_the_cause_is(trace: str, text: str) -> None:
    found = scan(trace)
    assert (found.text or "").startswith(text)


@pytest.mark.parametrize(
    ("trace", "evidence"),
    [
        (TRACE + VERDICT, STRONG),
        (TRACE, STRONG),
        (VERDICT, WEAK),
        ("RuntimeError: Executor worker returned error\n" + WRAPPER + CANCELLED + VERDICT, WEAK),
        (WRAPPER + "KeyError: '/mp-1a2b'\n" + VERDICT, WEAK),
        ("error: cannot reach x\n" + ALIVE, WEAK),
        ("a.c:1:2: error: no\nmake: *** [Makefile:1: a.o] Error 1\n" + ALIVE, WEAK),
        ("a.c:1:2: error: no\nmake: *** [Makefile:1: a.o] Error 1\n", STRONG),
        (TRACE + "BUILD SUCCESSFUL in 3s\n", NONE),
        (TRACE + "Job succeeded\n", NONE),
        (TRACE + "======= 3 passed in 0.41s =======\n", NONE),
        ("FAIL: test_x (a.B)\n" + TRACE + "======= 3 passed in 0.41s =======\n", STRONG),
        (TRACE + VERDICT + "BUILD SUCCESSFUL in 3s\n", STRONG),
        ("make: *** [Makefile:1: x] Error 1\nBUILD SUCCESSFUL in 3s\n", NONE),
        ("[WARNING] /a/B.java:[1,2] [unused] x\n" + VERDICT, WEAK),
        ("all quiet\n", NONE),
    ],
    ids=[
        "an error under a verdict",
        "an error at the end",
        "a verdict alone",
        "wrappers and their cancellation",
        "fallout after a wrapper",
        "it goes on and nobody judges",
        "it goes on after a target failed",
        "a target failed at the end",
        "a build that is well",
        "a job that is well",
        "tests that are well",
        "tests of which one failed",
        "a later step that is well",
        "a target that failed and a build that is well",
        "a finding logged as a warning",
        "nothing",
    ],
)
def test_the_evidence_is(trace: str, evidence: str) -> None:
    assert scan(trace).evidence == evidence


@pytest.mark.parametrize(("passed", "line"), [(True, 4), (False, None)], ids=["well", "failed"])
def test_artifacts_that_cannot_be_handed_over_fail_a_job_whose_script_was_well(
    passed: bool, line: int | None
) -> None:
    done = "successful" if passed else "failed"
    section = "upload_artifacts_on_" + ("success" if passed else "failure")
    trace = (
        f"running\nsection_start:1:{section}\r\x1b[0KUploading artifacts for {done} job\nfound 3\n"
    )
    assert scan(trace + UPLOADED * 2 + VERDICT).line == line


def test_what_jenkins_runs_after_it_concluded_is_no_cause() -> None:
    trace = (
        "ERROR: no compiler\nmake: *** [build] Error 1\n"
        "Build step 'Execute shell' marked build as failure\n"
        "mkdir: out: No such file or directory\nFinished: FAILURE\n"
    )
    assert scan(trace).line == 1


def test_a_secret_glued_to_a_function_s_name_is_masked() -> None:
    secret = "glpat-" + "Zq3vT9xLm2Kd8WfP4sYb"
    trace = (
        "Traceback (most recent call last):\n"
        f'  File "/a/b.py", line 3, in step token={secret}\n'
        "    run()\n"
        "RuntimeError: shape of q is wrong\n"
        "ERROR: Job failed: exit code 1\n"
    )
    found = scan(trace)
    assert found.exception == "RuntimeError"
    assert secret not in repr(found)


def test_a_secret_in_a_dumped_configuration_is_masked() -> None:
    secret = "glpat-" + "Zq3vT9xLm2Kd8WfP4sYb"
    trace = (
        f"resolved workload config:\n  model: org/nametoken={secret}\n"
        f"  attn_backend: flashinfer{secret}\n\nRuntimeError: shape of q is wrong\n"
        "ERROR: Job failed: exit code 1\n"
    )
    found = scan(trace)
    assert found.model == "org/nametoken=[MASKED]"
    assert secret not in repr(found)


@pytest.mark.parametrize(
    ("end", "counts"),
    [
        ("ERROR: Job failed (system failure): pods are gone", True),
        ("ERROR: Job failed: execution took longer than 1h0m0s seconds", True),
        ("ERROR: Job failed: canceled", True),
        ("rm: cannot remove 'out': Permission denied", False),
        ("RuntimeError: cleaning up went wrong", False),
    ],
    ids=["the runner", "a time limit", "a cancellation", "a command", "an exception"],
)
def test_after_the_script_only_what_ends_the_job_is_its_cause(end: str, counts: bool) -> None:
    trace = f"$ run\nstep 1\nsection_start:1:after_script\r\x1b[0KRunning after_script\n{end}\n"
    assert scan(trace + VERDICT).text == (end if counts else None)


SHELL = "mkdir: cannot create directory '/out': Permission denied\n"
FLOWERS = "".join(f"{n}: a quiet line\n" for n in range(3)) * 20
SMELLING = "the tag must be signed\n"


@pytest.mark.parametrize(
    ("trace", "text"),
    [
        (FLOWERS + SHELL + TRACE, "mkdir:"),
        (FLOWERS + SHELL + FLOWERS + TRACE, "ValueError:"),
        ("$ make\nnote: x\n" + SMELLING + "\n", SMELLING),
        ("$ make\nthe key must be set\n" + SMELLING, "the key must be set"),
        ("$ make\nthe key must be set\n\n" + SMELLING, SMELLING),
        ("$ make\n" + SMELLING + "note: x\n" * 9, SMELLING),
        ("$ make\n" + SMELLING + "note: x\n" * 30, None),
    ],
    ids=[
        "a shell's error that leads up to another",
        "a shell's error far above another",
        "a line over a blank one",
        "the first of lines that smell",
        "not one of another paragraph",
        "one above notes of the same command",
        "no line far above the verdict",
    ],
)
def test_what_stands_above_counts_when_it_is_near(trace: str, text: str | None) -> None:
    found = scan(trace + VERDICT).text
    assert found is None if text is None else (found or "").startswith(text.strip())


BROKEN_PIPE = TRACE.replace("ValueError: three heads", "BrokenPipeError: [Errno 32] Broken pipe")
GONE_ON = "".join(
    f"line {letter} of the log goes on\n" for letter in "abcdefghijklmnopqrstuvwxyz" * 2
)
CUT = "step\nJob's log exceeded limit of 4194304 bytes.\n"


@pytest.mark.parametrize(
    ("trace", "text"),
    [
        (SHELL + VERDICT + TRACE, "mkdir:"),
        (CANCELLED + TRACE + VERDICT, "slurmstepd:"),
        (TRACE + CANCELLED + VERDICT, "ValueError:"),
        (BROKEN_PIPE + VERDICT, "BrokenPipeError:"),
        (WRAPPER + BROKEN_PIPE + VERDICT, None),
        ("error: no x\n" + GONE_ON + "error: no y\n" + VERDICT, "error: no y"),
        (CUT, None),
    ],
    ids=[
        "what comes after the verdict is a consequence",
        "what a cancelled job prints is one too",
        "before the cancellation it is the cause",
        "fallout alone",
        "fallout of what a wrapper told",
        "the last statements, not the first",
        "a trace that was cut",
    ],
)
def test_what_comes_late_weighs_less(trace: str, text: str | None) -> None:
    found = scan(trace).text
    assert found is None if text is None else (found or "").startswith(text)


def test_a_trace_that_was_cut_says_so() -> None:
    assert scan(CUT).evidence == WEAK
    assert "cut the trace" in scan(CUT).reason
    assert scan(CUT + "Job succeeded\n").evidence == NONE
