"""The handed records: verdict, gates, faults, sections, findings, and what must survive."""

from __future__ import annotations

import pytest

from ciops.postmortem.adf import render_adf
from ciops.postmortem.document import build
from ciops.postmortem.gates import decide
from ciops.postmortem.gfm import render_gfm
from ciops.postmortem.prose import check_record
from ciops.postmortem.prose_rules import load_guide
from ciops.postmortem.record_reader import read_record
from ciops.postmortem.references import Links
from ciops.postmortem.wiki_markup import render_wiki
from postmortem.records import NUMBERS, case, settings, words
from postmortem.visible import adf_problems, of_adf, of_markdown, of_wiki

RENDERED = [number for number in NUMBERS if case(number)[1]["verdict"] == "render"]


@pytest.mark.parametrize("number", NUMBERS)
def test_the_verdict_and_its_reasons(number):
    text, expected = case(number)
    reading = read_record(text, f"{number}.yml")
    decision = decide(reading, settings(), words(reading.record.language))
    missing = [gap.gate for gap in decision.missing]
    assert decision.verdict == expected["verdict"]
    assert [gate for gate in missing if gate not in expected.get("missing_tolerated", [])] == [
        gate for gate in expected["missing"] if gate not in expected.get("missing_tolerated", [])
    ]
    assert decision.redirect == expected["redirect"]
    assert sorted((fault.path, fault.problem) for fault in decision.faults) == sorted(
        (error["path"], error["problem"]) for error in expected["errors"]
    )
    assert list(decision.sections) == expected["sections"]
    for error in expected["errors"]:
        fault = next(fault for fault in decision.faults if fault.path == error["path"])
        assert fault.line
        assert error.get("suggestion", "") in fault.suggestion
        assert all(value in fault.suggestion for value in error.get("allowed", []))


@pytest.mark.parametrize("number", RENDERED)
def test_the_findings_are_all_and_only_those(number):
    text, expected = case(number)
    record = read_record(text, f"{number}.yml").record
    found = check_record(record, load_guide(record.language))
    wanted = [(each["kind"], each["field"]) for each in expected["findings"]]
    assert [(finding.kind, finding.field) for finding in found] == wanted
    for finding, each in zip(found, expected["findings"], strict=True):
        assert each["phrase"] in finding.phrase or finding.phrase in each["phrase"]


@pytest.mark.parametrize("number", RENDERED)
def test_what_must_survive_is_there_in_every_format(number):
    text, expected = case(number)
    record = read_record(text, f"{number}.yml").record
    document = build(record, words(record.language), Links())
    adf = render_adf(document)
    assert adf_problems(adf) == []
    shown = {
        "markdown": of_markdown(render_gfm(document)),
        "adf": of_adf(adf),
        "wiki": of_wiki(render_wiki(document)),
    }
    for name, visible in shown.items():
        lost = [text for text in expected["must_contain"] if text not in visible]
        assert lost == [], name
