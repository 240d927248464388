"""Every row of the decision table, for every profile, and every reason to leave an issue alone."""

from __future__ import annotations

import pytest

from ciops.triage.decide import profile_of
from ciops.triage.facets import Facets
from ciops.triage.facts import Account
from ciops.triage.plan import make_plan, skip_reason, standing_of
from triage.issue_making import BOT, PERSON, QUEUE, issue, labelled, policy

CHECKPOINTING = "oncall: distributed checkpointing"
INFRA = "oncall: distributed infra"
PARALLEL = "oncall: distributed parallelisms"
REVIEW, REPRO = "triage review", "needs reproduction"
FSDP = "module: fsdp"
MARKERS = {
    "current": ("bot-triaged", "triaged"),
    "earlier": ("ptd-bot-triaged", None),
    "split": ("ptd-bot-triaged", "triaged"),
}
OTHER_BOT = Account("pytorchmergebot", is_bot=True)


def facets(route="parallelisms", modules=(FSDP,), confidence="high", **more) -> Facets:
    told = {
        "distributed": True,
        "sub_oncall": route,
        "modules": tuple(modules) if route == "parallelisms" else (),
        "confidence": confidence,
        "kind": "bug",
        "performance": False,
        "high_priority": (),
        "has_reproduction": True,
        "repro_expected": True,
    }
    return Facets(**{**told, **more})


NOT_DISTRIBUTED = facets(route=None, modules=(), distributed=False)
NO_REPRO = {"has_reproduction": False}
URGENT = {"high_priority": ("crash",)}


def plan(found: Facets, *labels: str, profile="current", comments=(), timeline=None):
    facts = issue("", "", *comments, labels=(QUEUE, *labels), timeline=timeline)
    return make_plan(facts, found, policy(), profile_of(policy(), profile))


# The row, the labels that stand, what the text says; the labels that are added: P stands for the
# processed marker, C for the classified one (where the profile has one); and the comment.
ROWS = [
    ("0 classified by people", [FSDP, PARALLEL], facets(), ["P", "C"], None),
    ("0 classified, text differs", [FSDP, INFRA], facets(), ["P", "C"], None),
    ("0 two routes", [INFRA, PARALLEL], facets(), [REVIEW, "P"], None),
    ("0 performance does not classify", ["module: performance", INFRA], facets(), ["P"], None),
    ("1 not distributed", [], NOT_DISTRIBUTED, [REVIEW, "P"], "not_distributed"),
    ("1 not distributed, route stands", [INFRA], NOT_DISTRIBUTED, [REVIEW, "P"], "not_distributed"),
    ("2 infra", [], facets("infra"), [INFRA, "P", "C"], None),
    ("2 infra, medium", [], facets("infra", confidence="medium"), [INFRA, "P", "C"], None),
    ("2 checkpointing", [], facets("checkpointing"), [CHECKPOINTING, "P", "C"], None),
    ("2 infra stands", [INFRA], facets("infra"), ["P"], None),
    ("2 infra stands, text says fsdp", [INFRA], facets(), ["P"], None),
    ("2 infra, no reproduction asked", [], facets("infra", **NO_REPRO), [INFRA, "P", "C"], None),
    ("2 low falls back", [], facets("infra", confidence="low"), [PARALLEL, REVIEW, "P"], None),
    ("3 modules", [], facets(), [PARALLEL, FSDP, "P", "C"], None),
    (
        "3 two modules",
        [],
        facets(modules=(FSDP, "module: dtensor")),
        [PARALLEL, FSDP, "module: dtensor", "P", "C"],
        None,
    ),
    ("3 module stands", [FSDP], facets(), [PARALLEL, "P", "C"], None),
    ("3 route stands", [PARALLEL], facets(), [FSDP, "P", "C"], None),
    ("3 low", [], facets(confidence="low", modules=()), [PARALLEL, REVIEW, "P"], None),
    (
        "4 feature",
        [],
        facets(kind="feature", repro_expected=False),
        [PARALLEL, FSDP, "feature", "P", "C"],
        None,
    ),
    (
        "4 enhancement for speed",
        [],
        facets(kind="enhancement", performance=True, repro_expected=False),
        [PARALLEL, FSDP, "enhancement", "module: performance", "P", "C"],
        None,
    ),
    (
        "4 question",
        [],
        facets(kind="question", repro_expected=False),
        [PARALLEL, FSDP, "P", "C"],
        None,
    ),
    (
        "4 not on infra",
        [],
        facets("infra", kind="feature", repro_expected=False),
        [INFRA, "P", "C"],
        None,
    ),
    ("5 parallelisms", [], facets(**URGENT), [PARALLEL, FSDP, REVIEW], None),
    ("5 infra", [], facets("infra", **URGENT), [INFRA, REVIEW], None),
    ("5 infra stands", [INFRA], facets("infra", **URGENT), [REVIEW], None),
    ("5 low", [], facets(confidence="low", modules=(), **URGENT), [PARALLEL, REVIEW], None),
    (
        "6 no reproduction",
        [],
        facets(**NO_REPRO),
        [PARALLEL, FSDP, REPRO, "P"],
        "needs_distributed_reproduction",
    ),
    (
        "3 low + 6",
        [],
        facets(confidence="low", modules=(), **NO_REPRO),
        [PARALLEL, REVIEW, REPRO, "P"],
        "needs_distributed_reproduction",
    ),
    (
        "5 + 6",
        [],
        facets(**URGENT, **NO_REPRO),
        [PARALLEL, FSDP, REVIEW, REPRO],
        "needs_distributed_reproduction",
    ),
    ("review stands: no classified", [REVIEW], facets(), [PARALLEL, FSDP, "P"], None),
    (
        "classified stands and stays",
        ["triaged"],
        facets(**NO_REPRO),
        [PARALLEL, FSDP, REPRO, "P"],
        "needs_distributed_reproduction",
    ),
]


@pytest.mark.parametrize("profile", MARKERS)
@pytest.mark.parametrize(
    ("name", "labels", "found", "added", "comment"), ROWS, ids=lambda x: str(x)[:40]
)
def test_a_row_of_the_table(name, labels, found, added, comment, profile):
    processed, classified = MARKERS[profile]
    markers = {"P": processed, "C": classified}
    expected = [markers.get(label, label) for label in added]
    made = plan(found, *labels, profile=profile)
    assert list(made.add_labels) == [label for label in expected if label is not None]
    assert made.comment == comment
    assert not made.comment_suppressed


def test_labels_that_stand_in_other_capitals_are_not_added_again():
    assert plan(facets(), "Module: FSDP", "Bot-Triaged").add_labels == (PARALLEL, "triaged")


def test_a_route_that_a_bot_put_is_no_classification_by_people():
    timeline = (labelled(FSDP, OTHER_BOT), labelled(PARALLEL, BOT, 2))
    assert plan(facets(), FSDP, PARALLEL, timeline=timeline).step == "3: modules"


def test_the_module_of_the_parent_bot_counts_beside_a_persons_route():
    timeline = (labelled(FSDP, OTHER_BOT), labelled(PARALLEL, PERSON, 2))
    assert plan(facets(), FSDP, PARALLEL, timeline=timeline).step == "0: classified by people"


def test_a_label_that_a_person_removed_stays_away():
    timeline = (
        labelled(FSDP, OTHER_BOT),
        labelled(FSDP, PERSON, 2, event="unlabeled"),
    )
    made = plan(facets(), timeline=timeline)
    assert made.add_labels == (PARALLEL, "bot-triaged", "triaged")
    assert [*map(str, made.notes)] == ["`module: fsdp` is not added: a person removed it."]


def test_a_label_that_a_bot_removed_may_come_back():
    timeline = (labelled(FSDP, BOT), labelled(FSDP, OTHER_BOT, 2, event="unlabeled"))
    assert FSDP in plan(facets(), timeline=timeline).add_labels


def test_a_classified_marker_that_stands_is_told_of():
    (note,) = plan(facets(**NO_REPRO), "triaged").notes
    assert str(note).startswith("`triaged` was there before")


def test_everywhere_reaches_types_and_reproduction_on_all_routes():
    from dataclasses import replace

    open_policy = replace(policy(), reaches_everywhere=True)
    facts = issue()
    made = make_plan(facts, facets("infra", **NO_REPRO), open_policy, profile_of(open_policy))
    assert made.add_labels == (INFRA, REPRO, "bot-triaged")
    assert made.comment == "needs_distributed_reproduction"


def test_a_plan_adds_no_label_that_the_policy_does_not_list():
    made = plan(facets(modules=("module: surprise", "high priority")))
    assert made.add_labels == (PARALLEL, "bot-triaged", "triaged")


# ------------------------------------------------------------------------------------- skips
def skipped(*labels: str, profile="current", mode="sweep", timeline=None, **facts):
    standing = standing_of(issue(labels=labels, timeline=timeline, **facts), policy())
    return skip_reason(standing, profile_of(policy(), profile), mode)


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"is_pull_request": True}, "pull_request"),
        ({"state": "closed"}, "closed"),
        ({"locked": True}, "locked"),
    ],
)
def test_what_is_no_open_issue_is_left_alone(facts, reason):
    assert skipped(QUEUE, **facts) == reason
    assert skipped(QUEUE, mode="single", **facts) == reason


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        (["oncall: distributed"], None),
        (["OnCall: Distributed"], None),
        (["oncall: distributed infra"], "not_in_queue"),
        (["oncall: distributed checkpointing"], "not_in_queue"),
        (["release notes: distributed (checkpoint)"], "not_in_queue"),
        ([], "not_in_queue"),
    ],
)
def test_the_queue_label_is_a_whole_name_in_any_capitals(labels, reason):
    assert skipped(*labels) == reason


@pytest.mark.parametrize(
    ("profile", "labels", "reason"),
    [
        ("current", ["bot-triaged"], None),
        ("current", ["bot-triaged", FSDP], None),
        ("current", ["bot-triaged", PARALLEL], "already_processed"),
        ("current", ["Bot-Triaged", REVIEW], "already_processed"),
        ("current", ["bot-triaged", REPRO], "already_processed"),
        ("current", ["ptd-bot-triaged"], "already_processed"),
        ("earlier", ["ptd-bot-triaged"], "already_processed"),
        ("earlier", ["bot-triaged", PARALLEL], None),
        ("split", ["ptd-bot-triaged"], "already_processed"),
        ("split", ["bot-triaged", PARALLEL], None),
        ("split", ["triaged", PARALLEL], None),
    ],
)
def test_a_processed_marker(profile, labels, reason):
    assert skipped(QUEUE, *labels, profile=profile) == reason
    assert skipped(QUEUE, *labels, profile=profile, mode="single") in (None, "awaiting_human")


@pytest.mark.parametrize(
    ("labels", "timeline", "reason"),
    [
        pytest.param([REVIEW, PARALLEL], None, "awaiting_human", id="no timeline, beside a route"),
        pytest.param([REPRO], None, None, id="no timeline, alone"),
        pytest.param([REVIEW], [labelled(REVIEW, BOT)], "awaiting_human", id="the bot put it"),
        pytest.param([REPRO, PARALLEL], [labelled(REPRO, PERSON)], None, id="a person put it"),
        pytest.param(
            [REVIEW],
            [
                labelled(REVIEW, BOT),
                labelled(REVIEW, PERSON, 2, event="unlabeled"),
                labelled(REVIEW, PERSON, 3),
            ],
            None,
            id="a person put it back",
        ),
    ],
)
def test_what_awaits_people(labels, timeline, reason):
    put = tuple(timeline) if timeline else None
    assert skipped(QUEUE, *labels, timeline=put) == reason
    assert skipped(QUEUE, *labels, timeline=put, mode="single") == reason


@pytest.mark.parametrize(
    ("label", "put", "removed", "reason"),
    [
        (INFRA, BOT, PERSON, "human_removed_label"),
        (REVIEW, BOT, PERSON, "human_removed_label"),
        (INFRA, PERSON, PERSON, None),
        (INFRA, BOT, BOT, None),
        (REPRO, BOT, PERSON, None),
        (FSDP, BOT, PERSON, None),
    ],
)
def test_a_person_took_away_what_the_bot_had_put(label, put, removed, reason):
    timeline = (labelled(label, put), labelled(label, removed, 2, event="unlabeled"))
    assert skipped(QUEUE, timeline=timeline) == reason


def test_a_removed_label_that_came_back_is_no_refusal():
    timeline = (
        labelled(INFRA, BOT),
        labelled(INFRA, PERSON, 2, event="unlabeled"),
        labelled(INFRA, PERSON, 3),
    )
    assert skipped(QUEUE, INFRA, timeline=timeline) is None
