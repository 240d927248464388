"""A repository's own issue form, read and filled as the service would fill it.

https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests/syntax-for-githubs-form-schema
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from ciops.plumbing.rendering import clean_text, fenced
from ciops.plumbing.yaml_file import Reader, parse

MARKDOWN: Final = "markdown"
INPUT: Final = "input"
TEXTAREA: Final = "textarea"
DROPDOWN: Final = "dropdown"
CHECKBOXES: Final = "checkboxes"
KINDS: Final = (MARKDOWN, INPUT, TEXTAREA, DROPDOWN, CHECKBOXES)
NO_ANSWER: Final = "_No response_"
# An option that says nothing wrong of a failure whose answer is not known.
_NEUTRAL: Final = re.compile(r"(?i)\b(?:other|unknown|not sure|n/?a|none|unspecified)\b")


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a dropdown, or one box to tick."""

    label: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """One question. `render` is the language of a text area that is shown as code."""

    kind: str
    id: str
    label: str
    required: bool = False
    options: tuple[Option, ...] = ()
    render: str = ""


@dataclass(frozen=True, slots=True)
class IssueForm:
    """A form: what titles begin with, the labels it gives, and its questions."""

    title: str
    labels: tuple[str, ...]
    fields: tuple[Field, ...]


def read_form(text: str, name: str) -> IssueForm:
    """A form from its YAML; UsageError when it is none."""
    top = Reader(parse(text, name))
    items = [item for item in top.items("body") if item.text("type", "") in KINDS]
    if not items:
        raise top.error("is no issue form: it asks nothing", "Name another form", "body")
    title = clean_text(top.text("title", ""))
    return IssueForm(title, _labels(top), tuple(_field(item) for item in items))


def _labels(top: Reader) -> tuple[str, ...]:
    """A list, or names between commas."""
    value = top.mapping().get("labels")
    names = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else ()
    return tuple(str(name).strip() for name in names if str(name).strip())


def _field(item: Reader) -> Field:
    about = item.child("attributes")
    return Field(
        kind=item.text("type"),
        id=item.text("id", ""),
        label=clean_text(about.text("label", "")),
        required=item.child("validations").flag("required", False),
        options=tuple(_option(one) for one in about.items("options")),
        render=about.text("render", ""),
    )


def _option(one: Reader) -> Option:
    if isinstance(one.value, dict):
        return Option(clean_text(one.text("label", "")), one.flag("required", False))
    return Option(clean_text(str(one.value)))


def fill(
    form: IssueForm, answer: Callable[[Field], str], choices: Mapping[str, str] | None = None
) -> str:
    """The body of an issue: a heading and an answer for every question.

    `answer` gives the Markdown for a text field, "" where there is none; `choices` names options
    by field. Boxes that must be ticked are ticked: the search for duplicates that they ask for was
    made. A dropdown that must be answered gets its neutral option, else its first.
    """
    parts = []
    for field in form.fields:
        if field.kind == MARKDOWN:
            continue
        chosen = (choices or {}).get(field.id, "")
        parts.append(f"### {field.label}\n\n{_answered(field, answer, chosen) or NO_ANSWER}")
    return "\n\n".join(parts) + "\n"


def _answered(field: Field, answer: Callable[[Field], str], chosen: str) -> str:
    if field.kind == CHECKBOXES:
        return "\n".join(
            f"- [{'X' if one.required or one.label == chosen else ' '}] {one.label}"
            for one in field.options
        )
    if field.kind == DROPDOWN:
        return _choice(field, chosen)
    text = (chosen or answer(field)).strip()
    return fenced(text, field.render) if text and field.render else text


def _choice(field: Field, chosen: str) -> str:
    labels = [one.label for one in field.options]
    if chosen in labels:
        return chosen
    if not field.required or not labels:
        return ""
    return next((label for label in labels if _NEUTRAL.search(label)), labels[0])
