"""The reusable workflows, called as an example calls them, under act."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from ci_programs.act import Act
from ci_programs.queue import LABELS, ROUTE, github_issue
from ci_programs.stub_actions import runnable, stand_ins
from ci_programs.suite import ROOT, Installed, git_repository
from failures.pipeline_worlds import expected, fake_world
from fakes.github import FakeGitHub
from fakes.jira import FakeJira

pytestmark = pytest.mark.tool


class Caller:
    """A user's repository whose workflow calls one of the suite's."""

    def __init__(self, folder: Path, suite: Path, installed: Installed) -> None:
        self.folder = folder / "user"
        self.store = folder / "store"
        self.store.mkdir()
        self._stubs = stand_ins(folder / "stubs")
        self._suite = suite
        self._env = {"TRIAGE_ACTION_CACHE": str(installed.cache), "STORE": str(self.store)}

    def calls(
        self, name: str, trigger: str, call: str, files: Mapping[str, str], **secrets: str
    ) -> Act:
        """act on a job `call` that uses the workflow `name`; `files` are the repository's."""
        workflows = self.folder / ".github/workflows"
        workflows.mkdir(parents=True)
        (workflows / f"{name}.yml").write_text(runnable(name), encoding="utf-8")
        caller = f"on: {trigger}\njobs:\n  call:\n    uses: ./.github/workflows/{name}.yml\n{call}"
        (workflows / "caller.yml").write_text(caller, encoding="utf-8")
        for path, text in files.items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        git_repository(self.folder, "https://github.com/o/r.git")
        local = {"org/triage-action@v1": self._suite, **self._stubs}
        return Act(self.folder, local, self._env, secrets)


@pytest.fixture
def caller(tmp_path: Path, suite: Path, installed: Installed) -> Caller:
    return Caller(tmp_path, suite, installed)


ONLY_CALLER = ("-W", ".github/workflows/caller.yml")


def test_a_sweep_in_two_shards_by_the_caller_s_policy_is_merged(caller: Caller) -> None:
    policy = (ROOT / "config/issue-triage/pytorch-distributed.yml").read_text(encoding="utf-8")
    act = caller.calls(
        "issue-triage",
        "{schedule: [{cron: '17 3 * * *'}]}",
        "    with: {shards: 2, policy: triage/policy.yml}\n",
        {"triage/policy.yml": policy.replace("version: '1'", "version: 'own'")},
        GITHUB_TOKEN="ghs_loopback0token",
    )
    issues = [github_issue(number) for number in (7, 8, 9)]
    with FakeGitHub("o/r", issues=issues, labels=LABELS) as forge:
        act.env = {**act.env, "GITHUB_API_URL": forge.url}
        run = act.run("schedule", {}, *ONLY_CALLER)
        assert run.status == 0, run.printed
        assert all(ROUTE in forge.labels(number) for number in (7, 8, 9))
    assert "pytorch-distributed@own" in run.summary
    merged = json.loads((caller.store / "issue-triage/run.json").read_text(encoding="utf-8"))
    parts = [caller.store / f"issue-triage-{n}/decisions.jsonl" for n in (1, 2)]
    decided = [len(part.read_text(encoding="utf-8").splitlines()) for part in parts]
    assert sorted(decided) == [1, 2]
    assert merged


def test_a_repository_s_variable_stops_all_writing(caller: Caller) -> None:
    trigger = "{schedule: [{cron: '17 3 * * *'}]}"
    act = caller.calls("issue-triage", trigger, "", {}, GITHUB_TOKEN="ghs_loopback0token")
    with FakeGitHub("o/r", issues=[github_issue(7)], labels=LABELS) as forge:
        act.env = {**act.env, "GITHUB_API_URL": forge.url}
        run = act.run("schedule", {}, *ONLY_CALLER, "--var", "DRY_RUN=true")
        assert run.status == 0, run.printed
        assert forge.writes == []
    assert "module: fsdp" in run.summary


def test_a_second_report_knows_what_the_first_one_saw(caller: Caller) -> None:
    with fake_world("dev1") as gitlab:
        act = caller.calls(
            "pipeline-failure-report",
            "{schedule: [{cron: '40 5 * * *'}]}",
            f"    with: {{gitlab-url: '{gitlab.url}', format: json}}\n"
            "    secrets: {gitlab-token: '${{ secrets.GITLAB_TOKEN }}'}\n",
            {},
            GITLAB_TOKEN="glpat-loopback0token",
        )
        recurring = []
        for _ in range(2):
            run = act.run("schedule", {}, *ONLY_CALLER)
            assert run.status == 0, run.printed
            report = caller.store / "pipeline-failure-report-1/report.json"
            buckets = json.loads(report.read_text(encoding="utf-8"))["buckets"]
            recurring.append({bucket["recurring"] for bucket in buckets})
    assert recurring == [{None}, {True}]


def test_rules_of_the_caller_extend_those_beside_them_and_those_of_the_suite(
    caller: Caller,
) -> None:
    with fake_world("dev1") as gitlab:
        act = caller.calls(
            "pipeline-failure-report",
            "workflow_dispatch",
            f"    with: {{gitlab-url: '{gitlab.url}', format: json, config: ci/own.yml}}\n"
            "    secrets: {gitlab-token: '${{ secrets.GITLAB_TOKEN }}'}\n",
            {
                "ci/own.yml": "name: own\nversion: '3'\nextends: [beside.yml]\n",
                "ci/beside.yml": "name: beside\nversion: '1'\nextends: [autodeploy.yml]\n",
            },
            GITLAB_TOKEN="glpat-loopback0token",
        )
        run = act.run("workflow_dispatch", {}, *ONLY_CALLER)
    assert run.status == 0, run.printed
    report = (caller.store / "pipeline-failure-report-1/report.json").read_text(encoding="utf-8")
    assert json.loads(report)["config"] == "own@3"
    assert json.loads(report)["failed_jobs_total"] == expected("dev1")["failed_jobs_total"]


def test_a_post_mortem_is_published_with_the_digest_of_the_first_job(caller: Caller) -> None:
    record = (ROOT / "examples/post-mortem.yml").read_text(encoding="utf-8")
    ticket = "JIRA-12345"
    with FakeJira(issues={ticket: {"summary": "It stops", "project_type": "software"}}) as jira:
        act = caller.calls(
            "post-mortem-render",
            "workflow_dispatch",
            f"    with: {{record: post-mortems/a.yml, publish: true, verify: false, "
            f"jira-base-url: '{jira.url}'}}\n"
            "    secrets:\n      JIRA_EMAIL: ${{ secrets.JIRA_EMAIL }}\n"
            "      JIRA_API_TOKEN: ${{ secrets.JIRA_API_TOKEN }}\n",
            {"post-mortems/a.yml": record},
            JIRA_EMAIL="bot@example.invalid",
            JIRA_API_TOKEN="jira-loopback0token",
        )
        run = act.run("workflow_dispatch", {}, *ONLY_CALLER)
        assert run.status == 0, run.printed
        assert len(jira.comments(ticket)) == 1
    assert (caller.store / f"post-mortem/{ticket}.jira.json").is_file()


@pytest.mark.parametrize(
    ("labels", "merged", "drafted"),
    [
        pytest.param(["needs-post-mortem"], True, True, id="merged with the label"),
        pytest.param(["bug"], True, False, id="another label"),
        pytest.param(["needs-post-mortem"], False, False, id="closed without merging"),
    ],
)
def test_a_merged_request_with_the_label_gets_a_record(
    caller: Caller, labels: list[str], merged: bool, drafted: bool
) -> None:
    act = caller.calls(
        "needs-post-mortem",
        "{pull_request: {types: [closed]}}",
        "    with: {label: needs-post-mortem}\n",
        {},
        GITHUB_TOKEN="ghs_loopback0token",
    )
    pull = {
        "number": 12,
        "title": f"[DBG-41] Record the event; $(touch {caller.store}/pwned)",
        "merged": merged,
    }
    event = {
        "action": "closed",
        "repository": {"full_name": "o/r"},
        "pull_request": {
            **pull,
            "head": {"ref": "fix-event", "sha": "a" * 40},
            "labels": [{"name": label} for label in labels],
        },
    }
    with FakeGitHub("o/r", pulls=[pull]) as forge:
        act.env = {**act.env, "GITHUB_API_URL": forge.url}
        run = act.run("pull_request", event, *ONLY_CALLER)
        assert forge.writes == []
    assert run.status == 0, run.printed
    record = caller.store / "post-mortem-record/DBG-41.yml"
    assert record.is_file() == drafted
    assert drafted == ("DBG-41" in run.summary)
    assert not (caller.store / "pwned").exists()
