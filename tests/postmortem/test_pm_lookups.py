"""What `--verify` and `new --pr` learn from a forge, and what they leave unsaid."""

from __future__ import annotations

import json

import pytest
import yaml

from ciops.postmortem.app import main
from ciops.postmortem.record_reader import read_record
from fakes.github import FakeGitHub
from fakes.gitlab import FakeGitLab
from fakes.jira import FakeJira
from faults.scenes import hurried
from postmortem.records import changed

HEAD, MERGE, OTHER = "4be1c07" + "a" * 33, "4be1c08" + "b" * 33, "4be1c09" + "c" * 33
COMMITS = [
    {"sha": sha, "message": "Fix", "paths": ["a"], "date": "2026-01-01T00:00:00Z"}
    for sha in (HEAD, MERGE, OTHER)
]
GREEN = [{"name": "build", "status": "completed", "conclusion": "success"}]
RED = [*GREEN, {"name": "reload", "status": "completed", "conclusion": "failure"}]


@pytest.fixture
def github():
    """One merged, one open and one closed request, and an issue."""
    pull = {"number": 977, "title": "Key on origin", "user": "priya", "head": "fix"}
    body = {"body": "Fixes PLUG-2218, see acme/host#12.", "sha": HEAD}
    merged = {"merged_at": "2026-02-02T00:00:00Z", "merge_commit_sha": MERGE}
    pulls = [
        {**pull, **body, **merged},
        {"number": 978, "title": "Open", "head": "open", "sha": OTHER},
        {"number": 979, "title": "Closed", "state": "closed", "head": "closed", "sha": OTHER},
    ]
    with FakeGitHub(
        "acme/host",
        [{"number": 12, "title": "Report"}],
        pulls=pulls,
        commits=COMMITS,
        branches={"main": MERGE, "fix/x": HEAD},
        files={"tests/test_reload.py": "x"},
        check_runs={MERGE: GREEN, OTHER: RED},
    ) as forge:
        yield forge


def env_of(forge: FakeGitHub, **more: str) -> dict[str, str]:
    return {
        "GITHUB_API_URL": forge.url,
        "GITHUB_TOKEN": "s3cret",
        "GITHUB_REPOSITORY": "acme/host",
        **more,
    }


def looked_up(tmp_path, capsys, env, references, artifact="acme/host#12", *options):
    record = tmp_path / "record.yml"
    data = changed(fix__references=references, action_items__0__artifact=artifact)
    record.write_text(yaml.safe_dump(data), encoding="utf-8")
    arguments = ["check", str(record), "--verify", "--format", "json", *options]
    status = main(arguments, env)
    shown = capsys.readouterr().out.strip().split("\n")
    return status, [
        (each["subject"], each["state"], each["detail"]) for each in verified(shown[-1])
    ]


def verified(line: str) -> list[dict[str, str]]:
    return json.loads(line)["verification"]


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("acme/host#977", [("verified", "merged"), ("verified", "1 checks, all green")]),
        ("#977", [("verified", "merged"), ("verified", "1 checks, all green")]),
        ("PR #977", [("verified", "merged"), ("verified", "1 checks, all green")]),
        ("acme/host#978", [("refuted", "not merged"), ("refuted", "not green: reload")]),
        ("acme/host#979", [("refuted", "closed without"), ("refuted", "reload")]),
        ("acme/host#5", [("refuted", "does not exist")]),
        (f"acme/host@{MERGE[:8]}", [("verified", "exists"), ("verified", "green")]),
        (f"acme/host@{HEAD}", [("verified", "exists"), ("unknown", "no checks")]),
        ("acme/host@0000000", [("refuted", "does not exist")]),
        ("fix/x", [("verified", "exists")]),
        ("fix/y", [("refuted", "does not exist")]),
        ("other/repo#1", [("unknown", "not verified")]),
        ("g/p!7", [("unknown", "no token for GitLab")]),
        ("https://review.example.org/c/1", [("unknown", "nothing that can be looked up")]),
    ],
)
def test_a_reference_is_looked_up(tmp_path, capsys, github, reference, found):
    _, looked = looked_up(tmp_path, capsys, env_of(github), [reference])
    assert len(looked) == len(found) + 1
    for (_, state, detail), (wanted, words) in zip(looked, found, strict=False):
        assert state == wanted
        assert words in detail


@pytest.mark.parametrize(
    ("artifact", "state"),
    [
        ("acme/host#12", "verified"),
        ("acme/host#978", "verified"),
        ("acme/host#5", "refuted"),
        ("tests/test_reload.py", "verified"),
        ("tests/test_reload.py::test_a", "verified"),
        ("tests/none.py", "refuted"),
        ("fix/x", "verified"),
        ("PLUG-9", "unknown"),
        ("the usual board", "unknown"),
    ],
)
def test_an_artifact_is_looked_up(tmp_path, capsys, github, artifact, state):
    _, looked = looked_up(tmp_path, capsys, env_of(github), ["acme/host#977"], artifact)
    assert looked[-1][1] == state


def test_a_ticket_is_looked_up_in_jira(tmp_path, capsys, github):
    with FakeJira(issues={"PLUG-9": {}}) as jira:
        keys = {
            "JIRA_BASE_URL": jira.url,
            "JIRA_EMAIL": "a@b.example",
            "JIRA_API_TOKEN": "api-t0ken",
        }
        for key, state in (("PLUG-9", "verified"), ("PLUG-404", "refuted")):
            env = env_of(github, **keys)
            _, looked = looked_up(tmp_path, capsys, env, ["acme/host#977"], key)
            assert looked[-1][:2] == (key, state)


@pytest.mark.parametrize(
    ("artifact", "state"),
    [
        ("{site}/browse/PLUG-9", "verified"),
        ("{site}/browse/PLUG-9?focusedCommentId=1#comment-1", "verified"),
        ("{site}/browse/PLUG-404", "refuted"),
        ("https://evil.example/browse/PLUG-9", "unknown"),
        ("{site}.evil.example/browse/PLUG-9", "unknown"),
        ("{site}@evil.example/browse/PLUG-9", "unknown"),
        ("{site}/elsewhere/browse/PLUG-9", "unknown"),
        ("{site}/browse/PLUG-404/browse/PLUG-9", "unknown"),
    ],
)
def test_an_address_of_a_ticket_is_one_of_the_configured_site(
    tmp_path, capsys, github, artifact, state
):
    with FakeJira(issues={"PLUG-9": {}}) as jira:
        keys = {"JIRA_EMAIL": "a@b.example", "JIRA_API_TOKEN": "api-t0ken"}
        env = env_of(github, JIRA_BASE_URL=jira.url, **keys)
        address = artifact.format(site=jira.url)
        _, looked = looked_up(tmp_path, capsys, env, ["acme/host#977"], address)
        assert looked[-1][1] == state


@pytest.mark.parametrize(
    "reference",
    [
        "https://github.com@evil.example/acme/host/pull/977",
        "https://github.com.evil.example/acme/host/pull/977",
        "https://github.com./acme/host/pull/977",
        "https://github.com:8443/acme/host/pull/977",
        "https://[::1]/acme/host/pull/977",
        "https://[::1/acme/host/pull/977",
        "https://github.com/../acme/host/pull/977",
        "https://github.com/x/../acme/host/pull/977",
        "https://github.com/acme/host/pull/977/../978",
        "acme/..#977",
        "acme/../acme/host#977",
        "acme/host/more#977",
    ],
)
def test_a_reference_that_leads_astray_is_not_followed(tmp_path, capsys, github, reference):
    status, looked = looked_up(tmp_path, capsys, env_of(github), [reference])
    assert status == 0
    assert [state for _, state, _ in looked[:-1]] == ["unknown"]
    assert all("/issues/12" in each.path or "/pulls/12" in each.path for each in github.requests)


def test_a_record_cannot_spend_a_rate_limit(tmp_path, capsys, github):
    references = [f"acme/host@{MERGE[:8]}"] + [f"branch-{number}" for number in range(99)]
    _, looked = looked_up(tmp_path, capsys, env_of(github), references)
    assert len(looked) == 102
    assert looked[-1][1] == "unknown"
    assert "only 60 references" in looked[-1][2]
    assert github.request_count < 130


def test_a_merge_request_is_looked_up_on_gitlab(tmp_path, capsys):
    project = {
        "id": 7,
        "path": "g/p",
        "commits": COMMITS,
        "branches": {"main": MERGE},
        "merge_requests": [
            {
                "iid": 7,
                "title": "Key on origin",
                "author": "priya",
                "state": "merged",
                "source_branch": "fix",
                "sha": HEAD,
                "merged_at": "2026-02-02T00:00:00.000Z",
                "merge_commit_sha": MERGE,
            }
        ],
        "statuses": {MERGE: [{"name": "build", "status": "success"}]},
    }
    with FakeGitLab(projects=[project]) as forge:
        env = {"CI_SERVER_URL": forge.url, "GITLAB_URL": forge.url, "GITLAB_TOKEN": "s3cret"}
        _, looked = looked_up(tmp_path, capsys, env, ["g/p!7"], "g/p!7")
        states = [(state, detail.split(": ")[1]) for _, state, detail in looked]
        assert states[0] == ("verified", "merged")
        assert states[1][0] == "verified"


def test_without_a_token_everything_is_said_to_be_unverified(tmp_path, capsys):
    status, looked = looked_up(tmp_path, capsys, {}, ["acme/host#977"], "PLUG-9")
    assert status == 0
    assert [state for _, state, _ in looked] == ["unknown", "unknown"]
    assert "no token for GitHub" in looked[0][2]
    assert "no token for Jira" in looked[1][2]


def test_a_service_that_is_down_leaves_it_unverified(tmp_path, capsys, github):
    github.fail("500", times=None)
    with hurried():
        status, looked = looked_up(tmp_path, capsys, env_of(github), ["acme/host#977"])
    assert status == 1
    assert [state for _, state, _ in looked] == ["unknown", "unknown"]
    github.faults.clear()


def test_what_a_token_may_not_see_is_no_failure(tmp_path, capsys, github):
    status, looked = looked_up(tmp_path, capsys, env_of(github), ["other/repo#1"])
    assert (status, looked[0][1]) == (0, "unknown")


def test_a_refuted_fact_counts_under_strict(tmp_path, capsys, github):
    env = env_of(github)
    assert looked_up(tmp_path, capsys, env, ["acme/host#978"])[0] == 0
    assert looked_up(tmp_path, capsys, env, ["acme/host#978"], "acme/host#12", "--strict")[0] == 3
    assert looked_up(tmp_path, capsys, env, ["acme/host#977"], "acme/host#12", "--strict")[0] == 0


def test_nothing_is_written_and_the_token_stays_with_its_host(tmp_path, capsys, github):
    looked_up(tmp_path, capsys, env_of(github), ["acme/host#977", "https://evil.example/pull/1"])
    assert github.writes == []
    assert github.seen_tokens == {"s3cret"}


def test_a_record_from_a_request_holds_what_the_forge_knows(tmp_path, capsys, github):
    arguments = ["new", "PLUG-2218", "--pr", "acme/host#977", "--output", str(tmp_path)]
    assert main(arguments, env_of(github)) == 0
    text = (tmp_path / "PLUG-2218.yml").read_text(encoding="utf-8")
    record = read_record(text, "r").record
    assert record.title == "Key on origin"
    assert record.owner.name == "priya"
    assert record.fix.references == ("acme/host#977", f"acme/host@{MERGE}")
    assert "# named in the text: PLUG-2218, acme/host#12" in text
    assert (record.summary, record.fix.change, record.root_cause.status) == ("", "", "")
    assert github.writes == []


@pytest.mark.parametrize(
    ("reference", "env", "words"),
    [
        ("acme/host#5", {}, "no request"),
        ("PLUG-7", {}, "no pull or merge request"),
        ("g/p!7", {}, "GITLAB_TOKEN"),
        ("#7", {"GITHUB_REPOSITORY": ""}, "no repository"),
    ],
)
def test_a_request_that_cannot_be_read(tmp_path, capsys, github, reference, env, words):
    arguments = ["new", "PLUG-1", "--pr", reference, "--output", str(tmp_path)]
    assert main(arguments, env_of(github, **env)) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
