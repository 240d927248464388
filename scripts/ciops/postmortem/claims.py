"""Whether the summary or the validation claims more than was tested.

A claim is a clause that speaks of success and of everything ("fixed on all platforms"), of
something that the record says was not tested, or of what no test can show ("will never happen
again").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ciops.postmortem.patterns import within
from ciops.postmortem.prose_rules import Guide
from ciops.postmortem.prose_view import Sentence, Span

# Proper names, versions and counted things: `TCP`, `PyPy`, `K7`, `32 nodes`.
_NAME: Final = re.compile(
    r"[0-9]+[ \u00a0\u202f](?:GPU|CPU|[a-zà-ÿ]{3,})s?\b"
    r"|(?<![A-Za-z])[A-Z](?:[a-z]{3,}|[a-z]*[A-Z0-9][A-Za-z0-9+.]*)(?![A-Za-z])"
)
# Of what was left out, each: "PyPy and zip-imported plugins"; a phrase that says enough by itself.
_CAMEL: Final = re.compile(r"\w[A-Z0-9]")
_PARTED: Final = re.compile(r",| (?:and|or|nor|et|ou|ni) |、|および|及び|または|と(?=[^の])")
_LONG: Final = r"[\w)] [\w(]|\w-\w|[一-龥ァ-ヶー]{4,}"
_JAPANESE: Final = r"[一-龥]{2,}|[ァ-ヶー]{3,}"


@dataclass(frozen=True, slots=True)
class Scope:
    """What a record says was tested and was not, as text, and whether performance was measured."""

    tested: str = ""
    not_tested: str = ""
    measured_performance: bool = False


def overclaims(sentence: Sentence, scope: Scope, guide: Guide) -> Iterator[Span]:
    """Where a sentence claims too much: one stretch a clause."""
    for start, end in _clauses(sentence.text, guide):
        clause = sentence.text[start:end]
        said = sentence.phrase(start, end) if clause else ""
        found = [*_absolute(clause, guide), *_performance(clause, scope, guide)]
        if _is_claim(clause, guide):
            found += [*_universal(clause, scope, guide), *_named(clause, said, scope, guide)]
        if found:
            first, last = min(a for a, _ in found), max(b for _, b in found)
            yield start + first, start + last


def _clauses(text: str, guide: Guide) -> Iterator[Span]:
    position = 0
    for match in guide.claims["clause_end"].finditer(text):
        yield position, match.start()
        position = match.end()
    yield position, len(text)


def _is_claim(clause: str, guide: Guide) -> bool:
    claims = guide.claims
    denied = claims["not_claimed"].search(clause)
    return not denied and bool(claims["success"].search(clause))


def _absolute(clause: str, guide: Guide) -> Iterator[Span]:
    for match in guide.absolute.finditer(clause):
        around = clause[max(0, match.start() - 25) : match.start()], clause[match.end() :]
        if not any(guide.claims["denied"].search(text) for text in around):
            yield match.span()


def _performance(clause: str, scope: Scope, guide: Guide) -> Iterator[Span]:
    if not scope.measured_performance:
        for match in guide.claims["performance"].finditer(clause):
            yield match.span()


def _universal(clause: str, scope: Scope, guide: Guide) -> Iterator[Span]:
    """ "all platforms", unless it is counted, listed, or word for word what was tested."""
    untested_words = _words(" ".join(_untested(scope.not_tested, guide)))
    for key in ("all", "everywhere", "any_noun"):
        for match in guide.claims[key].finditer(clause):
            near = clause[max(0, match.start() - 12) : match.end() + 25]
            if guide.claims["counted"].search(near) or _is_listed(match.group(), scope):
                continue
            if key != "any_noun" or _words(match.group()) & untested_words:
                yield match.span()


def _is_listed(phrase: str, scope: Scope) -> bool:
    """Whether the record lists it as tested, with or without its preposition."""
    tested, phrase = scope.tested.casefold(), phrase.strip().casefold()
    bare = phrase.partition(" ")[2]
    return phrase in tested or (bool(bare) and bare in tested.split("\n"))


def _words(text: str) -> set[str]:
    """Words long enough to mean something, without a plural's ending."""
    latin = {word.rstrip("sx") for word in re.findall(r"[a-zà-ÿ]{4,}", text.casefold())}
    japanese = within(_JAPANESE, text)
    return latin | set(japanese.findall(text)) if japanese else latin


def _untested(not_tested: str, guide: Guide) -> Iterator[str]:
    """The clauses that say what was left out, not what alone was tested."""
    for clause in re.split(r"[.;。；](?:\s|$|(?<=[。；]))", not_tested.replace("’", "'")):
        claims = guide.claims
        if claims["untested"].search(clause) and not claims["only"].search(clause):
            yield clause


def _named(clause: str, said: str, scope: Scope, guide: Guide) -> Iterator[Span]:
    """Something by name that the record says was not tested; `said` is the clause as written."""
    for untested in _untested(scope.not_tested, guide):
        left_out = guide.claims["excepted"].without(untested)
        for whole in _names(left_out, scope, guide):
            # A capital at the start of a sentence makes no name, where there are capitals.
            first = 0 if guide.language == "ja" or whole.flags & re.IGNORECASE else 1
            hits = [hit.span() for hit in whole.finditer(clause) if hit.start() >= first]
            yield from hits
            if not hits and clause != said and whole.search(said, first):
                yield 0, len(clause)


def _names(left_out: str, scope: Scope, guide: Guide) -> Iterator[re.Pattern[str]]:
    """What was left out, by proper names and by phrases of some length, as patterns."""
    for name in dict.fromkeys(_NAME.findall(left_out)):
        whole = re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])")
        if not whole.search(scope.tested):
            yield re.compile(whole.pattern, re.IGNORECASE) if _CAMEL.search(name) else whole
    subject = guide.claims["left_out"].match(left_out)
    for phrase in _PARTED.split(subject["what"]) if subject else ():
        bare = guide.claims["determiner"].without(phrase.strip())
        long = within(_LONG, bare)
        if long and long.search(bare) and bare.casefold() not in scope.tested.casefold():
            yield re.compile(rf"(?<!\w){re.escape(bare)}", re.IGNORECASE)
