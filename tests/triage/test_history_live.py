"""The history of a live repository as cases: what people decided, as the issue stood before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ciops.errors import UsageError
from ciops.forges.github import GitHub
from ciops.plumbing.command_line import open_host
from ciops.triage.history import Source, day, live_cases
from fakes.github import FakeGitHub
from triage.small_world import (
    BOT,
    QUEUE,
    REPO,
    SMALL,
    TO_APP,
    TO_DISK,
    Ran,
    command,
    comment,
    environment,
    forge_with,
    issue,
    label_event,
    run,
    small_policy,
)


def triaged(number: int, *labels: str, by: str = "alice", **fields: Any) -> dict[str, Any]:
    """A closed issue on which somebody put labels on the third day."""
    at = "2025-01-03T00:00:00Z"
    return issue(
        number,
        fields.pop("text", TO_DISK),
        labels=labels,
        state="closed",
        created_at="2025-01-01T00:00:00Z",
        updated_at=f"2025-02-{number:02}T00:00:00Z",
        timeline=[label_event(label, by, at=at) for label in labels],
        **fields,
    )


def cases(forge: FakeGitHub, folder: Path, since: str = "2025-01-01") -> list[dict[str, Any]]:
    host = open_host(environment(forge.url), folder)
    github = GitHub.from_env(environment(forge.url))
    source = Source(github.queue(REPO), github.client, REPO, day(since), folder)
    return list(live_cases(source, small_policy(), host))


@pytest.mark.parametrize(
    ("case", "facets"),
    [
        pytest.param(
            triaged(1, "team: disk"), {"distributed": True, "sub_oncall": "disk"}, id="a route"
        ),
        pytest.param(
            triaged(1, "team: app", "area: cache", "area: socket"),
            {
                "distributed": True,
                "sub_oncall": "app",
                "modules": ["area: socket", "area: cache"],
            },
            id="a route and modules",
        ),
        pytest.param(
            triaged(1, "team: disk", "area: cache"),
            {"distributed": True, "sub_oncall": "disk"},
            id="modules of a route that has none",
        ),
        pytest.param(triaged(1, "team: disk", by=BOT), None, id="put by the bot"),
        pytest.param(triaged(1, "team: disk", by="parent-bot[bot]"), None, id="put by another bot"),
        pytest.param(triaged(1, "team: disk", by="stale[bot]"), None, id="put by any bot"),
        pytest.param(triaged(1, "team: disk", "team: net"), None, id="two routes"),
        pytest.param(triaged(1, "sorted"), None, id="no route"),
        pytest.param(triaged(1, "team: disk", pull_request={}), None, id="a pull request"),
    ],
)
def test_what_people_said(
    case: dict[str, Any], facets: dict[str, Any] | None, tmp_path: Path
) -> None:
    with forge_with(case) as forge:
        found = cases(forge, tmp_path)
        assert forge.writes == []
    assert [part["facets"] for part in found] == ([] if facets is None else [facets])


def test_an_issue_is_judged_as_it_stood(tmp_path: Path) -> None:
    """What is said after the label would give the answer away, and so would the label."""
    talk = [
        comment("it is slow", by="reporter", created_at="2025-01-02T00:00:00Z"),
        comment("the root cause is the PlatterError", created_at="2025-01-04T00:00:00Z"),
    ]
    with forge_with(triaged(1, "team: disk", "urgent", "color: red", comments=talk)) as forge:
        (case,) = cases(forge, tmp_path)
    assert [label["name"] for label in case["issue"]["labels"]] == [QUEUE, "color: red"]
    assert [part["body"] for part in case["comments"]] == ["it is slow"]
    assert (case["issue"]["state"], case["timeline"]) == ("open", [])


def test_a_second_time_costs_the_list_alone(tmp_path: Path) -> None:
    with forge_with(*(triaged(number, "team: disk") for number in range(1, 6))) as forge:
        first = cases(forge, tmp_path)
        before = forge.request_count
        second = cases(forge, tmp_path)
        assert forge.request_count - before == 1
    assert first == second
    assert len(first) == 5


def test_what_changed_since_is_read_again(tmp_path: Path) -> None:
    with forge_with(triaged(1, "team: disk"), triaged(2, "team: disk")) as forge:
        cases(forge, tmp_path)
        forge.person_labels(2, remove=["team: disk"], by="alice")
        forge.person_labels(2, add=["team: net"], by="alice")
        found = {case["id"]: case["facets"]["sub_oncall"] for case in cases(forge, tmp_path)}
    assert found == {"1": "disk", "2": "net"}


def test_stopped_by_the_rate_limit_it_is_taken_up_again(tmp_path: Path) -> None:
    queue = [triaged(number, "team: disk") for number in range(1, 29)]
    with forge_with(*queue, rate_limit=51) as forge:
        some = cases(forge, tmp_path)
    assert 0 < len(some) < 28
    with forge_with(*queue) as forge:
        assert len(cases(forge, tmp_path)) == 28
        timelines = "GET /repos/{owner}/{repo}/issues/{issue_number}/timeline"
        assert forge.calls[timelines] == 28 - len(some)


def test_half_a_line_of_a_killed_run_is_dropped(tmp_path: Path) -> None:
    with forge_with(triaged(1, "team: disk"), triaged(2, "team: net")) as forge:
        cases(forge, tmp_path)
        (cache,) = tmp_path.glob("history-*.jsonl")
        cache.write_text(cache.read_text(encoding="utf-8")[:-30], encoding="utf-8")
        assert len(cases(forge, tmp_path)) == 2
        assert len(cases(forge, tmp_path)) == 2


def test_since_a_day(tmp_path: Path) -> None:
    with forge_with(triaged(1, "team: disk"), triaged(9, "team: disk")) as forge:
        found = cases(forge, tmp_path, "2025-02-05")
    assert [case["id"] for case in found] == ["9"]


def test_a_day_that_is_none() -> None:
    with pytest.raises(UsageError, match=r'"yesterday" is no date\. Write it as 2026-01-31'):
        day("yesterday")


def backtest(forge: FakeGitHub, folder: Path) -> Ran:
    given = ["--repo", REPO, "--since", "2025-01-01", "--policy", str(SMALL), "--format", "json"]
    return command(forge, folder, ["backtest", *given, "--output", str(folder)])


def test_the_command_measures_agreement(tmp_path: Path) -> None:
    wrong = triaged(3, "team: net", text=TO_DISK)
    right = triaged(1, "team: disk"), triaged(2, "team: app", "area: cache", text=TO_APP)
    with forge_with(*right, wrong) as forge:
        ran = backtest(forge, tmp_path)
        assert forge.writes == []
    assert ran.status == 0
    figures = json.loads(ran.said[ran.said.index("{") :])
    assert figures["issues"] == 3


def test_a_shadow_log_is_a_backtest(tmp_path: Path) -> None:
    by_people = issue(
        2,
        TO_DISK,
        labels=["team: net"],
        timeline=[label_event("team: net", "alice")],
    )
    with forge_with(issue(1, TO_DISK), by_people) as forge:
        run(forge, tmp_path, "--sweep", "--shadow")
        log = str(tmp_path / "shadow.jsonl")
        ran = command(forge, tmp_path, ["backtest", log, "--policy", str(SMALL)])
    lines = [json.loads(line) for line in Path(log).read_text(encoding="utf-8").splitlines()]
    assert [line["facets"].get("sub_oncall") for line in lines] == [None, "net"]
    assert lines[0]["decision"]["plan"]["add_labels"] == ["team: disk", "triaged-by-bot", "sorted"]
    assert ran.status == 0


def test_an_incomplete_history_is_told(tmp_path: Path) -> None:
    queue = [triaged(number, "team: disk") for number in range(1, 29)]
    with forge_with(*queue, rate_limit=51) as forge:
        ran = backtest(forge, tmp_path)
    assert "the history is not complete. Run it again" in ran.said
