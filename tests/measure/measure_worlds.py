"""Measure traces and buckets on whole GitLab worlds, without a server.

    python tests/measure/measure_worlds.py DIR [--config FILE] [--show]

DIR holds worlds: folders with `world.json`, `traces/` and `expected.json`. The failed jobs of the
terminal pipelines are scanned and put into buckets; printed is the share of right lines, pairs of
jobs rightly together or apart, status, owner, evidence, model, exception and frame.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from ciops.failures.buckets import JobEvidence, bucket, supplementary
from ciops.failures.knowledge import Knowledge, load_knowledge
from ciops.failures.scan_result import WEAK, ScanResult
from ciops.failures.trace_files import scan_file

CONFIG = Path(__file__).resolve().parents[2] / "config/pipeline-failure-report/autodeploy.yml"


def evidence(
    folder: Path, world: dict[str, Any], job: dict[str, Any], knowledge: Knowledge
) -> JobEvidence:
    """What can be known about a failed job from the files of its world."""
    key = str(job["id"])
    status = (world.get("trace_http") or {}).get(key, 200)
    name = (world.get("traces") or {}).get(key)
    reason = job.get("failure_reason") or ""
    if status != 200 or name is None:
        why = f"HTTP {status if status != 200 else 404}"
        scan = ScanResult(evidence=WEAK, signature="no trace", reason=f"the trace answers {why}")
        return JobEvidence(job["id"], job["name"], scan, why, reason)
    path = folder / name
    path = path if path.exists() else path.with_name(path.name + ".gz")
    scan = scan_file(path, knowledge)
    return JobEvidence(job["id"], job["name"], scan, "" if scan.size else "empty", reason)


def counted(job: dict[str, Any]) -> bool:
    return job["status"] == "failed" and not job.get("retried")


def measure(folder: Path, knowledge: Knowledge, show: bool) -> Counter[str]:
    """Counts of right answers and of questions (`…/of`) for one world."""
    world = json.loads((folder / "world.json").read_text())
    expected = json.loads((folder / "expected.json").read_text())
    jobs = [
        evidence(folder, world, job, knowledge)
        for pipeline in expected["terminal_pipelines"]
        for job in world["jobs"][str(pipeline)]
        if counted(job)
    ]
    buckets = bucket(jobs, knowledge)
    beside = supplementary(jobs, knowledge)
    of_job = {job: one for one in buckets for job in one.jobs}
    by_id = {job.id: job for job in jobs}
    count: Counter[str] = Counter()
    for want in expected["jobs"]:
        job = by_id[want["id"]]
        for key, right in answers(want, job, of_job[job.id], job.id in beside).items():
            count[key] += right
            count[key + "/of"] += 1
            if show and not right:
                show_wrong(f"{folder.name} {job.id} {key}", want, job, of_job[job.id])
    count.update(pairs(expected, of_job, show))
    count["checksum"] += (
        sum(one.size for one in buckets) == len(jobs) == expected["failed_jobs_total"]
    )
    count["checksum/of"] += 1
    return count


def show_wrong(what: str, want: dict[str, Any], job: JobEvidence, one: Any) -> None:
    scan = job.scan
    print(f"  {what}: wanted {want.get(what.split()[-1])!r}, line {want['causal_line_no']}")
    print(f"     got line {scan.line} {scan.evidence} [{scan.role} {scan.rule}] {scan.text!r:.120}")
    print(f"     {one.name} {one.status} {one.owner} {scan.exception} {scan.frame}")


def answers(want: dict[str, Any], job: JobEvidence, one: Any, beside: bool) -> dict[str, bool]:
    scan = job.scan
    ok = want.get("also_ok", {})
    lines = [want["causal_line_no"], *want.get("also_acceptable_lines", [])]
    sure = WEAK if beside else job.evidence
    found = {
        "line": scan.line in lines,
        "evidence": sure in (want["evidence"], *ok.get("evidence", [])),
        "status": one.status in (want["status"], *ok.get("status", [])),
        "owner": one.owner in (want["owner"], *ok.get("owner", [])),
        "model": scan.model == want["model"] if want["model"] else True,
        "exception": scan.exception in (want["exception"], *ok.get("exception", [])),
        "hints": {k: list(v) if isinstance(v, tuple) else v for k, v in scan.runtime_hints.items()}
        == want["runtime_hints"],
    }
    if want.get("frame"):
        found["frame"] = str(scan.frame) == want["frame"]
    if want.get("causal_text"):
        text = scan.text or ""
        found["text"] = want["causal_text"] in text or want.get("causal_text_joined", "\0") in text
    return found


def pairs(expected: dict[str, Any], of_job: dict[int, Any], show: bool) -> Counter[str]:
    count: Counter[str] = Counter()
    for a, b in itertools.combinations(expected["jobs"], 2):
        together = a["bucket_key"] == b["bucket_key"]
        found = of_job[a["id"]].name == of_job[b["id"]].name
        count["pairs"] += together == found
        count["pairs/of"] += 1
        if show and together != found:
            print(f"  pair {a['id']} {b['id']}: {'together' if together else 'apart'} wanted")
            print(f"     {of_job[a['id']].signature}\n     {of_job[b['id']].signature}")
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--config", type=Path, default=CONFIG)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    knowledge = load_knowledge(options.config)
    total: Counter[str] = Counter()
    worlds = sorted(path.parent for path in options.folder.glob("*/expected.json"))
    for world in worlds:
        total.update(measure(world, knowledge, options.show))
    for key in [key for key in total if not key.endswith("/of")]:
        asked = total[key + "/of"]
        print(f"{key:10} {total[key]:5} of {asked:5}  {total[key] / asked:.3f}")


if __name__ == "__main__":
    main()
