"""What a run refuses or cannot do: in one sentence, with the status that says which."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.github import Account, FakeGitHub
from triage.small_world import (
    NO_STEPS,
    QUEUE,
    REPO,
    SMALL,
    TO_APP,
    TO_DISK,
    all_labels,
    command,
    forge_with,
    issue,
    run,
)

TOKEN = "secret-token-of-the-test"
READ_ONLY = {TOKEN: Account("github-actions[bot]", permissions={"issues": "read"})}


def test_a_missing_label_is_never_created(tmp_path: Path) -> None:
    labels = [name for name in all_labels() if name not in ("team: disk", "sorted")]
    with forge_with(issue(7, TO_APP), issue(8, TO_DISK), labels=labels) as forge:
        ran = run(forge, tmp_path, "--issue", "7", "8")
    assert ran.status == 3
    assert 'error: the repository lacks labels: "sorted", "team: disk". Create them' in ran.said
    assert (forge.writes, forge.created_labels) == ([], [])


def test_a_named_issue_needs_only_the_labels_of_its_plan(tmp_path: Path) -> None:
    labels = [name for name in all_labels() if name != "team: net"]
    with forge_with(issue(7, TO_DISK), labels=labels) as forge:
        ran = run(forge, tmp_path, "--issue", "7")
    assert ran.status == 0
    assert "The repository lacks labels of the policy" in ran.said
    assert "team: net" in ran.said
    assert forge.created_labels == []


def test_a_sweep_wants_every_label_before_it_writes_one(tmp_path: Path) -> None:
    labels = [name for name in all_labels() if name != "team: net"]
    with forge_with(issue(7, TO_DISK), labels=labels) as forge:
        ran = run(forge, tmp_path, "--sweep")
    assert (ran.status, forge.writes) == (3, [])
    assert '"team: net"' in ran.said


def test_labels_compare_without_regard_to_case(tmp_path: Path) -> None:
    shouted = [name.upper() for name in all_labels()]
    with forge_with(issue(7, TO_DISK), labels=shouted) as forge:
        ran = run(forge, tmp_path, "--issue", "7")
    assert (ran.status, forge.created_labels) == (0, [])
    assert "TEAM: DISK" in forge.labels(7)


def test_a_read_only_token_is_told_in_one_sentence(tmp_path: Path) -> None:
    """A fork's or Dependabot's token may only read."""
    with forge_with(issue(7, TO_DISK), issue(8, TO_DISK), tokens=READ_ONLY) as forge:
        ran = run(forge, tmp_path, "--issue", "7", "8")
        posts = [request for request in forge.requests if request.method == "POST"]
    assert ran.status == 4
    assert ran.said.count("the service asks for issues=write") == 1
    assert ran.said.count("error:") == 1
    assert "warning:" not in ran.said
    assert len(posts) == 1, "what lacks a permission once will lack it for every other issue"
    assert forge.writes == []


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("transferred", "#7: it was transferred to"),
        ("deleted", "#7: it was deleted. There is nothing to do"),
        ("never there", "#7: it is not there, or the token may not read it. Check the number"),
    ],
)
def test_an_issue_that_is_gone_is_named_and_the_others_are_done(
    what: str, words: str, tmp_path: Path
) -> None:
    with forge_with(issue(8, TO_DISK)) as forge:
        elsewhere = forge.add_repository("other/place", [{"number": 70, "title": "moved"}])
        if what == "transferred":
            forge.repository.transferred[7] = ("other/place", 70)
        elif what == "deleted":
            forge.repository.deleted.add(7)
        ran = run(forge, tmp_path, "--issue", "7", "8")
        assert elsewhere.label_names(70) == []
    assert ran.status == 1
    assert words in ran.said
    assert "team: disk" in forge.labels(8)


def test_a_service_that_fails_is_named_by_its_status(tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK), issue(8, TO_DISK)) as forge:
        forge.fail(503, times=None, path="/issues/7/timeline")
        ran = run(forge, tmp_path, "--issue", "7", "8")
        assert ran.status == 1
        assert "#7: GitHub: GET /repos/shelf/shelfd/issues/7/timeline answered 503" in ran.said
        assert "team: disk" in forge.labels(8)
        assert run(forge, tmp_path, "--issue", "7").status == 4


def test_a_token_that_is_not_taken(tmp_path: Path) -> None:
    rejected = {TOKEN: Account("x", rejected=True)}
    with forge_with(issue(7, TO_DISK), tokens=rejected) as forge:
        ran = run(forge, tmp_path, "--issue", "7")
    assert ran.status == 4
    assert "Check that the token is set, is meant for this host and has not expired" in ran.said


def test_a_renamed_repository_is_not_followed(tmp_path: Path) -> None:
    with FakeGitHub("shelf/new-name", [issue(7, TO_DISK)], labels=all_labels()) as forge:
        forge.renamed[REPO] = "shelf/new-name"
        ran = run(forge, tmp_path, "--issue", "7")
    assert (ran.status, forge.writes) == (4, [])
    assert "it has moved to" in ran.said


def event_of(payload: dict[str, Any], name: str, folder: Path) -> dict[str, str]:
    path = folder / "event.json"
    path.write_text(json.dumps(payload), encoding="utf-8")
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": name,
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_STEP_SUMMARY": str(folder / "step.md"),
    }


def test_an_event_of_another_repository_is_refused(tmp_path: Path) -> None:
    payload = {"issue": {"number": 7}, "repository": {"full_name": "evil/fork"}}
    with forge_with(issue(7, TO_DISK)) as forge:
        ran = run(forge, tmp_path, env=event_of(payload, "issues", tmp_path))
    assert (ran.status, forge.request_count) == (3, 0)
    assert f'the event is of "evil/fork", the job is for "{REPO}"' in ran.said
    assert "evil/fork" in (tmp_path / "step.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--issue", "seven"], 'argument --issue: "seven" is not the number of an issue'),
        (["--issue", "7", "--sweep"], "--issue and --sweep exclude each other"),
        (["--issue", "7", "--dry-run", "--shadow"], "--dry-run and --shadow exclude each other"),
        (["--sweep", "--shard", "3/2"], '"3/2" is no shard, such as 2/8'),
        (["--sweep", "--max-writes", "-1"], "argument --max-writes"),
        (["--issue", "7", "--language", "de"], "invalid choice: 'de'"),
        (["--issue", "7", "--profile", "nope"], 'policy small has no profile "nope"'),
        (["--issue", "7", "--polcy", "x"], "unrecognized arguments: --polcy x"),
        ([], "nothing says which issues to look at. Give --issue N or --sweep"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_is_one_sentence(arguments: list[str], words: str, tmp_path: Path) -> None:
    with forge_with(issue(7, TO_DISK)) as forge:
        ran = run(forge, tmp_path, *arguments)
    assert ran.status == 2
    assert words in ran.said
    assert ran.said.startswith("error: ")
    assert ran.said.count("\n") == 1
    assert forge.writes == []


def test_without_a_repository(tmp_path: Path) -> None:
    with forge_with() as forge:
        ran = command(forge, tmp_path, ["run", "--issue", "7", "--policy", str(SMALL)])
    assert ran.status == 2
    assert "no repository is named. Give --repo OWNER/NAME or set GITHUB_REPOSITORY" in ran.said


@pytest.mark.parametrize("name", ["run", "explain", "undo", "merge"])
def test_help_shows_an_example(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from ciops.triage.app import main

    with pytest.raises(SystemExit) as end:
        main([name, "--help"], {})
    assert end.value.code == 0
    assert f"example:\n  issue_triage.py {name} " in capsys.readouterr().out


def test_unknown_command(tmp_path: Path) -> None:
    with forge_with() as forge:
        ran = command(forge, tmp_path, ["runn"])
    assert ran.status == 2
    assert 'error: there is no command "runn". Did you mean "run"?' in ran.said


def test_a_bug_reads_as_one_and_keeps_the_token(tmp_path: Path) -> None:
    from ciops.triage.app import main

    def broken(arguments: object, env: object) -> int:
        raise ZeroDivisionError(f"about {TOKEN}")

    import io
    from contextlib import redirect_stderr, redirect_stdout

    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        status = main(["run"], {"GITHUB_TOKEN": TOKEN}, {"run": broken})
    assert status == 1
    assert "ZeroDivisionError" in out.getvalue()
    assert "this is a bug in issue-triage" in out.getvalue()
    assert TOKEN not in out.getvalue()


def test_a_comment_that_is_refused_keeps_the_labels_back(tmp_path: Path) -> None:
    """Locked between look and write: its own affair, so the next issue is done all the same."""
    with forge_with(issue(7, NO_STEPS), issue(8, TO_DISK)) as forge:

        def lock() -> None:
            forge.issue(7)["locked"] = True

        forge.fail("call", method="GET", path=r"/issues/8$", callback=lock)
        ran = run(forge, tmp_path, "--issue", "7", "8")
    assert ran.status == 1
    assert "#7: GitHub: POST" in ran.said
    assert forge.labels(7) == [QUEUE]
    assert "team: disk" in forge.labels(8)


def test_what_there_was_no_time_for_is_held_back(tmp_path: Path) -> None:
    """The limit ends while the second issue is being looked at: the first is named as well."""
    with forge_with(issue(7, TO_DISK), issue(8, TO_DISK)) as forge:
        forge.fail(429, path="/issues/8/timeline", retry_after=3600)
        ran = run(forge, tmp_path, "--issue", "7", "8")
    assert (ran.status, forge.writes) == (1, [])
    assert "#7 PlatterError on start\n    Held back: `team: disk`" in ran.said
    assert "Stopped near the rate limit of GitHub, at #8." in ran.said


@pytest.mark.parametrize("place", ["file/out", "file"], ids=["below a file", "a file"])
def test_a_folder_that_cannot_be_written(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with forge_with(issue(7, TO_DISK)) as forge:
        ran = run(forge, tmp_path / place, "--issue", "7")
    assert (ran.status, forge.writes) == (2, [])
    assert "cannot be written" in ran.said
    assert "Name another folder by --output" in ran.said


@pytest.mark.parametrize("options", [[], ["--forge", "github"]], ids=["by default", "asked for"])
@pytest.mark.parametrize(
    "words",
    [["run", "--issue", "7"], ["explain", "--issue", "7"], ["backtest", "--since", "2026-01-01"]],
    ids=lambda words: words[0],
)
def test_the_token_of_github_goes_to_no_address_of_a_gitlab(
    words: list[str], options: list[str], tmp_path: Path
) -> None:
    with forge_with(issue(7, TO_DISK)) as forge:
        given = [*words, "--repo", REPO, "--gitlab-url", forge.url, *options]
        ran = command(forge, tmp_path, [*given, "--output", str(tmp_path / "out")])
        assert (ran.status, forge.request_count) == (2, 0)
    assert "--gitlab-url is given, and the forge is github. Give --forge gitlab" in ran.said
