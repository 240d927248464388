"""When a topic stands, and when a condition of a policy holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciops.triage.evidence import Evidence
from ciops.triage.policy import Override
from ciops.triage.weighing import Score, Tally, apply_overrides, holds, score_of, tally
from triage.small_world import small_policy


def said(role: str = "api", points: float = 3, **more) -> Evidence:
    told = {"topic": "component:x", "signal": "s", "zone": "log", "where": "body", "line": 1}
    return Evidence(
        **{**told, "last": 1, "text": "x", "turn": 0, "speaker": "reporter", **more},
        role=role,
        points=points,
    )


def score(points: float = 3, *evidence: Evidence, **more) -> Score:
    return Score("component:x", points, evidence, **more)


@pytest.mark.parametrize(
    ("found", "stands"),
    [
        (score(has_root=True), True),
        (score(titled=True), True),
        (score(apis=2), True),
        (score(apis=1, hinted=True), True),
        (score(apis=1, named=True), True),
        (score(apis=1), False),
        (score(hinted=True), False),
        (score(hinted=True, named=True), False),
        (score(named=True), False),
        (score(points=99), False),
    ],
    ids=[
        *("a root", "the title", "two pieces of api", "api and a hint", "api and a name"),
        *("api alone", "a hint alone", "a hint and a name", "a name", "points"),
    ],
)
def test_a_topic_stands(found: Score, stands: bool) -> None:
    assert found.stands is stands


HOLDS = [
    ("component:x", score(0.5, has_root=True), True),
    ("component:x", score(0, has_root=True), False),
    ("component:x", score(9), False),
    ("component:x", None, False),
    ("component:*", score(0), False),
    ("component:*", None, False),
    ("component:*", score(0.5, said()), True),
    ("component:*.in_title", score(3, said("api")), False),
    ("component:*.in_title", score(3, said("api", zone="title")), True),
    ("component:*.in_title", score(0, said("api", zone="title")), False),
    ("component:x.in_title", score(3, said("api", zone="title")), True),
    ("component:x.in_title", score(3, said("weak", zone="title")), False),
    ("component:x.root", score(has_root=True), True),
    ("component:x.root", score(titled=True), False),
    ("component:x.titled", score(titled=True), True),
    ("component:x.titled", score(has_root=True), False),
    ("component:x.api", score(3, said("api")), True),
    ("component:x.api", score(3, said("root")), True),
    ("component:x.api", score(3, said("mention")), False),
    ("component:x.api", score(3, said("api", -1)), False),
    ("group:hang", score(1), True),
    ("group:hang", score(0.9), False),
    ("signal:known", None, True),
    ("signal:other", None, False),
]


@pytest.mark.parametrize(("condition", "found", "true"), HOLDS)
def test_a_condition_holds(condition: str, found: Score | None, true: bool) -> None:
    topic = "group:hang" if condition.startswith("group") else "component:x"
    scores = {} if found is None else {topic: found}
    assert holds(condition, Tally(scores, frozenset({"known"}))) is true


POINTS = [
    ([said(points=3), said(points=3)], 3, "a signal counts once in a kind of place"),
    ([said(points=2), said(points=3)], 3, "by its best line"),
    ([said(points=3), said(points=3, zone="prose")], 6, "and again in another"),
    ([said(points=3), said(points=2, signal="t")], 5, "another signal adds to it"),
    ([said(points=3), said(points=3, speaker="maintainer")], 6, "so does a maintainer"),
    ([said(points=3), said(points=-1)], 2, "what speaks against it is taken away"),
    ([said(points=-1), said(points=-2)], -2, "once as well"),
]


@pytest.mark.parametrize(
    ("items", "points"), [row[:2] for row in POINTS], ids=[row[2] for row in POINTS]
)
def test_points_add_up(items: list[Evidence], points: float) -> None:
    assert score_of("component:x", items).points == points


AROUND = Override(id="around", when=("signal:known",), context=("x",), sets_aside=("aside",))
KNOWN = said(signal="known", topic="group:g")
CHANGED = [
    (said("api"), "path", 0),
    (said("weak", 0.5), "path", 0),
    (said("root"), "root", 3),
    (said("api", -1), "api", -1),
    (said("api", topic="component:y"), "api", 3),
    (said("root", signal="aside", topic="kind:z"), "path", 0),
    (said("root", -1, signal="aside"), "root", -1),
]


@pytest.mark.parametrize(
    ("item", "role", "points"),
    CHANGED,
    ids=["api", "weak", "a root", "against it", "another part", "set aside", "against, set aside"],
)
def test_an_override_turns_a_part_into_what_stands_around(
    item: Evidence, role: str, points: float
) -> None:
    policy = replace(small_policy(), overrides=(AROUND,))
    found, total, _ = apply_overrides([KNOWN, item], tally([KNOWN, item]), policy)
    assert [(x.role, x.points) for x in found if x is not KNOWN] == [(role, points)]
    assert total == tally(found)


def test_an_override_needs_its_reason_and_no_other() -> None:
    item = said("api")
    for override, found in [
        (AROUND, [item]),
        (replace(AROUND, unless=("component:*",)), [KNOWN, item]),
        (replace(AROUND, when=("signal:known", "signal:other")), [KNOWN, item]),
    ]:
        policy = replace(small_policy(), overrides=(override,))
        assert apply_overrides(found, tally(found), policy) == (found, tally(found), ())
