"""All formats together: what is imported for which, how long they take, and what never gets out."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import time
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ciops.failures.report_chat import chat_lines
from ciops.failures.report_formats import CHAT, FILES, FORMATS, files, summary
from ciops.failures.report_model import Report
from ciops.failures.report_text import made_safe, one_line
from ciops.failures.report_words import LANGUAGES, words_of
from ciops.failures.scan_result import NumberedLine
from ciops.plumbing.ci_host import CiHost, detect
from failures.hostile_words import HOSTILE, SECRETS, poisoned
from failures.report_samples import big, usual

EN = words_of("en")
SCRIPTS = Path(__file__).parents[2] / "scripts"


def test_the_formats() -> None:
    assert FORMATS == (CHAT, "md", "csv", "json", "html")


def test_only_what_is_asked_is_written() -> None:
    assert list(files(usual(), ["json", "chat", "csv"], EN)) == ["report.json", "report.csv"]
    assert files(usual(), ["chat"], EN) == {}


@pytest.mark.parametrize(
    ("formats", "slow"),
    [
        (["chat"], {"jinja2": False, "markdown_it": False, "requests": False}),
        (["json", "csv"], {"jinja2": False, "markdown_it": False, "requests": False}),
        (["md"], {"jinja2": True, "markdown_it": False, "requests": False}),
        (["html"], {"jinja2": True, "markdown_it": False, "requests": False}),
    ],
)
def test_a_format_imports_only_what_it_needs(formats: list[str], slow: dict[str, bool]) -> None:
    code = f"""
import sys
from failures.report_samples import usual
from ciops.failures.report_chat import chat_text
from ciops.failures.report_formats import files
from ciops.failures.report_words import words_of
chat_text(usual(), words_of("fr"))
files(usual(), {formats}, words_of("fr"))
print({{name: name in sys.modules for name in {list(slow)}}})
"""
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": f"{SCRIPTS}:{SCRIPTS.parent / 'tests'}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == str(slow)


def test_five_hundred_jobs_in_every_format_take_less_than_a_second() -> None:
    report = big(500, 60)
    seconds = []
    for _ in range(3):
        start = time.process_time()
        files(report, FILES, EN)
        chat_lines(report, EN)
        summary(report, EN)
        seconds.append(time.process_time() - start)
    assert min(seconds) < 1


# --- what never gets out ---


def every_text(report: Report, language: str = "en") -> dict[str, str]:
    words = words_of(language)
    found = files(report, FILES, words)
    found["summary"] = summary(report, words)
    found["chat"] = "\n".join(line.text for line in chat_lines(made_safe(report), words))
    return found


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_nothing_hidden_is_in_any_format(text: str) -> None:
    for name, written in every_text(poisoned(text)).items():
        body = written.removeprefix("\ufeff") if name == "report.csv" else written
        odd = {
            f"U+{ord(one):04X}"
            for one in body
            if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp")
            and one not in "\n\r\t\u200d"
        }
        assert odd == set(), name
        assert "\r" not in body.replace("\r\n", "") or name != "report.csv"


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_secret_is_in_any_format(secret: str, language: str) -> None:
    for written in every_text(poisoned(f"before {secret} after"), language).values():
        assert secret not in written
        assert secret[:16] not in written


def test_a_private_key_over_many_lines_is_in_no_format() -> None:
    key = ("-----BEGIN RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEA7Zq" + "a1B2" * 11, "x9Yz" * 16,
           "-----END RSA PRIVATE KEY-----", "ValueError: no")  # fmt: skip
    excerpt = tuple(NumberedLine(number, text) for number, text in enumerate(key, 1))
    first = replace(usual().jobs[0], excerpt=excerpt, line=5, text=key[-1])
    report = replace(usual(), jobs=(first, *usual().jobs[1:]))
    safe = made_safe(report).jobs[0].excerpt
    assert [line.number for line in safe] == [1, 2, 3, 4, 5]
    assert safe[-1].text == "ValueError: no"
    for written in every_text(report).values():
        assert key[1] not in written
        assert key[2] not in written


def printed(report: Report, env: dict[str, str], tmp_path: Path) -> str:
    out = io.StringIO()
    host: CiHost = detect(env, tmp_path, out, out)
    for line in chat_lines(made_safe(report), EN):
        host.say(line.text, line.style)
    return out.getvalue()


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_line_of_a_job_log_is_a_workflow_command(text: str, tmp_path: Path) -> None:
    stopped = ""
    for line in printed(poisoned(text), {"GITHUB_ACTIONS": "true"}, tmp_path).splitlines():
        begins = re.fullmatch(r"::stop-commands::([0-9a-f]{32})", line)
        if begins:
            stopped = begins[1]
        elif stopped and line == f"::{stopped}::":
            stopped = ""
        elif not stopped:
            assert not re.match(r"\s*::", line), line
            assert "##[" not in line


@pytest.mark.parametrize("env", [{"GITLAB_CI": "true"}, {}], ids=["gitlab", "terminal"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_line_moves_the_cursor_or_opens_a_section(
    text: str, env: dict[str, str], tmp_path: Path
) -> None:
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", printed(poisoned(text), env, tmp_path))


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=60))
def test_any_words_pass_every_format(text: str) -> None:
    report = replace(
        poisoned(text), jobs=poisoned(text).jobs[:2], buckets=poisoned(text).buckets[:2]
    )
    for name, written in every_text(report).items():
        written.encode()
        assert "\x1b" not in written, name
        assert "\u202e" not in written, name


@pytest.mark.parametrize(
    ("text", "most", "line"),
    [
        ("a\nb", 0, "a b"),
        ("  a\tb  ", 0, "  a\tb  "),
        ("abcdef", 4, "abc…"),
        ("abcd", 4, "abcd"),
        ("\x1b[1mbold\x1b[0m", 0, "bold"),
    ],
)
def test_one_line(text: str, most: int, line: str) -> None:
    assert one_line(text, most) == line


def test_making_safe_changes_nothing_that_is_safe() -> None:
    assert made_safe(usual()) == usual()
    assert made_safe(made_safe(poisoned(*HOSTILE.values()))) == made_safe(
        poisoned(*HOSTILE.values())
    )
