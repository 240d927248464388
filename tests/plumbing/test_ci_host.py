"""Hosts: what is read, printed and written, and that untrusted text never acts."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ciops.plumbing.ci_host import CiHost, detect
from fakes.runner import acting
from plumbing.conftest import GITHUB, GITLAB, Seen


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


@pytest.mark.parametrize(
    "given", ["  s3cret-token", "s3cret-token\n", "\ts3cret-token \r\n", "x\n s3cret-token"]
)
@pytest.mark.parametrize("env", [GITHUB, GITLAB, {}], ids=["github", "gitlab", "terminal"])
def test_a_secret_is_hidden_as_it_is_sent_without_the_space_around_it(
    on: Callable[..., Seen], env: dict[str, str], given: str
) -> None:
    seen = on(env)
    seen.host.mask(given)
    seen.host.say("it is s3cret-token!")
    seen.host.error("s3cret-token is no good")
    shown = seen.out.getvalue() + seen.err.getvalue()
    assert "s3cret" not in shown.replace("::add-mask::s3cret-token\n", "")
