"""The fields nobody cares about, filled from the contract itself.

A test hands over the fields that matter; everything else that the contract
requires gets a plain value of the right type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EPOCH = "2026-01-01T00:00:00Z"
SHA = "0" * 40


class Filler:
    """Builds objects of a contract's named schemas. `base_url` starts the URLs it makes up."""

    def __init__(self, document: Mapping[str, Any], base_url: str) -> None:
        self._document = document
        self._base_url = base_url
        self._templates: dict[str, dict[str, Any]] = {}

    def fill(self, schema: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """`given` over plain values of whatever else the schema requires.

        The plain values are shared: replace them, never change them in place.
        """
        if schema not in self._templates:
            described = self._resolved(f"#/components/schemas/{schema}")
            self._templates[schema] = self._of_type({**described, "type": "object"}, schema)
        return {**self._templates[schema], **given}

    def _value(self, schema: Mapping[str, Any], name: str = "") -> Any:
        if "$ref" in schema:
            return self._value(self._resolved(schema["$ref"]), name)
        if schema.get("nullable"):
            return None
        for keyword in ("allOf", "anyOf", "oneOf"):
            if keyword in schema and "properties" not in schema:
                return self._value(schema[keyword][0], name)
        if "enum" in schema:
            return schema["enum"][0]
        return self._of_type(schema, name)

    def _of_type(self, schema: Mapping[str, Any], name: str) -> Any:
        kind = schema.get("type", "object")
        if kind == "object":
            properties = schema.get("properties", {})
            return {key: self._value(properties[key], key) for key in schema.get("required", ())}
        if kind == "string":
            return self._text(schema, name)
        if kind == "array":
            return []
        return False if kind == "boolean" else schema.get("minimum", 0)

    def _text(self, schema: Mapping[str, Any], name: str) -> str:
        if schema.get("format") == "date-time" or name.endswith("_at"):
            return EPOCH
        if schema.get("format") == "date":
            return EPOCH[:10]
        if schema.get("format") == "uri" or name == "url" or name.endswith("_url"):
            return f"{self._base_url}/{name.removesuffix('_url') or 'url'}"
        if "[0-9a-f]{40}" in schema.get("pattern", "") or name.endswith("sha"):
            return SHA
        if "color" in name:
            return "#ededed" if schema.get("pattern") else "ededed"
        return name

    def _resolved(self, reference: str) -> Mapping[str, Any]:
        node: Any = self._document
        for step in reference.removeprefix("#/").split("/"):
            node = node[step]
        found: Mapping[str, Any] = node
        return found
