"""`undo`: take back what one run added, where nobody has built on it.

A label goes when this run put it there last and no person has changed labels since; a comment
goes when nobody has answered it. The record says what the run did or may have done, the timeline
what became of it. What is taken back already is no obstacle, so an undo can be repeated.

A record is a file that anybody may have written: what it names goes only where the forge says that
its account did it. What a person did goes only by that person's own token, what a bot did only
where that bot is the token's own, the one of GitHub's jobs, or one of the policy's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from ciops.errors import EXIT_DONE, EXIT_PARTIAL, EXIT_SERVICE, RefusedError
from ciops.forges.base import (
    ACTIONS_LOGIN,
    Comment,
    IssueQueue,
    LabelEvent,
    Person,
    Viewer,
    same_label,
)
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.command_line import open_host, parse
from ciops.plumbing.http import HttpError, RateLimitedError
from ciops.plumbing.interruption import StoppedError
from ciops.plumbing.rendering import Templates, code_span
from ciops.plumbing.write_guards import held_back, refuse_strangers_file
from ciops.plumbing.yaml_file import shown
from ciops.triage.command_line import (
    POLICY,
    Parser,
    Place,
    add_language,
    add_output,
    open_queue,
)
from ciops.triage.policy_file import load_policy
from ciops.triage.run_file import NAME, Entry, Record, Run, read_run_file
from ciops.triage.words import words_in

ABOUT: Final = """Take back the labels and comments of one run, where nobody has built on them.
The repository is the one that the record names."""
OURS: Final = frozenset({ACTIONS_LOGIN})
SLACK: Final = timedelta(minutes=5)  # between the clock of the job and that of the service


@dataclass(frozen=True, slots=True)
class Step:
    """Something to take back, or with a `reason` to leave. `label` is "" for the comment."""

    issue: int
    label: str
    act: Callable[[], bool]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Doer:
    """Who did the run, the login of who asks for its undo, and the folded logins of our bots."""

    run: Run
    asks: str
    bots: frozenset[str]

    def objection(self, actor: Person) -> str:
        """Why what an account did stays, "" where it may go.

        An installation cannot be asked for its account, so any of our bots may have been it.
        """
        assumed = actor.is_bot and self.run.account.endswith("[bot]")
        if not (assumed or _same(actor.login, self.run.account)):
            return "not_ours"
        if actor.is_bot:
            return "" if actor.login.casefold() in self.bots else "unlisted_bot"
        return "" if _same(actor.login, self.asks) else "other_account"

    def is_other_person(self, actor: Person) -> bool:
        return not actor.is_bot and not _same(actor.login, self.run.account)


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()


def main(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    """The command; its exit status."""
    host = open_host(env)
    parser = Parser("undo", ABOUT, "out/run.json --dry-run")
    parser.add_argument("record", metavar="DIR/run.json", type=Path, help="what `run` left")
    parser.add_argument("--dry-run", action="store_true", help="say what would be taken back")
    about = "the repository that the record must name, default: in a job, the job's own"
    parser.add_argument("--repo", metavar="OWNER/NAME", help=about)
    about = f"whose bots.logins a run may have had, default: {POLICY.name} of the suite"
    parser.add_argument("--policy", metavar="FILE", type=Path, default=POLICY, help=about)
    parser.add_argument("--gitlab-url", metavar="URL", default="", help="address of the GitLab")
    add_language(parser)
    add_output(parser)
    given = parse(parser, arguments, host)
    host.folder = given.output
    path = given.record / NAME if given.record.is_dir() else given.record
    dry = given.dry_run or held_back(env)
    if not dry:
        refuse_strangers_file("record", path, env, own=None)
        refuse_strangers_file("policy", given.policy, env, own=POLICY.parent)
    record = read_run_file(path)
    run = record.run
    refuse_elsewhere(run, given.repo or "", host)
    _, queue = open_queue(Place(run.forge, run.repo, given.gitlab_url), host)
    doer = _doer(run, queue.viewer(), given.policy) if record.entries else Doer(run, "", OURS)
    return _undo(record, doer, queue, host, words_in(given.language), dry=dry)


def _doer(run: Run, viewer: Viewer, policy: Path) -> Doer:
    own = {viewer.login.casefold()} if viewer.is_bot else set()
    return Doer(run, viewer.login, OURS | own | load_policy(policy).bot_logins)


def refuse_elsewhere(run: Run, asked: str, host: CiHost) -> None:
    """RefusedError when a record names another repository than is asked for, or works in a job."""
    own = {"github": "GITHUB_REPOSITORY", "gitlab": "CI_PROJECT_PATH"}.get(host.name, "")
    expected = asked or host.env.get(own, "")
    if expected and not _same(expected, run.repo):
        problem = f"the record is of {shown(run.repo)}, not of {shown(expected)}"
        raise RefusedError(problem, "Name its repository by --repo if that is what is meant")


def _undo(
    record: Record, doer: Doer, queue: IssueQueue, host: CiHost, words: Templates, *, dry: bool
) -> int:
    told: list[str] = []
    failed: list[HttpError] = []
    try:
        for number, entries in _latest(record.entries).items():
            lines, error = _issue_undone(number, entries, doer, queue, words, dry)
            told += lines
            failed += [error] if error else []
            for line in lines:
                host.say(line)
    except (RateLimitedError, StoppedError):
        _summarise(told, record.run, host, words)  # what was taken back before it ended
        raise
    if not told:
        told.append(words.message("undo.nothing"))
        host.say(told[0])
    _summarise(told, record.run, host, words)
    if not failed:
        return EXIT_DONE
    return EXIT_SERVICE if len(failed) == len(_latest(record.entries)) else EXIT_PARTIAL


def _issue_undone(
    number: int,
    entries: Sequence[Entry],
    doer: Doer,
    queue: IssueQueue,
    words: Templates,
    dry: bool,
) -> tuple[list[str], HttpError | None]:
    """What is to be said of one issue, and what went wrong with it."""
    lines: list[str] = []
    try:
        lines += _taken_back(list(_steps(number, entries, doer, queue)), words, dry)
    except RateLimitedError:
        raise
    except HttpError as error:
        return [*lines, f"#{number}: {error}"], error
    return lines, None


def _summarise(told: Sequence[str], run: Run, host: CiHost, words: Templates) -> None:
    title = words.message("undo.title", repo=code_span(run.repo))
    host.summary(f"## {title}\n\n" + "\n".join(f"- {line}" for line in told))


def _latest(entries: Sequence[Entry]) -> dict[int, list[Entry]]:
    """By issue, newest issue first, each write once: as it was done, or else as it was sent."""
    writes: dict[tuple[int, str], Entry] = {}
    for entry in entries:
        writes[entry.issue, entry.kind] = entry
    found: dict[int, list[Entry]] = {}
    for entry in reversed(writes.values()):
        found.setdefault(entry.issue, []).append(entry)
    return found


def _steps(number: int, entries: Sequence[Entry], doer: Doer, queue: IssueQueue) -> Iterator[Step]:
    """What to take back from an issue, the last write first."""
    for entry in entries:
        steps = _label_steps if entry.kind == "labels" else _comment_steps
        yield from steps(number, entry, doer, queue)


def _label_steps(number: int, entry: Entry, doer: Doer, queue: IssueQueue) -> Iterator[Step]:
    for label in entry.suggested:
        yield Step(number, label, lambda: False, "suggested")
    there = queue.issue(number).labels
    standing = [name for name in entry.labels if any(same_label(name, other) for other in there)]
    events = queue.timeline(number).labels if standing else ()
    for label in reversed(standing):

        def remove(label: str = label) -> bool:
            return queue.remove_label(number, label)

        yield Step(number, label, remove, _objection(label, events, entry, doer))


def _objection(label: str, events: Sequence[LabelEvent], entry: Entry, doer: Doer) -> str:
    """Why a label stays, "" when nothing speaks against removing it."""
    ordered = sorted(events, key=lambda event: event.created_at)
    puts = [i for i, event in enumerate(ordered) if _puts(event, label)]
    if not puts or not _near(ordered[puts[-1]].created_at, entry.at):
        return "not_ours"
    if objection := doer.objection(ordered[puts[-1]].actor):
        return objection
    since = ordered[puts[-1] + 1 :]
    return "relabelled" if any(doer.is_other_person(event.actor) for event in since) else ""


def _puts(event: LabelEvent, label: str) -> bool:
    return event.action == "added" and same_label(event.label, label)


def _near(one: str, other: str) -> bool:
    try:
        distance = datetime.fromisoformat(one) - datetime.fromisoformat(other)
    except (ValueError, TypeError):
        return False
    return abs(distance) <= SLACK


def _comment_steps(number: int, entry: Entry, doer: Doer, queue: IssueQueue) -> Iterator[Step]:
    comments = queue.comments(number)
    at = next((i for i, part in enumerate(comments) if _is_comment(part, entry, doer)), None)
    if at is None:
        return
    found = comments[at]

    def delete() -> bool:
        return queue.delete_comment(number, found.id)

    reason = doer.objection(found.author) if _is_marked(found, entry) else "not_ours"
    if not reason and any(doer.is_other_person(part.author) for part in comments[at + 1 :]):
        reason = "answered"
    yield Step(number, "", delete, reason)


def _is_comment(comment: Comment, entry: Entry, doer: Doer) -> bool:
    """By its id; where the run never learnt it, by account, time and its hidden marker."""
    if entry.id:
        return comment.id == entry.id
    ours = _is_marked(comment, entry) and doer.objection(comment.author) != "not_ours"
    return ours and _near(comment.created_at, entry.at)


def _is_marked(comment: Comment, entry: Entry) -> bool:
    """By its first words: a record could name a marker that any comment holds."""
    hidden = re.fullmatch(r"<!--.+-->", entry.marker) is not None
    return hidden and comment.body.startswith(entry.marker)


def _taken_back(steps: Sequence[Step], words: Templates, dry: bool) -> Iterator[str]:
    """Do the steps of one issue, and say them."""
    removed = []
    for step in steps:
        if step.reason:
            yield _kept(step, words)
        elif not dry and not step.act():
            yield words.message("undo.gone", what=_what(step, words), number=step.issue)
        elif step.label:
            removed.append(step.label)
        else:
            key = "undo.would_delete" if dry else "undo.deleted"
            yield words.message(key, number=step.issue)
    if removed:
        key = "undo.would_remove" if dry else "undo.removed"
        yield words.message(key, labels=", ".join(map(code_span, removed)), number=steps[0].issue)


def _kept(step: Step, words: Templates) -> str:
    reason = words.message(f"undo.{step.reason}")
    return words.message("undo.kept", what=_what(step, words), number=step.issue, reason=reason)


def _what(step: Step, words: Templates) -> str:
    return code_span(step.label) if step.label else words.message("undo.comment")
