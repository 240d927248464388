"""Workflows: what the linters do not see, and that the examples call what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ci_programs import manifests
from ci_programs.manifests import EXAMPLES, WORKFLOWS, Json
from ci_programs.suite import ROOT

ALL = [*WORKFLOWS, *EXAMPLES]
REUSABLE = [path for path in WORKFLOWS if "workflow_call" in manifests.read(path)[0]["on"]]
BOTH = [path for path in REUSABLE if "workflow_dispatch" in manifests.read(path)[0]["on"]]
PINNED = re.compile(r"uses: ([\w-]+/[\w./-]+)@(\S+)(?: # (v\d+\.\d+\.\d+))?$", re.MULTILINE)
OWN = "org/triage-action"


def by_name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def called_tool(uses: str) -> str | None:
    """The tool whose action a step uses, as `$/.`, `$/tool` or `org/triage-action/tool@v1`."""
    found = re.fullmatch(rf"(?:\$/|{OWN}/?)([a-z-]*)\.?(?:@v1)?", uses)
    return (found[1] or "issue-triage") if found else None


@pytest.mark.parametrize("path", ALL, ids=by_name)
class TestEvery:
    def test_actions_of_others_are_pinned_with_their_version(self, path: Path) -> None:
        for name, reference, version in PINNED.findall(path.read_text(encoding="utf-8")):
            if not name.startswith(OWN):
                assert re.fullmatch(r"[0-9a-f]{40}", reference), name
                assert version, name

    def test_permissions_are_per_job_and_explained_by_need(self, path: Path) -> None:
        assert manifests.read(path)[0]["permissions"] == {}
        for name, job in manifests.jobs(path).items():
            assert isinstance(job["permissions"], dict), name
            assert (
                "contents" not in job["permissions"]
                or name == "release"
                or (job["permissions"]["contents"] == "read")
            )

    def test_every_job_ends_by_itself(self, path: Path) -> None:
        for name, job in manifests.jobs(path).items():
            assert "uses" in job or 1 <= job["timeout-minutes"] <= 60, name

    def test_no_credentials_are_left_in_a_checkout(self, path: Path) -> None:
        for step in manifests.steps(path):
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False

    def test_steps_give_inputs_that_the_action_has(self, path: Path) -> None:
        for step in manifests.steps(path):
            tool = called_tool(step.get("uses", ""))
            if tool:
                assert set(step.get("with", {})) <= set(manifests.action(tool)["inputs"])

    def test_calls_give_what_the_called_workflow_takes(self, path: Path) -> None:
        for job in manifests.jobs(path).values():
            if "uses" not in job:
                continue
            called = re.search(r"workflows/([a-z-]+)\.yml(?:@v1)?$", job["uses"])
            assert called, job["uses"]
            takes = manifests.workflow(called[1])["on"]["workflow_call"]
            assert set(job.get("with", {})) <= set(takes["inputs"])
            assert set(job.get("secrets", {})) <= set(takes.get("secrets", {}))
            _grants_enough(job, manifests.workflow(called[1]))


def _grants_enough(job: Json, called: Json) -> None:
    """A called job that asks for more than its caller has does not start."""
    for name, needing in called["jobs"].items():
        for subject, access in needing["permissions"].items():
            granted = job["permissions"].get(subject, "none")
            assert granted in (access, "write"), f"{name} needs {subject}: {access}"


@pytest.mark.parametrize("path", REUSABLE, ids=by_name)
class TestReusable:
    def test_every_input_is_typed_described_and_has_a_default(self, path: Path) -> None:
        for name, field in manifests.read(path)[0]["on"]["workflow_call"]["inputs"].items():
            assert field["type"] in ("string", "boolean", "number"), name
            assert field["description"].endswith("."), name
            assert "default" in field or field.get("required"), name

    def test_every_input_is_used(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        for name in manifests.read(path)[0]["on"]["workflow_call"]["inputs"]:
            assert re.search(rf"inputs\.{name}\b(?!-)", text), name

    def test_one_run_at_a_time(self, path: Path) -> None:
        group = manifests.read(path)[0]["concurrency"]["group"]
        assert group.startswith("triage-action-"), "a caller's own group must not be the same"


@pytest.mark.parametrize("path", BOTH, ids=by_name)
def test_by_hand_takes_what_a_call_takes(path: Path) -> None:
    on = manifests.read(path)[0]["on"]
    call, dispatch = on["workflow_call"]["inputs"], on["workflow_dispatch"]["inputs"]
    assert list(call) == list(dispatch)
    for name, field in call.items():
        by_hand = dispatch[name]
        if name != "dry-run":  # by hand a first try writes nothing
            assert by_hand.get("default") == field.get("default"), name
        if by_hand["type"] == "choice":
            assert all(choice in field["description"] for choice in by_hand["options"]), name
        elif by_hand["type"] != "environment":
            assert by_hand["type"] == field["type"], name


SHARDED = [
    path
    for path in REUSABLE
    if "shards" in manifests.read(path)[0]["on"]["workflow_call"]["inputs"]
]


@pytest.mark.parametrize("path", SHARDED, ids=by_name)
def test_so_many_shards_so_many_jobs(path: Path) -> None:
    expression = next(iter(manifests.jobs(path).values()))["strategy"]["matrix"]["shard"]
    lists = re.findall(r"inputs\.shards (==|>) (\d) && '\[([\d,]+)\]'", expression)
    wanted = [("==", n, n) for n in range(2, 8)] + [(">", 7, 8)]
    assert [(how, int(count), listed) for how, count, listed in lists] == [
        (how, count, ",".join(map(str, range(1, last + 1)))) for how, count, last in wanted
    ]
    assert expression.rstrip(" }").endswith("|| '[1]')")
    steps = next(iter(manifests.jobs(path).values()))["steps"]
    (given,) = [step["with"]["shard"] for step in steps if "shard" in step.get("with", {})]
    assert "format('{0}/{1}', matrix.shard, inputs.shards > 8 && 8 || inputs.shards)" in given


def test_only_the_environment_s_job_sees_the_jira_secrets() -> None:
    render, publish = (
        manifests.workflow("post-mortem-render")["jobs"][n] for n in ("render", "publish")
    )
    assert "secrets." not in str(render)
    assert publish["environment"] == "${{ inputs.environment }}"
    assert publish["needs"] == "render"
    given = publish["steps"][-1]["with"]
    assert given["approve"] == "${{ needs.render.outputs.digest }}"


def test_every_example_is_commented_at_its_head() -> None:
    for path in [*EXAMPLES, *(ROOT / "examples/gitlab").glob("*.yml")]:
        assert path.read_text(encoding="utf-8").startswith("# "), path
