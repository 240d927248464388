"""Quick actions: lines such as `/close` that act when a note or a description is saved.

A text that escaped its leading slashes has none; one that did not closes
issues. https://docs.gitlab.com/user/project/quick_actions/
"""

from __future__ import annotations

import re
from dataclasses import dataclass

FENCE = re.compile(r"^(```|~~~|>>>)")
HTML_OPEN = re.compile(r"^<(\w+)[^>]*>$")
LABEL = re.compile(r'~(?:"([^"]+)"|(\S+))')

WORD = re.compile(r"\w+")

# Those that act on an issue here; the others are only noted: each of them is harm enough.
ACTING = frozenset(
    WORD.findall(
        "close reopen label labels unlabel remove_label relabel lock unlock title confidential"
    )
)
NAMES = ACTING | frozenset(
    WORD.findall("""
    add_child add_contacts add_email add_parent approve assign assign_reviewer award blocked_by
    blocks board_move child clear_weight clone convert_to_ticket copy_metadata
    create_merge_request done draft due duplicate epic estimate estimate_time health_status
    invite_email iteration link linked_items merge milestone move page parent promote promote_to
    promote_to_incident publish react ready reassign reassign_reviewer rebase relate
    remove_contacts remove_due_date remove_epic remove_estimate remove_iteration
    remove_milestone remove_parent remove_time_spent remove_zoom request_review run_pipeline
    set_parent severity shrug spend spend_time spent status submit_review subscribe tableflip
    target_branch timeline todo type unapprove unassign unassign_reviewer undraft unlink
    unsubscribe weight wip zoom
    """)
)
COMMAND = re.compile(r"^/(\w+)(?: (.*?))?\s*$")


@dataclass(frozen=True, slots=True)
class QuickAction:
    """A command and what stands behind it."""

    name: str
    argument: str = ""

    @property
    def labels(self) -> list[str]:
        return [quoted or plain for quoted, plain in LABEL.findall(self.argument)]


def extract(text: str) -> tuple[str, list[QuickAction]]:
    """The text without its commands, and the commands.

    A command starts in the first column, outside fences, `>>>` quotes and HTML
    blocks; its name counts in any case; other lines with a slash are text.
    """
    kept: list[str] = []
    found: list[QuickAction] = []
    closing: str | None = None
    for line in text.replace("\r", "").split("\n"):
        if closing is not None:
            closing = None if line.startswith(closing) else closing
        elif (opened := _opens(line)) is not None:
            closing = opened
        elif (match := COMMAND.match(line)) is not None and match[1].lower() in NAMES:
            found.append(QuickAction(match[1].lower(), match[2] or ""))
            continue
        kept.append(line)
    return "\n".join(kept).rstrip(), found


def _opens(line: str) -> str | None:
    """What ends the block that a line opens, or None."""
    fence = FENCE.match(line)
    if fence is not None:
        return fence[1]
    html = HTML_OPEN.match(line)
    return None if html is None else f"</{html[1]}"
