"""Make the pictures of this documentation again: `make pictures`, or with names, a few.

    python docs/pictures/make.py [NAME …]

Runs the three jobs of `make demo`, lays what they hand over out as its host shows it (looks.py),
and takes pictures with Chromium. The HTML report is the page itself. Needs Chromium and a font
with emoji (Debian: chromium, fonts-noto-color-emoji).
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parents[1]
sys.path[:0] = [str(ROOT / name) for name in ("scripts", "tests", "examples", "docs/pictures")]

import demo_pipeline  # noqa: E402
import demo_postmortem  # noqa: E402
import demo_triage  # noqa: E402
import looks  # noqa: E402

from failures.chromium import Page, browser  # noqa: E402
from measure.preview_postmortem import drawn  # noqa: E402

SCALE: Final = 1.2  # sharp enough on most screens, and still small files
# Of the demo's fourteen issues: a hang, one in the wrong queue, one that gives the bot orders.
ISSUES: Final = (4107, 4125, 4156)


@dataclass(frozen=True, slots=True)
class Picture:
    """A page, how wide, at most how high, and what to do on it first."""

    page: str
    width: int = 900
    height: int = 820
    dark: bool = False
    script: str = ""


OPEN_FIRST: Final = "document.querySelector('#buckets summary, #buckets button')?.click()"
PICTURES: Final = {
    "issue-triage": Picture("issue-triage", height=1200),
    "failure-report": Picture("report", 1180, 1285, script=OPEN_FIRST),
    "failure-report-dark": Picture("report", 1180, 1285, dark=True, script=OPEN_FIRST),
    "failure-summary": Picture("failure-summary", 1100, 1060),
    "post-mortem": Picture("post-mortem", 900, 900),
    "post-mortem-jira": Picture("post-mortem-jira", 900, 900),
}


def main(names: Sequence[str]) -> int:
    """Make all pictures, or the named ones."""
    unknown = [name for name in names if name not in PICTURES]
    if unknown:
        print(f"No picture is called {unknown[0]}. There are: {', '.join(PICTURES)}")
        return 2
    with tempfile.TemporaryDirectory() as folder, browser() as pipe:
        pages = write_pages(Path(folder))
        page = Page(pipe)
        for name in names or PICTURES:
            path = HERE / f"{name}.png"
            path.write_bytes(_shot(page, PICTURES[name], pages))
            print(f"{path.relative_to(ROOT)}  {path.stat().st_size // 1024} kB")
    return 0


def write_pages(folder: Path) -> dict[str, Path]:
    """Run the jobs and write the pages that pictures are taken of, by name."""
    jobs = {"triage": demo_triage, "report": demo_pipeline, "post-mortem": demo_postmortem}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for name, job in jobs.items():
            job.run(folder / name)
    written = {
        "issue-triage": _triage(folder / "triage"),
        "failure-summary": _summary(folder / "report"),
        "post-mortem": _document(folder / "post-mortem"),
        "post-mortem-jira": _comment(folder / "post-mortem"),
    }
    for name, page in written.items():
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    pages = {name: folder / f"{name}.html" for name in written}
    return {**pages, "report": folder / "report/report.html"}


def _triage(folder: Path) -> str:
    head, *issues = re.split(r"^(?=### )", _read(folder / "summary.md"), flags=re.MULTILINE)
    shown = [text for text in issues if any(f"/issues/{number})" in text for number in ISSUES)]
    return looks.github("Triage summary", "".join([head, *shown]))


def _summary(folder: Path) -> str:
    return looks.github("Report summary", _read(folder / "summary.md"))


def _document(folder: Path) -> str:
    document = "docs/postmortems/JIRA-12345.md"
    return looks.github(document, _read(folder / document))


def _comment(folder: Path) -> str:
    return looks.jira(drawn(json.loads(_read(folder / "posted.json"))["body"]))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _shot(page: Page, picture: Picture, pages: dict[str, Path]) -> bytes:
    """A PNG of the top of a page, no higher than the page is."""
    page.dress(picture.width, 100, picture.dark)  # a page is never lower than its window
    page.go(pages[picture.page].as_uri())
    if picture.script:
        page.value(picture.script)
    high = min(picture.height, int(page.value("document.documentElement.scrollHeight")))
    page.call(
        "Emulation.setDeviceMetricsOverride",
        width=picture.width,
        height=high,
        deviceScaleFactor=SCALE,
        mobile=False,
    )
    data = page.call("Page.captureScreenshot", format="png")["data"]
    return base64.b64decode(data)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
