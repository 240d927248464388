"""What a host hands on: outputs, summaries within their limit, and the event that came in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ciops.errors import UsageError
from ciops.plumbing import ci_host
from ciops.plumbing.ci_host import Event, cut_markdown
from fakes.runner import github_outputs
from plumbing.conftest import GITHUB, GITLAB, Seen

# --- outputs --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    ["plain", "", "two\nlines", "x\nEOF\ny", "a<<b\nc=d", "ends\n", "=\n<<\n", "日本語"],
)
def test_outputs_are_read_back(on: Callable[..., Seen], tmp_path: Path, value: str) -> None:
    path = tmp_path / "outputs"
    seen = on(GITHUB, {"GITHUB_OUTPUT": str(path)})
    seen.host.output("first", value)
    seen.host.output("run-file", "x")
    assert github_outputs(path) == {"first": value, "run-file": "x"}


def test_a_value_that_holds_the_delimiter_gets_another(
    on: Callable[..., Seen], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "outputs"
    tokens = iter(["guessed", "guessed", "fresh"])
    monkeypatch.setattr(ci_host.secrets, "token_hex", lambda _: next(tokens))
    value = "a\nend-of-labels-guessed\nevil<<x\ny\nx"
    on(GITHUB, {"GITHUB_OUTPUT": str(path)}).host.output("labels", value)
    assert github_outputs(path) == {"labels": value}


@pytest.mark.parametrize("name", ["a b", "a\nb", "a=b", "<<x", "", "1a"])
def test_output_names_are_checked(on: Callable[..., Seen], tmp_path: Path, name: str) -> None:
    seen = on(GITHUB, {"GITHUB_OUTPUT": str(tmp_path / "o")})
    with pytest.raises(UsageError, match="output name"):
        seen.host.output(name, "x")


def test_gitlab_outputs_are_a_dotenv_report(on: Callable[..., Seen]) -> None:
    seen = on(GITLAB)
    seen.host.output("comment-url", "https://x/y")
    seen.host.output("labels", "a\nEVIL=1\r\nb")
    text = (seen.folder / "outputs.env").read_text()
    assert text == "COMMENT_URL=https://x/y\nLABELS=a EVIL=1 b\n"


def test_a_host_without_a_place_for_outputs(on: Callable[..., Seen]) -> None:
    for env in ({}, GITHUB):
        seen = on(env)
        seen.host.output("a", "b")
        assert not seen.folder.exists()


# --- summaries ------------------------------------------------------------------------------


def test_a_summary_is_added_to(on: Callable[..., Seen], tmp_path: Path) -> None:
    path = tmp_path / "summary"
    seen = on(GITHUB, {"GITHUB_STEP_SUMMARY": str(path)})
    seen.host.summary("# One\n")
    seen.host.summary("Two é")
    assert path.read_text(encoding="utf-8") == "# One\n\nTwo é\n\n"


@pytest.mark.parametrize("env", [{}, GITLAB, GITHUB], ids=["terminal", "gitlab", "no file"])
def test_a_summary_elsewhere_is_a_file(on: Callable[..., Seen], env: dict[str, str]) -> None:
    seen = on(env)
    seen.host.summary("# One")
    seen.host.summary("Two")
    assert (seen.folder / "summary.md").read_text() == "# One\n\nTwo\n\n"


def test_a_summary_stays_under_its_limit_over_several_calls(
    on: Callable[..., Seen], tmp_path: Path
) -> None:
    path = tmp_path / "summary"
    seen = on(GITHUB, {"GITHUB_STEP_SUMMARY": str(path)})
    paragraph = "日本語のまとめ。" * 40 + "\n\n"
    for _ in range(6):
        seen.host.summary(paragraph * 400)
    content = path.read_bytes()
    assert 1024 * 1024 - 4096 < len(content) <= 1024 * 1024
    assert "Cut here" in content.decode("utf-8")


def test_a_lone_surrogate_can_be_written(on: Callable[..., Seen], tmp_path: Path) -> None:
    path = tmp_path / "summary"
    on(GITHUB, {"GITHUB_STEP_SUMMARY": str(path)}).host.summary("a\ud800b")
    assert path.read_text() == "a?b\n\n"


NOTE = "> {left} left of {limit}"


def body(cut: str) -> str:
    return cut.split("> ")[0]


@pytest.mark.parametrize("limit", range(150, 420, 13))
def test_a_cut_falls_between_blocks_and_fits(limit: int) -> None:
    markdown = "\n\n".join(f"Absatz {n} über é 日本" for n in range(40)) + "\n"
    cut = cut_markdown(markdown, limit, NOTE)
    assert len(cut.encode()) <= limit
    assert markdown.startswith(body(cut))
    assert body(cut).endswith("\n\n")
    left = int(re.search(r"> ([\d]+) left", cut).group(1))  # type: ignore[union-attr]
    assert left == len(markdown.encode()) - len(body(cut).encode())


def test_what_fits_is_not_cut() -> None:
    assert cut_markdown("é" * 50, 100, NOTE) == "é" * 50


@pytest.mark.parametrize("limit", [0, -5, 40])
def test_no_room_for_a_note(limit: int) -> None:
    assert cut_markdown("x" * 500, limit, NOTE) == ""


def test_a_cut_falls_outside_of_fences_and_details() -> None:
    first = "one\n\n" * 40
    code = "code\n\n" * 40
    markdown = first + f"<details>\n\n```\n\n{code}\n```\n\n</details>\n\n" + "x\n\n" * 90
    cut = cut_markdown(markdown, len(first) + 140, NOTE)
    assert body(cut) == first


@pytest.mark.parametrize("fence", ["```", "````", "~~~"])
def test_one_huge_block_is_cut_by_lines_and_closed(fence: str) -> None:
    markdown = f"<details>\n\n{fence}text\n" + "line é\n\n" * 200 + f"{fence}\n</details>\n"
    cut = cut_markdown(markdown, 500, NOTE)
    assert len(cut.encode()) <= 500
    head = body(cut)
    assert head.count(fence) == 2
    assert head.rstrip().endswith(f"{fence}\n</details>")


def test_one_huge_line_is_cut_between_characters() -> None:
    cut = cut_markdown("é" * 1000, 301, NOTE)
    assert len(cut.encode()) <= 301
    assert set(body(cut).strip()) == {"é"}


# --- events ---------------------------------------------------------------------------------


def test_a_github_event(on: Callable[..., Seen], tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    path.write_text('{"issue": {"number": 7}}')
    env = {"GITHUB_EVENT_NAME": "issues", "GITHUB_EVENT_PATH": str(path)}
    assert on(GITHUB, env).host.event() == Event("issues", {"issue": {"number": 7}})


def test_hosts_without_an_event(on: Callable[..., Seen]) -> None:
    assert on({}).host.event() is None
    assert on(GITHUB).host.event() is None
    assert on(GITLAB, {"CI_PIPELINE_SOURCE": "push"}).host.event() is None


def test_a_gitlab_schedule_and_a_trigger(on: Callable[..., Seen], tmp_path: Path) -> None:
    schedule = on(GITLAB, {"CI_PIPELINE_SOURCE": "schedule"}).host.event()
    assert schedule == Event("schedule", {})
    path = tmp_path / "payload"
    path.write_text('{"object_kind": "issue", "object_attributes": {"iid": 3}}')
    env = {"CI_PIPELINE_SOURCE": "trigger", "TRIGGER_PAYLOAD": str(path)}
    event = on(GITLAB, env).host.event()
    assert event is not None
    assert (event.name, event.payload["object_attributes"]) == ("issue", {"iid": 3})


BAD_EVENTS = {
    "broken": (b'{"a": \n tru', "is not JSON (line 2). Name the issue"),
    "empty": (b"", "is not JSON (line 1)"),
    "a list": (b"[1]", "holds no JSON object"),
    "not UTF-8": (b'{"a": "\xff"}', "is not UTF-8"),
    "deep": (b'{"a":' + b"[" * 200_000, "is not JSON"),
    "huge number": (b'{"a": ' + b"9" * 10_000 + b"}", "is not JSON"),
}


@pytest.mark.parametrize(("content", "words"), BAD_EVENTS.values(), ids=BAD_EVENTS)
@pytest.mark.parametrize("env", [GITHUB, GITLAB], ids=["github", "gitlab"])
def test_bad_events_are_one_sentence(
    on: Callable[..., Seen], tmp_path: Path, env: dict[str, str], content: bytes, words: str
) -> None:
    path = tmp_path / "event.json"
    path.write_bytes(content)
    variables = {"GITHUB_EVENT_NAME": "issues", "GITHUB_EVENT_PATH": str(path)}
    with pytest.raises(UsageError) as caught:
        on(env, variables, {"TRIGGER_PAYLOAD": str(path)}).host.event()
    variable = "GITHUB_EVENT_PATH" if env is GITHUB else "TRIGGER_PAYLOAD"
    assert str(caught.value).startswith(f"{variable}: the event file ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_and_a_huge_event_file(
    on: Callable[..., Seen], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "event.json"
    env = {"GITHUB_EVENT_NAME": "issues", "GITHUB_EVENT_PATH": str(path)}
    with pytest.raises(UsageError) as missing:
        on(GITHUB, env).host.event()
    named = f"GITHUB_EVENT_PATH: the event file {path}: no such file. Name the issue or pipeline"
    assert named in str(missing.value)
    with pytest.raises(UsageError, match=r"TRIGGER_PAYLOAD: the event file .*: is a directory"):
        on(GITLAB, {"TRIGGER_PAYLOAD": str(tmp_path)}).host.event()
    monkeypatch.setattr(ci_host, "EVENT_LIMIT", 10)
    path.write_text(json.dumps({"a": "x" * 20}))
    with pytest.raises(UsageError, match="is larger than 10 bytes"):
        on(GITHUB, env).host.event()
