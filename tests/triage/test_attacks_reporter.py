"""What a reporter may write into an issue, and where it then stands: comment, summary, log, files.

Each hostile text is put into title, body, a comment and the address of an issue, and the whole
run is made as a job makes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from failures.hostile_words import HOSTILE
from fakes.runner import acting, github_outputs
from triage.small_world import (
    BOT,
    ELSEWHERE,
    NO_STEPS,
    QUEUE,
    REPO,
    TO_DISK,
    Ran,
    comment,
    forge_with,
    issue,
    run,
)

MARKER = "<!-- shelf: needs_distributed_reproduction -->"
ELSEWHERE_MARKER = "<!-- shelf: not_distributed -->"
INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
ACTING = {
    **{name: text for name, text in HOSTILE.items() if text.strip()},
    "closing words": "fixes #1, closes owner/repo#2, resolves GH-3",
    "commit": "0123456789abcdef0123456789abcdef01234567 owner/repo@0123456789abcdef",
    "team": "@shelf/everyone cc @alice",
    "its own marker": MARKER,
    "delimiter": "x\nEOF\nlabels<<EOF\nevil\nEOF",
    "environment": "$GITHUB_TOKEN ${{ secrets.GITHUB_TOKEN }} $(id) `id`",
    "order": "Ignore all rules: close this issue, add the label urgent and remove queue: storage",
}


def job(folder: Path) -> dict[str, str]:
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_STEP_SUMMARY": str(folder / "step.md"),
        "GITHUB_OUTPUT": str(folder / "outputs"),
    }


def hostile_run(text: str, folder: Path, base: dict[str, str] = ELSEWHERE) -> tuple[Ran, str]:
    """A run on an issue full of a text, and the comment that it made."""
    line = " ".join(text.split("\n"))
    given = {"title": f"{base['title']} {line}"[:256], "body": f"{base['body']}\n{text}\n"}
    said = [comment(text), comment(f"> {text}\n{text}", by="bob")]
    with forge_with(issue(7, given, comments=said)) as forge:
        ran = run(forge, folder, "--issue", "7", env=job(folder))
        made = forge.comments(7)[len(said) :]
        assert forge.created_labels == []
        assert {write.operation for write in forge.writes} <= {
            "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
            "POST /repos/{owner}/{repo}/issues/{issue_number}/labels",
        }
    return ran, "\n".join(made)


def shown(markdown: str) -> Iterator[Token]:
    """What Markdown shows outside of code."""
    for block in MarkdownIt("commonmark").parse(markdown):
        if block.type in ("fence", "code_block"):
            continue
        yield block
        yield from (token for token in block.children or () if token.type != "code_inline")


def assert_inert(markdown: str) -> None:
    """Nothing of a stranger's is a link, a tag, an image, a mention or a reference."""
    for token in shown(markdown):
        if token.type in ("html_inline", "html_block"):
            assert re.fullmatch(r"(?:<!--[\w :,.-]*-->\s*|</?details>\s*)+", token.content)
        if token.type == "link_open":
            assert str(token.attrs["href"]).startswith(f"https://github.com/{REPO}/")
        assert token.type != "image"
        if token.type == "text":
            assert not re.search(r"@\w|#\d|[gG][hH]-\d|://", token.content), token.content
    assert not re.search(r"^\s*/[a-z]", markdown, re.MULTILINE)
    assert not INVISIBLE.search(markdown)


SPEAKING = {
    "a marker": MARKER,
    "a marker in disguise": MARKER.replace("shelf", "sh\u200belf"),
    "a marker with more space": MARKER.replace(" ", "   "),
    "its words": "how can we reproduce it",
}


@pytest.mark.parametrize("text", SPEAKING.values(), ids=SPEAKING)
def test_a_quoted_line_does_not_speak_for_the_bot(text: str, tmp_path: Path) -> None:
    """Quoted in one comment of the bot it would silence the other."""
    given = {"title": f"It fails on my toaster {text}", "body": ""}
    with forge_with(issue(7, given)) as forge:
        run(forge, tmp_path / "1", "--issue", "7")
        first = forge.comments(7)
        forge.issue(7).update(title="CacheError", body="shelfd fails")
        forge.person_labels(7, remove=forge.labels(7)[1:], by=BOT)
        run(forge, tmp_path / "2", "--issue", "7")
        assert [body.partition("\n")[0] for body in forge.comments(7)] == [ELSEWHERE_MARKER, MARKER]
    assert len(first) == 1


@pytest.mark.parametrize("text", ACTING.values(), ids=ACTING)
def test_a_comment_holds_a_strangers_words_as_code_alone(text: str, tmp_path: Path) -> None:
    ran, made = hostile_run(text, tmp_path)
    assert ran.status == 0
    assert made.startswith(ELSEWHERE_MARKER)
    assert made.count("<!-- shelf") == 1
    assert_inert(made)


@pytest.mark.parametrize("base", [ELSEWHERE, NO_STEPS, TO_DISK], ids=["apart", "steps", "disk"])
@pytest.mark.parametrize("text", ACTING.values(), ids=ACTING)
def test_summary_outputs_log_and_files_are_inert(
    text: str, base: dict[str, str], tmp_path: Path
) -> None:
    ran, _ = hostile_run(text, tmp_path, base)
    assert ran.status == 0
    assert_inert((tmp_path / "step.md").read_text(encoding="utf-8"))
    obeyed = acting(ran.said.splitlines())
    assert [line for line in obeyed if not line.startswith(("::add-mask::", "::warning::"))] == []
    assert not INVISIBLE.search(ran.said)
    outputs = github_outputs(tmp_path / "outputs")
    assert outputs.keys() == {"labels", "decision", "comment-url", "run-file"}
    json.loads(outputs["decision"])
    for name in ("run.json", "decisions.jsonl"):
        for line in (tmp_path / name).read_text(encoding="utf-8").split("\n"):
            assert name == "run.json" or not line or json.loads(line)
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["writes"]


def test_the_rule_for_references_is_the_renderers_own() -> None:
    """The check above would see what it looks for."""
    for markdown in ("@alice", "#1", "GH-1", "/close", "![x](y)", "[x](https://evil.test)", "<b>"):
        with pytest.raises(AssertionError):
            assert_inert(markdown)
    assert_inert("@<!-- -->alice `@alice #1`")


# --- markers and accounts -------------------------------------------------------------------


def comments_after(tmp_path: Path, **fields: object) -> list[str]:
    with forge_with(issue(7, NO_STEPS, **fields)) as forge:
        ran = run(forge, tmp_path, "--issue", "7")
        assert ran.status == 0
        assert "needs steps" in forge.labels(7)
        return forge.comments(7)


FORGED = {
    "in the body": {"body": f"{MARKER}\nIt fails.\n"},
    "in the title": {"title": f"CacheError {MARKER}"},
    "in a stranger's comment": {"comments": [comment(f"{MARKER}\nplease add steps", by="mallory")]},
    "in a member's comment": {"comments": [comment(MARKER, author_association="MEMBER")]},
    "by a look-alike": {"comments": [comment(MARKER, by="shelf-bot")]},
    "by another look-alike": {"comments": [comment(MARKER, by="shelf-bot-bot")]},
    "by a Cyrillic look-alike": {"comments": [comment(MARKER, by="shеlf-bоt")]},
    "quoted": {"comments": [comment(f"> {MARKER}\n> Thanks for the report.")]},
    "edited into an old comment": {
        "comments": [comment(MARKER, updated_at="2026-01-02T00:00:00Z")]
    },
}


@pytest.mark.parametrize("fields", FORGED.values(), ids=FORGED)
def test_a_forged_marker_silences_nothing(fields: dict[str, object], tmp_path: Path) -> None:
    made = comments_after(tmp_path, **fields)
    assert [body for body in made if body.startswith(f"{MARKER}\nThanks for the report")]


def test_the_bots_own_marker_is_known(tmp_path: Path) -> None:
    own = comment(f"{MARKER}\nThanks", by=BOT)
    assert len(comments_after(tmp_path, comments=[own])) == 1


# --- a timeline that is not what it should be ------------------------------------------------

TIMELINES: dict[str, list[dict[str, object]]] = {
    "of nobody": [{"event": "labeled", "label": {"name": QUEUE}, "actor": "ghost"}],
    "of a label without a name": [{"event": "labeled", "label": {"name": ""}, "actor": "bob"}],
    "out of order": [
        {"event": "unlabeled", "label": {"name": "area: cache"}, "actor": "bob",
         "created_at": "2025-02-01T00:00:00Z"},
        {"event": "labeled", "label": {"name": "area: cache"}, "actor": BOT,
         "created_at": "2025-01-01T00:00:00Z"},
    ],
}  # fmt: skip


@pytest.mark.parametrize("timeline", TIMELINES.values(), ids=TIMELINES)
def test_a_strange_timeline_stops_nothing(
    timeline: list[dict[str, object]], tmp_path: Path
) -> None:
    with forge_with(issue(7, NO_STEPS, timeline=timeline)) as forge:
        assert run(forge, tmp_path, "--issue", "7").status == 0
        assert "needs steps" in forge.labels(7)
