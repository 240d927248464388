"""When a rule of a bucket holds, each condition met and missed; and how buckets are named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciops.failures import bucket_rules as rules
from ciops.failures.bucket_rules import BucketRule, Condition
from ciops.failures.buckets import JobEvidence, bucket, holds
from ciops.failures.frames import Frame, OwnedFrame
from ciops.failures.scan_result import STRONG, WEAK, ScanResult
from failures.pipeline_worlds import knowledge

OUTER, INNER = Frame("loom/run.py", 3, "main"), Frame("loom/gear.py", 9, "turn")
SCAN = ScanResult(
    line=9,
    text="loom.errors.JamError: the shuttle is stuck",
    exception="JamError",
    frame=OwnedFrame("loom", "loom/gear.py", 9, "turn"),
    evidence=STRONG,
    signature="JamError|the shuttle is stuck",
    kind="exception",
    frames=(OUTER, INNER),
    message=("while weaving row 7",),
    observed=frozenset({"low-on-thread"}),
)
JOB = JobEvidence(7, "weave [2 run]", SCAN, job_reason="script_failure")
UNREADABLE = JobEvidence(8, "weave [2 run]", ScanResult(), unreadable="HTTP 404")
UNOWNED = replace(JOB, scan=replace(SCAN, frame=None))
CONDITIONS = [
    pytest.param(Condition(text="shuttle"), JOB, True, id="the causal line"),
    pytest.param(Condition(text="weaving row"), JOB, True, id="a line that continues it"),
    pytest.param(Condition(text="needle"), JOB, False, id="other words"),
    pytest.param(Condition(text="."), UNREADABLE, False, id="no words"),
    pytest.param(Condition(exception="^Jam"), JOB, True, id="its exception"),
    pytest.param(Condition(exception="^Error"), JOB, False, id="another exception"),
    pytest.param(Condition(frame=r"run\.py:main"), JOB, True, id="any frame"),
    pytest.param(Condition(raised_in=r"gear\.py:turn"), JOB, True, id="the innermost frame"),
    pytest.param(Condition(raised_in=r"run\.py:main"), JOB, False, id="an outer frame"),
    pytest.param(Condition(kinds=("test", "exception")), JOB, True, id="one of its kinds"),
    pytest.param(Condition(kinds=("test",)), JOB, False, id="another kind"),
    pytest.param(Condition(observed=("x", "low-on-thread")), JOB, True, id="one observation"),
    pytest.param(Condition(observed=("x",)), JOB, False, id="no such observation"),
    pytest.param(Condition(evidence=STRONG), JOB, True, id="strong evidence"),
    pytest.param(Condition(evidence=WEAK), JOB, False, id="strong, not weak"),
    pytest.param(Condition(evidence=WEAK), UNREADABLE, True, id="none is weak"),
    pytest.param(Condition(job_reason="^script_"), JOB, True, id="the service's reason"),
    pytest.param(Condition(job_reason="^runner_"), JOB, False, id="another reason"),
    pytest.param(Condition(unreadable="404"), UNREADABLE, True, id="no trace"),
    pytest.param(Condition(unreadable="404"), JOB, False, id="a trace"),
    pytest.param(Condition(owned=True), JOB, True, id="in owned code"),
    pytest.param(Condition(owned=False), JOB, False, id="in owned code, asked for elsewhere"),
    pytest.param(Condition(owned=False), UNOWNED, True, id="elsewhere"),
    pytest.param(Condition(owned=True), UNOWNED, False, id="elsewhere, asked for owned"),
    pytest.param(Condition(text="shuttle", kinds=("test",)), JOB, False, id="all must hold"),
]


def rule(when: Condition, *unless: Condition) -> BucketRule:
    return BucketRule(
        name="loom/gear/jam",
        owner="loom",
        status=rules.ACTIONABLE,
        reason="a gear jams",
        when=when,
        unless=unless,
        together=rules.BY_RULE,
        hypothesis="",
        joins_weak=False,
        matches=(),
        near_misses=(),
    )


@pytest.mark.parametrize(("condition", "job", "met"), CONDITIONS)
def test_a_condition(condition: Condition, job: JobEvidence, met: bool) -> None:
    assert holds(rule(condition), job) is met


@pytest.mark.parametrize(("condition", "job", "met"), CONDITIONS)
def test_the_same_as_an_exclude(condition: Condition, job: JobEvidence, met: bool) -> None:
    assert holds(rule(Condition(), condition), job) is not met


OWNER = "TensorRT-LLM"
NAMES = [
    pytest.param(
        OwnedFrame(OWNER, "tensorrt_llm/_torch/auto_deploy/transform/moe.py", 1, "f"),
        *("JamError: stuck", f"{OWNER}/autodeploy-moe/jam-error-stuck"),
        id="the component that the path is of",
    ),
    pytest.param(
        OwnedFrame(OWNER, "coverage/moe.py", 1, "f"),
        *("JamError: stuck", f"{OWNER}/moe/jam-error-stuck"),
        id="a component of another owner is none",
    ),
    pytest.param(
        OwnedFrame(OWNER, "weft/Warp_Beam.test.cpp", 1, "f"),
        *("JamError: stuck", f"{OWNER}/warp-beam/jam-error-stuck"),
        id="else the file without its endings",
    ),
    pytest.param(
        OwnedFrame(OWNER, "weft/.py", 1, "f"),
        *("JamError: stuck", f"{OWNER}/code/jam-error-stuck"),
        id="a file without a name",
    ),
    pytest.param(None, "JamError: stuck", f"{OWNER}/exception/jam-error-stuck", id="else the kind"),
    pytest.param(
        None,
        "JamError: one two three four five six seven",
        f"{OWNER}/exception/jam-error-one-two-three-four-five-six",
        id="six words",
    ),
    pytest.param(
        None,
        "JamError: at 0x7f3a or <unknown> in #12, a b",
        f"{OWNER}/exception/jam-error",
        id="no numbers, no placeholders, no short words",
    ),
    pytest.param(
        None,
        "JamError: " + " ".join(["abcdefghij"] * 6),
        f"{OWNER}/exception/jam-error-" + "-".join(["abcdefghij"] * 4),
        id="whole words in sixty characters",
    ),
]


@pytest.mark.parametrize(("frame", "text", "name"), NAMES)
def test_a_name(frame: OwnedFrame | None, text: str, name: str) -> None:
    scan = replace(SCAN, frame=frame, frames=(), text=text, message=(), signature=text)
    found = bucket([replace(JOB, scan=scan)], knowledge())
    assert [one.name for one in found] == [name]


@pytest.mark.parametrize(
    ("reason", "mode"),
    [
        pytest.param("the trace is empty", "the-trace-is-empty", id="its reason"),
        pytest.param("", "no-evidence", id="none"),
    ],
)
def test_a_job_without_a_cause_is_named_by_why(reason: str, mode: str) -> None:
    found = bucket(
        [replace(UNREADABLE, scan=ScanResult(reason=reason), unreadable="")], knowledge()
    )
    assert [one.name for one in found] == [f"{OWNER}/unknown/{mode}"]


def test_a_bucket_of_a_rule_has_the_rule_in_its_signature() -> None:
    said = replace(SCAN, text="ERROR: Job failed (system failure): x", kind="runner", frame=None)
    found = bucket([replace(JOB, scan=said)], knowledge())
    assert [one.signature.partition("|")[0] for one in found] == ["infra/runner/system-failure"]
