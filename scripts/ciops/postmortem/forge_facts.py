"""What a forge knows about a fix, put into a record verbatim: title, author, commits, tickets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciops.errors import UsageError
from ciops.plumbing.yaml_file import shown
from ciops.postmortem.draft import Known
from ciops.postmortem.references import Reference, find_references, read_reference

if TYPE_CHECKING:
    from ciops.forges.base import CodeHost, PullRequest
    from ciops.postmortem.services import Services


def with_request(known: Known, text: str, services: Services) -> Known:
    """`known` with the facts of a pull or merge request; raises UsageError when there is none."""
    reference = read_reference(text)
    if reference.kind not in ("pull-request", "merge-request"):
        problem = f"{shown(text)} is no pull or merge request"
        raise UsageError(problem, "Write OWNER/REPO#N or GROUP/PROJECT!N")
    code = _code(reference, services)
    pull = code.pull(int(reference.name))
    if pull is None:
        raise UsageError(f"there is no request {shown(text)}, or the token may not see it")
    return _filled(known, reference, pull, services)


def _code(reference: Reference, services: Services) -> CodeHost:
    name = "gitlab" if reference.kind == "merge-request" else services.main
    repo = reference.repo or services.repo
    if name not in services.forges:
        variable = {"github": "GITHUB_TOKEN", "gitlab": "GITLAB_TOKEN"}[name]
        raise UsageError(f"{variable} is not set, so {reference.text} cannot be read", "Set it")
    if not repo:
        raise UsageError(f"{shown(reference.text)} names no repository", "Write OWNER/REPO#N")
    forge = services.forges[name]
    if "://" in reference.text and not reference.text.startswith(forge.web_url + "/"):
        raise UsageError(f"{shown(reference.text)} is not on {forge.web_url}", "Write OWNER/REPO#N")
    return forge.code(repo)


def _filled(known: Known, reference: Reference, pull: PullRequest, services: Services) -> Known:
    mark = "!" if reference.kind == "merge-request" else "#"
    repo = reference.repo or services.repo
    references = [f"{repo}{mark}{pull.number}"]
    if pull.merge_sha:
        references.append(f"{repo}@{pull.merge_sha}")
    tickets = [each.text for each in find_references(f"{pull.title}\n{pull.body}")]
    hints = {**known.hints, "fix": [*known.hints.get("fix", ()), *dict.fromkeys(tickets)]}
    return replace(
        known,
        title=known.title or pull.title,
        owner=known.owner or ("" if pull.author.is_bot else pull.author.login),
        references=tuple(references),
        hints=hints,
    )
