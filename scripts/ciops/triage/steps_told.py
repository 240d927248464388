"""Steps that somebody could follow: listed, told in a sentence, or a launch of a known script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from ciops.triage.issue_text import Line, Reading

_LAUNCH: Final = re.compile(
    r"\b(?:torchrun|mpirun|mpiexec|srun|python[\d.]{0,3}|accelerate launch) -|init_process_group\("
)
_THEN_DO: Final = re.compile(
    r"[,;] (?:and |then )?(?:kill|run|start|stop|wait|load|save|send|set|call|restart|unplug)\b",
    re.IGNORECASE,
)
SENTENCE: Final = re.compile(r"(?<=[.!?])\s")
_LIST_ITEM: Final = re.compile(
    r"^[ \t]*(?:[-*+]|\d{1,3}[.)]|step \d+[:.)]?)[ \t]+(?P<text>\S.*)", re.IGNORECASE
)
_CONCRETE: Final = re.compile(r"`[^`]+`|--\w|\b\w+\.(?:py|sh|yaml|toml|ipynb)\b|\$ |\d")

MOST: Final = 40
"""Sentences of a line, code spans of a sentence, scripts and launches that are looked at."""


def is_launched(text: str) -> bool:
    """Whether a text starts a program, or the product in one."""
    return (" -" in text or "process_group(" in text) and _LAUNCH.search(text) is not None


def by_turn(reading: Reading) -> Iterator[list[Line]]:
    """The lines of the report, and of each comment."""
    for _, lines in groupby(reading.lines, key=attrgetter("turn")):
        yield list(lines)


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


def listed_steps(reading: Reading) -> Iterator[tuple[Line, str]]:
    """At least two listed steps that tell somebody what to do, one of them concrete."""
    for lines in by_turn(reading):
        steps = [] if _is_advice(lines) else [x for x in lines if _may_be_step(x)]
        told = next((x for x in lines if _tells_steps(x) or _orders_steps(x)), None)
        if told is not None:
            yield told, "steps"
        if len(steps) >= 2 and sum(bool(_CONCRETE.search(_item(x.text))) for x in steps) >= 1:
            yield steps[0], "steps"


def _may_be_step(line: Line) -> bool:
    return line.zone in ("prose", "steps") and _is_step(line.text)


def _is_advice(lines: Sequence[Line]) -> bool:
    """Whether a maintainer lists what to try, and does not say that it shows the failure."""
    advised = bool(lines) and lines[0].speaker == "maintainer"
    return advised and not any("repro" in line.text.lower() for line in lines)


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
    return "`" in told or bool(listed) or is_launched(told)


def _orders_steps(line: Line) -> bool:
    """`Take x, set y to 3 and run it twice`: a reporter's sentence of three things to do."""
    if line.zone not in ("prose", "steps") or line.speaker != "reporter":
        return False
    folded = line.text.lower()
    if not any(sign in folded for sign in _LISTED):
        return False
    return any(
        _STEP_VERB.match(text) and len(_THEN_VERB.findall(text)) >= 2 and _CONCRETE.search(text)
        for text in SENTENCE.split(line.text)[:MOST]
    )


_CONTENT: Final = re.compile(
    r"\b(?P<script>[\w/-]{1,40}\.(?:py|sh))\W{0,3} (?:is|has|contains|reads|does|consists of|only"
    r"|just)\b[^`\n]{0,40}`[^`\n]{8,}`"
)
"""A script whose content is given in a code span: ``x.py is `import os; …` ``."""


def described_launches(reading: Reading) -> Iterator[tuple[Line, str]]:
    """A launch of a script whose content is told in the same line, or given in another."""
    for lines in by_turn(reading):
        given = ((x, _CONTENT.search(x.text)) for x in lines if "`" in x.text and _is_named(x.text))
        scripts = [(line, match["script"]) for line, match in given if match][:MOST]
        launched = [x for x in lines if is_launched(x.text)][:MOST] if scripts else []
        for line, script in scripts:
            if any(script in x.text for x in launched if x is not line):
                yield line, "steps"
    said = [x for x in reading.lines if x.zone in ("prose", "steps", "shell")]
    named = (x for x in said if _is_named(x.text))
    told: dict[tuple[str, int], list[Line]] = {(x.where, x.number): [] for x in named}
    for line in said:
        if (line.where, line.number) in told:
            told[line.where, line.number].append(line)
    for lines in told.values():
        text = " ".join(line.text for line in lines)
        if is_launched(text) and _DESCRIBED.search(text):
            yield lines[0], "steps"


def _is_named(text: str) -> bool:
    """Whether a text names a script."""
    return ".py" in text or ".sh" in text


def _is_step(text: str) -> bool:
    match = _LIST_ITEM.match(text)
    if match is None:
        return False
    item = match["text"].lstrip("*")
    return item.startswith("`") or _STEP_VERB.match(item) is not None


def _item(text: str) -> str:
    match = _LIST_ITEM.match(text)
    return match["text"] if match else ""
