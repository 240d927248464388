"""Is there something somebody could run or follow to see the failure?

Code counts when a statement of it touches the product: fences are parsed (with tolerance), so a
log, a traceback, a configuration, the untouched template or an excerpt of the product's own
source do not count. So do commands that run code or name an upstream test, links, and steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from ciops.triage.code_reading import (
    is_call,
    is_closed_call,
    is_program,
    runs_in_a_line,
    touching_line,
)
from ciops.triage.evidence import Evidence, evidence_of
from ciops.triage.issue_text import Line, Reading
from ciops.triage.pasted_code import as_python, native_line
from ciops.triage.policy import Policy

_ONE_LINER: Final = re.compile(r"python[\d.]{0,5} +-c +(?P<q>[\"'])(?P<code>.{3,600})(?P=q)")
_HEREDOC: Final = re.compile(r"<< ?-?([\"']?)(?P<end>[A-Z]\w{1,15})\1")
_INLINE: Final = re.compile(r"`([^`\n]{3,300})`")
_LAUNCH: Final = re.compile(
    r"\b(?:torchrun|mpirun|mpiexec|srun|python[\d.]{0,3}|accelerate launch) -|init_process_group\("
)
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
_THEN_DO: Final = re.compile(
    r"[,;] (?:and |then )?(?:kill|run|start|stop|wait|load|save|send|set|call|restart|unplug)\b",
    re.IGNORECASE,
)
_THEN: Final = re.compile(r"\b(?:then|followed by|after that)\b", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s")
_LIST_ITEM: Final = re.compile(
    r"^[ \t]*(?:[-*+]|\d{1,3}[.)]|step \d+[:.)]?)[ \t]+(?P<text>\S.*)", re.IGNORECASE
)
_CONCRETE: Final = re.compile(r"`[^`]+`|--\w|\b\w+\.(?:py|sh|yaml|toml|ipynb)\b|\$ |\d")

_MOST: Final = 40
"""Sentences of a line and code spans of a sentence that are looked at."""

LAUNCH: Final = "launch"
"""A sign that counts where the launcher fails: it never comes to what it should have launched."""
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
    for block in (*_code_blocks(reading), *_heredocs(reading)):
        code = "\n".join(as_python([line.text for line in block], policy.product_frames))
        at = touching_line(code, touches, template) or native_line(code, touches)
        if at is not None and _WISHED.search(code) is None:
            yield block[min(at, len(block)) - 1], "code"
    for line in reading.lines:
        one_liner = _ONE_LINER.search(line.text) if "python" in line.text else None
        if one_liner and runs_in_a_line(one_liner["code"], touches, template):
            yield line, "command"
    yield from _inline_code(reading, touches)
    yield from _steps(reading)
    yield from _described_launches(reading)
    yield from ((line, LAUNCH) for line in reading.lines if _launches(line))


def _is_launched(text: str) -> bool:
    """Whether a text starts a program, or the product in one."""
    return (" -" in text or "process_group(" in text) and _LAUNCH.search(text) is not None


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


def _by_turn(reading: Reading) -> Iterator[list[Line]]:
    """The lines of the report, and of each comment."""
    for _, lines in groupby(reading.lines, key=attrgetter("turn")):
        yield list(lines)


def _inline_code(reading: Reading, touches: frozenset[str]) -> Iterator[tuple[Line, str]]:
    """A program told in code spans: calls that touch the product, and how it is started."""
    for lines in _by_turn(reading):
        calls: list[Line] = []
        launched = False
        for line in lines:
            if line.zone not in ("prose", "steps", "shell"):
                continue
            launched = launched or _is_launched(line.text)
            if "`" not in line.text:
                continue
            calls.extend(line for span in _INLINE.findall(line.text) if is_call(span))
            if _snippet_is_enough(line.text, touches):
                yield line, "inline_code"
        if launched and len(calls) >= 2:
            yield calls[0], "inline_code"


def _snippet_is_enough(text: str, touches: frozenset[str]) -> bool:
    """One call in a sentence that says that it shows the failure."""
    return any(_sentence_is_enough(sentence, touches) for sentence in _SENTENCE.split(text)[:_MOST])


def _sentence_is_enough(sentence: str, touches: frozenset[str]) -> bool:
    spans = _INLINE.findall(sentence)[:_MOST]
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


_VERBS: Final = (
    r"(?:run|launch|start|clone|install|set|export|call|create|build|save|load|kill|restart|wait"
    r"|train|open|use|execute|init\w*|wrap|apply|resume|download|checkout|add|replace|remove|change"
    r"|make|compile|stop|send|submit|enable|disable|insert|construct|define|import|take|put|copy"
    r"|edit|pass|do|ctrl|press|unplug|spawn|pip|conda|git|python|torchrun|srun|mpirun|cd|observe"
    r"|see|watch|check|compare|trigger|configure|deploy|prepare|pick|write|interrupt|drop|repeat"
    r"|shrink|scale|comment out)\b"
)
_STEP_VERB: Final = re.compile(
    r"^\W{0,4}(?:then |first,? |finally,? |next,? |and |now |on \w+ ?\w*[,:] )?" + _VERBS,
    re.IGNORECASE,
)
_LISTED: Final = (", ", "; ", "and ", "then ")
"""Of these `_THEN_VERB` needs one."""
_THEN_VERB: Final = re.compile(rf"(?:[,;] (?:and |then )?|\b(?:and|then) ){_VERBS}", re.IGNORECASE)


def _steps(reading: Reading) -> Iterator[tuple[Line, str]]:
    """At least two listed steps that tell somebody what to do, one of them concrete."""
    for lines in _by_turn(reading):
        steps = [x for x in lines if x.zone in ("prose", "steps") and _is_step(x.text)]
        told = next((x for x in lines if _tells_steps(x) or _orders_steps(x)), None)
        if told is not None:
            yield told, "steps"
        if len(steps) >= 2 and sum(bool(_CONCRETE.search(_item(x.text))) for x in steps) >= 1:
            yield steps[0], "steps"


_DESCRIBED: Final = re.compile(
    r"\b(?P<script>[\w/-]{1,40}\.(?:py|sh))\b.{0,80}(?:\b(?:where|in which|and|with)|\() ?"
    r"(?P=script) (?:just |only |simply )?(?:raises?|throws?|sleeps?|prints?|calls?|exits?|does"
    r"|contains?|is|runs?|imports?|creates?|has)\b"
)
"""A launch of a script whose content is told: `run boom.py, where boom.py raises`."""
_TELLS: Final = re.compile(
    r"(?:^|[.!?] )\W{0,4}(?:steps?|to reproduce|repro(?:duction|ducer)?|how to reproduce"
    r"|reproduce (?:with|by)|to (?:see|trigger|provoke|show|get) (?:it|this|the \w{2,16})"
    r"|(?:minimal |test )?script|minimal example"
    r"|(?:any|every|each) [^.:\n]{2,40} (?:shows?|reproduces?|triggers?|has) (?:it|this))\b"
    r"[^:\n]{0,30}:\s*(?P<told>\S.{20,600})",
    re.IGNORECASE,
)


def _tells_steps(line: Line) -> bool:
    """`Steps: do this, then that` in one sentence, with something concrete in it."""
    if line.zone not in ("prose", "steps"):
        return False
    match = _TELLS.search(line.text) if ":" in line.text else None
    if match is None:
        return False
    told = match["told"]
    listed = told.count(",") >= 2 or _THEN_DO.search(told)
    return "`" in told or bool(listed) or _is_launched(told)


def _orders_steps(line: Line) -> bool:
    """`Take x, set y to 3 and run it twice`: a reporter's sentence of three things to do."""
    if line.zone not in ("prose", "steps") or line.speaker != "reporter":
        return False
    folded = line.text.lower()
    if not any(sign in folded for sign in _LISTED):
        return False
    return any(
        _STEP_VERB.match(text) and len(_THEN_VERB.findall(text)) >= 2 and _CONCRETE.search(text)
        for text in _SENTENCE.split(line.text)[:_MOST]
    )


def _described_launches(reading: Reading) -> Iterator[tuple[Line, str]]:
    """A launch of a script whose content is told in the same line."""
    said = [x for x in reading.lines if x.zone in ("prose", "steps", "shell")]
    named = (x for x in said if ".py" in x.text or ".sh" in x.text)
    told: dict[tuple[str, int], list[Line]] = {(x.where, x.number): [] for x in named}
    for line in said:
        if (line.where, line.number) in told:
            told[line.where, line.number].append(line)
    for lines in told.values():
        text = " ".join(line.text for line in lines)
        if _is_launched(text) and _DESCRIBED.search(text):
            yield lines[0], "steps"


def _is_step(text: str) -> bool:
    match = _LIST_ITEM.match(text)
    if match is None:
        return False
    item = match["text"].lstrip("*")
    return item.startswith("`") or _STEP_VERB.match(item) is not None


def _item(text: str) -> str:
    match = _LIST_ITEM.match(text)
    return match["text"] if match else ""
