"""Explain: the whole reasoning of one issue, or why it does not get a certain label."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ciops.plumbing.rendering import plain_text
from triage.small_world import (
    BOT,
    REPO,
    SMALL,
    TO_APP,
    TO_DISK,
    Ran,
    command,
    comment,
    forge_with,
    issue,
    label_event,
)


def explain(case: Mapping[str, Any], folder: Path, *arguments: str) -> Ran:
    given = ["--repo", REPO, "--policy", str(SMALL), "--issue", "7", "--output", str(folder)]
    with forge_with(case) as forge:
        ran = command(forge, folder, ["explain", *given, *arguments])
        assert forge.writes == []
    return ran


def test_everything_that_decided(tmp_path: Path) -> None:
    case = issue(7, TO_APP, comments=[comment("IndexCorrupt too", author_association="MEMBER")])
    ran = explain(case, tmp_path)
    assert ran.status == 0
    for words in (
        "Goes to `team: app` (",
        "- Plan: `team: app`, ",
        "`CacheError` (title, ",
        "`IndexCorrupt too` (comment 1, line 1, ",
        "a maintainer): root, 6.4 points",
        "Would change: ",
        "- `area: index` (app): ",
    ):
        assert words in ran.said
    assert "](" not in ran.said
    assert "`CacheError` ([title](https://github.com/" in ran.summary
    assert "`IndexCorrupt too` ([comment 1, line 1](https://github.com/" in ran.summary
    assert plain_text(ran.summary).strip() == ran.said.strip()


@pytest.mark.parametrize(
    ("label", "case", "words"),
    [
        pytest.param(
            "area: cache", issue(7, TO_APP), "`area: cache` would be added.", id="would be added"
        ),
        pytest.param(
            "AREA: CACHE", issue(7, TO_APP), "`area: cache` would be added.", id="in any case"
        ),
        pytest.param(
            "team: app", issue(7, TO_APP, labels=["team: app"]), "is there already", id="there"
        ),
        pytest.param("urgent", issue(7, TO_APP), "`urgent` is not among the labels", id="foreign"),
        pytest.param(
            "area: cash", issue(7, TO_APP), "nearest that it adds is `area: cache`", id="nearest"
        ),
        pytest.param(
            "team: net",
            issue(7, TO_DISK),
            "`team: disk` is, and there is only ever one",
            id="route",
        ),
        pytest.param(
            "team: disk",
            issue(7, TO_DISK, labels=["team: net"]),
            "`team: net` is, and there is only ever one",
            id="standing route",
        ),
        pytest.param(
            "area: socket",
            issue(7, {"title": "SocketError", "body": ""}),
            "`area: socket` fits the text, but this plan adds no module labels",
            id="module of an unclassified route",
        ),
        pytest.param(
            "area: index",
            issue(7, TO_APP),
            "nothing in the issue calls for it",
            id="nothing for it",
        ),
        pytest.param(
            "area: cache",
            issue(7, TO_APP, state="closed"),
            "the issue is left alone (it is closed)",
            id="left alone",
        ),
        pytest.param(
            "area: cache",
            issue(7, TO_APP, timeline=[label_event("area: cache", "alice", event="unlabeled")]),
            "a person removed it",
            id="removed",
        ),
        pytest.param(
            "team: app",
            issue(
                7,
                TO_APP,
                timeline=[
                    label_event("team: app", BOT, at="2025-01-02T00:00:00Z"),
                    label_event("team: app", "alice", event="unlabeled", at="2025-01-03T00:00:00Z"),
                ],
            ),
            "left alone (a person removed a label that the bot had put)",
            id="removed route",
        ),
    ],
)
def test_why_or_why_not(label: str, case: dict[str, Any], words: str, tmp_path: Path) -> None:
    ran = explain(case, tmp_path, "--label", label)
    assert ran.status == 0
    assert words in ran.said


def test_for_and_against(tmp_path: Path) -> None:
    ran = explain(issue(7, TO_APP), tmp_path, "--label", "area: cache", "--language", "fr")
    assert "#### Pour" in ran.summary
    assert "\nPour\n" in ran.said
    assert "`CacheError` (titre, " in ran.said


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--issue", "8"], 4, "answered 404"),
        (["--profile", "nope"], 2, 'policy small has no profile "nope"'),
        (["--label", ""], 0, "Plan"),
    ],
)
def test_what_goes_wrong(arguments: list[str], status: int, words: str, tmp_path: Path) -> None:
    ran = explain(issue(7, TO_APP), tmp_path, *arguments)
    assert ran.status == status
    assert words in ran.said
