"""What people hear of a run: a line an issue as it goes, then summary, outputs and exit status."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ciops.errors import EXIT_PARTIAL, EXIT_REFUSED, EXIT_SERVICE
from ciops.plumbing.ci_host import SUMMARY_LIMIT, CiHost
from ciops.plumbing.http import Client
from ciops.plumbing.rendering import escape_markdown
from ciops.triage.decide import to_json
from ciops.triage.journal import Journal
from ciops.triage.run_command import Options
from ciops.triage.run_file import NAME
from ciops.triage.run_issue import Desk, Result
from ciops.triage.run_sweep import Ending
from ciops.triage.run_words import ending_words, result_line, skips, totals
from ciops.triage.would_change import Change, change_json, would_change

SECTIONS: Final = 500  # issues of a sweep that get a section: a summary holds a few hundred


@dataclass(slots=True)
class Report:
    """The words of one run. In a sweep only issues that are worth it get a line and a section."""

    host: CiHost
    desk: Desk
    options: Options
    client: Client
    journal: Journal
    sweeps: bool
    shown: int = 0
    labels: dict[str, None] = field(default_factory=dict)
    comment_url: str = ""
    last: tuple[Result, Sequence[Change]] | None = None

    def result(self, result: Result) -> None:
        """Hear of one issue."""
        quiet = self.sweeps and result.outcome in ("unchanged", "skipped")
        show = not quiet and self.shown < SECTIONS
        changes = self._changes(result) if show else ()
        self.shown += show
        self.journal.add(result, changes, show=show)
        self.labels.update(dict.fromkeys(_labels(result)))
        self.comment_url = self.comment_url or result.written.comment_url
        self.last = (result, changes)
        if result.error and not result.ends_run:
            self.host.warning(f"#{result.number}: {result.error}")
        elif not quiet and not result.error:
            self.host.say(result_line(result, self.desk))

    def _changes(self, result: Result) -> Sequence[Change]:
        """Worth its time (some 40 ms) where somebody reads it."""
        look = result.look
        if look is None or look.decision is None or look.skip is not None:
            return ()
        return would_change(look.facts, look.decision, self.desk.policy)

    def conclude(self, ending: Ending) -> dict[str, Any]:
        """Summary and outputs; what came of the run, with its exit `status`."""
        status = status_of(ending, self.journal)
        self.host.summary(self._summary(ending))
        self.host.output("labels", "\n".join(self.labels))
        self.host.output("decision", json.dumps(self._decision()))
        self.host.output("comment-url", self.comment_url)
        self.host.output("run-file", str(self.options.output / NAME))
        if self.sweeps:
            self.host.say("\n".join(self._counts()))
        told = " ".join(self._endings(ending))
        if told:
            (self.host.error if ending.status else self.host.notice)(told)
        return {
            "outcomes": dict(self.journal.outcomes),
            "ending": ending.why,
            "told": told,
            "calls": self.client.calls,
            "status": status,
        }

    def _counts(self) -> Iterator[str]:
        words, queue = self.desk.words, self.desk.policy.labels.queue
        if not self.journal.looked_at:
            yield words.message("summary.nothing")
            return
        counted = totals(self.journal.outcomes, words)
        yield words.message("summary.looked_at", n=self.journal.looked_at, totals=counted)
        if self.journal.skips:
            told = skips(self.journal.skips, words, queue)
            yield words.message("summary.skipped", skips=told)

    def _endings(self, ending: Ending) -> list[str]:
        limit = self.options.max_writes
        return list(ending_words(ending, self.desk.words, self.client.service, limit))

    def _decision(self) -> dict[str, Any]:
        """Of a single issue its decision; else how many issues had which outcome."""
        if self.last is None or self.journal.looked_at != 1:
            return {"looked_at": self.journal.looked_at, "outcomes": dict(self.journal.outcomes)}
        result, changes = self.last
        look = result.look
        if look is None or look.decision is None:
            skip = None if look is None else look.skip
            return {"id": str(result.number), "skip": skip, "outcome": result.outcome}
        return {**to_json(look.decision, map(change_json, changes)), "outcome": result.outcome}

    def _summary(self, ending: Ending) -> str:
        words, options, desk = self.desk.words, self.options, self.desk
        shard = words.message("summary.shard", shard=str(options.shard))
        head = words.render(
            "run.md",
            repo=options.place.repo,
            mode=options.mode,
            policy=f"{desk.policy.name}@{desk.policy.version}",
            profile=desk.profile.id,
            account=desk.viewer.login,
            shard=shard if options.shard.count > 1 else "",
            calls=self.client.calls,
            service=self.client.service,
            looked_at=self.journal.looked_at,
            totals=totals(self.journal.outcomes, words),
            skips=skips(self.journal.skips, words, desk.policy.labels.queue),
            endings=self._endings(replace(ending, error=escape_markdown(ending.error))),
            failures=self.journal.failures,
        )
        return head + self.journal.sections(SUMMARY_LIMIT)


def _labels(result: Result) -> tuple[str, ...]:
    """The labels that were added, or in a dry run would be."""
    if result.outcome == "written":
        return result.written.labels
    if result.outcome != "planned" or result.look is None:
        return ()
    return tuple(part.name for part in result.look.writes.labels if not part.suggest)


def status_of(ending: Ending, journal: Journal) -> int:
    """Refusals first. What failed is a part of the run, unless nothing else came of it."""
    if journal.worst == EXIT_REFUSED:
        return EXIT_REFUSED
    worst = ending.status or journal.worst
    if worst != EXIT_SERVICE:
        return worst
    others = sum(n for outcome, n in journal.outcomes.items() if outcome != "failed")
    done = journal.outcomes["written"] if ending.status else others
    return EXIT_PARTIAL if done else EXIT_SERVICE
