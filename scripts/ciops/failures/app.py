"""The commands of pipeline-failure-report, and the one place where an error becomes words."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ciops.errors import EXIT_DONE, EXIT_PARTIAL, EXIT_USAGE, CiopsError
from ciops.plumbing.interruption import StoppedError, stoppable

Arguments = Sequence[str]
Environment = Mapping[str, str]
Command = Callable[[Arguments, Environment], int]

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
    """Run one command; its exit status. Every error a person can mend is one sentence."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(USAGE)
        return EXIT_DONE if arguments else EXIT_USAGE
    command = COMMANDS.get(arguments[0])
    try:
        if command is None:
            raise _unknown(arguments[0])
        with stoppable() as stop, stop.interruptible():
            return command(arguments[1:], env)
    except CiopsError as error:
        return _told(error, env)
    except StoppedError as stop:
        return _told(stop.told(), env)
    except BrokenPipeError:  # the reader of our output went away (`… | head`)
        sys.stderr.close()
        return EXIT_PARTIAL
    except Exception:
        return _bug(env)


def _unknown(name: str) -> CiopsError:
    from ciops.errors import UsageError
    from ciops.plumbing.yaml_file import nearest, shown

    close = nearest(name, COMMANDS)
    step = f'Did you mean "{close}"?' if close else f"Commands are: {', '.join(COMMANDS)}"
    return UsageError(f"there is no command {shown(name)}", step)


def _told(error: CiopsError, env: Environment) -> int:
    from ciops.failures.redaction import mask_secrets
    from ciops.plumbing.command_line import open_host

    open_host(env).error(mask_secrets(str(error)))
    return error.exit_status


def _bug(env: Environment) -> int:
    """A report that can be pasted: the trace shows code and error, and no secret."""
    import traceback

    from ciops.failures.redaction import mask_secrets
    from ciops.plumbing.command_line import open_host

    host = open_host(env)
    host.say(mask_secrets(traceback.format_exc()))
    host.error("this is a bug in pipeline-failure-report. Please report it with the lines above")
    return EXIT_PARTIAL
