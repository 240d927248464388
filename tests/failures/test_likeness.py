"""Which of the lines that a tool without a rule printed looks most like its failure."""

from __future__ import annotations

import pytest

from ciops.failures.likeness import likeness, likest


@pytest.mark.parametrize(
    "text",
    [
        "plan.json has no owner",
        "the service isn't ready",
        "Unused dependencies",
        "a.bin b.bin differ: byte 12, line 1",
        "serial is older than the state",
        "got 14 but 15 came in",
        "would reformat shop/cart.py",
        "Whoa! production is frozen",
        "verify: page 14 reads back as 0xff",
        "shop.nix: line 3: brace",
    ],
)
def test_a_sign_of_failure_speaks_for_a_line(text: str) -> None:
    assert likeness(text) > 0


@pytest.mark.parametrize(
    "text",
    [
        "hint: do not run it twice",
        "Run 'shopctl plan' again",
        "To fix it, do not push",
        "see https://shop.example/not-ready",
        "usage: tool [-n not]",
        "Checking what is not there...",
        "Writing 30%",
        "tool: done",
        "2 of 3 well",
        "14 rows, 3 columns",
        "[Pipeline] }",
        "Nothing was changed.",
    ],
)
def test_advice_progress_and_counts_speak_against_a_line(text: str) -> None:
    assert likeness(text) < 0


@pytest.mark.parametrize("text", ["until Monday", "the unit is up", "production", "/etc/shop"])
def test_ordinary_words_say_nothing(text: str) -> None:
    assert likeness(text) == 0


@pytest.mark.parametrize(
    ("texts", "at"),
    [
        (["one", "two is not three", "hint: not so"], 1),
        (["a is not b", "tool: a is not b"], 0),
        (["tool: a", "tool: a is not b"], 1),
        (["a", "Writing 10%", "b", "c", "closing port"], 2),
        (["Usage: tool", "  -n do not write", "", "  -x", "words"], 4),
        (["words", "Usage: tool", "  -n do not write"], 0),
        (["Writing 10%", "Writing 20%"], None),
        ([], None),
    ],
    ids=[
        "the line with most signs",
        "the first of about equals",
        "more signs lower down",
        "without signs the start of the last words",
        "below how to use it",
        "above how to use it",
        "progress alone",
        "nothing at all",
    ],
)
def test_the_likest_line_is(texts: list[str], at: int | None) -> None:
    assert likest([(text, 0) for text in texts]) == at


def test_what_rules_think_of_a_line_counts() -> None:
    assert likest([("a is not b", -12), ("a frozen plan", 0)]) == 1
    assert likest([("a is not b", 0), ("a broken plan", 8)]) == 1
