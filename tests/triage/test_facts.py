"""Facts from GitHub's REST shape, whatever is missing in it."""

from __future__ import annotations

import pytest

from ciops.errors import UsageError
from ciops.triage.facts import from_rest

CASE = {
    "id": "x",
    "issue": {
        "number": 7,
        "title": "t",
        "body": None,
        "labels": [{"name": "a"}, "b"],
        "user": None,
        "pull_request": {"url": "u"},
        "locked": True,
        "reactions": {"+1": 3},
    },
    "comments": [
        {
            "id": 1,
            "user": {"login": "m", "type": "Bot"},
            "author_association": "MEMBER",
            "body": "hi",
        }
    ],
    "timeline": [
        {"event": "unlabeled", "label": {"name": "a"}, "actor": {"login": "p"}, "created_at": "2"},
        {"event": "labeled", "label": {"name": "a"}, "actor": {"login": "p"}, "created_at": "1"},
        {"event": "commented"},
    ],
    "facets": {"distributed": False},
}


def test_a_case_becomes_facts():
    facts = from_rest(CASE)
    assert (facts.id, facts.number, facts.labels, facts.thumbs_up) == ("x", 7, ("a", "b"), 3)
    assert facts.is_pull_request
    assert facts.locked
    assert facts.body == ""
    assert facts.author.login == "ghost"
    assert facts.comments[0].author.is_bot
    assert [change.event for change in facts.timeline or ()] == ["labeled", "unlabeled"]


@pytest.mark.parametrize("timeline", [None, [], [{"event": "commented"}]])
def test_an_empty_timeline_is_none(timeline):
    assert from_rest({**CASE, "timeline": timeline}).timeline is None


def test_without_an_id_the_number_names_it():
    assert from_rest({"issue": {"number": 9}}).id == "9"


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ({}, '"issue" is NoneType, not an object'),
        ({"issue": []}, '"issue" is list, not an object'),
        ({"issue": {}, "comments": {}}, '"comments" is dict, not a list'),
        ({"issue": {}, "comments": [3]}, '"comments" is int, not an object'),
        ({"issue": {"labels": "a"}}, '"labels" is str, not a list'),
    ],
)
def test_a_wrong_shape_is_named(case, words):
    with pytest.raises(UsageError, match=words):
        from_rest(case)
