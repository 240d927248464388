"""The job summary: about ten lines an issue, as a person reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from triage.small_world import (
    ELSEWHERE,
    NO_STEPS,
    TO_APP,
    TO_DISK,
    UNCLEAR,
    URGENT,
    comment,
    forge_with,
    issue,
    label_event,
    run,
)

PAGE = "https://github.com/shelf/shelfd/issues/7"


def summary(case: dict[str, Any], folder: Path, *arguments: str) -> str:
    with forge_with(case) as forge:
        return run(forge, folder, "--issue", "7", *arguments).summary


def test_the_whole_of_one_issue(tmp_path: Path) -> None:
    """Decision, why, what would change it, what was done."""
    lines = summary(issue(7, TO_APP), tmp_path).splitlines()
    assert lines[0] == "## Issue triage of `shelf/shelfd`"
    assert lines[2].startswith(
        "Labels and comments were written. Policy `small@1`, profile `shared`, as "
        "`github-actions[bot]`. "
    )
    assert "1 issue was looked at: 1 written to." in lines
    section = lines[lines.index(f"### [\\#<!-- -->7 CacheError]({PAGE})") :]
    assert section[2].startswith("Goes to `team: app` (")
    assert section[4] == f"- Route, Module: `CacheError` ([title]({PAGE}))"
    assert any(line.startswith("- Would change: ") for line in section)
    assert "- Added: `team: app`, `area: cache`, `triaged-by-bot`, `sorted`" in section


@pytest.mark.parametrize(
    "text", [TO_DISK, TO_APP, NO_STEPS, UNCLEAR, ELSEWHERE, URGENT], ids=lambda text: text["title"]
)
def test_about_ten_lines_an_issue(text: dict[str, str], tmp_path: Path) -> None:
    told = summary(issue(7, text, comments=[comment("me too")]), tmp_path)
    section = told[told.index("### ") :].strip()
    assert 3 <= len([line for line in section.splitlines() if line.strip()]) <= 12


@pytest.mark.parametrize(
    ("case", "words", "absent"),
    [
        pytest.param(issue(7, TO_DISK), "Goes to `team: disk`", "Module", id="routed"),
        pytest.param(
            issue(7, TO_DISK, labels=["team: net"]),
            "Stays with `team: net`, which it carries already",
            "Would add",
            id="kept",
        ),
        pytest.param(
            issue(7, UNCLEAR), "Goes to `team: app`, the default: the evidence is weak", "Module",
            id="default",
        ),
        pytest.param(
            issue(7, ELSEWHERE),
            "Does not look like one for `queue: storage` (",
            "Reproduction",
            id="elsewhere",
        ),
        pytest.param(
            issue(7, TO_DISK, labels=["team: disk", "team: net"]),
            "Carries two routes: a person is asked to choose",
            "Goes to",
            id="two routes",
        ),
        pytest.param(
            issue(
                7,
                URGENT,
                labels=["team: app", "area: cache"],
                timeline=[label_event("team: app", "alice"), label_event("area: cache", "alice")],
            ),
            "People have classified it already.",
            "Looks urgent",
            id="by people",
        ),
        pytest.param(
            issue(7, URGENT), "Looks urgent (`loss`): `needs a look` asks a person", "sorted",
            id="urgent",
        ),
        pytest.param(
            issue(7, TO_DISK, state="closed"), "Left alone: it is closed.", "Added", id="closed"
        ),
    ],
)  # fmt: skip
def test_the_decision_in_a_sentence(
    case: dict[str, Any], words: str, absent: str, tmp_path: Path
) -> None:
    told = summary(case, tmp_path)
    assert words in told
    assert absent not in told


def test_evidence_in_a_comment_leads_there(tmp_path: Path) -> None:
    talk = [
        comment("hm", by="reporter", id=41),
        comment("well\nIndexCorrupt", by="carol", author_association="MEMBER", id=42),
    ]
    told = summary(issue(7, {"title": "hm", "body": ""}, comments=talk), tmp_path)
    assert f"`IndexCorrupt` ([comment 2, line 2]({PAGE}#issuecomment-42))" in told


def test_what_would_change_it_names_the_line_that_decides(tmp_path: Path) -> None:
    told = summary(issue(7, TO_DISK), tmp_path)
    assert "Route `disk` → `app` without `PlatterError on start` (title)" in told
    told = summary(issue(7, ELSEWHERE), tmp_path)
    assert "Scope no → yes without `It fails on my toaster` (title)" in told


def test_the_comment_says_why(tmp_path: Path) -> None:
    with forge_with(issue(7, ELSEWHERE)) as forge:
        run(forge, tmp_path, "--issue", "7")
        (text,) = forge.comments(7)
    assert "an issue for `queue: storage`: `It fails on my toaster` (title)." in text


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ["## Issue triage of", "Goes to", "Route, Module:", "Would change:", "Added:"]),
        (
            "fr",
            ["## Triage des issues de", "Va vers", "Route, Module :", "Changerait :"],
        ),
        (
            "ja",
            [
                "の Issue トリアージ",
                "に振り分け",
                "振り分け先、モジュール:",
                "変わる条件:",
                "追加:",
            ],
        ),
    ],
)
def test_in_three_languages(language: str, words: list[str], tmp_path: Path) -> None:
    told = summary(issue(7, TO_APP), tmp_path, "--language", language)
    for word in words:
        assert word in told


def test_what_an_issue_says_cannot_leave_its_place(tmp_path: Path) -> None:
    title = "CacheError | ``` </details> <script>x</script> [a](http://evil) @alice\u202e"
    told = summary(issue(7, {"title": title, "body": "::error::x"}), tmp_path)
    heading = next(line for line in told.splitlines() if line.startswith("### "))
    assert heading.endswith(f"]({PAGE})")
    assert "<script>" not in told.replace("`" + title.removesuffix("\u202e") + "`", "")
    assert "\u202e" not in told
