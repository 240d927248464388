"""Hosts: what is read, printed and written, and that untrusted text never acts."""

from __future__ import annotations

import io
import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ciops.errors import UsageError
from ciops.plumbing import ci_host
from ciops.plumbing.ci_host import CiHost, Event, cut_markdown, detect

GITHUB = {"GITHUB_ACTIONS": "true"}
GITLAB = {"GITLAB_CI": "true"}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@dataclass
class Seen:
    host: CiHost
    out: io.StringIO
    err: io.StringIO
    folder: Path

    @property
    def lines(self) -> list[str]:
        return self.out.getvalue().splitlines()


@pytest.fixture
def on(tmp_path: Path) -> Callable[..., Seen]:
    def start(*environments: dict[str, str], tty: bool = False) -> Seen:
        env = {key: value for part in environments for key, value in part.items()}
        out, err = (Terminal(), Terminal()) if tty else (io.StringIO(), io.StringIO())
        return Seen(detect(env, tmp_path / "out", out, err), out, err, tmp_path / "out")

    return start


@pytest.mark.parametrize(
    ("env", "name"),
    [
        (GITHUB, "github"),
        (GITLAB, "gitlab"),
        ({}, "terminal"),
        ({"GITHUB_ACTIONS": "false"}, "terminal"),
        ({"CI": "true"}, "terminal"),
        (GITHUB | GITLAB, "github"),
    ],
)
def test_detection(on: Callable[..., Seen], env: dict[str, str], name: str) -> None:
    assert on(env).host.name == name


def test_inputs(on: Callable[..., Seen]) -> None:
    env = {"INPUT_DRY_RUN": " true ", "INPUT_POLICY": "", "INPUT_ISSUE": "3", "OTHER": "x"}
    assert on(env).host.inputs() == {"dry-run": "true", "issue": "3"}


# --- workflow commands ----------------------------------------------------------------------

COMMANDS = [
    "::set-output name=x::y",
    "  ::add-mask::y",
    "\t::error::y",
    "##[error]y",
    "text ##[set-env name=PATH;]y",
    "a\n::stop-commands::x\nb",
    "a\r::save-state name=x::y",
    "\x1b[0m::warning::y",
    "\u200b::group::y",
    "\u2028::debug::y",
]


def acting(lines: list[str]) -> list[str]:
    """What a runner would obey: commands outside of a stop-commands pair."""
    found = []
    token = ""
    for line in lines:
        stop = re.match(r"\s*::stop-commands::(.*)", line)
        if token:
            token = "" if line == f"::{token}::" else token
        elif stop:
            token = stop.group(1)
        elif re.match(r"\s*::", line) or "##[" in line:
            found.append(line)
    assert not token, "commands stay stopped"
    return found


def late_notice(host: CiHost, text: str) -> None:
    for _ in range(12):
        host.notice(text)


PRINTED: dict[str, Callable[[CiHost, str], None]] = {
    "say": lambda host, text: host.say(text),
    "styled": lambda host, text: host.say(text, "red"),
    "late notice": late_notice,
    "progress": lambda host, text: host.progress(text, 1, 1),
}


@pytest.mark.parametrize("text", COMMANDS)
@pytest.mark.parametrize("way", PRINTED.values(), ids=PRINTED)
def test_untrusted_text_is_no_command(
    on: Callable[..., Seen], way: Callable[[CiHost, str], None], text: str
) -> None:
    seen = on(GITHUB)
    way(seen.host, text)
    obeyed = acting(seen.lines)
    assert all(line.startswith("::notice::") for line in obeyed)
    assert seen.err.getvalue() == ""


@pytest.mark.parametrize("text", COMMANDS)
def test_untrusted_text_in_a_command_stays_in_it(on: Callable[..., Seen], text: str) -> None:
    seen = on(GITHUB)
    seen.host.error(text, file=text, line=3)
    with seen.host.group(text):
        pass
    assert len(seen.lines) == 3
    assert [line.split("::")[1].split(" ")[0] for line in seen.lines] == [
        "error",
        "group",
        "endgroup",
    ]


def test_text_between_stop_commands_stays_as_it_is(on: Callable[..., Seen]) -> None:
    seen = on(GITHUB)
    seen.host.say("a\n::error::b")
    token = seen.lines[0].removeprefix("::stop-commands::")
    assert seen.lines[1:] == ["a", "::error::b", f"::{token}::"]
    assert len(token) >= 32


def test_every_token_is_new(on: Callable[..., Seen]) -> None:
    seen = on(GITHUB)
    for _ in range(5):
        seen.host.say("::x::")
    assert len({line for line in seen.lines if line.startswith("::stop")}) == 5


def test_ordinary_text_is_printed_bare(on: Callable[..., Seen]) -> None:
    seen = on(GITHUB)
    seen.host.say("std::vector<int> a # [x]")
    assert seen.lines == ["std::vector<int> a # [x]"]


def test_a_terminal_and_gitlab_read_no_commands(on: Callable[..., Seen]) -> None:
    for env in ({}, GITLAB):
        seen = on(env)
        seen.host.say("::error::x")
        assert seen.lines == ["::error::x"]


def test_a_trace_cannot_forge_a_section(on: Callable[..., Seen]) -> None:
    seen = on(GITLAB)
    seen.host.say("\x1b[0Ksection_start:1:x\r\x1b[0KHidden")
    assert "\x1b" not in seen.out.getvalue()
    assert "\r" not in seen.out.getvalue()


# --- annotations ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "file", "line", "command"),
    [
        ("plain", None, None, "::warning::plain"),
        ("a%b\r\nc", None, None, "::warning::a%25b%0Ac"),
        ("%0A", None, None, "::warning::%250A"),
        ("m", "a,b:c%.py", 7, "::warning file=a%2Cb%3Ac%25.py,line=7::m"),
        ("m", "p.yml", None, "::warning file=p.yml::m"),
    ],
)
def test_annotations_are_escaped(
    on: Callable[..., Seen], message: str, file: str | None, line: int | None, command: str
) -> None:
    seen = on(GITHUB)
    seen.host.warning(message, file, line)
    assert seen.lines == [command]


def test_ten_annotations_of_a_kind_then_plain_lines(on: Callable[..., Seen]) -> None:
    seen = on(GITHUB)
    for number in range(12):
        seen.host.error(f"e{number}")
    seen.host.notice("n")
    assert seen.lines[9] == "::error::e9"
    assert seen.lines[10:] == ["error: e10", "error: e11", "::notice::n"]


@pytest.mark.parametrize("env", [{}, GITLAB], ids=["terminal", "gitlab"])
def test_annotations_elsewhere_are_lines(on: Callable[..., Seen], env: dict[str, str]) -> None:
    seen = on(env)
    seen.host.error("bad", "p.yml", 3)
    seen.host.warning("odd", "p.yml")
    printed = seen.out.getvalue() + seen.err.getvalue()
    assert printed == "error: p.yml:3: bad\nwarning: p.yml: odd\n"


# --- secrets --------------------------------------------------------------------------------

SECRET = "line-one-secret\nline-two-secret"


def test_a_secret_is_masked_line_by_line(on: Callable[..., Seen]) -> None:
    seen = on(GITHUB)
    seen.host.mask("  \n" + SECRET + "\r\nthree%four")
    assert seen.lines == [
        "::add-mask::line-one-secret",
        "::add-mask::line-two-secret",
        "::add-mask::three%25four",
    ]


@pytest.mark.parametrize("env", [GITHUB, GITLAB, {}], ids=["github", "gitlab", "terminal"])
def test_a_secret_is_shown_nowhere(
    on: Callable[..., Seen], env: dict[str, str], tmp_path: Path
) -> None:
    places = {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    seen = on(env, places)
    seen.host.mask(SECRET)
    before = len(seen.out.getvalue())
    seen.host.say(f"a {SECRET} b")
    seen.host.error("x line-two-secret", "line-one-secret.py")
    seen.host.progress("line-one-secret", 1, 1)
    with seen.host.group("line-two-secret"):
        pass
    seen.host.summary(f"`{SECRET}`")
    seen.host.output("name", "is line-one-secret")
    written = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    printed = seen.out.getvalue()[before:] + seen.err.getvalue()
    assert "secret" not in printed + "".join(written)
    assert "***" in printed
    assert written


def test_the_longer_of_two_secrets_goes_whole(on: Callable[..., Seen]) -> None:
    seen = on({})
    seen.host.mask("abc")
    seen.host.mask("abcdef")
    seen.host.say("abcdef abc")
    assert seen.lines == ["*** ***"]


# --- outputs --------------------------------------------------------------------------------


def github_outputs(path: Path) -> dict[str, str]:
    """As the runner reads GITHUB_OUTPUT."""
    found: dict[str, str] = {}
    lines = path.read_text(encoding="utf-8").split("\n")
    while lines and lines[0]:
        name, delimiter = lines.pop(0).split("<<", 1)
        value = []
        while lines[0] != delimiter:
            value.append(lines.pop(0))
        lines.pop(0)
        found[name] = "\n".join(value)
    return found


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
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_and_a_huge_event_file(
    on: Callable[..., Seen], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "event.json"
    env = {"GITHUB_EVENT_NAME": "issues", "GITHUB_EVENT_PATH": str(path)}
    with pytest.raises(UsageError, match="no such file"):
        on(GITHUB, env).host.event()
    monkeypatch.setattr(ci_host, "EVENT_LIMIT", 10)
    path.write_text(json.dumps({"a": "x" * 20}))
    with pytest.raises(UsageError, match="is larger than 10 bytes"):
        on(GITHUB, env).host.event()


# --- folding, colour, progress --------------------------------------------------------------


def test_groups_fold_on_github_even_after_an_error(on: Callable[..., Seen]) -> None:
    seen = on(GITHUB)
    with pytest.raises(ValueError, match="x"), seen.host.group("Issue 3"):
        raise ValueError("x")
    assert seen.lines == ["::group::Issue 3", "::endgroup::"]


def test_groups_fold_on_gitlab_and_nest(on: Callable[..., Seen]) -> None:
    seen = on(GITLAB)
    with seen.host.group("outer\nx"), seen.host.group("inner"):
        seen.host.say("text")
    marks = re.findall(r"section_(start|end):\d+:(\w+)", seen.out.getvalue())
    assert marks == [
        ("start", "ciops_1"),
        ("start", "ciops_2"),
        ("end", "ciops_2"),
        ("end", "ciops_1"),
    ]
    assert "\r\x1b[0Kouter x\n" in seen.out.getvalue()


@pytest.mark.parametrize(
    ("env", "tty", "printed"),
    [
        ({}, True, "\x1b[31mx\x1b[0m\n"),
        ({}, False, "x\n"),
        ({"NO_COLOR": "1"}, True, "x\n"),
        ({"NO_COLOR": ""}, True, "\x1b[31mx\x1b[0m\n"),
    ],
)
def test_colour(on: Callable[..., Seen], env: dict[str, str], tty: bool, printed: str) -> None:
    seen = on(env, tty=tty)
    seen.host.say("x", "red")
    assert seen.out.getvalue() == printed


def test_progress_overwrites_itself_on_a_terminal(on: Callable[..., Seen]) -> None:
    seen = on({}, tty=True)
    for done in (1, 2, 3):
        seen.host.progress("traces", done, 3)
    assert seen.err.getvalue() == ("\r\x1b[Ktraces 1/3\r\x1b[Ktraces 2/3\r\x1b[Ktraces 3/3\n")


def test_progress_in_a_log_is_a_line_now_and_then(on: Callable[..., Seen]) -> None:
    seen = on(GITLAB)
    for done in range(1, 201):
        seen.host.progress("traces", done, 200)
    assert seen.lines[-1] == "traces 200/200"
    assert len(seen.lines) <= 2


def test_a_stream_that_cannot_show_a_character(tmp_path: Path) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    detect({}, tmp_path, out, out).say("é日")
    assert raw.getvalue() == b"\\xe9\\u65e5\n"


def test_threads_do_not_cut_into_each_others_lines(on: Callable[..., Seen]) -> None:
    seen = on(GITHUB)

    def talk(name: str) -> None:
        for number in range(50):
            seen.host.say(f"::{name}::{number}\nplain {name}")

    threads = [threading.Thread(target=talk, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert acting(seen.lines) == []
    assert len(seen.lines) == 4 * 50 * 4
