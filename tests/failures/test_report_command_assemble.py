"""Evidence and buckets put together: the sentences that only arise there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciops.failures.assemble import Looked, hypothesis, names_code
from ciops.failures.buckets import Bucket
from ciops.failures.frames import OwnedFrame
from ciops.failures.report_model import DEFAULT_BRANCH, NAMED_BY_TRACE, Change, CodeReference

FRAME = OwnedFrame("us", "src/gear.py", 3, "turn")
SHA = "a" * 40
CODE = CodeReference("o/r", "src/gear.py", 3, "turn", "https://x", SHA, NAMED_BY_TRACE)
BUCKET = Bucket(
    name="us/gear/teeth",
    status="actionable",
    reason="one code path fails",
    owner="us",
    owner_assumed=False,
    signature="s",
    jobs=(1, 2),
    representative=1,
    hypothesis="",
    frame=FRAME,
)
PLACES = {"{frame}": str(FRAME), "{model}": "org/phi", "{text}": "E: x", "{exception}": "E"}

NAMES_CODE = [
    pytest.param("E comes out of {frame}", FRAME, True, id="the place of the frame"),
    pytest.param("E comes out of src/gear.py:turn: x", FRAME, True, id="its path"),
    pytest.param("{model} is gone from the hub", FRAME, False, id="a cause elsewhere"),
    pytest.param("E comes out of {frame}", None, False, id="no frame"),
    pytest.param("", FRAME, False, id="no hypothesis"),
    pytest.param("E in {frame}", replace(FRAME, owner="them"), False, id="code of another owner"),
]


@pytest.mark.parametrize(("text", "frame", "names"), NAMES_CODE)
def test_whether_a_hypothesis_points_at_code(
    text: str, frame: OwnedFrame | None, names: bool
) -> None:
    assert names_code(replace(BUCKET, hypothesis=text, frame=frame)) is names


TEXTS = [
    pytest.param("{model} is gone: {text}", Looked(), "org/phi is gone: E: x", id="places"),
    pytest.param("{unknown} stays", Looked(), "{unknown} stays", id="a place nobody knows"),
    pytest.param("{model} is gone", Looked(missing=True), "org/phi is gone", id="no code in it"),
    pytest.param("E in {frame}", Looked(missing=True), "", id="code that is not there"),
    pytest.param(
        "E in {frame}.",
        Looked(unchecked="GITHUB_TOKEN is not set"),
        "E in src/gear.py:turn (not checked: GITHUB_TOKEN is not set)",
        id="code that nobody looked for",
    ),
    pytest.param(
        "E in {frame}",
        Looked(CODE),
        f"E in src/gear.py:turn (src/gear.py of o/r at {SHA[:12]}, the commit that the trace"
        " names)",
        id="code at a commit",
    ),
    pytest.param(
        "E in {frame}",
        Looked(replace(CODE, commit="main", commit_source=DEFAULT_BRANCH, changes=())),
        "E in src/gear.py:turn (src/gear.py of o/r at main, the default branch, as no commit is"
        " named; not changed since the last green run)",
        id="code of a branch",
    ),
    pytest.param(
        "E in {frame}",
        Looked(replace(CODE, changes=tuple(Change(f"{n}" * 40, f"change {n}") for n in range(5)))),
        f"E in src/gear.py:turn (src/gear.py of o/r at {SHA[:12]}, the commit that the trace names;"
        " changed since the last green run by 0000000000 change 0, 1111111111 change 1,"
        " 2222222222 change 2 and 2 more)",
        id="changes",
    ),
]


@pytest.mark.parametrize(("text", "looked", "said"), TEXTS)
def test_what_a_hypothesis_says(text: str, looked: Looked, said: str) -> None:
    assert hypothesis(replace(BUCKET, hypothesis=text), looked, PLACES) == said


def test_a_sentence_that_begins_with_an_unknown_model() -> None:
    places = {**PLACES, "{model}": "the model"}
    said = hypothesis(replace(BUCKET, hypothesis="{model} is gone"), Looked(), places)
    assert said == "The model is gone"
