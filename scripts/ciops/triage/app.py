"""The commands of issue-triage, and the one place where an error becomes words and a status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ciops.errors import EXIT_DONE, EXIT_PARTIAL, EXIT_USAGE, CiopsError
from ciops.plumbing.interruption import StoppedError, stoppable

Arguments = Sequence[str]
Environment = Mapping[str, str]
Command = Callable[[Arguments, Environment], int]

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
    """Run one command; its exit status. Every error a person can mend is one sentence."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(USAGE)
        return EXIT_DONE if arguments else EXIT_USAGE
    command = commands.get(arguments[0])
    if command is None:
        return _unknown(arguments[0], env)
    try:
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


def _unknown(name: str, env: Environment) -> int:
    from ciops.errors import UsageError
    from ciops.plumbing.yaml_file import nearest, shown

    close = nearest(name, COMMANDS)
    step = f'Did you mean "{close}"?' if close else f"Commands are: {', '.join(COMMANDS)}"
    return _told(UsageError(f"there is no command {shown(name)}", step), env)


def _told(error: CiopsError, env: Environment) -> int:
    from ciops.plumbing.command_line import open_host
    from ciops.plumbing.rendering import escape_markdown

    host = open_host(env)
    host.error(str(error))
    if env.get("GITHUB_STEP_SUMMARY"):  # whoever looks there first should find it
        host.summary(f"**{escape_markdown(str(error))}**")
    return error.exit_status


def _bug(env: Environment) -> int:
    """A report that can be pasted: the trace shows code and error, and no secret."""
    import traceback

    from ciops.plumbing.command_line import open_host

    host = open_host(env)
    host.say(traceback.format_exc())
    host.error("this is a bug in issue-triage. Please report it with the lines above")
    return EXIT_PARTIAL
