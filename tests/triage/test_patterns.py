"""Terms and patterns: what they match, how they are found, which are refused."""

from __future__ import annotations

import json
import re
import time

import pytest

from ciops.triage.anchor_index import AnchorIndex
from ciops.triage.needed_words import needed_words
from ciops.triage.pattern_lint import first_fault
from ciops.triage.patterns import (
    compiled,
    fold,
    folded_source,
    needed_by_term,
    term_pattern,
    words_of,
)
from ciops.triage.policy_check import _all_signals
from triage.issue_making import CASES, policy


@pytest.mark.parametrize(
    ("term", "line"),
    [
        ("FSDP", "with FSDP it hangs"),
        ("FSDP", "(FSDP)"),
        ("FSDP", "FSDP-wrapped"),
        ("ncclComm*", "in ncclCommInitRank now"),
        ("process group", "a Process Group"),
        ("nn.DataParallel", "torch.nn.DataParallel(x)"),
        ("DTensor", "DTensor/TP"),
    ],
)
def test_a_term_is_found(term, line):
    assert compiled(term_pattern(term), case_sensitive=False).search(line)


@pytest.mark.parametrize(
    ("term", "line"),
    [
        ("FSDP", "FSDP2 is"),
        ("FSDP", "my_FSDP"),
        ("NCCL", "nvidia-nccl-cu12==2.27"),
        ("NCCL", "/usr/lib/nccl/"),
        ("DTensor", "MyDTensorX"),
    ],
)
def test_a_term_is_no_part_of_a_longer_name(term, line):
    assert not compiled(term_pattern(term), case_sensitive=False).search(line)


@pytest.mark.parametrize(
    ("pattern", "anchors"),
    [
        (r"\bFSDP[12]?\b", {"fsdp"}),
        (r"\b(?:hang|hung|stuck)s?\b", {"hang", "hung", "stuck"}),
        (r"torch/distributed/(?:fsdp|rpc)/", {"distributed"}),
        (r"ran for \d+ milliseconds", {"milliseconds"}),
        (r"(?<!\w)DataParallel\(", {"dataparallel"}),
        (r"\bno\b.{0,9}\bsupport(?:ed)?\b", {"support"}),
        (r"\bexit\s*code\b", {"exit"}),
        (r"\d{2,} nodes\b", {"nodes"}),
        (r"クラッシュ|落ち", {"クラッシュ", "落ち"}),
        (r"[a-z]+foo", set()),
        (r"x?y?z?", set()),
    ],
)
def test_anchors_are_words_that_a_match_needs(pattern, anchors):
    assert {anchor.text for anchor in needed_words(pattern).anchors} == anchors


def test_the_anchor_of_a_term_is_its_rarest_word():
    assert needed_by_term("torch save", {"torch": 9}).anchors[0].text == "save"
    assert needed_by_term("torch save").anchors[0].text == "torch"


def test_no_example_of_the_policy_is_lost_by_its_anchors():
    for signal in _all_signals(policy()):
        index = AnchorIndex()
        zones = frozenset({"prose"})
        index.add(0, signal.terms, signal.patterns, signal.case_sensitive, zones)
        for example in signal.matches:
            if signal.search(example) is not None:
                assert found_by(index, example), (signal.id, example)


def found_by(index: AnchorIndex, line: str) -> set[int]:
    folded = fold(line)
    return {
        matcher.owner
        for matcher in index.candidates(folded, words_of(folded), "prose")
        if (matcher.regex or matcher.compile()).search(folded if matcher.folded else line)
    }


def test_no_line_of_a_case_is_judged_otherwise_for_the_short_cuts():
    """The words that pick the patterns, and the lower case, change nothing that is found."""
    index, plain = AnchorIndex(), []
    for number, signal in enumerate(policy().signals):
        index.add(
            number, signal.terms, signal.patterns, signal.case_sensitive, frozenset({"prose"})
        )
        sources = (*map(term_pattern, signal.terms), *signal.patterns)
        plain.append([compiled(source, signal.case_sensitive) for source in sources])
    for line in sorted(lines_of_cases())[::6]:
        expected = {at for at, regexes in enumerate(plain) if any(r.search(line) for r in regexes)}
        assert found_by(index, line) == expected, line


def lines_of_cases() -> set[str]:
    bodies = (json.loads(path.read_text("utf-8"))["issue"]["body"] for path in CASES.glob("*"))
    return {line for body in bodies if body for line in body.splitlines() if len(line) > 12}


@pytest.mark.parametrize(
    ("pattern", "folds"),
    [
        (r"\bFSDP\d?\b", True),
        (r"\W{0,3}FSDP", False),
        (r"[A-Z]{3}", False),
        (r"(?P<worked>[12])", True),
        (r"(?P<Worked>[12])", False),
        (r"(?i:x)", False),
        (r"[a-z]\s", True),
    ],
)
def test_a_pattern_is_folded_where_that_means_the_same(pattern, folds):
    assert (folded_source(pattern) is not None) is folds


def test_folding_keeps_the_places_of_letters():
    assert len(fold("İstanbul ẞ Ω ǅ")) == len("İstanbul ẞ Ω ǅ")


def test_a_line_of_another_zone_has_no_candidates():
    index = AnchorIndex()
    index.add(0, ["FSDP"], [], False, frozenset({"title"}))
    assert index.candidates("fsdp", ["fsdp"], "title")
    assert not index.candidates("fsdp", ["fsdp"], "prose")


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+b",
        r"(?:\w+ )+x",
        r"word(?:a|b)*",
        r"\w+\w+ end",
        r".*foo.*bar",
        r"a{1,500}b",
        r".*",
        r"\d+",
        r"(foo",
        r"foo)",
        r"x(?:\w{1,40} ?){1,9}y",
        r"fails .*foo.*bar",
        r"^\s*$",
        r"\S",
        r"[a-z]{1,9}",
        r"\W*",
        r"(?:fails .*: .*)x",
    ],
)
def test_a_pattern_that_could_run_away_or_match_all_is_refused(pattern):
    assert first_fault(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"\bFSDP[12]?\b",
        r"foo.{0,40}bar.{0,60}baz",
        r"\btest_\w{3,80} \(\w{1,60}\.\w{1,80}\)",
        r"\b(?:\w{1,12} ){0,3}hangs\b",
        r"exit\s{0,8}: -\d+",
        r"x(?:\w{1,40} ){1,9}y",
        r"クラッシュ",
        r"[A-Z]{2,9}-\d+",
        r"[€$£]\s?\d+",
        r"\S{1,20}@\S{1,20}\.\w{2,9}",
        r"dial tcp .*: lookup .*",
        r"lookup .*: (.+)",
        r".*outage.*",
        r"outage\(.*: .*",
    ],
)
def test_a_bounded_pattern_is_taken(pattern):
    assert first_fault(pattern) is None
    re.compile(pattern)


LINES = ["a" * 1000, "no " * 333, "torch/" * 160, "with " * 200, "(((" * 300]
KNOWN_COST = re.compile(r"[a-z]{1,60}\d")
"""A pattern that is dear and bounded: what it takes tells how fast the machine is just now."""


@pytest.mark.parametrize("text", LINES)
def test_every_pattern_is_quick_on_a_long_line(text):
    """No pattern takes much longer than a known one does, on the same line at the same time."""
    allowed = 20 * quickest(lambda: KNOWN_COST.search("a" * 1000))
    late = [
        signal.id
        for signal in _all_signals(policy())
        if quickest(lambda signal=signal: signal.search(text), allowed) > allowed
    ]
    assert late == []


def quickest(work, enough=0.0) -> float:
    """The processor time of the quickest of some tries; one that is quick enough is the last."""
    took = float("inf")
    for _ in range(7):
        start = time.thread_time()
        work()
        took = min(took, time.thread_time() - start)
        if took <= enough:
            break
    return took
