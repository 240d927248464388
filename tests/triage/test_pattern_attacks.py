"""Patterns made to run away: refused when they are loaded, tried, and cut off when they run."""

from __future__ import annotations

import random
import re
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from ciops.errors import CiopsError, PartialError
from ciops.triage import run_issue, run_work
from ciops.triage.decide import decide
from ciops.triage.interruption import within
from ciops.triage.pattern_lint import first_fault
from ciops.triage.policy_check import check_policy
from ciops.triage.policy_file import load_policy
from triage.small_world import SMALL, TO_APP, TO_DISK, forge_with, issue, run

EXPONENTIAL = {
    "nested": r"word(a+)+z",
    "nested and bounded": r"word(?:\w+\s?){5}!",
    "alternatives alike": r"word(?:a|a){40}z",
    "one the start of another": r"word(?:a|aa){60}z",
    "several that overlap": r"(?:word|a)(?:a|b|ab|ba){30}z",
    "a class and its letter": r"word(?:\w|a){0,100}z",
    "options in a repeat": r"word(?:a?){40}a{40}z",
    "many options": "word" + "a?" * 30 + "a" * 30,
    "many options, other cases": "word" + "[aA]?" * 30 + "z",
    "many alternatives": "word" + "(a|a)" * 30 + "z",
    "any text in a repeat": r"(?:a.*){3}z",
    "repeats of repeats": r"word(?:(?:a|aa){5}){5}z",
    "two runs, again and again": "word" + r"\w{0,30}\w{0,30}!" * 6,
    "in a look": r"word(?=(?:a|aa){40}z)",
    "a reference back": r"word(a*)\1\1z",
    "written apart": r"(?x) word (?:a | a #[)\n ){40} z",
    "a name asked for": r"word(?P<n>a*)(?P=n)*z",
    "a condition": r"word(a)?(?(1)a*|b*)*z",
}


@pytest.mark.parametrize("pattern", EXPONENTIAL.values(), ids=EXPONENTIAL)
def test_a_pattern_that_grows_without_end_is_refused(pattern: str) -> None:
    assert first_fault(pattern) is not None


PLAIN = [
    r"\b(?:please )?(?:add|support|allow|implement|make)\b",
    r"(?:\[[^\]\n]{1,30}\]\W{0,3}){0,3}docs?\b",
    r"\b(?:grad(?:ient)?s?|loss(?:es)?)\b.{0,40}\b(?:differs?|wrong)\b",
    r"exit(?:ed)? (?:with )?(?:code|status) \d{1,3}\b",
    r"word(?:a|b){40}z",
    r"version \d{1,3}(?:\.\d{1,3}){0,3}",
    r"(?i:error): .{0,60}µs",
]


@pytest.mark.parametrize("pattern", PLAIN)
def test_a_pattern_as_people_write_it_is_taken(pattern: str) -> None:
    assert first_fault(pattern) is None


ATOMS = ["a", "b", "ab", "ba", "aa", "!", " ", r"\w", r"\s", ".", "[ab]", "[^b]", r"\b", r"\d"]
REPEATS = ["", "", "?", "*", "+", "{0,3}", "{2}", "{0,30}", "{5}", "{0,200}", "{20}", "{40}"]
PIECES = ("a", "ab", "a ", "aab", "word", "worda", "aa!", "x")
LINES = [(piece * 1000)[:999] + "\x7f" for piece in PIECES]


def any_pattern(dice: random.Random, depth: int = 3) -> str:
    out = ""
    for _ in range(dice.randint(1, 4)):
        if depth and dice.random() < 0.5:
            inner = "|".join(any_pattern(dice, depth - 1) for _ in range(dice.randint(1, 3)))
            atom = f"(?:{inner})"
        else:
            atom = dice.choice(ATOMS)
        out += atom + ("" if atom == r"\b" else dice.choice(REPEATS))
    return out


@pytest.mark.parametrize("seed", range(6))
def test_what_is_taken_is_quick_on_every_line(seed: int) -> None:
    """Patterns made at random: the lint may refuse a harmless one, and never takes a runaway."""
    dice = random.Random(seed)
    taken = 0
    while taken < 40:
        pattern = f"word{any_pattern(dice)}z"
        if first_fault(pattern) is not None:
            continue
        taken += 1
        compiled = re.compile(pattern, re.ASCII | re.IGNORECASE)
        for line in LINES:
            with within(20, pattern):
                start = time.process_time()
                compiled.search(line)
                assert time.process_time() - start < 1, pattern


# --- terms, check and run -------------------------------------------------------------------


def policy_with(tmp_path: Path, old: str, new: str) -> Path:
    text = SMALL.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "policy.yml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def test_a_term_of_many_stars_is_refused(tmp_path: Path) -> None:
    path = policy_with(tmp_path, "terms: [", "terms: ['a*a*a*a*a*a*a*z', ")
    with pytest.raises(
        CiopsError, match=r'policy\.yml:\d+: .*term "a\*a\*.*Write it with fewer \*'
    ):
        load_policy(path)


def test_policy_check_names_a_slow_pattern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ciops.triage.policy_check.stalls_on", lambda pattern: "a")
    path = policy_with(tmp_path, "terms: [", "patterns: ['slow.{0,9}today'], terms: [")
    _, problems, _ = check_policy(path)
    assert any('takes over 0.25 s on repeated "a"' in problem for problem in problems)


RUNAWAY = re.compile("(?:a|a)*z")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this system")
def test_a_pattern_that_runs_away_is_cut_off() -> None:
    start = time.monotonic()
    with (
        pytest.raises(PartialError, match=r"issue 7 could not be read in 0\.2 s"),
        within(0.2, "issue 7"),
    ):
        RUNAWAY.search("a" * 60)
    assert time.monotonic() - start < 5
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this system")
@pytest.mark.parametrize("which", [["--issue", "7", "8"], ["--sweep"]], ids=["named", "sweep"])
def test_an_issue_that_a_pattern_runs_away_on_holds_up_no_other(
    which: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stuck(facts, policy, profile, mode):
        if facts.number == 7:
            RUNAWAY.search("a" * 60)
        return decide(facts, policy, profile, mode)

    monkeypatch.setattr(run_work, "Desk", partial(run_issue.Desk, decide=stuck))
    monkeypatch.setattr(run_issue, "DECIDING", 0.3)
    with forge_with(issue(7, TO_DISK), issue(8, TO_APP)) as forge:
        ran = run(forge, tmp_path, *which)
        assert "sorted" in forge.labels(8)
        assert "team: disk" not in forge.labels(7)
    assert ran.status == 1
    assert "issue 7 could not be read in 0.3 s. Run `policy check`" in ran.said
