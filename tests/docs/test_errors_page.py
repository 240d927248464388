"""The page of errors: every sentence on it is said, with its status."""

from __future__ import annotations

import io
import json
import re
import signal
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path

import pytest

import launch
from ci_programs.suite import ROOT
from ciops import errors
from ciops.postmortem.payload import digest
from failures.pipeline_worlds import TOKEN, UPSTREAM, job, pipeline, small_world
from fakes.github import Account
from fakes.gitlab import FakeGitLab
from faults.postmortem_scenes import SCENES
from faults.scenes import signalled, undisturbed
from postmortem.records import CASES
from triage.small_world import QUEUE, SMALL, TO_DISK, all_labels, forge_with, issue, run

PAGE = ROOT / "docs/errors.md"
ROW = re.compile(r"^\| (`.*`) \| ([0-4]) \| .+ \|$", re.MULTILINE)
RECORD = CASES / "01.yml"
Said = tuple[int, str]


def rows() -> list[tuple[str, int]]:
    """What each row of the page says, and its status."""
    text = PAGE.read_text(encoding="utf-8").partition("## Usual errors")[2]
    return [(says, int(status)) for says, status in ROW.findall(text)]


def pieces(says: str) -> list[str]:
    """The parts of a sentence that stand on the page, in order."""
    return [part.strip() for span in re.findall(r"`([^`]+)`", says) for part in span.split("…")]


def tool(name: str, *words: str | Path, env: Mapping[str, str] | None = None) -> Said:
    main = import_module(f"ciops.{name}.app").main
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        try:
            status = main([str(word) for word in words], env or {})
        except SystemExit as end:
            status = int(str(end.code))
    return status, out.getvalue()


def on_issues(tmp_path: Path, *words: str, labels: list[str] | None = None, **more: object) -> Said:
    """`issue_triage run` on two issues of a fake forge."""
    named = all_labels() if labels is None else labels
    with forge_with(issue(7, TO_DISK), issue(8, TO_DISK), labels=named, **more) as forge:
        ran = run(forge, tmp_path, *words)
    return ran.status, ran.said


def on_pipelines(fake: FakeGitLab, tmp_path: Path, *words: str) -> Said:
    env = {"GITLAB_TOKEN": TOKEN, "GITLAB_URL": fake.url}
    with fake:
        return tool("failures", "report", "--output", tmp_path / "out", *words, env=env)


# --- any tool ---------------------------------------------------------------------------------


def launched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Said:
    """With a file for stderr, since pip writes there too."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    words = tmp_path / "stderr"
    with words.open("w", encoding="utf-8") as file, redirect_stderr(file):
        status = launch.main(["issue_triage"])
    return status, words.read_text(encoding="utf-8")


def an_old_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Said:
    monkeypatch.setattr(launch, "OLDEST_PYTHON", (99, 0))
    return launched(tmp_path, monkeypatch)


def no_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Said:
    lock = tmp_path / "requirements.txt"
    lock.write_text(f"nothing @ file://{tmp_path}/none.whl --hash=sha256:{'0' * 64}\n", "utf-8")
    monkeypatch.setattr(launch, "LOCK", lock)
    monkeypatch.setenv("TRIAGE_ACTION_CACHE", str(tmp_path / "cache"))
    return launched(tmp_path, monkeypatch)


def nobody_listens(tmp_path: Path, _: pytest.MonkeyPatch) -> Said:
    with forge_with(issue(7, TO_DISK)) as forge:
        pass
    ran = run(forge, tmp_path, "--issue", "7")
    return ran.status, ran.said


def a_token_that_may_only_read(tmp_path: Path, _: pytest.MonkeyPatch) -> Said:
    reader = Account("github-actions[bot]", permissions={"issues": "read"})
    return on_issues(tmp_path, "--issue", "7", tokens={"secret-token-of-the-test": reader})


def a_link_for_a_folder(tmp_path: Path, _: pytest.MonkeyPatch) -> Said:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/docs").symlink_to(tmp_path)
    return tool("postmortem", "render", RECORD, "--to", "file", "--output", tmp_path / "out")


def a_cancelled_job(tmp_path: Path, _: pytest.MonkeyPatch) -> Said:
    new = next(scene for scene in SCENES if scene.name == "new --pr")
    with new.opened(tmp_path) as servers:
        place = undisturbed(new).places[0]
        ran, _seconds = signalled(new, servers, tmp_path, place, signal.SIGTERM)
    return ran.status, ran.said


# --- issue-triage -----------------------------------------------------------------------------


def a_policy_with_a_slip(tmp_path: Path, _: pytest.MonkeyPatch) -> Said:
    path = tmp_path / "policy.yml"
    text = SMALL.read_text(encoding="utf-8")
    path.write_text(text.replace("default: true", "defualt: true", 1), encoding="utf-8")
    return tool("triage", "policy", "check", path)


def near_the_rate_limit(tmp_path: Path, _: pytest.MonkeyPatch) -> Said:
    queue = [issue(n, TO_DISK) for n in range(1, 61)]
    with forge_with(*queue, rate_limit=90) as forge:
        ran = run(forge, tmp_path, "--sweep")
    return ran.status, ran.said


def too_many_writes(tmp_path: Path, _: pytest.MonkeyPatch) -> Said:
    status, said = on_issues(tmp_path, "--sweep", "--max-writes", "1")
    return status, said.replace("limit of 1 writes", "limit of 200 writes")


# --- pipeline-failure-report ------------------------------------------------------------------


def a_foreign_url(tmp_path: Path, _: pytest.MonkeyPatch) -> Said:
    url = "https://gitlab.example.com/a/b/-/pipelines/1"
    words = ("report", "--output", tmp_path, "--pipeline", url)
    return tool("failures", *words, env={"GITLAB_TOKEN": TOKEN})


def a_benchmark(tmp_path: Path, _: pytest.MonkeyPatch) -> Said:
    one = pipeline(2, UPSTREAM, name="nightly benchmark", jobs=[job(1, "perf-bench: a")])
    return on_pipelines(small_world(one), tmp_path, "--pipeline", "2")


def a_missing_pipeline(tmp_path: Path, _: pytest.MonkeyPatch) -> Said:
    return on_pipelines(small_world(), tmp_path, "--pipeline", "77")


def nothing_of_the_scope(tmp_path: Path, _: pytest.MonkeyPatch) -> Said:
    one = pipeline(2, UPSTREAM, jobs=[job(1, "lint")])
    return on_pipelines(small_world(one), tmp_path)


def no_hypothesis(tmp_path: Path, _: pytest.MonkeyPatch) -> Said:
    report = json.loads((ROOT / "tests/golden/failures/report-usual.json").read_text("utf-8"))
    bucket = next(one for one in report["buckets"] if one["status"] == "actionable")
    bucket["hypothesis"] = ""
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report), encoding="utf-8")
    words = ("--bucket", bucket["name"], "--head", "fix", "--validation", "pytest")
    env = {"GITLAB_TOKEN": TOKEN, "GITHUB_TOKEN": "secret-of-the-test"}
    return tool("failures", "open-pr", "--report", path, *words, env=env)


# --- post-mortem-render -----------------------------------------------------------------------


def a_record(name: str, old: str, new: str) -> Callable[[Path, pytest.MonkeyPatch], Said]:
    def checked(tmp_path: Path, _: pytest.MonkeyPatch) -> Said:
        path = tmp_path / name
        text = (ROOT / "examples/post-mortem.yml").read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return tool("postmortem", "check", path)

    return checked


SITE = {
    "JIRA_BASE_URL": "https://jira.example.com",
    "JIRA_EMAIL": "a@example.com",
    "JIRA_API_TOKEN": "secret-of-the-test",
}


def published(*words: str, edit: tuple[str, str] = ("", ""), site: str = "") -> Callable[..., Said]:
    """A payload rendered for a site, then perhaps edited, then published."""

    def done(tmp_path: Path, _: pytest.MonkeyPatch) -> Said:
        assert tool("postmortem", "render", RECORD, "--output", tmp_path, env=SITE)[0] == 0
        path = next(tmp_path.glob("*.jira.json"))
        approval = digest(path.read_text(encoding="utf-8"))
        path.write_text(path.read_text(encoding="utf-8").replace(*edit, 1), "utf-8")
        given = [approval if word == "DIGEST" else word for word in words]
        env = SITE | ({"JIRA_BASE_URL": site} if site else {})
        return tool("postmortem", "publish", path, *given, env=env)

    return done


def of(name: str, *words: str, **env: str) -> Callable[[Path, pytest.MonkeyPatch], Said]:
    return lambda tmp_path, _: tool(name, *words, env=env)


HOW: dict[str, Callable[[Path, pytest.MonkeyPatch], Said]] = {
    "there is no command": of("postmortem", "rendr"),
    "unrecognized arguments": of("triage", "run", "--polcy", "x.yml"),
    "input dry-run is": of("triage", "run", "--repo", "o/r", INPUT_DRY_RUN="perhaps"),
    "triage-action needs Python": an_old_python,
    "triage-action could not start": no_packages,
    "GitHub: GET": nobody_listens,
    "GitHub: … answered 403": a_token_that_may_only_read,
    "SIGTERM": a_cancelled_job,
    "is a symbolic link": a_link_for_a_folder,
    "routes[": a_policy_with_a_slip,
    "no repository is named": of("triage", "run", "--issue", "7"),
    "nothing says which issues": of("triage", "run", "--repo", "o/r"),
    "the repository lacks labels": lambda tmp_path, _: on_issues(
        tmp_path, "--sweep", labels=[QUEUE]
    ),
    "Stopped near the rate limit": near_the_rate_limit,
    "Stopped at the limit": too_many_writes,
    "Set GITLAB_TOKEN": of("failures", "report"),
    "is not on gitlab.com": a_foreign_url,
    "benchmark": a_benchmark,
    "pipeline 77 is missing": a_missing_pipeline,
    "ran in none of the newest": nothing_of_the_scope,
    "has no hypothesis in code": no_hypothesis,
    "refused. Nothing is drafted": a_record("r.yml", "status: identified", "status: hypothesis"),
    "an incident needs": a_record("r.yml", "kind: bug-fix", "kind: incident"),
    "no digest approves": published(),
    "the payload is not the one": published("--approve", "DIGEST", edit=('"text":"', '"text":"x')),
    "is no payload that render": published("--approve", "DIGEST", edit=("{", "")),
    "the payload is for": published("--approve", "DIGEST", site="https://other.example.com"),
    "no such file": of("postmortem", "publish", "none.json", "--approve", "sha256:0"),
}


def how(says: str) -> Callable[[Path, pytest.MonkeyPatch], Said]:
    text = says.strip("`")
    return next(done for start, done in HOW.items() if text.startswith(start))


@pytest.mark.parametrize(("says", "status"), rows(), ids=lambda given: str(given)[:40])
def test_an_error_says_what_the_page_says(
    says: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended, said = how(says)(tmp_path, monkeypatch)
    assert ended == status, said
    place = 0
    for piece in pieces(says):
        assert piece in said[place:], said
        place = said.index(piece, place) + len(piece)


def test_each_way_is_a_row() -> None:
    assert len({how(says) for says, _ in rows()}) == len(HOW)


def test_the_statuses_are_those_of_the_code() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("## Usual errors")[0]
    told = re.findall(r"^\| (\d) \| ([a-z ]+)", table, re.MULTILINE)
    assert [int(status) for status, _ in told] == [
        errors.EXIT_DONE,
        errors.EXIT_PARTIAL,
        errors.EXIT_USAGE,
        errors.EXIT_REFUSED,
        errors.EXIT_SERVICE,
    ]
