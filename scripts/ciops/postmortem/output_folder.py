"""Files below the output folder: whole or not there at all, and never outside of it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ciops.errors import RefusedError, UsageError
from ciops.plumbing.output_folder import make_folder, write_whole
from ciops.plumbing.yaml_file import shown

# Names that Windows keeps for devices, with any ending.
_DEVICES: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)


def file_stem(ticket: str) -> str:
    """A ticket as part of a file name: `org/repo#12` as `org-repo-12`; raises UsageError."""
    stem = re.sub(r"[^\w.-]+", "-", ticket).strip("-.")[:100]
    # A name may have 255 bytes, with what is put behind it and before.
    stem = stem.encode()[:150].decode(errors="ignore")
    if not stem:
        raise UsageError(f"ticket {shown(ticket)} has no letter or digit to name a file by")
    return f"_{stem}" if _DEVICES.fullmatch(stem) else stem


def write_file(folder: Path, relative: str, text: str) -> Path:
    """Write a file as a whole; raises RefusedError where a symbolic link leads elsewhere."""
    path = folder / relative
    _refuse_links(folder, path)
    make_folder(path.parent)
    with _held(folder, path) as place:
        write_whole(path, text.encode("utf-8", "replace"), place)
    return path


@contextlib.contextmanager
def _held(folder: Path, path: Path) -> Iterator[int | None]:
    """The folder of a file, held open and looked at again: one put in its place changes nothing.

    None where files cannot be named from an open folder.
    """
    if os.open not in os.supports_dir_fd:
        yield None
        return
    place = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _refuse_links(folder, path)
        if not os.path.samestat(os.fstat(place), os.lstat(path.parent)):
            raise RefusedError(f"{path.parent} was replaced while it was written to", "Run again")
        yield place
    finally:
        os.close(place)


def _refuse_links(folder: Path, path: Path) -> None:
    """A link below the folder could lead a write anywhere; the folder itself is the user's."""
    place = path
    while place != folder:
        if place.is_symlink():
            raise RefusedError(f"{place} is a symbolic link", "Remove it, or give another --output")
        place = place.parent
