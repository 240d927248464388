"""Load a triage policy from YAML into frozen data, with errors that name the line and the key."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from ciops.errors import UsageError
from ciops.plumbing.yaml_file import Document, Reader, load, shown
from ciops.triage.anchor_index import AnchorIndex
from ciops.triage.blocks import heading_name
from ciops.triage.lexicon import Lexicon
from ciops.triage.pattern_lint import first_fault, joinable, mending, unreadable
from ciops.triage.policy import (
    COMMENTS,
    STANDARD,
    CommentRule,
    Component,
    Labels,
    Override,
    Policy,
    Profile,
    Reproduction,
    Route,
    Scoring,
    Signal,
)
from ciops.triage.policy_families import read_families
from ciops.triage.policy_language import read_lexicon, read_sayings
from ciops.triage.policy_signals import REPRODUCTION_GROUPS, read_signal, read_signals
from ciops.triage.reading_rules import ReadingRules
from ciops.triage.version_words import version_words

_TOP: Final = (
    "name", "version", "bots", "labels", "routes", "profiles", "default_profile", "reach",
    "reading", "scoring", "components", "pairs", "alternatives", "interchangeable",
    "when_alone", "language", "overrides", "in_scope", "out_of_scope", "groups", "high_priority",
    "kinds", "reproduction", "comments",
)  # fmt: skip
_FORBIDDEN: Final = ("high priority",)


def load_policy(path: str | Path) -> Policy:
    """Load and validate a policy; raises DocumentError (a UsageError) for the first mistake."""
    return policy_of(load(path))


def policy_of(document: Document) -> Policy:
    """The policy of a parsed document."""
    top = Reader(document)
    if not top.mapping(_TOP):
        raise document.error((), "is empty", "Begin with a copy of examples/own-policy/policy.yml")
    routes = tuple(_routes(top))
    components = {component.id: component for component in _components(top, routes)}
    signals = tuple(read_signals(top))
    _refuse_twins(top, signals)
    lexicon = read_lexicon(top.child("language"))
    policy = Policy(
        name=top.text("name"),
        version=top.text("version"),
        labels=_labels(top.child("labels")),
        routes=routes,
        profiles=dict(_profiles(top)),
        default_profile=top.choice("default_profile", top.child("profiles").mapping()),
        reaches_everywhere=top.choice("reach", ("classified", "everywhere"), "classified")
        == "everywhere",
        bot_logins=_folded(top.child("bots"), "logins"),
        parent_bot_logins=_folded(top.child("bots"), "parents"),
        reading=_reading(top.child("reading")),
        scoring=_scoring(top.child("scoring")),
        components=components,
        pairs=frozenset(_pairs(top, components)),
        alternatives=tuple(_component_sets(top.child("alternatives"), components)),
        interchangeable=tuple(_component_sets(top.child("interchangeable"), components)),
        when_alone=frozenset(top.texts("when_alone", ())),
        signals=signals,
        overrides=tuple(_overrides(top, components, routes)),
        apart=tuple(read_families(top.child("out_of_scope"))),
        priorities=tuple(read_families(top.child("high_priority"))),
        comments=dict(_comments(top, lexicon)),
        reproduction=_reproduction(top.child("reproduction")),
        noise_frames=top.child("reading").texts("noise_frames", ()),
        product_frames=top.child("reading").texts("product_frames", ()),
        version_shapes=_version_shapes(top.child("reading")),
        versions=version_words(_patterns(top.child("reading"), "version_numbers"), lexicon),
        owners=_owners(components.values()),
        index=_index_of(signals),
        sayings=read_sayings(signals, top.child("language"), lexicon),
    )
    _refuse_forbidden(top, policy)
    return policy


def _index_of(signals: Collection[Signal]) -> AnchorIndex:
    index = AnchorIndex()
    for number, signal in enumerate(signals):
        zones = frozenset[str](signal.zones)
        index.add(number, signal.terms, signal.patterns, signal.case_sensitive, zones)
    return index


def _folded(reader: Reader, key: str) -> frozenset[str]:
    return frozenset(login.casefold() for login in reader.texts(key, ()))


def _labels(reader: Reader) -> Labels:
    reader.mapping(("queue", "review", "reproduction", "performance", "types", "forbidden"))
    types = {name: reader.child("types").text(name) for name in ("feature", "enhancement")}
    return Labels(
        queue=reader.text("queue"),
        review=reader.text("review"),
        reproduction=reader.text("reproduction"),
        performance=reader.text("performance", None),
        types=types,
        forbidden=frozenset(reader.texts("forbidden", _FORBIDDEN)),
    )


def _routes(top: Reader) -> Iterator[Route]:
    for reader in top.items("routes"):
        reader.mapping(("id", "label", "default", "classified"))
        yield Route(
            reader.text("id"),
            reader.text("label"),
            reader.flag("default", False),
            reader.flag("classified", False),
        )
    ids = [reader.text("id") for reader in top.items("routes")]
    for index, name in enumerate(ids):
        if name in ids[:index]:
            place = ("routes", index)
            raise top.document.error(place, f"route id {name!r} is used twice", "Rename one")
    if sum(reader.flag("default", False) for reader in top.items("routes")) != 1:
        raise top.error("must have exactly one default route", "Set default: true on one", "routes")


def _profiles(top: Reader) -> Iterator[tuple[str, Profile]]:
    for name, reader in top.entries("profiles"):
        reader.mapping(("processed", "classified", "shared", "searches_comments"))
        yield (
            name,
            Profile(
                name,
                reader.text("processed"),
                reader.text("classified", None),
                reader.flag("shared", False),
                reader.flag("searches_comments", True),
            ),
        )


def _reading(reader: Reader) -> ReadingRules:
    reader.mapping(
        (
            "drop_sections",
            "form_headings",
            "template_lines",
            "prefixes",
            "dropped",
            "dump_start",
            "footer_start",
            "footer_keeps",
            "noise_frames",
            "product_frames",
            "version_shapes",
            "version_numbers",
        ),
    )
    return ReadingRules(
        drop_sections=frozenset(map(heading_name, reader.texts("drop_sections", ()))),
        form_headings=frozenset(map(heading_name, reader.texts("form_headings", ()))),
        template_lines=frozenset(t.casefold() for t in reader.texts("template_lines", ())),
        prefixes=_joined(reader, "prefixes"),
        dropped=tuple(map(re.compile, _patterns(reader, "dropped"))),
        dump_start=_joined(reader, "dump_start"),
        footer_start=_joined(reader, "footer_start"),
        footer_keeps=_joined(reader, "footer_keeps"),
    )


def _version_shapes(reader: Reader) -> tuple[re.Pattern[str], ...]:
    key = "version_shapes"
    return tuple(_compiled(reader, key, pattern) for pattern in _patterns(reader, key))


def _patterns(reader: Reader, key: str) -> tuple[str, ...]:
    patterns = tuple(map(joinable, reader.texts(key, ())))
    for pattern in patterns:
        if fault := first_fault(pattern):
            raise _unusable(reader, key, pattern, fault)
    return patterns


def _joined(reader: Reader, key: str) -> re.Pattern[str] | None:
    patterns = _patterns(reader, key)
    return _compiled(reader, key, *patterns) if patterns else None


def _compiled(reader: Reader, key: str, *patterns: str) -> re.Pattern[str]:
    """One regular expression for several patterns."""
    joined = "|".join(f"(?:{text})" for text in patterns)
    try:
        return re.compile(joined)
    except re.error:
        bad = next(text for text in (*patterns, joined) if unreadable(text))
        raise _unusable(reader, key, bad, unreadable(bad) or "") from None


def _unusable(reader: Reader, key: str, pattern: str, fault: str) -> UsageError:
    return reader.error(f"pattern {shown(pattern)} {fault}", mending(fault), key)


def _scoring(reader: Reader) -> Scoring:
    """The points of a policy: what it does not say is as usual."""
    given = STANDARD
    shares = ("hedged", "aside", "superseded", "minimum", "share", "pair_share", "high")
    reader.mapping(("roles", "zones", "speakers", *shares, "most_modules"))
    said = {name: reader.number(name, getattr(given, name)) for name in shares}
    return Scoring(
        roles=_numbers(reader.child("roles"), given.roles),
        zones=_numbers(reader.child("zones"), given.zones),
        speakers=_numbers(reader.child("speakers"), given.speakers),
        most_modules=int(reader.number("most_modules", given.most_modules)),
        **said,
    )


def _numbers(reader: Reader, usual: Mapping[str, float]) -> dict[str, float]:
    reader.mapping(usual)
    return {key: reader.number(key, value) for key, value in usual.items()}


def _components(top: Reader, routes: Collection[Route]) -> Iterator[Component]:
    for name, reader in top.entries("components"):
        reader.mapping(
            (
                "label",
                "route",
                "names",
                "identifiers",
                "background",
                "frames",
                "passing_frames",
                "proves_scope",
                "signals",
            )
        )
        yield Component(
            name,
            reader.text("label", None),
            reader.choice("route", [route.id for route in routes]),
            reader.texts("names", ()),
            reader.texts("identifiers", ()),
            reader.texts("background", ()),
            reader.texts("frames", ()),
            reader.texts("passing_frames", ()),
            reader.flag("proves_scope", True),
        )


def _owners(components: Iterable[Component]) -> tuple[tuple[str, str, bool], ...]:
    found = [
        (fragment, component.id, passing)
        for component in components
        for fragments, passing in ((component.frames, False), (component.passing, True))
        for fragment in fragments
    ]
    return tuple(sorted(found, key=lambda item: -len(item[0])))


def _pairs(top: Reader, components: dict[str, Component]) -> Iterator[frozenset[str]]:
    labels = [component.label for component in components.values() if component.label]
    for index, reader in enumerate(top.items("pairs")):
        pair = top.document.data["pairs"][index]
        if not (isinstance(pair, list) and len(pair) == 2):
            raise reader.error("must be a pair of module labels", "Write [label, label]")
        for label in pair:
            if label not in labels:
                raise reader.error(f"{label!r} is no component's label", "Use a component's label")
        yield frozenset(pair)


def _component_sets(groups: Reader, components: Collection[str]) -> Iterator[frozenset[str]]:
    for name in groups.mapping():
        yield frozenset(groups.choices(name, components))


def _refuse_twins(top: Reader, signals: Collection[Signal]) -> None:
    seen: set[str] = set()
    for signal in signals:
        if signal.id in seen:
            raise top.document.error(
                signal.place, f"signal id {signal.id!r} is used twice", "Rename one"
            )
        seen.add(signal.id)


def _refuse_forbidden(top: Reader, policy: Policy) -> None:
    """A label that is for people alone must not be one that a plan adds."""
    forbidden = {name.casefold() for name in policy.labels.forbidden}
    for profile in policy.profiles.values():
        for label in sorted(policy.allowed_labels(profile)):
            if label.casefold() in forbidden:
                words = f"{label!r} is forbidden, and added all the same"
                raise top.error(words, "Take it off one of the lists", "labels")


def _overrides(
    top: Reader, components: Collection[str], routes: Collection[Route]
) -> Iterator[Override]:
    families = top.child("high_priority").mapping()
    addable = [*components, *(f"priority:{name}" for name in families)]
    addable += [f"group:{name}" for name, _ in top.entries("groups")]
    for reader in top.items("overrides"):
        reader.mapping(("id", "when", "unless", "context", "adds", "sets_aside", "route", "note"))
        yield Override(
            reader.text("id"),
            reader.texts("when"),
            reader.texts("unless", ()),
            reader.choices("context", components, ()),
            reader.choices("adds", addable, ()),
            reader.texts("sets_aside", ()),
            reader.choice("route", [route.id for route in routes], None),
            reader.text("note", ""),
        )


def _comments(top: Reader, lexicon: Lexicon) -> Iterator[tuple[str, CommentRule]]:
    given = top.child("comments").mapping(COMMENTS)
    for name in COMMENTS:
        if name not in given:
            words = f"lacks {name!r}, which a plan may leave"
            raise top.error(words, "Give it a marker", "comments")
    for name, reader in top.entries("comments"):
        reader.mapping(("marker", "equivalents"))
        items = reader.items("equivalents")
        signals = tuple(read_signal(item, f"comment:{name}") for item in items)
        sayings = read_sayings(signals, top.child("language"), lexicon)
        yield name, CommentRule(name, reader.text("marker"), signals, sayings)


def _reproduction(reader: Reader) -> Reproduction:
    reader.mapping(("touches", "template_code", "launchers", *REPRODUCTION_GROUPS))
    return Reproduction(
        frozenset(reader.texts("touches", ())),
        reader.texts("template_code", ()),
        reader.texts("launchers", ()),
    )
