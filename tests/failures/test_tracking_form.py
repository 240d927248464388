"""A repository's own issue form: read as it is written, filled as the service fills it."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from ciops.errors import UsageError
from ciops.failures.issue_form import Field, fill, read_form
from failures.pipeline_worlds import ROOT

FORM = (ROOT / "tests/data/failures/forms/06-bug-report.yml").read_text("utf-8")


def nothing(_: Field) -> str:
    return ""


def answers(body: str) -> dict[str, str]:
    """The answers by their headings."""
    parts = re.split(r"^### (.+)\n\n", body, flags=re.MULTILINE)[1:]
    return {label: text.strip() for label, text in zip(parts[::2], parts[1::2], strict=True)}


def test_a_form_has_a_title_labels_and_questions() -> None:
    form = read_form(FORM, "form.yml")
    assert form.title == "[Bug]: "
    assert form.labels == ("bug", "needs triage")
    required = [field.id for field in form.fields if field.required]
    assert required == [
        *("system-info", "area", "reproduction", "expected-behavior", "actual-behavior"),
        *("additional-notes", "contact"),
    ]


def test_every_question_is_answered_in_order() -> None:
    body = fill(read_form(FORM, "form.yml"), lambda field: f"about {field.id}")
    assert list(answers(body)) == [
        *("System Info", "Who can help?", "Tasks", "Area", "Reproduction", "Expected behavior"),
        *("actual behavior", "additional notes", "How to reach you"),
        "Before submitting a new issue...",
    ]
    assert answers(body)["System Info"] == "about system-info"
    assert "Look for an existing issue first" not in body


def test_a_question_without_an_answer_says_so() -> None:
    assert answers(fill(read_form(FORM, "f"), nothing))["Who can help?"] == "_No response_"


def test_only_boxes_that_must_be_ticked_are() -> None:
    found = answers(fill(read_form(FORM, "f"), nothing))
    assert found["Tasks"] == "- [ ] An officially supported task\n- [ ] My own task"
    box = "- [X] I searched the existing issues and the documentation."
    assert found["Before submitting a new issue..."] == box


CHOICES = [
    pytest.param({}, "Other", id="the neutral option"),
    pytest.param({"area": "Kernels"}, "Kernels", id="the configured one"),
    pytest.param({"area": "Gone since"}, "Other", id="one that is not offered"),
]


@pytest.mark.parametrize(("choices", "chosen"), CHOICES)
def test_a_choice_that_must_be_made(choices: dict[str, str], chosen: str) -> None:
    assert answers(fill(read_form(FORM, "f"), nothing, choices))["Area"] == chosen


def form_with(**field: Any) -> str:
    return yaml.safe_dump({"name": "n", "description": "d", "body": [field]})


def test_without_a_neutral_option_the_first_is_taken() -> None:
    text = form_with(
        type="dropdown",
        attributes={"label": "Where", "options": ["Here", "There"]},
        validations={"required": True},
    )
    assert answers(fill(read_form(text, "f"), nothing)) == {"Where": "Here"}


def test_an_answer_shown_as_code_is_code() -> None:
    text = form_with(type="textarea", id="log", attributes={"label": "Log", "render": "shell"})
    body = fill(read_form(text, "f"), lambda _: "a\n```\nb")
    assert answers(body) == {"Log": "````shell\na\n```\nb\n````"}


def test_labels_between_commas_are_labels() -> None:
    text = "labels: bug, needs triage\nbody: [{type: input, attributes: {label: a}}]"
    assert read_form(text, "f").labels == ("bug", "needs triage")


NO_FORM = [
    pytest.param("name: x\nbody: []", "asks nothing", id="no question"),
    pytest.param("just text", "expected a mapping", id="no mapping"),
    pytest.param("body: [{type: input, attributes: 3}]", "expected a mapping", id="no attributes"),
    pytest.param("a: [", "f", id="no YAML"),
]


@pytest.mark.parametrize(("text", "words"), NO_FORM)
def test_what_is_no_form_is_refused_with_its_name(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        read_form(text, "o/r/.github/f.yml")
    assert "o/r/.github/f.yml" in str(caught.value)
