"""Files below the output folder: whole or not there at all, and never outside of it."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Final

from ciops.errors import RefusedError, UsageError
from ciops.plumbing.yaml_file import shown

# Names that Windows keeps for devices, with any ending.
_DEVICES: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)


def file_stem(ticket: str) -> str:
    """A ticket as part of a file name: `org/repo#12` as `org-repo-12`; raises UsageError."""
    stem = re.sub(r"[^\w.-]+", "-", ticket).strip("-.")[:100]
    if not stem:
        raise UsageError(f"ticket {shown(ticket)} has no letter or digit to name a file by")
    return f"_{stem}" if _DEVICES.fullmatch(stem) else stem


def write_file(folder: Path, relative: str, text: str) -> Path:
    """Write a file as a whole; raises RefusedError where a symbolic link leads elsewhere."""
    path = folder / relative
    _refuse_links(folder, path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode())
            Path(aside).chmod(0o644)
            Path(aside).replace(path)
        except BaseException:
            Path(aside).unlink(missing_ok=True)
            raise
    except OSError as error:
        problem = f"{path} cannot be written: {error.strerror}"
        raise UsageError(problem, "Give another folder with --output") from None
    return path


def _refuse_links(folder: Path, path: Path) -> None:
    """A link below the folder could lead a write anywhere; the folder itself is the user's."""
    place = path
    while place != folder:
        if place.is_symlink():
            raise RefusedError(f"{place} is a symbolic link", "Remove it, or give another --output")
        place = place.parent
