"""The commands of pipeline-failure-report, and the one place where an error becomes words."""

from __future__ import annotations

from typing import Final

from ciops.plumbing.entry import Arguments, Command, Environment, Tool, run

USAGE: Final = """usage: pipeline_failure_report.py COMMAND …    (each explains itself with --help)

  report        from a pipeline to the root causes of its failed jobs
  scan          the first causal error of traces on disk
  merge         one report from the parts of a run with --shard
  open-pr       propose the change that fixes a bucket
  rules check   try the rules of a configuration on their examples

example: pipeline_failure_report.py report --pipeline 90100060 --format md html json"""


def _report(arguments: Arguments, env: Environment) -> int:
    from ciops.failures.report_command import main

    return main(arguments, env)


def _scan(arguments: Arguments, env: Environment) -> int:
    from ciops.failures.scan_command import main

    return main(arguments, env)


def _rules(arguments: Arguments, env: Environment) -> int:
    from ciops.failures.rules_command import main

    return main(arguments, env)


def _merge(arguments: Arguments, env: Environment) -> int:
    from ciops.failures.merge_command import main

    return main(arguments, env)


def _open_pr(arguments: Arguments, env: Environment) -> int:
    from ciops.failures.open_pr_command import main

    return main(arguments, env)


# Only the chosen command is imported: a start must not pay for the others.
COMMANDS: Final[dict[str, Command]] = {
    "report": _report,
    "scan": _scan,
    "merge": _merge,
    "open-pr": _open_pr,
    "rules": _rules,
}


def main(arguments: Arguments, env: Environment) -> int:
    """Run one command; its exit status."""
    return run(Tool("pipeline-failure-report", USAGE, COMMANDS, hide=_hide), arguments, env)


def _hide(text: str) -> str:
    from ciops.failures.redaction import mask_secrets

    return mask_secrets(text)
