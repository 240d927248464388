"""What a JSON Schema finds in a document, as sentences with file, line and key."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ciops.plumbing.yaml_file import (
    Document,
    DocumentError,
    Plain,
    did_you_mean,
    read_text,
    shown,
)

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator


def schema_problems(
    document: Document,
    schema_path: str | Path,
    validator: Callable[[Plain], type[Validator]] | None = None,
) -> list[str]:
    """What a JSON Schema (2020-12 unless it says otherwise) finds, as sentences with lines.

    `validator` gives the class that judges by a schema, where it is not to be the usual one.
    """
    from jsonschema import validators  # 80 ms: only checks pay for it

    try:
        schema = json.loads(read_text(schema_path))
    except json.JSONDecodeError as error:
        name, what = str(schema_path), f"is not JSON: {error.msg}"
        raise DocumentError(name, error.lineno, (), what) from None
    usual = validators.validator_for(schema, default=validators.Draft202012Validator)
    kind = validator(schema) if validator else usual
    problems = (_schema_error(document, error) for error in kind(schema).iter_errors(document.data))
    return [str(problem) for problem in sorted(problems, key=_place)]


def _place(problem: DocumentError) -> tuple[int, int]:
    return problem.line or 0, len(problem.path)


def _schema_error(document: Document, error: ValidationError) -> DocumentError:
    """The most telling branch of a failed anyOf or oneOf, in the words of the other problems."""
    from jsonschema.exceptions import best_match

    error = best_match([error]) or error
    path = list(error.absolute_path)
    value: Plain = error.instance
    asked: Plain = error.validator_value
    if error.validator == "additionalProperties" and isinstance(value, dict):
        schema: Plain = error.schema
        known = list(schema.get("properties", {}))
        key = next((key for key in value if key not in known), "")
        return document.error([*path, key], f"unknown key {shown(key)}", did_you_mean(key, known))
    if error.validator == "enum" and isinstance(value, str):
        known = [choice for choice in asked if isinstance(choice, str)]
        return document.error(path, f"unknown value {shown(value)}", did_you_mean(value, known))
    return document.error(path, shown(error.message, 200, quote=False))
