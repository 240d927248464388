"""A comment that stands, in whatever words, is not repeated."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from triage.issue_making import said
from triage.test_plan import NO_REPRO, NOT_DISTRIBUTED, REPRO, facets, plan

ASKED = "Could you share a minimal script that reproduces this?"
DATA = Path(__file__).resolve().parents[1] / "data" / "triage"
SAID = yaml.safe_load((DATA / "requests.yml").read_text(encoding="utf-8"))
MARKER = "<!-- triage-action: needs_distributed_reproduction -->"


@pytest.mark.parametrize(
    ("comment", "suppressed"),
    [
        pytest.param(said(ASKED, "MEMBER"), True, id="a maintainer asked"),
        pytest.param(said(ASKED, "OWNER"), True, id="the owner asked"),
        pytest.param(said(ASKED, login="any[bot]", bot=True), True, id="another bot asked"),
        pytest.param(said(ASKED, login="pytorchbot"), True, id="the parent bot asked"),
        pytest.param(said(MARKER, login="pytorch-bot[bot]", bot=True), True, id="the bot's marker"),
        pytest.param(said(ASKED), False, id="a stranger asked"),
        pytest.param(said(ASKED, "CONTRIBUTOR"), False, id="a contributor asked"),
        pytest.param(said(MARKER), False, id="a stranger forged the marker"),
        pytest.param(said(MARKER, "MEMBER"), False, id="a member pasted the marker"),
        pytest.param(said("> " + ASKED + "\n\nThanks", "MEMBER"), False, id="only quoted"),
        pytest.param(
            said("I can look into it.", "MEMBER"), False, id="a maintainer said something else"
        ),
    ],
)
def test_a_request_that_stands_is_not_repeated(comment, suppressed):
    made = plan(facets(**NO_REPRO), comments=(comment,))
    assert made.comment == "needs_distributed_reproduction"
    assert made.comment_suppressed is suppressed
    assert REPRO in made.add_labels


@pytest.mark.parametrize(
    "words", ["This isn't a distributed issue.", "Mislabelled, re-routing to the compiler oncall"]
)
def test_a_notice_that_it_is_not_distributed_is_not_repeated(words):
    assert plan(NOT_DISTRIBUTED, comments=(said(words, "MEMBER"),)).comment_suppressed
    assert not plan(NOT_DISTRIBUTED, comments=(said(words),)).comment_suppressed


@pytest.mark.parametrize(
    ("words", "suppressed"),
    [(x, True) for x in SAID["asks"]] + [(x, False) for x in SAID["does_not_ask"]],
)
def test_a_request_in_other_words_is_a_request(words, suppressed):
    made = plan(facets(**NO_REPRO), comments=(said(words, "MEMBER"),))
    assert made.comment_suppressed is suppressed


@pytest.mark.parametrize(
    ("words", "suppressed"),
    [(x, True) for x in SAID["notices"]] + [(x, False) for x in SAID["no_notices"]],
)
def test_a_notice_in_other_words_is_a_notice(words, suppressed):
    made = plan(NOT_DISTRIBUTED, comments=(said(words, "COLLABORATOR"),))
    assert made.comment_suppressed is suppressed


def test_the_earlier_profile_looks_for_its_own_marker_alone():
    asked, marked = said(ASKED, "MEMBER"), said(MARKER, login="pytorch-bot[bot]", bot=True)
    assert not plan(facets(**NO_REPRO), profile="earlier", comments=(asked,)).comment_suppressed
    assert plan(facets(**NO_REPRO), profile="earlier", comments=(marked,)).comment_suppressed
