"""What would change a decision is tried out: each change, applied from its words, flips it."""

from __future__ import annotations

import json

import pytest

from ciops.errors import UsageError
from ciops.triage.decide import judge_facts
from ciops.triage.edits import MAINTAINER, Edit, apply_edit, apply_words, describe, parse_edit
from ciops.triage.facts import from_rest
from ciops.triage.would_change import change_json, facet_value, would_change
from triage.issue_making import CASES, decided, issue, policy, said

FILES = sorted(CASES.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_change_flips_its_facet(path):
    facts = from_rest(json.loads(path.read_text(encoding="utf-8")))
    changes = would_change(facts, decided(facts), policy())
    assert changes
    for change in map(change_json, changes):
        edited = apply_words(facts, change["change"])
        after = facet_value(judge_facts(edited, policy()).facets, change["facet"])
        assert after == change["to"] != change["from"]


def test_the_facets_that_matter_have_a_way_out():
    found = {change.facet for path in FILES[:12] for change in _changes(path)}
    assert {"sub_oncall", "modules", "high_priority", "type", "has_reproduction"} <= found


def _changes(path):
    facts = from_rest(json.loads(path.read_text(encoding="utf-8")))
    return would_change(facts, decided(facts), policy())


EDITS = [
    Edit("body", 3, 3, text="a line"),
    Edit("body", 3, 5, text="some lines"),
    Edit("comment 2", 1, 1, text='with "quotes"; and more'),
    Edit("title", 1, 1, text="the title"),
    Edit("body", zone="log", text="NCCL WARN; remove body:3"),
    Edit("title", zone="title", text="crash"),
    Edit(MAINTAINER, text="The root cause is in DDP."),
]


@pytest.mark.parametrize("edit", EDITS, ids=describe)
def test_an_edit_in_words_is_the_edit(edit):
    read = parse_edit(describe(edit))
    facts = issue("t", "1\n2\n3\n4\n5\n6", said("a"), said("b"))
    assert apply_edit(facts, read) == apply_edit(facts, edit) != facts


@pytest.mark.parametrize(
    ("words", "title", "body"),
    [
        ('remove body:2 "two"', "t", "one\n\nthree"),
        ("remove body:1-2", "t", "\n\nthree"),
        ("add to title: hangs", "t hangs", "one\ntwo\nthree"),
        ("add to body as prose: it hangs", "t", "it hangs\n\none\ntwo\nthree"),
        ("add to body as log: WARN", "t", "```\nWARN\n```\n\none\ntwo\nthree"),
        ('remove body:3 "x"; add to title: y', "t y", "one\ntwo\n"),
    ],
)
def test_words_are_applied(words, title, body):
    edited = apply_words(issue("t", "one\ntwo\nthree"), words)
    assert (edited.title, edited.body) == (title, body)


def test_a_maintainers_words_come_as_a_comment():
    edited = apply_words(issue(), "add a maintainer's comment: It is DDP.")
    assert [(c.association, c.body) for c in edited.comments] == [("MEMBER", "It is DDP.")]


def test_other_words_are_refused():
    with pytest.raises(UsageError, match="is no edit"):
        parse_edit("close the issue")
