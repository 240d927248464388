"""What was printed last before somebody said that something failed, where no rule knows an error.

Tools nobody wrote rules for still print their findings in a few shapes: a place with words after
it, a mark before them. The output of a command begins where the shell or the runner repeats it; a
command that printed nothing of the kind hides what failed before it no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ciops.failures import line_rules as roles
from ciops.failures import weights
from ciops.failures.events import ENDS_ITSELF, FAILED, Event
from ciops.failures.framing import Visible
from ciops.failures.knowledge import Knowledge
from ciops.failures.likeness import likest
from ciops.failures.line_rules import Said
from ciops.failures.prefixes import WARNING, peel
from ciops.failures.speakers import ECHO
from ciops.failures.trace_facts import Facts

FINDING: Final = "finding"
MARK: Final = "mark"
HEAD: Final = "head"
WORDS: Final = "last-words"
"""Stands for the rule of a line that no rule knows."""
# Wrappers that stand right below the output of what failed.
_OF_COMMANDS: Final = frozenset(("make", "command", "tool", weights.SUMMARY))
_HINTING: Final = frozenset((roles.HINT, roles.STATED, roles.CAUSE))
_CAPTURED: Final = re.compile(r"\[\d+ lines? of output\]$")
_END_OF_CAPTURED: Final = "[end of output]"
_GROUP: Final = "##[group]Run "
_END_OF_GROUP: Final = "##[endgroup]"

_WARNS: Final = "warning"
_COUNTS: Final = "counts"
_NEAR: Final = 6
_FOR: Final = 3
_AGAINST: Final = -12
_WARNING: Final = re.compile(r"(?i)(?<!\w)warning(?!\w)")
_PLACE: Final = re.compile(
    r"^(?!.*\w[Ww]arning: )[^:]{0,40}(?:: ?\w+: )?\S+\.\w{1,10}(?::\d+|\(\d+|: line \d+)"
)


@dataclass(frozen=True, slots=True)
class _Heard:
    """A line, its words under its prefixes, and what is known of them."""

    line: Visible
    text: str
    said: Said | None
    warns: bool

    def hints(self, *kinds: str) -> bool:
        """Whether the line is, by its shape, one of some kinds of hints."""
        said = self.said
        return said is not None and said.rule.role == roles.HINT and said.rule.kind in kinds


def finding_above(event: Event, facts: Facts, knowledge: Knowledge) -> Event | None:
    """The first finding in the output that a statement of failure ends, if there is one.

    A mark names what failed: words that say why, below it, tell more.
    """
    kinds = (FINDING,) if event.role == roles.STATED else (FINDING, MARK)
    last = next(_outputs(_above(event, facts), knowledge), ())
    found = next((heard for heard in last if heard.hints(*kinds)), None)
    return _event(found, event, roles.STATED) if found else None


def hint(facts: Facts, knowledge: Knowledge) -> Event | None:
    """Without any event: what stands above a verdict and looks like what failed."""
    for event in facts.events:
        if event.role == roles.WRAPPER and _is_verdict(event, facts):
            found = _above_verdict(event, facts, knowledge)
            if found is not None:
                return found
    return None


def captured(facts: Facts, knowledge: Knowledge) -> Event | None:
    """What looks most like a failure in the output of another program that a tool shows framed.

    pip does so with what a build printed: `╰─> [3 lines of output]` to `[end of output]`.
    """
    for event in facts.events:
        texts = [line.text.strip() for line in event.before]
        if event.role != roles.WRAPPER or _END_OF_CAPTURED not in texts:
            continue
        end = texts.index(_END_OF_CAPTURED)
        begins = [at for at, text in enumerate(texts[:end]) if _CAPTURED.search(text)]
        if begins:
            shown = [_hear(line, knowledge) for line in event.before[begins[-1] + 1 : end]]
            return _likest(shown, event)
    return None


def at_the_end(facts: Facts, knowledge: Knowledge) -> Event | None:
    """What looks most like a failure in what the last command printed, where nobody judges it."""
    if any(event.role in FAILED for event in facts.events) or facts.passed:
        return None
    below = Event(facts.lines, "", roles.WRAPPER, before=list(facts.tail))
    last = next(_outputs(facts.tail, knowledge))
    known = not last or _is_known(last[0].line.number, below, facts)
    return None if known else _likest(last, below)


def _is_verdict(event: Event, facts: Facts) -> bool:
    """Whether a wrapper stands right below the output of what failed, and was not overcome."""
    if event.kind == "runner":
        return event.last > facts.passed
    return event.kind in _OF_COMMANDS and not event.recovered and not weights.is_lively(event)


def _above(event: Event, facts: Facts) -> list[Visible]:
    return [one for one in event.before[:-1] if not 0 < facts.script_end <= one.number]


def _above_verdict(event: Event, facts: Facts, knowledge: Knowledge) -> Event | None:
    outputs = list(_outputs(_above(event, facts), knowledge))
    for look in (_found, _warned):
        for output in outputs:
            found = look(output, event)
            if found is not None:
                return found
    last = _last_words(event, facts, knowledge)
    if last or not outputs[0] or _is_known(outputs[0][0].line.number, event, facts):
        return last
    return _likest(outputs[0], event)


def _likest(output: Sequence[_Heard], event: Event) -> Event | None:
    """What looks most like a failure in what a command printed, where no rule knows any of it."""
    at = likest([(heard.line.text, _opinion(heard)) for heard in output])
    return _event(output[at], event, roles.HINT) if at is not None else None


def _is_known(first: int, event: Event, facts: Facts) -> bool:
    """Whether rules know more of the output of a command than that it failed, or not all is seen.

    Where they know wrappers of a failure, the cause was perhaps not printed at all.
    """
    seen = event.before[0].number < first
    return not seen or any(first <= one.number < event.number for one in facts.events)


def _opinion(heard: _Heard) -> int:
    """What rules think of a line: they know most of what is none of a failure."""
    if not heard.text or heard.warns:
        return _AGAINST
    if heard.said is None:
        return 0
    role = heard.said.rule.role
    return _FOR if role in _HINTING else _AGAINST


def _last_words(event: Event, facts: Facts, knowledge: Knowledge) -> Event | None:
    """What was said last before a script ended itself as failed, whatever it was."""
    above = _above(event, facts)
    ends = [at for at, line in enumerate(above) if ENDS_ITSELF.match(line.text)]
    said = next(_outputs(above[: ends[-1]], knowledge), []) if ends else []
    last = next((heard for heard in reversed(said) if heard.text), None)
    return _event(last, event, roles.HINT) if last else None


def _found(output: Sequence[_Heard], event: Event) -> Event | None:
    """The head of what a command found, else its first finding, else what smells."""
    for kinds, role in (((HEAD,), roles.HINT), ((FINDING, MARK), roles.STATED)):
        found = next((heard for heard in output if heard.hints(*kinds)), None)
        if found is not None:
            return _event(found, event, role)
    return _smelling(output, event)


def _smelling(output: Sequence[_Heard], event: Event) -> Event | None:
    """The first line that smells in the last paragraph that has one, near the end."""
    found = None
    for heard in _nearest(output):
        if not heard.text and found is not None:
            break
        if heard.said is not None and heard.said.rule.role in _HINTING:
            found = heard
    return _event(found, event, roles.HINT) if found else None


def _warned(output: Sequence[_Heard], event: Event) -> Event | None:
    """The first warning about a place, where nothing else was said: some tools fail for them."""
    found = next((one for one in output if one.warns and _PLACE.search(one.text)), None)
    return _event(found, event, roles.HINT) if found else None


def _nearest(output: Sequence[_Heard]) -> Iterator[_Heard]:
    """The last lines, from the last upwards; those that only count or say nothing are free."""
    left = _NEAR
    for heard in reversed(output):
        left -= bool(heard.text) and not (heard.said and heard.said.rule.id == _COUNTS)
        if left < 0:
            return
        yield heard


def _event(heard: _Heard, below: Event, role: str) -> Event:
    rule = heard.said.rule.id if heard.said else _WARNS if heard.warns else WORDS
    found = Event(heard.line.number, heard.text, role, rule, before=below.before)
    found.start = found.end = found.number
    found.last, found.alive, found.outlived = below.last, below.alive, below.outlived
    return found


def _outputs(above: Sequence[Visible], knowledge: Knowledge) -> Iterator[list[_Heard]]:
    """The output of the last command of a runner, cut where a shell repeats its own, last first."""
    output: list[_Heard] = []
    for line in reversed(above):
        heard = _hear(line, knowledge)
        if heard.text.startswith(_GROUP):
            output = []  # the script of a step, as the runner repeats it
        elif heard.text == _END_OF_GROUP or (heard.said and heard.said.rule.id == ECHO):
            yield output[::-1]
            if not heard.text.startswith("+"):
                return
            output = []
        else:
            output.append(heard)
    yield output[::-1]


def _hear(line: Visible, knowledge: Knowledge) -> _Heard:
    peeled = peel(line.text)
    text = peeled.text.strip()
    said = knowledge.hinter.say(text, peeled.level)
    known = said is not None and said.rule.id == _WARNS
    warns = known or peeled.level == WARNING or (said is None and bool(_WARNING.search(text)))
    return _Heard(line, text, None if warns else said, warns)
