"""Markdown cut to so many bytes, with a note of what is left out."""

from __future__ import annotations

import re
from typing import Final

SUMMARY_LIMIT: Final = 1024 * 1024
SUMMARY_NOTE: Final = (
    "> **Cut here.** {left:,} bytes are left out, since a job summary takes {limit:,}. "
    "The whole text is among the artifacts."
)


def cut_markdown(markdown: str, limit: int, note: str = SUMMARY_NOTE) -> str:
    """Markdown in at most `limit` bytes: cut between blocks, with a note of what is left out.

    It falls outside code fences and <details>. Where no such place fits, a line is the unit and
    what is open is closed. "" when not even the note fits.
    """
    if (size := len(markdown.encode("utf-8", errors="replace"))) <= limit:
        return markdown
    room = limit - len(note.format(left=size, limit=SUMMARY_LIMIT).encode()) - 64
    if room < 0:
        return ""
    kept, closing = _fitting(markdown, room)
    left = size - len(kept.encode("utf-8", errors="replace"))
    return kept + closing + note.format(left=left, limit=SUMMARY_LIMIT) + "\n\n"


def _fitting(markdown: str, room: int) -> tuple[str, str]:
    """The longest head that fits, and what closes the blocks left open in it."""
    fence, depth, size, at = "", 0, 0, 0
    between_blocks = 0
    for line in markdown.splitlines(keepends=True):
        size += len(line.encode("utf-8", errors="replace"))
        if size > room:
            break
        at += len(line)
        fence, depth = _after(line, fence, depth)
        if not fence and not depth and not line.strip():
            between_blocks = at
    if between_blocks > at // 2:  # else one huge block would go as a whole
        return markdown[:between_blocks], ""
    if at == 0:  # one line longer than the room
        head = markdown.encode("utf-8", errors="replace")[:room].decode("utf-8", errors="ignore")
        return head, "\n\n"
    return markdown[:at], f"\n{fence}\n" + "</details>\n" * depth + "\n"


def _after(line: str, fence: str, depth: int) -> tuple[str, int]:
    """The open fence and the depth of open <details> after a line."""
    mark = re.match(r" {0,3}(`{3,}|~{3,})", line)
    if fence:
        closes = mark and mark.group(1).startswith(fence) and not line.strip().strip(fence[0])
        return ("" if closes else fence), depth
    if mark:
        return mark.group(1), depth
    return "", max(0, depth + line.count("<details") - line.count("</details"))
