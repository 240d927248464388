"""`scan`: the first causal error of traces on disk. Needs no token and no network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ciops.errors import EXIT_DONE, UsageError
from ciops.failures import scan_result as results
from ciops.failures.buckets import Bucket, JobEvidence, bucket
from ciops.failures.command_line import (
    Parser,
    add_config,
)
from ciops.failures.knowledge import Knowledge, load_knowledge
from ciops.failures.scan_result import ScanResult
from ciops.failures.trace_files import scan_file
from ciops.plumbing.command_line import open_host, parse
from ciops.plumbing.interruption import doing

ABOUT: Final = """Find the first causal error of each trace, and the bucket it belongs to.

A trace may be gzipped. Printed is one JSON object a file, or a few lines with --format text:
line is 1-based in the raw file split on \\n only, text is the cleaned line, and evidence is strong,
weak (it failed, and the log does not show why) or none (it shows no failure)."""
EXAMPLE: Final = "job.log other.log.gz --format text"
FORMATS: Final = ("jsonl", "text")


def main(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    """The command; its exit status. A file that cannot be read is exit 2, the others are done."""
    host = open_host(env)
    parser = Parser("scan", ABOUT, EXAMPLE)
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="a trace")
    add_config(parser)
    parser.add_argument("--format", choices=FORMATS, default="jsonl", help="default: jsonl")
    given = parse(parser, arguments, host)
    knowledge = load_knowledge(given.config)
    unread: list[UsageError] = []
    for path in given.files:
        try:
            with doing(str(path)):
                found = scanned(path, knowledge)
        except UsageError as error:
            unread.append(error)
            continue
        if given.format == "jsonl":
            print(json.dumps(found, ensure_ascii=False), flush=True)
        else:
            host.say(in_words(found))
    for other in unread[1:]:
        host.error(str(other))
    if unread:
        raise unread[0]
    return EXIT_DONE


def scanned(path: Path, knowledge: Knowledge) -> dict[str, Any]:
    """What `scan` prints for one file."""
    scan = scan_file(path, knowledge)
    own = _bucket_of(path, scan, knowledge)
    return {
        "file": str(path),
        "line": scan.line,
        "text": scan.text,
        "exception": scan.exception,
        "frame": str(scan.frame) if scan.frame else None,
        "evidence": scan.evidence,
        "signature": scan.signature or None,
        "bucket": own.name if own else None,
        "status": own.status if own else None,
        "owner": own.owner if own else None,
        "wrappers": [{"line": one.number, "text": one.text} for one in scan.wrappers],
        "model": scan.model,
        "runtime_hints": dict(scan.runtime_hints),
    }


def _bucket_of(path: Path, scan: ScanResult, knowledge: Knowledge) -> Bucket | None:
    """The bucket that a job of this trace alone would have; None where nothing failed."""
    if scan.evidence == results.NONE:
        return None
    job = JobEvidence(0, path.name, scan, "" if scan.size else "empty")
    return bucket([job], knowledge)[0]


def in_words(found: Mapping[str, Any]) -> str:
    """The same for a person."""
    head = f"{found['file']}: {_verdict(found)}"
    if found["bucket"] is None:
        return head
    more = [
        f"  bucket   {found['bucket']} ({found['status']}, {found['owner']})",
        *([f"  frame    {found['frame']}"] if found["frame"] else []),
        *([f"  model    {found['model']}"] if found["model"] else []),
        *(f"  wrapper  line {one['line']}: {one['text'][:160]}" for one in found["wrappers"][:3]),
    ]
    return "\n".join([head, *more])


def _verdict(found: Mapping[str, Any]) -> str:
    if found["evidence"] == results.NONE:
        return "shows no failure"
    if found["line"] is None:
        return f"failed, and the log does not show why: {found['signature']}"
    doubt = "" if found["evidence"] == results.STRONG else " (weak evidence)"
    return f"line {found['line']}{doubt}: {found['text'][:400]}"
