"""Read a policy's language into a lexicon, and what its signals say into an index of sayings."""

from __future__ import annotations

from collections.abc import Collection

from ciops.plumbing.yaml_file import Reader, nearest
from ciops.triage.lexicon import BUILT_IN, Lexicon
from ciops.triage.policy import Signal
from ciops.triage.sayings import SayingIndex, concepts_of


def read_sayings(signals: Collection[Signal], language: Reader, lexicon: Lexicon) -> SayingIndex:
    """The sayings of all signals; a concept that is not defined is refused."""
    sayings = SayingIndex(lexicon)
    concepts = (*BUILT_IN, *language.child("concepts").mapping())
    for number, signal in enumerate(signals):
        named = (name for text in signal.says for name in concepts_of(text))
        for name in (*named, *signal.without):
            if name not in concepts:
                problem = f'{signal.id}: there is no concept "{name}"'
                raise language.document.error(signal.place, problem, _meant(name, concepts))
        sayings.add(number, signal.says, signal.without, frozenset[str](signal.zones))
    return sayings


def read_lexicon(language: Reader) -> Lexicon:
    """The words of a policy's language as concepts."""
    language.mapping(("concepts", "opposites", "heads", "labels", "joins"))
    concepts = language.child("concepts")
    words = {name: concepts.texts(name) for name in concepts.mapping()}
    known = (*BUILT_IN, *words)
    pairs = {}
    for key in ("opposites", "heads", "labels"):
        reader = language.child(key)
        pairs[key] = {name: reader.choice(name, known) for name in reader.mapping(known)}
    joins = language.texts("joins", ())
    return Lexicon(words, pairs["opposites"], pairs["heads"], joins, pairs["labels"])


def _meant(name: str, known: Collection[str]) -> str:
    close = nearest(name, known)
    return f'Did you mean "{close}"?' if close else "Define it under language.concepts"
