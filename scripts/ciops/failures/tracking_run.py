"""Tracking as the commands do it: with their services, printing what is filed."""

from __future__ import annotations

import json
import time
from dataclasses import asdict

from ciops.failures.knowledge import Knowledge
from ciops.failures.report_model import Report
from ciops.failures.report_text import made_safe
from ciops.failures.sources import Forges
from ciops.failures.tracking import Tracker
from ciops.failures.tracking_rules import read_tracking
from ciops.failures.tracking_text import Filing
from ciops.plumbing.ci_host import CiHost


def tracked(
    report: Report, knowledge: Knowledge, forges: Forges, dry_run: bool, host: CiHost
) -> Report:
    """The report with what became of each bucket; a dry run prints the payloads and files none."""

    def planned(filing: Filing) -> None:
        if dry_run:
            host.say(f"would file in {filing.repository}:", "bold")
            host.say(json.dumps(asdict(filing), ensure_ascii=False, indent=1))
        else:
            host.say(f"filing in {filing.repository}: {filing.title}")

    tracker = Tracker(knowledge, read_tracking(knowledge), forges.get, planned, time.time)
    return tracker.track(made_safe(report), dry_run=dry_run)
