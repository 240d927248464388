"""Whether a document is valid ADF, by Atlassian's own schema, in time that grows with its length.

The schema is recursive and offers up to forty kinds of node at a place, each in variants. Tried one
after another at every depth they cost half a second of a long comment. Here only the kinds that can
bear a node's `type` are tried, and what was found valid once is not looked at again: whatever is
left out could not have changed the verdict.
https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ciops.plumbing.schema_check import schema_problems
from ciops.plumbing.yaml_file import Document, Plain
from ciops.postmortem.prose_rules import CONFIG

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

ADF_SCHEMA: Final = CONFIG / "adf.schema.json"
Schema = Mapping[str, Any]
# Ten times what a record renders to, and far from where Python's own stack would end.
_DEEPEST: Final = 100


def adf_problems(name: str, body: Mapping[str, Any]) -> list[str]:
    """What is wrong with a document, as sentences; `name` is the file that holds it."""
    if _is_deeper(body, _DEEPEST):
        return [f"it is nested too deep: more than {_DEEPEST} levels"]
    return schema_problems(Document(name, body, ""), ADF_SCHEMA, _validator)


def _is_deeper(body: Plain, levels: int) -> bool:
    """Whether something lies below so many levels of objects and lists."""
    level: list[Plain] = [body]
    for _ in range(levels):
        level = [part for whole in level for part in _parts(whole)]
    return bool(level)


def _parts(whole: Plain) -> Iterable[Plain]:
    if isinstance(whole, dict):
        return whole.values()
    return whole if isinstance(whole, list) else ()


def _validator(schema: Schema) -> type[Validator]:
    """A validator for one document."""
    from jsonschema import Draft4Validator, validators

    nodes = _Nodes(schema["definitions"])
    usual = Draft4Validator.VALIDATORS["anyOf"]

    def any_of(
        validator: Validator, branches: Sequence[Schema], node: Plain, schema: Schema
    ) -> Iterator[ValidationError]:
        tried = []
        for branch in nodes.able(branches, node):
            errors = list(validator.evolve(schema=branch).iter_errors(node))
            if not errors:
                return
            tried.append(errors)
        # Of the variants of a node the one that it nearly is says best what is wrong.
        yield from min(tried, key=len) if tried else usual(validator, branches, node, schema)

    keywords = {"anyOf": any_of, "$ref": nodes.referred}
    kind: type[Validator] = validators.extend(Draft4Validator, keywords)  # type: ignore[no-untyped-call]
    return kind


class _Nodes:
    """The definitions of a schema: which node types each can bear, and what is valid by each."""

    def __init__(self, definitions: Schema) -> None:
        self.definitions = definitions
        self.types: dict[int, frozenset[str] | None] = {}
        self.valid: set[tuple[str, int]] = set()

    def able(self, branches: Sequence[Schema], node: object) -> Sequence[Schema]:
        """The branches that can bear a node's type."""
        kind = node.get("type") if isinstance(node, dict) else None
        if not isinstance(kind, str):
            return branches
        each = ((branch, self.types_of(branch)) for branch in branches)
        return [branch for branch, types in each if types is None or kind in types]

    def referred(
        self, validator: Validator, reference: str, node: Plain, _: Schema
    ) -> Iterator[ValidationError]:
        """The errors of a node by a definition; a node that has none is remembered."""
        if (reference, id(node)) in self.valid:
            return
        errors = list(validator.evolve(schema=self.named(reference)).iter_errors(node))
        yield from errors
        if not errors:
            self.valid.add((reference, id(node)))

    def named(self, reference: str) -> Schema:
        found: Schema = self.definitions[reference.removeprefix("#/definitions/")]
        return found

    def types_of(self, schema: Schema) -> frozenset[str] | None:
        """The node types that a schema can bear; None where it asks for none."""
        if id(schema) not in self.types:
            self.types[id(schema)] = self._types_of(schema)
        return self.types[id(schema)]

    def _types_of(self, schema: Schema) -> frozenset[str] | None:
        if "$ref" in schema:
            return self.types_of(self.named(schema["$ref"]))
        if "anyOf" in schema:
            each = [self.types_of(branch) for branch in schema["anyOf"]]
            return None if None in each else frozenset().union(*filter(None, each))
        if "allOf" in schema:
            asked = (self.types_of(branch) for branch in schema["allOf"])
            return next((types for types in asked if types is not None), None)
        named = schema.get("properties", {}).get("type", {}).get("enum")
        return frozenset(named) if named and "type" in schema.get("required", ()) else None
