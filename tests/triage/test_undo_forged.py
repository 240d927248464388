"""Undo with a record that somebody wrote by hand: it reaches nothing that others did."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fakes.github import Account, FakeGitHub
from triage.small_world import NO_STEPS, QUEUE, SMALL, Ran, command, forge_with, issue, run

TOKEN = "secret-token-of-the-test"
ALICE = {TOKEN: Account("alice", association="MEMBER")}
BOB = {TOKEN: Account("bob", association="MEMBER")}

Forge = Callable[[dict[str, Any]], None]


def undo(forge: FakeGitHub, folder: Path) -> Ran:
    given = ["undo", str(folder / "run.json"), "--output", str(folder / "undo")]
    return command(forge, folder / "undo", given)


def forged(folder: Path, change: Forge) -> None:
    """Rewrite the record in a folder."""
    path = folder / "run.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    change(record)
    path.write_text(json.dumps(record), encoding="utf-8")


def test_a_persons_comment_stays_though_the_record_names_its_id(tmp_path: Path) -> None:
    with forge_with(issue(7, NO_STEPS)) as forge:
        run(forge, tmp_path, "--issue", "7")
        said = forge.person_comments(7, "here is what broke it", by="alice")

        def claim(record: dict[str, Any]) -> None:
            for write in record["writes"]:
                if write["kind"] == "comment":
                    write["id"] = said["id"]

        forged(tmp_path, claim)
        ran = undo(forge, tmp_path)
        assert "here is what broke it" in forge.comments(7)
    assert ran.status == 0
    assert "Kept the comment on #7: it was not this run that put it there last" in ran.said


def test_another_comment_of_the_bot_stays(tmp_path: Path) -> None:
    """By its id alone it could be any comment of an account that many jobs share."""
    with forge_with(issue(7, NO_STEPS)) as forge:
        run(forge, tmp_path, "--issue", "7")
        said = forge.person_comments(7, "nightly build: green", by="github-actions[bot]")

        def claim(record: dict[str, Any]) -> None:
            for write in record["writes"]:
                if write["kind"] == "comment":
                    write["id"] = said["id"]

        forged(tmp_path, claim)
        undo(forge, tmp_path)
        assert "nightly build: green" in forge.comments(7)


@pytest.mark.parametrize(
    ("marker", "body"),
    [
        pytest.param("e", "I bumped the version", id="a letter"),
        pytest.param("<!--", "<!-- depbot --> bumped", id="the start of any marker"),
        pytest.param("<!-- shelf", "<!-- shelf-audit --> bumped", id="the start of its own"),
        pytest.param("<!-- x -->", "bumped <!-- x -->", id="one that stands elsewhere"),
    ],
)
def test_a_marker_that_many_comments_hold_deletes_none(
    marker: str, body: str, tmp_path: Path
) -> None:
    """An installation cannot be asked for its name, so the comment may be any bot's."""
    with forge_with(issue(7, NO_STEPS)) as forge:
        run(forge, tmp_path, "--issue", "7")
        said = forge.person_comments(7, body, by="depbot[bot]")

        def claim(record: dict[str, Any]) -> None:
            for write in record["writes"]:
                if write["kind"] == "comment":
                    write.update(id=said["id"], marker=marker)

        forged(tmp_path, claim)
        assert "it was not this run that put it there last" in undo(forge, tmp_path).said
        assert body in forge.comments(7)


def test_what_a_person_did_goes_only_with_that_persons_token(tmp_path: Path) -> None:
    """A record that names another person as its account takes back nothing of theirs."""
    with forge_with(issue(7, NO_STEPS), tokens=ALICE) as forge:
        run(forge, tmp_path, "--issue", "7")
        before = (forge.labels(7), forge.comments(7))
        forge.tokens = BOB
        ran = undo(forge, tmp_path)
        assert (forge.labels(7), forge.comments(7)) == before
        assert "Kept the comment on #7: a person did it, and this token is not theirs" in ran.said
        forge.tokens = ALICE
        assert undo(forge, tmp_path).status == 0
        assert (forge.labels(7), forge.comments(7)) == ([QUEUE], [])


@pytest.mark.parametrize("account", ["alice", "github-actions[bot]", ""])
def test_a_label_that_a_person_put_stays_whatever_account_is_claimed(
    account: str, tmp_path: Path
) -> None:
    with forge_with(issue(7, NO_STEPS)) as forge:
        run(forge, tmp_path, "--issue", "7")
        forge.person_labels(7, add=["color: red"], by="alice")

        def claim(record: dict[str, Any]) -> None:
            record["account"] = account
            record["writes"][-1]["labels"] = ["color: red"]

        forged(tmp_path, claim)
        undo(forge, tmp_path)
        assert "color: red" in forge.labels(7)


def test_a_bots_run_is_undone_by_any_person(tmp_path: Path) -> None:
    with forge_with(issue(7, NO_STEPS)) as forge:
        run(forge, tmp_path, "--issue", "7")
        forge.tokens = BOB
        assert undo(forge, tmp_path).status == 0
        assert (forge.labels(7), forge.comments(7)) == ([QUEUE], [])


DEPBOT = "<!-- depbot: bumped -->"


def claims_of_depbot(folder: Path, account: str, comment: int) -> None:
    """A record that says of what another bot did that this run did it."""

    def claim(record: dict[str, Any]) -> None:
        record["account"] = account
        for write in record["writes"]:
            if write["kind"] == "comment":
                write.update(id=comment, marker=DEPBOT)
            else:
                write["labels"] = ["color: red"]

    forged(folder, claim)


@pytest.mark.parametrize("account", ["github-actions[bot]", "depbot[bot]"])
def test_what_another_bot_did_stays_though_it_did_so_at_the_same_time(
    account: str, tmp_path: Path
) -> None:
    with forge_with(issue(7, NO_STEPS)) as forge:
        run(forge, tmp_path, "--issue", "7")
        forge.person_labels(7, add=["color: red"], by="depbot[bot]")
        said = forge.person_comments(7, f"{DEPBOT} a new version", by="depbot[bot]")
        claims_of_depbot(tmp_path, account, said["id"])
        ran = undo(forge, tmp_path)
        assert "color: red" in forge.labels(7)
        assert f"{DEPBOT} a new version" in forge.comments(7)
    reason = "a bot did it that is not among the bots.logins of the policy: name yours by --policy"
    assert f"Kept `color: red` on #7: {reason}" in ran.said
    assert f"Kept the comment on #7: {reason}" in ran.said


def test_what_an_app_of_ones_own_did_goes_with_the_policy_that_names_it(tmp_path: Path) -> None:
    """Such an app cannot be asked who it is either: its policy says so."""
    policy = tmp_path / "policy.yml"
    text = SMALL.read_text(encoding="utf-8")
    policy.write_text(text.replace("logins: [", "logins: ['DepBot[bot]', "), encoding="utf-8")
    assert policy.read_text(encoding="utf-8") != text
    with forge_with(issue(7, NO_STEPS)) as forge:
        run(forge, tmp_path, "--issue", "7")
        forge.person_labels(7, add=["color: red"], by="depbot[bot]")
        said = forge.person_comments(7, f"{DEPBOT} a new version", by="depbot[bot]")
        claims_of_depbot(tmp_path, "github-actions[bot]", said["id"])
        given = ["undo", str(tmp_path / "run.json"), "--policy", str(policy)]
        assert command(forge, tmp_path / "undo", [*given, "--output", str(tmp_path)]).status == 0
        assert "color: red" not in forge.labels(7)
        assert f"{DEPBOT} a new version" not in forge.comments(7)
