"""What a sentence says about a thing it names: blames it, clears it, guesses, asks.

The unit is one mention in one clause. Elimination counts: "without X it still fails" clears X,
"without X it works" blames it, "X works" clears it, "not X" clears it. Linear: each cue is tried
on a bounded window around the mention.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from ciops.triage import event_cues
from ciops.triage import speech_cues as cues
from ciops.triage.cue import Cue, pattern

Stance = Literal["blamed", "cleared", "subject", "located", "context", "named", "passed"]
Outcome = Literal["works", "fails", "same", "fails_with"]

_BEFORE: Final = 90
_AFTER: Final = 110
_BARE: Final = 24
_SOON: Final = 60
_REACH: Final = 400
_KEPT: Final = 2048
_ABSENT: Final = re.compile(
    r"[ *+-]{0,4}(?:(?:so|then|thus|and|also|hence|i.e.|there (?:is|was)|(?:i|we) (?:have|had|use))"
    r",? )?no ?$"
)
"""`No X.`: a sentence that only says that the thing is not there."""
_INSIDE: Final = re.compile(r"\bin(?:side)?\s{1,2}(?:(?:a|an|the)\s{1,2})?$")
_FLAGS: Final = re.compile(
    r"(?: --?[a-z][\w-]{1,30}(?:[= ](?!-)[\w.:/-]{0,39}\w(?= --|`| [a-z]))?){1,5}`?"
)
_CERTAIN: Final = re.compile(r"\b(?:from (?:\S{1,20} ){1,2}|no (?:\S{1,20} ){1,3})$")
"""Before what is then neither infinitive nor doubt: `from x to y loses it`, `no job can start`."""
_LIST_BEFORE: Final = re.compile(r"(?:[\w.-]{1,24}(?:,| and| or| nor|/)\s?){1,4}$")
_CALL: Final = re.compile(r"\([^()\n]{0,120}(?:\([^()\n]{0,60}\)[^()\n]{0,60})?\)")


@dataclass(slots=True)
class Mention:
    """One mention and what its clause says: `guessed` if hedged, `asked` if in a question.

    `outcome` is what was seen with or without the thing, where the clause tells of a trial: a
    stance that rests on a trial weighs more than an opinion. An `aside` of a title stands beside
    another part that its main clause is about.
    """

    stance: Stance
    guessed: bool = False
    asked: bool = False
    outcome: Outcome | None = None
    without: bool = False
    aside: bool = False


@dataclass(slots=True)
class Event:
    """One mention of something that happened: whether it is denied, only possible, or asked.

    `background`: only the setting of what is told (`the tool, run on a real hang, says …`).
    `supposed`: not told as it is, but as it may be, or was once believed to be.
    """

    denied: bool = False
    possible: bool = False
    asked: bool = False
    background: bool = False
    supposed: bool = False


@dataclass(slots=True)
class _Window:
    """The words around a mention: its sentence, and what it lies between.

    In lower case, without code marks; `shown` is what comes after as it is written.
    """

    sentence: str
    lead: str
    before: str
    after: str
    shown: str


@lru_cache(maxsize=_KEPT)
def judge_mention(text: str, start: int, end: int) -> Mention:
    """What the clause around text[start:end] says about it."""
    window = _window(text, start, end)
    guessed, asked = _tone(window.sentence)
    stance, outcome, without = _judged(window)
    return Mention(stance, guessed, asked, outcome, without)


@lru_cache(maxsize=1024)
def _tone(sentence: str) -> tuple[bool, bool]:
    """Whether a sentence is hedged, and whether it asks."""
    guessed = pattern(cues.HEDGE).search(sentence) is not None
    return guessed, pattern(cues.ASKS).search(sentence) is not None


def is_aside(title: str, start: int) -> bool:
    """Whether what starts there in a title stands in brackets, or tells when it happens."""
    return pattern(cues.SUBORDINATE).match(title[:start].lower()) is not None


@lru_cache(maxsize=_KEPT)
def judge_toggle(text: str, start: int, end: int) -> Outcome | None:
    """What setting the flag or variable at text[start:end] did: "works" if it helped."""
    window = _window(text, start, end)
    if _tone(window.sentence)[1]:
        return None
    return _outcome(window.after) or _outcome(window.lead)


@lru_cache(maxsize=_KEPT)
def judge_event(text: str, start: int, end: int) -> Event:
    """Whether the clause around text[start:end] says that it happened."""
    window = _window(text, start, end)
    denied = _is_denied(window, text[start:end]) or _is_answered_no(text, end)
    supposed = _is_supposed(window)
    background = _is_background(window)
    asked = "?" in window.sentence[-2:]
    return Event(denied, supposed or _tone(window.sentence)[0], asked, background, supposed)


def _is_denied(window: _Window, said: str) -> bool:
    """Whether it did not happen, or was the speaker's own doing."""
    if pattern(event_cues.EVENT_DENIED_BEFORE).search(window.before):
        return True
    if pattern(event_cues.EVENT_DENIED_AFTER).match(window.after):
        return True
    told = window.before + said.lower()
    own = "i was " in told or "i had " in told or "i'd " in told
    return own and pattern(event_cues.EVENT_OWN_WITHIN).search(told) is not None


def _is_background(window: _Window) -> bool:
    """Whether it is only the setting of what is told."""
    if pattern(event_cues.EVENT_BACKGROUND_BEFORE).search(window.before):
        return True
    return pattern(event_cues.EVENT_BACKGROUND_AFTER).match(window.after) is not None


def _is_supposed(window: _Window) -> bool:
    """Whether it may only be, or was taken for true once."""
    possible = pattern(event_cues.EVENT_POSSIBLE_BEFORE).search(window.before)
    if possible is None or _CERTAIN.search(window.before, 0, possible.start()):
        return False
    return pattern(event_cues.BELIEF_MENDED_AFTER).match(window.after) is None


def _is_answered_no(text: str, end: int) -> bool:
    return (
        "?" in text
        and pattern(event_cues.ANSWERED_NO).match(text[end : end + _AFTER].lower()) is not None
    )


def _judged(window: _Window) -> tuple[Stance, Outcome | None, bool]:
    """The stance, the outcome of a trial, and whether the trial was without the thing."""
    before, after = window.before, window.after
    if pattern(cues.NEGATED_BEFORE).search(before) or _negated_list(window):
        return "cleared", None, False
    if tried := _another_version(window) or _without(window):
        return tried
    if pattern(cues.BLAME_BEFORE).search(before):
        return "blamed", None, False
    if pattern(cues.CLEARED_AFTER).match(window.shown):
        versioned = _of_a_version(window)  # what is so in one version clears nothing
        return "context" if versioned else "cleared", None if versioned else _outcome(after), False
    if pattern(cues.ONLY_WITH_BEFORE).search(before):
        return "blamed", "fails", False
    if pattern(cues.BLAME_AFTER).match(after):
        return "blamed", None, False
    if alike := _alike(window):
        inside = alike == "fails_with" and _INSIDE.search(before)
        return _where(before, after) if inside else "context", alike, False
    if pattern(cues.AGENT_BEFORE).search(before):
        return "subject", None, False
    if pattern(cues.WITH_BEFORE).search(before):
        outcome = _outcome(after)
        return ("cleared" if outcome == "works" else _where(before, after)), outcome, False
    return _mentioned(window), None, False


def _alike(window: _Window) -> Outcome | None:
    """`the same with X`, `X too`; that it `hangs with X` is so only beside another one."""
    lead = window.lead[-_BEFORE:]
    if pattern(cues.SAME_WITH_BEFORE).search(lead) or pattern(cues.TOO_AFTER).match(window.after):
        return "same"
    return "fails_with" if pattern(cues.FAILS_WITH_BEFORE).search(lead) else None


def _without(window: _Window) -> tuple[Stance, Outcome | None, bool] | None:
    left_out = pattern(cues.WITHOUT_BEFORE).search(window.before)
    off = left_out or pattern(cues.OFF_AFTER).match(window.after)
    return _elimination(window) if off else None


def _another_version(window: _Window) -> tuple[Stance, Outcome | None, bool] | None:
    """`X 2.26 fixes it`, `with X 2.26 it works`: what one version mends is of X, and is not X's
    innocence; that a change of version makes no difference clears it."""
    own = pattern(cues.OWN_VERSION_AFTER).match(window.after)
    changed = pattern(cues.CHANGED_BEFORE).search(window.before)
    if own is None and changed is None:
        return None
    outcome = _outcome(window.after[own.end() if own else 0 :][:_SOON])
    if outcome == "works":
        return "blamed", outcome, False
    return ("cleared", outcome, False) if changed and outcome == "same" else None


def _of_a_version(window: _Window) -> bool:
    """`X works on 1.6`, `on 1.5, X is fine`."""
    return (
        pattern(cues.VERSION_AFTER).match(window.after) is not None
        or pattern(cues.VERSION_BEFORE).search(window.lead[-_BEFORE:]) is not None
    )


def _mentioned(window: _Window) -> Stance:
    """The stance of a mention that tells of no trial and blames nothing outright."""
    before, after = window.before, window.after
    if pattern(cues.SETTING_BEFORE).search(window.lead[-_BEFORE:]):
        return "context"
    if pattern(cues.PASSED_BEFORE).search(before):
        return "passed"
    if pattern(cues.ASKED_OF_BEFORE).search(before):
        return "subject"
    if pattern(cues.CONTEXT_AFTER).match(after):
        return "context"
    if pattern(cues.DEFECT_VERB).match(after):
        return "subject"
    return "context" if pattern(cues.CONTEXT_BEFORE).search(before) else "named"


def _where(before: str, after: str) -> Stance:
    """`a leak in X` is located in X; `a leak with X`, or `in X training`, only happens there."""
    if pattern(cues.CONTEXT_AFTER).match(after) or pattern(cues.CONTEXT_BEFORE).search(before):
        return "context"
    return "located" if pattern(cues.LOCATED_BEFORE).search(before) else "context"


def _negated_list(window: _Window) -> bool:
    """`not A, B or X`: the negation stands before the list that the mention is in."""
    lead = window.lead[-_BEFORE:]
    match = _LIST_BEFORE.search(lead) if "," in lead else None
    if match is None or "," not in match[0]:
        return False
    return pattern(cues.NEGATED_BEFORE).search(lead[: match.start()]) is not None


def _elimination(window: _Window) -> tuple[Stance, Outcome | None, bool]:
    """Without the thing: if it still fails the thing is cleared, if it works it is to blame."""
    outcome = _outcome(window.after) or _outcome(window.lead)
    if outcome is None:
        ends = len(window.after) <= _BARE or window.after[0] in ").,;"
        bare = ends and _ABSENT.match(window.before) is not None
        return ("cleared" if bare else "context"), None, True
    return ("blamed" if outcome == "works" else "cleared"), outcome, True


def _outcome(text: str) -> Outcome | None:
    """What happened, by the first word that tells; "still works" is that it works."""
    works = pattern(cues.WORKS).search(text)
    fails = pattern(cues.FAILS).search(text)
    if works and (fails is None or works.start() <= fails.start()):
        return "works"
    if fails is None:
        return None
    return "same" if pattern(cues.ALIKE).match(text, fails.start()) else "fails"


def _window(text: str, start: int, end: int) -> _Window:
    low, sentence_end, high = _sentence(text, start, end)
    before = text[max(low, start - _BEFORE) : start].lower()
    shown = _bare(text[_past_call(text, end) : min(sentence_end, end + _AFTER)])
    return _Window(
        sentence=_bare(text[low:high]).lower(),
        lead=_bare(text[low:start]).lower(),
        before=_bare(before[_last_end(cues.CLAUSE_END, before) :]),
        after=shown.lower(),
        shown=shown,
    )


def _bare(text: str) -> str:
    """Without the marks of code, stress and quotation."""
    return text.replace("`", "").replace("*", "").replace('"', "")


def _past_call(text: str, end: int) -> int:
    """Past the arguments of a call or a command: `f(x) never returns`, `torchrun --tee 3 fails`."""
    if not text.startswith(("(", " -"), end):
        return end
    match = _CALL.match(text, end) or _FLAGS.match(text, end)
    return match.end() if match else end


def _sentence(text: str, start: int, end: int) -> tuple[int, int, int]:
    """Where the sentence around text[start:end] starts, where its words end, where it ends."""
    low, limit = max(0, start - _REACH), min(len(text), end + _REACH)
    for opening, closing in _sentence_ends(text):
        if closing <= start:
            low = max(low, closing)
        elif opening >= end:
            return (low, opening, closing) if opening < limit else (low, limit, limit)
    return low, limit, limit


@lru_cache(maxsize=512)
def _sentence_ends(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(match.span() for match in pattern(cues.SENTENCE_END).finditer(text))


def _last_end(boundary: Cue, text: str) -> int:
    last = 0
    for match in pattern(boundary).finditer(text):
        last = match.end()
    return last
