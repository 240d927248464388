"""Whether a record may become a document: four gates, facts always asked for, redirects.

Nothing is drafted on a hypothesis, and no fact is filled in: what is missing is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from ciops.postmortem.record import ActionItem, Record
from ciops.postmortem.record_reader import Fault, Reading
from ciops.postmortem.references import FIX_KINDS, find_references, read_reference, same
from ciops.postmortem.settings import FIX_MARK, Settings, read_rate
from ciops.postmortem.wording import Words

Verdict = Literal["render", "refuse", "confirm"]
Redirect = Literal["incident-report", "pr-description"]
GATES: Final = ("reproduction", "root-cause", "fix", "validation")
REQUEST_FROM_REVISION: Final = 3


@dataclass(frozen=True, slots=True)
class Unmet:
    """A gate that is not met, and what to supply."""

    gate: str
    need: str


@dataclass(frozen=True, slots=True)
class Decision:
    """`sections` are the ids of the document's sections, empty unless it is rendered."""

    verdict: Verdict
    missing: tuple[Unmet, ...]
    redirect: Redirect | None
    faults: tuple[Fault, ...]
    sections: tuple[str, ...]


def decide(
    reading: Reading, settings: Settings, words: Words, *, is_bug_fix: bool = False
) -> Decision:
    """The verdict on a record; `is_bug_fix` is the confirmation that an incident needs."""
    record = reading.record
    faults, missing = reading.faults, tuple[Unmet, ...]()
    if not reading.malformed:
        faults = _in_order((*faults, *_missing_facts(reading, settings, words)))
        missing = tuple(unmet_gates(record, settings, words))
    redirect = _redirect(record, is_bug_fix)
    verdict: Verdict = "render"
    if faults or missing or redirect == "pr-description":
        verdict = "refuse"
    elif redirect == "incident-report":
        verdict = "confirm"
    sections = record.sections() if verdict == "render" else ()
    return Decision(verdict, missing, redirect, faults, sections)


def _in_order(faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    return tuple(sorted(faults, key=lambda fault: (fault.line or 0, fault.path)))


def _redirect(record: Record, is_bug_fix: bool) -> Redirect | None:
    if record.kind == "trivial":
        return "pr-description"
    return "incident-report" if record.kind == "incident" and not is_bug_fix else None


def unmet_gates(record: Record, settings: Settings, words: Words) -> Iterator[Unmet]:
    """The gates that the record does not meet, in the order of GATES."""
    checks = (
        ("reproduction", _reproduction_gap(record, settings)),
        ("root-cause", _root_cause_gap(record, settings)),
        ("fix", _fix_gap(record, settings)),
        ("validation", _validation_gap(record, settings)),
    )
    low, high = settings.minimum_rate
    for gate, gap in checks:
        if gap:
            yield Unmet(gate, words.say(f"gate.{gate}.{gap}", minimum=f"{low}/{high}"))


def _reproduction_gap(record: Record, settings: Settings) -> str:
    reproduction = record.reproduction
    if settings.blank(reproduction.steps):
        return "no-steps"
    if reproduction.outcome == "deterministic" and not reproduction.rate:
        return ""
    rate = read_rate(reproduction.rate)
    if rate is None:
        return "no-rate"
    low, high = settings.minimum_rate
    return "" if rate[0] * high >= low * rate[1] else "low-rate"  # low is more than 0


def _root_cause_gap(record: Record, settings: Settings) -> str:
    if record.root_cause.status == "hypothesis":
        return "hypothesis"
    if settings.blank(record.root_cause.mechanism):
        return "no-mechanism"
    return "" if record.root_cause.status == "identified" else "no-status"


def _fix_gap(record: Record, settings: Settings) -> str:
    named = [text for text in record.fix.references if not settings.blank(text)]
    if not named:
        return "no-reference"
    own = read_reference(record.ticket)
    kinds = [read_reference(text) for text in named]
    if any(each.kind in FIX_KINDS and not same(each, own) for each in kinds):
        return ""
    return "not-a-fix"


def _validation_gap(record: Record, settings: Settings) -> str:
    result = record.validation.original_reproduction.result
    if result != "pass":
        return f"reproduction-{result}" if result else "no-result"
    if any(settings.failing.search(each.result) for each in record.validation.workloads):
        return "workload-fails"
    return ""


def _missing_facts(reading: Reading, settings: Settings, words: Words) -> Iterator[Fault]:
    """What is always asked for, unless another fault already stands at the same place."""
    record = reading.record
    faulty = {fault.path for fault in reading.faults}
    for path, value in _always_asked(record):
        if settings.blank(value) and ".".join(map(str, path)) not in faulty:
            yield _missing(reading, path, words)
    yield from _item_faults(reading, settings, words)
    if record.revision >= REQUEST_FROM_REVISION:
        yield from _request_faults(reading, settings, words)


def _always_asked(record: Record) -> list[tuple[tuple[str, ...], str]]:
    owner = ("owner", "name") if record.owner.team else ("owner",)
    return [
        (("ticket",), record.ticket),
        (("title",), record.title),
        (owner, record.owner.name),
        (("kind",), record.kind),
        (("summary",), record.summary),
        (("fix", "change"), record.fix.change),
        (("fix", "addresses_cause"), record.fix.addresses_cause),
    ]


def _item_faults(reading: Reading, settings: Settings, words: Words) -> Iterator[Fault]:
    for index, item in enumerate(reading.record.action_items):
        for key in ("what", "owner", "artifact"):
            if settings.blank(getattr(item, key)):
                yield _missing(reading, ("action_items", index, key), words)
        if is_part_of_fix(item, reading.record, settings):
            path = ("action_items", index, "artifact")
            yield _fault(reading, path, "part-of-fix", words.say("ask.part_of_fix"))


def is_part_of_fix(item: ActionItem, record: Record, settings: Settings) -> bool:
    """Whether an action item is already done by the fix: it cites it, or says so."""
    fixes = [read_reference(text) for text in record.fix.references]
    said = f"{item.what}\n{item.artifact}"
    for reference in find_references(said):
        if any(same(reference, fix) for fix in fixes):
            said = said.replace(reference.text, FIX_MARK)
    if settings.part_of_fix.search(said):
        return True
    cited = find_references(item.artifact) or [read_reference(item.artifact)]
    return all(any(same(each, fix) for fix in fixes) for each in cited)


def _request_faults(reading: Reading, settings: Settings, words: Words) -> Iterator[Fault]:
    request = reading.record.revision_request
    if settings.names_no_section(request.section):
        yield _missing(reading, ("revision_request", "section"), words)
    if settings.blank(request.problem):
        yield _missing(reading, ("revision_request", "problem"), words)


def _missing(reading: Reading, path: tuple[str | int, ...], words: Words) -> Fault:
    key = ".".join(str(step) for step in path if isinstance(step, str))
    return _fault(reading, path, "missing", words.say(f"ask.{key}"))


def _fault(
    reading: Reading,
    path: tuple[str | int, ...],
    problem: Literal["missing", "part-of-fix"],
    suggestion: str,
) -> Fault:
    written = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    line = reading.document.line(path) if reading.document else None
    return Fault(written.removeprefix("."), problem, suggestion, line)
