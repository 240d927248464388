"""What a run on named issues reads, writes and says, on a fake GitHub."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.github import Account
from triage.small_world import (
    BOT,
    ELSEWHERE,
    FASTER,
    NO_STEPS,
    QUEUE,
    REPO,
    TO_APP,
    TO_DISK,
    UNCLEAR,
    URGENT,
    all_labels,
    comment,
    forge_with,
    issue,
    label_event,
    run,
)

LABELS = "POST /repos/{owner}/{repo}/issues/{issue_number}/labels"
COMMENTS = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments"
TIMELINE = "GET /repos/{owner}/{repo}/issues/{issue_number}/timeline"
READ_COMMENTS = "GET /repos/{owner}/{repo}/issues/{issue_number}/comments"


def names(body: Any) -> list[str]:
    return [label if isinstance(label, str) else label["name"] for label in body["labels"]]


@pytest.mark.parametrize(
    ("text", "added"),
    [
        pytest.param(TO_DISK, ["team: disk", "triaged-by-bot", "sorted"], id="routed"),
        pytest.param(
            TO_APP, ["team: app", "area: cache", "triaged-by-bot", "sorted"], id="classified"
        ),
        pytest.param(
            NO_STEPS, ["team: app", "area: cache", "needs steps", "triaged-by-bot"], id="no steps"
        ),
        pytest.param(URGENT, ["team: app", "area: cache", "needs a look"], id="urgent"),
        pytest.param(
            FASTER,
            ["team: app", "area: cache", "kind: better", "area: speed", "triaged-by-bot", "sorted"],
            id="enhancement",
        ),
        pytest.param(ELSEWHERE, ["needs a look", "triaged-by-bot"], id="elsewhere"),
    ],
)
def test_labels_go_out_in_one_call_in_their_order(
    text: Mapping[str, str], added: list[str], tmp_path: Path
) -> None:
    with forge_with(issue(7, text)) as forge:
        ran = run(forge, tmp_path, "--issue", "7")
        posts = [write for write in forge.writes if write.operation == LABELS]
    assert ran.status == 0
    assert [names(write.body) for write in posts] == [added]
    assert forge.labels(7) == [QUEUE, *added]
    assert forge.created_labels == []


def test_the_comment_goes_out_before_the_labels(tmp_path: Path) -> None:
    with forge_with(issue(7, NO_STEPS)) as forge:
        run(forge, tmp_path, "--issue", "7")
    assert [write.operation for write in forge.writes] == [COMMENTS, LABELS]
    assert forge.comments(7)[0].startswith("<!-- shelf: needs_distributed_reproduction -->")


def test_each_label_goes_with_its_reason(tmp_path: Path) -> None:
    with forge_with(issue(7, NO_STEPS)) as forge:
        run(forge, tmp_path, "--issue", "7")
    sent = {part["name"]: part for part in forge.writes[-1].body["labels"]}
    assert sent["area: cache"] == {
        "name": "area: cache",
        "rationale": "`CacheError` (title)",
        "confidence": "high",
    }
    assert sent["needs steps"]["rationale"].startswith("No reproduction was found")


def test_a_server_that_takes_names_only_gets_names(tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK), issue(8, TO_DISK), plain_labels_only=True) as forge:
        ran = run(forge, tmp_path, "--issue", "7", "8")
    assert ran.status == 0
    assert forge.labels(7) == [QUEUE, "team: disk", "triaged-by-bot", "sorted"]
    refused = [request for request in forge.requests if request.status == 422]
    assert len(refused) == 1, "asked once, remembered for the second issue"


@pytest.mark.parametrize(
    ("mode", "really", "suggested"),
    [
        ("none", ["team: app", "needs a look", "needs steps", "triaged-by-bot"], []),
        ("low", ["needs a look", "needs steps", "triaged-by-bot"], ["team: app"]),
        ("all", [], ["team: app", "needs a look", "needs steps", "triaged-by-bot"]),
    ],
)
def test_suggestions(mode: str, really: list[str], suggested: list[str], tmp_path: Path) -> None:
    with forge_with(issue(7, UNCLEAR)) as forge:
        ran = run(forge, tmp_path, "--issue", "7", "--suggest", mode)
    assert forge.labels(7) == [QUEUE, *really]
    assert [part["name"] for part in forge.suggestions(7)] == suggested
    done = ran.record["writes"][-1]
    assert (done.get("labels", []), done.get("suggested", [])) == (really, suggested)


def test_suggestions_that_a_server_cannot_store_are_not_added(tmp_path: Path) -> None:
    with forge_with(issue(7, UNCLEAR), plain_labels_only=True) as forge:
        ran = run(forge, tmp_path, "--issue", "7", "--suggest", "low")
    assert "team: app" not in forge.labels(7)
    assert "Left out, since the service stores no suggestions: `team: app`" in ran.summary


@pytest.mark.parametrize("flag", [["--dry-run"], ["--shadow"]], ids=["dry run", "shadow"])
def test_a_dry_run_reads_and_plans_the_same_and_writes_nothing(
    flag: list[str], tmp_path: Path
) -> None:
    with forge_with(issue(7, NO_STEPS, comments=[comment("me too")])) as forge:
        ran = run(forge, tmp_path / "dry", "--issue", "7", *flag)
        reads: dict[str, float] = dict(forge.calls)
        assert (ran.status, forge.writes, ran.record["writes"]) == (0, [], [])
        wet = run(forge, tmp_path / "wet", "--issue", "7")
    assert ran.decisions[0]["decision"] == wet.decisions[0]["decision"]
    reads["GET /repos/{owner}/{repo}/issues/{issue_number}/comments"] += 0.5  # once its own is made
    assert all(forge.calls[name] == 2 * count for name, count in reads.items())
    assert "area: cache" in ran.summary


def test_the_kill_switch_turns_writing_off(tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK)) as forge:
        ran = run(forge, tmp_path, "--issue", "7", env={"DRY_RUN": "true"})
    assert (ran.status, forge.writes) == (0, [])
    assert "Would add: `team: disk`" in ran.said


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    with forge_with(issue(7, NO_STEPS), issue(8, ELSEWHERE), issue(9, URGENT)) as forge:
        run(forge, tmp_path, "--issue", "7", "8", "9")
        before = [forge.labels(number) + forge.comments(number) for number in (7, 8, 9)]
        ran = run(forge, tmp_path, "--issue", "7", "8", "9")
        after = [forge.labels(number) + forge.comments(number) for number in (7, 8, 9)]
    assert ran.status == 0
    assert after == before


@pytest.mark.parametrize(
    ("fields", "reads"),
    [
        pytest.param({"state": "closed"}, 0, id="closed"),
        pytest.param({"locked": True}, 0, id="locked"),
        pytest.param({"pull_request": {}}, 0, id="pull request"),
        pytest.param({}, 2, id="in the queue"),
    ],
)
def test_what_labels_and_state_exclude_is_read_no_further(
    fields: dict[str, Any], reads: int, tmp_path: Path
) -> None:
    with forge_with(issue(7, TO_DISK, comments=[comment("me too")], **fields)) as forge:
        ran = run(forge, tmp_path, "--issue", "7")
    assert ran.status == 0
    assert forge.calls[TIMELINE] + forge.calls[READ_COMMENTS] == reads
    assert bool(forge.writes) is bool(reads)


def test_an_issue_outside_the_queue_is_left_alone(tmp_path: Path) -> None:
    with forge_with({"number": 7, "labels": ["team: app"], **TO_DISK}) as forge:
        ran = run(forge, tmp_path, "--issue", "7")
    assert (ran.status, forge.writes) == (0, [])
    assert "it is not in the queue `queue: storage`" in ran.summary


def test_labels_of_the_moment_count_not_those_of_the_list(tmp_path: Path) -> None:
    """Somebody routes the issue between the moment it was read and the moment it is written to."""
    with forge_with(issue(7, TO_DISK)) as forge:
        forge.fail(
            "call",
            method="GET",
            path=r"/issues/7$",
            callback=lambda: forge.person_labels(7, add=["team: net"]),
        )
        ran = run(forge, tmp_path, "--issue", "7")
    assert ran.status == 0
    assert forge.labels(7) == [QUEUE, "team: net", "triaged-by-bot"]


def test_a_label_that_was_taken_away_meanwhile_is_not_put_back(tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK, labels=["team: disk"])) as forge:
        forge.fail(
            "call",
            method="GET",
            path=r"/issues/7$",
            callback=lambda: forge.person_labels(7, remove=[QUEUE]),
        )
        ran = run(forge, tmp_path, "--issue", "7")
    assert forge.writes == []
    assert ran.decisions[0]["skip"] == "not_in_queue"


def test_a_reproduction_that_arrives_is_left_to_people(tmp_path: Path) -> None:
    with forge_with(
        issue(
            7,
            NO_STEPS,
            labels=["team: app", "needs steps"],
            comments=[comment("run these steps", by="reporter")],
            timeline=[label_event("needs steps", BOT), label_event("team: app", BOT)],
        )
    ) as forge:
        ran = run(forge, tmp_path, "--issue", "7")
    assert (ran.status, forge.writes) == (0, [])
    assert "A reproduction has arrived: people decide about `needs steps`" in ran.summary


def test_similar_issues_are_listed_for_information(tmp_path: Path) -> None:
    alike = {"number": 3, "title": "CacheError after upgrade", "body": ""}
    with forge_with(issue(7, {"title": "CacheError", "body": ""}), alike) as forge:
        ran = run(forge, tmp_path, "--issue", "7", "--similar", "2")
    assert "Similar: [\\#<!-- -->3 CacheError after upgrade](https://github.com/" in ran.summary


@pytest.mark.parametrize(
    ("title", "most", "found"),
    [
        pytest.param("CacheError", "2", [3, 4], id="not itself"),
        pytest.param("CacheError", "1", [4], id="as many as asked"),
        pytest.param("CacheError", "0", [], id="none unless asked"),
        pytest.param("CacheError in a quiet upgrade again", "2", [3], id="two words will do"),
        pytest.param("it is so", "2", [], id="no word that tells"),
    ],
)
def test_how_similar_issues_are_found(
    title: str, most: str, found: list[int], tmp_path: Path
) -> None:
    others = [
        {"number": 3, "title": "CacheError after upgrade", "created_at": "2025-01-03T00:00:00Z"},
        {"number": 4, "title": "CacheError", "created_at": "2025-01-04T00:00:00Z"},
    ]
    with forge_with(issue(7, {"title": title, "body": ""}), *others) as forge:
        ran = run(forge, tmp_path, "--issue", "7", "--similar", most)
    line = "".join(ran.summary.partition("Similar: ")[2].splitlines()[:1])
    assert sorted(map(int, re.findall(r"/issues/(\d+)\)", line))) == found


def test_whose_account_it_is_and_what_it_lacks(tmp_path: Path) -> None:
    reader = Account("reader", permissions={"metadata": "read"})
    with forge_with(issue(7, TO_DISK), tokens={"secret-token-of-the-test": reader}) as forge:
        ran = run(forge, tmp_path, "--issue", "7", "--dry-run")
    assert f"Working on {REPO} as reader." in ran.said
    assert "reader is not among the bots.logins of the policy" in ran.said
    with forge_with(issue(7, TO_DISK)) as forge:
        ran = run(forge, tmp_path, "--issue", "7", "--dry-run")
    assert "as github-actions[bot] (assumed: " in ran.said


def test_outputs_for_later_steps(tmp_path: Path) -> None:
    outputs = tmp_path / "outputs"
    env = {"GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": str(outputs)}
    with forge_with(issue(7, NO_STEPS)) as forge:
        run(forge, tmp_path, "--issue", "7", env=env)
    told = outputs.read_text(encoding="utf-8")
    assert "team: app\narea: cache\nneeds steps\ntriaged-by-bot\n" in told
    assert f"https://github.com/{REPO}/issues/7#issuecomment-" in told
    assert str(tmp_path / "run.json") in told
    assert '"sub_oncall": "app"' in told


def test_no_token_is_shown_anywhere(tmp_path: Path) -> None:
    with forge_with(issue(7, {"title": "secret-token-of-the-test fails", "body": ""})) as forge:
        ran = run(forge, tmp_path, "--issue", "7", "--dry-run")
    assert "secret-token-of-the-test" not in ran.said + ran.summary


def test_a_person_who_runs_it_does_not_repeat_their_own_comment(tmp_path: Path) -> None:
    """No policy knows their account, and the quiet profile looks for no other words."""
    labels = all_labels("quiet")
    with forge_with(issue(7, NO_STEPS), labels=labels, account="maintainer") as forge:
        for _ in range(2):
            run(forge, tmp_path, "--issue", "7", "--profile", "quiet")
    assert len(forge.comments(7)) == 1


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "`sorted` was there before and stays, although people are asked to look."),
        ("fr", "`sorted` était déjà là et reste"),
        ("ja", "`sorted` は以前から付いており"),
    ],
)
def test_what_stands_from_before_is_told_in_the_readers_language(
    language: str, words: str, tmp_path: Path
) -> None:
    with forge_with(issue(7, NO_STEPS, labels=["sorted"])) as forge:
        ran = run(forge, tmp_path, "--issue", "7", "--language", language)
    assert words in ran.summary
    assert "sorted" in forge.labels(7)


def test_a_label_that_a_person_removed_is_named(tmp_path: Path) -> None:
    removed = [label_event("area: cache", "alice", event="unlabeled")]
    with forge_with(issue(7, TO_APP, timeline=removed)) as forge:
        ran = run(forge, tmp_path, "--issue", "7")
    assert "area: cache" not in forge.labels(7)
    assert "`area: cache` is not added: a person removed it." in ran.summary


@pytest.mark.parametrize(("by", "left_alone"), [("alice", False), (BOT, True)])
def test_whose_request_for_a_look_it_is(by: str, left_alone: bool, tmp_path: Path) -> None:
    """Only the timeline tells: what the bot asked of people is theirs, what they asked is not."""
    standing = ["team: disk", "needs a look"]
    events = [label_event(label, by) for label in standing]
    with forge_with(issue(7, TO_DISK, labels=standing, timeline=events)) as forge:
        ran = run(forge, tmp_path, "--issue", "7")
    assert (ran.decisions[0]["skip"] == "awaiting_human") is left_alone
    assert ("triaged-by-bot" in forge.labels(7)) is not left_alone
