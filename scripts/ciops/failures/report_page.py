"""The report as one self-contained HTML page that works from a file and as a CI artifact.

`page.html.j2`, `page.css`, `page.js` and `page_moves.js` in the templates folder. The page draws
the buckets from `report.json` in a block of JSON that nothing in it can end. Its policy allows its
own script and style, by their hashes, and nothing else: no address is fetched, no other script
runs, and text cannot become markup (https://www.w3.org/TR/CSP3/,
https://www.w3.org/TR/trusted-types/).
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from typing import Any, Final

from ciops.failures.code_seen import without_code
from ciops.failures.report_findings import (
    checksum,
    code_at,
    code_place,
    counted,
    is_compared,
    listed,
    outcome,
    owed,
    path_to,
    risks,
    start_of,
    tracking,
)
from ciops.failures.report_json import to_data
from ciops.failures.report_model import Report
from ciops.failures.report_phrases import in_language
from ciops.failures.report_words import Words
from ciops.plumbing.yaml_file import read_text

_WORDS_USED: Final = re.compile(r"(?:code|count|label|mark|markdown|page|report|status)\.")
_WEB: Final = re.compile(r"https?://[^\s/]", re.IGNORECASE)
# What ends a script element or starts a comment in one; and line ends of old JavaScript.
_UNSAFE: Final = re.compile("[<>&\u2028\u2029]")


def page(report: Report, words: Words) -> str:
    """The page."""
    report = in_language(without_code(report), words)
    folder = words.templates.folder
    css = read_text(folder / "page.css")
    halves = [read_text(folder / name) for name in ("page.js", "page_moves.js")]
    script = '(() => {\n"use strict";\n' + "".join(halves) + "})();\n"
    owners = Counter(bucket.owner for bucket in report.buckets)
    return words.templates.render(
        "page.html",
        report=report,
        words=words,
        policy=_policy(css, script),
        is_web=lambda url: bool(_WEB.match(url)),
        css=css,
        script=script,
        data=script_json(_data(report, words)),
        headline=counted(report, words),
        checksum=checksum(report),
        start=start_of(report),
        paths=[path_to(report, one) for one in report.terminal_pipelines],
        via=words.say("report.via", path="\0").split("\0"),
        statuses=_statuses(report),
        owners=sorted(owners.items()),
        compared=is_compared(report),
        new=sum(bucket.recurring is False for bucket in report.buckets),
        tracking=tracking(report, words),
        risks=listed(risks(report), words),
        owed=listed(owed(report), words),
    )


def _statuses(report: Report) -> list[tuple[str, int, int]]:
    """Every status with its buckets and jobs."""
    buckets = Counter(bucket.status for bucket in report.buckets)
    jobs: Counter[str] = Counter()
    for bucket in report.buckets:
        jobs[bucket.status] += bucket.size
    return [(status, count, jobs[status]) for status, count in sorted(buckets.items())]


def _policy(css: str, script: str) -> str:
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(css)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _data(report: Report, words: Words) -> dict[str, Any]:
    outcomes = [outcome(bucket) for bucket in report.buckets]
    places = [
        {"text": code_place(bucket.code), "at": code_at(bucket.code, words)}
        if bucket.code
        else None
        for bucket in report.buckets
    ]
    messages = words.templates.messages
    return {
        "language": words.language,
        "words": {key: messages[key] for key in messages if _WORDS_USED.match(key)},
        "report": to_data(report),
        "outcomes": [{"text": done.say(words), "url": done.url} for done in outcomes],
        "places": places,
    }


def script_json(data: object) -> str:
    """JSON that means the same inside a script element and cannot leave it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
