"""The decisions that people took in a live repository, as cases for a backtest.

Only reads. What was read is kept in a file, so a run that stops at the rate limit is taken up by
the next one, and a second backtest costs no more than the list. An issue counts when a person put
its route on it. It is judged as it stood when people began to label it: what they wrote afterwards
would give the answer away.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, Final

from ciops.errors import UsageError
from ciops.forges.base import Issue, IssueQueue
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.http import Client, RateLimitedError
from ciops.plumbing.output_folder import append, make_folder
from ciops.plumbing.yaml_file import shown
from ciops.triage.case_file import to_case
from ciops.triage.facts import LABELED, IssueFacts, LabelChange, from_rest
from ciops.triage.live_facts import facts_of, with_comments, with_timeline
from ciops.triage.policy import Policy

RESERVE: Final = 25  # requests left to others who share the token
KEPT_AS: Final = "read_at"  # `updated_at` of an issue when it was read


@dataclass(frozen=True, slots=True)
class Source:
    """Where history is read, and where it is kept."""

    queue: IssueQueue
    client: Client
    repo: str
    since: str
    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / f"history-{re.sub(r'[^A-Za-z0-9.-]+', '-', self.repo)}.jsonl"


def day(text: str) -> str:
    """A date as services take it; UsageError for what is none."""
    try:
        return f"{date.fromisoformat(text).isoformat()}T00:00:00Z"
    except ValueError:
        raise UsageError(f"--since {shown(text)} is no date", "Write it as 2026-01-31") from None


def live_cases(source: Source, policy: Policy, host: CiHost) -> Iterator[dict[str, Any]]:
    """Cases with the facets that people's labels tell; says how far it came."""
    kept = _kept(source.path)
    complete = _read_on(source, policy, kept, host)
    if not complete:
        host.warning(
            f"the history is not complete. Run it again: {source.path} keeps what was read"
        )
    for line in kept.values():
        facts = from_rest(line)
        if facts.created_at and line[KEPT_AS] < source.since:
            continue
        case = case_of(facts, policy)
        if case is not None:
            yield case


def _kept(path: Path) -> dict[int, dict[str, Any]]:
    """What earlier runs have read, by number; half a line of one that was killed is dropped."""
    kept: dict[int, dict[str, Any]] = {}
    if path.is_file() and not path.is_symlink():
        for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
            line = _parsed(text)
            if line is not None:
                kept[line["issue"]["number"]] = line
    return kept


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        line = json.loads(text)
        whole = isinstance(line["issue"]["number"], int) and isinstance(line[KEPT_AS], str)
    except (ValueError, TypeError, KeyError):
        return None
    return line if whole else None


def _read_on(source: Source, policy: Policy, kept: dict[int, dict[str, Any]], host: CiHost) -> bool:
    """Read what is new or changed; whether that came to an end."""
    make_folder(source.folder)
    try:
        for issue in _answered(source, policy):
            line = kept.get(issue.number)
            if line is not None and line[KEPT_AS] == issue.updated_at:
                continue
            if _is_short(source.client):
                return False
            line = {**to_case(_whole(issue, source.queue)), KEPT_AS: issue.updated_at}
            append(source.path, f"{json.dumps(line)}\n".encode())
            kept[issue.number] = line
            if len(kept) % 100 == 0:  # not to stdout, where the figures go
                host.notice(f"{len(kept)} issues read")
    except RateLimitedError as error:
        host.warning(str(error))
        return False
    return True


def _answered(source: Source, policy: Policy) -> Iterator[Issue]:
    """Issues of the queue, open and closed, that carry a route."""
    routes = {route.label.casefold() for route in policy.routes}
    listed = source.queue.issues(
        policy.labels.queue, order="created", state="all", since=source.since
    )
    for issue in listed:
        if not issue.is_pull_request and routes & set(map(str.casefold, issue.labels)):
            yield issue


def _is_short(client: Client, now: Callable[[], float] = time.time) -> bool:
    rate = client.rate
    scarce = rate.remaining is not None and rate.remaining < RESERVE
    return scarce and (rate.limit or 0) > 2 * RESERVE and (rate.reset or 0.0) > now()


def _whole(issue: Issue, queue: IssueQueue) -> IssueFacts:
    comments = queue.comments(issue.number) if issue.comments else []
    facts = with_comments(facts_of(issue), comments, queue.association_of)
    return with_timeline(facts, queue.timeline(issue.number).labels, issue.updated_at)


def case_of(facts: IssueFacts, policy: Policy) -> dict[str, Any] | None:
    """An issue as it stood, with what people said of it; None where people said nothing."""
    told = facets_by_people(facts, policy)
    if not told:
        return None
    return {**to_case(_as_it_stood(facts, policy)), "facets": told}


def facets_by_people(facts: IssueFacts, policy: Policy) -> dict[str, Any]:
    """The facets that people's labels on an issue tell of; empty where they tell of no route."""
    return _facets(_labels_by_people(facts, policy), policy)


def _labels_by_people(facts: IssueFacts, policy: Policy) -> list[str]:
    return [name for name in facts.labels if _put_by_person(name, facts, policy)]


def _facets(labels: Iterable[str], policy: Policy) -> dict[str, Any]:
    """Modules count only where the route has its issues classified."""
    there = {name.casefold() for name in labels}
    routes = [route for route in policy.routes if route.label.casefold() in there]
    if len(routes) != 1:
        return {}
    told: dict[str, Any] = {"distributed": True, "sub_oncall": routes[0].id}
    modules = [name for name in policy.module_labels if name.casefold() in there]
    if routes[0].classified and modules:
        told["modules"] = modules
    return told


def _put_by_person(label: str, facts: IssueFacts, policy: Policy) -> bool:
    """Whether a person put a label last; of one that no event tells of, that is assumed."""
    put = _last_put(label, facts)
    bots = policy.bot_logins | policy.parent_bot_logins
    return put is None or not (put.actor.is_bot or put.actor.login.casefold() in bots)


def _last_put(label: str, facts: IssueFacts) -> LabelChange | None:
    name = label.casefold()
    puts = (c for c in facts.timeline or () if c.event == LABELED and c.label.casefold() == name)
    return max(puts, key=lambda change: change.created_at, default=None)


def _as_it_stood(facts: IssueFacts, policy: Policy) -> IssueFacts:
    """Before the first label that people put for good, without the labels to be decided."""
    decided = _decided_labels(policy)
    by_people = _labels_by_people(facts, policy)
    puts = [_last_put(name, facts) for name in by_people if name.casefold() in decided]
    first = min((put.created_at for put in puts if put is not None), default="")
    comments = (c for c in facts.comments if not first or c.created_at < first)
    labels = (name for name in facts.labels if name.casefold() not in decided)
    return replace(
        facts,
        state="open",
        locked=False,
        labels=tuple(labels),
        comments=tuple(comments),
        timeline=None,
    )


def _decided_labels(policy: Policy) -> frozenset[str]:
    names = [name for p in policy.profiles.values() for name in policy.allowed_labels(p)]
    names += [name for name in policy.labels.forbidden if name != policy.labels.queue]
    return frozenset(name.casefold() for name in names)
