"""Whether the code that a failure points at is there, where, and who touched it lately.

A frame of a trace is a path in a container. Configuration maps it to a file of an owner's
repository; here the file is looked up, at the commit that the trace's config dump names, else at
that of the job or of a pipeline above it that the repository has, else on the default branch.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from ciops.failures import report_model as model
from ciops.failures.chain import ChainJob
from ciops.failures.frames import OwnedFrame
from ciops.failures.green_runs import GreenRuns
from ciops.failures.knowledge import Owner
from ciops.failures.report_model import Change, CodeReference
from ciops.plumbing.http import HttpError, TooLargeError, UnavailableError
from ciops.plumbing.rendering import clean_text

if TYPE_CHECKING:
    from ciops.forges.base import CodeHost, Commit

MOST_CHANGES: Final = 10
_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")
_UNNAMED: Final = re.compile(r"^(?:<.*>|)$")
_DEFINES: Final = re.compile(r"^\s*(?:async\s+)?def\s+(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Repository:
    """An owner's repository as it can be asked. `site` is the address of its service."""

    code: CodeHost
    site: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known of the code behind a frame.

    Without `code` and without a `problem` there is no such file. `history_problem` says why the
    changes are not known.
    """

    code: CodeReference | None = None
    problem: str = ""
    failed: bool = False
    history_problem: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    """The commit or branch to read at, and who named it. `sha` pins the links."""

    ref: str
    sha: str
    source: str


Open = Callable[[Owner], Repository | str]
"""An owner's repository, or in words why it cannot be asked."""


class CodeLookup:
    """Looks up frames; every question is asked once."""

    def __init__(self, open_repository: Open, green: GreenRuns) -> None:
        self._open = open_repository
        self._green = green
        self._opened: dict[str, Repository | str] = {}
        self._places: dict[tuple[str, str], _Place] = {}
        self._files: dict[tuple[str, str, str], bytes | None] = {}

    def find(self, frame: OwnedFrame, owner: Owner, commit: str | None, job: ChainJob) -> Finding:
        """The code behind a frame of a job's trace."""
        if not owner.repository:
            return Finding(problem=f"{owner.name} has no repository")
        if owner.name not in self._opened:
            self._opened[owner.name] = self._open(owner)
        repository = self._opened[owner.name]
        if isinstance(repository, str):
            return Finding(problem=repository)
        try:
            place = self._place(owner, repository.code, commit, job)
            content = self._file(owner, repository.code, frame.path, place.ref)
        except UnavailableError as error:  # the next frame would wait through its retries, too
            self._opened[owner.name] = error.problem
            return Finding(problem=error.problem, failed=True)
        except HttpError as error:
            return Finding(problem=error.problem, failed=True)
        if content is None or not could_hold(content, frame.function):
            return Finding()
        changes, problem = self._changes(repository.code, frame.path, place, job)
        return Finding(
            _reference(frame, owner, repository, place, changes), history_problem=problem
        )

    def _place(self, owner: Owner, code: CodeHost, commit: str | None, job: ChainJob) -> _Place:
        """Where to read: the commit of the trace, of the job, or the default branch."""
        named = ((commit or "").lower(), self._green.sha_in(owner.repository, job), job.job.sha)
        key = (owner.name, " ".join(named))
        if key not in self._places:
            self._places[key] = self._found_place(owner, code, named)
        return self._places[key]

    def _found_place(self, owner: Owner, code: CodeHost, named: tuple[str, str, str]) -> _Place:
        """The first commit of those named that the repository has."""
        sources = (model.NAMED_BY_TRACE, model.NAMED_BY_JOB, model.NAMED_BY_JOB)
        for sha, source in zip(named, sources, strict=True):
            found = code.commit(sha) if _COMMIT.fullmatch(sha) else None
            if found is not None and found.sha.startswith(sha):
                return _Place(found.sha, found.sha, source)
        branch = code.project().default_branch or owner.branch
        return _Place(branch, code.branch(branch) or "", model.DEFAULT_BRANCH)

    def _file(self, owner: Owner, code: CodeHost, path: str, ref: str) -> bytes | None:
        key = (owner.name, path, ref)
        if key not in self._files:
            try:
                self._files[key] = code.file(path, ref)
            except TooLargeError:  # it is there, and that is what counts
                self._files[key] = b""
        return self._files[key]

    def _changes(
        self, code: CodeHost, path: str, place: _Place, job: ChainJob
    ) -> tuple[tuple[Change, ...] | None, str]:
        """The commits since the last green run of the job; None where that is not known."""
        try:
            green = self._green.last(job)
            if green is None:
                return None, ""
            since = _seconds(green.started_at or green.created_at)
            until = _seconds(job.job.started_at) if place.source == model.DEFAULT_BRANCH else ""
            found = code.commits(path, ref=place.ref, since=since, until=until, limit=MOST_CHANGES)
        except HttpError as error:
            return None, error.problem
        return tuple(_change(commit) for commit in _after(found, green.sha)), ""


def could_hold(content: bytes, function: str) -> bool:
    """Whether a file can be the one in which `function` failed.

    A Python file that defines functions, but not this one, is another version of it or another
    file. Of any other content nothing is known.
    """
    name = function.rpartition(".")[2]
    if _UNNAMED.match(name):
        return True
    defined = set(_DEFINES.findall(content.decode("utf-8", "replace")))
    return not defined or name in defined


def _seconds(moment: str) -> str:
    """A time without fractions of a second, which GitHub's lists do not take."""
    return re.sub(r"\.\d+", "", moment)


def _after(commits: list[Commit], green: str) -> list[Commit]:
    """The commits behind that of the green run, where both are of one repository."""
    at = next((index for index, one in enumerate(commits) if one.sha == green), len(commits))
    return commits[:at]


def _change(commit: Commit) -> Change:
    title = clean_text(commit.message.split("\n", 1)[0])[:120]
    return Change(commit.sha, title, commit.url)


def _reference(
    frame: OwnedFrame,
    owner: Owner,
    repository: Repository,
    place: _Place,
    changes: tuple[Change, ...] | None,
) -> CodeReference:
    """Line numbers hold for the commit that ran, not for a branch that moved on."""
    line = frame.line if place.source != model.DEFAULT_BRANCH and frame.line else None
    between = "/blob/" if owner.forge == "github" else "/-/blob/"
    anchor = f"#L{line}" if line else ""
    path = quote(frame.path)
    ref = quote(place.sha or place.ref, safe="/")
    return CodeReference(
        repository=owner.repository,
        path=frame.path,
        line=line,
        function=frame.function,
        url=f"{repository.site}/{owner.repository}{between}{ref}/{path}{anchor}",
        commit=place.sha or place.ref,
        commit_source=place.source,
        changes=changes,
    )
