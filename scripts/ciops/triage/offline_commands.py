"""Commands that need no network: `decide`, `backtest` on files, and `policy check`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from ciops.errors import EXIT_DONE, EXIT_PARTIAL, EXIT_USAGE, UsageError
from ciops.plumbing.ci_host import detect
from ciops.plumbing.command_line import open_host, parse
from ciops.plumbing.yaml_file import shown
from ciops.triage.case_reader import Case, Unread, read_cases
from ciops.triage.command_line import (
    Parser,
    add_output,
    add_place,
    add_policy,
    expanded,
    open_queue,
    place_of,
)
from ciops.triage.decide import Decision, decide, profile_of, to_json
from ciops.triage.facts import from_rest
from ciops.triage.policy import Policy, Profile
from ciops.triage.policy_file import load_policy

HINTS: Final = 5  # shown of what works and could be better
POLICY_CHECK: Final = """Check a policy.

Its keys and values, its patterns (also how long they may take), and every example: each rule must
know its matches and leave its near misses alone."""


def decide_main(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    """Decide issues from files: one JSON object a line, or Markdown."""
    parser = Parser(
        "decide", "Decide issues from files, without any network.", "tests/data/triage/cases"
    )
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="a case, a folder, JSONL"
    )
    add_policy(parser)
    about = "as in a sweep, or as an issue that is named; default: sweep"
    parser.add_argument("--mode", choices=("sweep", "single"), default="sweep", help=about)
    parser.add_argument("--format", choices=("jsonl", "md"), default="jsonl", help="default: jsonl")
    options = parse(parser, arguments, detect(env))
    policy = load_policy(options.policy)
    profile = profile_of(policy, options.profile)
    cases, unread = _split(options.paths)
    for case in cases:
        decision = decide(case.facts, policy, profile, options.mode)
        print(_told(case, decision, policy, options.format))
    return _status(cases, unread)


def _told(case: Case, decision: Decision, policy: Policy, form: str) -> str:
    from ciops.triage.would_change import change_json, would_change

    changes = would_change(case.facts, decision, policy)
    if form == "md":
        from ciops.triage.explanation import explanation

        return explanation(case.facts, decision, policy, changes)
    return json.dumps(to_json(decision, map(change_json, changes)), ensure_ascii=False)


def _split(paths: Sequence[Path]) -> tuple[list[Case], list[Unread]]:
    found = list(read_cases([path for given in paths for path in expanded(str(given))]))
    cases = [item for item in found if isinstance(item, Case)]
    return cases, [item for item in found if isinstance(item, Unread)]


def _status(cases: Sequence[Case], unread: Sequence[Unread]) -> int:
    """Name what could not be read; the exit status that follows."""
    for item in unread:
        print(f"{item.source}: {item.problem}", file=sys.stderr)
    if not cases:
        if not unread:
            print("no case is there: give a .json file, a .jsonl file or a folder", file=sys.stderr)
        return EXIT_USAGE
    return EXIT_PARTIAL if unread else EXIT_DONE


def backtest_main(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    """Measure decisions on authored cases, or on the history of a live repository."""
    about = "Compare decisions with what people decided."
    parser = Parser("backtest", about, "tests/data/triage/cases --against my-policy.yml")
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="a case, a folder, JSONL"
    )
    add_place(parser)
    parser.add_argument("--since", metavar="DATE", help="with --repo: issues touched since then")
    add_policy(parser)
    parser.add_argument("--against", type=Path, metavar="FILE2", help="show what it would change")
    parser.add_argument("--format", choices=("md", "json"), default="md", help="default: md")
    add_output(parser)
    options = parse(parser, arguments, detect(env))
    if bool(options.paths) == bool(options.since) or (options.paths and options.repo):
        raise UsageError("backtest needs one source", "Give PATHs, or --repo and --since")
    policy = load_policy(options.policy)
    profile = profile_of(policy, options.profile)
    other = load_policy(options.against) if options.against else None
    cases, unread = _split(options.paths) if options.paths else (_live(options, policy, env), [])
    decided = [(case, decide(case.facts, policy, profile)) for case in cases]
    figures = _measured(decided, policy, profile, other, options.format)
    print(figures)
    if options.format == "md" and env.get("GITHUB_STEP_SUMMARY"):
        detect(env).summary(figures)
    return _status(cases, unread)


def _live(options: argparse.Namespace, policy: Policy, env: Mapping[str, str]) -> list[Case]:
    """Cases from a repository's own history; read-only."""
    from ciops.triage.history import Source, day, live_cases

    host = open_host(env, options.output)
    place = place_of(options, host)
    forge, queue = open_queue(place, host)
    source = Source(queue, forge.client, place.repo, day(options.since), options.output)
    found = live_cases(source, policy, host)
    return [Case(str(data["id"]), from_rest(data), data) for data in found]


def _measured(
    decided: Sequence[tuple[Case, Decision]],
    policy: Policy,
    profile: Profile,
    other: Policy | None,
    form: str,
) -> str:
    """The figures, and what another policy decides differently."""
    from ciops.triage.backtest import Difference, compare, expected_of, measure
    from ciops.triage.backtest_report import figures_json, figures_markdown

    pairs = ((expected_of(case.data, case.facts), case.facts, made) for case, made in decided)
    figures = measure(pairs, policy, profile)
    differences: list[Difference] = []
    if other is not None:
        theirs = profile_of(other, profile.id if profile.id in other.profiles else None)
        for case, made in decided:
            differences.extend(compare(made, decide(case.facts, other, theirs)))
    if form == "json":
        return json.dumps(figures_json(figures, differences), ensure_ascii=False, indent=2)
    compared = differences if other is not None else None
    return figures_markdown(figures, f"{policy.name}@{policy.version}", compared)


def policy_main(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    """`policy check FILE`: each problem as an error, a summary on standard output."""
    host = detect(env)
    if arguments and arguments[0] == "check":
        arguments = arguments[1:]
    elif arguments and not arguments[0].startswith("-"):
        raise UsageError(f"policy: there is no {shown(arguments[0])}", "Write: policy check FILE")
    parser = Parser("policy check", POLICY_CHECK, "config/issue-triage/pytorch-distributed.yml")
    parser.add_argument("file", metavar="FILE", type=Path)
    options = parse(parser, arguments, host)
    from ciops.triage.policy_check import check_policy

    policy, problems, hints = check_policy(options.file)
    for hint in hints[:HINTS]:
        print(f"hint: {hint}")
    if hints[HINTS:]:
        print(f"hint: and {len(hints) - HINTS} more like these")
    for problem in problems:
        host.error(problem)
    if problems:
        found = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise UsageError(f"{options.file}: {found}", "Mend the rules named above")
    rules = f"{len(policy.signals)} rules for {len(policy.components)} parts"
    print(f"{policy.name}@{policy.version}: {rules}; every example is as it should be")
    return EXIT_DONE
