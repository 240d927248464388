"""`new` and `lint`: records from documents, and documents by the names of their sections."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ciops.postmortem.app import main
from ciops.postmortem.document_lint import language_of
from ciops.postmortem.draft import Known, block, draft, quoted, title_in
from ciops.postmortem.record_reader import read_record
from ciops.postmortem.sections import load_names, section_named, split_sections
from postmortem.records import ROOT, judged, words

DATA = ROOT / "tests" / "data" / "postmortem"
LANGUAGES = ("en", "ja", "fr")
SECTIONS = ("summary", "symptom", "root_cause", "why_symptom", "fix", "discovery", "escape")
SECTIONS = (*SECTIONS, "validation", "action_items")


def run(capsys, *arguments: str, **env: str) -> tuple[int, str, str]:
    status = main(arguments, env)
    shown = capsys.readouterr()
    return status, shown.out, shown.err


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_new_record_parses_and_asks_for_everything(capsys, tmp_path, language):
    arguments = ["new", "PLUG-7", "--language", language, "--output", str(tmp_path)]
    status, out, _ = run(capsys, *arguments)
    assert status == 0
    text = (tmp_path / "PLUG-7.yml").read_text(encoding="utf-8")
    assert text.strip() == out.strip()
    decision = judged(text)
    assert read_record(text, "r").faults == ()
    assert [gap.gate for gap in decision.missing] == [
        "reproduction",
        "root-cause",
        "fix",
        "validation",
    ]
    assert {fault.path for fault in decision.faults} == {
        "title",
        "owner",
        "kind",
        "summary",
        "fix.change",
        "fix.addresses_cause",
    }
    assert read_record(text, "r").record.language == language


def test_a_record_that_somebody_filled_in_is_not_overwritten(capsys, tmp_path):
    arguments = ["new", "PLUG-7", "--output", str(tmp_path)]
    assert run(capsys, *arguments)[0] == 0
    assert run(capsys, *arguments)[0] == 0
    (tmp_path / "PLUG-7.yml").write_text("ticket: PLUG-7\n", encoding="utf-8")
    status, _, err = run(capsys, *arguments)
    assert status == 3
    assert "holds something else" in err


@pytest.mark.parametrize(
    "notes",
    [
        "tried A: no change\n\n  | x | y |\n\ttab and trailing  \n",
        "one line without an end",
        "  starts with spaces\n\n\nends with empty lines\n\n\n",
        "key: value\n- list\n# comment\n---\n",
        "日本語\u3000と émoji 🙂\n",
        "carriage\r\nreturns\r\n",
    ],
)
def test_a_ledger_goes_verbatim_into_the_notes(capsys, tmp_path, notes):
    ledger = tmp_path / "ledger.txt"
    ledger.write_bytes(notes.encode())
    arguments = ["new", "PLUG-7", "--notes", str(ledger), "--output", str(tmp_path)]
    assert run(capsys, *arguments)[0] == 0
    text = (tmp_path / "PLUG-7.yml").read_bytes().decode()
    assert read_record(text, "r").record.discovery.notes == notes


@given(text=st.text(alphabet=st.characters(codec="utf-8"), max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_text_is_written_so_that_it_is_read_back(text):
    known = Known("T-1", "en", title=text, texts={"summary": text})
    from ciops.plumbing.yaml_file import parse

    data = parse(draft(known, words()), "r").data
    assert (data["title"] or "") == text
    assert (data["summary"] or "") == text


def test_a_text_is_a_block_where_it_can_be_one():
    assert list(block("k", "a\nb\n", "  ")) == ["  k: |", "    a", "    b"]
    assert list(block("k", "a", "")) == ["k: |-", "  a"]
    assert list(block("k", " a\n", "")) == ["k: |2", "   a"]
    assert list(block("k", "a\n\n", "")) == ['k: "a\\U0000000a\\U0000000a"']
    assert quoted('a "b" \\ \x00') == '"a \\"b\\" \\\\ \\U00000000"'


@pytest.mark.parametrize(
    ("line", "section"),
    [
        ("Summary", "summary"),
        ("1. Summary (必須)", "summary"),
        ("3. Root cause (required)", "root_cause"),
        ("**根本原因**", "root_cause"),
        ("症状が発生した理由", "why_symptom"),
        ("4. 症状が発生した理由", "why_symptom"),
        ("6. 見つけた方法", "discovery"),
        ("発見の経緯", "discovery"),
        ("なぜ見逃されたのか", "escape"),
        ("見逃された理由。", "escape"),
        ("9. アクションアイテム／フォローアップ", "action_items"),
        ("対応項目", "action_items"),
        ("Cause racine", "root_cause"),
        ("Pourquoi ce symptôme", "why_symptom"),
        ("Plan d’action", "action_items"),
        ("ROOT CAUSE", "root_cause"),
        ("Timeline", ""),
        ("Impact", ""),
    ],
)
def test_a_section_by_its_name(line, section):
    assert section_named(line, load_names()) == section


FORMS = {
    "headings": "# T\n\n## Summary\na\n\n## Root cause\nb\n\n### Detail\nc\n\n## Timeline\nd\n",
    "leads": "**Summary.** a\n\n**Root cause:** b\n\nc\n\n## Timeline\n\nd\n",
    "ja leads": "概要。 a\n\n根本原因。 b\n\nc\n\n# その他\nd\n",
    "numbered": "1. Summary (必須)\n\na\n\n3. Root cause (必須)\n\nb\n\nc\n\n## x\nd\n",
    "fenced": "## Summary\na\n```\n## Fix\n```\n\n## Root cause\nb\nc\n\n## x\nd\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_parts_of_a_document(form):
    parts = list(split_sections(FORMS[form], load_names()))
    found = {part.section: part.text for part in parts if part.section}
    assert list(found) == ["summary", "root_cause"]
    assert "a" in found["summary"]
    assert "b" in found["root_cause"]
    assert "c" in found["root_cause"]
    assert "d" not in found["root_cause"]
    lines = FORMS[form].split("\n")
    for part in parts:
        for offset, line in enumerate(part.text.split("\n")):
            assert line in lines[part.line - 1 + offset]


@pytest.mark.parametrize("name", ["source-headings.ja.md", "source-leads.ja.md", "document.fr.md"])
def test_both_sets_of_names_fill_a_record(capsys, tmp_path, name):
    language = name.split(".")[1]
    arguments = ["new", "JIRA-12345", "--language", language, "--from-markdown", str(DATA / name)]
    assert run(capsys, *arguments, "--output", str(tmp_path))[0] == 0
    text = (tmp_path / "JIRA-12345.yml").read_text(encoding="utf-8")
    reading = read_record(text, "r")
    record = reading.record
    assert reading.faults == ()
    assert set(record.sections()) == set(SECTIONS)
    assert all((record.summary, record.symptom, record.root_cause.mechanism, record.fix.change))
    assert all((record.why_symptom, record.discovery.notes, record.escape.detail))
    assert record.validation.original_reproduction.evidence
    items = [(item.owner, item.artifact) for item in record.action_items]
    assert ("Alex", "JIRA-12346") in items
    assert record.owner.name == ""
    assert record.fix.references == ()
    assert "org/platform#5751" in text


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("# HRT-9: Lamps blink", "Lamps blink"),
        ("# Post-mortem HRT-9: `a_b` hangs #", "`a_b` hangs"),
        ("## Post-mortem HRT-9 : la lampe clignote", "la lampe clignote"),
        ("# ポストモーテム HRT-9：点滅", "点滅"),
        (r"# HRT-9 – one\_two fails", "one_two fails"),
        ("# Lamps blink (HRT-9)", ""),
        ("# HRT-90: Lamps blink", ""),
        ("# Lamps blink\n\n## HRT-9: what we did", ""),
        ("HRT-9: Lamps blink", ""),
    ],
)
def test_the_title_is_what_stands_behind_the_ticket(heading, title):
    assert title_in(f"{heading}\n\n## Summary\n\nIt blinked.\n", "HRT-9") == title


def test_a_title_of_a_document_is_in_its_record(capsys, tmp_path):
    old = tmp_path / "old.md"
    old.write_text("# HRT-9: Lamps blink\n\n## Summary\n\nIt blinked.\n", encoding="utf-8")
    arguments = ["new", "HRT-9", "--from-markdown", str(old), "--output", str(tmp_path)]
    assert run(capsys, *arguments)[0] == 0
    record = read_record((tmp_path / "HRT-9.yml").read_text("utf-8"), "r").record
    assert (record.title, record.summary.strip()) == ("Lamps blink", "It blinked.")


def test_lint_finds_by_section_and_line(capsys, tmp_path):
    document = tmp_path / "pm.md"
    document.write_text(
        "---\nlayout: x\n---\n# Hang\n\nOwner: Alex (Tada)\n\n"
        "## Summary\nFixed on all platforms.\n\n"
        "## Root cause\n\nWe believe `f()` wraps.\n\n```\nprobably\n```\n\n"
        "## How it was found\nIt seemed to be the NIC; the trace ruled it out.\n\n"
        "## Why it slipped through\nAlex should have caught this.\n\n"
        "## Action items\nWe should rewrite it.\n",
        encoding="utf-8",
    )
    status, out, _ = run(capsys, "lint", str(document), "--format", "json")
    found = json.loads(out)["files"][0]
    assert status == 0
    assert found["language"] == "en"
    assert [(f["kind"], f["field"], f["line"], f["phrase"]) for f in found["findings"]] == [
        ("overclaim", "summary", 9, "on all platforms"),
        ("hedge", "root_cause", 13, "We believe"),
        ("blame", "escape", 23, "Alex should have caught this"),
    ]
    assert run(capsys, "lint", str(document), "--strict")[0] == 3
    _, out, _ = run(capsys, "lint", str(document), "--format", "github", GITHUB_ACTIONS="true")
    assert "::warning file=" in out
    assert ",line=13::hedge" in out
    _, out, _ = run(capsys, "lint", str(document))
    assert f"{document}:13: hedge: We believe" in out


def test_a_claim_in_a_document_is_measured_by_its_validation(capsys, tmp_path):
    document = tmp_path / "pm.md"
    text = "## Summary\nIt works on Windows now.\n\n## Validation\nThe suite passes on Linux. "
    for said, count in (("Windows was not retested.", 1), ("macOS was not retested.", 0)):
        document.write_text(text + said + "\n", encoding="utf-8")
        _, out, _ = run(capsys, "lint", str(document), "--format", "json")
        assert len(json.loads(out)["files"][0]["findings"]) == count


def test_the_source_of_the_rules_breaks_none_of_them(capsys):
    for path in sorted(DATA.glob("source-*.ja.md")):
        _, out, _ = run(capsys, "lint", str(path), "--format", "json")
        assert json.loads(out)["files"][0]["findings"] == []


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The page was not mapped.", "en"),
        ("La page n'était pas dans le cache.", "fr"),
        ("区画の切り替え順序を直しました。", "ja"),
        ("`f()`", "en"),
        ("", "en"),
    ],
)
def test_the_language_of_a_document(text, language):
    assert language_of(text) == language


def test_lint_of_nothing_there(capsys, tmp_path):
    assert run(capsys, "lint", str(tmp_path / "none.md"))[0] == 2
    assert run(capsys, "lint")[0] == 2
