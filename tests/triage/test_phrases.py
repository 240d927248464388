"""Urgent or not, in the words of many people."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from triage.issue_making import facets, said

DATA = Path(__file__).resolve().parents[1] / "data" / "triage"
FORM = "### 🐛 Describe the bug\n\n"


def told(name):
    return yaml.safe_load((DATA / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("phrase", told("phrases.yml"), ids=lambda x: x["title"][:50])
def test_a_phrase_is_urgent_or_not(phrase):
    found = facets(phrase["title"], phrase.get("body", "")).high_priority
    assert bool(found) is (phrase["family"] is not None), found


@pytest.mark.parametrize(
    "report", [*told("modest.yml"), *told("blamed.yml")], ids=lambda x: x["title"][:50]
)
def test_what_is_modestly_told_is_urgent_or_not(report):
    comments = [said(c["body"], c["as"], c["by"]) for c in report.get("comments", ())]
    found = facets(report["title"], report["body"], *comments).high_priority
    assert bool(found) is (report["family"] is not None), found


@pytest.mark.parametrize(
    "statement", [*told("statements.yml"), *told("tellings.yml")], ids=lambda x: x["title"][:50]
)
def test_a_statement_is_urgent_or_not(statement):
    comments = [
        said(body, "MEMBER" if who == "maintainer" else "NONE", who)
        for comment in statement.get("comments", ())
        for who, body in comment.items()
    ]
    found = facets(statement["title"], FORM + statement["body"], *comments).high_priority
    family = statement["family"]
    assert family in found if family else not found, found


SENTENCES = [
    pytest.param(group["title"], sentence, urgent, id=sentence[:60])
    for group in told("sentences.yml")
    for urgent in (True, False)
    for sentence in group["urgent" if urgent else "not_urgent"]
]


@pytest.mark.parametrize(("title", "sentence", "urgent"), SENTENCES)
def test_one_sentence_is_urgent_or_not(title, sentence, urgent):
    found = facets(title, f"Four processes, official wheel.\n\n{sentence}").high_priority
    assert bool(found) is urgent, found
