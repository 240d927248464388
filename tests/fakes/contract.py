"""An OpenAPI slice as the judge of every request and every reply.

`Contract.request` finds the operation and types its parameters, or says which
rule was broken; `Contract.reply_problem` says what is wrong with a reply. Query
and body keys that the contract does not list are refused (GitLab's slice lists
them under `x-query-keys`).
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

from fakes.schema import Check, Compiler, Problem, Schema

FOLDER = Path(__file__).parent.parent / "contract"
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A path or query parameter. `kind` is its JSON type: text is converted to it."""

    name: str
    required: bool
    kind: str
    item_kind: str
    default: Any
    check: Check


@dataclass(frozen=True, slots=True)
class Response:
    """What may be sent with one status: a check for each content type."""

    bodies: Mapping[str, Check]
    headers: Mapping[str, Check]
    required_headers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path, compiled."""

    method: str
    template: str
    path: re.Pattern[str]
    path_parameters: tuple[Parameter, ...]
    query: Mapping[str, Parameter]
    body: Check | None
    body_required: bool
    responses: Mapping[str, Response]

    @property
    def name(self) -> str:
        """How routes and counters name it: `GET /repos/{owner}/{repo}`."""
        return f"{self.method} {self.template}"


@dataclass(frozen=True, slots=True)
class Call:
    """A request that keeps the contract, with its parameters typed."""

    operation: Operation
    path: dict[str, Any]
    query: dict[str, Any]
    body: Any


@dataclass(frozen=True, slots=True)
class Broken:
    """A request that breaks the contract: the status to answer, and the rule."""

    status: int
    rule: str


class Contract:
    """A service's contract, loaded once from `tests/contract/`."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._compiler = Compiler(document, closed=True)
        self._operations = [
            self._operation(method, template, described)
            for template, methods in document["paths"].items()
            for method, described in methods.items()
        ]
        self._operations.sort(key=_specific_first)

    @property
    def operations(self) -> dict[str, Operation]:
        return {operation.name: operation for operation in self._operations}

    def schema(self, name: str) -> Check:
        """The check of a named schema, such as `basic-error`."""
        return self._compiler.compile({"$ref": f"#/components/schemas/{name}"})

    def request(self, method: str, path: str, query: str, body: bytes) -> Call | Broken:
        """The call that a request makes. `path` is percent-encoded and without a prefix."""
        fitting = [operation for operation in self._operations if operation.path.fullmatch(path)]
        if not fitting:
            return Broken(404, f"the contract has no path {path}")
        operation = next((known for known in fitting if known.method == method), None)
        if operation is None:
            known_methods = ", ".join(sorted({known.method for known in fitting}))
            rule = f"{method} {fitting[0].template} is not in the contract, only {known_methods}"
            return Broken(405, rule)
        return _call(operation, path, query, body)

    def reply_problem(
        self, operation: Operation, status: int, headers: Mapping[str, str], body: Any
    ) -> str | None:
        """What is wrong with a reply. Errors that the operation does not list pass.

        206 answers a Range header, which HTTP itself defines: it counts as 200.
        """
        response = operation.responses.get("200" if status == 206 else str(status))
        if response is None:
            return None if status >= 400 else f"status {status} is not in the contract"
        return _reply_problem(response, headers, body)

    def _operation(self, method: str, template: str, described: Mapping[str, Any]) -> Operation:
        parameters = [self._resolved(part) for part in described.get("parameters", ())]
        request_body = self._resolved(described.get("requestBody", {}))
        schema = request_body.get("content", {}).get(JSON, {}).get("schema")
        in_path = {part["name"]: part for part in parameters if part["in"] == "path"}
        return Operation(
            method=method.upper(),
            template=template,
            path=_path_pattern(template, in_path),
            path_parameters=tuple(
                self._parameter(in_path[name]) for name in re.findall(r"\{(\w+)\}", template)
            ),
            query=self._query(parameters, described.get("x-query-keys")),
            body=None if schema is None else self._compiler.compile(schema),
            body_required=request_body.get("required", False),
            responses={
                status: self._response(self._resolved(part))
                for status, part in described["responses"].items()
            },
        )

    def _query(
        self, parameters: list[Mapping[str, Any]], listed: list[str] | None
    ) -> dict[str, Parameter]:
        declared = {part["name"]: part for part in parameters if part["in"] == "query"}
        names = declared.keys() if listed is None else listed
        return {name: self._parameter(declared.get(name, {"name": name})) for name in names}

    def _parameter(self, described: Mapping[str, Any]) -> Parameter:
        schema = self._resolved(described.get("schema", {"type": "string"}))
        return Parameter(
            name=described["name"],
            required=described.get("required", False),
            kind=schema.get("type", "string"),
            item_kind=schema.get("items", {}).get("type", "string"),
            default=schema.get("default"),
            check=self._compiler.compile(schema),
        )

    def _response(self, described: Mapping[str, Any]) -> Response:
        headers = {
            name: self._resolved(part) for name, part in described.get("headers", {}).items()
        }
        return Response(
            bodies={
                kind: self._compiler.compile(part.get("schema", {}))
                for kind, part in described.get("content", {}).items()
            },
            headers={
                name.lower(): self._compiler.compile(part["schema"])
                for name, part in headers.items()
            },
            required_headers=tuple(name for name, part in headers.items() if part.get("required")),
        )

    def _resolved(self, node: Schema) -> Schema:
        target: Schema = self._compiler.resolve(node["$ref"]) if "$ref" in node else node
        return target


@functools.cache
def document(name: str) -> dict[str, Any]:
    """The slice `github`, `gitlab` or `jira` as it is written; read once a process."""
    read: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return read


@functools.cache
def load(name: str) -> Contract:
    """The contract of `github`, `gitlab` or `jira`; compiled once a process."""
    return Contract(document(name))


@functools.cache
def adf_check() -> Check:
    """Atlassian's own schema of an ADF document, compiled as strictly as it is written."""
    schema = json.loads((FOLDER / "adf-schema.json").read_text(encoding="utf-8"))
    return Compiler(schema, closed=False).compile(schema)


def _specific_first(operation: Operation) -> tuple[bool, int]:
    literals = [part for part in operation.template.split("/") if not part.startswith("{")]
    return (".+" in operation.path.pattern, -len(literals))


def _path_pattern(template: str, parameters: Mapping[str, Mapping[str, Any]]) -> re.Pattern[str]:
    """One segment a parameter, unless the contract lets it span several."""
    pattern = ""
    for part in re.split(r"(\{\w+\})", template):
        if not part.startswith("{"):
            pattern += re.escape(part)
        else:
            spans = parameters[part[1:-1]].get("x-multi-segment")
            pattern += "(.+)" if spans else "([^/]+)"
    return re.compile(pattern)


def _call(operation: Operation, path: str, query: str, body: bytes) -> Call | Broken:
    match = operation.path.fullmatch(path)
    values = dict(zip(operation.path_parameters, match.groups() if match else (), strict=True))
    in_path: dict[str, Any] = {}
    for parameter, text in values.items():
        value = _typed(unquote(text), parameter.kind)
        problem = parameter.check(value)
        if problem is not None:
            return Broken(404, f"{operation.name}: {parameter.name} in the path: {problem.text}")
        in_path[parameter.name] = value
    in_query = _query(operation, query)
    if isinstance(in_query, Broken):
        return in_query
    data = _body(operation, body)
    return data if isinstance(data, Broken) else Call(operation, in_path, in_query, data)


def _query(operation: Operation, text: str) -> dict[str, Any] | Broken:
    found: dict[str, Any] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        parameter = operation.query.get(name)
        if parameter is None:
            known = ", ".join(sorted(operation.query)) or "none"
            return Broken(400, f"{operation.name}: unknown query key {name!r} (known: {known})")
        if parameter.kind == "array":
            found.setdefault(name, []).append(_typed(value, parameter.item_kind))
        elif name in found:
            return Broken(400, f"{operation.name}: query key {name!r} stands twice")
        else:
            found[name] = _typed(value, parameter.kind)
    return _checked_query(operation, found)


def _checked_query(operation: Operation, found: dict[str, Any]) -> dict[str, Any] | Broken:
    for parameter in operation.query.values():
        if parameter.name in found:
            problem = parameter.check(found[parameter.name])
            if problem is not None:
                return Broken(400, f"{operation.name}: query key {parameter.name!r}: {problem}")
        elif parameter.required:
            return Broken(400, f"{operation.name}: query key {parameter.name!r} is missing")
        elif parameter.default is not None:
            found[parameter.name] = parameter.default
    return found


def _body(operation: Operation, body: bytes) -> Any | Broken:
    if operation.body is None:
        return Broken(400, f"{operation.name}: takes no body") if body else None
    if not body:
        missing = Broken(400, f"{operation.name}: the body is missing")
        return missing if operation.body_required else None
    try:
        data = json.loads(body)
    except ValueError:
        return Broken(400, f"{operation.name}: the body is not JSON")
    problem = operation.body(data)
    return Broken(422, f"{operation.name}: body: {problem}") if problem else data


def _typed(text: str, kind: str) -> Any:
    """Text of a URL as the JSON type it stands for; what does not fit stays text."""
    if kind == "integer" and re.fullmatch(r"-?\d+", text):
        return int(text)
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    return text


def _reply_problem(response: Response, headers: Mapping[str, str], body: Any) -> str | None:
    lowered = {name.lower(): value for name, value in headers.items()}
    for name in response.required_headers:
        if name.lower() not in lowered:
            return f"the header {name} is missing"
    for name, check in response.headers.items():
        problem = check(lowered[name]) if name in lowered else None
        if problem is not None:
            return f"header {name}: {problem.text}"
    if not response.bodies:
        return None
    kind = lowered.get("content-type", "").split(";")[0]
    if kind not in response.bodies:
        return f"content type {kind!r} is none of {', '.join(sorted(response.bodies))}"
    found: Problem | None = response.bodies[kind](body)
    return None if found is None else str(found)
