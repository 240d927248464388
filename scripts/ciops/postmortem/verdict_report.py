"""What an examination says: as text for a person, as JSON for a program, as annotations in CI."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from ciops.errors import EXIT_DONE, EXIT_PARTIAL, EXIT_REFUSED
from ciops.plumbing.ci_host import CiHost
from ciops.postmortem.examination import Examination
from ciops.postmortem.verification import Looked

SCHEMA: Final = 1


def exit_status(examination: Examination, looked: Sequence[Looked], strict: bool) -> int:
    """0 to render, 1 where a service failed to say, 3 otherwise.

    With `strict` findings and refuted facts are refused as well.
    """
    if examination.decision.verdict != "render":
        return EXIT_REFUSED
    doubtful = examination.warnings or any(each.refuted for each in looked)
    if strict and doubtful:
        return EXIT_REFUSED
    return EXIT_PARTIAL if any(each.failed for each in looked) else EXIT_DONE


def as_json(examination: Examination, looked: Sequence[Looked] | None = None) -> str:
    """One line of JSON; `verification` is there only when something was to be looked up."""
    decision = examination.decision
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "verdict": decision.verdict,
        "missing": [gap.gate for gap in decision.missing],
        "redirect": decision.redirect,
        "errors": [
            {
                "path": fault.path,
                "problem": fault.problem,
                "suggestion": fault.suggestion,
                "line": fault.line,
            }
            for fault in decision.faults
        ],
        "findings": [
            {
                "kind": warned.finding.kind,
                "field": warned.finding.field,
                "line": warned.line,
                "phrase": warned.finding.phrase,
                "suggestion": examination.words.say(f"prose.{warned.finding.kind}"),
            }
            for warned in examination.warnings
        ],
        "sections": list(decision.sections),
    }
    if looked is not None:
        data["verification"] = [
            {"subject": each.subject, "state": each.state, "detail": each.detail} for each in looked
        ]
    # A log reader takes "##[" for a command; in JSON the escape is the same character.
    return json.dumps(data, ensure_ascii=False).replace("##[", "#\\u0023[")


def as_text(examination: Examination, looked: Sequence[Looked] = ()) -> str:
    """The verdict, what is missing, and what to reword, in the record's language."""
    parts = [_verdict(examination), _language(examination), _prose(examination)]
    return "\n".join([line for part in parts for line in part] + list(verification(looked)))


def _verdict(examination: Examination) -> Iterator[str]:
    decision, words = examination.decision, examination.words
    ticket = examination.record.ticket or examination.name
    if examination.reading.malformed:
        yield words.say("verdict.malformed", name=examination.name)
    elif decision.missing or decision.faults or decision.verdict != "refuse":
        yield words.say(f"verdict.{decision.verdict}", ticket=ticket)
    for gap in decision.missing:
        name = words.say(f"gate_name.{gap.gate}")
        yield f"  ✗ {name}{words.say('mark.colon')}{gap.need}"
    for fault in decision.faults:
        place = _place(examination, fault.line, fault.path)
        yield f"  ✗ {place}{_fault(examination, fault.problem)}"
        yield f"      {fault.suggestion}"
    if decision.redirect and decision.verdict != "confirm":
        yield words.say(f"redirect.{decision.redirect}")


def _language(examination: Examination) -> Iterator[str]:
    """That the language asked for was passed over for the record's own."""
    asked, own = examination.asked, examination.record.language
    if asked not in (None, own):
        yield examination.words.say("verdict.language", asked=str(asked), own=own)


def _fault(examination: Examination, problem: str) -> str:
    return examination.words.say(f"problem.{problem}")


def _place(examination: Examination, line: int | None, path: str) -> str:
    words = examination.words
    parts = [words.say("prose.line", line=str(line))] if line else []
    parts += [path] if path else []
    return words.say("mark.between_items").join(parts) + words.say("mark.colon")


def _prose(examination: Examination) -> Iterator[str]:
    words = examination.words
    if not examination.warnings:
        return
    yield ""
    yield words.say("prose.title", n=str(len(examination.warnings)))
    for warned in examination.warnings:
        finding = warned.finding
        place = _place(examination, warned.line, finding.field)
        yield f"  ! {place}{finding.kind}{words.say('mark.dash')}{finding.phrase}"
        yield f"      {words.say(f'prose.{finding.kind}')}"


def verification(looked: Sequence[Looked]) -> Iterator[str]:
    """What was looked up, and what could not be."""
    if looked:
        yield ""
        yield looked[0].title
    for each in looked:
        mark = {"verified": "✓", "refuted": "✗"}.get(each.state, "?")
        yield f"  {mark} {each.detail}"


def annotate(examination: Examination, host: CiHost) -> None:
    """Faults and findings beside their lines, where the host shows them there."""
    if host.name != "github":
        return
    for fault in examination.decision.faults:
        words = f"{fault.path}: {_fault(examination, fault.problem)}. {fault.suggestion}"
        host.error(words.removeprefix(": "), examination.name, fault.line)
    for warned in examination.warnings:
        advice = examination.words.say(f"prose.{warned.finding.kind}")
        text = f'{warned.finding.kind}: "{warned.finding.phrase}". {advice}'
        host.warning(text, examination.name, warned.line)
