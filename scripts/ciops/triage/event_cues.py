"""How it is said that an event was none: denied, only possible, one's own, or only talked of.

English, with turns of Japanese and French. `BEFORE` patterns end where the mention starts, `AFTER`
patterns start where it ends, `WITHIN` patterns are in the mention; code marks are stripped before.
"""

from __future__ import annotations

from typing import Final

from ciops.triage.cue import Cue, cue

EVENT_DENIED_BEFORE: Final[Cue] = cue(
    r"\b(?:no|not|without|isn'?t|wasn'?t|doesn'?t|does not|didn'?t|don'?t|won'?t|wouldn'?t"
    r"|hasn'?t|haven'?t|can'?t|cannot|nor|neither|free of|instead of|rather than|avoid(?:s|ed"
    r"|ing)?|prevent(?:s|ed|ing)?"
    r"|stopp?(?:s|ed)?|fix(?:es|ed)?|rul(?:ed|ing) out"
    r"|nothing(?! (?:after|behind|more|further))|zero|hardly"
    r"|sans)\s{1,2}(?!(?:return|finish|complete|work|start|proceed|converge|respond|terminate|exit"
    r"|continue|progress|run|succeed|(?<=without )(?:an )?end)\w{0,3}\b)"
    r"(?:[\w'/-]{1,16}\s{1,2}){0,3}$",
    r"\bnever\s{1,2}(?:[\w'/-]{1,16}\s{1,2})?$",
    r"\b(?:non-?|anti-)$",
    r"\b(?:my|our) (?:own|custom|home-?grown|in-?house|hand-?written|private|patched|forked"
    r"|vendor's) (?:[\w.-]{1,20} ){0,2}(?:\w{0,12}(?:writer|reader|planner|kernel)|extension"
    r"|op|operator|function|backend|store|fork|patch|plugin|build)s? (?:[\w-]{1,12} ){0,3}$",
)
"""It did not happen, or it was the speaker's own: `our own writer wrote the …`."""
EVENT_POSSIBLE_BEFORE: Final[Cue] = cue(
    r"\b(?:can|could|may|might|would|should|potentially|possibly|eventually|if|whether|unless"
    r"|in case|to|risk of|chance of|prone to|likely to|lead to|worry|worried|afraid|fear"
    r"|in theory|theoretically|thought|assumed|believed|suspected|blamed|feared)"
    r"\s{1,2}(?:[\w'/-]{1,16}\s{1,2}){0,3}$",
)
EVENT_OWN_WITHIN: Final[Cue] = cue(
    r"\bi(?: was| had been) \w{2,12}ing (?:at |to |from )?(?:the|a|my) (?:wrong|other|old|stale)\b",
    r"\bi(?:'d| had) (?:just |only |wrongly )?\w{3,12} (?:at |to |from )?(?:the|a|my) "
    r"(?:wrong|other|old|stale)\b",
)
"""Whose doing it was: `I was reading the wrong …`, `I had passed the wrong …`."""
EVENT_BACKGROUND_BEFORE: Final[Cue] = cue(
    r"\b(?:on|of|for|about|during|like|upon|debug(?:ging)?|analy[sz](?:e|es|ing)|diagnos(?:e|es"
    r"|ing)|investigat(?:e|es|ing)|provok(?:e|es|ed|ing)|simulat(?:e|es|ed|ing)|forc(?:e|es|ed"
    r"|ing)|inject(?:s|ed|ing)?|looks?|looked)\s{1,2}(?:(?:a|an|the|our|such|any|each|every"
    r"|real|deliberate|artificial|true|genuine|nccl|collective)\s{1,2}){0,3}$",
)
EVENT_BACKGROUND_AFTER: Final[Cue] = cue(
    r"^\w{0,3} (?:is|are|gets?) (?:reported|shown|listed|logged|counted|printed|detected|noticed)\b"
)
"""`A worker that crashed is reported as …`: the report is what is told of."""
EVENT_DENIED_AFTER: Final[Cue] = cue(
    r"^.{0,16}(?:ません|なかった|ない(?:です)?[。、]|しない)",
    r"^\s{0,3}[:|]\s{0,3}no\b(?=\s{0,3}(?:[|,.;)]|$))",
    r"^\W{0,3}(?:is|was) gone\b",
    r"^(?:[^.,;()]{0,40},)? (?:of course|naturally|obviously|as (?:expected|documented|intended"
    r"|it should|they should|the (?:docs?|documentation) says?|the docs say))\b",
)
BELIEF_MENDED_AFTER: Final[Cue] = cue(
    r"^ (?:\w{1,8} )?(?:is|was|were|had been|got) (?:fixed|gone|solved|resolved|mended)\b"
)
"""`I thought that it was fixed`: it had been there all the same."""
ANSWERED_NO: Final[Cue] = cue(
    r"^[^.!?]{0,60}\?{1,3}\W{0,3}(?:no|nope|nein|non)\b(?! (?:idea|error|output|log|clue))"
)
"""Behind a question that is answered at once: `Is it X? No, Y.`"""
