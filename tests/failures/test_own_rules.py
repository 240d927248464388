"""Rules of one's own, and those of strangers: what is refused, where, and that loading ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from ciops.errors import UsageError
from ciops.failures.knowledge import Knowledge, load_knowledge

HEAD = "name: mine\nversion: '1'\nowners: [{name: us}]\n"
BUCKET = "buckets:\n- {name: a/b/c, owner: us, status: actionable, reason: x, when: {%s}}\n"
LINE = "lines:\n- {id: x, role: cause, pattern: %s, words: [a], matches: [a], near_misses: [b]}\n"


def loaded(folder: Path, text: str, **others: str) -> Knowledge:
    for name, content in {"mine": text, **others}.items():
        (folder / f"{name}.yml").write_text(content, "utf-8")
    return load_knowledge(folder / "mine.yml")


WRONG = [
    pytest.param(
        BUCKET % "text: '('",
        r"mine\.yml:5: buckets\[0\]\.when\.text: bucket a/b/c: no reg",
        id="text",
    ),
    pytest.param(BUCKET % "raised_in: '*'", r"raised_in: .*: no regular", id="another condition"),
    pytest.param(
        LINE % "'['", r"mine\.yml:5: lines\[0\]\.pattern: rule x: no regular", id="a line"
    ),
    pytest.param(
        LINE % "'^(\\w+\\s?)+!'",
        r"mine\.yml:5: lines\[0\]\.pattern: rule x: .* takes over 0\.25 s on repeated",
        id="a line that stalls",
    ),
    pytest.param(
        BUCKET % "frame: '(?:a|aa)+z'",
        r"frame: bucket a/b/c: .*Bound its",
        id="a frame that stalls",
    ),
    pytest.param("progress: '(x+x+)+y'\n", r"mine\.yml:4: progress: .* takes over", id="progress"),
    pytest.param("extends: [../../etc/passwd]\n", "no plain file name", id="a file above"),
    pytest.param("extends: [/etc/passwd]\n", "no plain file name", id="a file anywhere"),
    pytest.param("extends: [mine.yml]\n", "extends itself", id="itself"),
]


@pytest.mark.parametrize(("text", "words"), WRONG)
def test_what_is_wrong_is_refused_and_named(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        loaded(tmp_path, HEAD + text)


def test_no_word_of_another_file_is_shown(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("machine example.com password hunter2", "utf-8")
    with pytest.raises(UsageError) as refused:
        loaded(tmp_path, f"{HEAD}extends: [{secret}]\n")
    assert "hunter2" not in str(refused.value)


def test_what_is_extended_twice_counts_once(tmp_path: Path) -> None:
    """And files that extend each other many times over are read in no time."""
    chain = {
        f"part{n}": f"name: p\nversion: '1'\nextends: [part{n + 1}.yml, part{n + 1}.yml]\n"
        for n in range(40)
    }
    last = {"part40": "name: p\nversion: '1'\n" + LINE % "a"}
    found = loaded(tmp_path, f"{HEAD}extends: [part0.yml, part1.yml]\n", **chain, **last)
    assert [rule.id for rule in found.lines] == ["x"]
    assert len(found.documents) == 42
