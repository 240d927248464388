"""Gates, facts that are always asked for, redirects, and the third revision."""

from __future__ import annotations

import pytest
import yaml

from postmortem.records import GONE, changed, judged


def missing(**changes):
    return [gap.gate for gap in judged(changed(**changes)).missing]


def faults(**changes):
    return [(fault.path, fault.problem) for fault in judged(changed(**changes)).faults]


def test_faults_come_in_the_order_of_their_lines():
    text = yaml.safe_dump(changed(language="xx", kind="nonsense", summary=GONE), sort_keys=False)
    found = [(fault.path, fault.line) for fault in judged(text).faults]
    assert found == [("summary", 1), ("language", 6), ("kind", 7)]


def test_a_whole_record_renders():
    decision = judged(changed())
    assert (decision.verdict, decision.missing, decision.faults) == ("render", (), ())
    assert decision.sections[0] == "summary"
    assert decision.sections[-1] == "action_items"


@pytest.mark.parametrize(
    ("reproduction", "met"),
    [
        ({"steps": "run it", "outcome": "deterministic"}, True),
        ({"steps": "run it", "outcome": "rate", "rate": "9/10"}, True),
        ({"steps": "run it", "outcome": "rate", "rate": "1/2"}, True),
        ({"steps": "run it", "outcome": "rate", "rate": "1 000/1 200"}, True),
        ({"steps": "run it", "rate": "5/5"}, True),
        ({"steps": "run it", "outcome": "rate", "rate": "14/20 (seed 7)"}, True),
        ({"steps": "run it", "outcome": "rate", "rate": "5/6/2031"}, False),
        ({"steps": "run it", "outcome": "rate", "rate": "often, 9/10"}, False),
        ({"steps": "run it", "outcome": "rate", "rate": "49/100"}, False),
        ({"steps": "run it", "outcome": "rate", "rate": "0/20"}, False),
        ({"steps": "run it", "outcome": "rate", "rate": "0/0"}, False),
        ({"steps": "run it", "outcome": "rate", "rate": "3/2"}, False),
        ({"steps": "run it", "outcome": "rate", "rate": "sometimes"}, False),
        ({"steps": "run it", "outcome": "rate", "rate": "80 %"}, False),
        ({"steps": "run it", "outcome": "rate"}, False),
        ({"steps": "run it", "outcome": "deterministic", "rate": "0/20"}, False),
        ({"steps": "run it"}, False),
        ({"outcome": "deterministic"}, False),
        ({"steps": "TBD", "outcome": "deterministic"}, False),
        ({}, False),
    ],
    ids=str,
)
def test_reproduction(reproduction, met):
    assert missing(reproduction=reproduction) == ([] if met else ["reproduction"])


@pytest.mark.parametrize(
    ("cause", "met"),
    [
        ({"status": "identified", "mechanism": "`f` skips `g`."}, True),
        ({"status": "identified", "mechanism": "A synchronisation issue."}, True),
        ({"status": "hypothesis", "mechanism": "`f` skips `g`."}, False),
        ({"status": "identified"}, False),
        ({"status": "identified", "mechanism": "under investigation"}, False),
        ({"mechanism": "`f` skips `g`."}, False),
        ({}, False),
    ],
    ids=str,
)
def test_root_cause(cause, met):
    assert missing(root_cause=cause) == ([] if met else ["root-cause"])


@pytest.mark.parametrize(
    ("references", "met"),
    [
        (["acme/host#977"], True),
        (["group/sub/proj!42"], True),
        (["acme/host@4be1c07"], True),
        (["4be1c07"], True),
        (["fix/csv-writer"], True),
        (["PR #5751"], True),
        (["https://github.com/acme/host/pull/977"], True),
        (["https://review.example.org/c/host/+/12345"], True),
        (["TBD", "acme/host#977"], True),
        ([], False),
        (["TBD"], False),
        (["未定"], False),
        (["à venir"], False),
        (["PLUG-1"], False),
        (["RING-490"], False),
        (["the connection fix"], False),
        ([" "], False),
    ],
    ids=str,
)
def test_fix(references, met):
    assert missing(fix__references=references) == ([] if met else ["fix"])


@pytest.mark.parametrize(
    ("result", "workloads", "met"),
    [
        ("pass", [], True),
        ("pass", [{"name": "a", "result": "pass"}], True),
        ("pass", [{"name": "a", "result": "not-run"}], True),
        ("pass", [{"name": "a", "result": "0 failed of 200"}], True),
        ("pass", [{"name": "a", "result": "失敗なし"}], True),
        ("pass", [{"name": "a", "result": "fail"}], False),
        ("pass", [{"name": "a", "result": "pass"}, {"name": "b", "result": "1 failed"}], False),
        ("pass", [{"name": "a", "result": "échec"}], False),
        ("pass", [{"name": "a", "result": "失敗"}], False),
        ("fail", [], False),
        ("not-run", [{"name": "a", "result": "pass"}], False),
        (None, [{"name": "a", "result": "pass"}], False),
    ],
    ids=str,
)
def test_validation(result, workloads, met):
    validation = {"original_reproduction": {"result": result}, "workloads": workloads}
    assert missing(validation=validation) == ([] if met else ["validation"])


def test_every_unmet_gate_is_listed_in_order_with_what_to_supply():
    decision = judged({"ticket": "A-1"})
    gates = [gap.gate for gap in decision.missing]
    assert gates == ["reproduction", "root-cause", "fix", "validation"]
    assert all(gap.need.endswith((".", ")")) for gap in decision.missing)
    assert decision.sections == ()


def test_a_malformed_record_has_no_gates_looked_at():
    decision = judged(changed(colour="red", root_cause={}))
    assert (decision.verdict, decision.missing) == ("refuse", ())


ALWAYS = ["ticket", "title", "kind", "summary", "owner", "fix__change", "fix__addresses_cause"]
ABSENT = {"gone": GONE, "null": None, "blank": "", "TODO": "TODO"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param(path, value, id=f"{name}-{path}")
        for path in ALWAYS
        for name, value in ABSENT.items()
        if (path, name) != ("kind", "TODO")  # an unknown value, not a missing one
    ],
)
def test_what_is_always_asked_for(path, value):
    if path == "owner" and value == "TODO":
        value = {"name": "TODO"}
    value = {} if path == "owner" and value == "" else value
    assert faults(**{path: value}) == [(path.replace("__", "."), "missing")]


def test_an_owner_without_a_name():
    assert faults(owner={"team": "Runtime"}) == [("owner.name", "missing")]


def test_an_owner_without_a_team_is_enough():
    assert faults(owner={"name": "Priya"}) == []


@pytest.mark.parametrize("key", ["what", "owner", "artifact"])
@pytest.mark.parametrize(
    "value", [GONE, "TBD", "未定", "à définir"], ids=["gone", "en", "ja", "fr"]
)
def test_an_action_item_lacks_something(key, value):
    assert faults(**{f"action_items__0__{key}": value}) == [(f"action_items[0].{key}", "missing")]


@pytest.mark.parametrize(
    ("what", "artifact", "part"),
    [
        ("Add a test", "acme/host#977", True),
        ("Add a test", "#977", True),
        ("Add a test", "PR #977", True),
        ("Add a test", "PR #977, merged", True),
        ("Add a test", "https://github.com/acme/host/pull/977", True),
        ("Add a test (merged with the fix)", "tests/test_reload.py", True),
        ("Add a test", "merged in the same PR", True),
        ("Added in the same PR", "PLUG-9", True),
        ("Add a test, which shipped with this fix", "PLUG-9", True),
        ("Regression test, merged in acme/host#977", "tests/test_x.py", True),
        ("回帰テストを追加しました", "PR #977 でマージ済み", True),
        ("修正と同時にマージ済みのテスト", "tests/x.py", True),
        ("修正 PR に含まれるテスト", "tests/x.py", True),
        ("Test fusionné avec le correctif", "tests/x.py", True),
        ("Test livré dans la même PR", "tests/x.py", True),
        ("Add a test", "acme/host#978", False),
        ("Add a test", "other/host#977", False),
        ("Merge the fix into release-2.3", "PLUG-9", False),
        ("Backport acme/host#977 to 2.3", "PLUG-9", False),
        ("Test merged table cells", "PLUG-9", False),
        ("Follow-up to acme/host#977", "PLUG-9 (follow-up to #977)", False),
        ("Check that every release includes the fix", "PLUG-9", False),
        ("マージ後の検査を追加する", "PLUG-9", False),
        ("Tester la fusion des cellules", "PLUG-9", False),
    ],
)
def test_an_action_item_that_is_part_of_the_fix(what, artifact, part):
    changes = {"action_items__0__what": what, "action_items__0__artifact": artifact}
    expected = [("action_items[0].artifact", "part-of-fix")] if part else []
    assert faults(**changes) == expected
    two = ["acme/plugin#12", "acme/host#977"]
    assert faults(**changes, fix__references=two) == expected


@pytest.mark.parametrize(
    ("kind", "extra", "verdict", "redirect"),
    [
        ("bug-fix", {}, "render", None),
        ("incident", {}, "confirm", "incident-report"),
        ("incident", {"fix__references": []}, "refuse", "incident-report"),
        ("incident", {"title": GONE}, "refuse", "incident-report"),
        ("trivial", {}, "refuse", "pr-description"),
        ("trivial", {"fix__references": []}, "refuse", "pr-description"),
    ],
)
def test_redirects(kind, extra, verdict, redirect):
    decision = judged(changed(kind=kind, **extra))
    assert (decision.verdict, decision.redirect) == (verdict, redirect)


def test_a_confirmed_incident_renders():
    decision = judged(changed(kind="incident"), is_bug_fix=True)
    assert (decision.verdict, decision.redirect) == ("render", None)


@pytest.mark.parametrize(
    ("revision", "asked", "paths"),
    [
        (1, None, []),
        (2, None, []),
        (3, None, ["revision_request.problem", "revision_request.section"]),
        (3, {"section": "root_cause"}, ["revision_request.problem"]),
        (3, {"problem": "the chain stops at reload()"}, ["revision_request.section"]),
        (3, {"section": "everything", "problem": "too long"}, ["revision_request.section"]),
        (3, {"section": "全体", "problem": "長い"}, ["revision_request.section"]),
        (4, {"section": "root_cause", "problem": "the chain stops"}, []),
        (3, {"section": "検証", "problem": "範囲がない"}, []),
    ],
)
def test_the_third_revision_asks_which_section(revision, asked, paths):
    found = faults(revision=revision, revision_request=asked)
    assert found == [(path, "missing") for path in paths]


@pytest.mark.parametrize("language", ["en", "ja", "fr"])
def test_refusals_speak_the_records_language(language):
    decision = judged({"ticket": "A-1", "language": language})
    first = decision.missing[0].need
    assert {"en": "Write", "ja": "書いて", "fr": "Écrivez"}[language] in first
