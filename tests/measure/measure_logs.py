"""Measure the first causal error on a folder of real logs.

    python tests/measure/measure_logs.py DIR [--config FILE] [--only NAMES.json:KEY] [--show]

DIR holds logs (`.gz` or plain) and an `index.json`: a list of objects with `file`, `failed`,
`line` and `also_acceptable_lines` (1-based, split on `\\n` only). Printed are the share of exact
and of exact or acceptable lines, and how many logs without a failure were given strong evidence.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from ciops.failures.knowledge import Knowledge, load_knowledge
from ciops.failures.scan_result import STRONG, ScanResult
from ciops.failures.trace_files import scan_file

CONFIG = Path(__file__).resolve().parents[2] / "config/pipeline-failure-report/autodeploy.yml"


@dataclass(frozen=True)
class Verdict:
    """How one log was judged."""

    file: str
    failed: bool
    exact: bool
    acceptable: bool
    result: ScanResult
    wanted: int | None


def judge(folder: Path, entry: dict[str, Any], knowledge: Knowledge) -> Verdict:
    """Scan one log of the index."""
    result = scan_file(folder / entry["file"], knowledge)
    lines = [entry["line"], *entry.get("also_acceptable_lines", [])]
    return Verdict(
        file=entry["file"],
        failed=entry["failed"],
        exact=entry["failed"] and result.line == entry["line"],
        acceptable=entry["failed"] and result.line in lines,
        result=result,
        wanted=entry["line"],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--config", type=Path, default=CONFIG)
    parser.add_argument("--only", help="FILE.json:KEY, a list of file names to measure on")
    parser.add_argument("--show", action="store_true", help="show what went wrong")
    options = parser.parse_args()
    listed = options.folder / "index.json"
    if not listed.is_file():
        parser.error(f"{listed}: no such file. It lists the logs, as --help says")
    index = json.loads(listed.read_text())
    if options.only:
        file, _, key = options.only.rpartition(":")
        names = json.loads(Path(file).read_text())[key]
        index = [entry for entry in index if entry["file"] in names]
    knowledge = load_knowledge(options.config)
    verdicts = [judge(options.folder, entry, knowledge) for entry in index]
    report(verdicts, options.show)


def report(verdicts: list[Verdict], show: bool) -> None:
    failed = [verdict for verdict in verdicts if verdict.failed]
    green = [verdict for verdict in verdicts if not verdict.failed]
    strong = [verdict for verdict in green if verdict.result.evidence == STRONG]
    for verdict in verdicts if show else ():
        if (verdict.failed and not verdict.acceptable) or verdict in strong:
            result = verdict.result
            found = f"{result.line} [{result.role} {result.rule}] {result.text!r:.160}"
            print(f"{verdict.file}: wanted {verdict.wanted}, got {found}")
    exact = sum(verdict.exact for verdict in failed)
    acceptable = sum(verdict.acceptable for verdict in failed)
    print(f"failed logs: {len(failed)}, exact {exact}, exact or acceptable {acceptable}")
    print(f"logs without a failure: {len(green)}, strong evidence claimed on {len(strong)}")


if __name__ == "__main__":
    main()
