"""Read the signals of a policy file: which section speaks for which topic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, cast

from ciops.plumbing.yaml_file import Reader, shown
from ciops.triage.pattern_lint import first_fault, joinable, mending
from ciops.triage.patterns import term_pattern
from ciops.triage.policy import ROLES, Role, Signal, SignalKind
from ciops.triage.reading_rules import ZONES, Zone

_SIGNAL_KEYS: Final = (
    "id", "role", "zones", "terms", "patterns", "says", "without", "case_sensitive", "later",
    "by", "toggle", "secondary", "yields", "trial", "matches", "near_misses", "note",
)  # fmt: skip
_ZONE_SETS: Final[dict[str, frozenset[Zone]]] = {
    "spoken": frozenset(("title", "prose", "steps")),
    "machine": frozenset(("traceback", "cpp", "log")),
    "ran": frozenset(("code", "shell")),
    "any": frozenset(zone for zone in ZONES if zone not in ("env", "template")),
}
_NAME_KINDS: Final[dict[str, SignalKind]] = {
    "names": "name",
    "identifiers": "identifier",
    "background": "background",
}
REPRODUCTION_GROUPS: Final = ("present", "out_of_scope", "absent", "exempt", "confirmed")


def read_signals(top: Reader) -> Iterator[Signal]:
    """Every signal of a policy, each under the topic of its section."""
    for name, reader in top.entries("components"):
        yield from _named(name, reader)
        yield from _signals_of(reader, f"component:{name}")
    yield from _signals_of(top.child("in_scope"), "in_scope")
    for section, topic in (("out_of_scope", "apart"), ("high_priority", "priority")):
        for name, reader in top.entries(section):
            yield from _signals_of(reader, f"{topic}:{name}")
    for section, topic in (("groups", "group"), ("kinds", "kind")):
        for name, reader in top.entries(section):
            reader.mapping(("signals",))
            yield from _signals_of(reader, f"{topic}:{name}")
    for name in REPRODUCTION_GROUPS:
        yield from _signals_of(top.child("reproduction").child(name), f"reproduction:{name}")


def _named(name: str, reader: Reader) -> Iterator[Signal]:
    """A component's names are signals of their own, weighed by what is said of them."""
    for key, kind in _NAME_KINDS.items():
        if names := reader.texts(key, ()):
            _refuse_runaways(reader, key, names)
            yield Signal(
                id=f"{name}_{kind}",
                topic=f"component:{name}",
                role="api",
                zones=_ZONE_SETS["spoken"],
                terms=names,
                kind=kind,
                place=(*reader.path, key),
            )


def _signals_of(reader: Reader, topic: str) -> Iterator[Signal]:
    for item in reader.items("signals"):
        yield read_signal(item, topic)


def read_signal(reader: Reader, topic: str) -> Signal:
    """One signal; a pattern that could run away is refused."""
    keys = reader.mapping(_SIGNAL_KEYS)
    patterns = tuple(map(joinable, reader.texts("patterns", ())))
    terms = reader.texts("terms", ())
    says = reader.texts("says", ())
    if not (patterns or terms or says):
        raise reader.error("has no terms, patterns or says", "Give at least one of them")
    _refuse_runaways(reader, "patterns", patterns)
    _refuse_runaways(reader, "terms", terms)
    return Signal(
        id=reader.text("id"),
        topic=topic,
        role=cast(Role, reader.choice("role", ROLES)),
        zones=_zones(reader) if "zones" in keys else _ZONE_SETS["any"],
        terms=terms,
        patterns=patterns,
        says=says,
        without=reader.texts("without", ()),
        case_sensitive=reader.flag("case_sensitive", False),
        kind="toggle" if reader.flag("toggle", False) else "words",
        later=reader.flag("later", False),
        by=reader.choice("by", ("anybody", "party", "reporter", "maintainer"), "anybody"),  # type: ignore[arg-type]
        secondary=reader.flag("secondary", False),
        yields=reader.flag("yields", False),
        trial=reader.flag("trial", False),
        matches=reader.texts("matches", ()),
        near_misses=reader.texts("near_misses", ()),
        place=reader.path,
    )


def _refuse_runaways(reader: Reader, key: str, written: Sequence[str]) -> None:
    """DocumentError for the first pattern, or term with several `*`, that could run away."""
    for index, text in enumerate(written):
        if key != "patterns" and text.count("*") < 2:
            continue
        what, pattern = ("pattern", text) if key == "patterns" else ("term", term_pattern(text))
        if fault := first_fault(pattern):
            step = mending(fault) if what == "pattern" else "Write it with fewer *"
            raise reader.document.error(
                (*reader.path, key, index), f"{what} {shown(text)} {fault}", step
            )


def _zones(reader: Reader) -> frozenset[Zone]:
    names = reader.choices("zones", (*ZONES, *_ZONE_SETS))
    found: set[Zone] = set()
    for name in names:
        found |= _ZONE_SETS.get(name) or {cast(Zone, name)}
    return frozenset(found)
