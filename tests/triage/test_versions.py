"""Which version worked and which fails, in the words of many people."""

from __future__ import annotations

import pytest

from ciops.triage.issue_text import read_issue
from ciops.triage.version_numbers import (
    NEWEST,
    OLDER,
    parse_version,
    precedes,
    reported_version,
)
from ciops.triage.version_trials import earlier_that_worked
from ciops.triage.versions import trials_of
from triage.issue_making import facets, issue, policy, said


def trials(text):
    return trials_of(read_issue(issue("", text), policy().reading), policy().versions)


def told(text):
    return {(trial.version, trial.works) for trial in trials(text)}


def regressed(text):
    reading = read_issue(issue("", text), policy().reading)
    reported = reported_version(reading, policy().version_shapes)
    return earlier_that_worked(trials_of(reading, policy().versions), reported) is not None


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2.6.0+cu124", (2, 6, 0)),
        ("v2.7", (2, 7)),
        ("20250131", (2025, 1, 31)),
        ("nightly", None),
    ],
)
def test_a_version_is_read(text, version):
    assert parse_version(text) == version


def test_versions_are_compared_as_far_as_both_go():
    assert precedes((2, 5), (2, 6, 0))
    assert precedes((2, 5, 1), (2, 6))
    assert not precedes((2, 6), (2, 6, 0))
    assert not precedes((2, 7, 1), (2, 6, 0))
    assert precedes(OLDER, (1, 13))
    assert precedes((2, 9), NEWEST)


@pytest.mark.parametrize(
    "text",
    [
        "It worked in 2.4. On 2.5 it fails.",
        "On 2.5 it fails, it worked on 2.4.",
        "Worked with PyTorch 2.7.1. PyTorch 2.8.0: error",
        "2.7.1 fine; 2.8.0 not",
        "2.5 OK, 2.6 broken",
        "With 2.6.0 everything ran, with 2.7.0 it raises.",
        "2.4, 2.5 and 2.6 are fine, 2.7 hangs.",
        "Works with PyTorch 2.2.2, with 2.3.0 I get invalid device ordinal",
        "async_save blocks the training thread on 2.9, not on 2.8.0",
        "It raises on 2.9 but not on 2.8.",
        "Only 2.7 and later are affected.",
        "Since 2.7 every step logs it.",
        "2.7 broke it.",
        "torch 2.6 → 2.7: the step went from 210 ms to 340 ms",
        "In 2.3 it took 30 s, in 2.6 it takes 8 minutes.",
        "180 GB/s on 2.5 versus 95 GB/s on 2.6",
        "We rolled back to 2.3 and it runs.",
        "The previous release does not have the problem.",
        "The nightly of 20250501 works, 20250503 fails.",
        "nightly of May 2 is fine, May 3 hangs",
        "Nightlies up to and including 0412 are good, 0413 fails.",
        "01/10 nightly is good, the 01/20 nightly fails.",
        "Avec la 2.5 ça marche, avec la 2.6 ça plante.",
        "2.4 では動いていましたが、2.6 では失敗します。",
        "2.3 没问题，2.6 报错。",
        "With an older torch (1.13) it worked, in 2.3 it fails.",
        "Last good version is 2.6, it fails on 2.7.",
        "With torch 1.5 I get an error, the same code runs with torch 1.4.",
        "Times out in pytorch 1.7.x (torch1.6 is ok)",
        "`summon_full_params` is broken since 2.1",
        "The bug does not exist in 2.5.1. I see it in 2.6.0.",
        "A new error on 2.1.0, it did not happen with 2.0.1.",
        "Downgrading to 1.12 resolves the issue.",
        "1.9 fits in memory, 1.10 fails.",
        "After the upgrade from 2.5 to 2.8 it fails, 2.7 has it too.",
        "Fails since 2.8. 2.9 has it too.",
        "After moving from 2.6 to 2.7 it fails. With the 2.6 image the same command resumes.",
        "2.6 以降で失敗します。",
        "This used to be accepted; since we moved to 2.9 it raises.",
        "Before the upgrade to torch 2.10 that call returned a DTensor, now it raises.",
        "In 2.5 that printed [4, 8]; 2.6 prints [8, 8].",
        "Nothing else in the environment changed but torch (2.7.1 -> 2.8.0).",
        "It stopped working when our image went from torch 2.6 to 2.7.",
        "Startup got four times slower in 2.9 compared with 2.8.",
        "regressed somewhere between 2.6 and 2.7",
        "An identical launch line comes up under 2.9 but not under 2.10rc2.",
        "On 1.13 everything goes through, on 2.0 I get a TypeError.",
        "Older releases (2.2 - 2.5) do not have this.",
        "2.7 does not show it, 2.8 does.",
        "The error occurs on 2.9, it does not happen on 2.8.",
        "In 2.4 the very same lines work, in 2.6 they fail.",
        "On 2.8 the same code passes, on 2.9 it raises.",
    ],
)
def test_an_earlier_version_worked(text):
    assert regressed(text)


@pytest.mark.parametrize(
    "text",
    [
        "2.4 fails, but 2.5 works",
        "In 2.4 it fails but works in 2.5.",
        "on 2.5 it works, on 2.4 it fails",
        "Works on torch 2.9 single GPU, fails with two.",
        "Using torch 2.9.0, it ran for 3 hours and then raised.",
        "I am on 2.9.1 and it gave RuntimeError.",
        "With torch 2.9.1 training went fine for a day, then it hung.",
        "It fails on 2.3, 2.4 and 2.5 alike.",
        "2.6 fails, 2.5 too.",
        "The same on 2.3 and 2.4.",
        "Did it work with 2.5?",
        "The merger works in fp32 since 2.6.",
        "Supported since 2.4.",
        "NCCL 2.18 worked, with NCCL 2.20 it fails.",
        "transformers 4.44 was fine, 4.50 fails.",
        "It takes 2.5 GB on rank 0 and fails.",
        "Fixed on nightly, 2.5.1 fails.",
        "We use torch 2.6.",
        "Build PyTorch 2.6 from source and it fails.",
        "A batch of 1.4 GB works, one of 1.5 GB fails.",
        "Upgrading to 2.7 didn't help, it still fails.",
        "torch 2.7.1 from conda-forge",
        "After the upgrade from 2.5 to 2.8 it fails. 2.5 has the same error.",
        "I thought it came since 2.8, but 2.6 has it too.",
        "一开始以为是升级到 2.9 引起的，但退回 2.4 也一样报错。",
        "Going from 2.6 to 2.7 changes nothing.",
        "We went from 2.6 to 2.7 and it works.",
        "Upgrading from 2.6 to 2.8 fixes it.",
        "It reproduces on 2.7 and on 2.8.",
        "I see this on 2.8, I have not tried others.",
        "accelerate 0.30 ran, 1.0 fails; torch is pinned to 2.6.",
        "It came with bf16, between 2.5 and 2.6 GB of memory are lost.",
        "Stuck on 2.4.1, where it fails. In 2.6 the very same lines work.",
        "With 2.5 it raises; in 2.7 the same code passes.",
        "We must stay with 2.3. It fails there, the identical script runs with 2.5.",
    ],
)
def test_no_earlier_version_worked(text):
    assert not regressed(text)


@pytest.mark.parametrize(
    ("body", "urgent"),
    [
        ("It worked in 2.4.\n\n### Versions\nPyTorch version: 2.3.0", False),
        ("It worked in 2.4.\n\n### Versions\nPyTorch version: 2.5.0a0+git1", True),
        ("So not a regression, 2.4 worked only with more memory. 2.5 fails.", False),
    ],
)
def test_the_version_reported_tells_which_is_earlier(body, urgent):
    assert ("regression" in facets("DDP barrier fails", body).high_priority) is urgent


def test_a_list_shares_its_outcome():
    assert told("2.4, 2.5 and 2.6 are fine, 2.7 hangs.") == {
        ((2, 4), True), ((2, 5), True), ((2, 6), True), ((2, 7), False),
    }  # fmt: skip


def test_a_size_is_no_version():
    assert {version for version, _ in told("It takes 2.5 GB on 2.4 and ran in 1.2 s.")} <= {
        (2, 4), (2, 5), (1, 2),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("later", "stands"),
    [
        ("Correction: 2.8 fails as well.", False),
        ("2.9.1 fails as well.", True),
        ("We use 2.8 in production.", True),
    ],
)
def test_a_version_that_fails_after_all_is_no_earlier_one_that_worked(later, stands):
    report = issue(
        "DDP fails", "It worked in 2.8, in 2.9 it raises.", said(later, "NONE", "reporter")
    )
    reading = read_issue(report, policy().reading)
    found = earlier_that_worked(trials_of(reading, policy().versions), None)
    assert (found is not None) is stands


@pytest.mark.parametrize(
    ("later", "stands"),
    [
        ("Fixed on main.", False),
        ("2.9.1 does not have it any more.", False),
        ("Upgrading to 2.10 solved it.", False),
        ("2.9.1 has it too.", True),
        ("Pinning 2.8 solved it for now.", True),
    ],
)
def test_a_regression_that_is_mended_since_is_none(later, stands):
    body = "It worked in 2.8, in 2.9 it raises."
    found = facets("DDP fails", body, said(later, "NONE", "reporter")).high_priority
    assert ("regression" in found) is stands


@pytest.mark.parametrize(
    ("words", "repaired"),
    [
        ("2.0 segfaults, 2.1 doesn't.", True),
        ("It segfaults on 2.5.1, on 2.6.0 it is fine.", True),
        ("Fixed on nightly, 2.5.1 segfaults.", True),
        ("2.5 segfaults, and nightly as well.", False),
        ("It segfaults. Already fixed on main.", True),
        ("It segfaults on 2.9. The latest nightly doesn't have this any more.", True),
        ("It segfaults on 2.9. Upgrading to 2.9.1 solved it.", True),
        ("It segfaults on 2.9. 2.10 no longer has it.", True),
        ("It segfaults. It is not fixed on main.", False),
        ("It segfaults on 2.9. Main has it as well.", False),
        ("It segfaults. Downgrading to 2.6 solves it.", False),
        ("It segfaults on 2.9. Fixed in 2.8 for gloo, they say.", False),
        ("2.4 is fine, 2.5 segfaults, 2.6 too.", False),
        ("2.5 segfaults, on 2.6 it segfaults, on 2.6.1 as well.", False),
    ],
)
def test_what_a_later_version_repairs_is_urgent_no_more(words, repaired):
    found = facets("all_reduce segfaults", words).high_priority
    assert ("crash" not in found) is repaired


@pytest.mark.parametrize(
    ("title", "body", "told", "urgent"),
    [
        (
            "init_device_mesh on 2.4: slicing raises (2.6 ok)",
            "We are stuck on 2.4.1, so for us it is down. In 2.6 the very same lines work.",
            "Slicing by a flattened name came with 2.5, it never existed in 2.4.",
            False,
        ),
        (
            "DeviceMesh on 2.5: slicing raises (fine on 2.7)",
            "We cannot leave 2.5.1.",
            "Nested slicing was introduced in 2.6; 2.5 has never had it.",
            False,
        ),
        (
            "DTensor on 2.4",
            "Works on 2.6, does not on 2.4, we must use 2.4.",
            "2.4 predates that schedule, it landed in 2.5.",
            False,
        ),
        (
            "init_device_mesh on 2.6: slicing raises (2.4 ok)",
            "Production was 2.4.1. In 2.6 the very same lines raise.",
            "Confirmed, came in with 2.5.",
            True,
        ),
    ],
)
def test_what_came_with_a_later_version_is_no_regression(title, body, told, urgent):
    found = facets(title, body, said(told, "MEMBER", "m"))
    assert ("regression" in found.high_priority) is urgent


def test_what_failed_before_says_nothing_of_a_version_that_works():
    assert told("Confirmed, with 2.6.1 all is fine.") == {((2, 6, 1), True)}
    assert told("With 2.9.1 training is fine for a day, then it hangs.") == {((2, 9, 1), False)}
