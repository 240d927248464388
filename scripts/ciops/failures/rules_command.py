"""`rules check`: try every rule of a configuration on the examples it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from ciops.errors import EXIT_DONE, UsageError
from ciops.failures.command_line import (
    ROOT,
    Parser,
)
from ciops.failures.knowledge import load_knowledge
from ciops.failures.rule_check import problems
from ciops.failures.scope import read_scope
from ciops.failures.tracking_rules import read_tracking
from ciops.plumbing.command_line import open_host, parse

ABOUT: Final = """Check a configuration with all it extends.

Its keys and values, its patterns (also how long they may take), and every example: each rule must
know its matches and leave its near misses alone."""
EXAMPLE: Final = "config/pipeline-failure-report/autodeploy.yml"
SCHEMA: Final = ROOT / "config" / "pipeline-failure-report" / "schema.json"


def main(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    """The command; its exit status."""
    host = open_host(env)
    if arguments and arguments[0] == "check":
        arguments = arguments[1:]
    elif arguments and not arguments[0].startswith("-"):
        raise UsageError(f"rules: there is no {arguments[0]}", "Write: rules check FILE")
    parser = Parser("rules check", ABOUT, EXAMPLE)
    parser.add_argument("file", metavar="FILE", type=Path)
    given = parse(parser, arguments, host)
    knowledge = load_knowledge(given.file)
    read_scope(knowledge)
    read_tracking(knowledge)
    found = problems(knowledge, SCHEMA)
    if found:
        for problem in found[:-1]:
            host.error(problem)
        raise UsageError(found[-1])
    lines = len(knowledge.lines) + len(knowledge.observations)
    rules = f"{lines} rules for lines, {len(knowledge.buckets)} for buckets"
    host.say(f"{knowledge.name}: {rules}; every example is as it should be")
    return EXIT_DONE
