"""`decide`, `backtest` and `policy check` as they are typed: output, formats, exit statuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ciops.triage.app import main
from triage.issue_making import CASES, POLICY_FILE, ROOT, SECOND_FILE

CASE = CASES / "a-12.json"
KEYS = [
    "schema", "policy", "id", "skip", "distributed", "sub_oncall", "existing_route",
    "sub_oncall_source", "modules", "confidence", "type", "performance", "high_priority",
    "has_reproduction", "repro_expected", "plan", "evidence", "would_change",
]  # fmt: skip


def run(capsys, *arguments):
    status = main([str(x) for x in arguments], {})
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_decide_prints_one_object_a_line(capsys):
    status, out, _ = run(capsys, "decide", CASE, CASES / "a-55.json")
    found = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert [item["id"] for item in found] == ["a-12", "a-55"]
    for item in found:
        assert list(item) == KEYS
        assert list(item["plan"]) == ["add_labels", "comment", "comment_suppressed"]
        assert list(item["evidence"][0]) == [
            "facet", "signal", "zone", "where", "line", "text", "role"
        ]  # fmt: skip
        assert list(item["would_change"][0]) == ["facet", "from", "to", "change"]
    assert found[0]["schema"] == 1
    assert found[0]["policy"] == "pytorch-distributed@1"


def test_decide_reads_folders_and_json_lines(capsys, tmp_path):
    cases = [json.loads(path.read_text("utf-8")) for path in (CASE, CASES / "a-55.json")]
    lines = tmp_path / "cases.jsonl"
    lines.write_text("\n".join(map(json.dumps, cases)) + "\n", encoding="utf-8")
    (tmp_path / "x.json").write_text(json.dumps(cases[0]), encoding="utf-8")
    status, out, _ = run(capsys, "decide", tmp_path)
    assert status == 0
    assert [json.loads(line)["id"] for line in out.splitlines()] == ["a-12", "a-55", "a-12"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "is not JSON"),
        ("[]", "holds a list, no object with an issue. Write one issue a file"),
        ("7", "holds a value, no object"),
        (" \n", "is empty. Save one issue"),
        ('{"message": "Not Found"}', "holds no issue: neither title nor body. Save it"),
        ('{"issue": {"number": 7}}', "holds no issue: neither title nor body"),
        ('{"issue": {"labels": 3}}', '"labels" is int'),
        ("\udcff".encode("utf-8", "surrogateescape"), "UTF-8"),
    ],
)
def test_a_file_that_holds_no_issue_is_named(capsys, tmp_path, content, problem):
    bad = tmp_path / "bad.json"
    bad.write_bytes(content if isinstance(content, bytes) else content.encode())
    status, out, err = run(capsys, "decide", bad, CASE)
    assert status == 1
    assert len(out.splitlines()) == 1
    assert "bad.json" in err
    assert problem in err
    assert run(capsys, "decide", bad)[0] == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["decide", "no-such-folder"],
        ["decide", CASE, "--profile", "nobody"],
        ["decide", CASE, "--policy", "no-such.yml"],
        ["decide"],
        ["backtest"],
        ["policy", "check", "no-such.yml"],
    ],
)
def test_what_cannot_be_done_is_a_mistake_of_usage(capsys, arguments):
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert out == ""
    assert err


@pytest.mark.parametrize(
    ("profile", "marker"),
    [("current", "bot-triaged"), ("earlier", "ptd-bot-triaged"), ("split", "ptd-bot-triaged")],
)
def test_a_profile_has_its_own_marker(capsys, profile, marker):
    _, out, _ = run(capsys, "decide", CASES / "a-23.json", "--profile", profile)
    assert marker in json.loads(out)["plan"]["add_labels"]


def test_a_single_issue_is_looked_at_again(capsys, tmp_path):
    case = json.loads(CASE.read_text("utf-8"))
    case["issue"]["labels"] = [{"name": "oncall: distributed"}, {"name": "ptd-bot-triaged"}]
    file = tmp_path / "case.json"
    file.write_text(json.dumps(case), encoding="utf-8")
    assert json.loads(run(capsys, "decide", file)[1])["skip"] == "already_processed"
    assert json.loads(run(capsys, "decide", file, "--mode", "single")[1])["skip"] is None


def test_decide_as_a_page(capsys):
    _, out, _ = run(capsys, "decide", CASE, "--format", "md")
    assert out.startswith("## a")
    for words in ("Adds `oncall: distributed parallelisms`", "`module: dtensor`", "Step 3"):
        assert words in out
    assert "| `has_reproduction` | root |" in out
    assert "What would change" in out


def test_the_page_tells_a_line_once_and_only_rules_that_changed_something(capsys, tmp_path):
    case = json.loads(CASE.read_text("utf-8"))
    case["issue"]["title"] = "DTensor: redistribute() of a DTensor hangs"
    file = tmp_path / "case.json"
    file.write_text(json.dumps(case), encoding="utf-8")
    _, out, _ = run(capsys, "decide", file, "--format", "md")
    rows = [line.split(" | ") for line in out.splitlines() if line.startswith("| `")]
    told = [(facet, role, where, text) for facet, role, _, where, text in rows]
    assert len(told) == len(set(told))
    assert any(" + " in points for _, _, points, _, _ in rows)
    assert "aborted_by_the_watchdog" not in out  # it sets a crash aside, and none is told


def test_backtest_as_a_page_and_as_json(capsys):
    _, page, _ = run(capsys, "backtest", CASES)
    assert "`sub_oncall`" in page
    _, text, _ = run(capsys, "backtest", CASES, "--format", "json")
    assert json.loads(text)["facets"]["distributed"]["of"] == 50


def test_backtest_against_another_policy(capsys, tmp_path):
    other = tmp_path / "other.yml"
    text = POLICY_FILE.read_text(encoding="utf-8")
    other.write_text(text.replace("version: '1'", "version: '2'", 1), encoding="utf-8")
    _, page, _ = run(capsys, "backtest", CASE, "--against", other)
    assert "Decided differently" in page
    assert "None." in page
    other.write_text(text.replace("share: 0.6", "share: 0.01", 1), encoding="utf-8")
    _, page, _ = run(capsys, "backtest", CASES, "--against", other)
    assert "- `a-16`: `modules: " in page.split("Decided differently", 1)[1]


def test_policy_check_tells_of_every_problem(capsys, tmp_path):
    assert run(capsys, "policy", "check", SECOND_FILE)[0] == 0
    file = tmp_path / "p.yml"
    text = SECOND_FILE.read_text(encoding="utf-8")
    file.write_text(text.replace("'unknown station'", "'UnknownConstituent'"), encoding="utf-8")
    status, _, err = run(capsys, "policy", "check", file)
    assert status == 2
    assert "p.yml:" in err
    assert "1 problem" in err


def test_policy_check_hints_at_some_of_what_could_be_better(capsys, tmp_path):
    file = tmp_path / "p.yml"
    text = SECOND_FILE.read_text(encoding="utf-8")
    patterns = ", ".join(rf"'\w{{{n}}}m\b'" for n in range(2, 9))
    bare = "{id: %s, role: root, patterns: [%s], matches: ['22m'], near_misses: ['x']}"
    head = "in_scope:\n  signals:\n"
    assert text.count(f"\n{head}") == 1
    whole = text.replace(f"\n{head}", f"\n{head}    - {bare % ('bare', patterns)}\n")
    file.write_text(whole, encoding="utf-8")
    status, out, _ = run(capsys, "policy", "check", file)
    hints = [line for line in out.splitlines() if line.startswith("hint: ")]
    assert status == 0
    assert len(hints) == 6
    assert "bare: no word is in all that it matches, so it is tried on every line" in hints[0]
    assert hints[-1] == "hint: and 2 more like these"


def test_a_policy_anywhere_is_held_against_the_schema(capsys, tmp_path):
    file = tmp_path / "p.yml"
    text = SECOND_FILE.read_text(encoding="utf-8")
    file.write_text(text.replace("id: scope_words", "id: Scope words"), encoding="utf-8")
    status, _, err = run(capsys, "policy", "check", file)
    assert status == 2
    assert "in_scope.signals[0].id: 'Scope words' does not match '^[a-z][a-z0-9_]*$'" in err


@pytest.fixture
def with_pattern(tmp_path):
    """Writes the second policy with a pattern in a signal of the scope, and gives its path."""

    def write(pattern: str, match: str = "high water is late") -> Path:
        head = "in_scope:\n  signals:\n"
        quoted = pattern.replace("'", "''")
        signal = (
            f"{{id: own, role: weak, patterns: ['high water', '{quoted}'],"
            f" matches: ['{match}'], near_misses: ['none']}}"
        )
        text = SECOND_FILE.read_text(encoding="utf-8")
        assert text.count(f"\n{head}") == 1
        file = tmp_path / "p.yml"
        written = text.replace(f"\n{head}", f"\n{head}    - {signal}\n")
        file.write_text(written, encoding="utf-8")
        return file

    return write


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"foo\p{L}", r"cannot be read: bad escape \p at position 3. Mend the pattern"),
        ("foo[z-a]", "cannot be read: bad character range z-a at position 4"),
        ("(?<!a|bc)foo", "cannot be read: look-behind requires fixed-width pattern"),
        ("foo[[:space:]]", "cannot be read: possible nested set at position 4"),
        ("foo(?i)bar", "cannot be read"),
        ("(error|failed)+", "repeats a group without a bound. Bound its repeats: "),
        (r"^at .+\(.+:\d+\)$", "too many repeats that may share characters. Bound its repeats: "),
        (r"\w+\s*", "matches nearly everything. Name a word of what it is to find"),
        ("foo(", "has an unmatched bracket. Mend the pattern"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_named_with_what_to_do(
    capsys, with_pattern, pattern, words
):
    status, out, err = run(capsys, "policy", "check", with_pattern(pattern))
    assert status == 2
    assert ".signals[0].patterns[1]: pattern " in err
    assert words in err
    assert "FutureWarning" not in out + err


@pytest.mark.parametrize(
    ("pattern", "match"),
    [
        (r"dial tcp .*: lookup .*", "dial tcp 10.0.0.1: lookup x: no such host"),
        ("(?i)connection (refused|reset)", "Connection refused"),
        ("(?i:connection) (?:refused|reset)", "Connection reset"),
        ("CrashLoopBackOff", "pod is in CrashLoopBackOff"),
        (r"v?\d+\.\d+\.\d+", "v1.2.3"),
        (r"(lost|gone).*(data|volume)", "lost all data"),
        (r"^\s*(coredns|kube-dns)", "  coredns"),
    ],
)
def test_an_ordinary_pattern_is_taken_without_a_hint(capsys, with_pattern, pattern, match):
    status, out, err = run(capsys, "policy", "check", with_pattern(pattern, match))
    assert (status, err) == (0, "")
    assert "hint" not in out


def test_a_part_of_the_reading_that_is_no_pattern_is_named(capsys, tmp_path):
    file = tmp_path / "p.yml"
    text = SECOND_FILE.read_text(encoding="utf-8")
    file.write_text(
        text.replace("version_shapes: ['tides", r"version_shapes: ['\p{L}tides"), encoding="utf-8"
    )
    status, _, err = run(capsys, "policy", "check", file)
    assert status == 2
    assert r"cannot be read: bad escape \p at position 0" in err
    assert "reading.version_shapes" in err


def test_the_entry_works_alone():
    """As an action runs it: isolated, from any folder."""
    script = ROOT / "scripts" / "issue_triage.py"
    done = subprocess.run(
        [sys.executable, "-I", script, "decide", CASE], capture_output=True, text=True, cwd="/"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["id"] == "a-12"
