"""Where a tool begins and ends: its command is chosen, an error becomes words and a status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ciops.errors import EXIT_DONE, EXIT_PARTIAL, EXIT_USAGE, CiopsError
from ciops.plumbing.interruption import StoppedError, stoppable

Arguments = Sequence[str]
Environment = Mapping[str, str]
Command = Callable[[Arguments, Environment], int]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool by its name, what it says of itself, and its commands.

    `hide` takes secrets out of what is said. With `summarises` an error stands in the job summary
    as well.
    """

    name: str
    usage: str
    commands: Mapping[str, Command]
    hide: Callable[[str], str] = str
    summarises: bool = False


def run(tool: Tool, arguments: Arguments, env: Environment) -> int:
    """Run one command; its exit status. Every error a person can mend is one sentence."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(tool.usage)
        return EXIT_DONE if arguments else EXIT_USAGE
    try:
        command = tool.commands.get(arguments[0]) or _unknown(arguments[0], tool)
        with stoppable() as stop, stop.interruptible():
            return command(arguments[1:], env)
    except CiopsError as error:
        return _told(error, tool, env)
    except StoppedError as stop:
        return _told(stop.told(), tool, env)
    except BrokenPipeError:  # the reader of our output went away (`… | head`)
        sys.stderr.close()
        return EXIT_PARTIAL
    except Exception:
        return _bug(tool, env)


def _unknown(name: str, tool: Tool) -> Command:
    from ciops.errors import UsageError
    from ciops.plumbing.yaml_file import nearest, shown

    close = nearest(name, tool.commands)
    step = f'Did you mean "{close}"?' if close else f"Commands are: {', '.join(tool.commands)}"
    raise UsageError(f"there is no command {shown(name)}", step)


def _told(error: CiopsError, tool: Tool, env: Environment) -> int:
    from ciops.plumbing.command_line import open_host

    host = open_host(env)
    host.error(tool.hide(str(error)))
    if tool.summarises and env.get("GITHUB_STEP_SUMMARY"):  # whoever looks there first finds it
        from ciops.plumbing.rendering import escape_markdown

        with suppress(CiopsError):  # the summary itself may be what cannot be written
            host.summary(f"**{escape_markdown(tool.hide(str(error)))}**")
    return error.exit_status


def _bug(tool: Tool, env: Environment) -> int:
    """A report that can be pasted: the trace shows code and error, and no secret."""
    import traceback

    from ciops.plumbing.command_line import open_host

    host = open_host(env)
    host.say(tool.hide(traceback.format_exc()))
    host.error(f"this is a bug in {tool.name}. Please report it with the lines above")
    return EXIT_PARTIAL
