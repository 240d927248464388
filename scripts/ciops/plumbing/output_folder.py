"""The folder that results are written to, which no symbolic link leads out of.

The folder may lie in a checkout that strangers can write to: a link in the place of a file is
replaced, never followed, and a folder that is a link is refused. A whole file is written aside and
renamed, so it is all there or not at all.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import BinaryIO, Final

from ciops.errors import CiopsError, PartialError, RefusedError, UsageError
from ciops.plumbing.yaml_file import shown

# What no file name should hold.
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST: Final = 80
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_MORE: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND
_AS_IT_IS: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", 0)})


def safe_name(text: str) -> str:
    """A text as part of a file name: letters, digits, `.`, `_` and `-`, not a hidden file."""
    return _UNSAFE.sub("-", text).strip("-.")[:_LONGEST].rstrip("-.")


def make_folder(folder: Path, option: str = "--output") -> None:
    """Make a folder; UsageError where that cannot be, RefusedError where it is a link."""
    refuse_link(folder, option)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        problem = f"{option}: {folder} cannot be written: {reason}"
        raise UsageError(problem, f"Name another folder by {option}") from None


def refuse_link(folder: Path, option: str = "--output") -> None:
    """RefusedError when a folder is a link, or in the working folder lies below one."""
    below = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
    parents = [] if below.is_absolute() else [part for part in below.parents if part.name]
    for part in (folder, *parents):
        if part.is_symlink():
            problem = f"{option}: {part} is a symbolic link"
            raise RefusedError(problem, "Name the folder that it leads to")


class WholeWrites(FileIO):
    """A file without a buffer whose writes are all there, or raise.

    A disk that fills up takes a part of a write, and says so by no more than its length.
    """

    def __init__(self, path: Path, flags: int) -> None:
        super().__init__(os.open(path, flags | _AS_IT_IS, 0o644), "w")
        self._path = path

    def write(self, data: bytes) -> int:  # type: ignore[override]
        left = memoryview(data)
        try:
            while left:
                left = left[super().write(left) :]
        except OSError as error:
            raise unwritable(self._path, error) from None
        return len(data)


def open_new(path: Path) -> WholeWrites:
    """A new file without a buffer, so that what is written is there; a link is replaced."""
    try:
        path.unlink(missing_ok=True)
        return WholeWrites(path, _NEW)
    except OSError as error:
        raise unwritable(path, error) from None


def append(path: Path, data: bytes) -> None:
    """Add to a file, in one write where there is room; a link is replaced."""
    try:
        if path.is_symlink():
            path.unlink()
        with WholeWrites(path, _MORE) as file:
            file.write(data)
    except OSError as error:
        raise unwritable(path, error) from None


def write_whole(path: Path, content: bytes, place: int | None = None) -> None:
    """Write a file as a whole, aside and renamed; a link is replaced.

    `place` is its folder held open: then that is written to, whatever has its name by now.
    """
    with _aside(path, place) as file:
        file.write(content)


@contextlib.contextmanager
def _aside(target: Path, place: int | None = None) -> Iterator[BinaryIO]:
    """A file that takes the place of `target` when the block ends well."""
    name = f".{target.name}.{os.urandom(6).hex()}.part"
    aside, final = (target.with_name(name), target) if place is None else (name, target.name)
    try:
        with os.fdopen(os.open(aside, _NEW | _AS_IT_IS, 0o644, dir_fd=place), "wb") as file:
            yield file
        os.replace(aside, final, src_dir_fd=place, dst_dir_fd=place)
    except OSError as error:
        raise unwritable(target, error) from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(aside, dir_fd=place)


def unwritable(path: Path, error: OSError) -> CiopsError:
    """The error for a file that cannot be written: a wrong place, or a disk without room."""
    problem = f"{path} cannot be written: {error.strerror or error}"
    if error.errno in _NO_ROOM:
        return PartialError(problem, "Make room and run again: what is done is left alone")
    return UsageError(problem, "Check the folder, or name another")


class OutputFolder:
    """Made when the first file is written; `option` is what named it, for messages."""

    def __init__(self, path: Path, option: str) -> None:
        self.path = path
        self._option = option
        self._ready = False

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a whole file; UsageError when that is not possible."""
        with self.stream(name) as file:
            file.write(content.encode("utf-8", "replace") if isinstance(content, str) else content)
        return self.path / name

    @contextlib.contextmanager
    def stream(self, name: str) -> Iterator[BinaryIO]:
        """A file to be written piece by piece; it is there only when the block ends well."""
        if not name or name != Path(name).name or name.startswith("."):
            problem = f"{shown(name)} is no plain file name"
            raise UsageError(problem, "Name a file, without a folder")
        if not self._ready:
            make_folder(self.path, self._option)
            self._ready = True
        with _aside(self.path / name) as file:
            yield file

    def refuse_misplaced(self) -> None:
        """Before long work: RefusedError where the folder is a link, UsageError where a file."""
        refuse_link(self.path, self._option)
        first = next((part for part in (self.path, *self.path.parents) if part.exists()), None)
        if first is not None and not first.is_dir():
            problem = f"{self._option}: {first} is a file, not a folder"
            raise UsageError(problem, f"Name another folder by {self._option}")
