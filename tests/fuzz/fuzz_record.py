"""Records at random: whatever a file holds, it is read, refused in one sentence, or rendered.

    .venv/bin/python tests/fuzz/fuzz_record.py --seconds 600

Whole records are changed as text and as data; what fails is printed as a record, and the exit
status is 1. A finding is kept as a case of tests/postmortem, not here.
"""

from __future__ import annotations

import contextlib
import copy
import random
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests"), str(ROOT / "tests" / "fuzz")]

from campaign import campaign  # noqa: E402

from ciops.errors import CiopsError  # noqa: E402
from ciops.postmortem.adf import render_adf  # noqa: E402
from ciops.postmortem.destinations import DESTINATIONS  # noqa: E402
from ciops.postmortem.destinations.contract import Target  # noqa: E402
from ciops.postmortem.document import build  # noqa: E402
from ciops.postmortem.gates import decide  # noqa: E402
from ciops.postmortem.prose import check_record, document_line  # noqa: E402
from ciops.postmortem.prose_rules import load_guide  # noqa: E402
from ciops.postmortem.record_reader import read_record  # noqa: E402
from ciops.postmortem.references import Links  # noqa: E402
from ciops.postmortem.settings import load_settings  # noqa: E402
from ciops.postmortem.wording import load_words  # noqa: E402
from postmortem.records import WHOLE  # noqa: E402
from postmortem.visible import adf_problems  # noqa: E402

LONGEST = 3.0
LANGUAGES = ("en", "ja", "fr")
SETTINGS = load_settings()
GUIDES = {language: load_guide(language) for language in LANGUAGES}
WORDS = {language: load_words(language) for language in LANGUAGES}
TOKENS = (
    *("\ufeff", "\r\n", "\r", "\t", "\x00", "\ud800", "\u202e", "\u200b", "\u2028", "\x85", "\x7f"),
    *("&a ", "*a", "<<: ", "<<: *a\n", "!!python/object:os ", "!!binary ", "!x ", "%YAML 1.1\n"),
    *("---\n", "...\n", "? ", ": ", "- ", "| ", "> ", "|-\n", ">+\n", "{", "}", "[", "]", ",", "#"),
    *("null", "~", "yes", "0o17", "1_000", "1e999", ".nan", ".inf", "2024-01-01", "12:30:45", "0x"),
    *("{{ x }}", "{% raw %}", "${{ x }}", "`", "```", "~~~", "***", "___", "](", "![", "<b>", "@a"),
    *(
        "javascript:alert(1)",
        "https://a.b/(c)",
        "{code}",
        "[~user]",
        "|",
        "\\",
        '"',
        "'",
        "\n",
        "\n\n",
    ),
    *(
        "ticket:",
        "owner:",
        "root_cause:",
        "validation:",
        "  ",
        "    ",
        "9" * 30,
        "重要",
        "é",
        "e\u0301",
    ),
    *(
        "> " * 40,
        "- " * 40,
        "[" * 60,
        "*" * 60,
        "`" * 60,
        "| a " * 60,
        "|---" * 60,
        "<" * 60,
        "&amp;",
    ),
)
VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        -1,
        1.5,
        float("nan"),
        10**40,
        "",
        " ",
        "\n",
        "x",
        [],
        {},
        [[]],
        [{}],
        {"a": 1},
    ),
    *("0/0", "3/2", "n/m", "1/1", "pass", "fail", "render", "hypothesis", "trivial", "incident"),
    *("../../etc/passwd", "a/b", "..", "C:\\x", "x" * 5000, "「", "-" * 300, ["a", None, 3], "@x"),
)


def case(chance: random.Random) -> str:
    return as_text(chance) if chance.random() < 0.5 else as_data(chance)


def as_text(chance: random.Random) -> str:
    """A whole record with pieces put in, taken out or doubled anywhere."""
    text = yaml.safe_dump(WHOLE, allow_unicode=True, sort_keys=False)
    for _ in range(chance.randint(1, 6)):
        at, to = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        to = min(to, at + 40)
        piece = chance.choice((chance.choice(TOKENS), text[at:to], ""))
        text = text[:at] + piece * chance.choice((1, 1, 1, 2, 30)) + text[chance.choice((at, to)) :]
    return text


def as_data(chance: random.Random) -> str:
    """A whole record with other values in some places."""
    data = copy.deepcopy(WHOLE)
    data["language"] = chance.choice(LANGUAGES)
    for _ in range(chance.randint(1, 4)):
        places = list(all_places(data))
        holder, key = chance.choice(places)
        some = "".join(chance.choices(TOKENS, k=chance.randint(1, 8)))
        holder[key] = copy.deepcopy(chance.choice((*VALUES, some, some, some)))
    return yaml.safe_dump(data, allow_unicode=True, sort_keys=False)


def all_places(value: Any) -> list[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else range(len(value))
    found = [(value, key) for key in keys]
    for key in keys:
        if isinstance(value[key], dict | list):
            found += all_places(value[key])
    return found


def attempt(text: str) -> None:
    """A text is refused in words, or read and rendered."""
    with contextlib.suppress(CiopsError):
        render(text)


def render(text: str) -> None:
    reading = read_record(text, "record.yml")
    record, words = reading.record, WORDS[reading.record.language]
    decision = decide(reading, SETTINGS, words)
    if not reading.malformed and reading.document is not None:
        for finding in check_record(record, GUIDES[record.language]):
            document_line(finding, reading.document)
    if decision.verdict != "render":
        assert decision.faults or decision.missing or decision.redirect, "refused without a reason"
        return
    document = build(record, words, Links(jira="https://jira.example"))
    problems = adf_problems(render_adf(document))
    assert not problems, problems
    for destination in DESTINATIONS.values():
        assert destination.render(document, Target("AB-1", "https://jira.example", None))


if __name__ == "__main__":
    raise SystemExit(campaign(str(__doc__), case, attempt, lambda _: LONGEST))
