"""The commands of post-mortem-render, and where an error becomes words and an exit status."""

from __future__ import annotations

from typing import Final

from ciops.plumbing.entry import Arguments, Command, Environment, Tool, run

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
    """Run one command; its exit status.

    Without arguments the input `command` names the command, as in an action.
    """
    if not arguments and env.get("INPUT_COMMAND"):
        arguments = env["INPUT_COMMAND"].split()
    return run(Tool("post-mortem-render", USAGE, COMMANDS), arguments, env)
