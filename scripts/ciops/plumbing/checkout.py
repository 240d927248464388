"""What a checkout that strangers may write to must not lead to: a file elsewhere on the machine.

`policy check`, `lint` and the like run on pull requests, and their findings quote what they read.
A proposed file may be a link to one that only the machine's owner should see.
"""

from __future__ import annotations

import os
from pathlib import Path

from ciops.errors import RefusedError


def refuse_link_out(path: str | Path) -> None:
    """RefusedError for a file below the working folder that a link makes one outside of it."""
    try:
        here = Path.cwd()
    except OSError:  # it was removed
        return
    given = Path(os.path.normpath(here / path))
    if given.is_relative_to(here) and not given.resolve().is_relative_to(here):
        problem = f"{path} is a link that leads out of the working folder"
        raise RefusedError(problem, "Name the file that it leads to, if that is what is meant")
