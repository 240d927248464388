"""Is there something somebody could run or follow to see the failure?

Code counts when a statement of it touches the product: fences are parsed (with tolerance), so a
log, a traceback, a configuration, the untouched template or an excerpt of the product's own
source do not count. So do commands that run code or name an upstream test, links, and steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from typing import Final

from ciops.triage.code_reading import (
    is_call,
    is_closed_call,
    is_program,
    runs_in_a_line,
    shows_outcome,
    touching_line,
)
from ciops.triage.evidence import Evidence, evidence_of
from ciops.triage.issue_text import Line, Reading
from ciops.triage.pasted_code import as_python, native_line
from ciops.triage.policy import Policy
from ciops.triage.steps_told import (
    MOST,
    SENTENCE,
    by_turn,
    described_launches,
    is_launched,
    listed_steps,
)

_ONE_LINER: Final = re.compile(r"python[\d.]{0,5} +-c +(?P<q>[\"'])(?P<code>.{3,600})(?P=q)")
_HEREDOC: Final = re.compile(r"<< ?-?([\"']?)(?P<end>[A-Z]\w{1,15})\1")
_INLINE: Final = re.compile(r"`([^`\n]{3,300})`")
_FULL_LAUNCH: Final = re.compile(
    r"(?:\btorchrun|\bpython[\d.]{0,4} -m torch\.distributed\.(?:run|launch))\b.{0,120} -{1,2}\w"
)
_WISHED: Final = re.compile(r"#\s{0,3}(?:wanted|wished for|proposed|desired|hypothetical)\b", re.I)
_NODE_RANK: Final = re.compile(r"node[-_]rank[= ]\d")
_COMMANDS: Final = frozenset({"prose", "steps", "shell", "code", "log"})
_LAUNCHER: Final = re.compile(
    r"^\s*(?:\w+=\S+ )*(?:torchrun|srun|mpirun|mpiexec|accelerate|deepspeed|python[\d.]{0,4})\b"
)
_SCRIPT_HEADS: Final = ("#!", "#SBATCH", "#PBS", "#BSUB")
_ENOUGH: Final = re.compile(
    r"\b(?:reproduces?|(?:is|are|was) enough|suffices|shows? it|shows? the|triggers? (?:it|the)"
    r"|to reproduce|(?:is|are|that.s) all (?:it takes|you need|that.s needed|that is needed)"
    r"|repro)\b|^\s*(?:→|->|=>)|(?:→|->|=>|\b(?:gives|raises|fails(?: with)?|dies(?: with)?|prints"
    r"|throws)):?\s*$",
    re.IGNORECASE,
)
_OUTCOME: Final = re.compile(
    r"→|->|=>|\b(?:raises?|fails?|hangs?|gives?|returns?|prints?|crash(?:es)?|segfaults?|throws?"
    r"|errors?|deadlocks?|aborts?)\b",
    re.IGNORECASE,
)
_TYPED: Final = re.compile(
    r"(?:[A-Z]\w*=\S+ )*(?:printf|echo|curl|nc|telnet|kill|pkill|timeout|for|while|iptables|tc"
    r"|python[\d.]{0,5} -[cm]) \S|(?:from|import) [\w.]+"
)
"""What somebody types at a prompt, and is a program of its own; launching one's own is not."""
_THEN: Final = re.compile(r"\b(?:then|followed by|after that)\b", re.IGNORECASE)

LAUNCH: Final = "launch"
"""A sign that counts where the launcher fails: it never comes to what it should have launched."""
SHOWN: Final = "program"
"""A sign that counts in a request as well: it runs today, and shows what is missing."""
TOLD: Final = frozenset({"steps", "inline_code"})
"""Signs that are told rather than given: a request that describes a use has them as well."""


def signs_of_reproduction(reading: Reading, policy: Policy) -> list[Evidence]:
    """The code, commands and steps that somebody could run or follow, best first."""
    return [_sign(line, signal) for line, signal in _signs(reading, policy)]


def told_reproduction(found: Sequence[Evidence]) -> list[Evidence]:
    """Evidence of a policy's own signals that a reproduction is there, or was followed.

    What speaks against on the same line (a link to a log) takes it away.
    """
    present = [item for item in found if item.topic == "reproduction:present"]
    only_a_log = {(item.where, item.line) for item in present if item.points < 0}
    told = [x for x in present if x.points > 0 and (x.where, x.line) not in only_a_log]
    confirmed = [
        item
        for item in found
        if item.topic == "reproduction:confirmed"
        and item.speaker == "maintainer"
        and item.points > 0
    ]
    return [*told, *confirmed]


def signs_that_count(signs: Sequence[Evidence], launcher: bool) -> list[Evidence]:
    """Without the launches, unless a part that launches is at fault (`launcher`)."""
    return [sign for sign in signs if launcher or sign.signal != LAUNCH]


def touching_block(reading: Reading, policy: Policy) -> Line | None:
    """The first line of code that touches the product, in the report itself."""
    touches, template = policy.reproduction.touches, policy.reproduction.template_code
    for block in _code_blocks(reading):
        at = touching_line("\n".join(line.text for line in block), touches, template)
        if at is not None and block[0].turn == 0:
            return block[min(at, len(block)) - 1]
    return None


def _sign(line: Line, signal: str) -> Evidence:
    return evidence_of(line, "reproduction:present", signal, "root", 4.0)


def _signs(reading: Reading, policy: Policy) -> Iterator[tuple[Line, str]]:
    touches, template = policy.reproduction.touches, policy.reproduction.template_code
    yield from _job_scripts(reading)
    blocks = [*_code_blocks(reading), *_heredocs(reading)]
    proposed = _that_propose({block[0].turn for block in blocks} - {0}, reading)
    for block in blocks:
        if block[0].turn in proposed:
            continue
        code = "\n".join(as_python([line.text for line in block], policy.product_frames))
        at = touching_line(code, touches, template) or native_line(code, touches)
        if at is not None and _WISHED.search(code) is None:
            shows = shows_outcome(code, touches)
            yield block[min(at, len(block)) - 1], SHOWN if shows else "code"
    for line in reading.lines:
        one_liner = _ONE_LINER.search(line.text) if "python" in line.text else None
        if one_liner and runs_in_a_line(one_liner["code"], touches, template):
            yield line, "command"
    yield from _inline_code(reading, touches)
    yield from listed_steps(reading)
    yield from described_launches(reading)
    yield from ((line, LAUNCH) for line in reading.lines if _launches(line))


def _launches(line: Line) -> bool:
    """A whole command: on several hosts, one that says which of them it is for."""
    text = line.text
    if " -" not in text or line.zone not in _COMMANDS or _FULL_LAUNCH.search(text) is None:
        return False
    return "nnodes" not in text or _NODE_RANK.search(text) is not None


def _job_scripts(reading: Reading) -> Iterator[tuple[Line, str]]:
    """A batch script that launches something: it may need a cluster, and counts all the same."""
    blocks: dict[tuple[int, int], list[Line]] = {}
    for line in reading.lines:
        if line.zone in ("shell", "code", "log"):
            blocks.setdefault((line.turn, line.block), []).append(line)
    for block in blocks.values():
        if len(block) < 3 or not any(line.text.startswith(_SCRIPT_HEADS) for line in block):
            continue
        launch = next((line for line in block if _LAUNCHER.search(line.text)), None)
        if launch is not None:
            yield launch, "job_script"


def _code_blocks(reading: Reading) -> Iterator[list[Line]]:
    """The code of each fence; what it printed in between does not part it."""
    blocks: dict[tuple[int, int], list[Line]] = {}
    for line in reading.lines:
        if line.zone == "code":
            blocks.setdefault((line.turn, line.block), []).append(line)
    yield from blocks.values()


_PROPOSES: Final = re.compile(
    r"\b(?:try|tried|instead|work-?arounds?|works? for (?:me|us)|(?:could|can|would) you|how about"
    r"|what (?:if|about)|does (?:it|this|that) (?:help|work)|helped|should (?:work|help|fix|be)"
    r"|you (?:need|have|want) to|like (?:this|so)|fix(?:es|ed)?)\b",
    re.IGNORECASE,
)
_REPRODUCES: Final = re.compile(r"\brepro|\b(?:still|also|same|too|fails?|hangs?|raises?)\b", re.I)


def _that_propose(turns: Set[int], reading: Reading) -> set[int]:
    """Of some comments with code those of others whose code is what to do, and shows no failure."""
    spoken: dict[int, str] = {}
    for line in reading.lines if turns else ():
        if line.turn in turns and line.speaker != "reporter" and line.zone in ("prose", "steps"):
            spoken[line.turn] = spoken.get(line.turn, "") + line.text + "\n"
    return {
        turn
        for turn, text in spoken.items()
        if _PROPOSES.search(text) and not _REPRODUCES.search(text)
    }


def _heredocs(reading: Reading) -> Iterator[list[Line]]:
    """What commands write into a file, or an interpreter: `cat > a.py <<EOF`, to its end."""
    held: list[Line] = []
    end = ""
    for line in reading.lines:
        if end and line.zone in ("shell", "code", "log") and line.text.strip() != end:
            held.append(line)
            continue
        if held:
            yield held
        held = []
        match = _HEREDOC.search(line.text) if line.zone in ("shell", "code") else None
        end = match["end"] if match else ""


def _inline_code(reading: Reading, touches: frozenset[str]) -> Iterator[tuple[Line, str]]:
    """A program told in code spans: calls that touch the product, and how it is started."""
    for lines in by_turn(reading):
        calls: list[Line] = []
        launched = False
        for line in lines:
            if line.zone not in ("prose", "steps", "shell"):
                continue
            launched = launched or is_launched(line.text)
            if "`" not in line.text:
                continue
            calls.extend(line for span in _INLINE.findall(line.text) if is_call(span))
            if _snippet_is_enough(line.text, touches):
                yield line, "inline_code"
        if launched and len(calls) >= 2:
            yield calls[0], "inline_code"


def _snippet_is_enough(text: str, touches: frozenset[str]) -> bool:
    """One call in a sentence that says that it shows the failure."""
    return any(_sentence_is_enough(sentence, touches) for sentence in SENTENCE.split(text)[:MOST])


def _sentence_is_enough(sentence: str, touches: frozenset[str]) -> bool:
    spans = _INLINE.findall(sentence)[:MOST]
    if any(is_program(span, touches) for span in spans):
        return True
    calls = [span for span in spans if is_call(span)]
    around = _INLINE.sub("", sentence) if calls or any(map(_TYPED.match, spans)) else ""
    if around and _ENOUGH.search(around):
        return True
    if _OUTCOME.search(around) and any(_is_whole(span, touches) for span in calls):
        return True
    if len(calls) < 2 or not _THEN.search(around):
        return False
    return sum(touching_line(span, touches, ()) is not None for span in calls) >= 2


def _is_whole(span: str, touches: frozenset[str]) -> bool:
    return is_closed_call(span) and touching_line(span, touches, ()) is not None
