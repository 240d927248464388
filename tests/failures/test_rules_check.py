"""`rules check`: everything that is wrong with a configuration, in a sentence that names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ciops.failures.app import main

HEAD = 'name: mine\nversion: "1"\nowners: [{name: us}]\n'
LINE = """lines:
  - id: pump
    role: cause
    pattern: '^pump is (?:dry|stuck)'
    words: [pump]
    matches: ["pump is dry", "12:00:01 ERROR pump is stuck"]
    near_misses: ["a pump is dry"]
"""
BUCKET = """buckets:
  - name: ours/pump/dry
    owner: us
    status: actionable
    reason: nobody filled it
    when: {text: '^pump is dry'}
    matches: ["pump is dry\\nERROR: Job failed: exit code 1\\n"]
    near_misses: ["pump is stuck\\nERROR: Job failed: exit code 1\\n"]
"""
SECOND = LINE.partition("\n")[2].replace("id: pump", "id: second")
VERDICT = '"ERROR: Job failed: exit code 1"'


def checked(
    folder: Path, text: str, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str]:
    path = folder / "mine.yml"
    path.write_text(HEAD + text, "utf-8")
    status = main(["rules", *(arguments or ("check",)), str(path)], {})
    shown = capsys.readouterr()
    return status, " ".join((shown.out + shown.err).replace(f"{folder}/", "").split())


@pytest.mark.parametrize("arguments", [("check",), ()], ids=["check", "no word"])
def test_what_is_good_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    status, shown = checked(tmp_path, LINE + BUCKET, capsys, *arguments)
    assert status == 0, shown
    assert shown == "mine: 1 rules for lines, 1 for buckets; every example is as it should be"


def test_a_word_that_is_no_command_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, shown = checked(tmp_path, LINE, capsys, "chekc")
    assert status == 2
    assert "there is no chekc" in shown


@pytest.mark.parametrize("text", ["", "# nothing yet\n"])
def test_empty_rules_are_said_to_be_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "rules.yml").write_text(text, "utf-8")
    assert main(["rules", "check", str(tmp_path / "rules.yml")], {}) == 2
    assert "is empty. Begin with a copy of examples/smallest-rules" in capsys.readouterr().err


def test_a_folder_is_no_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", str(tmp_path)], {}) == 2
    assert "is a directory. Name the files in it" in capsys.readouterr().err


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


WRONG = [
    (
        changed(LINE, '"pump is dry", ', '"pumps run dry", '),
        'mine.yml:5: rule pump: does not know its match "pumps run dry": the pattern finds nothing',
    ),
    (changed(LINE, "[pump]", "[pipe]"), "none of its words stands in the line"),
    (
        changed(LINE, '"a pump is dry"', '"pump is dry again"'),
        'rule pump: knows its near miss "pump is dry again". Narrow the pattern',
    ),
    (changed(LINE, '"a pump is dry"', ""), "rule pump: shows no match or no near miss"),
    (
        changed(LINE, "(?:dry|stuck)", "(?:dry|stuck)|(a+)+$"),
        'on repeated "a". Bound its repetitions',
    ),
    (LINE + changed(SECOND, "role: cause", "role: wrapper"), "rule pump comes first"),
    (LINE + changed(SECOND, "id: second", "id: pump"), "rule pump: the id is used twice"),
    (
        LINE + changed(BUCKET, "'^pump is dry'", "'^pump is wet'"),
        "bucket ours/pump/dry: does not hold its match: no rule holds it",
    ),
    (
        LINE + changed(BUCKET, "'^pump is dry'", "'^pump is'"),
        "bucket ours/pump/dry: holds its near miss. Narrow its conditions",
    ),
    (
        LINE + BUCKET + changed(BUCKET.partition("\n")[2], "pump/dry", "pump/late"),
        "bucket ours/pump/late: does not hold its match: ours/pump/dry holds it",
    ),
    (
        LINE + BUCKET.partition("    matches")[0],
        "mine.yml:12: bucket ours/pump/dry: shows no match or no near miss",
    ),
    (
        LINE + changed(BUCKET, "owner: us", "owner: them"),
        'bucket ours/pump/dry: no owner "them". Known are: ',
    ),
    (
        LINE + changed(BUCKET, "owner: us", "owner: uss"),
        'bucket ours/pump/dry: no owner "uss". Did you mean "us"?',
    ),
    (
        LINE + changed(BUCKET, "owner: us", "owner: us\n    hypothesis: Dry at {file}."),
        "hypothesis: nothing stands for {file}. Known are: {text}, {exception}, {frame}, {model}",
    ),
    (
        "jobs: {parts: ' (?P<part>.)', workload_part: '2', around: them}\n",
        'jobs.around: there is no owner "them"',
    ),
    (LINE + changed(BUCKET, "ours/pump/dry", "dry"), "is no bucket name"),
    (LINE + changed(BUCKET, "{text: '^pump is dry'}", "{}"), "would hold for every job"),
    (LINE.replace("    words: [pump]\n", "    wrods: [pump]\n"), 'mean "words"'),
]


@pytest.mark.parametrize(("text", "words"), WRONG, ids=[row[1][-40:] for row in WRONG])
def test_what_is_wrong_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    status, shown = checked(tmp_path, text, capsys)
    assert status == 2
    assert words in shown
    assert "as it should be" not in shown


def test_every_problem_is_said_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    near = changed(LINE, '"a pump is dry"', '"pump is dry again"')
    _, shown = checked(tmp_path, changed(near, '"pump is dry", ', '"pumps run dry", '), capsys)
    assert "knows its near miss" in shown
    assert "does not know its match" in shown
