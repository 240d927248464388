"""Texts of a report made fit to be shown: nothing hidden, no secret, no more than fits."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from ciops.failures.masking import masked
from ciops.failures.report_model import FailedJob, Report
from ciops.plumbing.rendering import clean_text

_SPACES: Final = re.compile(r"[ \t\n]+")
_CLOSING: Final = tuple("、。，．：；？！）」』】〉》ー")
LONGEST_LINE: Final = 2000
"""Characters of one line of an excerpt that are shown; the log itself has the rest."""


def made_safe(report: Report) -> Report:
    """The report without control, bidi and hidden characters and without secrets.

    Scans mask what they hand on; this is the one gate that names, reasons and addresses of every
    other origin pass too.
    """
    return masked(report, clean_text, _cut)


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"


def causal_index(job: FailedJob) -> int | None:
    """Which line of the excerpt is the causal one: a raw line may be shown as several."""
    of = [at for at, line in enumerate(job.excerpt) if line.number == job.line]
    return next(
        (at for at in of if (job.text or "") in job.excerpt[at].text), of[0] if of else None
    )


def one_line(text: str, most: int = 0) -> str:
    """The text on one line, at most `most` characters of it (0: all), its tabs and ends kept."""
    line = " ".join(clean_text(text).split("\n"))
    return line if not most or len(line) <= most else line[: most - 1] + "…"


def shortened(text: str, columns: int) -> str:
    """The text on one line of at most `columns`, with "…" where it was cut; "" for none."""
    if columns < 1:
        return ""
    line = _in_a_row(text)
    if len(line) * 2 <= columns or width(line) <= columns:
        return line
    kept, used = [], 1
    for character in line:
        used += _columns(character)
        if used > columns:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"


def _in_a_row(text: str) -> str:
    """One line with single spaces; those that must not break a line stay."""
    return _SPACES.sub(" ", clean_text(text)).strip(" ")


def wrapped(text: str, columns: int, most: int) -> list[str]:
    """The text on at most `most` lines of at most `columns`, with "…" where it was cut.

    Lines break at spaces and between wide characters, but not before closing punctuation
    (https://www.w3.org/TR/jlreq/#characters_not_starting_a_line).
    """
    rest, lines = _in_a_row(text), list[str]()
    while rest and len(lines) < most - 1 and width(rest) > columns:
        at = _break(rest, columns)
        lines.append(rest[:at].rstrip())
        rest = rest[at:].lstrip()
    return [*lines, shortened(rest, columns)]


def _break(text: str, columns: int) -> int:
    """Where the line that starts `text` ends."""
    used, last, fits = 0, 0, 0
    for index, character in enumerate(text):
        used += _columns(character)
        if used > columns:
            break
        fits = index + 1
        wide = _columns(character) == 2 and text[index + 1 : index + 2] not in _CLOSING
        if character == " " or wide:
            last = index + 1
    return last if last > fits // 2 else max(fits, 1)


def width(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
