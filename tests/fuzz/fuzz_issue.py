"""Issues at random: any text is read and decided, in time, twice the same, and within the schema.

    .venv/bin/python tests/fuzz/fuzz_issue.py --seconds 600

What fails is printed as a case, and the exit status is 1. A finding is kept as a case of
test_fuzz_findings.py.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests"), str(ROOT / "tests" / "fuzz")]

from campaign import campaign  # noqa: E402

from ciops.triage import issue_text  # noqa: E402
from ciops.triage.decide import Decision, decide, profile_of, to_json  # noqa: E402
from ciops.triage.facts import IssueFacts, from_rest  # noqa: E402
from ciops.triage.policy_file import load_policy  # noqa: E402
from ciops.triage.would_change import change_json, would_change  # noqa: E402

Case = dict[str, Any]

POLICY = load_policy(ROOT / "config" / "issue-triage" / "pytorch-distributed.yml")
CASES = sorted((ROOT / "tests" / "data" / "triage" / "cases").glob("*.json"))
QUEUE = POLICY.labels.queue
LABELS = [QUEUE, *sorted(POLICY.allowed_labels(profile_of(POLICY))), "high priority", "bug", "é"]
ZONES = set(POLICY.scoring.zones)
CHANGES_TRIED = 0.1

PIECES = (
    *("FSDP", "DDP", "NCCL", "not", "without", "hangs", "works", "2 nodes", "in 2.5", "I think", "?"),
    *("```", "~~~", "````", "```python", "~~~~ bash", "`", "``", "\n", "\n\n", "\r\n", "\r", "\t"),
    *("> ", "> > ", "- ", "1. ", "### Versions", "### Describe the bug", "---", "|", "|--|--|", "#"),
    *("<details>", "</details>", "<summary>x</summary>", "<pre>", "</pre>", "<!--", "-->", "<br>"),
    *("Traceback (most recent call last):", '  File "torch/distributed/c10d.py", line 3, in f'),
    *("    return x", "RuntimeError: x", "During handling of the above exception", "    ^^^^^"),
    *("[rank0]:", "[rank1]: ", "[W1 x.cpp:1]", "frame #0: c10d::f", "0: ", "torchrun --nnodes 2 a.py"),
    *("import torch", "dist.all_reduce(x)", "cc @a", "segfault", "wrong result", "PyTorch version: 2"),
    *("\x00", "\x1b[31m", "\u202e", "\u200b", "\ufeff", "\u2028", "\x85", "\ud800", "é", "İ", "ß", "ﬁ"),
    *("分散", "ハングする", "🐛", "👩‍👩‍👧", "ا", "(" * 9, "[" * 9, "\\", "*", "_", "&#64;", "  ", " " * 40),
    *("1.2.3", "9" * 30, "https://x.y/z", "#1", "o/r#1", "```\n```", "Edit: ", "@a wrote:", "% ", "$ "),
)  # fmt: skip


@cache
def corpus() -> tuple[Case, ...]:
    return tuple(json.loads(path.read_text(encoding="utf-8")) for path in CASES)


# --- inputs ---------------------------------------------------------------------------------


def case(chance: random.Random) -> Case:
    """An issue of pieces, or one of the cases changed."""
    model = chance.choice(corpus())
    comments = [dict(part) for part in model.get("comments") or ()][:6]
    issue = {**model["issue"], "labels": labels(chance), "body": body(model, chance)}
    issue["title"] = text(chance, 6) if chance.random() < 0.5 else issue["title"]
    for part in comments:
        part["body"] = changed(part.get("body") or "", chance)
    if chance.random() < 0.3:
        comments.append({"body": text(chance, 20), "author_association": "MEMBER"})
    timeline = model.get("timeline") if chance.random() < 0.5 else None
    return {"id": model.get("id"), "issue": issue, "comments": comments, "timeline": timeline}


def labels(chance: random.Random) -> list[Any]:
    names = [QUEUE, *chance.sample(LABELS, chance.randint(0, 4))]
    return [name if chance.random() < 0.5 else {"name": name} for name in names]


def body(model: Mapping[str, Any], chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.4:
        return text(chance, 60)
    return changed(model["issue"].get("body") or "", chance)


def text(chance: random.Random, most: int) -> str:
    """Pieces in a row; now and then one of them very often."""
    pieces = chance.choices(PIECES, k=chance.randint(1, most))
    often = (1,) * 30 + (3, 40, 2000 if most > 30 else 40)
    glue = chance.choice((" ", "", "\n"))
    return glue.join(piece * chance.choice(often) for piece in pieces)[:65_536]


def changed(words: str, chance: random.Random) -> str:
    """Lines left out, doubled, moved, cut in two, or with something put in between."""
    lines = words.split("\n")
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(lines) + 1)
        what = chance.randrange(5)
        if what == 0:
            del lines[at : at + chance.randint(1, 5)]
        elif what == 1:
            lines[at:at] = lines[at : at + 4] * chance.choice((1, 2, 50))
        elif what == 2:
            lines.insert(at, text(chance, 8))
        elif what == 3 and lines:
            line = lines.pop(at % len(lines))
            half = chance.randrange(len(line) + 1)
            lines[at:at] = [line[:half], line[half:]]
        else:
            chance.shuffle(lines)
        lines = lines[:3000]
    return "\n".join(lines)[:65_536]


# --- what must hold ---------------------------------------------------------------------------


def attempt(made: Case) -> None:
    facts = from_rest(made)
    for name in sorted(POLICY.profiles):
        profile = profile_of(POLICY, name)
        first = decide(facts, POLICY, profile)
        issue_text._document.cache_clear()
        assert first == decide(facts, POLICY, profile), "decided otherwise the second time"
    changes = would_change(facts, first, POLICY) if len(facts.body) % 10 == 0 else ()
    told = to_json(first, map(change_json, changes))
    assert json.loads(json.dumps(told)) == told, "is not JSON, or not the same from it"
    json.dumps(told, ensure_ascii=False).encode("utf-8", errors="replace")
    within_schema(told)
    places_hold(facts, first)
    reading_holds(facts)


def within_schema(told: Mapping[str, Any]) -> None:
    routes = [route.id for route in POLICY.routes]
    assert told["schema"] == 1
    assert told["sub_oncall"] in (None, *routes)
    assert told["existing_route"] in (None, *routes)
    assert told["sub_oncall_source"] in (None, "existing", "routed")
    assert told["sub_oncall_source"] != "routed" or told["distributed"]
    assert (told["sub_oncall_source"] == "existing") == (told["existing_route"] is not None)
    assert set(told["modules"]) <= set(POLICY.module_labels)
    assert told["confidence"] in ("high", "medium", "low")
    assert told["type"] in (None, "feature", "enhancement")
    assert told["plan"]["comment"] in (None, *POLICY.comments)
    added = told["plan"]["add_labels"]
    assert len(set(added)) == len(added)
    for flag in ("distributed", "performance", "has_reproduction", "repro_expected"):
        assert isinstance(told[flag], bool)
    for item in told["evidence"]:
        assert item["role"] in ("root", "api", "path", "weak", "against")
        assert item["zone"] in ZONES, item["zone"]
        assert re.fullmatch(r"title|body|comment [1-9]\d*", item["where"])


def places_hold(facts: IssueFacts, decision: Decision) -> None:
    """Each piece of evidence is a line that is there."""
    for item in decision.evidence:
        found = item.evidence
        assert 1 <= found.line <= found.last <= lines_of(facts, found.where), found


def lines_of(facts: IssueFacts, where: str) -> int:
    if where == "title":
        return 1
    words = facts.body if where == "body" else facts.comments[int(where.split()[1]) - 1].body
    return len(re.split(r"\r\n|\r|\n", words))


def reading_holds(facts: IssueFacts) -> None:
    """Lines are in order within their document, none is longer than patterns may see."""
    reading = issue_text.read_issue(facts, POLICY.reading)
    before: tuple[int, int] = (0, 0)
    for line in reading.lines:
        assert line.zone in ZONES
        assert 1 <= line.number <= line.last <= lines_of(facts, line.where), line
        assert len(line.text) <= 1000
        if line.where != "title":
            assert (line.turn, line.number) >= before, line
            before = (line.turn, line.number)
    covered(facts, reading.lines)


def covered(facts: IssueFacts, lines: Sequence[issue_text.Line]) -> None:
    """A word in plain prose is in some line: nothing that is said gets lost."""
    words = facts.body.split("\n")
    if any(not re.fullmatch(r"[a-z ]*", line) for line in words):
        return
    read = {word for line in lines if line.where == "body" for word in line.text.split()}
    assert read >= {word for line in words for word in line.split()}


def allowed(made: Case) -> float:
    """Linear in the text: three profiles, twice each."""
    size = len(made["issue"]["body"] or "") + len(made["issue"]["title"] or "")
    size += sum(len(part.get("body") or "") for part in made["comments"])
    return 1.0 + size * 30e-6


if __name__ == "__main__":
    raise SystemExit(campaign(str(__doc__), case, attempt, allowed))
