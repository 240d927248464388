"""Urgent or not, in the words of many people; and which of two versions is the earlier one."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from ciops.triage.issue_text import read_issue
from ciops.triage.versions import UNSURE, Versions, parse_version, versions_of
from triage.issue_making import facets, issue, policy

FILE = Path(__file__).resolve().parents[1] / "data" / "triage" / "phrases.yml"
PHRASES = yaml.safe_load(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("told", PHRASES, ids=lambda told: told["title"][:50])
def test_a_phrase_is_urgent_or_not(told):
    found = facets(told["title"], told.get("body", "")).high_priority
    assert bool(found) is (told["family"] is not None), found


@pytest.mark.parametrize(
    ("body", "regressed"),
    [
        ("It worked in 2.4. On 2.5 it fails.", True),
        ("On 2.5 it fails, it worked on 2.4.", True),
        ("Worked with PyTorch 2.7.1. PyTorch 2.8.0: error", True),
        ("2.7.1 fine; 2.8.0 not", True),
        ("With 2.6.0 everything ran, with 2.7.0 it raises.", True),
        ("2.4 fails, but 2.5 works", False),
        ("In 2.4 it fails but works in 2.5.", False),
        ("on 2.5 it works, on 2.4 it fails", False),
        ("Works on torch 2.9 single GPU, fails with two.", False),
        ("Using torch 2.9.0, it ran for 3 hours and then raised.", False),
        ("I am on 2.9.1 and it gave RuntimeError.", False),
        ("With torch 2.9.1 training went fine for a day, then it hung.", False),
        ("It worked in 2.4.\n\n### Versions\nPyTorch version: 2.3.0", False),
        ("It worked in 2.4.\n\n### Versions\nPyTorch version: 2.5.0a0+git1", True),
    ],
)
def test_an_earlier_version_that_worked_makes_a_regression(body, regressed):
    assert ("regression" in facets("DDP barrier fails", body).high_priority) is regressed


@pytest.mark.parametrize(
    ("text", "version"), [("2.6.0+cu124", (2, 6, 0)), ("v2.7", (2, 7)), ("nightly", None)]
)
def test_a_version_is_read(text, version):
    assert parse_version(text) == version


def test_versions_are_compared_as_far_as_both_go():
    versions = Versions((2, 6, 0), frozenset())
    assert versions.is_earlier("2.5")
    assert versions.is_earlier("2.6 2.5.1")
    assert not versions.is_earlier("2.6")
    assert not versions.is_earlier("2.7.1")


def test_without_a_reported_version_the_others_that_are_named_tell():
    named = Versions(None, frozenset({(2, 4), (2, 5)}))
    assert named.is_earlier("2.4")
    assert not named.is_earlier("2.5")
    alone = Versions(None, frozenset())
    assert alone.is_earlier("2.4")
    assert not alone.is_earlier(f"{UNSURE}2.4")
    assert alone.is_earlier("nightly")


def test_a_size_is_no_version():
    reading = read_issue(issue("", "It takes 2.5 GB on 2.4 and ran in 1.2 s."), policy().reading)
    assert versions_of(reading, policy().version_shapes).mentioned == {(2, 4)}
