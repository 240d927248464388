"""The document of a record, section by section, in three languages."""

from __future__ import annotations

import pytest

from ciops.postmortem.document import Document
from ciops.postmortem.gfm import render_gfm, section_parts
from ciops.postmortem.references import Links
from postmortem.records import GONE, changed, document_of


def section(document: Document, name: str) -> str:
    """One section as Markdown, without its heading."""
    found = next(each for each in document.sections if each.id == name)
    return "\n\n".join(list(section_parts(found, 2))[1:])


@pytest.mark.parametrize(
    ("language", "head"),
    [
        (
            "en",
            "**Ticket**: [PLUG-1](https://j.example/browse/PLUG-1) · "
            "**Fix**: [acme/host#977](https://github.com/acme/host/issues/977), `fix/x` · "
            "**Owner**: Priya (Runtime)",
        ),
        (
            "ja",
            "**チケット**：[PLUG-1](https://j.example/browse/PLUG-1)　／　"
            "**修正**：[acme/host#977](https://github.com/acme/host/issues/977)、`fix/x`　／　"
            "**担当**：Priya（Runtime）",
        ),
        (
            "fr",
            "**Ticket**\u00a0: [PLUG-1](https://j.example/browse/PLUG-1) · "
            "**Correctif**\u00a0: [acme/host#977](https://github.com/acme/host/issues/977), "
            "`fix/x` · **Responsable**\u00a0: Priya (Runtime)",
        ),
    ],
)
def test_the_summary_can_be_read_alone(language, head):
    data = changed(language=language, fix__references=["acme/host#977", "fix/x"])
    document = document_of(data, Links(jira="https://j.example"))
    assert section(document, "summary").split("\n")[0] == head


def test_sections_are_in_the_order_of_the_source():
    data = changed(discovery={"tools": "gdb"}, escape={"cause": "ci-gap"})
    assert [each.heading for each in document_of(data).sections] == [
        "Summary",
        "Symptom",
        "Root cause",
        "Why it produced this symptom",
        "Fix",
        "How it was found",
        "Why it slipped through",
        "Validation",
        "Action items",
    ]


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "None — the fix is sufficient and this class of bug needs no follow-up."),
        ("ja", "なし — 修正で十分であり、この種のバグに関するフォローアップは不要です。"),
        ("fr", "Aucun — la correction suffit\u202f; cette classe de bogue n'appelle aucun suivi."),
    ],
)
@pytest.mark.parametrize("items", [GONE, [], None], ids=["gone", "empty", "null"])
def test_no_action_items_is_said(language, sentence, items):
    document = document_of(changed(language=language, action_items=items))
    assert section(document, "action_items") == sentence


@pytest.mark.parametrize(
    ("language", "item"),
    [
        ("en", "- **CI gap**: Add a step (Marek, PLUG-2)"),
        ("ja", "- **CI のギャップ**：Add a step（Marek、PLUG-2）"),
        ("fr", "- **Lacune de la CI**\u00a0: Add a step (Marek, PLUG-2)"),
    ],
)
def test_an_action_item_has_its_owner_and_artifact(language, item):
    document = document_of(changed(language=language, action_items__0__what="Add a step"))
    assert section(document, "action_items") == item


def test_an_item_of_several_blocks_keeps_them():
    what = "Do both:\n\n- one\n- two"
    shown = section(document_of(changed(action_items__0__what=what)), "action_items")
    assert shown == "- **CI gap**: Do both:\n\n  - one\n  - two\n\n  (Marek, PLUG-2)"


def test_validation_opens_with_the_reproduction_and_ends_with_its_scope():
    data = changed(
        validation__workloads=[{"name": "nightly", "result": "pass", "evidence": "run 8"}],
        validation__performance=[{"metric": "p99 | max", "before": "1 s", "after": "2 s"}],
        validation__stress=[{"kind": "soak", "duration": "6 h", "scale": "8 GPUs", "result": "ok"}],
        validation__other_configurations=["`--strict`", "CPython 3.13"],
    )
    assert section(document_of(data), "validation") == "\n".join(
        [
            "**Reproduction**: `demo --reload`",
            "",
            "**Before the fix**: fails on every run",
            "",
            "**After the fix**: passes — one line, run 7",
            "",
            "**Workloads**:",
            "",
            "- nightly: passes — run 8",
            "",
            "**Performance**:",
            "",
            "| Metric | Before | After |",
            "| --- | --- | --- |",
            r"| p99 \| max | 1 s | 2 s |",
            "",
            "**Stress**:",
            "",
            "- soak, 6 h, 8 GPUs: ok",
            "",
            "**Tested**: nightly; `--strict`; CPython 3.13",
            "",
            "**Not tested**: PyPy was not retested.",
        ]
    )


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "nothing beyond the configurations listed here is recorded as tested."),
        ("ja", "ここに挙げた構成のほかにテストした記録はありません。"),
        ("fr", "rien d'autre que les configurations citées ici n'est consigné comme testé."),
    ],
)
def test_an_unsaid_scope_is_not_widened(language, words):
    document = document_of(changed(language=language, validation__not_tested=GONE))
    assert section(document, "validation").endswith(words)


def test_configurations_that_hold_the_separator_are_listed():
    data = changed(language="fr", validation__other_configurations=["délimiteur ;", "tabulation"])
    shown = section(document_of(data), "validation")
    assert "**Testé**\u00a0:\n\n- nightly\n- délimiteur ;\n- tabulation" in shown


def test_a_rate_is_told():
    data = changed(reproduction={"steps": "run", "outcome": "rate", "rate": "9/10"})
    assert "fails at a rate of 9/10" in section(document_of(data), "validation")


def test_a_workload_of_another_result_keeps_its_words():
    rows = [{"name": "a", "result": "3 of 3 runs"}, {"name": "b", "result": "not-run"}]
    shown = section(document_of(changed(validation__workloads=rows)), "validation")
    assert "- a: 3 of 3 runs\n- b: not run" in shown
    assert "**Tested**" not in shown


def test_earlier_attempts_and_hypotheses_are_listed():
    data = changed(
        fix__earlier_attempts=[{"reference": "acme/host#9", "shortfall": "Hid it."}],
        discovery={
            "hypotheses": [
                {"claim": "The NIC.", "rejected_because": "Loopback too."},
                {"claim": "The page.", "confirmed_by": "The map."},
            ]
        },
    )
    document = document_of(data)
    assert "- [acme/host#9](https://github.com/acme/host/issues/9) — Hid it." in section(
        document, "fix"
    )
    assert section(document, "discovery").split("\n")[2:] == [
        "- The NIC. **Rejected**: Loopback too.",
        "- The page. **Confirmed**: The map.",
    ]


def test_a_text_that_begins_with_a_list_stands_below_its_label():
    data = changed(reproduction={"steps": "1. a\n2. b", "outcome": "deterministic"})
    assert section(document_of(data), "validation").startswith("**Reproduction**:\n\n1. a\n2. b")


def test_record_text_is_never_a_template():
    data = changed(title="{ticket} {{ 7*7 }} {% x %}", owner={"name": "{name}", "team": "{team}"})
    shown = render_gfm(document_of(data))
    assert "{ticket} {{ 7*7 }} {% x %}" in shown.replace("`", "")
    assert "{name} ({team})" in shown


def test_french_spaces_stand_only_in_our_own_sentences():
    data = changed(language="fr", summary="Texte : tel quel ; ici !", action_items=[])
    shown = render_gfm(document_of(data))
    assert "Texte : tel quel ; ici !" in shown
    assert "**Correctif**\u00a0:" in shown


def test_japanese_lines_join_without_a_space():
    document = document_of(changed(language="ja", summary="一行目\n二行目 and\nthree"))
    assert section(document, "summary").endswith("一行目二行目 and three")


def test_nothing_is_filled_in():
    """A record of the bare minimum shows no name, number or reference that it does not hold."""
    data = changed(
        symptom=GONE, why_symptom=GONE, validation__workloads=GONE, validation__not_tested=GONE
    )
    shown = render_gfm(document_of(data))
    for word in ("None", "null", "unknown", "TBD", " ()", "— \n"):
        assert word not in shown
