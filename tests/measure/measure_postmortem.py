"""Figures for post-mortem-render over a folder of records with their expectations.

    .venv/bin/python tests/measure/measure_postmortem.py tests/data/postmortem/cases

`NN.yml` is a record and `NN.expected.json` what must be said of it (README.md there). Each record
goes through the command line's own functions; every difference is named.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from ciops.postmortem.adf import render_adf  # noqa: E402
from ciops.postmortem.document import build  # noqa: E402
from ciops.postmortem.gates import decide  # noqa: E402
from ciops.postmortem.gfm import render_gfm  # noqa: E402
from ciops.postmortem.prose import Finding, check_record  # noqa: E402
from ciops.postmortem.prose_rules import load_guide  # noqa: E402
from ciops.postmortem.record_reader import read_record  # noqa: E402
from ciops.postmortem.references import Links  # noqa: E402
from ciops.postmortem.settings import load_settings  # noqa: E402
from ciops.postmortem.wiki_markup import render_wiki  # noqa: E402
from ciops.postmortem.wording import load_words  # noqa: E402
from postmortem.visible import adf_problems, of_adf, of_markdown, of_wiki  # noqa: E402

SETTINGS = load_settings()
WORDS = {language: load_words(language) for language in ("en", "ja", "fr")}
GUIDES = {language: load_guide(language) for language in ("en", "ja", "fr")}


def main(folder: Path) -> int:
    counts: Counter[str] = Counter()
    seconds: list[float] = []
    for path in sorted(folder.glob("*.yml")):
        beside = path.with_suffix(".expected.json")
        if not beside.exists():
            continue
        expected = json.loads(beside.read_text(encoding="utf-8"))
        for difference in measure(path, expected, counts, seconds):
            print(f"{path.stem}: {difference}")
    report(counts, seconds)
    return 0


def measure(
    path: Path, expected: dict[str, Any], counts: Counter[str], seconds: list[float]
) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    start = time.process_time()
    reading = read_record(text, path.name)
    language = reading.record.language
    decision = decide(reading, SETTINGS, WORDS[language])
    found = () if reading.malformed else check_record(reading.record, GUIDES[language])
    counts["records"] += 1
    tolerated = set(expected.get("missing_tolerated", ()))
    got = {
        "verdict": decision.verdict,
        "missing": [gap.gate for gap in decision.missing if gap.gate not in tolerated],
        "redirect": decision.redirect,
        "errors": sorted((fault.path, fault.problem) for fault in decision.faults),
        "sections": list(decision.sections),
    }
    wanted = {key: expected[key] for key in got}
    wanted["missing"] = [gate for gate in expected["missing"] if gate not in tolerated]
    wanted["errors"] = sorted((each["path"], each["problem"]) for each in expected["errors"])
    for key, value in got.items():
        counts[key] += value == wanted[key]
        if value != wanted[key]:
            yield f"{key} is {value}, expected {wanted[key]}"
    if expected["verdict"] == "render":
        yield from findings(found, expected["findings"], counts)
        document = build(reading.record, WORDS[language], Links())
        rendered = render_gfm(document), render_adf(document), render_wiki(document)
        seconds.append(time.process_time() - start)
        yield from renderings(reading, rendered, expected, counts)


def findings(
    found: tuple[Finding, ...], expected: list[dict[str, Any]], counts: Counter[str]
) -> Iterator[str]:
    """Matched by kind, field and overlapping phrase."""
    open_ones = list(expected)
    for finding in found:
        match = next((each for each in expected if overlaps(finding, each)), None)
        counts["true" if match else "false"] += 1
        if match is None:
            yield f"false finding {finding.kind} {finding.field}: {finding.phrase} ({finding.rule})"
        elif match in open_ones:
            open_ones.remove(match)
    counts["missed"] += len(open_ones)
    for each in open_ones:
        yield f"missed finding {each['kind']} {each['field']}: {each['phrase']}"


def overlaps(finding: Finding, expected: dict[str, Any]) -> bool:
    one, other = " ".join(finding.phrase.split()), " ".join(expected["phrase"].split())
    shared = one in other or other in one or bool(set(one.split()) & set(other.split()))
    return (finding.kind, finding.field) == (expected["kind"], expected["field"]) and shared


def renderings(
    reading: Any, rendered: tuple[str, Any, str], expected: dict[str, Any], counts: Counter[str]
) -> Iterator[str]:
    markdown, adf, wiki = rendered
    counts["rendered"] += 1
    problems = adf_problems(adf)
    counts["valid"] += not problems
    yield from (f"ADF: {problem}" for problem in problems)
    again = build(reading.record, WORDS[reading.record.language], Links())
    counts["identical"] += json.dumps(adf) == json.dumps(render_adf(again))
    shown = {
        "markdown": of_markdown(markdown),
        "adf": of_adf(adf),
        "wiki": of_wiki(wiki),
    }
    for name, visible in shown.items():
        for text in expected["must_contain"]:
            counts[f"{name} wanted"] += 1
            counts[f"{name} kept"] += text in visible
            if text not in visible:
                yield f"{name} lost {text!r}"


def report(counts: Counter[str], seconds: list[float]) -> None:
    total = counts["records"]
    for key in ("verdict", "missing", "redirect", "errors", "sections"):
        print(f"{key:10} {counts[key]}/{total} exact")
    true, false, missed = counts["true"], counts["false"], counts["missed"]
    precision = true / (true + false) if true + false else 1.0
    recall = true / (true + missed) if true + missed else 1.0
    print(f"findings   precision {precision:.3f}, recall {recall:.3f}", end=" ")
    print(f"({true} true, {false} false, {missed} missed)")
    print(f"ADF        {counts['valid']}/{counts['rendered']} valid", end=", ")
    print(f"{counts['identical']}/{counts['rendered']} identical on a second run")
    for name in ("markdown", "adf", "wiki"):
        print(f"{name:10} {counts[f'{name} kept']}/{counts[f'{name} wanted']} must-survive kept")
    if seconds:
        seconds.sort()
        middle, worst = seconds[len(seconds) // 2] * 1000, seconds[-1] * 1000
        print(f"time       {middle:.1f} ms a record at the median, {worst:.1f} ms at most")


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
