"""The commands of post-mortem-render, and where an error becomes words and an exit status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ciops.errors import EXIT_DONE, EXIT_PARTIAL, EXIT_USAGE, CiopsError
from ciops.plumbing.interruption import StoppedError, stoppable

if TYPE_CHECKING:
    from ciops.plumbing.ci_host import CiHost

Arguments = Sequence[str]
Environment = Mapping[str, str]
Command = Callable[[Arguments, Environment], int]

USAGE: Final = """usage: post_mortem_render.py COMMAND …   (each explains itself with --help)

  new      write a record to fill in
  check    whether a record may become a post-mortem, and what is missing
  render   write the post-mortem for its destinations
  publish  post an approved payload to Jira
  lint     check the prose of an existing document

example: post_mortem_render.py render examples/post-mortem.yml --to file print"""


def _check(arguments: Arguments, env: Environment) -> int:
    from ciops.postmortem.check_command import main

    return main(arguments, env)


def _render(arguments: Arguments, env: Environment) -> int:
    from ciops.postmortem.render_command import main

    return main(arguments, env)


def _publish(arguments: Arguments, env: Environment) -> int:
    from ciops.postmortem.publish_command import main

    return main(arguments, env)


def _lint(arguments: Arguments, env: Environment) -> int:
    from ciops.postmortem.lint_command import main

    return main(arguments, env)


def _new(arguments: Arguments, env: Environment) -> int:
    from ciops.postmortem.new_command import main

    return main(arguments, env)


# Only the chosen command is imported: a start must not pay for the others.
COMMANDS: Final[dict[str, Command]] = {
    "new": _new,
    "check": _check,
    "render": _render,
    "publish": _publish,
    "lint": _lint,
}


def main(arguments: Arguments, env: Environment) -> int:
    """Run one command; its exit status. Every error a person can mend is one sentence.

    Without arguments the input `command` names the command, as in an action.
    """
    if not arguments and env.get("INPUT_COMMAND"):
        arguments = env["INPUT_COMMAND"].split()
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(USAGE)
        return EXIT_DONE if arguments else EXIT_USAGE
    try:
        with stoppable() as stop, stop.interruptible():
            return _command(arguments[0])(arguments[1:], env)
    except CiopsError as error:
        return _told(error, env)
    except StoppedError as stop:
        return _told(stop.told(), env)
    except BrokenPipeError:  # the reader of our output went away (`… | head`)
        sys.stderr.close()
        return EXIT_PARTIAL
    except Exception:
        return _bug(env)


def _command(name: str) -> Command:
    if name in COMMANDS:
        return COMMANDS[name]
    from ciops.errors import UsageError
    from ciops.plumbing.yaml_file import nearest, shown

    close = nearest(name, COMMANDS)
    step = f'Did you mean "{close}"?' if close else f"Commands are: {', '.join(COMMANDS)}"
    raise UsageError(f"there is no command {shown(name)}", step)


def _told(error: CiopsError, env: Environment) -> int:
    _host(env).error(str(error))
    return error.exit_status


def _bug(env: Environment) -> int:
    """A report that can be pasted: the trace shows code and error, and no secret."""
    import traceback

    host = _host(env)
    host.say(traceback.format_exc())
    host.error("this is a bug in post-mortem-render. Please report it with the lines above")
    return EXIT_PARTIAL


def _host(env: Environment) -> CiHost:
    from ciops.plumbing.command_line import open_host

    return open_host(env)
