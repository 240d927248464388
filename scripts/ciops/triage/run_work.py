"""A run once it has begun: the account, the labels, the issues, and what is left behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ciops.errors import CiopsError
from ciops.forges.base import Forge, IssueQueue, Viewer
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.rendering import Templates
from ciops.triage.apply import Pen, missing_labels, refuse_missing
from ciops.triage.decide import profile_of
from ciops.triage.events import Target
from ciops.triage.interruption import Interruption, Pace
from ciops.triage.journal import Journal
from ciops.triage.policy import Policy, Profile
from ciops.triage.run_command import Options
from ciops.triage.run_file import Run, RunFile, timestamp
from ciops.triage.run_issue import Desk
from ciops.triage.run_named import take_named
from ciops.triage.run_report import Report
from ciops.triage.run_sweep import Ending, Session, sweep
from ciops.triage.words import words_in


@dataclass(frozen=True, slots=True)
class Setting:
    """What a run begins with."""

    options: Options
    target: Target
    host: CiHost
    forge: Forge
    queue: IssueQueue
    policy: Policy
    interruption: Interruption

    @property
    def sweeps(self) -> bool:
        return self.target.sweep

    @property
    def numbers(self) -> list[int]:
        """The named issues of this shard: two jobs of a matrix must not do the same one."""
        return [number for number in self.target.issues if self.options.shard.holds(number)]


def work(setting: Setting, asked: Callable[[], Viewer]) -> int:
    """The run; its exit status. `asked` gives the account that is being asked for."""
    options = setting.options
    profile = profile_of(setting.policy, options.profile)
    words = words_in(options.language)
    viewer = asked()
    _introduce(viewer, setting, words)
    desk = _desk(setting, profile, viewer, words)
    there = setting.queue.labels()
    shadow = options.mode == "shadow"
    with (
        Journal(options.output, desk, shadow=shadow) as journal,
        RunFile(options.output, _run(setting, desk)) as record,
    ):
        report = Report(setting.host, desk, options, setting.forge.client, journal, setting.sweeps)
        try:
            ending = _looked_at(setting, desk, there, _session(setting, desk, record, report))
            setting.interruption.finishing()
            result = report.conclude(ending)
        except CiopsError as error:
            record.finish({"error": str(error)})
            raise
        record.finish(result)
        return int(result["status"])


def _looked_at(setting: Setting, desk: Desk, there: frozenset[str], session: Session) -> Ending:
    """The issues, looked at and written to. A sweep may need any label, so it wants them all."""
    allowed = desk.policy.allowed_labels(desk.profile)
    if not setting.sweeps:
        missing = ", ".join(missing_labels(allowed, there))
        if missing:
            setting.host.say(desk.words.message("start.labels", labels=missing))
        return take_named(setting.numbers, there, session)
    refuse_missing(allowed, there)
    label = _spelled(desk.policy.labels.queue, there)
    if label not in there:
        setting.host.warning(desk.words.message("start.no_queue", queue=label))
    return sweep(label, setting.options.shard, session)


def _introduce(viewer: Viewer, setting: Setting, words: Templates) -> None:
    """Whose account it is, and what it certainly lacks."""
    assumed = viewer.is_bot and setting.forge.name == "github"  # GitHub does not tell an app
    key = "start.assumed" if assumed else "start.account"
    place = setting.options.place
    setting.host.say(words.message(key, repo=place.repo, account=viewer.login))
    if not viewer.is_bot and viewer.login.casefold() not in setting.policy.bot_logins:
        setting.host.say(words.message("start.unlisted", account=viewer.login))
    if viewer.missing:
        missing = ", ".join(viewer.missing)
        message = words.message("start.missing", account=viewer.login, missing=missing)
        setting.host.warning(message)


def _desk(setting: Setting, profile: Profile, viewer: Viewer, words: Templates) -> Desk:
    return Desk(
        queue=setting.queue,
        forge=setting.forge.name,
        viewer=viewer,
        policy=knowing(setting.policy, viewer),
        profile=profile,
        words=words,
        suggest=setting.options.suggest,
    )


def knowing(policy: Policy, viewer: Viewer) -> Policy:
    """A policy that knows this bot for its own; a person who runs it stays a person."""
    if not viewer.is_bot:
        return policy
    return replace(policy, bot_logins=policy.bot_logins | {viewer.login.casefold()})


def _spelled(label: str, there: frozenset[str]) -> str:
    """A label as the repository writes it: GitLab's lists know no other case."""
    return next((name for name in there if name.casefold() == label.casefold()), label)


def _run(setting: Setting, desk: Desk) -> Run:
    return Run(
        repo=setting.options.place.repo,
        forge=setting.forge.name,
        account=desk.viewer.login,
        policy=f"{desk.policy.name}@{desk.policy.version}",
        profile=desk.profile.id,
        queue=desk.policy.labels.queue,
        mode=setting.options.mode,
        shard=str(setting.options.shard),
        started_at=timestamp(),
    )


def _session(setting: Setting, desk: Desk, record: RunFile, report: Report) -> Session:
    interruption = setting.interruption
    pace = Pace(interruption.sleep)
    writes = setting.options.mode == "apply"
    pen = None
    if writes:
        named = not setting.sweeps
        pen = Pen(setting.queue, record, interruption.writing, pace.wait, looks_after=named)
    return Session(
        desk=desk,
        client=setting.forge.client,
        report=report.result,
        interruption=interruption,
        pen=pen,
        max_writes=setting.options.max_writes,
        similar=setting.options.similar,
    )
