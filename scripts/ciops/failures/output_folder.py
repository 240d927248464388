"""The folder that results are written to, which no symbolic link leads out of.

A file is written aside and renamed, so it is whole or not there. A link in its place is replaced,
never followed: the folder may lie in a checkout that strangers can write to.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from ciops.errors import RefusedError, UsageError
from ciops.plumbing.yaml_file import shown

# Names that Windows keeps for devices, and what no file name should hold.
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST: Final = 80


def safe_name(text: str) -> str:
    """A text as part of a file name: letters, digits, `.`, `_` and `-`, not a hidden file."""
    return _UNSAFE.sub("-", text).strip("-.")[:_LONGEST].rstrip("-.")


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
        target = self._place(name)
        aside = target.with_name(f".{name}.{secrets.token_hex(6)}.part")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        try:
            with os.fdopen(os.open(aside, flags | getattr(os, "O_BINARY", 0), 0o644), "wb") as file:
                yield file
            aside.replace(target)
        except OSError as error:
            reason = error.strerror or str(error)
            raise UsageError(f"{target} cannot be written: {reason}", "Check the folder") from None
        finally:
            aside.unlink(missing_ok=True)

    def _place(self, name: str) -> Path:
        if not name or name != Path(name).name or name.startswith("."):
            raise UsageError(
                f"{shown(name)} is no plain file name", "Name a file, without a folder"
            )
        self._make()
        return self.path / name

    def _make(self) -> None:
        if self._ready:
            return
        self.refuse_link()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
            problem = f"{self._option}: {self.path} cannot be made: {reason}"
            raise UsageError(problem, "Name another folder") from None
        self._ready = True

    def refuse_link(self) -> None:
        """RefusedError when the folder is a link to another one, or lies below one in a checkout.

        Links above an absolute path are the machine's own (`/tmp` is one on macOS).
        """
        above = () if self.path.is_absolute() else self.path.parents
        for folder in (self.path, *above):
            if folder.is_symlink():
                problem = f"{self._option}: {folder} is a symbolic link"
                raise RefusedError(problem, "Name the folder that it leads to")
