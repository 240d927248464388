"""Read a record from YAML, collecting every fault in it instead of stopping at the first.

The published schema is `config/post-mortem-render/record.schema.json`; a test holds the two
together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeVar

from ciops.plumbing.yaml_file import Document, DocumentError, key_path, nearest, parse, shown
from ciops.postmortem import record as r
from ciops.postmortem.wording import Words, load_words

Problem = Literal[
    "missing", "unknown-value", "unknown-key", "wrong-type", "part-of-fix", "yaml-syntax"
]
MALFORMED: Final[frozenset[Problem]] = frozenset({"yaml-syntax", "wrong-type", "unknown-key"})
# Control characters and those that reverse the direction of text: nobody sees them.
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
T = TypeVar("T")
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a record; `path` is written as `action_items[1].owner`."""

    path: str
    problem: Problem
    suggestion: str
    line: int | None = None

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        path = f"{self.path}: " if self.path else ""
        return f"{place}{path}{self.problem}. {self.suggestion}".rstrip()


@dataclass(frozen=True, slots=True)
class Reading:
    """What could be read; `record` is what is left when every faulty field is taken as absent."""

    record: r.Record
    faults: tuple[Fault, ...] = ()
    document: Document | None = None

    @property
    def malformed(self) -> bool:
        return any(fault.problem in MALFORMED for fault in self.faults)


def read_record(
    text: str,
    name: str,
    language: r.Language = "en",
    words_of: Callable[[r.Language], Words] = load_words,
) -> Reading:
    """Read record text; `language` is what a record without one is written in."""
    try:
        document = parse(text, name)
    except DocumentError as error:
        suggestion = ". ".join(part for part in (error.what, error.next_step) if part)
        return Reading(r.Record(), (Fault("", "yaml-syntax", suggestion, error.line),))
    spoken = document.data.get("language") if isinstance(document.data, dict) else None
    words = words_of(next((known for known in r.LANGUAGES if known == spoken), language))
    place = _Place(document, (), document.data, [], words)
    record = _record(place, language)
    faults = sorted(place.faults, key=lambda fault: (fault.line or 0, fault.path))
    return Reading(record, tuple(faults), document)


@dataclass(slots=True)
class _Place:
    """One value of the document, and the faults found so far."""

    document: Document
    path: Path
    value: Any
    faults: list[Fault] = field(repr=False)
    words: Words = field(repr=False)

    def fault(self, problem: Problem, key: str, **facts: str) -> None:
        suggestion = self.words.say(f"fault.{key}", **facts)
        line = self.document.line(self.path)
        self.faults.append(Fault(key_path(self.path), problem, suggestion, line))

    def at(self, step: str | int) -> _Place:
        value = self.value.get(step) if isinstance(step, str) else self.value[step]
        return replace(self, path=(*self.path, step), value=value)

    def mapping(self, known: Sequence[str]) -> _Place:
        """This place with only the known keys of its mapping, which is empty when it is none."""
        value = self.value
        if value is not None and not isinstance(value, dict):
            self.wrong("mapping", known)
        if not isinstance(value, dict):
            return replace(self, value={})
        for key in value:
            if key not in known:
                near, known_here = nearest(key, known), ", ".join(known)
                hint = "near" if near else "known"
                self.at(key).fault("unknown-key", hint, near=near or "", known=known_here)
        return self

    def text(self, step: str) -> str:
        place = self.at(step)
        return place.as_text()

    def as_text(self) -> str:
        if self.value is None:
            return ""
        if not isinstance(self.value, str):
            self.wrong("text")
            return ""
        hidden = _HIDDEN.search(self.value)
        if hidden:
            self.fault("wrong-type", "hidden", code=f"U+{ord(hidden.group()):04X}")
            return ""
        return self.value if self.value.strip() else ""

    def measure(self, step: str) -> str:
        """Text, or a number exactly as it is written (`1.90` stays `1.90`)."""
        place = self.at(step)
        if isinstance(place.value, int | float) and not isinstance(place.value, bool):
            return place.document.source(place.path) or ""
        return place.as_text()

    def choice(self, step: str, choices: Collection[str]) -> str:
        place = self.at(step)
        return place.as_choice(choices)

    def as_choice(self, choices: Collection[str]) -> str:
        value = self.as_text()
        if not value or value in choices:
            return value
        near = nearest(value, choices)
        hint = "near_allowed" if near else "allowed"
        self.fault("unknown-value", hint, near=near or "", allowed=", ".join(choices))
        return ""

    def items(self, step: str, read: Callable[[_Place], T]) -> tuple[T, ...]:
        place = self.at(step)
        if place.value is None:
            return ()
        if not isinstance(place.value, list):
            place.wrong("list")
            return ()
        return tuple(read(place.at(index)) for index in range(len(place.value)))

    def texts(self, step: str) -> tuple[str, ...]:
        return tuple(text for text in self.items(step, _Place.item_text) if text)

    def item_text(self) -> str:
        if self.value is None:
            self.wrong("text")
        return self.as_text()

    def wrong(self, expected: str, keys: Sequence[str] = ()) -> None:
        """A wrong type; `expected` is text, list, mapping or whole."""
        kind = self.words.say(f"fault.type_{expected}", keys=", ".join(keys))
        written = self.document.source(self.path)
        hint = "expected"
        if expected == "text" and written and self.value is not None:
            hint = "expected_quotes"
        elif expected == "list" and isinstance(self.value, str):
            hint = "expected_list"
        shown_so = shown(written or "", quote=False)
        self.fault("wrong-type", hint, kind=kind, found=shown(self.value), written=shown_so)


def _record(place: _Place, language: r.Language) -> r.Record:
    top = place.mapping(tuple(r.Record.__dataclass_fields__))
    return r.Record(
        ticket=top.text("ticket").strip(),
        title=top.text("title").strip(),
        owner=_owner(top.at("owner")),
        language=_language(top, language),
        kind=top.choice("kind", r.KINDS),
        summary=top.text("summary"),
        symptom=top.text("symptom"),
        reproduction=_reproduction(top.at("reproduction")),
        root_cause=_root_cause(top.at("root_cause")),
        why_symptom=top.text("why_symptom"),
        fix=_fix(top.at("fix")),
        discovery=_discovery(top.at("discovery")),
        escape=_escape(top.at("escape")),
        validation=_validation(top.at("validation")),
        action_items=top.items("action_items", _action_item),
        revision=_revision(top.at("revision")),
        revision_request=_revision_request(top.at("revision_request")),
    )


def _language(top: _Place, default: r.Language) -> r.Language:
    written = top.choice("language", r.LANGUAGES)
    return next((known for known in r.LANGUAGES if known == written), default)


def _owner(place: _Place) -> r.Owner:
    owner = place.mapping(("name", "team"))
    return r.Owner(owner.text("name").strip(), owner.text("team").strip())


def _reproduction(place: _Place) -> r.Reproduction:
    here = place.mapping(("steps", "outcome", "rate"))
    return r.Reproduction(
        here.text("steps"), here.choice("outcome", r.OUTCOMES), here.text("rate").strip()
    )


def _root_cause(place: _Place) -> r.RootCause:
    here = place.mapping(("status", "mechanism", "introduced_by"))
    return r.RootCause(
        here.choice("status", r.STATUSES), here.text("mechanism"), here.texts("introduced_by")
    )


def _fix(place: _Place) -> r.Fix:
    here = place.mapping(("references", "change", "addresses_cause", "earlier_attempts"))
    return r.Fix(
        here.texts("references"),
        here.text("change"),
        here.text("addresses_cause"),
        here.items("earlier_attempts", _attempt),
    )


def _attempt(place: _Place) -> r.Attempt:
    here = _item(place, ("reference", "shortfall"))
    return r.Attempt(here.text("reference").strip(), here.text("shortfall"))


def _discovery(place: _Place) -> r.Discovery:
    here = place.mapping(
        ("made_deterministic", "tools", "hypotheses", "decisive_experiment", "notes")
    )
    return r.Discovery(
        here.text("made_deterministic"),
        here.text("tools"),
        here.items("hypotheses", _hypothesis),
        here.text("decisive_experiment"),
        here.text("notes"),
    )


def _hypothesis(place: _Place) -> r.Hypothesis:
    here = _item(place, ("claim", "rejected_because", "confirmed_by"))
    return r.Hypothesis(
        here.text("claim"), here.text("rejected_because"), here.text("confirmed_by")
    )


def _escape(place: _Place) -> r.Escape:
    here = place.mapping(("cause", "detail"))
    cause = here.at("cause")
    if isinstance(cause.value, list):
        causes = here.items("cause", lambda item: item.as_choice(r.CAUSES))
    else:
        causes = (cause.as_choice(r.CAUSES),)
    return r.Escape(tuple(name for name in causes if name), here.text("detail"))


def _validation(place: _Place) -> r.Validation:
    keys = ("original_reproduction", "workloads", "performance", "stress")
    here = place.mapping((*keys, "other_configurations", "not_tested"))
    rerun = here.at("original_reproduction").mapping(("result", "evidence"))
    return r.Validation(
        r.Rerun(rerun.choice("result", r.RESULTS), rerun.text("evidence")),
        here.items("workloads", _workload),
        here.items("performance", _performance),
        here.items("stress", _stress),
        here.texts("other_configurations"),
        here.text("not_tested"),
    )


def _workload(place: _Place) -> r.Workload:
    here = _item(place, ("name", "result", "evidence"))
    return r.Workload(here.text("name"), here.text("result").strip(), here.text("evidence"))


def _performance(place: _Place) -> r.Performance:
    here = _item(place, ("metric", "before", "after"))
    return r.Performance(here.text("metric"), here.measure("before"), here.measure("after"))


def _stress(place: _Place) -> r.Stress:
    here = _item(place, ("kind", "duration", "scale", "result"))
    return r.Stress(
        here.text("kind"), here.measure("duration"), here.measure("scale"), here.measure("result")
    )


def _action_item(place: _Place) -> r.ActionItem:
    here = _item(place, ("what", "owner", "artifact", "kind"))
    return r.ActionItem(
        here.text("what"),
        here.text("owner").strip(),
        here.text("artifact").strip(),
        here.choice("kind", r.ITEM_KINDS),
    )


def _item(place: _Place, keys: Sequence[str]) -> _Place:
    """A list item that must be a mapping; an empty one is a mistake, not an absent value."""
    if place.value is None:
        place.wrong("mapping", keys)
    return place.mapping(keys)


def _revision(place: _Place) -> int:
    if place.value is None:
        return 1
    if not isinstance(place.value, int) or isinstance(place.value, bool):
        place.wrong("whole")
        return 1
    if place.value < 1:
        place.fault("unknown-value", "first_revision")
        return 1
    return place.value


def _revision_request(place: _Place) -> r.RevisionRequest:
    here = place.mapping(("section", "problem"))
    return r.RevisionRequest(here.text("section"), here.text("problem"))
