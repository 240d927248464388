"""Any record that parses renders everywhere, whole and as valid ADF, or is refused with reasons."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ciops.postmortem.adf import render_adf
from ciops.postmortem.blocks import Block, CodeBlock, Heading, Items, Paragraph, Quote, Table
from ciops.postmortem.destinations import DESTINATIONS
from ciops.postmortem.destinations.contract import Target
from ciops.postmortem.document import Document, build
from ciops.postmortem.gates import decide
from ciops.postmortem.gfm import render_gfm
from ciops.postmortem.inline import visible
from ciops.postmortem.prose import check_record
from ciops.postmortem.prose_rules import load_guide
from ciops.postmortem.references import Links
from postmortem.records import changed, read, words
from postmortem.records import settings as tool_settings
from postmortem.visible import adf_problems, of_adf, of_markdown

PIECES = [
    *("__init__", "a*b*c", "vector<T>", "std::map<K*, V*>", "ns::fn", "{{x}}", "{code}", "@topic"),
    *("[DBG-7af3]", "~tilde~", "^caret^", "_x_", "#123", "!42", "https://a.b/c_d", "a@b.example"),
    *("!image!", "[~user]", "bq. ", "h1. ", "<b>", "&lt;", "\\d+\\.", "C:\\x", "$x$", ":smile:"),
    *("**", "*", "~~", "`", "``", "[", "](https://a.b)", "](x)", "|", "\\|", "\\", "\n", "\n\n"),
    *("\n- ", "\n  - ", "\n1. ", "\n> ", "\n# ", "\n```\n", "\n| a | b |\n|---|---|\n| ", " | "),
    *(
        "    ",
        "\t",
        "  \n",
        "---",
        "\n---\n",
        "「重要」",
        "です。",
        "これは",
        " ",
        " — ",
        "é",
        "\u00a0",
    ),
    *("word", "Then it runs.", "0", "1) ", "+ 1", "=", "%}", "{%", "({", "})", "'", '"', "’", "::"),
]
MARKDOWN = st.lists(
    st.one_of(st.sampled_from(PIECES), st.text(max_size=6, alphabet=st.characters(codec="utf-8"))),
    max_size=14,
).map("".join)
LINE = MARKDOWN.map(lambda text: " ".join(text.split()))


def seen(document: Document) -> str:
    """Every visible character of a document, in order."""
    parts = [visible(document.title)]
    for section in document.sections:
        parts.append(section.heading)
        parts.extend(text for block in section.blocks for text in _seen(block))
    return squeezed("\n".join(parts))


def _seen(block: Block) -> list[str]:
    if isinstance(block, Paragraph | Heading):
        return [visible(block.inlines)]
    if isinstance(block, CodeBlock):
        return [block.text]
    if isinstance(block, Quote):
        return [text for child in block.blocks for text in _seen(child)]
    if isinstance(block, Items):
        return [text for item in block.items for child in item for text in _seen(child)]
    if isinstance(block, Table):
        return [visible(cell) for row in (block.header, *block.rows) for cell in row]
    return []


def squeezed(text: str) -> str:
    """Without white space, which markup may fold."""
    return re.sub(r"\s+", "", text)


@given(
    text=MARKDOWN,
    line=LINE,
    evidence=MARKDOWN,
    language=st.sampled_from(["en", "ja", "fr"]),
    artifact=LINE,
)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@example(text="*a*`b`__c__", line="`x``y`", evidence="> - \n> # h", language="ja", artifact="a*b")
@example(text="- `a\n- b`", line="a\\", evidence="| `\\|` |\n|---|\n", language="fr", artifact="|")
def test_a_record_renders_whole_or_is_refused_with_reasons(
    text, line, evidence, language, artifact
):
    record = changed(
        language=language,
        title=line or "x",
        summary=text or "x",
        root_cause__mechanism=text + "\n\n" + evidence,
        fix__change=evidence or "x",
        discovery={"notes": text, "hypotheses": [{"claim": evidence, "rejected_because": line}]},
        validation__original_reproduction__evidence=evidence,
        validation__performance=[{"metric": line, "before": text, "after": evidence}],
        action_items__0__what=text or "x",
        action_items__0__artifact=artifact or "x",
    )
    reading = read(json.dumps(record))
    decision = decide(reading, tool_settings(), words(reading.record.language))
    if decision.verdict != "render":
        assert decision.missing or decision.faults
        return
    check_record(reading.record, load_guide(reading.record.language))
    document = build(reading.record, words(reading.record.language), Links())
    adf = render_adf(document)
    assert adf_problems(adf) == []
    assert json.dumps(adf) == json.dumps(render_adf(document))
    assert squeezed(of_markdown(render_gfm(document))) == seen(document)
    shown = squeezed(of_adf(adf))
    assert all(part in shown for part in map(squeezed, document.ticket.split()))
    for destination in DESTINATIONS.values():
        target = Target("PLUG-1", "https://x.example", longest=10**9)
        assert destination.render(document, target) == destination.render(document, target)


@pytest.mark.parametrize("language", ["en", "ja", "fr"])
def test_the_longest_line_is_read_in_time(language):
    """Hostile text: nested brackets, stars and repeated words must not take quadratic time."""
    from time import process_time

    hostile = [
        "a(" * 10_000,
        "*" * 20_000,
        "a*" * 10_000,
        "<" * 20_000,
        "[" * 20_000,
        "`" * 10_000 + " x",
        "{{" * 10_000,
        "we should " * 2_000,
        "Alex and " * 2_500,
        "すべての" * 5_000,
        "担当者が" * 4_000,
        "tous les " * 2_500,
        "\\x" * 10_000,
        "a<b" * 6_500,
        "x_" * 10_000,
        *(letter * 20_000 for letter in "Aa1.-/_@あア漢"),
        *(pair * 10_000 for pair in ("a.", "a-", "a/", "1.", "Aa")),
    ]
    guide = load_guide(language)
    for text in hostile:
        started = process_time()
        reading = read(json.dumps(changed(language=language, summary=text)))
        check_record(reading.record, guide)
        render_gfm(build(reading.record, words(language), Links()))
        assert process_time() - started < 1.5, text[:20]
