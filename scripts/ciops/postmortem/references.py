"""What a reference names: a pull or merge request, a commit, a branch, or a ticket.

`org/ring#1290`, `group/proj!42`, `org/ring@77d0a4e`, `fix/csv-writer`, `#12`, a commit hash, a URL
of GitHub, GitLab or Jira, or any of these with words around them ("PR #5751, merged"). Nothing is
looked up here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["pull-request", "merge-request", "commit", "branch", "ticket", "url", "none"]
# An address on a forge that is not known here (Gerrit, Azure) is taken at its word.
FIX_KINDS: Final[frozenset[Kind]] = frozenset(
    {"pull-request", "merge-request", "commit", "branch", "url"}
)


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference; `name` is its number, hash, branch, ticket key or address."""

    text: str
    kind: Kind
    repo: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Links:
    """Where references live; an empty address makes no link."""

    forge: Literal["github", "gitlab"] = "github"
    github: str = "https://github.com"
    gitlab: str = "https://gitlab.com"
    jira: str = ""


_REPO: Final = r"(?P<repo>[A-Za-z0-9_][\w.-]*(?:/[\w.-]+)+)"
_HASH: Final = r"(?P<hash>[0-9a-f]{7,40})"
_TICKET: Final = r"[A-Z][A-Z0-9_]*-[0-9]+"
_URL: Final = re.compile(r"https?://[^\s<>「」（）、。，；]+")
_URL_TAIL: Final = re.compile(
    r"https?://[^/]+/(?P<repo>[^?#]+?)(?:/-)?/"
    r"(?:(?P<pr>pull|pulls|pull-requests|issues)/(?P<pr_number>\d+)"
    r"|merge_requests/(?P<mr_number>\d+)"
    r"|commits?/(?P<hash>[0-9a-f]{7,40})"
    r"|tree/(?P<branch>[^?#]+))"
)
_BROWSE: Final = re.compile(rf"https?://[^?#]+/browse/(?P<key>{_TICKET})")
_NUMBER: Final = re.compile(rf"(?<![\w/#!]){_REPO}?(?P<mark>[#!])(?P<number>\d+)\b")
_SPOKEN: Final = re.compile(
    r"\b(?:(?P<pr>PRs?|pull[ -]requests?)|(?P<mr>MRs?|merge[ -]requests?))\s*"
    r"(?:n[o°]\.?\s*)?(?P<number>\d+)\b",
    re.IGNORECASE,
)
_COMMIT: Final = re.compile(rf"(?<![\w/]){_REPO}@{_HASH}\b")
_BARE_HASH: Final = re.compile(
    rf"(?<![\w/@.-])(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f]){_HASH}(?![\w/-])"
)
_REPO_BRANCH: Final = re.compile(rf"{_REPO}@(?P<branch>[^\s@]+)")
_KEY: Final = re.compile(rf"(?<![\w/-])(?P<key>{_TICKET})(?![\w-])")
_LEAD: Final = re.compile(r"^(?:branch(?:e)?|commit|ブランチ|コミット)[\s:：]+", re.IGNORECASE)
# https://git-scm.com/docs/git-check-ref-format
_BRANCH: Final = re.compile(
    r"(?!.*(?:\.\.|//|@\{|/\.|\.lock(?:/|$)))(?![-./])[^\s~^:?*\[\\\x00-\x20]+(?<![./])"
)


def read_reference(text: str) -> Reference:
    """The one thing that `text` names; kind "none" when it names nothing."""
    text = text.strip()
    found = find_references(text)
    if found:
        return found[0]
    bare = _LEAD.sub("", text)
    if bare != text and re.fullmatch(_HASH, bare):
        return Reference(text, "commit", "", bare)
    match = _REPO_BRANCH.fullmatch(bare)
    if match and _BRANCH.fullmatch(match["branch"]):
        return Reference(text, "branch", match["repo"], match["branch"])
    if _BRANCH.fullmatch(bare) and not bare.isdigit():
        return Reference(text, "branch", "", bare)
    return Reference(text, "none")


def find_references(text: str) -> list[Reference]:
    """Every request, commit, ticket and address in a text, in its order (branches have no mark)."""
    found: list[tuple[int, Reference]] = []
    taken = [False] * len(text)
    for pattern, read in _FINDERS:
        for match in pattern.finditer(text):
            if any(taken[match.start() : match.end()]):
                continue
            taken[match.start() : match.end()] = [True] * (match.end() - match.start())
            found.append((match.start(), read(match)))
    return [reference for _, reference in sorted(found, key=lambda pair: pair[0])]


def _from_url(match: re.Match[str]) -> Reference:
    url = match.group().rstrip(".,;:!?)]}'\"")
    ticket = _BROWSE.match(url)
    if ticket:
        return Reference(url, "ticket", "", ticket["key"])
    part = _URL_TAIL.match(url)
    if part is None:
        return Reference(url, "url", "", url)
    if part["mr_number"]:
        return Reference(url, "merge-request", part["repo"], part["mr_number"])
    if part["hash"]:
        return Reference(url, "commit", part["repo"], part["hash"])
    if part["branch"]:
        return Reference(url, "branch", part["repo"], part["branch"])
    return Reference(url, "pull-request", part["repo"], part["pr_number"])


def _from_number(match: re.Match[str]) -> Reference:
    kind: Kind = "merge-request" if match["mark"] == "!" else "pull-request"
    return Reference(match.group(), kind, match["repo"] or "", match["number"])


def _from_words(match: re.Match[str]) -> Reference:
    kind: Kind = "merge-request" if match["mr"] else "pull-request"
    return Reference(match.group(), kind, "", match["number"])


_FINDERS: Final = (
    (_URL, _from_url),
    (_COMMIT, lambda match: Reference(match.group(), "commit", match["repo"], match["hash"])),
    (_NUMBER, _from_number),
    (_SPOKEN, _from_words),
    (_KEY, lambda match: Reference(match.group(), "ticket", "", match["key"])),
    (_BARE_HASH, lambda match: Reference(match.group(), "commit", "", match["hash"])),
)


def same(one: Reference, other: Reference) -> bool:
    """Whether both name one thing; a side that names no repository matches any."""
    if one.kind != other.kind or one.kind == "none":
        return False
    if one.repo and other.repo and one.repo.casefold() != other.repo.casefold():
        return False
    if one.kind == "commit":
        return one.name.startswith(other.name) or other.name.startswith(one.name)
    return one.name == other.name


def link(reference: Reference, links: Links) -> str:
    """The address of a reference, or "" when the record and the links do not give one."""
    if reference.text.startswith(("https://", "http://")):
        return reference.text
    if reference.kind == "ticket":
        return f"{links.jira}/browse/{reference.name}" if links.jira else ""
    if not reference.repo:
        return ""
    on_gitlab = reference.kind == "merge-request" or links.forge == "gitlab"
    base = links.gitlab if on_gitlab else links.github
    return f"{base}/{reference.repo}/{_tail(reference, on_gitlab)}" if base else ""


def _tail(reference: Reference, on_gitlab: bool) -> str:
    dash = "-/" if on_gitlab else ""
    if reference.kind == "merge-request":
        return f"-/merge_requests/{reference.name}"
    if reference.kind == "commit":
        return f"{dash}commit/{reference.name}"
    if reference.kind == "branch":
        return f"{dash}tree/{reference.name}"
    # An issue's address leads on to the pull request of that number, and the other way round.
    return f"{dash}issues/{reference.name}"
