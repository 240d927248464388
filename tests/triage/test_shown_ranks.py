"""Values of ranks side by side: when they say that copies of one thing came apart."""

from __future__ import annotations

import pytest

from ciops.triage.issue_text import read_issue
from ciops.triage.shown_ranks import ranks_that_differ
from triage.issue_making import issue, policy

HEAD = "| step | rank 0 | rank 1 | rank 2 |\n|---|---|---|---|\n"
APART = [
    HEAD + "| 0 | 9af1 | 9af1 | 9af1 |\n| 50 | 7e02 | 7e02 | 53bd |",
    "| it | GPU 0 | GPU 1 |\n|--|--|--|\n| 1 | 5.0134 | 5.0134 |\n| 2 | 4.8700 | 4.9213 |",
    "step | r0 | r1\n--|--|--\n1 | `a3f0` | `a3f0`\n2 | `a3f1` | `77b2`",
    "rank0 3fe0, rank1 3fe0, rank2 91bc, rank3 3fe0",
    "rank 0: 0.1132, rank 1: 0.1132, rank 2: 0.0971, rank 3: 0.1132",
]
NOT_APART = [
    HEAD + "| 0 | 9af1 | 9af1 | 9af1 |\n| 50 | 7e02 | 7e02 | 7e02 |",
    HEAD + "| 0 | 9af1 | 53bd | 7e02 |\n| 50 | 7e02 | 11c0 | 53bd |",
    HEAD + "| 0 | 12 GB | 12 GB | 12 GB |\n| 50 | 12 GB | 14 GB | 12 GB |",
    HEAD + "| 0 | ok | ok | ok |\n| 50 | ok | hangs | ok |",
    HEAD + "| memory | 1.1321 | 1.1321 | 1.1321 |\n| memory | 1.1321 | 1.1399 | 1.1321 |",
    "| step | loss | lr |\n|---|---|---|\n| 0 | 9af1 | 9af1 |\n| 50 | 7e02 | 53bd |",
    "rank 0: 2.312, rank 1: 2.284, rank 2: 2.401",
    "step time: rank 0: 0.3121, rank 1: 0.3121, rank 2: 0.4121",
    "rank 0: 1.132 s, rank 1: 1.132 s, rank 2: 1.971 s",
    "rank 0: 9af1, rank 1: 53bd",
]


def line_of(body):
    words = next(x.lists_not_after for x in policy().priorities if x.lists_not_after)
    return ranks_that_differ(read_issue(issue("t", body), policy().reading, frozenset()), words)


@pytest.mark.parametrize("body", APART)
def test_copies_that_came_apart(body):
    assert line_of(body) is not None


@pytest.mark.parametrize("body", NOT_APART)
def test_what_stays_equal_or_was_never_equal_or_is_measured(body):
    assert line_of(body) is None
