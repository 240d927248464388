"""Whether the facts that a record names are there: requests merged, commits, checks, artifacts.

What cannot be looked up is said to be so; nothing is inferred from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from ciops.errors import CiopsError, UsageError
from ciops.postmortem.record import Record
from ciops.postmortem.references import Reference, find_references, read_reference

if TYPE_CHECKING:
    from ciops.forges.base import CodeHost
    from ciops.postmortem.services import Services
    from ciops.postmortem.wording import Words

State = Literal["verified", "refuted", "unknown"]
GREEN: Final = frozenset({"success", "skipped", "manual"})
# Whoever writes a record must not spend a token's rate limit with it.
MOST_LOOKUPS: Final = 60
_FILE: Final = re.compile(r"[\w./-]+\.[A-Za-z0-9]{1,5}(?:::.*)?")


@dataclass(frozen=True, slots=True)
class Looked:
    """One fact; `detail` is the sentence about it, `title` the heading over all of them.

    `failed` when a service that was asked gave no answer: another run may know more.
    """

    subject: str
    state: State
    detail: str
    title: str
    failed: bool = False

    @property
    def refuted(self) -> bool:
        return self.state == "refuted"


def verify(record: Record, services: Services, words: Words) -> Iterator[Looked]:
    """Look up the fix, its checks, and what the action items point at."""
    look = _Look(services, words)
    fixes = record.fix.references
    for text in fixes[:MOST_LOOKUPS]:
        yield from look.fix(text)
    artifacts = [item.artifact for item in record.action_items]
    left = max(0, MOST_LOOKUPS - len(fixes))
    for text in artifacts[:left]:
        yield look.artifact(text)
    for text in (*fixes[MOST_LOOKUPS:], *artifacts[left:]):
        yield look.unknown(text, "too-many", most=str(MOST_LOOKUPS))


@dataclass(frozen=True, slots=True)
class _Look:
    services: Services
    words: Words

    def say(self, subject: str, state: State, key: str, **facts: str) -> Looked:
        detail = self.words.say(f"verify.{key}", subject=subject, **facts)
        return Looked(subject, state, detail, self.words.say("verify.title"))

    def unknown(self, subject: str, reason: str, **facts: str) -> Looked:
        said = self.words.say(f"reason.{reason}", **facts)
        return self.say(subject, "unknown", "unknown", reason=said)

    def fix(self, text: str) -> Iterator[Looked]:
        """Whether the fix is there and merged, and its checks are green."""
        reference = read_reference(text)
        try:
            code = self.code(reference)
            if isinstance(code, Looked):
                yield code
            elif reference.kind in ("pull-request", "merge-request"):
                yield from self.request(reference, code)
            elif reference.kind == "commit":
                yield from self.commit(reference, code)
            else:
                yield self.found(text, code.branch(reference.name) is not None, code)
        except CiopsError as error:
            yield self.failed(text, error)

    def request(self, reference: Reference, code: CodeHost) -> Iterator[Looked]:
        pull = code.pull(int(reference.name))
        if pull is None:
            yield self.found(reference.text, False, code)
            return
        state: State = "verified" if pull.state == "merged" else "refuted"
        yield self.say(reference.text, state, pull.state)
        yield self.checks(reference.text, [pull.merge_sha, pull.head_sha], code)

    def commit(self, reference: Reference, code: CodeHost) -> Iterator[Looked]:
        commit = code.commit(reference.name)
        yield self.found(reference.text, commit is not None, code)
        if commit is not None:
            yield self.checks(reference.text, [commit.sha], code)

    def checks(self, subject: str, commits: list[str], code: CodeHost) -> Looked:
        """The checks of the first of these commits that has any."""
        for sha in commits:
            found = code.checks(sha) if sha else []
            bad = [check.name for check in found if check.status not in GREEN]
            if bad:
                return self.say(subject, "refuted", "red", names=", ".join(bad[:5]))
            if found:
                return self.say(subject, "verified", "green", count=str(len(found)))
        return self.say(subject, "unknown", "no_checks")

    def artifact(self, text: str) -> Looked:
        """Whether what an action item points at exists."""
        named = find_references(text)
        reference = named[0] if named else read_reference(text)
        if reference.kind == "ticket":
            return self.ticket(reference)
        if reference.kind == "none" and _FILE.fullmatch(text):
            reference = Reference(text, "branch", "", text)
        try:
            code = self.code(reference)
            if isinstance(code, Looked):
                return code
            return self.found(reference.text, self.exists(reference, code), code)
        except CiopsError as error:
            return self.failed(reference.text, error)

    def exists(self, reference: Reference, code: CodeHost) -> bool:
        if reference.kind in ("pull-request", "merge-request"):
            return code.pull(int(reference.name)) is not None or self.is_issue(reference)
        if reference.kind == "commit":
            return code.commit(reference.name) is not None
        path = reference.name.partition("::")[0]
        if _FILE.fullmatch(reference.name) and code.file(path) is not None:
            return True
        return code.branch(reference.name) is not None

    def is_issue(self, reference: Reference) -> bool:
        from ciops.plumbing.http import GoneError, NotFoundError

        name, repo = self.place(reference)
        try:
            self.services.forges[name].queue(repo).issue(int(reference.name))
        except (NotFoundError, GoneError):
            return False
        return True

    def ticket(self, reference: Reference) -> Looked:
        if self.services.ticket_exists is None:
            return self.unknown(reference.text, "no-token", service="Jira")
        page = re.split(r"[?#]", reference.text, maxsplit=1)[0].rstrip("/")
        if "://" in page and page != f"{self.services.jira}/browse/{reference.name}":
            return self.unknown(reference.text, "other-host")
        try:
            there = self.services.ticket_exists(reference.name)
        except CiopsError as error:
            return self.failed(reference.text, error)
        state: State = "verified" if there else "refuted"
        return self.say(reference.text, state, "exists" if there else "absent")

    def place(self, reference: Reference) -> tuple[str, str]:
        """The forge and repository of a reference."""
        name = "gitlab" if reference.kind == "merge-request" else self.services.main
        if "gitlab" in reference.text.partition("/-/")[0] and "/-/" in reference.text:
            name = "gitlab"
        elif "://github.com/" in reference.text:
            name = "github"
        return name, reference.repo or self.services.repo

    def code(self, reference: Reference) -> CodeHost | Looked:
        """Where to look, or why it cannot be looked up."""
        strays = "://" in reference.text and {".", ".."} & set(reference.text.split("/"))
        if reference.kind in ("none", "url") or strays:
            return self.unknown(reference.text, "no-address")
        name, repo = self.place(reference)
        if name not in self.services.forges:
            service = {"github": "GitHub", "gitlab": "GitLab"}[name]
            return self.unknown(reference.text, "no-token", service=service)
        forge = self.services.forges[name]
        if "://" in reference.text and not reference.text.startswith(forge.web_url + "/"):
            return self.unknown(reference.text, "other-host")
        if not repo:
            return self.unknown(reference.text, "no-repository")
        return forge.code(repo)

    def found(self, subject: str, there: bool, code: CodeHost) -> Looked:
        """Exists, or does not: the latter only where the repository itself can be seen."""
        if there:
            return self.say(subject, "verified", "exists")
        try:
            code.project()
        except CiopsError as error:
            return self.failed(subject, error)
        return self.say(subject, "refuted", "absent")

    def failed(self, subject: str, error: CiopsError) -> Looked:
        """What the token may not see stays unknown; a service that does not answer has failed."""
        from ciops.plumbing.http import RateLimitedError, UnauthorizedError, UnavailableError

        if isinstance(error, UsageError):
            return self.unknown(subject, "no-address")
        failed = isinstance(error, RateLimitedError | UnauthorizedError | UnavailableError)
        unknown = self.unknown(subject, "failed", error=error.problem)
        return replace(unknown, failed=failed)
