"""What every match of a pattern must hold: the anchors it is found by, and other literals."""

from __future__ import annotations

import re

import pytest

from ciops.triage.needed_words import needed_words
from triage.issue_making import policy


def literals(pattern: str) -> list[set[str]]:
    return [set(choice) for choice in needed_words(pattern).literals]


@pytest.mark.parametrize(
    ("pattern", "needs"),
    [
        (r"torch\.distributed\._tools", [{"torch.distributed._tools"}]),
        (r"\bran for \d+ milliseconds", [{"ran for "}, {" milliseconds"}]),
        (r"(?:Error|Exception)\b", [{"error", "exception"}]),
        (r"\b\d{1,4} ?[x×] ?8\b", [{"8"}]),
        (r"\b\d{1,4} ?[x×]", [set("0123456789")]),
        (r"\bdeadlocks?\b", []),
        (r"x?y?", []),
        (r"a|\w", []),
        (r"(?i)hidden words", []),
    ],
)
def test_a_line_without_them_need_not_be_searched(pattern, needs):
    assert literals(pattern) == needs


@pytest.mark.parametrize(
    ("pattern", "anchor"),
    [
        (r"(?<![\w.])checkpoint\(", "checkpoint"),
        (r"(?<!\w)DataParallel\(", "dataparallel"),
        (r"\bhangs?\b", "hang"),
        (r"\bdistributed/test_device_mesh", "distributed"),
    ],
)
def test_the_anchor_is_a_word_that_surely_starts_there(pattern, anchor):
    assert [found.text for found in needed_words(pattern).anchors] == [anchor]


def test_a_worn_word_is_no_anchor_where_another_is():
    worn = frozenset({"distributed", "device"})
    found = needed_words(r"\bdistributed/test_device_mesh\b", worn).anchors
    assert [anchor.text for anchor in found] == ["test"]
    alone = needed_words(r"\bdistributed\b", worn).anchors
    assert [anchor.text for anchor in alone] == ["distributed"]


def test_no_pattern_of_the_policy_matches_a_line_without_what_it_needs():
    for signal in policy().signals:
        for pattern in signal.patterns:
            needed = needed_words(pattern)
            for example in signal.matches:
                if re.search(pattern, example, re.IGNORECASE | re.ASCII):
                    line = example.lower()
                    assert all(any(x in line for x in choice) for choice in needed.literals), (
                        example
                    )
