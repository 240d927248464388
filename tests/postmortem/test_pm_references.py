"""What a reference names, where it leads, and when two name one thing."""

from __future__ import annotations

import pytest

from ciops.postmortem.references import (
    Links,
    find_references,
    link,
    read_reference,
    same,
)


@pytest.mark.parametrize(
    ("text", "kind", "repo", "name"),
    [
        ("org/ring#1290", "pull-request", "org/ring", "1290"),
        ("group/sub/proj!42", "merge-request", "group/sub/proj", "42"),
        ("#12", "pull-request", "", "12"),
        ("!12", "merge-request", "", "12"),
        ("PR #5751", "pull-request", "", "5751"),
        ("PR 5751", "pull-request", "", "5751"),
        ("MR !7", "merge-request", "", "7"),
        ("PR org/platform#5751", "pull-request", "org/platform", "5751"),
        ("org/ring@77d0a4e", "commit", "org/ring", "77d0a4e"),
        ("77d0a4e", "commit", "", "77d0a4e"),
        ("commit 1234567", "commit", "", "1234567"),
        ("fix/csv-writer", "branch", "", "fix/csv-writer"),
        ("branch fix/csv-writer", "branch", "", "fix/csv-writer"),
        ("org/ring@main", "branch", "org/ring", "main"),
        ("main", "branch", "", "main"),
        ("feature/ABC-123-thing", "branch", "", "feature/ABC-123-thing"),
        ("PLUG-2218", "ticket", "", "PLUG-2218"),
        ("https://github.com/org/ring/pull/7", "pull-request", "org/ring", "7"),
        ("https://gitlab.com/a/b/c/-/merge_requests/7", "merge-request", "a/b/c", "7"),
        ("https://gitlab.com/a/b/-/commit/77d0a4e1", "commit", "a/b", "77d0a4e1"),
        ("https://github.com/org/ring/tree/fix/x", "branch", "org/ring", "fix/x"),
        ("https://x.atlassian.net/browse/AB-7", "ticket", "", "AB-7"),
        ("https://ci.example.com/run/7", "url", "", "https://ci.example.com/run/7"),
        ("the usual place", "none", "", ""),
        ("a..b", "none", "", ""),
        ("x.lock", "none", "", ""),
        ("", "none", "", ""),
    ],
)
def test_reading(text, kind, repo, name):
    found = read_reference(text)
    assert (found.kind, found.repo, found.name) == (kind, repo, name)


def test_finding_in_a_text():
    text = "PR org/platform#5751（以前は #5612）、JIRA-12345、org/ring@77d0a4e、https://a.b/c。"
    names = [(each.kind, each.name) for each in find_references(text)]
    assert names == [
        ("pull-request", "5751"),
        ("pull-request", "5612"),
        ("ticket", "JIRA-12345"),
        ("commit", "77d0a4e"),
        ("url", "https://a.b/c"),
    ]


@pytest.mark.parametrize(
    "text", ["plugins.export#2", "a@b.example.com", "deadline", "C#7 sharp", "x/y"]
)
def test_what_only_looks_like_one(text):
    assert [each for each in find_references(text) if each.kind != "none"] == []


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("org/ring#7", "#7", True),
        ("org/ring#7", "https://github.com/org/ring/pull/7", True),
        ("Org/Ring#7", "org/ring#7", True),
        ("org/ring@77d0a4e", "77d0a4e1b2c3", True),
        ("org/ring#7", "org/other#7", False),
        ("org/ring#7", "org/ring#70", False),
        ("org/ring#7", "org/ring!7", False),
        ("org/ring#7", "PLUG-7", False),
        ("", "", False),
    ],
)
def test_naming_one_thing(one, other, equal):
    assert same(read_reference(one), read_reference(other)) is equal


@pytest.mark.parametrize(
    ("text", "links", "address"),
    [
        ("org/ring#7", Links(), "https://github.com/org/ring/issues/7"),
        ("org/ring@77d0a4e", Links(), "https://github.com/org/ring/commit/77d0a4e"),
        ("org/ring@fix-x", Links(), "https://github.com/org/ring/tree/fix-x"),
        ("a/b!7", Links(), "https://gitlab.com/a/b/-/merge_requests/7"),
        ("a/b#7", Links(forge="gitlab"), "https://gitlab.com/a/b/-/issues/7"),
        ("a/b@77d0a4e", Links("gitlab"), "https://gitlab.com/a/b/-/commit/77d0a4e"),
        ("PLUG-7", Links(jira="https://j.example.com"), "https://j.example.com/browse/PLUG-7"),
        ("PLUG-7", Links(), ""),
        ("#7", Links(), ""),
        ("fix/csv-writer", Links(), ""),
        ("org/ring#7", Links(github=""), ""),
        ("https://a.b/c", Links(), "https://a.b/c"),
    ],
)
def test_where_it_leads(text, links, address):
    assert link(read_reference(text), links) == address
