"""Search in issues and pull requests: the qualifiers that a duplicate search uses."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from fakes.github_state import Json, Repository
from fakes.messages import Asked, Reply, Route

if TYPE_CHECKING:
    from fakes.github import FakeGitHub

TERM = re.compile(r'(-?)(?:(\w+):)?(?:"([^"]*)"|(\S+))')
SEARCH_LIMIT = 1000
QUERY_LIMIT = 256


def search_issues(forge: FakeGitHub, asked: Asked) -> Reply:
    """Best matches are simply the newest; words are sought in titles, bodies and comments."""
    query = asked.query
    text = query["q"]
    if len(text) > QUERY_LIMIT:
        return forge.invalid("Search", "q", "The search is longer than 256 characters.")
    terms = [
        (sign == "-", name.lower(), quoted or word)
        for sign, name, quoted, word in TERM.findall(text)
    ]
    unknown = {name for _, name, _ in terms} - QUALIFIERS.keys() - {"", "repo", "in"}
    if unknown:
        raise NotImplementedError(f"search qualifiers {sorted(unknown)}")
    query.get("sort")
    reverse = query["order"] == "desc"
    found = [
        {**_without_empty_body(issue), "score": 1.0}
        for repository in _searched(forge, asked, terms)
        for number, issue in repository.issues.items()
        if all(_fits(repository, number, term, terms) for term in terms)
    ]
    found.sort(key=lambda issue: (issue["created_at"], issue["number"]), reverse=reverse)
    fields = {"incomplete_results": False, "search_type": "lexical"}
    return forge.page(asked, None, found[:SEARCH_LIMIT], key="items", extra=fields)


Term = tuple[bool, str, str]


def _without_empty_body(issue: Json) -> Json:
    """A result's body is a text or not there, by the contract; an issue's may be null."""
    return {key: value for key, value in issue.items() if key != "body" or value is not None}


def _searched(forge: FakeGitHub, asked: Asked, terms: list[Term]) -> list[Repository]:
    named = {value.lower() for _, name, value in terms if name == "repo"}
    return [
        repository
        for key, repository in forge.repositories.items()
        if (not named or key in named) and forge.can_see(repository, asked.account)
    ]


def _fits(repository: Repository, number: int, term: Term, terms: list[Term]) -> bool:
    negated, name, value = term
    if name in ("repo", "in"):
        return True
    issue = repository.issues[number]
    if name:
        return QUALIFIERS[name](issue, value.lower()) is not negated
    places = [part for _, key, listed in terms if key == "in" for part in listed.split(",")]
    return (value.lower() in _text(repository, number, places)) is not negated


def _text(repository: Repository, number: int, places: list[str]) -> str:
    issue = repository.issues[number]
    sought = places or ["title", "body", "comments"]
    parts = [issue["title"]] if "title" in sought else []
    parts += [issue["body"] or ""] if "body" in sought else []
    if "comments" in sought:
        parts += [comment["body"] for comment in repository.comments[number]]
    return "\n".join(parts).lower()


def _is(issue: Json, value: str) -> bool:
    pull = "pull_request" in issue
    kinds: dict[str, bool] = {
        "issue": not pull,
        "pr": pull,
        "pull-request": pull,
        "open": issue["state"] == "open",
        "closed": issue["state"] == "closed",
        "locked": issue["locked"],
        "merged": pull and issue["pull_request"]["merged_at"] is not None,
    }
    return kinds[value]


def _labelled(issue: Json, value: str) -> bool:
    return value in (label["name"].lower() for label in issue["labels"])


def _author(issue: Json, value: str) -> bool:
    user: Json | None = issue["user"]
    return user is not None and bool(user["login"].lower() == value)


QUALIFIERS: dict[str, Callable[[Json, str], bool]] = {
    "is": _is,
    "type": _is,
    "state": _is,
    "label": _labelled,
    "author": _author,
}

ROUTES: dict[str, Route] = {"GET /search/issues": search_issues}
