"""One run of `report`: what can be refused without a call, then gathering, then concluding."""

from __future__ import annotations

import time
from collections.abc import Callable

from ciops.failures.gathering import gather
from ciops.failures.knowledge import load_knowledge
from ciops.failures.report_command import Options
from ciops.failures.tracking_rules import read_tracking
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.interruption import stoppable
from ciops.plumbing.output_folder import OutputFolder


def run(options: Options, host: CiHost, sleep: Callable[[float], None] = time.sleep) -> int:
    """The report; its exit status. Raises CiopsError when there is nothing to report on."""
    knowledge = load_knowledge(options.config)
    read_tracking(knowledge)  # so that a mistake in it is told before anything is read
    previous = None
    if options.previous:
        from ciops.failures.report_json import load_report

        previous = load_report(options.previous)
    folder, keep = _folders(options)
    with stoppable() as stop:
        found = gather(options, host, knowledge, stop, keep, sleep)
        from ciops.failures.concluding import conclude  # what the first call need not wait for

        return conclude(found, previous, folder)


def _folders(options: Options) -> tuple[OutputFolder, OutputFolder | None]:
    """Where results go; refused before any call when one is a symbolic link."""
    folder = OutputFolder(options.output, "--output")
    keep = OutputFolder(options.keep_traces, "--keep-traces") if options.keep_traces else None
    folder.refuse_misplaced()
    if keep is not None:
        keep.refuse_misplaced()
    return folder, keep
