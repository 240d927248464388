"""Frames of stack traces, and which of them belong to whose repository.

Whoever owns a failing frame is configuration: an owner lists the folders of its repository as
they appear in traces (`**/dist-packages/tensorrt_llm/` installs `tensorrt_llm/` of the
repository).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: the path as the trace prints it, its line, the function."""

    path: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Root:
    """Where files of an owner's repository lie in traces.

    `pattern` matches the part of a path before the repository's own path; `folder` is put before
    what is left. `except_for` matches what lies below and is not the owner's.
    """

    owner: str
    pattern: re.Pattern[str]
    folder: str = ""
    except_for: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class OwnedFrame:
    """A frame in an owner's code: `path` is relative to the owner's repository."""

    owner: str
    path: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.path}:{self.function}" if self.function else self.path


# Checkouts of common runners, and what stands before an installed package.
_WORKSPACE: Final = re.compile(
    r"^(?:/builds/[^/]+/[^/]+/|(?:/home/runner|/Users/runner)/work/[^/]+/[^/]+/|/__w/[^/]+/[^/]+/"
    r"|[A-Z]:[\\/]a[\\/][^\\/]+[\\/][^\\/]+[\\/]|/(?:workspace|workdir|app|src|code|repo|build|opt/app)/"
    r"|/drone/src/|/go/src/[^/]+/[^/]+/[^/]+/|/var/lib/jenkins/workspace/(?:[^/]+/)?"
    r"|/(?:home|Users)/[^/]+/(?:actions-runner/_work/[^/]+/[^/]+/)?)"
)
_INSTALLED: Final = re.compile(
    r"^.*/(?:site-packages|dist-packages|node_modules|\.cargo/registry/src/[^/]+|gems|vendor)/"
)
_LANGUAGE: Final = re.compile(
    r"(?:^<|/lib(?:64)?/python\d[\d.]*t?/|^/usr/(?:lib|include|local/(?:lib|go))/|/rustc/"
    r"|^node:|^internal/|/runtime/|^java\.|^jdk\.|^sun\.)"
)


def owned(frame: Frame, roots: Sequence[Root]) -> OwnedFrame | None:
    """The frame as its owner knows it, or None when it is nobody's."""
    path = frame.path.replace("\\", "/")
    for root in roots:
        match = root.pattern.match(path)
        if match and not (root.except_for and root.except_for.search(path)):
            return OwnedFrame(
                root.owner, root.folder + path[match.end() :], frame.line, frame.function
            )
    return None


def innermost_owned(frames: Sequence[Frame], roots: Sequence[Root]) -> OwnedFrame | None:
    """The innermost frame in owned code; the frames go from the outermost inwards."""
    return next((own for frame in reversed(frames) if (own := owned(frame, roots))), None)


def short_path(path: str) -> str:
    """A path without what differs between machines: checkout, prefix of installed packages."""
    path = path.replace("\\", "/")
    installed = _INSTALLED.sub("", path)
    if installed != path:
        return installed
    return _WORKSPACE.sub("", path).removeprefix("./")


def is_language(path: str) -> bool:
    """Whether a file belongs to a language's own library or runtime."""
    return bool(_LANGUAGE.search(path.replace("\\", "/"))) and not _INSTALLED.match(path)


def is_installed(path: str) -> bool:
    """Whether a file belongs to an installed package."""
    return bool(_INSTALLED.match(path.replace("\\", "/")))
