"""The commands of issue-triage, and the one place where an error becomes words and a status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ciops.plumbing.entry import Arguments, Command, Environment, Tool, run

USAGE: Final = """usage: issue_triage.py COMMAND …    (each command explains itself with --help)

  run           triage issues: of an event, by number, or the whole queue
  explain       why an issue gets its labels, or why not a certain one
  decide        decide issues from files, without any network
  backtest      compare decisions with what people decided
  undo          take back what one run added
  merge         one summary of the shards of a sweep
  policy check  check a policy file

example: issue_triage.py run --repo OWNER/NAME --issue 7 --dry-run"""


def _run(arguments: Arguments, env: Environment) -> int:
    from ciops.triage.run_command import main

    return main(arguments, env)


def _explain(arguments: Arguments, env: Environment) -> int:
    from ciops.triage.explain import main

    return main(arguments, env)


def _decide(arguments: Arguments, env: Environment) -> int:
    from ciops.triage.offline_commands import decide_main

    return decide_main(arguments, env)


def _backtest(arguments: Arguments, env: Environment) -> int:
    from ciops.triage.offline_commands import backtest_main

    return backtest_main(arguments, env)


def _policy(arguments: Arguments, env: Environment) -> int:
    from ciops.triage.offline_commands import policy_main

    return policy_main(arguments, env)


def _undo(arguments: Arguments, env: Environment) -> int:
    from ciops.triage.undo import main

    return main(arguments, env)


def _merge(arguments: Arguments, env: Environment) -> int:
    from ciops.triage.merge import main

    return main(arguments, env)


# Only the chosen command is imported: a start must not pay for the others.
COMMANDS: Final[dict[str, Command]] = {
    "run": _run,
    "explain": _explain,
    "decide": _decide,
    "backtest": _backtest,
    "policy": _policy,
    "undo": _undo,
    "merge": _merge,
}


def main(arguments: Arguments, env: Environment, commands: Mapping[str, Command] = COMMANDS) -> int:
    """Run one command; its exit status."""
    return run(Tool("issue-triage", USAGE, commands, summarises=True), arguments, env)
